/*
 * supershingles.c
 *		Supershingles and megashingles: hashes of groups of min-hash slots,
 *		some of which are equal in near-duplicates.
 *
 * A min-hash sketch of groups * size slots is cut into groups, and each group
 * is hashed to one number, its supershingle: equal if all slots of the group
 * are, with probability J^size.  Documents are near-duplicates if at least two
 * of the supershingles agree (one, if there is one group).  A megashingle is
 * the hash of two supershingles.  With a megashingle for each pair, two
 * supershingles agree if and only if one megashingle does, so the rule is a
 * look-up of equal numbers (Broder et al., "Syntactic clustering of the web",
 * 1997; Fetterly, Manasse & Najork 2003).
 *
 * With 6 groups of 14, documents of J = 0.95 are found with a probability of
 * 0.88, documents of J = 0.8 with 0.03: see supershingle_probability().
 *
 * If r of k supershingles agree, (r / k)^(1 / size) is a rough estimate of
 * resemblance.
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

#define GROUPS(spec)		((spec)->param[0])
#define GROUP_SIZE(spec)	((spec)->param[1])
#define OF_PAIRS(method)	((method) == METHOD_MEGASHINGLES)

/* Return the number of values of a document with features. */
static uint64
count_values(const SignatureSpec *spec)
{
	uint64		groups = GROUPS(spec);

	return OF_PAIRS(spec->method) ? groups * (groups - 1) / 2 : groups;
}

/*
 * MethodInfo.check: number and size of groups are in range, and each group, or
 * pair of groups, has a value.
 */
static const char *
groups_check(const Signature *sig)
{
	uint32		groups = GROUPS(&sig->spec);
	uint32		size = GROUP_SIZE(&sig->spec);
	bool		pairs = OF_PAIRS(sig->spec.method);

	if (groups < (pairs ? 2 : 1) || groups > SUPERSHINGLES_MAX_GROUPS)
		return "The number of its groups is out of range.";
	if (size < 1 || size > MINHASH_MAX_SIZE / groups)
		return "The size of its groups is out of range.";
	if (SIGNATURE_NVALUES(sig) == (sig->nfeatures > 0 ?
								   count_values(&sig->spec) : 0))
		return NULL;
	return pairs ?
		"The number of its values differs from the number of pairs of its groups." :
		"The number of its values differs from the number of its groups.";
}

/* Compute the hash of each pair of supershingles. */
static void
megashingles_of_supershingles(const uint64 *supershingles, uint32 groups,
							  uint64 *values)
{
	for (uint32 i = 0; i < groups; i++)
		for (uint32 j = i + 1; j < groups; j++)
			*values++ = mix64(supershingles[i] +
							  mix64(supershingles[j] +
									((uint64) i << 32 | j)));
}

/* Compute the values from the slots of all groups. */
static void
values_of_slots(const SignatureSpec *spec, const uint8 *slots, uint64 *values)
{
	uint64		supershingles[SUPERSHINGLES_MAX_GROUPS];
	uint32		groups = GROUPS(spec);
	uint32		size = GROUP_SIZE(spec);

	Assert(groups <= SUPERSHINGLES_MAX_GROUPS);
	for (uint32 i = 0; i < groups; i++)
		supershingles[i] = XXH3_64bits_withSeed(slots + (size_t) i * size,
												size, i);
	if (OF_PAIRS(spec->method))
		megashingles_of_supershingles(supershingles, groups, values);
	else
		memcpy(values, supershingles, groups * sizeof(uint64));
}

/* MethodInfo.make: the hashes of groups of min-hash slots */
static Signature *
groups_make(const SignatureSpec *spec, const uint64 *features, size_t n)
{
	Signature  *sig = signature_alloc(spec, n > 0 ? count_values(spec) : 0);
	uint32		nslots = GROUPS(spec) * GROUP_SIZE(spec);
	uint8	   *slots;

	if (n == 0)
		return sig;
	slots = palloc(nslots);
	minhash_slots(features, n, nslots, slots);
	values_of_slots(spec, slots, sig->values);
	pfree(slots);
	return sig;
}

/*
 * Estimate the resemblance s of documents with `equal` values in common.  Each
 * of k supershingles agrees if all of its `size` slots do, with probability
 * s^size, which r / k estimates if r agree.  With r equal supershingles there
 * are p = r (r - 1) / 2 equal pairs, hence r = (1 + sqrt(1 + 8 p)) / 2.  If no
 * pair is equal, one supershingle may be, or none.
 */
static double
estimate(const SignatureSpec *spec, uint64 equal)
{
	double		r = equal;

	if (OF_PAIRS(spec->method) && equal > 0)
		r = (1 + sqrt(1 + 8.0 * equal)) / 2;
	return pow(Min(r / GROUPS(spec), 1.0), 1.0 / GROUP_SIZE(spec));
}

/* MethodInfo.similarity: an estimate from the number of equal values */
static double
groups_similarity(const Signature *a, const Signature *b)
{
	return estimate(&a->spec, coordinates_equal(a, b));
}

/* Return the number of values that must agree. */
static uint32
agreement(const SignatureSpec *spec)
{
	return OF_PAIRS(spec->method) ? 1 : Min(GROUPS(spec), 2);
}

/*
 * The rule: as many values agree as agreement() says, whatever the threshold
 * is.
 */
static bool
groups_near(const Signature *a, const Signature *b, double threshold)
{
	return coordinates_equal(a, b) >= agreement(&a->spec);
}

/* Append the keys of all values; near-duplicates share agreement() of them. */
static bool
groups_query_keys(const Signature *sig, double built, double threshold,
				  KeyList *keys, uint32 *need)
{
	coordinates_row_keys(sig, threshold, keys);
	*need = agreement(&sig->spec);
	return true;
}

/*
 * Append the keys of all values; *need is the number of values that must agree
 * for the estimate to reach the threshold.
 */
static bool
supershingles_value_keys(const Signature *sig, double built, double threshold,
						 KeyList *keys, uint32 *need)
{
	coordinates_row_keys(sig, threshold, keys);
	*need = 1;
	while (*need < GROUPS(&sig->spec) &&
		   estimate(&sig->spec, *need) < threshold)
		(*need)++;
	return true;
}

/* Return the estimate for this number of equal values. */
static double
groups_most_similar(const SignatureSpec *spec, uint64 na, uint64 nb,
					uint64 common)
{
	return estimate(spec, common);
}

/*
 * Return the estimate for the least number of equal values in near-duplicates.
 */
static double
groups_least_similarity(const Signature *sig)
{
	return estimate(&sig->spec, agreement(&sig->spec));
}

#define GROUPS_METHOD .width = 64, .analysed = ANALYSED_AS_SOURCE, .nparams = 2, \
	.check = groups_check, .make = groups_make, \
	.similarity = groups_similarity, .near = groups_near, \
	.hamming = coordinates_hamming, \
	.row_keys = coordinates_row_keys, .query_keys = groups_query_keys, \
	.place_keys = coordinates_place_keys, \
	.most_similar = groups_most_similar, \
	.least_similarity = groups_least_similarity

const MethodInfo supershingles_method = {
	.name = "supershingles",.method = METHOD_SUPERSHINGLES, GROUPS_METHOD,
	.value_keys = supershingles_value_keys
};

const MethodInfo megashingles_method = {
	.name = "megashingles",.method = METHOD_MEGASHINGLES, GROUPS_METHOD
};

/* SQL functions */

void
supershingles_require_groups(int groups, int size, int least)
{
	argument_whole("number of groups", groups, least,
				   SUPERSHINGLES_MAX_GROUPS);
	argument_whole("size of a group", size, 1, MINHASH_MAX_SIZE / groups);
}

/*
 * Return supershingles or megashingles of a set or of a min-hash sketch, or
 * megashingles of supershingles.  Raises INVALID_PARAMETER_VALUE if the sketch
 * cannot be cut into these groups.
 */
static Signature *
groups_of_signature(const Signature *source, Method method, int groups,
					int size)
{
	bool		cut = source->spec.method == METHOD_SUPERSHINGLES;
	SignatureSpec spec;
	Signature  *result;

	supershingles_require_groups(groups, size, OF_PAIRS(method) ? 2 : 1);
	if (source->spec.method != METHOD_MINHASH && !(cut && OF_PAIRS(method)))
		return sketch_of_set(source, method, groups, size);
	spec = sketch_spec(&source->spec, method, groups, size);
	if (cut ? memcmp(spec.param, source->spec.param, sizeof(spec.param)) != 0 :
		source->spec.param[0] != (uint32) groups * size)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s cannot be cut into %d groups of %d",
						spec_name(&source->spec), groups, size),
				 errdetail("It takes a sketch of %d slots.", groups * size)));
	result = signature_alloc(&spec, source->nfeatures > 0 ?
							 count_values(&spec) : 0);
	result->nfeatures = source->nfeatures;
	if (cut)
		megashingles_of_supershingles(source->values,
									  SIGNATURE_NVALUES(source),
									  result->values);
	else if (source->nfeatures > 0)
		values_of_slots(&spec, (const uint8 *) source->values, result->values);
	return result;
}

/* supershingles(signature, groups int, size int) */
PG_FUNCTION_INFO_V1(supershingles_of_signature);
Datum
supershingles_of_signature(PG_FUNCTION_ARGS)
{
	PG_RETURN_SIGNATURE(groups_of_signature(PG_GETARG_SIGNATURE(0),
											METHOD_SUPERSHINGLES,
											PG_GETARG_INT32(1),
											PG_GETARG_INT32(2)));
}

/* megashingles(signature, groups int, size int) */
PG_FUNCTION_INFO_V1(megashingles_of_signature);
Datum
megashingles_of_signature(PG_FUNCTION_ARGS)
{
	PG_RETURN_SIGNATURE(groups_of_signature(PG_GETARG_SIGNATURE(0),
											METHOD_MEGASHINGLES,
											PG_GETARG_INT32(1),
											PG_GETARG_INT32(2)));
}

/*
 * Return the sketch of a document by a method, for the SQL functions of (doc
 * text, groups int, size int, k int, analysis text).
 */
static Datum
groups_of_text(FunctionCallInfo fcinfo, Method method)
{
	DocContext *doccxt = doc_context_get(fcinfo, 4);
	int			groups = DOC_CONTEXT_GETARG_INT32(doccxt, 1);
	int			size = DOC_CONTEXT_GETARG_INT32(doccxt, 2);

	supershingles_require_groups(groups, size, OF_PAIRS(method) ? 2 : 1);
	PG_RETURN_SIGNATURE(sketch_of_text(fcinfo, 3, method, groups, size));
}

/* supershingles(doc, groups, size, k, analysis) */
PG_FUNCTION_INFO_V1(supershingles_of_text);
Datum
supershingles_of_text(PG_FUNCTION_ARGS)
{
	return groups_of_text(fcinfo, METHOD_SUPERSHINGLES);
}

/* megashingles(doc, groups, size, k, analysis) */
PG_FUNCTION_INFO_V1(megashingles_of_text);
Datum
megashingles_of_text(PG_FUNCTION_ARGS)
{
	return groups_of_text(fcinfo, METHOD_MEGASHINGLES);
}
