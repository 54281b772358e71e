/*
 * shingle_hashes.c
 *		How the order of units counts in the hash of several.
 */
#include "postgres.h"

#include "base/hash.h"
#include "document/shingle_hashes.h"

/*
 * Shingles whose units are sorted before they are hashed.
 *
 * The units of a shingle are kept sorted from one shingle to the next: one of
 * them is taken out and another put in.  Neither takes a search or a branch,
 * as with random hashes hardly a branch would be foreseen.  With s the sorted
 * units, t without the one that goes, and u with the one that comes,
 *
 * t[j] = s[j] < out ? s[j] : s[j + 1]
 * u[j] = max(t[j - 1], min(t[j], in))
 *
 * where t[-1] is the least number there is.
 */

/* Two are sorted anew faster than they are kept so. */
static inline void
shingles_of_2(const uint64 *units, size_t n, uint64 *shingles)
{
	for (size_t i = 0; i + 2 <= n; i++)
	{
		uint64		sorted[2];

		sorted[0] = Min(units[i], units[i + 1]);
		sorted[1] = Max(units[i], units[i + 1]);
		shingles[i] = hash_uint64s(sorted, 2);
	}
}

/* So are three, the default k. */
static inline void
shingles_of_3(const uint64 *units, size_t n, uint64 *shingles)
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

/* Puts `in` into n sorted numbers: it is carried up to where it belongs. */
static pg_attribute_always_inline void
insert(uint64 *sorted, size_t n, uint64 in)
{
	for (size_t j = 0; j < n; j++)
	{
		uint64		here = sorted[j];

		sorted[j] = Min(here, in);
		in = Max(here, in);
	}
	sorted[n] = in;
}

/* Takes `out` out of k sorted numbers and puts `in` in. */
static pg_attribute_always_inline void
replace(uint64 *sorted, size_t k, uint64 out, uint64 in)
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

static pg_attribute_always_inline void
window_shingles(const uint64 *units, size_t n, size_t k, uint64 *sorted,
				  uint64 *shingles)
{
	for (size_t i = 0; i < k; i++)
		insert(sorted, i, units[i]);
	shingles[0] = hash_uint64s(sorted, k);
	for (size_t i = 1; i + k <= n; i++)
	{
		replace(sorted, k, units[i - 1], units[i + k - 1]);
		shingles[i] = hash_uint64s(sorted, k);
	}
}

/*
 * Compiles a function for each usual k, so that its inner loops are unrolled
 * and the length of what is hashed is known.
 */
static pg_attribute_always_inline void
for_known_k(const uint64 *units, size_t n, size_t k, uint64 *room,
			uint64 *shingles)
{
	switch (k)
	{
		case 4:
			window_shingles(units, n, 4, room, shingles);
			break;
		case 5:
			window_shingles(units, n, 5, room, shingles);
			break;
		case 6:
			window_shingles(units, n, 6, room, shingles);
			break;
		case 7:
			window_shingles(units, n, 7, room, shingles);
			break;
		case 8:
			window_shingles(units, n, 8, room, shingles);
			break;
		case 9:
			window_shingles(units, n, 9, room, shingles);
			break;
		case 10:
			window_shingles(units, n, 10, room, shingles);
			break;
		case 11:
			window_shingles(units, n, 11, room, shingles);
			break;
		case 12:
			window_shingles(units, n, 12, room, shingles);
			break;
		case 13:
			window_shingles(units, n, 13, room, shingles);
			break;
		case 14:
			window_shingles(units, n, 14, room, shingles);
			break;
		case 15:
			window_shingles(units, n, 15, room, shingles);
			break;
		case 16:
			window_shingles(units, n, 16, room, shingles);
			break;
		default:
			window_shingles(units, n, k, room, shingles);
			break;
	}
}

HASHES_INLINE
/*
 * The hashes of the n - k + 1 shingles of k of n units, 1 <= k <= n, into
 * shingles.  There is room for k numbers in room.
 */
static void
sorted_shingles(const uint64 *units, size_t n, size_t k, uint64 *room,
				uint64 *shingles)
{
	if (k == 2)
		shingles_of_2(units, n, shingles);
	else if (k == 3)
		shingles_of_3(units, n, shingles);
	else
		for_known_k(units, n, k, room, shingles);
}

/*
 * How the order of units counts in the hash of several.
 *
 * With order=keep the hash is XXH3 of the units' hashes in sequence, with
 * order=sorted of the same in rising order.  With order=xor and order=sum it
 * is a mix of their xor or sum, which costs the same for any k, as what enters
 * a shingle is added and what leaves it is taken off.  Xor loses units that
 * occur twice in a shingle: all words said twice are one shingle of k = 2.
 */

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
