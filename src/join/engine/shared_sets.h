/*
 * shared_sets.h
 *		The sets of a similarity join that several processes prepare together.
 */
#ifndef NEARDUP_SHARED_SETS_H
#define NEARDUP_SHARED_SETS_H

#include "storage/barrier.h"

#include "join/engine/engine.h"
#include "join/engine/shared_index.h"
#include "join/engine/spill.h"

/* Number of shares of the sets, by their hashes, and of other work. */
#define SET_SHARES	64

/* Phases of the barrier. */
typedef enum SharedStep
{
	STEP_READ,					/* each process adds rows */
	STEP_SUSPECT,				/* reassign rows of sets that others have
								 * stored; list sets that others may have
								 * stored, too */
	STEP_COLLAPSE,				/* identical sets of several become one */
	STEP_COUNT,					/* features */
	STEP_FOLD,					/* the counters, by one process */
	STEP_PREPARE,				/* the sets */
	STEP_GATHER,				/* in order of size, each for itself; and the
								 * memory of the index */
	STEP_COUNT_KEYS,			/* their postings */
	STEP_DISTRIBUTE,			/* to shares of the index */
	STEP_ORDER,					/* these */
	STEP_READY,
} SharedStep;

/* Where rows and sets go if shared memory is full. */
typedef enum Fallback
{
	IN_MEMORY,
	TO_RUNS,					/* sets go to disk, in runs that all will
								 * merge */
	TO_ROWS,					/* rows go to files, from which each reads all */
} Fallback;

/* The part of one process. */
typedef struct SharedSetsPart
{
	/* while rows are added, to be read by all that check their memory */
	pg_atomic_uint64 nsets;
	pg_atomic_uint64 npostings;
	pg_atomic_uint64 nfeatures;

	/* then */
	uint32		nrows[2];
	uint32		max_features;
	uint64		nonempty;		/* rows with a set */
	SpillPart	spill;			/* if sets are on disk; the rest is not set
								 * then */
	uint64		different;		/* features, about, at the most */
	uint32		n;				/* of the sets whose values it has stored: */
	SharedPointer sets;			/* SharedSets, in the order of addition */
	SharedPointer marks;		/* a bit for each by its hash, of 2^mark_bits */
	int			mark_bits;
	SharedPointer suspects;		/* numbers of sets that others may have, by
								 * share */
	uint32		ends[SET_SHARES];	/* of the shares */
	pg_atomic_uint32 taken[STEP_READY]; /* sets that are claimed, by step */
} SharedSetsPart;

typedef struct SharedSets
{
	Barrier		barrier;
	pg_atomic_uint32 fallback;	/* Fallback */
	pg_atomic_uint32 nreturned; /* processes that have freed their sets */
	pg_atomic_uint32 taken[STEP_READY]; /* work that is claimed, by step */
	SharedCounts counts;		/* of features, until sets are prepared */
	pg_atomic_uint64 empty[2];	/* links to rows without features */
	SharedIndex index;
	SpillShares spill;
	int			nparts;
	SharedSetsPart parts[FLEXIBLE_ARRAY_MEMBER];
} SharedSets;

extern size_t shared_sets_bytes(int nparts);
extern void shared_sets_init(SharedSets *shared, int nparts);

/* For engine.c: see engine_publish(), engine_return_rows(), engine_share(). */
extern void shared_publish(JoinEngine *join);
extern void shared_return_rows(JoinEngine *join, RowCallback callback,
							   void *arg);
extern void shared_sets_prepare(JoinEngine *join);

/* Publish the numbers of rows and sets that this process has added. */
extern void shared_publish_totals(JoinEngine *join);

/*
 * Bytes that this process holds, and will hold if no process adds any more
 * rows.
 */
extern size_t shared_bytes_held(JoinEngine *join);

/* Create this process's array of all prepared sets, in order of size. */
extern void shared_gather(JoinEngine *join);

#endif							/* NEARDUP_SHARED_SETS_H */
