/*
 * set_file.h
 *		The distinct sets of a join on disk, in order of size, and their rows.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/join/engine/set_file.h
 */
#ifndef NEARDUP_SET_FILE_H
#define NEARDUP_SET_FILE_H

#include "join/engine/row_groups.h"
#include "join/engine/set_runs.h"

/* A distinct set, of which only sides that are stored have rows. */
typedef struct SetRecord
{
	int64		high;			/* of its key */
	uint64		place;			/* of its values, in the runs */
	RowRange	rows[2];
} SetRecord;

/* Which sets are of one size. */
typedef struct SizeStart
{
	uint64		size;
	uint64		number;			/* of the first of them */
} SizeStart;

/* Where several processes merge: what one has merged of a share, in its files. */
typedef struct MergedShare
{
	int			part;			/* number of the process */
	uint64		first;			/* of its sets */
	uint64		nsets;
	uint64		rows[2];		/* place of the first */
	uint64		row_bytes[2];
} MergedShare;

/* Bytes of the files of a process. */
typedef struct MergedBytes
{
	uint64		records;
	uint64		rows[2];
} MergedBytes;

/* The files of a process. */
typedef struct MergedFiles
{
	SpillFile	records;
	SpillFile	rows[2];
} MergedFiles;

/* A share in the file that is put together of all, of whose records it is one piece. */
typedef struct SharePlace
{
	uint64		rows[2];		/* added to a place in the file of the process it is
								 * the place there */
} SharePlace;

typedef struct SetFile
{
	int			nsides;			/* whose rows are stored; of one, both have these */
	SetRuns		runs;			/* of the sets' values */
	SpillFile	records;
	SpillFile	rows[2];		/* of each side */
	uint64		nsets;
	MergedFiles *merged;		/* by process; NULL: this one has merged all */
	int			nmerged;
	SharePlace *shares;			/* then, in order */
	size_t		nshares;
	size_t		max_shares;		/* allocated */
	SizeStart  *sizes;			/* not of what is put together */
	uint32		nsizes;
	size_t		max_sizes;		/* allocated */
	void	   *place;			/* of the bitmap and values of a set that is
								 * read: room for the largest one */

	/* once all are there */
	SpillReader reader;			/* of records */
	RowReader	row_readers[2];
	size_t		largest_group;	/* bytes of rows that are loaded at once */
	JoinSet		set;			/* that was read last */
	Arena		set_rows;
} SetFile;

/* Readers of the set file, of the rows of each side and of rows that are handed out. */
#define SET_FILE_READERS	5

/*
 * No sets as yet, of most_features values each at the most; the runs have been made
 * before.  In the current memory context.
 */
extern void setfile_create(SetFile *file, int nsides, uint32 most_features);

/* No rows as yet: they will be the next ones of the side. */
extern void setfile_begin_rows(const SetFile *file, JoinSide side,
							   RowRange *range);

/* Adds a row, as it lies in a file, and to a range. */
extern void setfile_add_row(SetFile *file, JoinSide side, const char *row,
							size_t len, RowRange *range);

/* Adds a set, whose rows have been added.  Sets are added in order of size. */
extern void setfile_add(SetFile *file, const SetRecord *record);

/*
 * Where several processes merge: no sets as yet, in files that all can read.  Each share is
 * begun and ended, and after the last one the files are closed.
 */
extern void setfile_create_in(SetFile *file, int nsides, uint32 most_features,
							  FileSet *files, int part);
extern void setfile_begin_share(const SetFile *file, MergedShare *share);
extern void setfile_end_share(const SetFile *file, MergedShare *share);
extern void setfile_export(SetFile *file, MergedBytes *bytes);

/*
 * When all have done that, the shares of all, one after another, are the sets of the file;
 * `bytes` are those of the process that has merged the share, one of nparts.
 */
extern void setfile_add_share(SetFile *file, FileSet *files, int nparts,
							  const MergedShare *share, const MergedBytes *bytes);

/* All have been added; they will be read with that much for each buffer. */
extern void setfile_begin(SetFile *file, size_t buffer, size_t largest_group);

/* Bytes on disk. */
extern uint64 setfile_bytes(const SetFile *file);

/* The next record, and its set, without values and rows. */
extern void setfile_read(SetFile *file, JoinSet *set, SetRecord *record);

/* The values of that set, in file->place. */
extern void setfile_read_values(SetFile *file, JoinSet *set,
								const SetRecord *record);

/* The rows of that set, where they are not too many: otherwise where they are. */
extern void setfile_read_rows(SetFile *file, JoinSet *set,
							  const SetRecord *record, Arena *arena);

/* setfile_next() will read the sets from that number on. */
extern void setfile_seek(SetFile *file, uint64 number);

/* setfile_next() will read the sets from that size on. */
extern void setfile_seek_size(SetFile *file, uint64 size);

/*
 * The next set, with its values and where its rows are, or NULL; valid until the
 * next call.
 */
extern JoinSet *setfile_next(SetFile *file);

/* Where the rows of a set are that has been read from elsewhere, until the next one. */
extern void setfile_note_rows(SetFile *file, JoinSet *set, const RowRange *rows);

/* The set of that number; valid until the next one is read. */
extern JoinSet *setfile_get(SetFile *file, uint32 number);

/* Loads the rows of the set that was read last, where they are not too many. */
extern void setfile_load_rows(SetFile *file, JoinSet *set);

/*
 * Moves the rows of a set that was read last to the arena: those that are not
 * larger than the set, and of others where they are.
 */
extern void setfile_keep_rows(SetFile *file, JoinSet *set, Arena *arena);

/* Closes the files. */
extern void setfile_close(SetFile *file);

#endif							/* NEARDUP_SET_FILE_H */
