/*
 * rows.c
 *		Rows of sets in memory, and the temporary files of a join.
 */
#include "postgres.h"

#include <fcntl.h>

#include "commands/tablespace.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "base/memory.h"
#include "join/engine/rows.h"

/*
 * Temporary files of a join that are written once and read from anywhere
 *
 * A BufFile has one position and a buffer of one block.  A join reads several
 * ranges of a file in turn: each reader has a buffer of its own and goes to
 * the BufFile only to fill it.
 */

/* Bytes that are written between two checks for interrupts. */
#define WRITE_CHUNK	((size_t) 1024 * 1024)

/* The name of the part of a file that one process writes. */
static void
part_name(char *full, const SpillFile *file, int part)
{
	snprintf(full, MAXPGPATH, "similarity_join_%s_%d", file->name, part);
}

void
spillfile_create(SpillFile *file, const SpillStore *store, const char *name)
{
	char		full[MAXPGPATH];

	memset(file, 0, sizeof(SpillFile));
	file->store = *store;
	file->name = name;
	if (store->files == NULL)
	{
		PrepareTempTablespaces();
		file->own = BufFileCreateTemp(false);
	}
	else
	{
		part_name(full, file, store->part);
		file->own = BufFileCreateFileSet(store->files, full);
	}
}

/* Go to an offset of a file, of whatever size. */
static void
seek_to(BufFile *file, uint64 offset)
{
	if (BufFileSeekBlock(file, offset / BLCKSZ) != 0 ||
		BufFileSeek(file, 0, offset % BLCKSZ, SEEK_CUR) != 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not seek in temporary file of a similarity join")));
}

void
spillfile_write(SpillFile *file, const void *data, size_t len)
{
	/* the parameter of BufFileWrite is not const before version 16 */
	char	   *from = unconstify(void *, data);

	Assert(file->own != NULL && file->pieces == NULL);
	if (file->moved)
		seek_to(file->own, file->size);
	file->moved = false;
	/* a set may have a gigabyte */
	while (len > 0)
	{
		size_t		n = Min(len, WRITE_CHUNK);

		CHECK_FOR_INTERRUPTS();
		BufFileWrite(file->own, from, n);
		file->size += n;
		from += n;
		len -= n;
	}
}

SpillPiece
spillfile_begin_piece(const SpillFile *file)
{
	SpillPiece	piece = {.part = file->store.part,.offset = file->size};

	return piece;
}

void
spillfile_end_piece(const SpillFile *file, SpillPiece *piece)
{
	piece->bytes = file->size - piece->offset;
}

uint64
spillfile_publish(SpillFile *file)
{
	uint64		size = file->size;

	Assert(file->own != NULL && file->pieces == NULL);
	if (file->store.files != NULL)
	{
		BufFileExportFileSet(file->own);
		BufFileClose(file->own);
		file->own = NULL;
	}
	file->size = 0;
	return size;
}

/* The file that a process has published, opened if it is not. */
static BufFile *
published_part(SpillFile *whole, int part)
{
	char		full[MAXPGPATH];

	if (whole->parts == NULL)
		whole->parts = palloc0(sizeof(BufFile *) * whole->store.nparts);
	if (whole->parts[part] != NULL)
		return whole->parts[part];
	if (whole->store.files == NULL)
	{
		whole->parts[part] = whole->own;
		whole->own = NULL;
	}
	else
	{
		part_name(full, whole, part);
		whole->parts[part] = BufFileOpenFileSet(whole->store.files, full,
												O_RDONLY, false);
	}
	return whole->parts[part];
}

void
spillfile_add_piece(SpillFile *whole, const SpillPiece *piece)
{
	(void) published_part(whole, piece->part);
	whole->pieces = growing_reserve(whole->pieces, &whole->max_pieces,
									whole->npieces + 1, sizeof(SpillPiece));
	whole->pieces[whole->npieces] = *piece;
	whole->pieces[whole->npieces++].start = whole->size;
	whole->size += piece->bytes;
}

/* Close what this process has opened of a file. */
void
spillfile_close(SpillFile *file)
{
	if (file->own != NULL)
		BufFileClose(file->own);
	for (int i = 0; file->parts != NULL && i < file->store.nparts; i++)
		if (file->parts[i] != NULL)
			BufFileClose(file->parts[i]);
	memset(file, 0, sizeof(SpillFile));
}

/* Read len bytes, which must be there, at an offset of a file. */
static void
read_from(BufFile *file, uint64 offset, void *data, size_t len)
{
	CHECK_FOR_INTERRUPTS();
	seek_to(file, offset);
	if (BufFileRead(file, data, len) != len)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not read temporary file of a similarity join")));
}

size_t
spillfile_piece(const SpillFile *whole, uint64 offset)
{
	size_t		low = 0;
	size_t		high = whole->npieces;

	/* of pieces that begin at the same offset, all but the last are empty */
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

void
spillfile_read(SpillFile *file, uint64 offset, void *data, size_t len)
{
	char	   *to = data;

	Assert(offset + len <= file->size);
	if (file->pieces == NULL)
	{
		file->moved = true;
		read_from(file->own, offset, data, len);
		return;
	}
	for (size_t i = spillfile_piece(file, offset); len > 0; i++)
	{
		const SpillPiece *piece = &file->pieces[i];
		uint64		begin = offset - piece->start;
		size_t		n = Min(len, piece->bytes - begin);

		read_from(file->parts[piece->part], piece->offset + begin, to, n);
		offset += n;
		to += n;
		len -= n;
	}
}

void
spillreader_create(SpillReader *reader, SpillFile *file, size_t buffer)
{
	memset(reader, 0, sizeof(SpillReader));
	reader->file = file;
	reader->buffer = palloc(buffer);
	reader->max = buffer;
}

void
spillreader_seek(SpillReader *reader, uint64 offset)
{
	if (offset >= reader->offset && offset <= reader->offset + reader->filled)
		reader->at = offset - reader->offset;
	else
	{
		reader->offset = offset;
		reader->filled = reader->at = 0;
	}
}

/* Move what is unread to the beginning of the buffer, and fill the rest. */
static void
read_on(SpillReader *reader)
{
	size_t		unread = reader->filled - reader->at;
	size_t		n;

	memmove(reader->buffer, reader->buffer + reader->at, unread);
	reader->offset += reader->at;
	reader->at = 0;
	reader->filled = unread;
	n = Min(reader->max - unread,
			reader->file->size - reader->offset - unread);
	spillfile_read(reader->file, reader->offset + unread,
				   reader->buffer + unread, n);
	reader->filled += n;
}

/*
 * Make sure that at least one unread byte is in the buffer; return how many
 * are.
 */
static size_t
fill_buffer(SpillReader *reader)
{
	if (reader->at == reader->filled)
		read_on(reader);
	return reader->filled - reader->at;
}

/*
 * Read len bytes, or compare them with those expected; false if they differ.
 */
static bool
take_bytes(SpillReader *reader, char *to, const char *expected, size_t len)
{
	Assert((to == NULL) != (expected == NULL));
	if (spillreader_tell(reader) + len > reader->file->size)
		elog(ERROR, "read beyond the end of a temporary file");
	while (len > 0)
	{
		size_t		n = Min(len, fill_buffer(reader));
		const char *from = reader->buffer + reader->at;

		if (to != NULL)
		{
			memcpy(to, from, n);
			to += n;
		}
		else if (memcmp(expected, from, n) == 0)
			expected += n;
		else
			return false;
		reader->at += n;
		len -= n;
	}
	return true;
}

void
spillreader_read(SpillReader *reader, void *data, size_t len)
{
	(void) take_bytes(reader, data, NULL, len);
}

bool
spillreader_read_on(SpillReader *reader, size_t len)
{
	if (spillreader_tell(reader) + len > reader->file->size)
		elog(ERROR, "read beyond the end of a temporary file");
	if (len > reader->max)
		return false;
	read_on(reader);
	return true;
}

void
spillreader_copy(SpillReader *reader, SpillFile *to, size_t len)
{
	Assert(spillreader_tell(reader) + len <= reader->file->size);
	while (len > 0)
	{
		size_t		n = Min(len, fill_buffer(reader));

		spillfile_write(to, reader->buffer + reader->at, n);
		reader->at += n;
		len -= n;
	}
}

bool
spillreader_next_is(SpillReader *reader, const void *data, size_t len)
{
	uint64		begin = spillreader_tell(reader);
	bool		same = take_bytes(reader, NULL, data, len);

	spillreader_seek(reader, begin);
	return same;
}

/*
 * The rows of a set, in memory or in a file
 *
 * In memory the rows of a set are a list.  Rows of a set on disk are
 * contiguous in a file. Small groups are loaded on demand; a large group is
 * one element with its range in the file.
 */

RowLink
row_make(Arena *arena, RowLink next, const void *data, uint32 rowno,
		 uint32 len)
{
	SharedPointer pointer;
	Row		   *row = arena_alloc_shared(arena, offsetof(Row, data) + len,
										 &pointer);

	row->next = next;
	row->rowno = rowno;
	row->len = len;
	memcpy(row->data, data, len);
	return arena->areas == NULL ? row_link(row) : row_shared_link(pointer);
}

RowLink
rows_of_range(RowReader *reader, Arena *arena, const RowsInFile *range,
			  size_t max_bytes)
{
	RowLink		first = NO_ROW;
	RowLink    *last = &first;

	Assert(arena->areas == NULL);
	if (range->nrows > 0 && range->bytes > max_bytes)
	{
		first = row_make(arena, NO_ROW, range, 0, sizeof(RowsInFile));
		row_address(first)->len = ROWS_IN_FILE;
		return first;
	}
	spillreader_seek(&reader->reader, range->offset);
	for (uint64 i = 0; i < range->nrows; i++)
	{
		uint32		rowno;
		uint32		len;
		const void *data = row_read(reader, &rowno, &len);

		CHECK_FOR_INTERRUPTS();
		*last = row_make(arena, NO_ROW, data, rowno, len);
		last = &row_address(*last)->next;
	}
	return first;
}

/* Create a reader of rows at the beginning of the file. */
void
row_reader_create(RowReader *reader, SpillFile *file, size_t buffer)
{
	spillreader_create(&reader->reader, file, buffer);
	reader->max = 1024;
	reader->row = palloc(reader->max);
}

const void *
row_read(RowReader *reader, uint32 *rowno, uint32 *len)
{
	FileRow		head = {0};

	spillreader_read(&reader->reader, &head, sizeof(head));
	reader->row = growing_reserve(reader->row, &reader->max, head.len, 1);
	spillreader_read(&reader->reader, reader->row, head.len);
	*rowno = head.rowno;
	*len = head.len;
	return reader->row;
}
