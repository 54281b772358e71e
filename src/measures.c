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
#include "methods/methods.h"

void
threshold_require_valid(double threshold)
{
	/* written so that NaN fails */
	if (!(threshold > 0 && threshold <= 1))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("threshold %g is out of range", threshold),
				 errdetail("A threshold is greater than 0 and at most 1.")));
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

/* Elements common to two sets of one making. */
static uint64
sets_overlap(const Signature *a, const Signature *b)
{
	making_require_equal(&a->making, &b->making);
	return set_overlap(a->values, SIGNATURE_NVALUES(a),
					   b->values, SIGNATURE_NVALUES(b));
}

double
signatures_value(const Signature *a, const Signature *b, Measure measure)
{
	uint64		overlap = sets_overlap(a, b);

	return measure_value(measure, SIGNATURE_NVALUES(a), SIGNATURE_NVALUES(b),
						 overlap);
}

bool
signatures_near(const Signature *a, const Signature *b,
				double threshold, Measure measure)
{
	uint64		na;
	uint64		nb;

	making_require_equal(&a->making, &b->making);
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

PG_FUNCTION_INFO_V1(signature_overlap);
Datum
signature_overlap(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT64(sets_overlap(PG_GETARG_SIGNATURE(0),
								 PG_GETARG_SIGNATURE(1)));
}

/* Hamming distance of sets: |A u B| - |A n B|. */
PG_FUNCTION_INFO_V1(signature_hamming);
Datum
signature_hamming(PG_FUNCTION_ARGS)
{
	Signature  *a = PG_GETARG_SIGNATURE(0);
	Signature  *b = PG_GETARG_SIGNATURE(1);
	uint64		overlap = sets_overlap(a, b);

	PG_RETURN_INT64(SIGNATURE_NVALUES(a) + SIGNATURE_NVALUES(b) - 2 * overlap);
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
