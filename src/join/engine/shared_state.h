/*
 * shared_state.h
 *		What the processes of a similarity join have in common.
 *
 * SharedSets is in shared memory, and initialised before any process attaches.
 * shared_sets.c, shared_index.c and spill.c say how its parts are filled.
 */
#ifndef NEARDUP_SHARED_STATE_H
#define NEARDUP_SHARED_STATE_H

#include "port/atomics.h"
#include "storage/barrier.h"
#include "storage/lwlock.h"

#include "join/engine/arena.h"
#include "join/engine/set_runs.h"

/* The frequencies of features */

/* The counters of all processes. */
typedef struct SharedCounts
{
	pg_atomic_uint64 used;		/* counters */
	LWLock		lock;			/* protects the next two fields until all have
								 * ended counting */
	SharedPointer counts;		/* invalid: they have no memory yet, or
								 * nothing is counted */
	SharedPointer ranges;		/* ranges of the counters: CountRange */
	int			shift;			/* shift of the counters, once they are folded */
} SharedCounts;

/* The index */

/* Shares of the buckets and, for another step, of the sets. */
#define INDEX_SHARES	64

typedef struct SharedIndex
{
	pg_atomic_uint64 npostings; /* postings of all sets, as they are prepared */
	int			shift;			/* as in InvertedIndex */
	SharedPointer room;			/* free memory of room_bytes bytes */
	size_t		room_bytes;
	SharedPointer buckets;		/* invalid: none is made together */
	SharedPointer postings;
	SharedPointer places;		/* place of each posting, until it is ordered */
	SharedPointer entries;		/* entries of all sets, as in InvertedIndex */
	uint32		tally[INDEX_SHARES][INDEX_SHARES];	/* postings by share of
													 * the buckets, then of
													 * the sets */
} SharedIndex;

/* Sets on disk */

/* Number of shares into which work on disk is divided, at most. */
#define MAX_SPILL_SHARES	64

/* The part of one process: what it has written for all. */
typedef struct SpillPart
{
	RunDirectory runs;
	uint64		nfeatures;		/* features of the sets in the runs */
	uint64		nsets;			/* rows with a set */
	uint32		max_features;	/* features of the largest set */
} SpillPart;

/* Work on disk that processes divide, with its results. */
typedef struct SpillShares
{
	pg_atomic_uint32 sets_taken;	/* shares of the keys that some process
									 * merges */
	pg_atomic_uint32 keys_taken;	/* shares of the sets whose keys some
									 * process makes */
	MergedShare sets[MAX_SPILL_SHARES];
	SpillPiece	keys[MAX_SPILL_SHARES];
} SpillShares;

/* The sets, and the phases in which they are prepared */

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
	SpillPart	spill;			/* part of the sets on disk; the rest is not
								 * set then */
	uint64		different;		/* features, about, at the most */
	uint32		n;				/* number of sets whose values it has stored */
	SharedPointer sets;			/* SharedSets, in the order of addition */
	SharedPointer marks;		/* a bit for each by its hash, of 2^mark_bits */
	int			mark_bits;
	SharedPointer suspects;		/* numbers of sets that others may have, by
								 * share */
	uint32		ends[SET_SHARES];	/* ends of the shares */
	pg_atomic_uint32 taken[STEP_READY]; /* sets that are claimed, by step */
} SharedSetsPart;

typedef struct SharedSets
{
	Barrier		barrier;
	pg_atomic_uint32 fallback;	/* Fallback */
	pg_atomic_uint32 nreturned; /* processes that have freed their sets */
	pg_atomic_uint32 taken[STEP_READY]; /* work that is claimed, by step */
	SharedCounts counts;		/* frequencies of features, until sets are
								 * prepared */
	pg_atomic_uint64 empty[2];	/* links to rows without features */
	SharedIndex index;
	SpillShares spill;
	int			nparts;
	SharedSetsPart parts[FLEXIBLE_ARRAY_MEMBER];
} SharedSets;

#endif							/* NEARDUP_SHARED_STATE_H */
