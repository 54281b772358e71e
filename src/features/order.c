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

/* Two and three by comparison, for the usual k. */
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

/* The position of the first of n rising values that is at least value. */
static size_t
lower_bound(const uint64 *values, size_t n, uint64 value)
{
	size_t		lo = 0;

	while (n > 0)
	{
		size_t		half = n / 2;

		if (values[lo + half] < value)
		{
			lo += half + 1;
			n -= half + 1;
		}
		else
			n = half;
	}
	return lo;
}

/* The window stays sorted: one unit leaves it and one comes in. */
static void
shingles_sorted(const uint64 *units, size_t n, size_t k, uint64 *window,
				uint64 *shingles)
{
	memcpy(window, units, k * sizeof(uint64));
	sort_hashes(window, k);
	shingles[0] = hash_uint64s(window, k);
	for (size_t i = 1; i + k <= n; i++)
	{
		size_t		out = lower_bound(window, k, units[i - 1]);
		size_t		in = lower_bound(window, k, units[i + k - 1]);

		/* what stands between the two places moves by one */
		if (in > out)
		{
			in--;
			memmove(window + out, window + out + 1,
					(in - out) * sizeof(uint64));
		}
		else
			memmove(window + in + 1, window + in,
					(out - in) * sizeof(uint64));
		window[in] = units[i + k - 1];
		shingles[i] = hash_uint64s(window, k);
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
			   uint64 *window, uint64 *shingles)
{
	switch (order)
	{
		case ORDER_SORTED:
			if (k == 3)
				shingles_sorted_3(units, n, shingles);
			else
				shingles_sorted(units, n, k, window, shingles);
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
