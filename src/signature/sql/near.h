/*
 * near.h
 *		Measures of signatures, for the files that index and join them.
 */
#ifndef NEARDUP_NEAR_H
#define NEARDUP_NEAR_H

#include "signature/sets.h"
#include "signature/signature.h"
#include "methods/method.h"

/*
 * The measure of two signatures, or an estimate of it; raises if they were
 * made differently, or the measure cannot be computed from such signatures.
 */
extern double signatures_value(const Signature *a, const Signature *b,
							   Measure measure);

/*
 * True if both have the same spec.  False with a warning (spec_warn_different)
 * otherwise: signatures of different specs are never near-duplicates.
 */
extern bool signatures_comparable(const Signature *a, const Signature *b);

/*
 * True if both have the same spec, and the measure of a and b is at least the
 * threshold, 0 < threshold <= 1; stops as soon as that is certain.  Where the
 * method has a rule of its own, that decides and the threshold does not.
 * Warns where specs differ; raises if the measure cannot be computed from such
 * signatures.
 */
extern bool signatures_near(const Signature *a, const Signature *b,
							double threshold, Measure measure);

/* The method by which both were made; raises if they were made differently. */
extern const MethodInfo *measure_method(const Signature *a,
										const Signature *b);

/* Raises FEATURE_NOT_SUPPORTED: `what` cannot be computed from the method's values. */
extern void measure_refuse(const Signature *sig, const char *what);

/* Elements common to two sets of one spec. */
extern uint64 measure_overlap(const Signature *a, const Signature *b);

/* Number of features for each element of a set. */
static inline uint64
features_per_element(const Signature *sig)
{
	return method_info(sig->spec.method)->sampled ? sig->spec.param[0] : 1;
}

/* Do signatures of the method have the measure? */
extern bool measure_is_defined(const MethodInfo *method, Measure measure);

/* Raises INVALID_PARAMETER_VALUE unless the number is a threshold of the measure. */
extern void threshold_require_valid(double threshold, Measure measure);

/*
 * True if near_duplicate_approx() takes signatures of the method; the second
 * raises FEATURE_NOT_SUPPORTED otherwise.
 */
extern bool approx_takes(const MethodInfo *method);
extern void approx_require_method(const MethodInfo *method);

/* The measure of that name; raises INVALID_PARAMETER_VALUE if there is none. */
extern Measure measure_require(const text *name);

/* The distance <-> at that similarity. */
static inline double
measure_distance(double similarity)
{
	return 1 - similarity;
}

/*
 * The C functions of measures and conditions, by whose addresses planner code
 * recognises them.
 */
extern Datum signature_similarity(PG_FUNCTION_ARGS);
extern Datum signature_distance(PG_FUNCTION_ARGS);
extern Datum signature_containment(PG_FUNCTION_ARGS);
extern Datum signature_dice(PG_FUNCTION_ARGS);
extern Datum signature_cosine(PG_FUNCTION_ARGS);
extern Datum signature_shared(PG_FUNCTION_ARGS);
extern Datum signature_overlap(PG_FUNCTION_ARGS);
extern Datum signature_near_duplicate(PG_FUNCTION_ARGS);
extern Datum signature_near_duplicate_approx(PG_FUNCTION_ARGS);
extern Datum signature_contained_in(PG_FUNCTION_ARGS);
extern Datum signature_near_duplicate_op(PG_FUNCTION_ARGS);
extern Datum signature_contained_in_op(PG_FUNCTION_ARGS);
extern Datum signature_contains_op(PG_FUNCTION_ARGS);

#endif							/* NEARDUP_NEAR_H */
