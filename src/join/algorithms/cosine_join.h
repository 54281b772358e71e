/*
 * cosine_join.h
 *		Vectors whose cosine reaches a threshold.
 */
#ifndef NEARDUP_COSINE_JOIN_H
#define NEARDUP_COSINE_JOIN_H

#include "join/algorithms/vectorjoin.h"

extern const Algorithm cosine_join;

/*
 * How many of n tokens are left without as many, from the last, as cannot
 * reach the threshold by themselves with a vector that has no weight above
 * `most`, or, if `by_length` is true, are too short to.
 */
extern uint32 cosine_needed_tokens(Search *search, const WeightedToken *tokens,
								   uint32 n, float most, bool by_length);

/* Algorithm.count, verify: by all features, as cosine() does */
extern void cosine_count(Search *search, const uint64 *values, uint32 size);
extern bool cosine_verify(Search *search, const JoinSet *indexed,
						  const JoinSet *probing);

#endif							/* NEARDUP_COSINE_JOIN_H */
