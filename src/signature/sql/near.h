/*
 * near.h
 *		Measures and conditions of two signatures.
 */
#ifndef NEARDUP_NEAR_H
#define NEARDUP_NEAR_H

#include "signature/sets.h"
#include "signature/signature.h"
#include "methods/method.h"

/*
 * Return the measure of two signatures, or an estimate of it.  Raises an error
 * if their specs differ, or the measure cannot be computed from such
 * signatures.
 */
extern double signatures_value(const Signature *a, const Signature *b,
							   Measure measure);

/*
 * True if both signatures have the same spec.  Otherwise warns, with
 * spec_warn_different(): signatures of different specs are never
 * near-duplicates.
 */
extern bool signatures_comparable(const Signature *a, const Signature *b);

/*
 * True if both signatures have the same spec and their measure is at least the
 * threshold, which must be valid for the measure; stops as soon as that is
 * certain.  If the method has a rule of its own, the rule decides, not the
 * threshold.  Warns if the specs differ; raises an error if the measure cannot
 * be computed from such signatures.
 */
extern bool signatures_near(const Signature *a, const Signature *b,
							double threshold, Measure measure);

/*
 * Return the method of both signatures; raise an error if their specs differ.
 */
extern const MethodInfo *measure_method(const Signature *a,
										const Signature *b);

/*
 * Raise FEATURE_NOT_SUPPORTED: `what` cannot be computed from the method's
 * values.
 */
extern void measure_refuse(const Signature *sig, const char *what);

/* Count the elements common to two sets of one spec. */
extern uint64 measure_overlap(const Signature *a, const Signature *b);

/* Return the number of features for each element of a set. */
static inline uint64
features_per_element(const Signature *sig)
{
	return method_info(sig->spec.method)->sampled ? sig->spec.param[0] : 1;
}

/* True if signatures of the method have the measure. */
extern bool measure_is_defined(const MethodInfo *method, Measure measure);

/*
 * Raise INVALID_PARAMETER_VALUE unless the number is a threshold of the
 * measure.
 */
extern void threshold_require_valid(double threshold, Measure measure);

/*
 * True if near_duplicate_approx() accepts signatures of the method; the second
 * function raises FEATURE_NOT_SUPPORTED if it does not.
 */
extern bool approx_takes(const MethodInfo *method);
extern void approx_require_method(const MethodInfo *method);

/*
 * Return the measure of a name; raise INVALID_PARAMETER_VALUE if there is
 * none.
 */
extern Measure measure_require(const text *name);

/* Return the distance <-> at a similarity. */
static inline double
measure_distance(double similarity)
{
	return 1 - similarity;
}

/*
 * The C functions of measures and conditions, which the planner recognises by
 * their addresses
 */
extern Datum signature_similarity(PG_FUNCTION_ARGS);
extern Datum signature_distance(PG_FUNCTION_ARGS);
extern Datum signature_cosine_distance(PG_FUNCTION_ARGS);
extern Datum signature_containment(PG_FUNCTION_ARGS);
extern Datum signature_dice(PG_FUNCTION_ARGS);
extern Datum signature_cosine(PG_FUNCTION_ARGS);
extern Datum signature_shared_values(PG_FUNCTION_ARGS);
extern Datum signature_intersection_size(PG_FUNCTION_ARGS);
extern Datum signature_near_duplicate(PG_FUNCTION_ARGS);
extern Datum signature_near_duplicate_approx(PG_FUNCTION_ARGS);
extern Datum signature_contained_in(PG_FUNCTION_ARGS);
extern Datum signature_near_duplicate_op(PG_FUNCTION_ARGS);
extern Datum signature_contained_in_op(PG_FUNCTION_ARGS);
extern Datum signature_contains_op(PG_FUNCTION_ARGS);

#endif							/* NEARDUP_NEAR_H */
