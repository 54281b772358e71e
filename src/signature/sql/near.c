/*
 * near.c
 *		Comparing two signatures: measures, conditions, and probabilities of
 *		sketches.
 */
#include "postgres.h"

#include "utils/builtins.h"
#include "utils/float.h"

#include "base/call.h"
#include "base/compat.h"
#include "base/memory.h"
#include "base/settings.h"
#include "methods/method.h"
#include "methods/sketches/minhash.h"
#include "methods/sketches/sketch.h"
#include "signature/sql/near.h"

/*
 * Near-duplicate conditions
 *
 * The conditions are near_duplicate(a, b, threshold, measure) and
 * contained_in(a, b, threshold).  The operators %, <% and %> take the
 * threshold from neardup.threshold, so they are STABLE.  All conditions, and
 * every index, use signatures_near(); the join verifies sets and vectors by
 * the same bounds.
 */

void
threshold_require_valid(double threshold, Measure measure)
{
	if (measure_has_threshold(measure, threshold))
		return;
	if (measure == MEASURE_SHARED)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("threshold %s is out of range",
						float8out_internal(threshold)),
				 errdetail("A threshold of measure \"shared\" is a whole number of features from 1 to %d.",
						   SHARED_MAX)));
	else
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("threshold %s is out of range",
						float8out_internal(threshold)),
				 errdetail("A threshold is greater than 0 and at most 1."),
				 threshold >= 10 && threshold <= 100 ?
				 errhint("%g percent are %g.", threshold, threshold / 100) :
				 0));
}

Measure
measure_require(const text *name)
{
	Measure		measure;

	if (!measure_by_name(VARDATA_ANY(name), VARSIZE_ANY_EXHDR(name), &measure))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("measure \"%s\" does not exist",
						text_to_cstring(name)),
				 errhint("Measures are jaccard, containment, contains, dice, cosine, overlap_coefficient, similarity and shared.")));
	return measure;
}

void
measure_refuse(const Signature *sig, const char *what)
{
	const MethodInfo *method = method_info(sig->spec.method);
	bool		vector = method->cosine != NULL;

	if (method->dense)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("%s cannot be computed from %s", what,
						spec_name(&sig->spec)),
				 errdetail("Dense vectors have the measure \"cosine\" only."),
				 errhint("Write near_duplicate(a, b, 0.9, 'cosine'), cosine(a, b) or a <=> b.")));
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("%s cannot be computed from %s", what,
					spec_name(&sig->spec)),
			 vector ?
			 errdetail("Weighted features have the measures \"jaccard\" and \"cosine\".") :
			 errdetail("Sketches estimate resemblance, the measure \"jaccard\"."),
			 vector ?
			 errhint("Use sets of weighted features, made by signature_from(features, weights).") :
			 errhint("Use sets of shingles, or samples of them made by sample().")));
}

bool
measure_is_defined(const MethodInfo *method, Measure measure)
{
	if (method->dense)
		return measure == MEASURE_COSINE;
	return method->similarity == NULL || measure == MEASURE_JACCARD ||
		measure == MEASURE_SIMILARITY ||
		(measure == MEASURE_COSINE && method->cosine != NULL);
}

const MethodInfo *
measure_method(const Signature *a, const Signature *b)
{
	spec_require_equal(&a->spec, &b->spec);
	return method_info(a->spec.method);
}

uint64
measure_overlap(const Signature *a, const Signature *b)
{
	return set_overlap(a->values, SIGNATURE_NVALUES(a),
					   b->values, SIGNATURE_NVALUES(b));
}

double
signatures_value(const Signature *a, const Signature *b, Measure measure)
{
	const MethodInfo *method = measure_method(a, b);

	if (method->similarity == NULL)
		return measure_value(measure, SIGNATURE_NVALUES(a),
							 SIGNATURE_NVALUES(b), measure_overlap(a, b));
	if (measure == MEASURE_COSINE && method->cosine != NULL)
		return method->cosine(a, b);
	if (!measure_is_defined(method, measure))
		measure_refuse(a, measure_name(measure));
	return method->similarity(a, b);
}

bool
signatures_comparable(const Signature *a, const Signature *b)
{
	if (likely(spec_equal(&a->spec, &b->spec)))
		return true;
	spec_warn_different(&a->spec, &b->spec);
	return false;
}

bool
signatures_near(const Signature *a, const Signature *b,
				double threshold, Measure measure)
{
	const MethodInfo *method;
	uint64		na;
	uint64		nb;

	Assert(measure_has_threshold(measure, threshold));
	if (!signatures_comparable(a, b))
		return false;
	method = method_info(a->spec.method);
	if (unlikely(method->near != NULL))
	{
		if (!measure_is_defined(method, measure))
			measure_refuse(a, measure_name(measure));
		if (measure == MEASURE_COSINE && !method->dense)
			return method->cosine(a, b) >= threshold;
		if (measure == MEASURE_SIMILARITY)
			return method->similarity(a, b) >= threshold;
		return method->near(a, b, threshold);
	}
	na = SIGNATURE_NVALUES(a);
	nb = SIGNATURE_NVALUES(b);
	return set_overlap_reaches(a->values, na, b->values, nb,
							   measure_min_overlap(measure, na, nb,
												   threshold));
}

/* Conditions */

/*
 * Prefetch up to 1 kB of a signature, and return it.  The values of a row
 * found by an index are mostly in no cache.
 */
static inline const Signature *
fetch_ahead(const Signature *sig)
{
	Size		n = Min(VARSIZE(sig), 1024);

	for (Size at = CACHE_LINE; at < n; at += CACHE_LINE)
		__builtin_prefetch((const char *) sig + at);
	return sig;
}

/* near_duplicate(signature, signature, threshold float8, measure text) */
PG_FUNCTION_INFO_V1(signature_near_duplicate);
Datum
signature_near_duplicate(PG_FUNCTION_ARGS)
{
	const Signature *a = fetch_ahead(PG_GETARG_REPEATED_SIGNATURE(0));
	const Signature *b = fetch_ahead(PG_GETARG_REPEATED_SIGNATURE(1));
	double		threshold = PG_GETARG_FLOAT8(2);
	Measure		measure = measure_require(PG_GETARG_TEXT_PP(3));

	threshold_require_valid(threshold, measure);
	PG_RETURN_BOOL(signatures_near(a, b, threshold, measure));
}

/* contained_in(signature, signature, threshold float8) */
PG_FUNCTION_INFO_V1(signature_contained_in);
Datum
signature_contained_in(PG_FUNCTION_ARGS)
{
	double		threshold = PG_GETARG_FLOAT8(2);

	threshold_require_valid(threshold, MEASURE_CONTAINMENT);
	PG_RETURN_BOOL(signatures_near(PG_GETARG_REPEATED_SIGNATURE(0),
								   PG_GETARG_REPEATED_SIGNATURE(1),
								   threshold, MEASURE_CONTAINMENT));
}

/* Define a C function of two signatures. */
#define BINARY_FUNCTION(function, result) \
PG_FUNCTION_INFO_V1(function); \
Datum \
function(PG_FUNCTION_ARGS) \
{ \
	const Signature *a = PG_GETARG_REPEATED_SIGNATURE(0); \
	const Signature *b = PG_GETARG_REPEATED_SIGNATURE(1); \
\
	result; \
}

BINARY_FUNCTION(signature_near_duplicate_op,
				PG_RETURN_BOOL(signatures_near(a, b, neardup_threshold,
											   MEASURE_JACCARD)))
BINARY_FUNCTION(signature_contained_in_op,
				PG_RETURN_BOOL(signatures_near(a, b, neardup_threshold,
											   MEASURE_CONTAINMENT)))
BINARY_FUNCTION(signature_contains_op,
				PG_RETURN_BOOL(signatures_near(a, b, neardup_threshold,
											   MEASURE_CONTAINS)))

/*
 * near_duplicate_approx(): near-duplicates that also share a band of a fixed
 * banding
 */

/* The last set that one argument had, and the keys of its bands */
typedef struct ApproxSide
{
	Signature  *set;			/* a copy, or NULL */
	KeyList		keys;
} ApproxSide;

/* State of a call site of near_duplicate_approx() */
typedef struct ApproxContext
{
	double		threshold;		/* threshold that the banding was chosen for */
	double		recall;
	Banding		banding;
	ApproxSide	sides[2];
} ApproxContext;

/* Forget the last set on one side. */
static void
forget_side(ApproxSide *side)
{
	if (side->set != NULL)
		pfree(side->set);
	side->set = NULL;
	side->keys.n = 0;
}

/*
 * Return the state of a call site.  Its banding is chosen anew when threshold
 * or recall change.
 */
static ApproxContext *
approx_call(FunctionCallInfo fcinfo, double threshold, double recall)
{
	ApproxContext *cxt = fcinfo->flinfo->fn_extra;

	if (cxt != NULL && cxt->threshold == threshold && cxt->recall == recall)
		return cxt;
	if (cxt == NULL)
		cxt = MemoryContextAllocZero(fcinfo->flinfo->fn_mcxt,
									 sizeof(ApproxContext));
	fcinfo->flinfo->fn_extra = cxt;
	cxt->banding = lsh_approx_banding(threshold, recall);
	cxt->threshold = threshold;
	cxt->recall = recall;
	for (size_t i = 0; i < lengthof(cxt->sides); i++)
		forget_side(&cxt->sides[i]);
	return cxt;
}

/*
 * Return the keys of the bands of a set on one side.  Joins and look-ups
 * compare one set with many, so the keys of the last set are kept.
 */
static const KeyList *
approx_keys(FunctionCallInfo fcinfo, ApproxContext *cxt, int which,
			const Signature *set)
{
	ApproxSide *side = &cxt->sides[which];
	MemoryContext old;

	if (side->set != NULL && VARSIZE(side->set) == VARSIZE(set) &&
		memcmp(side->set, set, VARSIZE(set)) == 0)
		return &side->keys;
	forget_side(side);
	old = MemoryContextSwitchTo(fcinfo->flinfo->fn_mcxt);
	lsh_approx_keys(set, &cxt->banding, &side->keys);
	side->set = palloc(VARSIZE(set));
	memcpy(side->set, set, VARSIZE(set));
	MemoryContextSwitchTo(old);
	return &side->keys;
}

bool
approx_takes(const MethodInfo *method)
{
	return method->set && method->exact && !method->weighted;
}

void
approx_require_method(const MethodInfo *method)
{
	if (!approx_takes(method))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("near_duplicate_approx() needs exact sets"),
				 errhint("Compare sketches with near_duplicate().")));
}

/*
 * near_duplicate_approx(signature, signature, threshold float8, recall float8)
 */
PG_FUNCTION_INFO_V1(signature_near_duplicate_approx);
Datum
signature_near_duplicate_approx(PG_FUNCTION_ARGS)
{
	Signature  *a = PG_GETARG_SIGNATURE(0);
	Signature  *b = PG_GETARG_SIGNATURE(1);
	double		threshold = PG_GETARG_FLOAT8(2);
	ApproxContext *cxt;

	threshold_require_valid(threshold, MEASURE_JACCARD);
	cxt = approx_call(fcinfo, threshold, PG_GETARG_FLOAT8(3));
	if (!signatures_comparable(a, b))
		PG_RETURN_BOOL(false);
	approx_require_method(method_info(a->spec.method));
	if (!signatures_near(a, b, threshold, MEASURE_JACCARD))
		PG_RETURN_BOOL(false);
	/* a set has all its bands in common with itself */
	if (VARSIZE(a) == VARSIZE(b) && memcmp(a, b, VARSIZE(a)) == 0)
		PG_RETURN_BOOL(true);
	PG_RETURN_BOOL(lsh_meet(approx_keys(fcinfo, cxt, 0, a),
							approx_keys(fcinfo, cxt, 1, b)));
}

/* The measures in SQL */

BINARY_FUNCTION(signature_similarity,
				PG_RETURN_FLOAT8(signatures_value(a, b, MEASURE_JACCARD)))
BINARY_FUNCTION(signature_containment,
				PG_RETURN_FLOAT8(signatures_value(a, b, MEASURE_CONTAINMENT)))
BINARY_FUNCTION(signature_dice,
				PG_RETURN_FLOAT8(signatures_value(a, b, MEASURE_DICE)))
BINARY_FUNCTION(signature_cosine,
				PG_RETURN_FLOAT8(signatures_value(a, b, MEASURE_COSINE)))

/*
 * shared_values(signature, signature): number of common elements; samples
 * count only sampled elements
 */
BINARY_FUNCTION(signature_shared_values,
				PG_RETURN_INT64(signatures_value(a, b, MEASURE_SHARED)))

/*
 * Return the distance of two signatures, by which rows are ordered: null where
 * specs differ, so that such rows come last on every plan.
 */
static Datum
distance(FunctionCallInfo fcinfo, const Signature *a, const Signature *b,
		 Measure measure)
{
	if (!signatures_comparable(a, b))
		PG_RETURN_NULL();
	PG_RETURN_FLOAT8(measure_distance(signatures_value(a, b, measure)));
}

BINARY_FUNCTION(signature_distance,
				return distance(fcinfo, a, b, MEASURE_JACCARD))
BINARY_FUNCTION(signature_cosine_distance,
				return distance(fcinfo, a, b, MEASURE_COSINE))

/*
 * intersection_size(signature, signature): number of common features, counted
 * in exact sets, estimated from samples
 */
PG_FUNCTION_INFO_V1(signature_intersection_size);
Datum
signature_intersection_size(PG_FUNCTION_ARGS)
{
	const Signature *a = PG_GETARG_REPEATED_SIGNATURE(0);
	const Signature *b = PG_GETARG_REPEATED_SIGNATURE(1);

	if (measure_method(a, b)->similarity != NULL)
		measure_refuse(a, "intersection size");
	PG_RETURN_INT64(measure_overlap(a, b) * features_per_element(a));
}

/*
 * hamming(signature, signature): for sets |A u B| - |A n B|, for sketches the
 * number of places in which they differ
 */
PG_FUNCTION_INFO_V1(signature_hamming);
Datum
signature_hamming(PG_FUNCTION_ARGS)
{
	const Signature *a = PG_GETARG_REPEATED_SIGNATURE(0);
	const Signature *b = PG_GETARG_REPEATED_SIGNATURE(1);
	const MethodInfo *method = measure_method(a, b);
	uint64		differ;

	if (method->hamming != NULL)
		PG_RETURN_INT64(method->hamming(a, b));
	if (method->similarity != NULL)
		measure_refuse(a, "Hamming distance");
	differ = SIGNATURE_NVALUES(a) + SIGNATURE_NVALUES(b) -
		2 * measure_overlap(a, b);
	PG_RETURN_INT64(differ * features_per_element(a));
}

#ifdef NEARDUP_TESTING

/*
 * neardup_measure_bounds(measure text, na bigint, threshold float8): sizes of
 * sets that reach the threshold with a set of na elements, and the least
 * overlap with such a set
 */
PG_FUNCTION_INFO_V1(neardup_measure_bounds);
Datum
neardup_measure_bounds(PG_FUNCTION_ARGS)
{
	Measure		measure = measure_require(PG_GETARG_TEXT_PP(0));
	uint64		na = PG_GETARG_INT64(1);
	double		threshold = PG_GETARG_FLOAT8(2);
	uint64		least;
	uint64		most;
	Datum		values[3];
	bool		nulls[3] = {false};

	threshold_require_valid(threshold, measure);
	measure_sizes(measure, na, threshold, &least, &most);
	values[0] = Int64GetDatum((int64) least);
	values[1] = Int64GetDatum((int64) Min(most, PG_INT64_MAX));
	values[2] = Int64GetDatum((int64) measure_least_overlap(measure, na,
															threshold));
	PG_RETURN_DATUM(call_row(call_row_type(fcinfo), lengthof(values), values,
							 nulls));
}

#endif							/* NEARDUP_TESTING */

/* Probabilities that bands or supershingles agree */

/* lsh_probability(similarity float8, bands int, rows int) */
PG_FUNCTION_INFO_V1(lsh_probability_of_banding);
Datum
lsh_probability_of_banding(PG_FUNCTION_ARGS)
{
	double		similarity = argument_real("similarity", PG_GETARG_FLOAT8(0),
										   0, 1);
	uint32		bands = argument_whole("number of bands", PG_GETARG_INT32(1),
									   1, MINHASH_MAX_SIZE);
	uint32		rows = argument_whole("size of a band", PG_GETARG_INT32(2),
									  1, MINHASH_MAX_SIZE);

	PG_RETURN_FLOAT8(lsh_probability(similarity, bands, rows));
}

/*
 * supershingle_probability(similarity float8, groups int, size int, agreeing
 * int)
 */
PG_FUNCTION_INFO_V1(supershingle_probability_of_groups);
Datum
supershingle_probability_of_groups(PG_FUNCTION_ARGS)
{
	double		similarity = argument_real("similarity", PG_GETARG_FLOAT8(0),
										   0, 1);
	int			groups = PG_GETARG_INT32(1);
	int			size = PG_GETARG_INT32(2);

	supershingles_require_groups(groups, size, 1);
	PG_RETURN_FLOAT8(supershingle_probability(similarity, groups, size,
											  argument_whole("number of groups that agree",
															 PG_GETARG_INT32(3), 0, groups)));
}

/* Raise INVALID_PARAMETER_VALUE: no banding of this size has this recall. */
static void
refuse_recall(double threshold, double recall, int size)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("no banding of %d slots has a recall of %g at threshold %g",
					size, recall, threshold),
			 errdetail("%d bands of one slot have a recall of %g.", size,
					   lsh_probability(threshold, size, 1)),
			 errhint("Take a larger size, or a lower recall.")));
}

/*
 * lsh_parameters(threshold float8, recall float8, size int): the banding for
 * them.  Recall 1 gives the banding of an index on sketches, by which
 * near-duplicates always share a band.
 */
PG_FUNCTION_INFO_V1(lsh_parameters);
Datum
lsh_parameters(PG_FUNCTION_ARGS)
{
	double		threshold = PG_GETARG_FLOAT8(0);
	double		recall = argument_share("recall", PG_GETARG_FLOAT8(1));
	int			size = argument_whole("size of a sketch", PG_GETARG_INT32(2),
									  1, MINHASH_MAX_SIZE);
	Banding		banding;
	TupleDesc	desc = call_row_type(fcinfo);
	Datum		values[3];
	bool		nulls[3] = {false};

	threshold_require_valid(threshold, MEASURE_JACCARD);
	if (recall == 1)
	{
		banding.bands = slots_lossless_bands(size, threshold);
		banding.rows = size / banding.bands;
	}
	else if (!lsh_choose(threshold, recall, size, &banding))
		refuse_recall(threshold, recall, size);
	values[0] = Int32GetDatum(banding.bands);
	values[1] = Int32GetDatum(banding.rows);
	values[2] = Float8GetDatum(recall == 1 ? 1 :
							   lsh_probability(threshold, banding.bands,
											   banding.rows));
	PG_RETURN_DATUM(call_row(desc, lengthof(values), values, nulls));
}
