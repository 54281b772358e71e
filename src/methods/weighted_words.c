/*
 * weighted_words.c
 *		A document as a vector: each of its words, and what it weighs.
 *
 * By the frequency of the word in the document, or by any of the weights that
 * a lexicon gives.  Words that the lexicon does not have are left out, and so
 * are those that weigh nothing or less: words of all documents, and by
 * residual IDF those that are spread more evenly than chance would do.  The
 * vector of a document that has no others is empty, and similar to nothing.
 *
 * Weights are made in double and then rounded to float4.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/methods/weighted_words.c
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

#include "methods/methods.h"
#include "methods/weighed.h"
#include "signature.h"

PG_FUNCTION_INFO_V1(weighted_words);
PG_FUNCTION_INFO_V1(weighted_words_with_config);
PG_FUNCTION_INFO_V1(weighted_words_by_tf);
PG_FUNCTION_INFO_V1(weighted_words_by_tf_with_config);

typedef struct WeighedWord
{
	uint64		hash;
	float4		weight;
} WeighedWord;

#define ST_SORT sort_words
#define ST_ELEMENT_TYPE WeighedWord
#define ST_COMPARE(a, b) (((a)->hash > (b)->hash) - ((a)->hash < (b)->hash))
#define ST_SCOPE static
#define ST_CHECK_FOR_INTERRUPTS
#define ST_DEFINE
#include "lib/sort_template.h"

/* The bag's words that weigh something; palloc'd.  *n is their number. */
static WeighedWord *
weigh_words(const Weighed *weighed, LexiconView *view, size_t *n)
{
	const Bag  *bag = weighed->bag;
	WeighedWord *words = palloc_extended(Max(bag->nwords, 1) *
										 sizeof(WeighedWord),
										 MCXT_ALLOC_HUGE);

	*n = 0;
	for (size_t i = 0; i < bag->nwords; i++)
	{
		double		weight;

		if (i % 65536 == 65535)
			CHECK_FOR_INTERRUPTS();
		if (view != NULL)
			view_expect(view, bag, i);
		if (!weighed_word(weighed, view, &bag->words[i], &weight))
			continue;
		words[*n].hash = bag->words[i].hash;
		words[*n].weight = (float4) weight;
		*n += words[*n].weight > 0;
	}
	return words;
}

/* The vector of a document; the site is ready to read it. */
static Signature *
make_vector(Site *site, LexiconView *view, const text *doc, const text *weight)
{
	Weighed    *weighed = weighed_get(site, weight);
	Making		making = site->analysis->making;
	WeighedWord *words;
	Signature  *sig;
	float4	   *weights;
	size_t		n;

	site_begin(site, doc);
	bag_read(weighed->bag, site->reader);
	words = weigh_words(weighed, view, &n);
	sort_words(words, n);
	making.method = METHOD_WEIGHTED_WORDS;
	making.width = weighted_words_method.width;
	making.param[0] = weighed_param(weighed, view);
	sig = signature_alloc(&making, n);
	sig->nfeatures = n;
	weights = signature_weights(sig);
	for (size_t i = 0; i < n; i++)
	{
		sig->values[i] = words[i].hash;
		weights[i] = words[i].weight;
	}
	pfree(words);
	return sig;
}

/* (doc text, lexicon, weight text, analysis text) */
Datum
weighted_words(PG_FUNCTION_ARGS)
{
	Site	   *site = site_get(fcinfo);
	LexiconView *view = site_lexicon(site, fcinfo, 1);

	site_use_lexicon_or(site, view->lexicon, PG_GETARG_TEXT_PP(0),
						PG_GETARG_TEXT_PP(3), READS_WORDS);
	PG_RETURN_SIGNATURE(make_vector(site, view, PG_GETARG_TEXT_PP(0),
									PG_GETARG_TEXT_PP(2)));
}

/* (config regconfig, doc text, lexicon, weight text) */
Datum
weighted_words_with_config(PG_FUNCTION_ARGS)
{
	Site	   *site = site_get(fcinfo);
	LexiconView *view = site_lexicon(site, fcinfo, 2);

	site_use_lexicon_config(site, view->lexicon, PG_GETARG_OID(0),
							READS_WORDS);
	PG_RETURN_SIGNATURE(make_vector(site, view, PG_GETARG_TEXT_PP(1),
									PG_GETARG_TEXT_PP(3)));
}

/* (doc text, analysis text): by tf, without a lexicon */
Datum
weighted_words_by_tf(PG_FUNCTION_ARGS)
{
	Site	   *site = site_get(fcinfo);

	site_use_analysis(site, PG_GETARG_TEXT_PP(0), PG_GETARG_TEXT_PP(1),
					  READS_WORDS);
	PG_RETURN_SIGNATURE(make_vector(site, NULL, PG_GETARG_TEXT_PP(0),
									cstring_to_text("tf")));
}

/* (config regconfig, doc text) */
Datum
weighted_words_by_tf_with_config(PG_FUNCTION_ARGS)
{
	Site	   *site = site_get(fcinfo);

	site_use_config(site, PG_GETARG_OID(0), READS_WORDS);
	PG_RETURN_SIGNATURE(make_vector(site, NULL, PG_GETARG_TEXT_PP(1),
									cstring_to_text("tf")));
}
