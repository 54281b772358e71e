/*
 * tokens.h
 *		The order of the features of a similarity join: rare ones first.
 */
#ifndef NEARDUP_TOKENS_H
#define NEARDUP_TOKENS_H

#include "join/engine/spill_file.h"

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
	uint32		nwaiting;		/* counters to be raised, once they are in the */
	uint64		waiting[2 * COUNTED_AT_ONCE];	/* cache */
} TokenCounters;

/* Bits of a token's key below its counter. */
#define TOKEN_HASH_BITS	48

/* A feature of a vector, with a key that sorts by rising frequency. */
typedef struct WeightedToken
{
	uint64		key;
	float		weight;			/* in a vector of length 1 */
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

/* Raises a counter, which goes no further than it can; true if it is in use from now on. */
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

/*
 * Where several processes have counted, each in counters of its own: writes them, and adds those
 * that another has written, which are as many.
 */
extern void counters_write(TokenCounters *counters, SpillFile *file);
extern void counters_add_file(TokenCounters *counters, SpillFile *file, uint64 offset);

/* For counters of several processes, see shared_counts.c */
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

#endif							/* NEARDUP_TOKENS_H */
