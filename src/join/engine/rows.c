/*
 * rows.c
 *		The rows of a set, in memory or in a file.
 *
 * In memory the rows of a set are a list.  Of sets on disk they are contiguous in a
 * file: a small group is loaded when it is needed, and a group that is too large for that
 * is a list of one element that tells where in the file the rows are.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "join/engine/rows.h"

Row *
row_make(Arena *arena, Row *next, const void *data, uint32 rowno, uint32 len)
{
	SharedPointer pointer;
	Row		   *row = arena_alloc_shared(arena, offsetof(Row, data) + len, &pointer);

	row->next = next;
	row->rowno = rowno;
	row->len = len;
	memcpy(row->data, data, len);
	return arena->pool == NULL ? row : row_link(pointer);
}

/* Read the rows of a range into a list. */
static Row *
load_rows(RowReader *reader, Arena *arena, const RowRange *range)
{
	Row		   *first = NULL;
	Row		  **last = &first;

	spillreader_seek(&reader->reader, range->offset);
	for (uint64 i = 0; i < range->nrows; i++)
	{
		uint32		rowno;
		uint32		len;
		const void *data = row_read(reader, &rowno, &len);

		CHECK_FOR_INTERRUPTS();
		*last = row_make(arena, NULL, data, rowno, len);
		last = &(*last)->next;
	}
	return first;
}

Row *
rows_of_range(RowReader *reader, Arena *arena, const RowRange *range, size_t max_bytes)
{
	Row		   *row;

	Assert(arena->pool == NULL);
	if (range->nrows == 0)
		return NULL;
	if (range->bytes <= max_bytes)
		return load_rows(reader, arena, range);
	row = row_make(arena, NULL, range, 0, sizeof(RowRange));
	row->len = ROWS_IN_FILE;
	return row;
}

uint32
file_row_bytes(uint32 len)
{
	size_t		bytes = sizeof(FileRow) + (size_t) len;

	if (bytes > MaxAllocSize - VARHDRSZ)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("row of a similarity join is too large"),
				 errdetail("It has %zu bytes.", bytes)));
	return bytes;
}

void
file_row_make(char *place, const void *row, uint32 rowno, uint32 len)
{
	FileRow		head = {rowno, len};

	memcpy(place, &head, sizeof(FileRow));
	memcpy(place + sizeof(FileRow), row, len);
}

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
	FileRow		head;

	spillreader_read(&reader->reader, &head, sizeof(head));
	if (head.len > reader->max)
	{
		MemoryContext context = GetMemoryChunkContext(reader->row);

		pfree(reader->row);
		reader->max = head.len;
		reader->row = MemoryContextAllocHuge(context, reader->max);
	}
	spillreader_read(&reader->reader, reader->row, head.len);
	*rowno = head.rowno;
	*len = head.len;
	return reader->row;
}
