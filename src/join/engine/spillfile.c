/*
 * spillfile.c
 *		Temporary files that are written once and read from anywhere.
 *
 * A BufFile has one position and one buffer of a page.  The join reads a file
 * of rows in several places in turn: each place has a reader with a buffer of
 * its own, which goes to the BufFile only to fill it.
 *
 * What several processes have written piece by piece can be put together and read like one
 * file.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/join/engine/spillfile.c
 */
#include "postgres.h"

#include <fcntl.h>

#include "commands/tablespace.h"
#include "miscadmin.h"

#include "base/growing.h"
#include "join/engine/spillfile.h"

/* What is written before it is seen whether the query has been cancelled. */
#define MAX_AT_ONCE	((size_t) 1024 * 1024)

static void
spillfile_failed(void)
{
	ereport(ERROR,
			(errcode_for_file_access(),
			 errmsg("could not read temporary file of a similarity join")));
}

void
spillfile_create(SpillFile *file)
{
	PrepareTempTablespaces();
	memset(file, 0, sizeof(SpillFile));
	file->file = BufFileCreateTemp(false);
}

/* A file that other processes can open once this one has exported it. */
void
spillfile_create_in(SpillFile *file, FileSet *set, const char *name)
{
	memset(file, 0, sizeof(SpillFile));
	file->file = BufFileCreateFileSet(set, name);
}

void
spillfile_export(SpillFile *file)
{
	BufFileExportFileSet(file->file);
}

/* Such a file, which has that size, to read. */
void
spillfile_open(SpillFile *file, FileSet *set, const char *name, uint64 size)
{
	memset(file, 0, sizeof(SpillFile));
	file->file = BufFileOpenFileSet(set, name, O_RDONLY, false);
	file->size = size;
}

/*
 * Appends a piece of a file, which has to stay open, to a whole; the first one to one that is
 * all zero.  In the current memory context.
 */
void
spillfile_add(SpillFile *whole, const SpillFile *file, uint64 offset, uint64 bytes)
{
	whole->pieces = growing_reserve(whole->pieces, &whole->max_pieces,
									whole->npieces + 1, sizeof(SpillPiece));
	whole->pieces[whole->npieces++] = (SpillPiece) {file->file, offset, whole->size};
	whole->size += bytes;
}

/* Deletes such a file, which this process has closed. */
void
spillfile_delete(FileSet *set, const char *name)
{
	BufFileDeleteFileSet(set, name, false);
}

void
spillfile_close(SpillFile *file)
{
	if (file->file != NULL)
		BufFileClose(file->file);
	file->file = NULL;
}

/* Appends len bytes to a file that has not been read yet. */
void
spillfile_write(SpillFile *file, const void *data, size_t len)
{
	/* the parameter of BufFileWrite is not const before version 16 */
	char	   *from = unconstify(void *, data);

	/* a set may have a gigabyte */
	while (len > 0)
	{
		size_t		n = Min(len, MAX_AT_ONCE);

		CHECK_FOR_INTERRUPTS();
		BufFileWrite(file->file, from, n);
		file->size += n;
		from += n;
		len -= n;
	}
}

/* The file is read or written from that place on. */
static void
seek_to(BufFile *file, uint64 offset)
{
	if (BufFileSeekBlock(file, offset / BLCKSZ) != 0 ||
		BufFileSeek(file, 0, offset % BLCKSZ, SEEK_CUR) != 0)
		spillfile_failed();
}

/* A file has been read: more is to be appended. */
void
spillfile_to_end(SpillFile *file)
{
	seek_to(file->file, file->size);
}

/* Appends a block to a file of whole blocks, which may have been read. */
void
spillfile_append(SpillFile *file, const void *block)
{
	if (BufFileSeekBlock(file->file, file->size / BLCKSZ) != 0)
		spillfile_failed();
	spillfile_write(file, block, BLCKSZ);
}

static void
read_from(BufFile *file, uint64 offset, void *data, size_t len)
{
	CHECK_FOR_INTERRUPTS();
	seek_to(file, offset);
	if (BufFileRead(file, data, len) != len)
		spillfile_failed();
}

/* The number of the piece in which a byte of a whole is. */
size_t
spillfile_piece(const SpillFile *whole, uint64 offset)
{
	size_t		low = 0;
	size_t		high = whole->npieces;

	/* empty pieces begin where the next one does, which is behind them */
	while (high - low > 1)
	{
		size_t		middle = low + (high - low) / 2;

		if (whole->pieces[middle].start <= offset)
			low = middle;
		else
			high = middle;
	}
	return low;
}

static void
read_pieces(SpillFile *whole, uint64 offset, char *data, size_t len)
{
	for (size_t i = spillfile_piece(whole, offset); len > 0; i++)
	{
		const SpillPiece *piece = &whole->pieces[i];
		uint64		end = i + 1 < whole->npieces ? piece[1].start : whole->size;
		size_t		n = Min(len, end - offset);

		read_from(piece->file, piece->offset + (offset - piece->start), data, n);
		offset += n;
		data += n;
		len -= n;
	}
}

/* Reads len bytes, which must be there. */
void
spillfile_read(SpillFile *file, uint64 offset, void *data, size_t len)
{
	if (file->pieces == NULL)
		read_from(file->file, offset, data, len);
	else
		read_pieces(file, offset, data, len);
}

/* A reader at the file's begin, with a buffer of that many bytes. */
void
spillreader_create(SpillReader *reader, SpillFile *file, size_t buffer)
{
	reader->buffer = palloc(buffer);
	reader->max = buffer;
	spillreader_turn(reader, file);
}

/* Goes to the begin of another file. */
void
spillreader_turn(SpillReader *reader, SpillFile *file)
{
	reader->file = file;
	reader->offset = 0;
	reader->filled = reader->at = 0;
}

uint64
spillreader_tell(const SpillReader *reader)
{
	return reader->offset + reader->at;
}

bool
spillreader_at_end(const SpillReader *reader)
{
	return spillreader_tell(reader) >= reader->file->size;
}

void
spillreader_seek(SpillReader *reader, uint64 offset)
{
	if (offset >= reader->offset &&
		offset <= reader->offset + reader->filled)
		reader->at = offset - reader->offset;
	else
	{
		reader->offset = offset;
		reader->filled = reader->at = 0;
	}
}

/* Fills the buffer from the place where it ends. */
static void
spillreader_fill(SpillReader *reader)
{
	uint64		offset = reader->offset + reader->filled;
	size_t		want = Min(reader->max, reader->file->size - offset);

	spillfile_read(reader->file, offset, reader->buffer, want);
	reader->offset = offset;
	reader->filled = want;
	reader->at = 0;
}

static void
require(const SpillReader *reader, size_t len)
{
	if (spillreader_tell(reader) + len > reader->file->size)
		elog(ERROR, "read beyond the end of a temporary file");
}

/* True if the next len bytes, which must be there, are these; they are to be read again. */
bool
spillreader_next_is(SpillReader *reader, const void *data, size_t len)
{
	uint64		begin = spillreader_tell(reader);
	const char *with = data;
	bool		same = true;

	require(reader, len);
	while (len > 0 && same)
	{
		size_t		n = Min(len, reader->filled - reader->at);

		same = memcmp(with, reader->buffer + reader->at, n) == 0;
		reader->at += n;
		with += n;
		len -= n;
		if (len > 0 && same)
			spillreader_fill(reader);
	}
	spillreader_seek(reader, begin);
	return same;
}

/* Reads len bytes, which must be there. */
void
spillreader_read(SpillReader *reader, void *data, size_t len)
{
	char	   *to = data;

	require(reader, len);
	while (len > 0)
	{
		size_t		n = Min(len, reader->filled - reader->at);

		memcpy(to, reader->buffer + reader->at, n);
		reader->at += n;
		to += n;
		len -= n;
		if (len > 0)
			spillreader_fill(reader);
	}
}
