/*
 * order.c
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
 * src/features/order.c
 */
#include "postgres.h"

#include "features/order.h"
#include "features/sort.h"
#include "hash.h"

uint64
order_combine(Order order, uint64 *hashes, size_t n)
{
	uint64		sum = 0;

	switch (order)
	{
		case ORDER_XOR:
			for (size_t i = 0; i < n; i++)
				sum ^= hashes[i];
			return sum;
		case ORDER_SUM:
			for (size_t i = 0; i < n; i++)
				sum += hashes[i];
			return sum;
		case ORDER_SORTED:
			sort_hashes(hashes, n);
			break;
		default:
			break;
	}
	return hash_uint64s(hashes, n);
}

/* Inlined for the usual k, so that the compiler knows the length. */
static inline void
shingles_kept(const uint64 *units, size_t n, size_t k, uint64 *shingles)
{
	for (size_t i = 0; i + k <= n; i++)
		shingles[i] = hash_uint64s(units + i, k);
}

/* The default k: three are sorted faster than their ranks are kept. */
static inline void
shingles_sorted_3(const uint64 *units, size_t n, uint64 *shingles)
{
	for (size_t i = 0; i + 3 <= n; i++)
	{
		uint64		a = Min(units[i], units[i + 1]);
		uint64		b = Max(units[i], units[i + 1]);
		uint64		c = units[i + 2];
		uint64		sorted[3];

		sorted[0] = Min(a, c);
		sorted[1] = Max(a, Min(b, c));
		sorted[2] = Max(b, c);
		shingles[i] = hash_uint64s(sorted, 3);
	}
}

/*
 * Each unit of the window has its rank there, ties by position, and is put
 * where its rank says.  From one window to the next a rank changes by what
 * leaves and by what comes in, which takes no search and no branch: with
 * random hashes hardly a branch would be foreseen.
 *
 * Inlined for the usual k, so that the compiler unrolls the inner loop.
 */
static inline void
shingles_sorted(const uint64 *units, size_t n, size_t k, OrderWork *work,
				uint64 *shingles)
{
	uint32	   *ranks = work->ranks;
	uint64	   *sorted = work->sorted;

	for (size_t i = 0; i < k; i++)
	{
		ranks[i] = 0;
		for (size_t j = 0; j < k; j++)
			ranks[i] += units[j] < units[i] || (units[j] == units[i] && j < i);
		sorted[ranks[i]] = units[i];
	}
	shingles[0] = hash_uint64s(sorted, k);
	for (size_t i = 1; i + k <= n; i++)
	{
		uint64		out = units[i - 1];
		uint64		in = units[i + k - 1];
		uint32		larger = 0;

		for (size_t j = i; j < i + k - 1; j++)
		{
			uint32		is_larger = units[j] > in;

			larger += is_larger;
			ranks[j] += is_larger - (units[j] >= out);
			sorted[ranks[j]] = units[j];
		}
		ranks[i + k - 1] = k - 1 - larger;
		sorted[k - 1 - larger] = in;
		shingles[i] = hash_uint64s(sorted, k);
	}
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

void
order_shingles(Order order, const uint64 *units, size_t n, size_t k,
			   OrderWork *work, uint64 *shingles)
{
	switch (order)
	{
		case ORDER_SORTED:
			if (k == 3)
				shingles_sorted_3(units, n, shingles);
			else if (k == 2)
				shingles_sorted(units, n, 2, work, shingles);
			else if (k == 4)
				shingles_sorted(units, n, 4, work, shingles);
			else if (k == 5)
				shingles_sorted(units, n, 5, work, shingles);
			else if (k == 6)
				shingles_sorted(units, n, 6, work, shingles);
			else if (k == 7)
				shingles_sorted(units, n, 7, work, shingles);
			else if (k == 8)
				shingles_sorted(units, n, 8, work, shingles);
			else if (k == 9)
				shingles_sorted(units, n, 9, work, shingles);
			else if (k == 10)
				shingles_sorted(units, n, 10, work, shingles);
			else
				shingles_sorted(units, n, k, work, shingles);
			break;
		case ORDER_XOR:
			shingles_xor(units, n, k, shingles);
			break;
		case ORDER_SUM:
			shingles_sum(units, n, k, shingles);
			break;
		default:
			if (k == 1)
				shingles_kept(units, n, 1, shingles);
			else if (k == 2)
				shingles_kept(units, n, 2, shingles);
			else if (k == 3)
				shingles_kept(units, n, 3, shingles);
			else
				shingles_kept(units, n, k, shingles);
			break;
	}
}
