/*
 * shingle_hashes.h
 *		How the order of units counts in the hash of several.
 */
#ifndef NEARDUP_SHINGLE_HASHES_H
#define NEARDUP_SHINGLE_HASHES_H

#include "signature/signature.h"

/*
 * The hashes of the n - k + 1 shingles of k of n units, 1 <= k <= n, into
 * shingles.  There is room for k numbers in room.
 */
extern void order_shingles(Order order, const uint64 *units, size_t n,
						   size_t k, uint64 *room, uint64 *shingles);

#endif							/* NEARDUP_SHINGLE_HASHES_H */
