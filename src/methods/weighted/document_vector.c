/*
 * document_vector.c
 *		A document as a vector: each of its words, or shingles, and what it
 *		weighs.
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
 * src/methods/weighted/document_vector.c
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "base/interrupts.h"
#include "methods/method.h"
#include "methods/weighted/document_vector.h"

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

		CHECK_EVERY(i);
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

Signature *
document_vector(const SignatureSpec *source, Method method, const Weighed *weighed,
				LexiconView *view)
{
	SignatureSpec		spec = *source;
	WeighedWord *words;
	Signature  *sig;
	float4	   *weights;
	size_t		n;

	words = weigh_words(weighed, view, &n);
	sort_words(words, n);
	spec.method = method;
	spec.width = method_info(method)->width;
	spec.param[0] = weighed_param(weighed, view);
	sig = signature_alloc(&spec, n);
	sig->nfeatures = n;
	weights = signature_weights(sig);
	for (size_t i = 0; i < n; i++)
	{
		CHECK_EVERY(i);
		sig->values[i] = words[i].hash;
		weights[i] = words[i].weight;
	}
	pfree(words);
	return sig;
}
