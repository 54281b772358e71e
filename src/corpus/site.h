/*
 * site.h
 *		What a call site of a function that takes a document keeps: the reader
 *		of its documents, and the lexicon.
 *
 * Both are made when they are first needed, kept in fn_extra, and made anew
 * when the arguments that they depend on change.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/corpus/site.h
 */
#ifndef NEARDUP_SITE_H
#define NEARDUP_SITE_H

#include "corpus/lexicon.h"
#include "corpus/view.h"
#include "text/reader.h"

/* What a function reads of a document. */
typedef enum Reads
{
	READS_WORDS,				/* words, whatever unit the analysis says */
	READS_SENTENCES,			/* words by sentences, or by lines if it says
								 * unit=line; order= does not matter */
	READS_ORDERED_SENTENCES,	/* the same where it does */
} Reads;

typedef struct Site
{
	MemoryContext context;		/* owns what reads */
	Analysis   *analysis;		/* of k = 1; of unit word, sentence or line */
	Making		words;			/* the making of its words alone */
	Reader	   *reader;			/* NULL: none has been made yet */

	/* what they were made for: a text, a configuration or a lexicon's making */
	char	   *said;			/* NULL if no text */
	size_t		said_len;
	Oid			config;			/* InvalidOid if no configuration */
	uint8		flags;			/* of the lexicon */

	LexiconView *view;			/* of the lexicon, or NULL */
	bool		stored;			/* it was fetched from where this points to */
	struct varatt_external pointer;
	LexiconView *shared;		/* the view, if it is shared */
	MemoryContextCallback callback; /* releases that */
	void	   *extra;			/* the function's own, of fn_mcxt */
} Site;

/* The call site's, made if there is none yet. */
extern Site *site_get(FunctionCallInfo fcinfo);

/*
 * Makes the site ready for an analysis, a configuration or, where nothing is
 * said, for what a lexicon was made with.  Raises what analysis_parse() does,
 * and INVALID_PARAMETER_VALUE for an analysis in characters; doc is looked at
 * only to tell whether it and the analysis have been exchanged.
 */
extern void site_use_analysis(Site *site, const text *doc,
							  const text *analysis, Reads reads);
extern void site_use_config(Site *site, Oid config, Reads reads);
extern void site_use_lexicon(Site *site, const Lexicon *lexicon, Reads reads);

/*
 * The same for an analysis of words that are to be looked up in a lexicon, or
 * if it is empty for the lexicon's own.  Raises DATATYPE_MISMATCH if the words
 * of the two are not the same.
 */
extern void site_use_lexicon_or(Site *site, const Lexicon *lexicon,
								const text *doc, const text *analysis,
								Reads reads);
extern void site_use_lexicon_config(Site *site, const Lexicon *lexicon,
									Oid config, Reads reads);

/*
 * The view of the lexicon that is argument n.  Large ones are detoasted once
 * per query.
 */
extern LexiconView *site_lexicon(Site *site, FunctionCallInfo fcinfo, int n);

/* Begins to read a document; raises an error if it is no valid text. */
extern void site_begin(Site *site, const text *doc);

#endif							/* NEARDUP_SITE_H */
