/*
 * set_runs.h
 *		Sets on disk: sorted runs, and the file into which they are merged.
 */
#ifndef NEARDUP_SET_RUNS_H
#define NEARDUP_SET_RUNS_H

#include "join/engine/arena.h"
#include "join/engine/rows.h"
#include "join/engine/set_table.h"

/* Sorted runs of sets and rows on disk */

/*
 * A set with one of its rows, or a further row of a set, before it is in a
 * run: values and row are a copy in SetRuns.room.
 */
typedef struct PendingSet
{
	SetKey		key;
	const uint64 *values;		/* NULL of a further row */
	const char *row;			/* row after the values, as in files, see
								 * rows.h */
	uint32		row_bytes;
	JoinSide	side;			/* side of the row */
} PendingSet;

/* Head of a record in a run; the values follow, then the row. */
typedef struct RunHead
{
	SetKey		key;
	uint32		nvalues;		/* 0 of a further row */
	uint32		row;			/* row length << 1 | side; 0 = no row */
} RunHead;

/* A record that has been read. */
typedef struct RunRecord
{
	SetKey		key;
	uint64		place;			/* place of its values, for setruns_read() */
	JoinSide	side;			/* side of its row */
	char	   *row;
	uint32		row_bytes;		/* 0: there is none */
	size_t		max_row_bytes;	/* allocated */
} RunRecord;

typedef struct RunRange
{
	uint64		begin;			/* first byte in the file */
	uint64		end;
} RunRange;

/* The key of the record at an offset of a file of runs. */
typedef struct RunSample
{
	SetKey		key;
	uint64		offset;
} RunSample;

/* Where in a file runs and samples are listed; all zero: there are no runs. */
typedef struct RunDirectory
{
	uint64		offset;
	uint64		bytes;			/* bytes of the whole file */
	uint64		nranges;
	uint64		nsamples;
} RunDirectory;

/* A run that is read. */
typedef struct Run
{
	SpillReader reader;			/* reader of the run, after the head */
	RunRange	range;
	RunHead		head;			/* head of the next record */
} Run;

typedef struct SetRuns
{
	SpillStore	store;
	size_t		max_bytes;		/* bytes that pending sets may take */
	size_t		pending_bytes;	/* bytes that they may take now */
	char	   *room;			/* pending_bytes bytes, with copies of sets
								 * from the beginning and their PendingSets
								 * from the end; NULL: none is pending */
	size_t		used;			/* bytes of the copies */
	size_t		npending;
	uint32		nsets;			/* numbers that this process has given to sets */
	SpillFile	file;			/* runs of this process; once imported, of all */
	RunRange   *ranges;			/* runs by offset */
	size_t		nranges;
	size_t		max_ranges;		/* allocated */
	RunSample  *samples;		/* samples by offset, one every SAMPLE_BYTES;
								 * empty if only one process merges */
	size_t		nsamples;
	size_t		max_samples;	/* allocated */

	/* while runs are read */
	Run		   *runs;			/* the first of the ranges */
	size_t		nopen;			/* number of open runs */
	size_t		buffer;			/* bytes of the buffer of each */
	struct binaryheap *heap;	/* heap of the runs that have another record,
								 * by its key */
	SetKey	   *borders;		/* keys from which on shares begin */
	uint32		nshares;
	uint32		share;			/* share that is read */
	RunRecord	record;			/* read last */
} SetRuns;

/*
 * Prepare empty runs in the current memory context.  Pending sets take up to
 * max_bytes, and the buffers of a merge half as much, but at least
 * MIN_OPEN_RUNS smallest buffers.
 */
extern void setruns_create(SetRuns *runs, size_t max_bytes,
						   const SpillStore *store);

/*
 * Write pending sets, and limit later ones to that memory, at most max_bytes.
 */
extern void setruns_limit(SetRuns *runs, size_t bytes);

/*
 * The key with a new number in its last 32 bits, which is unique among all
 * processes.
 */
extern SetKey setruns_new_key(SetRuns *runs, SetKey key);

/*
 * Add a row with its set of SETKEY_SIZE(key) values.  NULL: a further row of
 * the set with that key, or of none, with the key zero.  Values and row are
 * copied.
 */
extern void setruns_add(SetRuns *runs, SetKey key, const uint64 *values,
						JoinSide side,
						const void *row, uint32 rowno, uint32 len);

/*
 * Call a function with each set that has been added, in no order, with a
 * buffer of that size.
 */
typedef void (*SetCallback) (void *arg, const uint64 *values, uint32 n);
extern void setruns_scan(SetRuns *runs, size_t buffer, uint32 max_values,
						 SetCallback callback, void *arg);

/*
 * End adding, so that all processes can import the runs.  If there are more
 * than can be read at once, they are merged into fewer.
 */
extern void setruns_publish(SetRuns *runs, RunDirectory *directory);

/*
 * Take the published runs of a process.  All processes import the same runs in
 * the same order, so that places mean the same everywhere.
 */
extern void setruns_import(SetRuns *runs, int part,
						   const RunDirectory *directory);

/*
 * Divide the keys into shares, the same in all processes, when all runs are
 * imported.
 */
extern void setruns_divide(SetRuns *runs, uint32 nshares);

/*
 * Begin to read a share in the order of keys; further rows follow their set.
 * And return the key of the next record; false at the end.
 */
extern void setruns_begin_share(SetRuns *runs, uint32 share);
extern bool setruns_next_key(const SetRuns *runs, SetKey *key);

/* True if the next record is a set of these values, or a further row. */
extern bool setruns_next_is(SetRuns *runs, const uint64 *values);

/*
 * Read the next record, and its values unless `values` is NULL; valid until
 * the next call.
 */
extern const RunRecord *setruns_next(SetRuns *runs, uint64 *values);

/*
 * Begin to read values by place, when all shares have been read, with up to
 * `buffer` bytes for each run.  Returns the bytes of all buffers.
 */
extern size_t setruns_end(SetRuns *runs, size_t buffer);
extern void setruns_read(SetRuns *runs, uint64 place, uint64 *values,
						 uint32 n);

/* The distinct sets of a join on disk, in order of size, and their rows */

/* A distinct set; only sides that are stored have rows. */
typedef struct SetRecord
{
	int64		high;			/* high part of its key */
	uint64		place;			/* place of its values in the runs */
	RowsInFile	rows[2];
} SetRecord;

/* A merged share of the keys, in the files of one process. */
typedef struct MergedShare
{
	SpillPiece	records;
	SpillPiece	rows[2];
} MergedShare;

typedef struct SetFile
{
	int			nsides;			/* whose rows are stored; of one, both have
								 * these */
	SetRuns		runs;			/* runs, which have the values */
	SpillFile	records;
	SpillFile	rows[2];		/* rows by side */
	uint64		nsets;
	uint64		(*shift)[2];	/* by share: difference between the offset of
								 * rows in the concatenation and in the file
								 * of its process */
	void	   *place;			/* bitmap and values of the set that was read */

	/* once all shares are merged */
	SpillReader reader;			/* reader of records */
	RowReader	row_readers[2];
	size_t		max_group;		/* bytes of rows that are loaded at once */
	JoinSet		set;			/* set that was read last, and its record */
	SetRecord	record;
	Arena		set_rows;		/* rows of that set */
} SetFile;

/* Readers of the records and rows, and of rows that the caller reads. */
#define SET_FILE_READERS	5

/*
 * Prepare to merge the runs, whose sets have at most max_features values, in
 * the current memory context.
 */
extern void setfile_create(SetFile *file, int nsides, uint32 max_features);

/* Merge a share of the keys, and call a function with each distinct set. */
extern void setfile_merge(SetFile *file, uint32 share, MergedShare *merged,
						  SetCallback callback, void *arg);

/*
 * Begin to read the sets, when all shares are merged, with buffers of that
 * size; groups of rows up to max_group bytes are loaded.  Returns the bytes of
 * the buffers for values.
 */
extern size_t setfile_begin(SetFile *file, const MergedShare *shares,
							uint32 nshares,
							size_t buffer, size_t max_group);

/*
 * The next set without values and rows, or NULL; a side with rows has some
 * row.
 */
extern JoinSet *setfile_next(SetFile *file);

/* Read the values of that set. */
extern void setfile_read_values(SetFile *file);

/*
 * Read its rows into the arena, or only their range if they have more than
 * max_bytes bytes.
 */
extern void setfile_read_rows(SetFile *file, JoinSet *set, Arena *arena,
							  size_t max_bytes);

/* Read its rows, unless they have been read, until the next set is read. */
extern void setfile_load_rows(SetFile *file);

/* Go to the set of that number. */
extern void setfile_seek(SetFile *file, uint64 number);

extern void setfile_close(SetFile *file);

/* The link that stands for rows of a set that are not loaded. */
extern RowLink rows_somewhere(void);

#endif							/* NEARDUP_SET_RUNS_H */
