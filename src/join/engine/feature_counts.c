/*
 * feature_counts.c
 *		Frequencies of the features of all sets, and a filter by the features
 *		of one side.
 */
#include "postgres.h"

#include <float.h>
#include <math.h>

#include "miscadmin.h"
#include "port/pg_bitutils.h"

#include "base/interrupts.h"
#include "base/sort_uint64.h"
#include "join/engine/arena.h"
#include "join/engine/feature_counts.h"

/*
 * The order of the features: rare ones first
 *
 * A prefix filter finds matches by the rarest elements of a set, so the
 * elements of all sets need one order by rising frequency.  A dictionary of
 * all features would take most of the time of the join.  Frequencies are
 * counted in a table of fixed size, whose counters are shared by features with
 * one hash.  The key of a feature is its counter, then bits of its hash.
 *
 * Collisions are harmless.  A counter is never less than the frequency of its
 * features, so a counter of one proves that the feature occurs in one set
 * only: it is dropped, while the size of the set stays.  Features with one key
 * are one token: the prefixes of two sets that share enough features share a
 * token all the same, since an overlap of n features is an overlap of at least
 * n tokens.  Candidates are compared feature by feature.
 */

#define MIN_COUNTERS	1024

/* A table is too large if fewer than one in SPARSE counters is in use. */
#define SPARSE	8

/* Distance at which counters are prefetched. */
#define PREFETCH_AHEAD	16

/* Odd, as COUNTER_MULTIPLIER. */
#define KEY_MULTIPLIER		UINT64CONST(0xD6E8FEB86659FD93)

/* Number of keys that are sorted without dividing them. */
#define FEW_KEYS	16

/* Bytes of a counter. */
static size_t
counter_bytes(const TokenCounters *counters)
{
	return sizeof(uint16) + (counters->weighted ? sizeof(float) : 0);
}

/* Number of counters. */
uint64
counters_number(const TokenCounters *counters)
{
	return UINT64CONST(1) << (64 - counters->shift);
}

/*
 * Choose the number of counters: for nfeatures occurrences of features, within
 * max_bytes.
 */
void
counters_shape(TokenCounters *counters, uint64 nfeatures, size_t max_bytes)
{
	uint64		n = MIN_COUNTERS;

	while (n < nfeatures && n * 2 * counter_bytes(counters) <= max_bytes)
		n *= 2;
	counters->shift = 64 - pg_leftmost_one_pos64(n);
	Assert(counters->shift > 0 && counters->shift < 64);
	counters->bytes = n * counter_bytes(counters);
	counters->used = 0;
	counters->nwaiting = 0;
}

/* Allocate the counters, all zero. */
void
counters_create(TokenCounters *counters, uint64 nfeatures, size_t max_bytes)
{
	uint64		n;

	counters_shape(counters, nfeatures, max_bytes);
	n = counters_number(counters);
	counters->count = alloc_zeros(n * sizeof(uint16));
	if (counters->weighted)
		counters->most = alloc_zeros(n * sizeof(float));
}

/* Free the memory of counters; the number of used ones stays. */
void
counters_free(TokenCounters *counters)
{
	if (counters->count != NULL)
		pfree(counters->count);
	if (counters->most != NULL)
		pfree(counters->most);
	counters->count = NULL;
	counters->most = NULL;
	counters->bytes = 0;
}

/* Raise the first n counters that wait. */
static void
counters_raise(TokenCounters *counters, uint32 n)
{
	uint64		used = 0;

	Assert(n <= counters->nwaiting);
	for (uint32 i = 0; i < n; i++)
		used += counter_raise(&counters->count[counters->waiting[i]]);
	counters->used += used;
	counters->nwaiting -= n;
	memmove(counters->waiting, counters->waiting + n,
			counters->nwaiting * sizeof(*counters->waiting));
}

/*
 * Count the n features of one distinct set; counters are raised when the next
 * ones have been prefetched.
 */
void
counters_add(TokenCounters *counters, const uint64 *values, uint32 n)
{
	for (uint32 i = 0; i < n; i += COUNTED_AT_ONCE)
	{
		uint32		before = counters->nwaiting;

		CHECK_FOR_INTERRUPTS();
		Assert(before <= COUNTED_AT_ONCE);
		for (uint32 j = i; j < Min(n, i + COUNTED_AT_ONCE); j++)
		{
			uint64		counter = counter_of(counters, values[j]);

			__builtin_prefetch(&counters->count[counter], 1);
			counters->waiting[counters->nwaiting++] = counter;
		}
		if (counters->nwaiting > COUNTED_AT_ONCE)
			counters_raise(counters, before);
	}
}

/*
 * Estimate the number of different features, when all are counted. d features
 * leave a share of e^(-d/n) of n counters unused (Whang, Vander-Zanden and
 * Taylor, "A linear-time probabilistic counting algorithm", 1990).  Infinity
 * if all are in use.
 */
double
counters_different(TokenCounters *counters)
{
	double		n = counters_number(counters);

	counters_raise(counters, counters->nwaiting);
	return -n * log1p(-(double) counters->used / n);
}

/*
 * Shrink a table that is much too large, when all features are counted: add up
 * counters in pairs until one in SPARSE is in use.  The table is read at
 * random places from now on.
 */
void
counters_fold_in_place(TokenCounters *counters)
{
	uint64		n = counters_number(counters);

	while (n > MIN_COUNTERS && counters->used < n / SPARSE)
	{
		n /= 2;
		for (uint64 i = 0; i < n; i++)
		{
			CHECK_EVERY(i);
			counters->count[i] = Min(counters->count[2 * i] +
									 counters->count[2 * i + 1],
									 UINT16_MAX);
			if (counters->weighted)
				counters->most[i] = Max(counters->most[2 * i],
										counters->most[2 * i + 1]);
		}
		counters->shift++;
	}
	counters->bytes = n * counter_bytes(counters);
}

/* As counters_fold_in_place(), and free the memory. */
void
counters_fold(TokenCounters *counters)
{
	size_t		before = counters->bytes;
	uint64		n;

	counters_raise(counters, counters->nwaiting);
	counters_fold_in_place(counters);
	if (counters->bytes == before)
		return;
	n = counters_number(counters);
	counters->count = repalloc_huge(counters->count, n * sizeof(uint16));
	if (counters->weighted)
		counters->most = repalloc_huge(counters->most, n * sizeof(float));
}

/* The key of a feature with that counter. */
static inline uint64
token_key(uint64 value, uint64 count)
{
	return (count << TOKEN_HASH_BITS) |
		(((value ^ (value >> 32)) * KEY_MULTIPLIER) >> (64 - TOKEN_HASH_BITS));
}

/* Prefetch the first counters that tokens_make() will read. */
void
counters_fetch(const TokenCounters *counters, const uint64 *values, uint32 n)
{
	for (uint32 i = 0; i < Min(n, PREFETCH_AHEAD); i++)
		__builtin_prefetch(&counters->count[counter_of(counters, values[i])]);
}

/*
 * Drop the features that occur only in this set from its n values, in place,
 * and make the keys of the others in the order of the values.  Returns their
 * number.  May be called again on the values that are left.
 */
uint32
tokens_make(const TokenCounters *counters, uint64 *values, uint32 n,
			uint64 *keys)
{
	uint32		left = 0;

	for (uint32 i = 0; i < n; i++)
	{
		uint64		value = values[i];
		uint64		count = counters->count[counter_of(counters, value)];

		CHECK_EVERY(i);
		if (i + PREFETCH_AHEAD < n)
			__builtin_prefetch(&counters->count[counter_of(counters,
														   values[i +
																  PREFETCH_AHEAD])]);
		values[left] = value;
		keys[left] = token_key(value, count);
		left += (count > 1);
	}
	return left;
}

/* The median of the first, the middle and the last key. */
static uint64
pivot_of(const uint64 *keys, int64 n)
{
	uint64		a = keys[0];
	uint64		b = keys[n / 2];
	uint64		c = keys[n - 1];

	if (a < b)
		return b < c ? b : Max(a, c);
	return a < c ? a : Max(b, c);
}

/*
 * Move the keys below the pivot to the front; returns their number.  No branch
 * depends on a key: on random keys one in two would be mispredicted.
 */
static int64
partition_below(uint64 *keys, int64 n, uint64 pivot)
{
	int64		below = 0;

	for (int64 i = 0; i < n; i++)
	{
		uint64		key = keys[i];

		CHECK_EVERY(i);
		keys[i] = keys[below];
		keys[below] = key;
		below += key < pivot;
	}
	return below;
}

/*
 * Move the nfirst smallest of n keys to the front, in rising order: a
 * quicksort of the parts that they are in.
 */
void
tokens_select(uint64 *keys, uint32 n, uint32 nfirst)
{
	int64		left = n;
	int64		wanted = Min(nfirst, n);

	while (wanted > 0 && wanted < left && left > FEW_KEYS)
	{
		uint64		pivot = pivot_of(keys, left);
		int64		below = partition_below(keys, left, pivot);

		CHECK_FOR_INTERRUPTS();
		if (wanted <= below)
		{
			left = below;
			continue;
		}
		/* the pivot is the smallest: take all that are equal to it */
		if (below == 0 && pivot < PG_UINT64_MAX)
			below = partition_below(keys, left, pivot + 1);
		else if (below == 0)
			return;
		else
			sort_hashes(keys, below);
		keys += below;
		left -= below;
		wanted -= below;
	}
	if (wanted > 0)
		sort_hashes(keys, left);
}

/*
 * The weight in the vector scaled to length 1; never zero, but at least the
 * smallest float.
 */
static inline float
scaled_weight(float weight, double factor)
{
	return Max((float) (weight * factor), FLT_MIN);
}

/* Count the n features of one distinct vector, and note their weights. */
void
counters_add_weights(TokenCounters *counters, const uint64 *features,
					 const float *weights, uint32 n, double factor)
{
	counters_add(counters, features, n);
	for (uint32 i = 0; i < n; i++)
	{
		float	   *most = &counters->most[counter_of(counters, features[i])];

		CHECK_EVERY(i);
		*most = Max(*most, scaled_weight(weights[i], factor));
	}
}

/*
 * Make the tokens of a vector's n features, in no order, without features of
 * this vector only. Returns their number.
 */
uint32
weighted_tokens_make(const TokenCounters *counters, const uint64 *features,
					 const float *weights, uint32 n, double factor,
					 WeightedToken *tokens)
{
	uint32		left = 0;

	for (uint32 i = 0; i < n; i++)
	{
		uint64		counter = counter_of(counters, features[i]);
		uint64		count = counters->count[counter];

		CHECK_EVERY(i);
		tokens[left].key = token_key(features[i], count);
		tokens[left].weight = scaled_weight(weights[i], factor);
		tokens[left].most = counters->weighted ? counters->most[counter] : 0;
		left += (count > 1);
	}
	return left;
}

/*
 * A filter of rows that share too few features with the other side
 *
 * Often a few rows are joined with a large table.  A set shares at least a
 * fixed number of common features, whatever the other's size.  So when the
 * rows of one side are known, a row of the other side with fewer of all the
 * features of that side has no match, and is not kept. For vectors the weight
 * of these features counts, for sketches their keys: see
 * Algorithm.may_have_match.
 *
 * The features are bits of a table (B. H. Bloom, "Space/time trade-offs in
 * hash coding with allowable errors", 1970, with one hash): a feature that was
 * not added may seem to be there, never the other way round.  Most sets
 * without a match are removed by their first features.
 */

/*
 * Bits for each feature: if the table fits into a CPU cache, if not, and at
 * least.  A sketch passes by one key, so the first is large.
 */
#define PLACES		64
#define LARGE_PLACES	8
#define MIN_PLACES	1
#define CACHED		((size_t) 512 * 1024)

/*
 * If more than MAX_PASSED of WINDOW sets passed, the next IDLE sets pass
 * unchecked.
 */
#define WINDOW		1024
#define MAX_PASSED	(WINDOW / 2)
#define IDLE		(WINDOW * 15)

bool
feature_filter_is_selective(double keys)
{
	return keys < PLACES;
}

void
feature_filter_create(FeatureFilter *filter, uint64 nfeatures, size_t most)
{
	uint64		places = 64;

	memset(filter, 0, sizeof(FeatureFilter));
	while (places * 2 / BITS_PER_BYTE <= most &&
		   places < nfeatures *
		   (places / BITS_PER_BYTE < CACHED ? PLACES : LARGE_PLACES))
		places *= 2;
	if (places < nfeatures * MIN_PLACES)
		return;
	filter->bytes = places / BITS_PER_BYTE;
	filter->words = alloc_zeros(filter->bytes);
	probing_init(&filter->probing, places);
}

void
feature_filter_free(FeatureFilter *filter)
{
	if (filter->words != NULL)
		pfree(filter->words);
	filter->words = NULL;
	filter->bytes = 0;
}

/* Set the bits of n features. */
void
feature_filter_add(FeatureFilter *filter, const uint64 *features, size_t n)
{
	for (size_t i = 0; i < n; i++)
	{
		size_t		place = probing_first(&filter->probing, features[i]);

		CHECK_EVERY(i);
		filter->words[place / 64] |= UINT64_C(1) << place % 64;
	}
}

bool
feature_filter_has_some(const FeatureFilter *filter, const uint64 *features,
						size_t n, uint64 least)
{
	uint64		may_miss = n - least;

	if (least > n)
		return false;
	Assert(may_miss < n || least == 0);
	for (size_t i = 0; i < n; i++)
	{
		CHECK_EVERY(i);
		if (!feature_filter_has(filter, features[i]) && may_miss-- == 0)
			return false;
	}
	return true;
}

/*
 * Note whether a checked set passed; if most do, leave the next ones
 * unchecked.
 */
void
feature_filter_note(FeatureFilter *filter, bool passed)
{
	filter->passed += passed;
	if (++filter->looked < WINDOW)
		return;
	filter->idle = filter->passed > MAX_PASSED ? IDLE : 0;
	filter->looked = filter->passed = 0;
}
