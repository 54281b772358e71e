/*
 * minhash.h
 *		Min-hash: the slots of a sketch, and their bands.
 */
#ifndef NEARDUP_MINHASH_H
#define NEARDUP_MINHASH_H

/* The most slots of a sketch; more would leave too few bits of a throw. */
#define MINHASH_MAX_SIZE	65536

/*
 * Fills `size` slots (1 to MINHASH_MAX_SIZE) from n >= 1 distinct features.
 * Two sets agree in a slot with the probability of their resemblance J, plus
 * 1/256 where they do not.  Takes O(n + size log size).
 */
extern void minhash_slots(const uint64 *features, size_t n, uint32 size,
						  uint8 *slots);

/*
 * Into how many bands a sketch is cut so that two of them whose estimate is
 * at least the threshold agree in one band for certain.
 */
extern uint32 minhash_lossless_bands(uint32 size, double threshold);

/* Locality-sensitive hashing: bands of min-hash slots that similar sets are likely to have in common */

/* `bands` bands of `rows` slots each. */
typedef struct Banding
{
	uint32		bands;
	uint32		rows;
} Banding;

/* The probability that sets of resemblance s agree in a band at least. */
extern double lsh_probability(double s, uint32 bands, uint32 rows);

/*
 * The most selective banding of up to `size` slots, that is, the one with the
 * longest bands, by which sets at the threshold meet with at least the
 * probability `recall`, 0 < recall < 1.  False if there is none.
 */
extern bool lsh_choose(double threshold, double recall, uint32 size,
					   Banding *banding);

/*
 * The banding of near_duplicate_approx() at this threshold and recall.
 * Raises INVALID_PARAMETER_VALUE if the recall is not between 0 and 1, or the
 * threshold so small that it would take too many slots.
 */
extern Banding lsh_approx_banding(double threshold, double recall);

/* True if there is one. */
extern bool lsh_approx_possible(double threshold, double recall);

/*
 * Appends the keys of an exact set, one for each band: sets are near-
 * duplicates in the sense of near_duplicate_approx() if they have a key in
 * common and reach the threshold.  The empty set has none.
 */
extern void lsh_approx_keys(const Signature *set, const Banding *banding,
							KeyList *keys);

/* True if sets with these keys, of one banding, agree in a band. */
extern bool lsh_meet(const KeyList *a, const KeyList *b);

/*
 * The probability that at least `agree` of `groups` supershingles of `size`
 * slots each agree in documents of resemblance s.
 */
extern double supershingle_probability(double s, uint32 groups, uint32 size,
									   uint32 agree);

#endif							/* NEARDUP_MINHASH_H */
