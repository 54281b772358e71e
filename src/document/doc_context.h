/*
 * doc_context.h
 *		The state of a call site of a function that takes a document: readers
 *		and lexicon.
 *
 * Each part is made when it is first needed, kept in fn_extra, and rebuilt when the
 * arguments that it depends on change.
 *
 * A function that takes a document has two forms in SQL: with an analysis after
 * the document and its parameters, or with a text-search configuration before it
 * and no analysis.  shingles(doc, analysis) leaves k out.
 *
 *		f(document, ..., analysis)		f(configuration, document, ...)
 *
 * Both are one C function, written for the first form: arguments are numbered
 * as they stand there, and doc_context_argument() gives their place in the call.
 */
#ifndef NEARDUP_DOC_CONTEXT_H
#define NEARDUP_DOC_CONTEXT_H

#include "fmgr.h"
#include "mb/pg_wchar.h"

#include "lexicon/lexicon.h"
#include "lexicon/view.h"
#include "document/shingler.h"
#include "text/reader.h"

/* The units that a function reads of a document. */
typedef enum Reads
{
	READS_SHINGLES,				/* shingles, as the analysis says */
	READS_TERMS,				/* what a lexicon counts: words or shingles */
	READS_CHARS,				/* the same, of characters whatever it says */
	READS_WORDS,				/* words, whatever unit the analysis says */
	READS_SENTENCES,			/* words by sentences, or by lines if it says
								 * unit=line; order= does not matter */
	READS_ORDERED_SENTENCES,	/* the same where it does */
} Reads;

typedef struct DocContext
{
	/* the function */
	const void *call;			/* of the aggregate, if the document context
								 * is kept beside its states */
	bool		configured;		/* called with a configuration */
	int			first;			/* its first argument that is no state */
	int			analysis_at;	/* its analysis, or -1 */
	bool		has_k;			/* called with a shingle size, where it can be */
	int			analysis_arg;	/* where the first form has the analysis */

	/* how documents are read; NULL until the document context is ready */
	MemoryContext context;		/* owns what reads */
	Analysis   *analysis;
	bool		of_shingles;	/* in place of words */
	SignatureSpec spec;			/* of the set of shingles, if it is of those */
	SignatureSpec words;		/* of what a lexicon counts: the words alone,
								 * or the shingles */
	Reader	   *reader;			/* each NULL until it is needed */
	Shingler   *shingler;

	/*
	 * the arguments they were made for: a text, a configuration or a
	 * lexicon's spec
	 */
	char	   *said;			/* NULL if no text */
	size_t		said_len;
	int			k;				/* 0 if it was not given */
	Oid			config;			/* InvalidOid if no configuration */
	uint8		reading;		/* of the lexicon */

	LexiconView *view;			/* of the lexicon, or NULL */
	bool		stored;			/* it was fetched from where this points to */
	struct varatt_external pointer;
	MemoryContextCallback callback; /* releases the view */

	void	   *extra;			/* the function's own, of the context's memory
								 * context */
	void	   *kept;			/* the same in `context`: gone when the
								 * document context is prepared for other
								 * arguments */
} DocContext;

/*
 * The call site's, made if there is none yet; the analysis is argument
 * `analysis` of the first form, or beyond its arguments if it has none.
 */
extern DocContext *doc_context_get(FunctionCallInfo fcinfo, int analysis);

/*
 * The same for an aggregate's transition function (state, doc [, analysis [, what]]), ready
 * for its document; NULL if that is null.  Raises NULL_VALUE_NOT_ALLOWED for another null.
 * Where an engine's call sites keep nothing from row to row, the document context is
 * kept beside the states.
 */
extern DocContext *doc_context_of_aggregate(FunctionCallInfo fcinfo,
											const char *what, Reads reads);

/* Where argument n of the first form stands in this call. */
static inline int
doc_context_argument(const DocContext *doccxt, int n)
{
	return doccxt->configured && n >= doccxt->first &&
		n < doccxt->analysis_arg ? n + 1 : n;
}

/* Argument n of the first form, a text. */
#define DOC_CONTEXT_GETARG_TEXT(doccxt, n) PG_GETARG_TEXT_PP(doc_context_argument(doccxt, n))
#define DOC_CONTEXT_GETARG_INT32(doccxt, n) PG_GETARG_INT32(doc_context_argument(doccxt, n))

/* Argument n of the first form, a shingle size; 0 if this form has none. */
#define DOC_CONTEXT_GETARG_K(doccxt, n) \
	((doccxt)->has_k ? DOC_CONTEXT_GETARG_INT32(doccxt, n) : 0)

/*
 * Prepare the document context for the call's analysis or configuration, and for
 * shingles of size k, 0 for that of the analysis.  Raises what analysis_parse()
 * does; INVALID_PARAMETER_VALUE for an analysis in characters where words are
 * wanted, and for one that has another k.
 */
extern void doc_context_read(DocContext *doccxt, FunctionCallInfo fcinfo, Reads reads, int k);

/* The same for an analysis from elsewhere than the call. */
extern void doc_context_read_analysis(DocContext *doccxt, Datum doc, const text *analysis,
									  Reads reads);

/* The same for what a lexicon was made with. */
extern void doc_context_read_as_lexicon(DocContext *doccxt, const Lexicon *lexicon,
										Reads reads);

/*
 * The same for words to be looked up in a lexicon: those of the call, or if its analysis
 * is empty of the lexicon.  Raises DATATYPE_MISMATCH if the two are not the same.
 */
extern void doc_context_read_for_lexicon(DocContext *doccxt, FunctionCallInfo fcinfo,
										 const Lexicon *lexicon, Reads reads);

/* Return the view of the lexicon that is argument n of the first form. */
extern LexiconView *doc_context_lexicon(DocContext *doccxt, FunctionCallInfo fcinfo, int n);

/*
 * Return a text in UTF-8, whatever the encoding of the database: in place or as a
 * copy.  Raises an error if the text cannot be converted.
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
 * Return a word of UTF-8 as a text of the database.  A character that the database's
 * encoding does not have is written as its code point: U+03BC.
 */
extern struct varlena *server_word(const char *word, size_t len);

/*
 * Return the reader of words or sentences, of words where the document context reads
 * shingles; and begin a document with it.
 */
extern Reader *doc_context_reader(DocContext *doccxt);
extern void doc_context_begin(DocContext *doccxt, const text *doc);

/*
 * Return the set of a document's shingles: *n distinct values, rising, valid until the
 * context's next document.
 */
extern const uint64 *doc_context_set(DocContext *doccxt, const text *doc, size_t *n);

/* All units and shingles of a document, valid until the context's next one. */
extern Sequence doc_context_sequence(DocContext *doccxt, const text *doc);

#endif							/* NEARDUP_DOC_CONTEXT_H */
