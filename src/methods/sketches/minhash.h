/*
 * minhash.h
 *		Min-hash: the slots of a sketch.
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

#endif							/* NEARDUP_MINHASH_H */
