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

/* The default k: three are sorted anew faster than they are kept so. */
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
 * Takes `out` out of k sorted numbers and puts `in` in: what is greater than
 * out moves one place down, and what comes in is carried up to where it
 * belongs.  That takes no search and no branch: with random hashes hardly a
 * branch would be foreseen.
 */
static inline void
replace_sorted(uint64 *sorted, size_t k, uint64 out, uint64 in)
{
	for (size_t j = 0; j < k - 1; j++)
	{
		uint64		here = sorted[j];	/* both read, or it is a branch */
		uint64		next = sorted[j + 1];
		uint64		kept = here < out ? here : next;

		sorted[j] = Min(kept, in);
		in = Max(kept, in);
	}
	sorted[k - 1] = in;
}

/*
 * The window is kept sorted, and is k zeros at first.
 *
 * Inlined for the usual k, so that the compiler unrolls the inner loop.
 */
static inline void
shingles_sorted(const uint64 *units, size_t n, size_t k, uint64 *sorted,
				uint64 *shingles)
{
	memset(sorted, 0, k * sizeof(uint64));
	for (size_t i = 0; i < k; i++)
		replace_sorted(sorted, k, 0, units[i]);
	shingles[0] = hash_uint64s(sorted, k);
	for (size_t i = 1; i + k <= n; i++)
	{
		replace_sorted(sorted, k, units[i - 1], units[i + k - 1]);
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
			   uint64 *sorted, uint64 *shingles)
{
	switch (order)
	{
		case ORDER_SORTED:
			if (k == 3)
				shingles_sorted_3(units, n, shingles);
			else if (k == 2)
				shingles_sorted(units, n, 2, sorted, shingles);
			else if (k == 4)
				shingles_sorted(units, n, 4, sorted, shingles);
			else if (k == 5)
				shingles_sorted(units, n, 5, sorted, shingles);
			else if (k == 6)
				shingles_sorted(units, n, 6, sorted, shingles);
			else if (k == 7)
				shingles_sorted(units, n, 7, sorted, shingles);
			else if (k == 8)
				shingles_sorted(units, n, 8, sorted, shingles);
			else if (k == 9)
				shingles_sorted(units, n, 9, sorted, shingles);
			else if (k == 10)
				shingles_sorted(units, n, 10, sorted, shingles);
			else
				shingles_sorted(units, n, k, sorted, shingles);
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
