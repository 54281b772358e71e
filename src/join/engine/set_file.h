/*
 * set_file.h
 *		The distinct sets of a join on disk, in order of size, and their rows.
 */
#ifndef NEARDUP_SET_FILE_H
#define NEARDUP_SET_FILE_H

#include "join/engine/rows.h"
#include "join/engine/set_runs.h"

/* A distinct set; only sides that are stored have rows. */
typedef struct SetRecord
{
	int64		high;			/* of its key */
	uint64		place;			/* of its values, in the runs */
	RowRange	rows[2];
} SetRecord;

/* What one process has merged of a share of the keys, in its own files. */
typedef struct MergedShare
{
	int			part;			/* number of the process */
	uint64		first;			/* of its sets */
	uint64		nsets;
	uint64		rows[2];		/* offset of the first row */
	uint64		row_bytes[2];
} MergedShare;

typedef struct SetFile
{
	SpillStore	store;
	int			nsides;			/* whose rows are stored; of one, both have these */
	SetRuns		runs;			/* with the values */
	SpillFile	records;
	SpillFile	rows[2];		/* by side */
	uint64		nsets;
	uint64		(*shift)[2];	/* by share: added to an offset of rows in the file of
								 * its process, the offset in the concatenation */
	void	   *place;			/* of the bitmap and values of the set that was read */

	/* once all shares are merged */
	SpillReader reader;			/* of records */
	RowReader	row_readers[2];
	size_t		max_group;		/* bytes of rows that are loaded at once */
	JoinSet		set;			/* that was read last, and its record */
	SetRecord	record;
	Arena		set_rows;		/* its rows */
} SetFile;

/* Readers of the records and rows, and of rows that the caller reads. */
#define SET_FILE_READERS	5

/*
 * Prepare to merge the runs, whose sets have at most max_features values, in the current
 * memory context.
 */
extern void setfile_create(SetFile *file, int nsides, uint32 max_features);

/* Merge a share of the keys, and call a function with each distinct set. */
extern void setfile_merge(SetFile *file, uint32 share, MergedShare *merged,
						  SetCallback callback, void *arg);

/* This process has merged its shares: others can read them.  Returns the bytes. */
extern uint64 setfile_publish(SetFile *file);

/*
 * All shares are merged, by some process: they are the sets of the file.  They will be
 * read with buffers of that size, and groups of rows up to max_group bytes loaded.
 * Returns the bytes of the buffers for values.
 */
extern size_t setfile_begin(SetFile *file, const MergedShare *shares, uint32 nshares,
							size_t buffer, size_t max_group);

/* The next set without values and rows, or NULL; a side with rows has some row. */
extern JoinSet *setfile_next(SetFile *file);

/* Read the values of that set. */
extern void setfile_read_values(SetFile *file);

/* Read its rows into the arena, or note there where they are: if they have more bytes. */
extern void setfile_read_rows(SetFile *file, JoinSet *set, Arena *arena, size_t max_bytes);

/* Read them, unless they are too many or have been read, until the next set is read. */
extern void setfile_load_rows(SetFile *file);

/* Go to the set of that number; or to the first that has that size or is larger. */
extern void setfile_seek(SetFile *file, uint64 number);
extern void setfile_seek_size(SetFile *file, uint64 size);

extern void setfile_close(SetFile *file);

/* Stands for rows of a set that are not loaded. */
extern Row	rows_somewhere;

#endif							/* NEARDUP_SET_FILE_H */
