/*
 * features.c
 *		Sets of numbers that the user gives, plain or each as often as its weight says.
 *
 * The copies of an element are numbered (Broder's labelled shingles): the first
 * is the element itself, so that a set whose weights are all 1 is the plain one.
 * Two such sets share min(v, w) copies of an element of weights v and w, and
 * their union has max(v, w): all measures of sets become those of weighted sets,
 * and all sketches of sets those of weighted ones.  Weights that are no whole
 * numbers take a vector: see methods/weighted/weighted_features.c.
 */
#include "postgres.h"

#include "utils/array.h"
#include "utils/memutils.h"

#include "base/interrupts.h"
#include "base/sort_uint64.h"
#include "document/repeats.h"
#include "methods/method.h"
#include "methods/weighted/weighted.h"

const MethodInfo features_method = {
	.name = "features", .method = METHOD_FEATURES, .width = 64,
	.analysed = ANALYSED_NEVER, .set = true, .exact = true
};

/* The set of the array's elements; its bits are taken as unsigned. */
PG_FUNCTION_INFO_V1(signature_from_array);
Datum
signature_from_array(PG_FUNCTION_ARGS)
{
	static const SignatureSpec spec = {
		.version = SIGNATURE_VERSION, .method = METHOD_FEATURES,
		.unit = UNIT_NONE, .width = 64
	};
	ArrayType  *array = PG_GETARG_ARRAYTYPE_P(0);
	size_t		n = ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array));
	Signature  *sig;

	if (array_contains_nulls(array))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("array of features contains a null value"),
				 errhint("Leave it out, for instance with array_remove(..., NULL).")));
	sig = signature_alloc(&spec, n);
	if (n > 0)
		memcpy(sig->values, ARR_DATA_PTR(array), n * sizeof(uint64));
	n = sort_distinct_hashes(sig->values, n);
	SET_VARSIZE(sig, SIGNATURE_HEADER + n * sizeof(uint64));
	sig->nfeatures = n;
	PG_RETURN_SIGNATURE(sig);
}

typedef struct Weighted
{
	uint64		feature;
	uint64		weight;
} Weighted;

/* sort_weighted(array, n): by feature */
#define ST_SORT sort_weighted
#define ST_ELEMENT_TYPE Weighted
#define ST_COMPARE(a, b) \
	(((a)->feature > (b)->feature) - ((a)->feature < (b)->feature))
#define ST_SCOPE static
#define ST_CHECK_FOR_INTERRUPTS
#define ST_DEFINE
#include "lib/sort_template.h"

/* Pairs features with weights, rising; weights of one feature add up. */
static Weighted *
sorted_pairs(const int64 *features, const int32 *weights, size_t *n)
{
	Weighted   *pairs = palloc_extended(Max(*n, 1) * sizeof(Weighted),
										MCXT_ALLOC_HUGE);
	size_t		kept = 0;

	for (size_t i = 0; i < *n; i++)
	{
		if (weights[i] < 0)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("weight is negative: %d", weights[i])));
		pairs[i].feature = features[i];
		pairs[i].weight = weights[i];
		CHECK_EVERY(i);
	}
	sort_weighted(pairs, *n);
	for (size_t i = 0; i < *n; i++)
	{
		CHECK_EVERY(i);
		if (kept > 0 && pairs[kept - 1].feature == pairs[i].feature)
			pairs[kept - 1].weight += pairs[i].weight;
		else
			pairs[kept++] = pairs[i];
	}
	*n = kept;
	return pairs;
}

/* signature_from(features bigint[], weights int[]) */
PG_FUNCTION_INFO_V1(signature_from_weighted);
Datum
signature_from_weighted(PG_FUNCTION_ARGS)
{
	static const SignatureSpec spec = {
		.version = SIGNATURE_VERSION, .method = METHOD_FEATURES,
		.unit = UNIT_NONE, .width = 64
	};
	ArrayType  *features = PG_GETARG_ARRAYTYPE_P(0);
	ArrayType  *weights = PG_GETARG_ARRAYTYPE_P(1);
	size_t		n = paired_elements(features, weights);
	uint64		total = 0;
	size_t		at = 0;
	Weighted   *pairs;
	Signature  *sig;

	pairs = sorted_pairs((const int64 *) ARR_DATA_PTR(features),
						 (const int32 *) ARR_DATA_PTR(weights), &n);
	for (size_t i = 0; i < n; i++)
		total += pairs[i].weight;
	sig = signature_alloc(&spec, total);
	for (size_t i = 0; i < n; i++)
	{
		for (uint64 copy = 0; copy < pairs[i].weight; copy++)
		{
			CHECK_EVERY(at);
			sig->values[at++] = repeated_element(pairs[i].feature, copy);
		}
	}
	at = sort_distinct_hashes(sig->values, at);
	SET_VARSIZE(sig, SIGNATURE_HEADER + at * sizeof(uint64));
	sig->nfeatures = at;
	PG_RETURN_SIGNATURE(sig);
}
