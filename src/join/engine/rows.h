/*
 * rows.h
 *		Rows of sets in memory, and the temporary files of a join.
 */
#ifndef NEARDUP_ROWS_H
#define NEARDUP_ROWS_H

#include "storage/buffile.h"
#include "storage/fileset.h"

#include "join/engine/arena.h"

/* Temporary files of a join that are written once and read from anywhere */

/* Where the files of a join are. */
typedef struct SpillStore
{
	FileSet    *files;			/* shared by several processes; NULL: private */
	int			part;			/* number of this process, from 0 */
	int			nparts;			/* number of processes */
} SpillStore;

/* A range of the file of one process. */
typedef struct SpillPiece
{
	int			part;			/* the process */
	uint64		offset;			/* offset in its file */
	uint64		bytes;
	uint64		start;			/* offset in the concatenation */
} SpillPiece;

/*
 * A file that this process writes; or, once it is published, the concatenation
 * of pieces of the files that all processes have published under one name.
 */
typedef struct SpillFile
{
	SpillStore	store;
	const char *name;			/* the same in all processes */
	BufFile    *own;			/* file that this process writes */
	uint64		size;			/* bytes written, or of all pieces */
	bool		moved;			/* reading has left the end of `own` */
	BufFile   **parts;			/* published files by process; NULL: not
								 * opened */
	SpillPiece *pieces;			/* NULL: not published */
	size_t		npieces;
	size_t		max_pieces;		/* allocated */
} SpillFile;

/* Reads a file forward from any offset, through a buffer of its own. */
typedef struct SpillReader
{
	SpillFile  *file;
	char	   *buffer;
	size_t		max;			/* size of buffer */
	uint64		offset;			/* offset of the buffer's first byte in the
								 * file */
	size_t		filled;			/* bytes in buffer */
	size_t		at;				/* next one to read */
} SpillReader;

/* Create an empty file. */
extern void spillfile_create(SpillFile *file, const SpillStore *store,
							 const char *name);

/* Append len bytes to a file that is not published, but may have been read. */
extern void spillfile_write(SpillFile *file, const void *data, size_t len);

/* Begin a piece of what this process writes, and end it. */
extern SpillPiece spillfile_begin_piece(const SpillFile *file);
extern void spillfile_end_piece(const SpillFile *file, SpillPiece *piece);

/*
 * Stop writing: other processes can read the file from now on.  Returns its
 * size, and leaves an empty concatenation.
 */
extern uint64 spillfile_publish(SpillFile *file);

/*
 * Append a piece of the file that a process has published to the
 * concatenation.
 */
extern void spillfile_add_piece(SpillFile *whole, const SpillPiece *piece);

/* Number of the piece with that offset of the concatenation. */
extern size_t spillfile_piece(const SpillFile *whole, uint64 offset);

/* Read len bytes, which must be there. */
extern void spillfile_read(SpillFile *file, uint64 offset, void *data,
						   size_t len);

extern void spillfile_close(SpillFile *file);

/* Create a reader at the beginning of the file, with a buffer of that size. */
extern void spillreader_create(SpillReader *reader, SpillFile *file,
							   size_t buffer);
extern void spillreader_seek(SpillReader *reader, uint64 offset);

/* Return the offset of the next byte. */
static inline uint64
spillreader_tell(const SpillReader *reader)
{
	return reader->offset + reader->at;
}

/* True if all of the file was read. */
static inline bool
spillreader_at_end(const SpillReader *reader)
{
	return spillreader_tell(reader) >= reader->file->size;
}

/* Read len bytes, which must be there. */
extern void spillreader_read(SpillReader *reader, void *data, size_t len);

/*
 * Have the next len bytes, which must be there, in the buffer; false if they
 * are more than it has room for.  For spillreader_take().
 */
extern bool spillreader_read_on(SpillReader *reader, size_t len);

/*
 * Read len bytes, which must be there, in the buffer, until the reader is used
 * again; NULL if they are more than it has room for, and then they stay
 * unread.
 */
static inline char *
spillreader_take(SpillReader *reader, size_t len)
{
	if (unlikely(reader->filled - reader->at < len) &&
		!spillreader_read_on(reader, len))
		return NULL;
	reader->at += len;
	return reader->buffer + reader->at - len;
}

/*
 * Read len bytes, which must be there, and append them to a file, perhaps the
 * same one.
 */
extern void spillreader_copy(SpillReader *reader, SpillFile *to, size_t len);

/*
 * True if the next len bytes, which must be there, are these; they stay
 * unread.
 */
extern bool spillreader_next_is(SpillReader *reader, const void *data,
								size_t len);

/* The rows of a set, in memory or in a file */

/*
 * Rows are linked lists.  A link is an address; or, where rows are shared by
 * several processes, a SharedPointer.  Whoever follows a link knows which: by
 * row_at(), or by row_address() once sets have been gathered.
 */
typedef union RowLink
{
	struct Row *address;
	SharedPointer shared;
} RowLink;

#define NO_ROW	((RowLink) {.shared = InvalidSharedPointer})

typedef struct Row
{
	RowLink		next;			/* another row of the same set and side */
	uint32		rowno;			/* number on its side */
	uint32		len;			/* bytes of data, or ROWS_IN_FILE */
	char		data[FLEXIBLE_ARRAY_MEMBER];
} Row;

/*
 * A Row that stands for all rows of a set in its side's file: data is a
 * RowsInFile.
 */
#define ROWS_IN_FILE	UINT32_MAX

typedef struct RowsInFile
{
	uint64		offset;			/* offset in the side's file */
	uint64		bytes;
	uint64		nrows;
} RowsInFile;

/* Head of a row in a file; len bytes follow. */
typedef struct FileRow
{
	uint32		rowno;
	uint32		len;
} FileRow;

/* Reads rows of a file one after another. */
typedef struct RowReader
{
	SpillReader reader;
	char	   *row;			/* row that was read last */
	size_t		max;			/* allocated */
} RowReader;

/* The link to a row of this process. */
static inline RowLink
row_link(Row *row)
{
	RowLink		link = NO_ROW;

	if (row != NULL)
		link.address = row;
	return link;
}

/* The link to a row in shared memory, as sets of all processes store it. */
static inline RowLink
row_shared_link(SharedPointer pointer)
{
	Assert(CAN_SHARE_ROWS || !SharedPointerIsValid(pointer));
	return (RowLink)
	{
		.shared = pointer
	};
}

/* True if a link leads to a row. */
static inline bool
row_exists(RowLink link)
{
	return SharedPointerIsValid(link.shared);
}

/*
 * The row that a link leads to, which is an address unless there are areas;
 * NULL at the end.
 */
static inline Row *
row_at(SharedAreas *areas, RowLink link)
{
	if (areas == NULL)
		return link.address;
	Assert(POINTER_AREA(link.shared) < areas->n);
	return shared_at(areas, link.shared);
}

/* The row of a link that is an address in any case; NULL at the end. */
static inline Row *
row_address(RowLink link)
{
	Assert(link.address == (Row *) MAXALIGN(link.address));
	return link.address;
}

/* Make a row before `next`, with a copy of its data; returns the link. */
extern RowLink row_make(Arena *arena, RowLink next, const void *data,
						uint32 rowno, uint32 len);

/*
 * The rows of a range of a file: a list if they have at most that many bytes.
 */
extern RowLink rows_of_range(RowReader *reader, Arena *arena,
							 const RowsInFile *range, size_t max_bytes);

extern void row_reader_create(RowReader *reader, SpillFile *file,
							  size_t buffer);

/* Read the next row; it is valid until the next call. */
extern const void *row_read(RowReader *reader, uint32 *rowno, uint32 *len);

#endif							/* NEARDUP_ROWS_H */
