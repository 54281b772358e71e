/*
 * classic.h
 *		The algorithms of the papers, to be chosen by name.
 */
#ifndef NEARDUP_CLASSIC_H
#define NEARDUP_CLASSIC_H

#include "join/algorithms/join_kinds.h"
#include "join/engine/search.h"

/* The values of the setting. */
typedef enum JoinAlgorithm
{
	ALGORITHM_AUTO,				/* the usual one, see join_kinds.h */
	ALGORITHM_PPJOIN,
	ALGORITHM_PPJOIN_PLUS,
	ALGORITHM_PROBE_COUNT,
	ALGORITHM_PAIR_COUNT,
	ALGORITHM_PROBE_STOPWORDS,
	ALGORITHM_PROBE_OPTMERGE,
	ALGORITHM_ALL_PAIRS_0,
	ALGORITHM_ALL_PAIRS_1,
	ALGORITHM_ALL_PAIRS_2,
	ALGORITHM_WORD_GROUPS,
} JoinAlgorithm;

/* The algorithm of a choice for signatures of that kind and a measure. */
extern const Algorithm *selected_algorithm(JoinAlgorithm choice,
										   SignatureKind kind,
										   Measure measure);

/* of sets */
extern const Algorithm ppjoin;
extern const Algorithm ppjoin_plus;
extern bool suffixes_allow(const uint64 *x, int64 nx, const uint64 *y,
						   int64 ny, int64 most);

/* counting.c */
extern const Algorithm probe_count;
extern const Algorithm probe_stopwords;
extern const Algorithm probe_optmerge;

extern const Algorithm pair_count;

extern const Algorithm all_pairs_0;
extern const Algorithm all_pairs_1;
extern const Algorithm all_pairs_2;

extern const Algorithm word_groups;

/* of vectors */
extern const Algorithm cosine_all_pairs_0;
extern const Algorithm cosine_all_pairs_1;

/* Common to the algorithms of sets */
#define JOINS_SETS \
	.ordered = true, \
	.sized = true, \
	.announce = sets_announce, \
	.may_have_match = sets_may_have_match, \
	.verify = sets_verify, \
	.reflexive = sets_reflexive

/* ... that use all elements of a set, not a prefix */
#define USES_ALL_KEYS \
	.max_indexed = all_keys_most, \
	.max_keys = all_keys_most, \
	.prepare = all_keys_prepare, \
	.indexed_keys = all_keys_indexed

/* ... or index a prefix, and probe by all elements */
#define INDEXES_PREFIX \
	.max_indexed = prefix_most_indexed, \
	.max_keys = all_keys_most, \
	.prepare = all_keys_prepare, \
	.indexed_keys = prefix_indexed_keys

extern uint32 all_keys_most(JoinSearch *search, const JoinSet *set);
extern void all_keys_prepare(JoinSearch *search, JoinSet *set, bool indexed,
							 bool probing);
extern uint32 all_keys_indexed(JoinSearch *search, const JoinSet *set);
extern void all_keys_scan(JoinSearch *search, const JoinSet *set,
						  uint32 sides);

#endif							/* NEARDUP_CLASSIC_H */
