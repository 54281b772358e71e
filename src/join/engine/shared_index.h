/*
 * shared_index.h
 *		The index of a similarity join that several processes make together.
 */
#ifndef NEARDUP_SHARED_INDEX_H
#define NEARDUP_SHARED_INDEX_H

#include "join/engine/join_state.h"

/* Shares of the buckets and, for another step, of the sets. */
#define INDEX_SHARES	64

typedef struct SharedIndex
{
	pg_atomic_uint64 npostings; /* of all sets, as they are prepared */
	int			shift;			/* as in InvertedIndex */
	SharedPointer room;			/* that nobody needs any more, of so many bytes */
	size_t		room_bytes;
	SharedPointer buckets;		/* invalid: none is made together */
	SharedPointer postings;
	SharedPointer places;		/* number of the bucket of each posting, wanted
								 * until all are where they belong */
	SharedPointer notes;		/* of all sets, as in InvertedIndex */
	uint32		tally[INDEX_SHARES][INDEX_SHARES];	/* postings by share of the
													 * buckets, then of the sets */
} SharedIndex;

extern void shared_index_init(SharedIndex *shared);
extern void shared_index_allot(SetJoin *join, SharedIndex *shared, int part);
extern void shared_index_tally(SetJoin *join, SharedIndex *shared, int share);
extern void shared_index_deal(SetJoin *join, SharedIndex *shared, int share);
extern void shared_index_order(SetJoin *join, SharedIndex *shared, int share);
extern bool shared_index_attach(SetJoin *join, SharedIndex *shared);

#endif							/* NEARDUP_SHARED_INDEX_H */
