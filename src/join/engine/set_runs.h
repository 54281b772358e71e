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
#include "join/engine/joined_set.h"
#include "join/engine/spillfile.h"

/* The row with which a set came, as it will lie in its side's file. */
typedef struct RunRow
{
	uint32		side;
	uint32		bytes;			/* of data; 0: there is none */
	char		data[FLEXIBLE_ARRAY_MEMBER];
} RunRow;

#define RUN_ROW_HEAD	offsetof(RunRow, data)

/* A set in memory, before it is in a run, or one more row of a set. */
typedef struct PendingSet
{
	SetKey		key;
	const uint64 *values;		/* NULL of a row */
	const RunRow *row;			/* or NULL */
} PendingSet;

/* What a set or a row has in a file before its values; the row's data follow these. */
typedef struct RunHead
{
	SetKey		key;
	uint32		nvalues;		/* 0 of a row */
	uint32		row;			/* bytes and side as RunRow: bytes << 1 | side */
} RunHead;

/* Where in a file of runs a set or a row is. */
typedef struct RunSample
{
	SetKey		key;
	uint64		place;
} RunSample;

#define RUN_LEVELS	24

/* Runs that were merged as often, in a file, one after another from its begin. */
typedef struct RunLevel
{
	SpillFile	file;
	uint32		number;			/* of the file, where others can read it */
	uint64	   *ends;			/* of each run, in the file */
	uint32		nruns;
	RunSample  *samples;		/* then: one in so many bytes */
	size_t		nsamples;
	size_t		max_samples;	/* allocated */
} RunLevel;

/* A run that is read. */
typedef struct Run
{
	SpillReader reader;			/* behind the head */
	const RunLevel *level;
	uint64		begin;			/* in the file */
	uint64		end;
	RunHead		head;			/* of the next set */
} Run;

/* Where several processes write runs, for all to read. */
typedef struct RunsPlace
{
	FileSet    *files;			/* NULL: nobody else reads them */
	int			part;			/* number of this process */
	int			nparts;			/* of them */
} RunsPlace;

typedef struct SetRuns
{
	size_t		most_bytes;		/* that sets may take */
	size_t		pending_bytes;	/* that they may take now */
	uint32		most_runs;		/* that may be read at once */
	Arena		arena;			/* of pending sets' values and rows */
	PendingSet *pending;
	size_t		npending;
	size_t		max_pending;	/* allocated */
	RunLevel	levels[RUN_LEVELS];
	RunsPlace	place;
	uint32		nfiles;			/* that have been made there */
	uint64		exported;		/* bytes of runs that are for all */

	/* those of all processes, once they are there */
	RunLevel   *shared;
	uint32		nshared;
	size_t		max_shared;		/* allocated */

	/* that are read */
	Run		   *runs;
	uint32		nruns;
	size_t		buffer;			/* bytes of each one's */
	struct binaryheap *heap;	/* of those that have another set, by its key */
	SetKey	   *borders;		/* of the shares in which several processes merge, but for the
								 * first; NULL: all is merged at once */
	uint32		nshares;
	uint32		share;			/* that is given out */
	RunRow	   *row;			/* of the set that was taken last */
	uint32		largest_row;	/* bytes of data that it has room for */
} SetRuns;

/* All sets that have been written, in no order. */
typedef struct RunsScan
{
	SetRuns    *runs;
	int			level;			/* that is read, or has been */
	SpillReader reader;
} RunsScan;

/*
 * No sets as yet, in the current memory context.  Sets take up to most_bytes in
 * memory, and buffers half as much when they are merged.
 */
extern void setruns_create(SetRuns *runs, size_t most_bytes,
						   const RunsPlace *place);

/*
 * Writes what is in memory; sets take no more than that from now on, most_bytes at
 * the most.
 */
extern void setruns_limit(SetRuns *runs, size_t bytes);

/*
 * Adds a set, SETKEY_SIZE(key) values.  The values are copied; those of a set
 * that is kept are not, and have to stay until setruns_flush().  `row` is NULL, or is
 * copied.  Where `values` is NULL it is one more row of the set that has just that key, or of
 * none, which has the key zero.
 */
extern void setruns_add(SetRuns *runs, SetKey key, const uint64 *values,
						const RunRow *row);
extern void setruns_add_kept(SetRuns *runs, SetKey key, const uint64 *values);

/* Writes the sets that are in memory. */
extern void setruns_flush(SetRuns *runs);

/*
 * Reads what is not in memory, through a buffer of that many bytes: `values` must have room
 * for the largest set.  False if there is no more.  Then sets may come again.
 */
extern void setruns_scan_begin(SetRuns *runs, RunsScan *scan, size_t buffer);
extern bool setruns_scan_next(RunsScan *scan, uint64 *values, uint32 *n);
extern void setruns_scan_end(RunsScan *scan);

/*
 * No more sets come: they are given out in the order of their keys, and each is
 * followed by its other rows.
 */
extern void setruns_begin(SetRuns *runs);

/*
 * No more sets come from this process, one of several: its runs are for all to read from now
 * on.  Returns what the others have to know: bytes of a directory.
 */
extern uint64 setruns_export(SetRuns *runs);

/*
 * Those of a process, which are there, are among the runs that will be given out.  All
 * processes that do this for all of them in one order are given sets in the same order, and
 * what setruns_take() returns means the same in all of them.
 */
extern void setruns_import(SetRuns *runs, int part, uint64 directory_bytes);

/*
 * Once all are there: they will be given out in so many shares, one after another by their
 * keys, to several processes.  Which ones these are is the same in all of them.  And then one
 * of the shares is given out.
 */
extern void setruns_divide(SetRuns *runs, uint32 nshares);
extern void setruns_begin_share(SetRuns *runs, uint32 share);

/* The key of the next set or row; false if there is none. */
extern bool setruns_next_key(const SetRuns *runs, SetKey *key);

/*
 * True if the next one is a set that has these values, and must be as large, or
 * another row of the one that was taken last.
 */
extern bool setruns_next_is(SetRuns *runs, const uint64 *values);

/*
 * Takes the next one.  A set's values are put to `values`, unless that is NULL; a row
 * that comes without leaves what is there.  The row is valid until the next one is taken.
 * Returns where the values are.
 */
extern uint64 setruns_take(SetRuns *runs, uint64 *values, const RunRow **row);

/*
 * All have been given out: from now on values are read, with that many bytes for
 * all buffers, or the least that does.  Returns what they have.
 */
extern size_t setruns_end(SetRuns *runs, size_t buffers);

/* Reads n values from the place that setruns_take() returned. */
extern void setruns_read(SetRuns *runs, uint64 place, uint64 *values, uint32 n);

/* Bytes on disk, but for what other processes have written. */
extern uint64 setruns_bytes(const SetRuns *runs);

/* Closes the files. */
extern void setruns_free(SetRuns *runs);

#endif							/* NEARDUP_SET_RUNS_H */
