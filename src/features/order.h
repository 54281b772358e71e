/*
 * order.h
 *		How the order of units counts in the hash of several.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/features/order.h
 */
#ifndef NEARDUP_ORDER_H
#define NEARDUP_ORDER_H

#include "neardup.h"
#include "features/sorted.h"

/*
 * The hash of n >= 1 units under a word order.  It sorts the hashes in place
 * where the order is ORDER_SORTED.  With ORDER_XOR and ORDER_SUM it is the
 * plain xor or sum.
 */
extern uint64 order_combine(Order order, uint64 *hashes, size_t n);

/* Numbers that are needed to sort shingles of k units. */
#define ORDER_ROOM(k)	SORTED_ROOM(k)

/*
 * The hashes of the n - k + 1 shingles of k of n units, 1 <= k <= n, into
 * shingles.  There is room for ORDER_ROOM(k) numbers in room.
 */
extern void order_shingles(Order order, const uint64 *units, size_t n,
						   size_t k, uint64 *room, uint64 *shingles);

#endif							/* NEARDUP_ORDER_H */
