/*
 * spillfile.h
 *		Temporary files that are written once and read from anywhere.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/join/engine/spillfile.h
 */
#ifndef NEARDUP_SPILLFILE_H
#define NEARDUP_SPILLFILE_H

#include "storage/buffile.h"
#include "storage/fileset.h"

/* A piece of a file that is part of a whole, from `start` there on. */
typedef struct SpillPiece
{
	BufFile    *file;
	uint64		offset;			/* in that file */
	uint64		start;
} SpillPiece;

typedef struct SpillFile
{
	BufFile    *file;
	uint64		size;			/* bytes written */
	SpillPiece *pieces;			/* of which it is put together; NULL: it is a file */
	size_t		npieces;
	size_t		max_pieces;		/* allocated */
} SpillFile;

/* Reads a spill file forward from any place, through a buffer of its own. */
typedef struct SpillReader
{
	SpillFile  *file;
	char	   *buffer;
	size_t		max;			/* size of buffer */
	uint64		offset;			/* in the file, of the buffer's first byte */
	size_t		filled;			/* bytes in buffer */
	size_t		at;				/* next one to read */
} SpillReader;

extern void spillfile_create(SpillFile *file);
extern void spillfile_create_in(SpillFile *file, FileSet *set,
								const char *name);
extern void spillfile_export(SpillFile *file);
extern void spillfile_open(SpillFile *file, FileSet *set, const char *name,
						   uint64 size);
extern void spillfile_add(SpillFile *whole, const SpillFile *file,
						  uint64 offset, uint64 bytes);
extern size_t spillfile_piece(const SpillFile *whole, uint64 offset);
extern void spillfile_close(SpillFile *file);
extern void spillfile_delete(FileSet *set, const char *name);
extern void spillfile_write(SpillFile *file, const void *data, size_t len);
extern void spillfile_to_end(SpillFile *file);
extern void spillfile_append(SpillFile *file, const void *block);
extern void spillfile_read(SpillFile *file, uint64 offset, void *data,
						   size_t len);
extern void spillreader_create(SpillReader *reader, SpillFile *file,
							   size_t buffer);
extern void spillreader_seek(SpillReader *reader, uint64 offset);
extern void spillreader_turn(SpillReader *reader, SpillFile *file);
extern uint64 spillreader_tell(const SpillReader *reader);
extern bool spillreader_at_end(const SpillReader *reader);
extern bool spillreader_next_is(SpillReader *reader, const void *data, size_t len);
extern void spillreader_read(SpillReader *reader, void *data, size_t len);

#endif							/* NEARDUP_SPILLFILE_H */
