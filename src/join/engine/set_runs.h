/*
 * set_runs.h
 *		Sets on disk, in sorted runs.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/join/engine/set_runs.h
 */
#ifndef NEARDUP_SET_RUNS_H
#define NEARDUP_SET_RUNS_H

#include "join/engine/arena.h"
#include "join/engine/collapse.h"
#include "join/engine/spillfile.h"

/* The row with which a set came, as it will lie in its side's file. */
typedef struct RunRow
{
	uint32		side;
	uint32		bytes;			/* of data; 0: there is none */
	char		data[FLEXIBLE_ARRAY_MEMBER];
} RunRow;

#define RUN_ROW_HEAD	offsetof(RunRow, data)

/* A set in memory, before it is in a run. */
typedef struct PendingSet
{
	SetKey		key;
	const uint64 *values;
	const RunRow *row;			/* or NULL */
} PendingSet;

/* What a set has in a file before its values; its row's data follow these. */
typedef struct RunHead
{
	SetKey		key;
	uint32		side;			/* as RunRow */
	uint32		row_bytes;
} RunHead;

/* A run that is read. */
typedef struct Run
{
	SpillReader reader;			/* behind the head */
	uint64		end;			/* in the file */
	RunHead		head;			/* of the next set */
} Run;

#define RUN_LEVELS	24

/* Runs that were merged as often, in a file, one after another from its begin. */
typedef struct RunLevel
{
	SpillFile	file;
	uint64	   *ends;			/* of each run, in the file */
	uint32		nruns;
} RunLevel;

typedef struct SetRuns
{
	size_t		most_bytes;		/* that pending sets may take */
	uint32		most_runs;		/* that may be read at once */
	Arena		arena;			/* of pending sets' values and rows */
	PendingSet *pending;
	size_t		npending;
	size_t		room;			/* for pending sets, allocated */
	RunLevel	levels[RUN_LEVELS];

	/* that are read */
	Run		   *runs;
	uint32		nruns;
	size_t		buffer;			/* bytes of each one's */
	struct binaryheap *heap;	/* of those that have another set, by its key */
	RunRow	   *row;			/* of the set that was taken last */
	uint32		largest_row;	/* bytes of data */
} SetRuns;

/*
 * No sets as yet, in the current memory context.  Sets take up to most_bytes in
 * memory, and buffers half as much when they are merged.  Rows have largest_row bytes
 * at most.
 */
extern void setruns_create(SetRuns *runs, size_t most_bytes,
						   uint32 largest_row);

/*
 * Adds a set, SETKEY_SIZE(key) values.  The values are copied; those of a set
 * that is kept are not, and have to stay until setruns_flush().  `row` is NULL, or is copied.
 */
extern void setruns_add(SetRuns *runs, SetKey key, const uint64 *values,
						const RunRow *row);
extern void setruns_add_kept(SetRuns *runs, SetKey key, const uint64 *values);

/* Writes the sets that are in memory. */
extern void setruns_flush(SetRuns *runs);

/* No more sets come: they are given out in the order of their keys. */
extern void setruns_begin(SetRuns *runs);

/* The key of the next set; false if there is none. */
extern bool setruns_next_key(const SetRuns *runs, SetKey *key);

/* True if the next set, which must be as large, has these values. */
extern bool setruns_next_is(SetRuns *runs, const uint64 *values);

/*
 * Takes the next set.  Its values are put to `values`, unless that is NULL; its row is
 * valid until the next set is taken.  Returns where its values are.
 */
extern uint64 setruns_take(SetRuns *runs, uint64 *values, const RunRow **row);

/*
 * All have been given out: from now on values are read, with that many bytes for
 * all buffers, or the least that does.  Returns what they have.
 */
extern size_t setruns_end(SetRuns *runs, size_t buffers);

/* Reads n values from the place that setruns_take() returned. */
extern void setruns_read(SetRuns *runs, uint64 place, uint64 *values, uint32 n);

/* Bytes on disk. */
extern uint64 setruns_bytes(const SetRuns *runs);

/* Closes the files. */
extern void setruns_free(SetRuns *runs);

#endif							/* NEARDUP_SET_RUNS_H */
