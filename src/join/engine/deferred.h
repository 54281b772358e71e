/*
 * deferred.h
 *		Candidates whose sets are on disk, to be compared later.
 */
#ifndef NEARDUP_DEFERRED_H
#define NEARDUP_DEFERRED_H

#include "join/engine/join_state.h"

/*
 * Shares of the memory, in percent: of a chunk of keys; of pairs of candidates; of a
 * block of sets that are compared, while there is a chunk and after the last one.
 */
#define DEFERRED_CHUNK_SHARE	62
#define DEFERRED_PAIRS_SHARE	16
#define DEFERRED_BLOCK_SHARE	12
#define DEFERRED_LAST_SHARE		72

/* An empty list in the current memory context. */
extern struct Deferred *deferred_create(size_t memory);

/* Add a pair.  All candidates of a set that probes are added, however many. */
extern void deferred_add(SetJoin *join, const JoinSet *indexed, const JoinSet *probing);

/* Whether there are so many pairs that they should be compared. */
extern bool deferred_is_full(SetJoin *join);

/* Begin to compare; false if there are no pairs.  After the last chunk there is more room. */
extern bool deferred_begin(SetJoin *join, bool last);

/* The next set that probed, without rows, and then its candidates; NULL at the end. */
extern JoinSet *deferred_next_probe(SetJoin *join);
extern JoinSet *deferred_next_candidate(SetJoin *join);

#endif							/* NEARDUP_DEFERRED_H */
