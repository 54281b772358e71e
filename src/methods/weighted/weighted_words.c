/*
 * weighted_words.c
 *		A document as a vector: each of its words, and what it weighs.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/methods/weighted/weighted_words.c
 */
#include "postgres.h"

#include "utils/builtins.h"

#include "methods/weighted/document_vector.h"

PG_FUNCTION_INFO_V1(weighted_words);
PG_FUNCTION_INFO_V1(weighted_words_by_tf);

/* The vector of a document; the site is ready to read it. */
static Signature *
make_vector(DocContext *doccxt, LexiconView *view, const text *doc, const text *weight)
{
	Weighed    *weighed = weighed_get(doccxt, weight);

	doc_context_begin(doccxt, doc);
	bag_read(weighed->bag, doccxt->reader);
	return document_vector(&doccxt->analysis->spec, METHOD_WEIGHTED_WORDS,
						   weighed, view);
}

/* (doc text, lexicon, weight text, analysis text) */
Datum
weighted_words(PG_FUNCTION_ARGS)
{
	DocContext	   *doccxt = doc_context_get(fcinfo, 3);
	LexiconView *view = doc_context_lexicon(doccxt, fcinfo, 1);

	doc_context_read_for_lexicon(doccxt, fcinfo, view->lexicon, READS_WORDS);
	PG_RETURN_SIGNATURE(make_vector(doccxt, view, DOC_CONTEXT_GETARG_TEXT(doccxt, 0),
									DOC_CONTEXT_GETARG_TEXT(doccxt, 2)));
}

/* (doc text, analysis text): by tf, without a lexicon */
Datum
weighted_words_by_tf(PG_FUNCTION_ARGS)
{
	DocContext	   *doccxt = doc_context_get(fcinfo, 1);

	doc_context_read(doccxt, fcinfo, READS_WORDS);
	PG_RETURN_SIGNATURE(make_vector(doccxt, NULL, DOC_CONTEXT_GETARG_TEXT(doccxt, 0),
									cstring_to_text("tf")));
}
