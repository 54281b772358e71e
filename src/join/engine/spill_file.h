/*
 * spill_file.h
 *		Temporary files of a join that are written once and read from anywhere.
 */
#ifndef NEARDUP_SPILL_FILE_H
#define NEARDUP_SPILL_FILE_H

#include "storage/buffile.h"
#include "storage/fileset.h"

/* Where the files of a join are. */
typedef struct SpillStore
{
	FileSet    *files;			/* shared by several processes; NULL: private */
	int			part;			/* number of this process, from 0 */
	int			nparts;			/* number of processes */
} SpillStore;

/* A range of the file of one process, at offset `start` of the whole. */
typedef struct SpillPiece
{
	int			part;			/* the process */
	uint64		offset;			/* in its file */
	uint64		start;
} SpillPiece;

/*
 * A file that this process writes; or, once it is published, the concatenation of
 * pieces of the files that all processes have published under one name.
 */
typedef struct SpillFile
{
	BufFile    *own;			/* that this process writes */
	uint64		size;			/* bytes written, or of all pieces */
	bool		moved;			/* reading has left the end of `own` */
	BufFile   **parts;			/* published files by process; NULL: not opened */
	int			nparts;
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
	uint64		offset;			/* in the file, of the buffer's first byte */
	size_t		filled;			/* bytes in buffer */
	size_t		at;				/* next one to read */
} SpillReader;

/* Create an empty file; `name` is the same in all processes. */
extern void spillfile_create(SpillFile *file, const SpillStore *store, const char *name);

/* Append len bytes to a file that is not published, but may have been read. */
extern void spillfile_write(SpillFile *file, const void *data, size_t len);

/*
 * Stop writing: other processes can read the file from now on.  Returns its size, and
 * leaves an empty concatenation.
 */
extern uint64 spillfile_publish(SpillFile *file, const SpillStore *store);

/* Append a piece of the file that a process has published to the concatenation. */
extern void spillfile_add_piece(SpillFile *whole, const SpillStore *store,
								const char *name, const SpillPiece *piece, uint64 bytes);

/* Number of the piece with that offset of the concatenation. */
extern size_t spillfile_piece(const SpillFile *whole, uint64 offset);

/* Read len bytes, which must be there. */
extern void spillfile_read(SpillFile *file, uint64 offset, void *data, size_t len);

extern void spillfile_close(SpillFile *file);

/* A reader at the file's beginning, with a buffer of that many bytes. */
extern void spillreader_create(SpillReader *reader, SpillFile *file, size_t buffer);
extern void spillreader_seek(SpillReader *reader, uint64 offset);
extern uint64 spillreader_tell(const SpillReader *reader);
extern bool spillreader_at_end(const SpillReader *reader);

/* Read len bytes, which must be there. */
extern void spillreader_read(SpillReader *reader, void *data, size_t len);

/* Whether the next len bytes, which must be there, are these; they stay unread. */
extern bool spillreader_next_is(SpillReader *reader, const void *data, size_t len);

#endif							/* NEARDUP_SPILL_FILE_H */
