/*
 * shared_index.h
 *		Several processes count features and make the index together.
 */
#ifndef NEARDUP_SHARED_INDEX_H
#define NEARDUP_SHARED_INDEX_H

#include "join/engine/arena.h"
#include "join/engine/engine_params.h"
#include "join/engine/feature_counts.h"
#include "join/engine/shared_state.h"

/* The frequencies of features, which several processes count together */

extern void shared_counts_init(SharedCounts *shared);

/*
 * Count the features of some distinct sets, in the current memory context,
 * with counters of that shape; they are counted after shared_counts_end(), in
 * which processes go through the ranges from different starts, to wait little.
 * The first process allocates the counters in its area.
 */
typedef struct Counting Counting;
extern Counting *shared_counts_begin(SharedCounts *shared, SharedAreas *areas,
									 const TokenCounters *shape);

extern void shared_counts_add(Counting *counting, const uint64 *values,
							  uint32 n);
extern void shared_counts_end(Counting *counting, int process, int nprocesses);

/* Shrink the counters, by one process, when all have ended counting. */
extern void shared_counts_fold(SharedCounts *shared, SharedAreas *areas,
							   const TokenCounters *shape);

/* Attach to the folded counters; the shape is given. */
extern void shared_counts_attach(SharedCounts *shared, SharedAreas *areas,
								 TokenCounters *counters);

/* The index of a similarity join that several processes make together */

/*
 * When all sets are prepared: allocate a part of the memory; count the
 * postings of a share of the sets, and note their suffixes; distribute them;
 * put a share of the buckets in order.
 */
extern void shared_index_allocate(JoinEngine *join, int part);
extern void shared_index_count(JoinEngine *join, int share);
extern void shared_index_distribute(JoinEngine *join, int share);
extern void shared_index_order(JoinEngine *join, int share);

/* Use the index in this process; false if none is made together. */
extern bool shared_index_attach(JoinEngine *join);

#endif							/* NEARDUP_SHARED_INDEX_H */
