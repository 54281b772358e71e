/*
 * weighted.c
 *		Weighted features: as sets in which an element of weight w stands w
 *		times, and as vectors.
 *
 * With weights that are whole numbers a set will do.  The copies of an element
 * are numbered (Broder's labelled shingles): the first is the element itself,
 * so that a set whose weights are all 1 is the plain one.  Two such sets share
 * min(v, w) copies of an element of weights v and w, and their union has
 * max(v, w): all measures of sets become those of weighted sets, and all
 * sketches of sets those of weighted ones.
 *
 * With any weights it takes a vector, which holds them and has measures of
 * its own: see methods/vectors.c.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/weighted.c
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"
#include "utils/array.h"
#include "utils/memutils.h"

#include "hash.h"
#include "methods/methods.h"
#include "neardup.h"
#include "signature.h"

typedef struct Weighted
{
	uint64		feature;
	uint64		weight;
} Weighted;

static int
compare_weighted(const void *a, const void *b)
{
	uint64		x = ((const Weighted *) a)->feature;
	uint64		y = ((const Weighted *) b)->feature;

	return (x > y) - (x < y);
}

/* Copy number i >= 1 of a feature; copy 0 is the feature itself. */
static inline uint64
copy_of(uint64 feature, uint64 i)
{
	return i == 0 ? feature : mix64(mix64(feature) + i);
}

/* The elements of an array without nulls; raises an error that names it. */
static size_t
array_elements(ArrayType *array, const char *what)
{
	if (array_contains_nulls(array))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("array of %s contains a null value", what)));
	return ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array));
}

/* Raises an error unless there are as many weights as features: how many. */
static size_t
paired_elements(ArrayType *features, ArrayType *weights)
{
	size_t		n = array_elements(features, "features");
	size_t		m = array_elements(weights, "weights");

	if (m != n)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("there are %zu features and %zu weights", n, m)));
	return n;
}

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
	}
	qsort(pairs, *n, sizeof(Weighted), compare_weighted);
	for (size_t i = 0; i < *n; i++)
	{
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
	static const Making making = {
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
	sig = signature_alloc(&making, total);
	for (size_t i = 0; i < n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		for (uint64 copy = 0; copy < pairs[i].weight; copy++)
			sig->values[at++] = copy_of(pairs[i].feature, copy);
	}
	at = values_sort_distinct(sig->values, at);
	SET_VARSIZE(sig, SIGNATURE_HEADER + at * sizeof(uint64));
	sig->nfeatures = at;
	PG_RETURN_SIGNATURE(sig);
}

/* Vectors */

typedef struct Component
{
	uint64		feature;
	double		weight;
} Component;

/* By weight, too, so that the order in the array does not matter to a sum. */
static inline int
compare_components(const Component *a, const Component *b)
{
	if (a->feature != b->feature)
		return a->feature < b->feature ? -1 : 1;
	return (a->weight > b->weight) - (a->weight < b->weight);
}

#define ST_SORT sort_components
#define ST_ELEMENT_TYPE Component
#define ST_COMPARE(a, b) compare_components(a, b)
#define ST_SCOPE static
#define ST_CHECK_FOR_INTERRUPTS
#define ST_DEFINE
#include "lib/sort_template.h"

/* A weight that may stand in a vector, or that is zero. */
static double
checked_weight(float4 weight)
{
	/* written so that NaN fails */
	if (!(weight >= 0 && !isinf(weight)))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("weight is out of range: %g", weight),
				 errdetail("A weight is a finite number and not negative.")));
	return weight;
}

/*
 * The n pairs of the arrays, *kept of them, by rising feature: those of one
 * feature added up, those that weigh nothing left out.
 */
static Component *
vector_components(const int64 *features, const float4 *weights, size_t n,
				  size_t *kept)
{
	Component  *components = palloc_extended(Max(n, 1) * sizeof(Component),
											 MCXT_ALLOC_HUGE);
	size_t		positive = 0;

	for (size_t i = 0; i < n; i++)
	{
		components[positive].feature = features[i];
		components[positive].weight = checked_weight(weights[i]);
		positive += weights[i] > 0;
	}
	sort_components(components, positive);
	*kept = 0;
	for (size_t i = 0; i < positive; i++)
	{
		if (*kept > 0 && components[*kept - 1].feature == components[i].feature)
			components[*kept - 1].weight += components[i].weight;
		else
			components[(*kept)++] = components[i];
	}
	return components;
}

/* signature_weighted(features bigint[], weights real[]) */
PG_FUNCTION_INFO_V1(signature_weighted);
Datum
signature_weighted(PG_FUNCTION_ARGS)
{
	Making		making = {
		.version = SIGNATURE_VERSION, .method = METHOD_WEIGHTED,
		.unit = UNIT_NONE, .width = weighted_method.width
	};
	ArrayType  *features = PG_GETARG_ARRAYTYPE_P(0);
	ArrayType  *weights = PG_GETARG_ARRAYTYPE_P(1);
	size_t		n = paired_elements(features, weights);
	Component  *components;
	Signature  *sig;

	components = vector_components((const int64 *) ARR_DATA_PTR(features),
								   (const float4 *) ARR_DATA_PTR(weights),
								   n, &n);
	sig = signature_alloc(&making, n);
	sig->nfeatures = n;
	for (size_t i = 0; i < n; i++)
	{
		sig->values[i] = components[i].feature;
		signature_weights(sig)[i] =
			checked_weight((float4) components[i].weight);
	}
	PG_RETURN_SIGNATURE(sig);
}
