/*
 * shared_sets.h
 *		The sets of a similarity join that several processes make ready together.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/join/engine/shared_sets.h
 */
#ifndef NEARDUP_SHARED_SETS_H
#define NEARDUP_SHARED_SETS_H

#include "storage/barrier.h"
#include "storage/spin.h"

#include "join/engine/engine.h"
#include "join/engine/set_file.h"
#include "join/engine/shared_counts.h"
#include "join/engine/shared_index.h"

/* Shares of the sets, by their hashes, and of whatever else is divided. */
#define SET_SHARES	64

/* Phases of the barrier. */
typedef enum SharedStep
{
	STEP_READ,					/* each takes in rows, by itself */
	STEP_SUSPECT,				/* rows of sets that another has stored are
								 * handed over; which of its sets another may have
								 * stored, too */
	STEP_COLLAPSE,				/* identical sets of several become one */
	STEP_COUNT,					/* features */
	STEP_FOLD,					/* the counters, by one process */
	STEP_PREPARE,				/* the sets */
	STEP_GATHER,				/* in order of size, each for itself; and the
								 * memory of the index */
	STEP_TALLY,					/* their postings */
	STEP_DEAL,					/* to shares of the index */
	STEP_ORDER,					/* these */
	STEP_READY,
} SharedStep;

/* What has become of shared memory. */
typedef enum GivenUp
{
	IN_MEMORY,
	TO_RUNS,					/* sets go to disk, in runs that all will merge */
	TO_ROWS,					/* rows go to files, from which each takes in all */
} GivenUp;

/* What one process has. */
typedef struct SharedSetsPart
{
	/* while rows come in, to be read by all who look at their memory */
	pg_atomic_uint64 nsets;
	pg_atomic_uint64 npostings;
	pg_atomic_uint64 nfeatures;

	/* then */
	uint32		nrows[2];
	uint32		most_features;
	uint64		nonempty;		/* rows with a set */
	uint64		directory_bytes;	/* of its runs, if sets are on disk, see
									 * shared_runs.c */
	MergedBytes merged;			/* then, what it has merged of all, */
	bool		counted;		/* and it has written its counters, */
	uint64		keys_bytes;		/* and keys; the rest is not set then */
	uint64		different;		/* features, about, at the most */
	uint32		n;				/* of the sets whose values it has stored: */
	SharedPointer sets;			/* SharedSets, in the order in which they came */
	SharedPointer marks;		/* a bit for each by its hash, of 2^mark_bits */
	int			mark_bits;
	SharedPointer suspects;		/* numbers of those that another may have, by share */
	uint32		ends[SET_SHARES];	/* of the shares */
	pg_atomic_uint32 taken[STEP_READY]; /* runs of sets that somebody does, by step */
} SharedSetsPart;

/* Where the keys of a share of the sets on disk are: in the file of a process. */
typedef struct KeysPiece
{
	int			part;
	uint32		without;		/* sets that have none */
	uint64		offset;
	uint64		bytes;
} KeysPiece;

typedef struct SharedSets
{
	Barrier		barrier;
	pg_atomic_uint32 given_up;	/* GivenUp */
	pg_atomic_uint32 nreturned; /* processes that hold no more sets in memory */
	pg_atomic_uint32 taken[STEP_READY]; /* work that somebody does, by step */
	SharedCounts counts;		/* of features, until sets are prepared */
	slock_t		mutex;			/* of the next */
	SharedPointer empty[2];		/* rows without features */
	SharedIndex index;
	pg_atomic_uint32 sets_taken;	/* shares of the sets on disk that somebody
									 * merges */
	MergedShare sets[SET_SHARES];
	pg_atomic_uint32 keys_taken;	/* and whose keys somebody makes */
	KeysPiece	keys[SET_SHARES];
	int			nparts;
	SharedSetsPart parts[FLEXIBLE_ARRAY_MEMBER];
} SharedSets;

extern size_t shared_sets_bytes(int nparts);
extern void shared_sets_init(SharedSets *shared, int nparts);

/* True if sets of that algorithm can be made ready by several. */
extern bool setjoin_sharable(const struct Algorithm *algorithm);

/* True if memory has been used up: no more rows must be added before it goes to disk. */
extern bool setjoin_full(const SetJoin *join);

/* True if rows that are shared have no more numbers. */
extern bool setjoin_numbers_used_up(const SetJoin *join);

/* All rows of this process have been added: tells the others of its sets. */
extern void setjoin_publish(SetJoin *join);

/*
 * Hands out the rows of this process and their sets, before setjoin_share();
 * those of both sides once.
 */
typedef void (*RowTaker) (void *arg, JoinSide side, const uint64 *values,
						  uint32 n, const void *row, uint32 len);
extern void setjoin_return_rows(SetJoin *join, RowTaker take, void *arg);

/*
 * Has all sets made ready, with the others that are at that; attached to the
 * barrier, which it leaves.
 */
extern void setjoin_share(SetJoin *join);

/*
 * Memory does not do: goes over to disk, unless it has.  What comes from now on is in runs,
 * too.  The algorithm must be the one that there will be.
 */
extern void setjoin_spill_shared(SetJoin *join);

/*
 * True if it has.  Frees what the process has in shared memory as soon as nobody looks at it
 * any more.
 */
extern bool setjoin_is_spilled(SetJoin *join);

/*
 * All rows of this process have been added: its runs are there for the others.  And when all
 * have done that: each has those of all.
 */
extern void setjoin_export_runs(SetJoin *join);
extern void setjoin_import_runs(SetJoin *join);

/*
 * Then all sets are merged, by those who are at that, in shares.  And when all have done that:
 * these are the sets of each.
 */
extern void setjoin_merge_shares(SetJoin *join);
extern void setjoin_take_shares(SetJoin *join);

/*
 * Then, where candidates are compared later, the keys of all sets are made, by those who are at
 * that.  And when all have done that: these are the keys of each.
 */
extern bool setjoin_needs_keys(const SetJoin *join);
extern void setjoin_write_keys(SetJoin *join);
extern void setjoin_take_keys(SetJoin *join);

/* For engine.c */
extern size_t shared_bytes_held(SetJoin *join);
extern uint32 shared_outer_rows(const SetJoin *join);
extern void shared_part_tell(SetJoin *join);
extern void shared_gather(SetJoin *join);
extern bool shared_attach_index(SetJoin *join);

#endif							/* NEARDUP_SHARED_SETS_H */
