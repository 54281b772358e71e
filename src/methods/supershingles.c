/*
 * supershingles.c
 *		Supershingles and megashingles: a few numbers, some of which are equal
 *		in near-duplicates.
 *
 * A min-hash sketch of groups * size slots is cut into groups, and each group
 * is hashed to one number, its supershingle: equal if all slots of the group
 * are, with probability J^size.  Documents are near-duplicates if at least
 * two of the supershingles agree (one, where there is one group).  A
 * megashingle is the hash of two supershingles; with one for each pair, two
 * supershingles agree if and only if one megashingle does, which turns the
 * rule into a look-up of equal numbers (Broder et al., "Syntactic clustering
 * of the web", 1997; Fetterly, Manasse & Najork 2003).
 *
 * With 6 groups of 14, documents of J = 0.95 are found with a probability of
 * 0.88, those of J = 0.8 with 0.03: see supershingle_probability().
 *
 * Of r supershingles out of k that agree, (r / k)^(1 / size) is an estimate
 * of resemblance, a rough one.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/methods/supershingles.c
 */
#include "postgres.h"

#include <math.h>

#include "hash.h"
#include "methods/coordinates.h"
#include "methods/minhash.h"
#include "methods/supershingles.h"

#define GROUPS(sig)		((sig)->making.param[0])
#define GROUP_SIZE(sig)	((sig)->making.param[1])

static const char *
supershingles_check(const Signature *sig)
{
	const char *rule = supershingles_check_params(GROUPS(sig),
												  GROUP_SIZE(sig), 1);

	if (rule != NULL)
		return rule;
	if (SIGNATURE_NVALUES(sig) != (sig->nfeatures > 0 ? GROUPS(sig) : 0))
		return "The number of its values is not that of its groups.";
	return NULL;
}

static const char *
megashingles_check(const Signature *sig)
{
	uint64		groups = GROUPS(sig);
	const char *rule = supershingles_check_params(groups, GROUP_SIZE(sig), 2);

	if (rule != NULL)
		return rule;
	if (SIGNATURE_NVALUES(sig) !=
		(sig->nfeatures > 0 ? groups * (groups - 1) / 2 : 0))
		return "The number of its values is not that of the pairs of its groups.";
	return NULL;
}

const char *
supershingles_check_params(uint32 groups, uint32 size, uint32 least)
{
	if (groups < least || groups > SUPERSHINGLES_MAX_GROUPS)
		return "The number of its groups is out of range.";
	if (size < 1 || size > MINHASH_MAX_SIZE / groups)
		return "The size of its groups is out of range.";
	return NULL;
}

void
supershingles_of_slots(const uint8 *slots, uint32 groups, uint32 size,
					   uint64 *values)
{
	for (uint32 i = 0; i < groups; i++)
		values[i] = XXH3_64bits_withSeed(slots + (size_t) i * size, size, i);
}

void
megashingles_of_supershingles(const uint64 *supershingles, uint32 groups,
							  uint64 *values)
{
	for (uint32 i = 0; i < groups; i++)
		for (uint32 j = i + 1; j < groups; j++)
			*values++ = mix64(supershingles[i] +
							  mix64(supershingles[j] + ((uint64) i << 32 | j)));
}

/* The supershingles of a set, in palloc'd memory. */
static uint64 *
supershingles_of_features(const Making *making, const uint64 *features,
						  size_t n)
{
	uint32		groups = making->param[0];
	uint32		size = making->param[1];
	uint8	   *slots = palloc((size_t) groups * size);
	uint64	   *values = palloc(groups * sizeof(uint64));

	minhash_slots(features, n, groups * size, slots);
	supershingles_of_slots(slots, groups, size, values);
	pfree(slots);
	return values;
}

static Signature *
supershingles_make(const Making *making, const uint64 *features, size_t n)
{
	uint32		groups = making->param[0];
	Signature  *sig = signature_alloc(making, n > 0 ? groups : 0);
	uint64	   *values;

	if (n == 0)
		return sig;
	values = supershingles_of_features(making, features, n);
	memcpy(sig->values, values, groups * sizeof(uint64));
	pfree(values);
	return sig;
}

static Signature *
megashingles_make(const Making *making, const uint64 *features, size_t n)
{
	uint32		groups = making->param[0];
	Signature  *sig = signature_alloc(making, n > 0 ?
									  (size_t) groups * (groups - 1) / 2 : 0);
	uint64	   *values;

	if (n == 0)
		return sig;
	values = supershingles_of_features(making, features, n);
	megashingles_of_supershingles(values, groups, sig->values);
	pfree(values);
	return sig;
}

/* Resemblance, if r of k supershingles agree. */
static double
estimate(double r, uint32 k, uint32 size)
{
	return pow(Min(r / k, 1.0), 1.0 / size);
}

static double
supershingles_similarity(const Signature *a, const Signature *b)
{
	return estimate(coordinates_equal(a, b), GROUPS(a), GROUP_SIZE(a));
}

/* Of r equal supershingles there are r (r - 1) / 2 equal pairs. */
static double
megashingles_similarity(const Signature *a, const Signature *b)
{
	uint64		pairs = coordinates_equal(a, b);

	if (pairs == 0)
		return 0;
	return estimate((1 + sqrt(1 + 8.0 * pairs)) / 2, GROUPS(a), GROUP_SIZE(a));
}

/* How many supershingles must agree. */
static uint32
agreement(const Signature *sig)
{
	return Min(GROUPS(sig), 2);
}

static bool
supershingles_near(const Signature *a, const Signature *b, double threshold)
{
	return coordinates_equal(a, b) >= agreement(a);
}

static bool
supershingles_query_keys(const Signature *sig, double built, double threshold,
						 KeyList *keys, uint32 *need)
{
	coordinates_row_keys(sig, threshold, keys);
	*need = agreement(sig);
	return true;
}

const MethodInfo supershingles_method = {
	.name = "supershingles", .method = METHOD_SUPERSHINGLES, .width = 64,
	.analysed = ANALYSED_AS_SOURCE, .nparams = 2,
	.check = supershingles_check, .make = supershingles_make,
	.similarity = supershingles_similarity, .near = supershingles_near,
	.hamming = coordinates_hamming,
	.row_keys = coordinates_row_keys,
	.query_keys = supershingles_query_keys
};

const MethodInfo megashingles_method = {
	.name = "megashingles", .method = METHOD_MEGASHINGLES, .width = 64,
	.analysed = ANALYSED_AS_SOURCE, .nparams = 2,
	.check = megashingles_check, .make = megashingles_make,
	.similarity = megashingles_similarity, .near = coordinates_near,
	.hamming = coordinates_hamming,
	.row_keys = coordinates_row_keys, .query_keys = coordinates_query_keys
};
