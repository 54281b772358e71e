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
 */
#include "postgres.h"

#include <math.h>

#include "base/call.h"
#include "base/hash.h"
#include "methods/lexical/coordinates.h"
#include "methods/method.h"
#include "methods/sketches/minhash.h"
#include "methods/sketches/sketch.h"
#include "document/doc_context.h"

#define GROUPS(sig)		((sig)->spec.param[0])
#define GROUP_SIZE(sig)	((sig)->spec.param[1])

/*
 * The rule, as a sentence, that these parameters break, or NULL: `least` to
 * SUPERSHINGLES_MAX_GROUPS groups, MINHASH_MAX_SIZE slots in all.
 */
static const char *
rule_broken(uint32 groups, uint32 size, uint32 least)
{
	if (groups < least || groups > SUPERSHINGLES_MAX_GROUPS)
		return "The number of its groups is out of range.";
	if (size < 1 || size > MINHASH_MAX_SIZE / groups)
		return "The size of its groups is out of range.";
	return NULL;
}

static const char *
supershingles_check(const Signature *sig)
{
	const char *rule = rule_broken(GROUPS(sig), GROUP_SIZE(sig), 1);

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
	const char *rule = rule_broken(groups, GROUP_SIZE(sig), 2);

	if (rule != NULL)
		return rule;
	if (SIGNATURE_NVALUES(sig) !=
		(sig->nfeatures > 0 ? groups * (groups - 1) / 2 : 0))
		return "The number of its values is not that of the pairs of its groups.";
	return NULL;
}

/* From groups * size slots, one value for each group. */
static void
supershingles_of_slots(const uint8 *slots, uint32 groups, uint32 size,
					   uint64 *values)
{
	for (uint32 i = 0; i < groups; i++)
		values[i] = XXH3_64bits_withSeed(slots + (size_t) i * size, size, i);
}

/* From the supershingles of all groups, one value for each pair of groups. */
static void
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
supershingles_of_features(const SignatureSpec *spec, const uint64 *features,
						  size_t n)
{
	uint32		groups = spec->param[0];
	uint32		size = spec->param[1];
	uint8	   *slots = palloc((size_t) groups * size);
	uint64	   *values = palloc(groups * sizeof(uint64));

	minhash_slots(features, n, groups * size, slots);
	supershingles_of_slots(slots, groups, size, values);
	pfree(slots);
	return values;
}

static Signature *
supershingles_make(const SignatureSpec *spec, const uint64 *features, size_t n)
{
	uint32		groups = spec->param[0];
	Signature  *sig = signature_alloc(spec, n > 0 ? groups : 0);
	uint64	   *values;

	if (n == 0)
		return sig;
	values = supershingles_of_features(spec, features, n);
	memcpy(sig->values, values, groups * sizeof(uint64));
	pfree(values);
	return sig;
}

static Signature *
megashingles_make(const SignatureSpec *spec, const uint64 *features, size_t n)
{
	uint32		groups = spec->param[0];
	Signature  *sig = signature_alloc(spec, n > 0 ?
									  (size_t) groups * (groups - 1) / 2 : 0);
	uint64	   *values;

	if (n == 0)
		return sig;
	values = supershingles_of_features(spec, features, n);
	megashingles_of_supershingles(values, groups, sig->values);
	pfree(values);
	return sig;
}

/*
 * Resemblance s, if r of k supershingles agree: each agrees if all of its
 * `size` slots do, with probability s^size, so r / k estimates that.
 */
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

/*
 * Of r equal supershingles there are p = r (r - 1) / 2 equal pairs, hence r =
 * (1 + sqrt(1 + 8 p)) / 2.  No pair may be of one or of none.
 */
static double
estimate_of_pairs(uint64 pairs, uint32 k, uint32 size)
{
	return pairs == 0 ? 0 : estimate((1 + sqrt(1 + 8.0 * pairs)) / 2, k, size);
}

static double
megashingles_similarity(const Signature *a, const Signature *b)
{
	return estimate_of_pairs(coordinates_equal(a, b), GROUPS(a), GROUP_SIZE(a));
}

/* Number of supershingles that must agree. */
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

/* The number that must agree for the estimate to reach the threshold. */
static bool
supershingles_value_keys(const Signature *sig, double built, double threshold,
						 KeyList *keys, uint32 *need)
{
	coordinates_row_keys(sig, threshold, keys);
	*need = 1;
	while (*need < GROUPS(sig) &&
		   estimate(*need, GROUPS(sig), GROUP_SIZE(sig)) < threshold)
		(*need)++;
	return true;
}

static bool
supershingles_query_keys(const Signature *sig, double built, double threshold,
						 KeyList *keys, uint32 *need)
{
	coordinates_row_keys(sig, threshold, keys);
	*need = agreement(sig);
	return true;
}

static double
supershingles_most_similar(const SignatureSpec *spec, uint64 na, uint64 nb,
						   uint64 common)
{
	return estimate(common, spec->param[0], spec->param[1]);
}

static double
megashingles_most_similar(const SignatureSpec *spec, uint64 na, uint64 nb,
						  uint64 common)
{
	return estimate_of_pairs(common, spec->param[0], spec->param[1]);
}

static double
supershingles_least_similarity(const Signature *sig)
{
	return estimate(agreement(sig), GROUPS(sig), GROUP_SIZE(sig));
}

static double
megashingles_least_similarity(const Signature *sig)
{
	return estimate_of_pairs(1, GROUPS(sig), GROUP_SIZE(sig));
}

const MethodInfo supershingles_method = {
	.name = "supershingles",.method = METHOD_SUPERSHINGLES,.width = 64,
	.analysed = ANALYSED_AS_SOURCE,.nparams = 2,
	.check = supershingles_check,.make = supershingles_make,
	.similarity = supershingles_similarity,.near = supershingles_near,
	.hamming = coordinates_hamming,
	.row_keys = coordinates_row_keys,
	.query_keys = supershingles_query_keys,
	.value_keys = supershingles_value_keys,
	.place_keys = coordinates_place_keys,
	.most_similar = supershingles_most_similar,
	.least_similarity = supershingles_least_similarity
};

const MethodInfo megashingles_method = {
	.name = "megashingles",.method = METHOD_MEGASHINGLES,.width = 64,
	.analysed = ANALYSED_AS_SOURCE,.nparams = 2,
	.check = megashingles_check,.make = megashingles_make,
	.similarity = megashingles_similarity,.near = coordinates_near,
	.hamming = coordinates_hamming,
	.row_keys = coordinates_row_keys,.query_keys = coordinates_query_keys,
	.place_keys = coordinates_place_keys,
	.most_similar = megashingles_most_similar,
	.least_similarity = megashingles_least_similarity
};

/* SQL functions */

void
supershingles_require_groups(int groups, int size, int least)
{
	argument_whole("number of groups", groups, least, SUPERSHINGLES_MAX_GROUPS);
	argument_whole("size of a group", size, 1, MINHASH_MAX_SIZE / groups);
}

/* Raises unless a sketch of nslots can be cut into the given groups. */
static void
require_slots(const Signature *sketch, uint32 nslots, int groups, int size)
{
	if (nslots != (uint32) groups * size)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s cannot be cut into %d groups of %d",
						spec_name(&sketch->spec), groups, size),
				 errdetail("It takes a sketch of %d slots.", groups * size)));
}

/* Supershingles of a set, or of a min-hash sketch. */
static Signature *
supershingles_of(const Signature *source, int groups, int size)
{
	SignatureSpec spec;
	Signature  *result;

	if (source->spec.method != METHOD_MINHASH)
		return sketch_of_set(source, METHOD_SUPERSHINGLES, groups, size);
	require_slots(source, source->spec.param[0], groups, size);
	spec = sketch_spec(&source->spec, METHOD_SUPERSHINGLES, groups, size);
	result = signature_alloc(&spec, source->nfeatures > 0 ? groups : 0);
	result->nfeatures = source->nfeatures;
	if (source->nfeatures > 0)
		supershingles_of_slots((const uint8 *) source->values, groups, size,
							   result->values);
	return result;
}

PG_FUNCTION_INFO_V1(supershingles_of_signature);
Datum
supershingles_of_signature(PG_FUNCTION_ARGS)
{
	int			groups = PG_GETARG_INT32(1);
	int			size = PG_GETARG_INT32(2);

	supershingles_require_groups(groups, size, 1);
	PG_RETURN_SIGNATURE(supershingles_of(PG_GETARG_SIGNATURE(0), groups, size));
}

PG_FUNCTION_INFO_V1(supershingles_of_text);
Datum
supershingles_of_text(PG_FUNCTION_ARGS)
{
	DocContext *doccxt = doc_context_get(fcinfo, 4);
	int			groups = DOC_CONTEXT_GETARG_INT32(doccxt, 1);
	int			size = DOC_CONTEXT_GETARG_INT32(doccxt, 2);

	supershingles_require_groups(groups, size, 1);
	PG_RETURN_SIGNATURE(sketch_of_text(fcinfo, 3, METHOD_SUPERSHINGLES,
									   groups, size));
}

/* Megashingles of a set, of a min-hash sketch, or of supershingles. */
PG_FUNCTION_INFO_V1(megashingles_of_signature);
Datum
megashingles_of_signature(PG_FUNCTION_ARGS)
{
	Signature  *source = PG_GETARG_SIGNATURE(0);
	int			groups = PG_GETARG_INT32(1);
	int			size = PG_GETARG_INT32(2);
	SignatureSpec spec;
	Signature  *result;

	supershingles_require_groups(groups, size, 2);
	if (source->spec.method == METHOD_MINHASH)
		source = supershingles_of(source, groups, size);
	if (source->spec.method != METHOD_SUPERSHINGLES)
		PG_RETURN_SIGNATURE(sketch_of_set(source, METHOD_MEGASHINGLES,
										  groups, size));
	if (source->spec.param[0] != (uint32) groups ||
		source->spec.param[1] != (uint32) size)
		require_slots(source, 0, groups, size);
	spec = sketch_spec(&source->spec, METHOD_MEGASHINGLES, groups, size);
	result = signature_alloc(&spec, source->nfeatures > 0 ?
							 (size_t) groups * (groups - 1) / 2 : 0);
	result->nfeatures = source->nfeatures;
	if (source->nfeatures > 0)
		megashingles_of_supershingles(source->values, groups, result->values);
	PG_RETURN_SIGNATURE(result);
}

PG_FUNCTION_INFO_V1(megashingles_of_text);
Datum
megashingles_of_text(PG_FUNCTION_ARGS)
{
	DocContext *doccxt = doc_context_get(fcinfo, 4);
	int			groups = DOC_CONTEXT_GETARG_INT32(doccxt, 1);
	int			size = DOC_CONTEXT_GETARG_INT32(doccxt, 2);

	supershingles_require_groups(groups, size, 2);
	PG_RETURN_SIGNATURE(sketch_of_text(fcinfo, 3, METHOD_MEGASHINGLES,
									   groups, size));
}
