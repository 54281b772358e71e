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

/* What a join has on disk. */
typedef struct Spill
{
	/* while rows come in; small ones and sets go to the runs of the set file */
	RunRow	   *own_row;		/* room for one */
	LargeRows	rows[2];		/* of each side */
	SeenSets	seen;
	uint32		nwritten;		/* sets */

	/* then */
	SetFile		file;
	Chunks		chunks;
} Spill;

/* Goes over to disk.  In join->search.context. */
extern void spill_begin(SetJoin *join);

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

/* Bytes of a buffer to read a file forward. */
extern size_t spill_buffer(const SetJoin *join);

/*
 * Closes the files.  Rows may still be in their sorts if the join is ended before
 * anything came out, as by a process that comes too late for a part.
 */
extern void spill_end(SetJoin *join);

#endif							/* NEARDUP_SPILL_H */
