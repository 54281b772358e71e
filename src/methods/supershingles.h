/*
 * supershingles.h
 *		Supershingles of a min-hash sketch, and megashingles of those.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/methods/supershingles.h
 */
#ifndef NEARDUP_SUPERSHINGLES_H
#define NEARDUP_SUPERSHINGLES_H

#define SUPERSHINGLES_MAX_GROUPS	256

/*
 * The rule, as a sentence, that these parameters break, or NULL: `least` to
 * SUPERSHINGLES_MAX_GROUPS groups, MINHASH_MAX_SIZE slots in all.
 */
extern const char *supershingles_check_params(uint32 groups, uint32 size,
											  uint32 least);

/* From groups * size slots, one value for each group. */
extern void supershingles_of_slots(const uint8 *slots, uint32 groups,
								   uint32 size, uint64 *values);

/* From the supershingles of all groups, one value for each pair of groups. */
extern void megashingles_of_supershingles(const uint64 *supershingles,
										  uint32 groups, uint64 *values);

#endif							/* NEARDUP_SUPERSHINGLES_H */
