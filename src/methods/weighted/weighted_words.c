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
make_vector(Site *site, LexiconView *view, const text *doc, const text *weight)
{
	Weighed    *weighed = weighed_get(site, weight);

	site_begin(site, doc);
	bag_read(weighed->bag, site->reader);
	return document_vector(&site->analysis->making, METHOD_WEIGHTED_WORDS,
						   weighed, view);
}

/* (doc text, lexicon, weight text, analysis text) */
Datum
weighted_words(PG_FUNCTION_ARGS)
{
	Site	   *site = site_get(fcinfo, 3);
	LexiconView *view = site_lexicon(site, fcinfo, 1);

	site_read_for_lexicon(site, fcinfo, view->lexicon, READS_WORDS);
	PG_RETURN_SIGNATURE(make_vector(site, view, SITE_GETARG_TEXT(site, 0),
									SITE_GETARG_TEXT(site, 2)));
}

/* (doc text, analysis text): by tf, without a lexicon */
Datum
weighted_words_by_tf(PG_FUNCTION_ARGS)
{
	Site	   *site = site_get(fcinfo, 1);

	site_read(site, fcinfo, READS_WORDS);
	PG_RETURN_SIGNATURE(make_vector(site, NULL, SITE_GETARG_TEXT(site, 0),
									cstring_to_text("tf")));
}
