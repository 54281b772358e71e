/*
 * measures.c
 *		Measures and near-duplicate conditions in SQL.
 *
 * near_duplicate(a, b, threshold, measure) and contained_in(a, b, threshold)
 * are the conditions; %, <% and %> are short for them with the threshold of
 * neardup.threshold, which makes them STABLE.  All of them, and every index
 * and join, come down to signatures_near().
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/measures.c
 */
#include "postgres.h"

#include <math.h>

#include "utils/builtins.h"

#include "compat.h"
#include "measures.h"
#include "methods/lsh.h"
#include "methods/methods.h"
#include "signature.h"

void
threshold_require_valid(double threshold)
{
	/* written so that NaN fails */
	if (!(threshold > 0 && threshold <= 1))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("threshold %g is out of range", threshold),
				 errdetail("A threshold is greater than 0 and at most 1."),
				 threshold >= 10 && threshold <= 100 ?
				 errhint("%g percent are %g.", threshold, threshold / 100) : 0));
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
				 errhint("Measures are jaccard, containment, contains, dice, cosine and overlap.")));
	return measure;
}

/* Raises FEATURE_NOT_SUPPORTED: the method's values do not tell `what`. */
static void
refuse_measure(const Signature *sig, const char *what)
{
	StringInfoData making;

	initStringInfo(&making);
	making_append(&sig->making, &making);
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("%s cannot be told from %s", what, making.data),
			 method_info(sig->making.method)->cosine == NULL ?
			 errdetail("What sketches tell is resemblance, the measure \"jaccard\".") :
			 errdetail("What weighted features tell is the measures \"jaccard\" and \"cosine\"."),
			 errhint("Use sets of shingles, or samples of them made by sample().")));
}

/* The method by which both were made; raises if they were made differently. */
static const MethodInfo *
common_method(const Signature *a, const Signature *b)
{
	making_require_equal(&a->making, &b->making);
	return method_info(a->making.method);
}

/* Elements common to two sets of one making. */
static uint64
sets_overlap(const Signature *a, const Signature *b)
{
	return set_overlap(a->values, SIGNATURE_NVALUES(a),
					   b->values, SIGNATURE_NVALUES(b));
}

/* How many features each element of a set stands for. */
static uint64
features_per_element(const Signature *sig)
{
	return method_info(sig->making.method)->sampled ? sig->making.param[0] : 1;
}

double
signatures_value(const Signature *a, const Signature *b, Measure measure)
{
	const MethodInfo *method = common_method(a, b);

	if (method->similarity == NULL)
		return measure_value(measure, SIGNATURE_NVALUES(a),
							 SIGNATURE_NVALUES(b), sets_overlap(a, b));
	if (measure == MEASURE_COSINE && method->cosine != NULL)
		return method->cosine(a, b);
	if (measure != MEASURE_JACCARD)
		refuse_measure(a, measure_name(measure));
	return method->similarity(a, b);
}

bool
signatures_near(const Signature *a, const Signature *b,
				double threshold, Measure measure)
{
	const MethodInfo *method = common_method(a, b);
	uint64		na;
	uint64		nb;

	if (unlikely(method->near != NULL))
	{
		if (measure == MEASURE_COSINE && method->cosine != NULL)
			return method->cosine(a, b) >= threshold;
		if (measure != MEASURE_JACCARD)
			refuse_measure(a, measure_name(measure));
		return method->near(a, b, threshold);
	}
	na = SIGNATURE_NVALUES(a);
	nb = SIGNATURE_NVALUES(b);
	return set_overlap_reaches(a->values, na, b->values, nb,
							   measure_min_overlap(measure, na, nb,
												   threshold));
}

/* Measures */

PG_FUNCTION_INFO_V1(signature_similarity);
Datum
signature_similarity(PG_FUNCTION_ARGS)
{
	PG_RETURN_FLOAT8(signatures_value(PG_GETARG_SIGNATURE(0),
									  PG_GETARG_SIGNATURE(1),
									  MEASURE_JACCARD));
}

PG_FUNCTION_INFO_V1(signature_distance);
Datum
signature_distance(PG_FUNCTION_ARGS)
{
	PG_RETURN_FLOAT8(1 - signatures_value(PG_GETARG_SIGNATURE(0),
										  PG_GETARG_SIGNATURE(1),
										  MEASURE_JACCARD));
}

PG_FUNCTION_INFO_V1(signature_containment);
Datum
signature_containment(PG_FUNCTION_ARGS)
{
	PG_RETURN_FLOAT8(signatures_value(PG_GETARG_SIGNATURE(0),
									  PG_GETARG_SIGNATURE(1),
									  MEASURE_CONTAINMENT));
}

PG_FUNCTION_INFO_V1(signature_dice);
Datum
signature_dice(PG_FUNCTION_ARGS)
{
	PG_RETURN_FLOAT8(signatures_value(PG_GETARG_SIGNATURE(0),
									  PG_GETARG_SIGNATURE(1),
									  MEASURE_DICE));
}

PG_FUNCTION_INFO_V1(signature_cosine);
Datum
signature_cosine(PG_FUNCTION_ARGS)
{
	PG_RETURN_FLOAT8(signatures_value(PG_GETARG_SIGNATURE(0),
									  PG_GETARG_SIGNATURE(1),
									  MEASURE_COSINE));
}

/* Features in common: counted in exact sets, estimated from samples. */
PG_FUNCTION_INFO_V1(signature_overlap);
Datum
signature_overlap(PG_FUNCTION_ARGS)
{
	Signature  *a = PG_GETARG_SIGNATURE(0);
	Signature  *b = PG_GETARG_SIGNATURE(1);

	if (common_method(a, b)->similarity != NULL)
		refuse_measure(a, "overlap");
	PG_RETURN_INT64(sets_overlap(a, b) * features_per_element(a));
}

/*
 * Hamming distance: of sets |A u B| - |A n B|, of vectors the number of
 * places in which they differ.
 */
PG_FUNCTION_INFO_V1(signature_hamming);
Datum
signature_hamming(PG_FUNCTION_ARGS)
{
	Signature  *a = PG_GETARG_SIGNATURE(0);
	Signature  *b = PG_GETARG_SIGNATURE(1);
	const MethodInfo *method = common_method(a, b);
	uint64		differ;

	if (method->hamming != NULL)
		PG_RETURN_INT64(method->hamming(a, b));
	if (method->similarity != NULL)
		refuse_measure(a, "Hamming distance");
	differ = SIGNATURE_NVALUES(a) + SIGNATURE_NVALUES(b) -
		2 * sets_overlap(a, b);
	PG_RETURN_INT64(differ * features_per_element(a));
}

/* Conditions */

PG_FUNCTION_INFO_V1(signature_near_duplicate);
Datum
signature_near_duplicate(PG_FUNCTION_ARGS)
{
	double		threshold = PG_GETARG_FLOAT8(2);
	Measure		measure = measure_require(PG_GETARG_TEXT_PP(3));

	threshold_require_valid(threshold);
	PG_RETURN_BOOL(signatures_near(PG_GETARG_SIGNATURE(0),
								   PG_GETARG_SIGNATURE(1),
								   threshold, measure));
}

/* The bands of a set that a call site has met last, on one side. */
typedef struct ApproxSide
{
	Signature  *set;			/* a copy, or NULL */
	KeyList		keys;
} ApproxSide;

/* What a call site keeps of near_duplicate_approx(). */
typedef struct ApproxSite
{
	double		threshold;		/* what the banding was chosen for */
	double		recall;
	Banding		banding;
	ApproxSide	sides[2];
} ApproxSite;

static void
forget_side(ApproxSide *side)
{
	if (side->set != NULL)
		pfree(side->set);
	side->set = NULL;
	side->keys.n = 0;
}

static ApproxSite *
approx_site(FunctionCallInfo fcinfo, double threshold, double recall)
{
	ApproxSite *site = fcinfo->flinfo->fn_extra;

	if (site != NULL && site->threshold == threshold && site->recall == recall)
		return site;
	if (site == NULL)
		site = MemoryContextAllocZero(fcinfo->flinfo->fn_mcxt,
									  sizeof(ApproxSite));
	fcinfo->flinfo->fn_extra = site;
	site->banding = lsh_approx_banding(threshold, recall);
	site->threshold = threshold;
	site->recall = recall;
	for (size_t i = 0; i < lengthof(site->sides); i++)
		forget_side(&site->sides[i]);
	return site;
}

/*
 * The bands of a set on one side, which is often that of the call before:
 * joins and look-ups hold on to one and go through others.
 */
static const KeyList *
approx_keys(FunctionCallInfo fcinfo, ApproxSite *site, int which,
			const Signature *set)
{
	ApproxSide *side = &site->sides[which];
	MemoryContext old;

	if (side->set != NULL && VARSIZE(side->set) == VARSIZE(set) &&
		memcmp(side->set, set, VARSIZE(set)) == 0)
		return &side->keys;
	forget_side(side);
	old = MemoryContextSwitchTo(fcinfo->flinfo->fn_mcxt);
	lsh_approx_keys(set, &site->banding, &side->keys);
	side->set = palloc(VARSIZE(set));
	memcpy(side->set, set, VARSIZE(set));
	MemoryContextSwitchTo(old);
	return &side->keys;
}

/* Exactly near, and found by the banding of that threshold and recall. */
PG_FUNCTION_INFO_V1(signature_near_duplicate_approx);
Datum
signature_near_duplicate_approx(PG_FUNCTION_ARGS)
{
	Signature  *a = PG_GETARG_SIGNATURE(0);
	Signature  *b = PG_GETARG_SIGNATURE(1);
	double		threshold = PG_GETARG_FLOAT8(2);
	const MethodInfo *method;
	ApproxSite *site;

	threshold_require_valid(threshold);
	site = approx_site(fcinfo, threshold, PG_GETARG_FLOAT8(3));
	method = common_method(a, b);
	if (!method->exact || method->weighted)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("near_duplicate_approx() needs exact sets"),
				 errhint("Compare sketches with near_duplicate().")));
	if (!signatures_near(a, b, threshold, MEASURE_JACCARD))
		PG_RETURN_BOOL(false);
	/* a set has all its bands in common with itself */
	if (VARSIZE(a) == VARSIZE(b) && memcmp(a, b, VARSIZE(a)) == 0)
		PG_RETURN_BOOL(true);
	PG_RETURN_BOOL(lsh_meet(approx_keys(fcinfo, site, 0, a),
							approx_keys(fcinfo, site, 1, b)));
}

PG_FUNCTION_INFO_V1(signature_contained_in);
Datum
signature_contained_in(PG_FUNCTION_ARGS)
{
	double		threshold = PG_GETARG_FLOAT8(2);

	threshold_require_valid(threshold);
	PG_RETURN_BOOL(signatures_near(PG_GETARG_SIGNATURE(0),
								   PG_GETARG_SIGNATURE(1),
								   threshold, MEASURE_CONTAINMENT));
}

PG_FUNCTION_INFO_V1(signature_near_duplicate_op);
Datum
signature_near_duplicate_op(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(signatures_near(PG_GETARG_SIGNATURE(0),
								   PG_GETARG_SIGNATURE(1),
								   neardup_threshold, MEASURE_JACCARD));
}

PG_FUNCTION_INFO_V1(signature_contained_in_op);
Datum
signature_contained_in_op(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(signatures_near(PG_GETARG_SIGNATURE(0),
								   PG_GETARG_SIGNATURE(1),
								   neardup_threshold, MEASURE_CONTAINMENT));
}

PG_FUNCTION_INFO_V1(signature_contains_op);
Datum
signature_contains_op(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(signatures_near(PG_GETARG_SIGNATURE(0),
								   PG_GETARG_SIGNATURE(1),
								   neardup_threshold, MEASURE_CONTAINS));
}
