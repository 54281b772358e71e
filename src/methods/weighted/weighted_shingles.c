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
	Site	   *site = site_get(fcinfo, 3);
	LexiconView *view = site_lexicon(site, fcinfo, 1);
	Weighed    *weighed = weighed_get(site, SITE_GETARG_TEXT(site, 2));
	Sequence	sequence;

	site_read_for_lexicon(site, fcinfo, view->lexicon, READS_SHINGLES);
	sequence = site_sequence(site, SITE_GETARG_TEXT(site, 0));
	bag_clear(weighed->bag);
	bag_add(weighed->bag, sequence.shingles, sequence.nshingles);
	PG_RETURN_SIGNATURE(document_vector(&site->analysis->making,
										METHOD_WEIGHTED_SHINGLES,
										weighed, view));
}
