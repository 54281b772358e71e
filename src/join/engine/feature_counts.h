/*
 * feature_counts.h
 *		Frequencies of the features of all sets, and a filter by the features
 *		of one side.
 */
#ifndef NEARDUP_FEATURE_COUNTS_H
#define NEARDUP_FEATURE_COUNTS_H

#include "base/linear_probing.h"

/* The order of the features of a similarity join: rare ones first */

/* Features that are counted at once. */
#define COUNTED_AT_ONCE	64

typedef struct TokenCounters
{
	uint16	   *count;
	float	   *most;			/* greatest weight of the features that a
								 * counter counts */
	bool		weighted;		/* there are such; set beforehand */
	int			shift;			/* 64 - log2(number of counters) */
	size_t		bytes;
	uint64		used;			/* counters in use: about as many as there are
								 * different features, or fewer */
	uint32		nwaiting;		/* counters that are raised once in the */
	uint64		waiting[2 * COUNTED_AT_ONCE];	/* cache */
} TokenCounters;

/* Bits of a token's key below its counter. */
#define TOKEN_HASH_BITS	48

/* A feature of a vector, with a key that sorts by rising frequency. */
typedef struct WeightedToken
{
	uint64		key;
	float		weight;			/* weight in a vector of length 1 */
	float		most;			/* greatest weight that it has anywhere */
} WeightedToken;

/* Odd, it spreads consecutive numbers over all bits. */
#define COUNTER_MULTIPLIER	UINT64CONST(0x9E3779B97F4A7C15)

/* The number of the counter that counts a feature. */
static inline uint64
counter_of(const TokenCounters *counters, uint64 value)
{
	return (value * COUNTER_MULTIPLIER) >> counters->shift;
}

/* Raise a counter, unless it is at its maximum; true if it was zero. */
static inline bool
counter_raise(uint16 *count)
{
	bool		first = *count == 0;

	if (*count < UINT16_MAX)
		(*count)++;
	return first;
}

extern void counters_create(TokenCounters *counters, uint64 nfeatures,
							size_t max_bytes);
extern void counters_free(TokenCounters *counters);
extern double counters_different(TokenCounters *counters);
extern void counters_fold(TokenCounters *counters);

/* For counters of several processes, see shared_index.c */
extern void counters_shape(TokenCounters *counters, uint64 nfeatures,
						   size_t max_bytes);
extern uint64 counters_number(const TokenCounters *counters);
extern void counters_fold_in_place(TokenCounters *counters);
extern void counters_add(TokenCounters *counters, const uint64 *values,
						 uint32 n);
extern void counters_fetch(const TokenCounters *counters, const uint64 *values,
						   uint32 n);
extern uint32 tokens_make(const TokenCounters *counters, uint64 *values,
						  uint32 n, uint64 *keys);
extern void tokens_select(uint64 *keys, uint32 n, uint32 nfirst);
extern void counters_add_weights(TokenCounters *counters,
								 const uint64 *features, const float *weights,
								 uint32 n, double factor);
extern uint32 weighted_tokens_make(const TokenCounters *counters,
								   const uint64 *features,
								   const float *weights, uint32 n,
								   double factor, WeightedToken *tokens);

/* A filter of rows that share too few features with the other side */

/*
 * Least ratio of the other side's size to the size of the side in the filter.
 */
#define FILTER_RATIO	4

/* Features, or keys of sketches, of the side that is known first. */
typedef struct FeatureFilter
{
	uint64	   *words;			/* a bit for each place; NULL: there is no
								 * filter */
	size_t		bytes;			/* bytes of the words */
	Probing		probing;		/* the place of a feature */
	uint32		looked;			/* sets that were checked lately */
	uint32		passed;			/* sets among them that passed */
	uint32		idle;			/* sets that pass without a look */
} FeatureFilter;

/* True if a filter by these rows is worth its time for the others. */
static inline bool
feature_filter_is_worthwhile(double rows, double others)
{
	return rows * FILTER_RATIO <= others;
}

/*
 * False if a set has so many query keys, one of which is enough to pass, that
 * nearly all sets would pass.
 */
extern bool feature_filter_is_selective(double keys);

/*
 * Create an empty filter for nfeatures occurrences of features in the current
 * memory context; none if it would take more than `most` bytes.  And free it.
 */
extern void feature_filter_create(FeatureFilter *filter, uint64 nfeatures,
								  size_t most);
extern void feature_filter_free(FeatureFilter *filter);

extern void feature_filter_add(FeatureFilter *filter, const uint64 *features,
							   size_t n);

/* True if a feature has been added, or seems to. */
static inline bool
feature_filter_has(const FeatureFilter *filter, uint64 feature)
{
	size_t		place = probing_first(&filter->probing, feature);

	return (filter->words[place / 64] >> place % 64 & 1) != 0;
}

/* True if `least` of n features have been added, or seem to. */
extern bool feature_filter_has_some(const FeatureFilter *filter,
									const uint64 *features, size_t n,
									uint64 least);

/*
 * True if the next set is to be checked; and note the result of a check.  If
 * most sets pass, few are checked.
 */
static inline bool
feature_filter_is_active(FeatureFilter *filter)
{
	if (filter->words == NULL)
		return false;
	if (filter->idle == 0)
		return true;
	filter->idle--;
	return false;
}

extern void feature_filter_note(FeatureFilter *filter, bool passed);

#endif							/* NEARDUP_FEATURE_COUNTS_H */
