/*
 * sorted.c
 *		Shingles whose units are sorted before they are hashed.
 *
 * The units of a shingle are kept sorted from one shingle to the next: one of
 * them is taken out and another put in.  Neither takes a search or a branch,
 * as with random hashes hardly a branch would be foreseen.  With s the sorted
 * units, t without the one that goes, and u with the one that comes,
 *
 *		t[j] = s[j] < out ? s[j] : s[j + 1]
 *		u[j] = max(t[j - 1], min(t[j], in))
 *
 * where t[-1] is the least number there is.  That is a few instructions for
 * eight units at once where the processor has AVX-512, whose 64-bit numbers
 * can be compared without a sign; for all others it is done unit by unit.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/features/sorted.c
 */
#include "postgres.h"

/* -DNO_VECTORS compiles what processors without them run. */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(NO_VECTORS)
#define USE_AVX512
#include <immintrin.h>
#endif

#include "features/order.h"
#include "features/sorted.h"
#include "hash.h"

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
shingles_portable(const uint64 *units, size_t n, size_t k, uint64 *sorted,
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

typedef void (*Shingles) (const uint64 *units, size_t n, size_t k,
						  uint64 *room, uint64 *shingles);

/*
 * Compiles a function for each usual k, so that its inner loops are unrolled
 * and the length of what is hashed is known.
 */
static pg_attribute_always_inline void
for_known_k(Shingles make, const uint64 *units, size_t n, size_t k,
			uint64 *room, uint64 *shingles)
{
	switch (k)
	{
		case 4:
			make(units, n, 4, room, shingles);
			break;
		case 5:
			make(units, n, 5, room, shingles);
			break;
		case 6:
			make(units, n, 6, room, shingles);
			break;
		case 7:
			make(units, n, 7, room, shingles);
			break;
		case 8:
			make(units, n, 8, room, shingles);
			break;
		case 9:
			make(units, n, 9, room, shingles);
			break;
		case 10:
			make(units, n, 10, room, shingles);
			break;
		case 11:
			make(units, n, 11, room, shingles);
			break;
		case 12:
			make(units, n, 12, room, shingles);
			break;
		case 13:
			make(units, n, 13, room, shingles);
			break;
		case 14:
			make(units, n, 14, room, shingles);
			break;
		case 15:
			make(units, n, 15, room, shingles);
			break;
		case 16:
			make(units, n, 16, room, shingles);
			break;
		default:
			make(units, n, k, room, shingles);
			break;
	}
}

HASHES_INLINE
static void
sorted_portable(const uint64 *units, size_t n, size_t k, uint64 *room,
				uint64 *shingles)
{
	for_known_k(shingles_portable, units, n, k, room, shingles);
}

#ifdef USE_AVX512

#define TARGET_AVX512	__attribute__((target("avx512f")))

#define VECTOR_K_MIN	5		/* fewer are kept faster without vectors */
#define VECTOR_K_MAX	SORTED_WIDTH	/* units in two vectors */

/*
 * Up to VECTOR_K_MAX sorted numbers; in the places behind them there is the
 * greatest number there is.  Only what is wide, of more than 8, has the second
 * vector.
 */
typedef struct Window
{
	__m512i		low;
	__m512i		high;
} Window;

/* The lesser of what is there and `in`, or what is before if that is more. */
TARGET_AVX512
static pg_attribute_always_inline void
window_insert(Window *window, bool wide, uint64 value)
{
	__m512i		in = _mm512_set1_epi64(value);
	__m512i		low = window->low;
	__m512i		high = window->high;

	window->low =
		_mm512_max_epu64(_mm512_alignr_epi64(low, _mm512_setzero_si512(), 7),
						 _mm512_min_epu64(low, in));
	if (wide)
		window->high = _mm512_max_epu64(_mm512_alignr_epi64(high, low, 7),
										_mm512_min_epu64(high, in));
}

/* What is not less than `value` moves one place down: the first of it is it. */
TARGET_AVX512
static pg_attribute_always_inline void
window_remove(Window *window, bool wide, uint64 value)
{
	__m512i		out = _mm512_set1_epi64(value);
	__m512i		low = window->low;
	__m512i		high = window->high;

	window->low =
		_mm512_mask_alignr_epi64(low, _mm512_cmpge_epu64_mask(low, out),
								 high, low, 1);
	if (wide)
		window->high =
			_mm512_mask_alignr_epi64(high, _mm512_cmpge_epu64_mask(high, out),
									 _mm512_set1_epi64(-1), high, 1);
}

TARGET_AVX512
static pg_attribute_always_inline void
window_store(const Window *window, bool wide, uint64 *row)
{
	_mm512_store_si512(row, window->low);
	if (wide)
		_mm512_store_si512(row + 8, window->high);
}

/*
 * For k of up to VECTOR_K_MAX.  A window is hashed when SORTED_ROWS later ones
 * are known: numbers out of a vector that is still on its way to memory would
 * have to be waited for.
 */
TARGET_AVX512
static pg_attribute_always_inline void
shingles_avx512(const uint64 *units, size_t n, size_t k, uint64 *room,
				uint64 *shingles)
{
	Window		window;
	bool		wide = k > 8;
	uint64	   *rows = (uint64 *) TYPEALIGN(SORTED_ALIGN, room);
	size_t		last = n - k;
	size_t		hashed = 0;

	window.low = window.high = _mm512_set1_epi64(-1);
	for (size_t i = 0; i < k; i++)
		window_insert(&window, wide, units[i]);
	window_store(&window, wide, rows);
	for (size_t i = 1; i <= last; i++)
	{
		uint64	   *row = rows + i % SORTED_ROWS * VECTOR_K_MAX;

		window_remove(&window, wide, units[i - 1]);
		window_insert(&window, wide, units[i + k - 1]);
		if (i >= SORTED_ROWS)
			shingles[hashed++] = hash_uint64s(row, k);
		window_store(&window, wide, row);
	}
	for (; hashed <= last; hashed++)
		shingles[hashed] =
			hash_uint64s(rows + hashed % SORTED_ROWS * VECTOR_K_MAX, k);
}

HASHES_INLINE TARGET_AVX512
static void
sorted_avx512(const uint64 *units, size_t n, size_t k, uint64 *room,
			  uint64 *shingles)
{
	for_known_k(shingles_avx512, units, n, k, room, shingles);
}

static inline bool
in_vectors(size_t k)
{
	return k >= VECTOR_K_MIN && k <= VECTOR_K_MAX &&
		__builtin_cpu_supports("avx512f");
}

#else

#define sorted_avx512 sorted_portable
#define in_vectors(k) false

#endif

HASHES_INLINE
void
sorted_shingles(const uint64 *units, size_t n, size_t k, uint64 *room,
				uint64 *shingles)
{
	if (k == 2)
		shingles_of_2(units, n, shingles);
	else if (k == 3)
		shingles_of_3(units, n, shingles);
	else if (in_vectors(k))
		sorted_avx512(units, n, k, room, shingles);
	else
		sorted_portable(units, n, k, room, shingles);
}
