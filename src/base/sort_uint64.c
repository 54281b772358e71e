/*
 * sort_uint64.c
 *		Sorting 64-bit numbers, hashes for the most part.
 *
 * Hashes are spread evenly, so their leading bits give the approximate place
 * of each.  They are distributed to about one bucket a hash.  Then nearly all
 * are next to their place, and insertion sort does the rest.  Many hashes are
 * first split in place, by one byte at a time, until the parts fit into the
 * processor's cache.
 *
 * Numbers that are not spread evenly take longer, but linear time: a crowded
 * bucket is distributed again by the bits below its common ones, at most 64
 * times.
 */
#include "postgres.h"

#include "port/pg_bitutils.h"

#include "base/interrupts.h"
#include "base/sort_uint64.h"

#define INSERTION_MAX	16		/* up to so many are sorted by insertion right
								 * away */
#define CROWDED			32		/* a bucket of more is distributed again */
#define BUCKET_BITS_MAX	11
#define DISTRIBUTE_MAX	2048	/* more are split by a byte first */
#define BLOCK			65536	/* numbers between two checks for interrupts */

/* Sort numbers that are few, or close to their places, by insertion. */
static void
insertion_sort(uint64 *values, size_t n)
{
	for (size_t i = 1; i < n; i++)
	{
		uint64		value = values[i];
		size_t		j = i;

		for (; j > 0 && values[j - 1] > value; j--)
			values[j] = values[j - 1];
		values[j] = value;
	}
}

/*
 * Return the number of lowest bits in which n numbers differ; 0 if they are
 * equal.
 */
static int
differing_bits(const uint64 *values, size_t n)
{
	uint64		difference = 0;

	for (size_t i = 1; i < n; i++)
		difference |= values[i] ^ values[0];
	return difference == 0 ? 0 : pg_leftmost_one_pos64(difference) + 1;
}

/*
 * Sort n <= DISTRIBUTE_MAX numbers that agree in all but their lowest `bits`
 * bits.
 */
static void
distribute(uint64 *values, size_t n, int bits)
{
	uint64		copy[DISTRIBUTE_MAX];
	uint16		starts[(1 << BUCKET_BITS_MAX) + 1];
	int			bucket_bits;
	int			shift;
	size_t		nbuckets;
	uint64		mask;
	uint16		most = 0;

	Assert(n <= DISTRIBUTE_MAX && bits >= 0 && bits <= 64);
	if (bits == 0)
		return;
	if (n <= INSERTION_MAX)
	{
		insertion_sort(values, n);
		return;
	}
	bucket_bits = pg_leftmost_one_pos32(n - 1) + 1;
	bucket_bits = Min(bucket_bits, Min(bits, BUCKET_BITS_MAX));
	shift = bits - bucket_bits;
	nbuckets = (size_t) 1 << bucket_bits;
	mask = nbuckets - 1;
	memset(starts, 0, (nbuckets + 1) * sizeof(uint16));
	for (size_t i = 0; i < n; i++)
		starts[((values[i] >> shift) & mask) + 1]++;
	for (size_t b = 1; b <= nbuckets; b++)
	{
		most = Max(most, starts[b]);
		starts[b] += starts[b - 1];
	}
	memcpy(copy, values, n * sizeof(uint64));
	for (size_t i = 0; i < n; i++)
		values[starts[(copy[i] >> shift) & mask]++] = copy[i];
	if (most <= CROWDED)
	{
		insertion_sort(values, n);
		return;
	}
	/* each start has moved on to the start of the next bucket */
	for (size_t b = 0, start = 0; b < nbuckets; start = starts[b++])
	{
		size_t		count = starts[b] - start;

		distribute(values + start, count,
				   differing_bits(values + start, count));
	}
}

/*
 * Sort numbers that differ in their lowest `bits` bits; split many by a byte
 * first.
 */
static void
split(uint64 *values, size_t n, int bits)
{
	size_t		ends[256];
	size_t		next[256];
	int			shift = Max(bits - 8, 0);

	if (bits == 0)
		return;
	if (n <= DISTRIBUTE_MAX)
	{
		distribute(values, n, bits);
		return;
	}
	memset(ends, 0, sizeof(ends));
	for (size_t at = 0; at < n; at += BLOCK)
	{
		CHECK_FOR_INTERRUPTS();
		for (size_t i = at; i < Min(at + BLOCK, n); i++)
			ends[(values[i] >> shift) & 0xff]++;
	}
	for (size_t b = 0, start = 0; b < 256; b++)
	{
		next[b] = start;
		start += ends[b];
		ends[b] = start;
	}

	/*
	 * Move each number to its bucket, and continue with the number that was
	 * there.  If the numbers are hashes, a round moves about 256.
	 */
	for (size_t b = 0; b < 256; b++)
	{
		while (next[b] < ends[b])
		{
			uint64		value = values[next[b]];
			size_t		to = (value >> shift) & 0xff;

			if (next[b] % 256 == 0)
				CHECK_FOR_INTERRUPTS();
			while (to != b)
			{
				uint64		displaced = values[next[to]];

				values[next[to]++] = value;
				value = displaced;
				to = (value >> shift) & 0xff;
			}
			values[next[b]++] = value;
		}
	}
	for (size_t b = 0, start = 0; b < 256; start = ends[b++])
	{
		size_t		count = ends[b] - start;

		/* if only 8 bits or fewer differed, none is left to sort by */
		split(values + start, count, differing_bits(values + start, count));
	}
}

void
sort_hashes(uint64 *values, size_t n)
{
	split(values, n, 64);
}

size_t
sort_distinct_hashes(uint64 *values, size_t n)
{
	size_t		distinct = 0;

	sort_hashes(values, n);
	if (n == 0)
		return 0;
	for (size_t at = 0; at < n - 1; at += BLOCK)
	{
		CHECK_FOR_INTERRUPTS();
		for (size_t i = at; i < Min(at + BLOCK, n - 1); i++)
		{
			values[distinct] = values[i];
			distinct += values[i] != values[i + 1];
		}
	}
	Assert(distinct < n);
	values[distinct] = values[n - 1];
	return distinct + 1;
}
