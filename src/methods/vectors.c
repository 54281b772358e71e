/*
 * vectors.c
 *		Weighted features: numbers and their weights that the user gave, or
 *		the words of a document.
 *
 * Two vectors have a cosine and a resemblance, the sum of the smaller weights
 * by that of the greater ones.  Candidate keys serve both.
 *
 * A row is indexed by its heaviest features, as many as leave less than the
 * share t of the sum of its weights to the others, t being the index's
 * threshold.  A query looks for all of its features.  A row that has none of
 * them in the index shares only what weighs less than t of its sum: the
 * resemblance, whose denominator is at least that sum, is below t.  And the
 * squares of those light features are a smaller share of the sum of squares
 * than they are of the sum: if v divides the heavy from the light, the light
 * squares are at most v times the light sum, and the heavy ones at least v
 * times the heavy sum.  So the light part is shorter than sqrt(t) of the
 * vector, and the cosine below sqrt(t), by Cauchy and Schwarz.  That is the
 * rule that an index of sets has for its cosine, too.
 *
 * Heaviest first, not in an order that row and query have in common, with a
 * prefix of either: words that stand everywhere weigh little, so they are
 * rarely among the heaviest and what the index holds of them is short.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/methods/vectors.c
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"

#include "methods/feature.h"
#include "methods/methods.h"
#include "signature.h"
#include "vectors.h"

/*
 * Sums of up to 10^8 numbers are rounded by less than 10^-7 of them: bounds
 * give way by more than that.
 */
#define ROUNDING	(1 - 1e-6)

static Vector
vector_of(const Signature *sig)
{
	Vector		vector = {
		.features = sig->values, .weights = signature_weights(sig),
		.n = SIGNATURE_NVALUES(sig)
	};

	return vector;
}

static const char *
vector_check(const Signature *sig)
{
	const float4 *weights = signature_weights(sig);

	for (uint64 i = 0; i < sig->nfeatures; i++)
	{
		if (i % 65536 == 65535)
			CHECK_FOR_INTERRUPTS();
		/* written so that NaN fails */
		if (!(weights[i] > 0 && !isinf(weights[i])))
			return "One of its weights is not a finite number greater than 0.";
	}
	return NULL;
}

static double
vector_similarity(const Signature *a, const Signature *b)
{
	Vector		v = vector_of(a);
	Vector		w = vector_of(b);

	return vectors_jaccard(&v, &w);
}

static bool
vector_near(const Signature *a, const Signature *b, double threshold)
{
	return vector_similarity(a, b) >= threshold;
}

static double
vector_cosine(const Signature *a, const Signature *b)
{
	Vector		v = vector_of(a);
	Vector		w = vector_of(b);

	if (v.n == 0 || w.n == 0)
		return 0;
	return vectors_cosine(vectors_dot(&v, &w), vector_square(&v),
						  vector_square(&w));
}

/* Candidate keys */

typedef struct HeavyFeature
{
	uint64		hash;
	float4		weight;
} HeavyFeature;

/* Heaviest first. */
static inline int
compare_heavy(const HeavyFeature *a, const HeavyFeature *b)
{
	if (a->weight != b->weight)
		return a->weight > b->weight ? -1 : 1;
	return (a->hash > b->hash) - (a->hash < b->hash);
}

#define ST_SORT sort_heavy
#define ST_ELEMENT_TYPE HeavyFeature
#define ST_COMPARE(a, b) compare_heavy(a, b)
#define ST_SCOPE static
#define ST_CHECK_FOR_INTERRUPTS
#define ST_DEFINE
#include "lib/sort_template.h"

static void
vector_row_keys(const Signature *sig, double threshold, KeyList *keys)
{
	Vector		v = vector_of(sig);
	HeavyFeature *heavy = palloc_extended(v.n * sizeof(HeavyFeature),
										  MCXT_ALLOC_HUGE);
	uint64		indexed = v.n;
	double		sum = 0;
	double		light = 0;

	for (uint64 i = 0; i < v.n; i++)
	{
		heavy[i].hash = feature_hash(&sig->making, v.features[i]);
		heavy[i].weight = v.weights[i];
		sum += v.weights[i];
	}
	sort_heavy(heavy, v.n);
	while (indexed > 0)
	{
		light += heavy[indexed - 1].weight;
		if (light >= threshold * sum * ROUNDING)
			break;
		indexed--;
	}
	keys_reserve(keys, indexed);
	for (uint64 i = 0; i < indexed; i++)
		keys_add(keys, heavy[i].hash);
	pfree(heavy);
}

/* `threshold` is of the resemblance, as is the one that the index is for. */
static bool
vector_query_keys(const Signature *sig, double built, double threshold,
				  KeyList *keys, uint32 *need)
{
	uint64		n = SIGNATURE_NVALUES(sig);

	if (threshold < built || n > MAX_QUERY_KEYS)
		return false;
	keys_reserve(keys, n);
	for (uint64 i = 0; i < n; i++)
		keys_add(keys, feature_hash(&sig->making, sig->values[i]));
	*need = 1;
	return true;
}

const MethodInfo weighted_method = {
	.name = "weighted", .method = METHOD_WEIGHTED, .width = 96,
	.analysed = ANALYSED_NEVER, .set = true, .exact = true, .weighted = true,
	.check = vector_check,
	.similarity = vector_similarity, .near = vector_near,
	.cosine = vector_cosine,
	.row_keys = vector_row_keys, .query_keys = vector_query_keys
};

const MethodInfo weighted_words_method = {
	.name = "weighted_words", .method = METHOD_WEIGHTED_WORDS, .width = 96,
	.analysed = ANALYSED_ALWAYS, .set = true, .exact = true, .hashed = true,
	.weighted = true, .nparams = 1,
	.check = vector_check,
	.similarity = vector_similarity, .near = vector_near,
	.cosine = vector_cosine,
	.row_keys = vector_row_keys, .query_keys = vector_query_keys
};
