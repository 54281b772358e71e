/*
 * deferred.h
 *		Candidates whose sets are on disk, to be compared later.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/join/engine/deferred.h
 */
#ifndef NEARDUP_DEFERRED_H
#define NEARDUP_DEFERRED_H

#include "join/engine/setjoin.h"

/*
 * Shares of the memory, in percent: of the chunk that is indexed; of pairs of
 * candidates; of the sets that are compared, while there is a chunk and after
 * the last one.
 */
#define DEFERRED_CHUNK_SHARE	62
#define DEFERRED_PAIRS_SHARE	16
#define DEFERRED_BLOCK_SHARE	12
#define DEFERRED_LAST_SHARE		72

extern struct Deferred *deferred_create(size_t memory);
extern void deferred_add(SetJoin *join, const JoinSet *indexed,
						 const JoinSet *probing);
extern bool deferred_full(SetJoin *join);
extern bool deferred_begin(SetJoin *join, bool last);
extern JoinSet *deferred_next_probe(SetJoin *join);
extern JoinSet *deferred_next_candidate(SetJoin *join);

#endif							/* NEARDUP_DEFERRED_H */
