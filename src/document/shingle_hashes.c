/*
 * shingle_hashes.c
 *		How the order of units counts in the hash of several.
 *
 * With order=keep the hash is XXH3 of the units' hashes in sequence, with
 * order=sorted of the same in rising order.  With order=xor and order=sum it
 * is a mix of their xor or sum, which costs the same for any k, as what enters
 * a shingle is added and what leaves it is taken off.  Xor loses units that
 * occur twice in a shingle: all words said twice are one shingle of k = 2.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/document/shingle_hashes.c
 */
#include "postgres.h"

#include "base/hash.h"
#include "document/shingle_hashes.h"
#include "document/sorted_shingles.h"

/* Inlined for the usual k, so that the compiler knows the length. */
static inline void
shingles_kept(const uint64 *units, size_t n, size_t k, uint64 *shingles)
{
	for (size_t i = 0; i + k <= n; i++)
		shingles[i] = hash_uint64s(units + i, k);
}

static void
shingles_xor(const uint64 *units, size_t n, size_t k, uint64 *shingles)
{
	uint64		sum = 0;

	for (size_t i = 0; i < k - 1; i++)
		sum ^= units[i];
	for (size_t i = 0; i + k <= n; i++)
	{
		sum ^= units[i + k - 1];
		shingles[i] = mix64(sum);
		sum ^= units[i];
	}
}

static void
shingles_sum(const uint64 *units, size_t n, size_t k, uint64 *shingles)
{
	uint64		sum = 0;

	for (size_t i = 0; i < k - 1; i++)
		sum += units[i];
	for (size_t i = 0; i + k <= n; i++)
	{
		sum += units[i + k - 1];
		shingles[i] = mix64(sum);
		sum -= units[i];
	}
}

HASHES_INLINE
static void
shingles_keep(const uint64 *units, size_t n, size_t k, uint64 *shingles)
{
	if (k == 1)
		shingles_kept(units, n, 1, shingles);
	else if (k == 2)
		shingles_kept(units, n, 2, shingles);
	else if (k == 3)
		shingles_kept(units, n, 3, shingles);
	else
		shingles_kept(units, n, k, shingles);
}

void
order_shingles(Order order, const uint64 *units, size_t n, size_t k,
			   uint64 *room, uint64 *shingles)
{
	switch (order)
	{
		case ORDER_SORTED:
			sorted_shingles(units, n, k, room, shingles);
			break;
		case ORDER_XOR:
			shingles_xor(units, n, k, shingles);
			break;
		case ORDER_SUM:
			shingles_sum(units, n, k, shingles);
			break;
		default:
			shingles_keep(units, n, k, shingles);
			break;
	}
}
