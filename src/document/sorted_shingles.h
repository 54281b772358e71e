/*
 * sorted_shingles.h
 *		Shingles whose units are sorted before they are hashed.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/document/sorted_shingles.h
 */
#ifndef NEARDUP_SORTED_SHINGLES_H
#define NEARDUP_SORTED_SHINGLES_H

/*
 * The hashes of the n - k + 1 shingles of k of n units, 1 <= k <= n, into
 * shingles.  There is room for k numbers in room.
 */
extern void sorted_shingles(const uint64 *units, size_t n, size_t k,
							uint64 *room, uint64 *shingles);

#endif							/* NEARDUP_SORTED_SHINGLES_H */
