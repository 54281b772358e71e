/*
 * spill.h
 *		Rows and sets of a join go to disk when memory runs out.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/join/engine/spill.h
 */
#ifndef NEARDUP_SPILL_H
#define NEARDUP_SPILL_H

#include "join/engine/chunks.h"
#include "join/engine/large_rows.h"
#include "join/engine/seen.h"
#include "join/engine/set_file.h"
#include "join/engine/setjoin.h"
#include "join/engine/shared_sets.h"

/* What a join has on disk. */
typedef struct Spill
{
	/*
	 * While rows come in.  Sets go to the runs of the set file, and so do small rows, or all
	 * if others read the runs.
	 */
	RunRow	   *own_row;		/* a row as runs have it */
	uint32		own_room;		/* bytes of data that there is room for */
	LargeRows	rows[2];		/* of each side; none where others read the runs */
	SeenSets	seen;
	bool		holds_memory;	/* the sets that came before are in shared memory, too */
	uint32		nwritten;		/* sets */

	/* then */
	SetFile		file;
	Chunks		chunks;
	bool		finished;		/* all is there */
} Spill;

/* True if other processes read the runs. */
static inline bool
runs_are_shared(const Spill *spill)
{
	return spill->file.runs.place.files != NULL;
}

/* Goes over to disk.  In join->search.context. */
extern void spill_begin(SetJoin *join);

/*
 * Others no longer look at what this process has in shared memory: it is gone, and runs
 * have what they may have.
 */
extern void spill_has_memory(SetJoin *join);

/* Adds a row and its set; a row without features has the key zero. */
extern void spill_add(SetJoin *join, JoinSide side, SetKey key,
					  const uint64 *values, const void *row, uint32 rowno,
					  uint32 len);

/*
 * All rows of one side are there, see setjoin_filter().  The filter has memory that runs
 * had, and gives it back.
 */
extern void spill_filter(SetJoin *join);
extern void spill_end_filter(SetJoin *join);

/* All rows are there: sorts and merges them into the set file. */
extern void spill_finish(SetJoin *join);

/*
 * Or several processes do, in shares: each begins, merges shares, of which it tells where they
 * are, and ends when all have been merged and are in its set file, and all counters in its own.
 */
extern void spill_begin_shares(SetJoin *join, uint32 nshares);
extern void spill_merge_share(SetJoin *join, uint32 number, MergedShare *share);
extern void spill_end_shares(SetJoin *join);

/* Or hands them out, as setjoin_return_rows(). */
extern void spill_return_rows(SetJoin *join, RowTaker take, void *arg);

/* Bytes of a buffer to read a file forward. */
extern size_t spill_buffer(const SetJoin *join);

/*
 * Closes the files.  Rows may still be in their sorts if the join is ended before
 * anything came out, as by a process that comes too late for a part.
 */
extern void spill_end(SetJoin *join);

#endif							/* NEARDUP_SPILL_H */
