/*
 * sorted.h
 *		Shingles whose units are sorted before they are hashed.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/features/sorted.h
 */
#ifndef NEARDUP_SORTED_H
#define NEARDUP_SORTED_H

#define SORTED_WIDTH	16		/* numbers that are sorted in vectors */
#define SORTED_ROWS		4		/* shingles that wait for their hash */
#define SORTED_ALIGN	64		/* of their rows, in bytes */

/* Numbers that are needed to sort shingles of k units. */
#define SORTED_ROOM(k) \
	(Max(k, SORTED_ROWS * SORTED_WIDTH) + SORTED_ALIGN / sizeof(uint64))

/*
 * The hashes of the n - k + 1 shingles of k of n units, 1 <= k <= n, into
 * shingles.  There is room for SORTED_ROOM(k) numbers in room.
 */
extern void sorted_shingles(const uint64 *units, size_t n, size_t k,
							uint64 *room, uint64 *shingles);

#endif							/* NEARDUP_SORTED_H */
