/*
 * measures.h
 *		Measures of signatures, for the files that index and join them.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/measures.h
 */
#ifndef NEARDUP_MEASURES_H
#define NEARDUP_MEASURES_H

#include "algebra.h"
#include "neardup.h"

/*
 * The measure of two signatures, or an estimate of it; raises if they were
 * made differently, or the measure cannot be told from such signatures.
 */
extern double signatures_value(const Signature *a, const Signature *b,
							   Measure measure);

/*
 * True if the measure of a and b is at least the threshold, 0 < threshold <=
 * 1; stops as soon as that is certain.  Where the method has a rule of its
 * own, that decides and the threshold does not.  Raises as above.
 */
extern bool signatures_near(const Signature *a, const Signature *b,
							double threshold, Measure measure);

/* Raises INVALID_PARAMETER_VALUE unless 0 < threshold <= 1. */
extern void threshold_require_valid(double threshold);

/* The measure of that name; raises INVALID_PARAMETER_VALUE if there is none. */
extern Measure measure_require(const text *name);

/*
 * The C functions behind the conditions, by whose addresses planner code
 * recognises them.
 */
extern Datum signature_near_duplicate(PG_FUNCTION_ARGS);
extern Datum signature_near_duplicate_approx(PG_FUNCTION_ARGS);
extern Datum signature_contained_in(PG_FUNCTION_ARGS);
extern Datum signature_near_duplicate_op(PG_FUNCTION_ARGS);
extern Datum signature_contained_in_op(PG_FUNCTION_ARGS);
extern Datum signature_contains_op(PG_FUNCTION_ARGS);

#endif							/* NEARDUP_MEASURES_H */
