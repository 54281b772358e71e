/*
 * doc_context.h
 *		The state of a call site of a function of documents: readers and
 *		lexicon.
 *
 * Each part is made when it is first needed, kept in fn_extra, and rebuilt
 * when its arguments change.
 *
 * A function that takes a document has two forms in SQL: with an analysis
 * after the document and its parameters, or with a text-search configuration
 * before it and no analysis.  shingles(doc, analysis) leaves k out.
 *
 *		f(document, ..., analysis)		f(configuration, document, ...)
 *
 * Both are one C function, written for the first form: arguments are numbered
 * as in that form, and doc_context_argument() gives their number in the call.
 */
#ifndef NEARDUP_DOC_CONTEXT_H
#define NEARDUP_DOC_CONTEXT_H

#include "fmgr.h"
#include "mb/pg_wchar.h"

#include "lexicon/lexicon.h"
#include "lexicon/view.h"
#include "document/shingler.h"
#include "text/reader.h"

/* The units of a document that a function reads */
typedef enum Reads
{
	READS_SHINGLES,				/* shingles, as the analysis says */
	READS_TERMS,				/* the terms of a lexicon: words or shingles */
	READS_CHARS,				/* shingles of characters, whatever unit the
								 * analysis says */
	READS_WORDS,				/* words, whatever unit the analysis says */
	READS_SENTENCES,			/* words by sentences, or by lines if the
								 * analysis says unit=line; order= does not
								 * matter */
	READS_ORDERED_SENTENCES,	/* words by sentences or lines, where order=
								 * matters */
} Reads;

/* The state of a call site, or of an aggregate's call */
typedef struct DocContext
{
	/* the function */
	const void *call;			/* the aggregate's call, if the context of its
								 * states owns this struct; else NULL */
	bool		configured;		/* the call has a text-search configuration */
	int			first;			/* number of states before other arguments */
	int			analysis_at;	/* number of the analysis in the call; -1 =
								 * none */
	bool		has_k;			/* this form has a shingle size */
	int			analysis_arg;	/* number of the analysis in the first form */

	/* how documents are read; NULL until doc_context_read() */
	MemoryContext context;		/* owns reader and shingler */
	Analysis   *analysis;
	bool		of_shingles;	/* true = shingles are read; false = words */
	SignatureSpec spec;			/* spec of the set of shingles, if shingles
								 * are read */
	SignatureSpec words;		/* spec of a lexicon with these terms: the
								 * words alone, or the shingles */
	Reader	   *reader;			/* reader and shingler are NULL until needed */
	Shingler   *shingler;

	/*
	 * the arguments that decide how documents are read: a text, a
	 * configuration or a lexicon's spec
	 */
	char	   *said;			/* text of the analysis; NULL = none */
	size_t		said_len;
	int			k;				/* shingle size that the call gives; 0 = none */
	Oid			config;			/* text-search configuration, or InvalidOid */
	uint8		reading;		/* READING_... of the lexicon */

	LexiconView *view;			/* view of the lexicon, or NULL */
	bool		stored;			/* the view was fetched by `pointer` */
	struct varatt_external pointer;
	MemoryContextCallback callback; /* releases the view */

	void	   *extra;			/* state of the function itself, in the memory
								 * context that owns this struct */
	void	   *kept;			/* state of the function itself, in `context`;
								 * lost when the arguments change */
} DocContext;

/*
 * Return the document context of a call site, made at its first call.  The
 * analysis is argument `analysis` of the first form, or any number beyond its
 * arguments if the form has none.
 */
extern DocContext *doc_context_get(FunctionCallInfo fcinfo, int analysis);

/*
 * Return the document context of an aggregate's transition function (state,
 * doc [, analysis [, what]]), ready to read the document; NULL if that is
 * null.  Raises NULL_VALUE_NOT_ALLOWED for another null argument.  For an
 * engine whose call sites do not last from row to row, the context of the
 * states owns the document context.
 */
extern DocContext *doc_context_of_aggregate(FunctionCallInfo fcinfo,
											const char *what, Reads reads);

/* Return the number in this call of argument n of the first form. */
static inline int
doc_context_argument(const DocContext *doccxt, int n)
{
	return doccxt->configured && n >= doccxt->first &&
		n < doccxt->analysis_arg ? n + 1 : n;
}

/* Argument n of the first form: a text, or an integer */
#define DOC_CONTEXT_GETARG_TEXT(doccxt, n) PG_GETARG_TEXT_PP(doc_context_argument(doccxt, n))
#define DOC_CONTEXT_GETARG_INT32(doccxt, n) PG_GETARG_INT32(doc_context_argument(doccxt, n))

/* Argument n of the first form, a shingle size; 0 if this form has none */
#define DOC_CONTEXT_GETARG_K(doccxt, n) \
	((doccxt)->has_k ? DOC_CONTEXT_GETARG_INT32(doccxt, n) : 0)

/*
 * Prepare the document context for the call's analysis or configuration, and
 * for shingles of size k; 0 stands for the size in the analysis.  Raises the
 * errors of analysis_parse(), and INVALID_PARAMETER_VALUE for an analysis of
 * characters where words are read, or with another k.
 */
extern void doc_context_read(DocContext *doccxt, FunctionCallInfo fcinfo,
							 Reads reads, int k);

/*
 * Prepare the document context for an analysis that is no argument of the
 * call.
 */
extern void doc_context_read_analysis(DocContext *doccxt, Datum doc,
									  const text *analysis,
									  Reads reads);

/* Prepare the document context for the analysis of a lexicon. */
extern void doc_context_read_as_lexicon(DocContext *doccxt,
										const Lexicon *lexicon,
										Reads reads);

/*
 * Prepare the document context for words to be looked up in a lexicon: by the
 * call's analysis, or by the lexicon's if that is empty.  Raises
 * DATATYPE_MISMATCH if the two differ.
 */
extern void doc_context_read_for_lexicon(DocContext *doccxt,
										 FunctionCallInfo fcinfo,
										 const Lexicon *lexicon, Reads reads);

/* Return the view of the lexicon that is argument n of the first form. */
extern LexiconView *doc_context_lexicon(DocContext *doccxt,
										FunctionCallInfo fcinfo, int n);

/*
 * Return a text in UTF-8, in place or as a copy, whatever the encoding of the
 * database.  Raises an error if it cannot be converted.
 */
static inline const char *
text_as_utf8(const text *t, size_t *len)
{
	const char *data = VARDATA_ANY(t);
	char	   *utf8;

	*len = VARSIZE_ANY_EXHDR(t);
	if (GetDatabaseEncoding() == PG_UTF8)
		return data;
	utf8 = pg_server_to_any(data, *len, PG_UTF8);
	if (utf8 != data)
		*len = strlen(utf8);
	return utf8;
}

/*
 * Return a word of UTF-8 as a text in the database's encoding.  A character
 * that this encoding does not have is written as its code point: U+03BC.
 */
extern struct varlena *server_word(const char *word, size_t len);

/*
 * Return the reader: of words if the document context reads shingles, else of
 * words or sentences.
 */
extern Reader *doc_context_reader(DocContext *doccxt);

/* Begin a document with the reader. */
extern void doc_context_begin(DocContext *doccxt, const text *doc);

/*
 * Return the set of a document's shingles: *n distinct values, rising, valid
 * until the context's next document.
 */
extern const uint64 *doc_context_set(DocContext *doccxt, const text *doc,
									 size_t *n);

/*
 * Return all units and shingles of a document, valid until the context's next
 * one.
 */
extern Sequence doc_context_sequence(DocContext *doccxt, const text *doc);

#endif							/* NEARDUP_DOC_CONTEXT_H */
