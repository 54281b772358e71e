/*
 * spill.h
 *		A join on disk: from rows that are added to a file of distinct sets.
 */
#ifndef NEARDUP_SPILL_H
#define NEARDUP_SPILL_H

#include "join/engine/engine_params.h"
#include "join/engine/set_runs.h"
#include "join/engine/shared_state.h"

typedef struct Spill
{
	SetFile		file;
	SpillShares *shares;		/* shared, or this process's own */
	SpillPart	part;			/* part of this process, if it is alone */
	uint32		nshares;		/* into which work is divided */
	bool		by_keys;		/* candidates are found by keys and bitmaps,
								 * and compared later */
	SpillFile	keys;			/* keys of all sets that have any, if by_keys */
	struct Counting *counting;	/* counting of features with other processes */
	RowReader	cursors[2];		/* readers of rows for the caller, by side */
	struct Chunks *chunks;		/* see disk_search.c */
} Spill;

extern void spill_shares_init(SpillShares *shares);

/*
 * Go to disk: write all sets in memory, and free them unless they are shared.
 */
extern void spill_begin(JoinEngine *join);

/* Add a row and its set; a row without features has the key zero. */
extern void spill_add(JoinEngine *join, JoinSide side, SetKey key,
					  const uint64 *values,
					  const void *row, uint32 rowno, uint32 len);

/*
 * The phases; each begins when all processes have ended the previous one:
 * publish the runs; merge shares; shrink the counters, by one of several
 * processes; write the keys of shares of the sets, if by_keys.  Then the sets
 * can be read.
 */
extern void spill_publish(JoinEngine *join);
extern void spill_merge(JoinEngine *join);
extern void spill_fold(JoinEngine *join);
extern void spill_write_keys(JoinEngine *join);

/* Emit all rows that this process has added, with their sets. */
extern void spill_return_rows(JoinEngine *join, RowCallback callback,
							  void *arg);

extern void spill_end(JoinEngine *join);

/* disk_search.c: the search, by chunks of sets or of their keys */

/*
 * Create the state of the search; `fixed` bytes of the join's memory are used
 * otherwise.
 */
extern void chunks_create(JoinEngine *join, size_t fixed);

/* Write the keys of a prepared set. */
extern void keys_write(SpillFile *file, const JoinSet *set);

/* All keys are written: begin the search. */
extern void disk_search_begin(JoinEngine *join);

#endif							/* NEARDUP_SPILL_H */
