/*
 * sets.h
 *		Measures of sets, and the bounds of sizes and overlap at a threshold.
 *
 * A pair matches if an expression in IEEE double arithmetic is true:
 * measure_value() >= threshold.  All bounds are derived from this expression,
 * so no filter loses a pair by a rounding error.
 */
#ifndef NEARDUP_SETS_H
#define NEARDUP_SETS_H

/* Stored in signature_query; the numbers never change. */
typedef enum Measure
{
	MEASURE_JACCARD = 1,		/* |A n B| / |A u B| */
	MEASURE_CONTAINMENT = 2,	/* |A n B| / |A|: share of a in b */
	MEASURE_DICE = 3,			/* 2 |A n B| / (|A| + |B|) */
	MEASURE_COSINE = 4,			/* |A n B| / sqrt(|A| |B|) */
	MEASURE_OVERLAP_COEFFICIENT = 5,	/* |A n B| / min(|A|, |B|) */
	MEASURE_CONTAINS = 6,		/* |A n B| / |B|: share of b in a */
	MEASURE_SIMILARITY = 7,		/* similarity(): Jaccard of sets, estimated
								 * resemblance of sketches; for sketches,
								 * MEASURE_JACCARD is the method's rule for
								 * near-duplicates */
	MEASURE_SHARED = 8,			/* |A n B|: the threshold is a number of
								 * elements */
} Measure;

/* The greatest threshold of MEASURE_SHARED. */
#define SHARED_MAX	PG_INT32_MAX

/*
 * True if a number is a threshold of the measure: greater than 0 and at most
 * 1; for MEASURE_SHARED, a whole number from 1 to SHARED_MAX.
 */
extern bool measure_has_threshold(Measure measure, double threshold);

/*
 * Return the measure of sets of na and nb elements and this overlap; 0 if one
 * is empty.
 */
extern double measure_value(Measure measure, uint64 na, uint64 nb,
							uint64 overlap);

/*
 * Return the smallest overlap with which sets of na and nb elements reach the
 * threshold, or min(na, nb) + 1 if none does.
 */
extern uint64 measure_min_overlap(Measure measure, uint64 na, uint64 nb,
								  double threshold);

/*
 * Compute the sizes, *lo to *hi, of sets with which a set of na >= 1 elements
 * can reach the threshold; *hi is UINT64_MAX if there is no upper bound.
 */
extern void measure_sizes(Measure measure, uint64 na, double threshold,
						  uint64 *lo, uint64 *hi);

/*
 * Return the smallest overlap of a set of na elements with any set that
 * reaches the threshold, or na + 1 if none does; at least 1.  A prefix of na -
 * measure_least_overlap() + 1 elements, in any fixed order, shares an element
 * with the prefix of every such set.
 */
extern uint64 measure_least_overlap(Measure measure, uint64 na,
									double threshold);

/* Return the measure with its arguments exchanged. */
extern Measure measure_commute(Measure measure);

/* Find a measure by its name in SQL; false if there is none. */
extern bool measure_by_name(const char *name, size_t len, Measure *measure);

/* Return the name of a measure in SQL; NULL if the number is no measure. */
extern const char *measure_name(Measure measure);

/* Count the elements common to two sets of rising 64-bit values. */
extern uint64 set_overlap(const uint64 *a, uint64 na,
						  const uint64 *b, uint64 nb);

/*
 * Write the union, the intersection, or the difference a - b of two sets of
 * rising values, rising, to result, which has room for na + nb, min(na, nb) or
 * na elements.  Return the number of elements.
 */
extern uint64 set_union(const uint64 *a, uint64 na,
						const uint64 *b, uint64 nb, uint64 *result);
extern uint64 set_intersection(const uint64 *a, uint64 na,
							   const uint64 *b, uint64 nb, uint64 *result);
extern uint64 set_difference(const uint64 *a, uint64 na,
							 const uint64 *b, uint64 nb, uint64 *result);

/* True if at least `need` elements are common; stops when that is certain. */
extern bool set_overlap_reaches(const uint64 *a, uint64 na,
								const uint64 *b, uint64 nb, uint64 need);

#endif							/* NEARDUP_SETS_H */
