/*
 * weighted_shingles.c
 *		A document as a vector: each of its shingles, and what it weighs.
 *
 * Shingles of characters, weighed by how rare they are, find what names,
 * titles and addresses have in common through misspellings and another order
 * of words, and count little what all of them have.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/methods/weighted/weighted_shingles.c
 */
#include "postgres.h"

#include "methods/weighted/document_vector.h"

PG_FUNCTION_INFO_V1(weighted_shingles);

/* (doc text, lexicon, weight text, analysis text) */
Datum
weighted_shingles(PG_FUNCTION_ARGS)
{
	DocContext	   *doccxt = doc_context_get(fcinfo, 3);
	LexiconView *view = doc_context_lexicon(doccxt, fcinfo, 1);
	Weighed    *weighed = weighed_get(doccxt, DOC_CONTEXT_GETARG_TEXT(doccxt, 2));
	Sequence	sequence;

	doc_context_read_for_lexicon(doccxt, fcinfo, view->lexicon, READS_SHINGLES);
	sequence = doc_context_sequence(doccxt, DOC_CONTEXT_GETARG_TEXT(doccxt, 0));
	bag_clear(weighed->bag);
	bag_add(weighed->bag, sequence.shingles, sequence.nshingles);
	PG_RETURN_SIGNATURE(document_vector(&doccxt->analysis->spec,
										METHOD_WEIGHTED_SHINGLES,
										weighed, view));
}
