/*
 * minhash.h
 *		Min-hash: the slots of a sketch, and their bands.
 */
#ifndef NEARDUP_MINHASH_H
#define NEARDUP_MINHASH_H

#include "methods/sketches/slots.h"

/* The greatest number of slots; more would leave too few bits of a throw */
#define MINHASH_MAX_SIZE	SLOTS_MAX_SIZE

/*
 * Compute `size` slots (1 to MINHASH_MAX_SIZE) of n >= 1 distinct features.
 * Two sets agree in a slot with probability J + (1 - J) / 256, where J is
 * their resemblance.  Takes O(n + size log size).
 */
extern void minhash_slots(const uint64 *features, size_t n, uint32 size,
						  uint8 *slots);

/*
 * Locality-sensitive hashing: bands of min-hash slots in which similar sets
 * are likely to agree
 */

/* `bands` bands of `rows` slots each. */
typedef struct Banding
{
	uint32		bands;
	uint32		rows;
} Banding;

/*
 * Return the probability that sets of resemblance s agree in at least one
 * band.
 */
extern double lsh_probability(double s, uint32 bands, uint32 rows);

/*
 * Find the most selective banding of up to `size` slots, with the longest
 * bands, by which sets at the threshold agree in a band with at least the
 * probability `recall`, 0 < recall < 1.  False if there is none.
 */
extern bool lsh_choose(double threshold, double recall, uint32 size,
					   Banding *banding);

/*
 * Return the banding of near_duplicate_approx() at a threshold and recall.
 * Raises INVALID_PARAMETER_VALUE if the recall is not between 0 and 1, or the
 * threshold is so small that too many slots would be needed.
 */
extern Banding lsh_approx_banding(double threshold, double recall);

/* True if lsh_approx_banding() finds a banding. */
extern bool lsh_approx_possible(double threshold, double recall);

/*
 * Append the keys of an exact set, one for each band: near_duplicate_approx()
 * is true if two sets have a key in common and reach the threshold.  The empty
 * set has no keys.
 */
extern void lsh_approx_keys(const Signature *set, const Banding *banding,
							KeyList *keys);

/* True if sets with these keys, of one banding, agree in a band. */
extern bool lsh_meet(const KeyList *a, const KeyList *b);

/*
 * Return the probability that at least `agree` of `groups` supershingles of
 * `size` slots each agree in documents of resemblance s.
 */
extern double supershingle_probability(double s, uint32 groups, uint32 size,
									   uint32 agree);

#endif							/* NEARDUP_MINHASH_H */
