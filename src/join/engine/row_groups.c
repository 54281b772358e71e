/*
 * row_groups.c
 *		The rows of a group, in memory or in a file.
 *
 * The rows that carry one set are a list in memory.  When sets have gone to
 * disk, a group's rows lie side by side in a file; a small group is loaded
 * when it is wanted, one that is too large for that is a list of a single
 * element that tells where in the file the rows are.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/join/engine/row_groups.c
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "join/engine/setjoin.h"

/* A row in front of `next`, in the arena, with a copy of its data. */
Row *
row_make(Arena *arena, Row *next, const void *data, uint32 rowno, uint32 len)
{
	Row		   *row = arena_alloc(arena, offsetof(Row, data) + len);

	row->next = next;
	row->rowno = rowno;
	row->len = len;
	memcpy(row->data, data, len);
	return row;
}

/* The same where rows are shared: `next` and the result are links. */
Row *
row_make_shared(Arena *arena, Row *next, const void *data, uint32 rowno,
				uint32 len)
{
	SharedPointer pointer;
	Row		   *row = arena_alloc_shared(arena, offsetof(Row, data) + len,
										 &pointer);

	row->next = next;
	row->rowno = rowno;
	row->len = len;
	memcpy(row->data, data, len);
	return row_link(pointer);
}

/* The row that stands for a range of the file; NULL if the range is empty. */
Row *
rows_in_file(Arena *arena, const RowRange *range)
{
	Row		   *row;

	if (range->nrows == 0)
		return NULL;
	row = row_make(arena, NULL, range, 0, sizeof(RowRange));
	row->len = ROWS_IN_FILE;
	return row;
}

/* The range that such a row stands for, or an empty one. */
void
row_range(const Row *row, RowRange *range)
{
	Assert(row == NULL || row->len == ROWS_IN_FILE);
	if (row == NULL)
		memset(range, 0, sizeof(RowRange));
	else
		memcpy(range, row->data, sizeof(RowRange));
}

/* Bytes of a row as it lies in a file. */
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

/* Makes a row as it lies in a file, at a place of file_row_bytes(). */
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

/* Reads one row; it belongs to the reader and lasts until the next call. */
const void *
row_read(RowReader *reader, uint32 *rowno, uint32 *len)
{
	FileRow		head;

	spillreader_read(&reader->reader, &head, sizeof(head));
	if (head.len > reader->max)
	{
		pfree(reader->row);
		reader->max = head.len;
		reader->row = MemoryContextAllocHuge(GetMemoryChunkContext(reader->reader.buffer),
											 reader->max);
	}
	spillreader_read(&reader->reader, reader->row, head.len);
	*rowno = head.rowno;
	*len = head.len;
	return reader->row;
}

/* See engine.h */
void
rows_begin(SetJoin *join, JoinSide side, RowGroup group, RowCursor *cursor)
{
	cursor->next = group;
	cursor->areas = join->pool.areas;
	cursor->left = 0;
	cursor->reader = NULL;
	if (group != NULL && group->len == ROWS_IN_FILE)
	{
		RowRange	range;

		memcpy(&range, group->data, sizeof(RowRange));
		cursor->next = NULL;
		cursor->left = range.nrows;
		cursor->reader = &join->cursors[side];
		spillreader_seek(&cursor->reader->reader, range.offset);
	}
}

/* See engine.h */
bool
rows_begin_behind(const RowCursor *row, RowCursor *cursor)
{
	*cursor = *row;
	return row->reader == NULL;
}

/* The next row of a cursor that has none in memory. */
static pg_noinline const void *
next_in_file(RowCursor *cursor, uint32 *rowno)
{
	uint32		len;

	if (cursor->left == 0)
		return NULL;
	cursor->left--;
	return row_read(cursor->reader, rowno, &len);
}

/*
 * See engine.h.  Rows of equal sets are far from each other in memory: the one
 * after this is fetched while the caller is busy with this one.
 */
const void *
rows_next(RowCursor *cursor, uint32 *rowno)
{
	const Row  *row = cursor->next;

	if (row == NULL)
		return next_in_file(cursor, rowno);
	cursor->next = cursor->areas == NULL || row->next == NULL ? row->next :
		shared_at(cursor->areas, (SharedPointer) (uintptr_t) row->next);
	__builtin_prefetch(cursor->next);
	*rowno = row->rowno;
	return row->data;
}

/* See engine.h */
void
setjoin_rows(SetJoin *join, JoinSide side)
{
	if (join->spill != NULL)
		spillreader_seek(&join->cursors[side].reader, 0);
	join->next_row[side] = join->empty[side];
	join->next_set[side] = 0;
}

/* See engine.h */
const void *
setjoin_rows_next(SetJoin *join, JoinSide side, uint32 *rowno)
{
	const Row **row = &join->next_row[side];
	const Row  *found;
	uint32		len;

	if (join->spill != NULL)
	{
		RowReader  *reader = &join->cursors[side];

		if (spillreader_at_end(&reader->reader))
			return NULL;
		return row_read(reader, rowno, &len);
	}
	while (*row == NULL && join->next_set[side] < join->search.nsets)
	{
		CHECK_FOR_INTERRUPTS();
		*row = join->search.sets[join->next_set[side]++].rows[side];
	}
	found = *row;
	if (found == NULL)
		return NULL;
	*row = row_at(join->pool.areas, found->next);
	*rowno = found->rowno;
	return found->data;
}
