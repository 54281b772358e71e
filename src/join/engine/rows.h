/*
 * rows.h
 *		The rows of a set, in memory or in a file.
 */
#ifndef NEARDUP_ROWS_H
#define NEARDUP_ROWS_H

#include "join/engine/arena.h"
#include "join/engine/spill_file.h"

/*
 * Rows are linked lists.  A link is an address; or, where rows are shared by several
 * processes, a SharedPointer, which is not longer.
 */
typedef struct Row
{
	struct Row *next;			/* link to another row of the same set and side */
	uint32		rowno;			/* on its side */
	uint32		len;			/* of data, or ROWS_IN_FILE */
	char		data[FLEXIBLE_ARRAY_MEMBER];
} Row;

/* A Row that stands for all rows of a set in its side's file: data is a RowRange. */
#define ROWS_IN_FILE	UINT32_MAX

typedef struct RowRange
{
	uint64		offset;			/* in the side's file */
	uint64		bytes;
	uint64		nrows;
	uint64		first;			/* least number of a row */
} RowRange;

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
	char	   *row;			/* that was read last */
	uint32		max;			/* allocated */
} RowReader;

/* A SharedPointer as a link. */
static inline Row *
row_link(SharedPointer pointer)
{
	Assert(CAN_SHARE_ROWS || !SharedPointerIsValid(pointer));
	return (Row *) (uintptr_t) pointer;
}

/* The row that a link leads to; NULL at the end. */
static inline Row *
row_at(SharedAreas *areas, const Row *link)
{
	return areas == NULL ? unconstify(Row *, link) :
		shared_at(areas, (SharedPointer) (uintptr_t) link);
}

/*
 * Prefetches lists of rows that are read soon.  Only from one row it is known where the
 * next one is, so of each of the last lists one more row is fetched whenever a list is
 * added.
 */
#define LISTS_AHEAD	12

typedef struct RowsAhead
{
	const Row  *fetched[LISTS_AHEAD];	/* last one of each list; NULL: all are */
	uint32		next;			/* place of the oldest list */
} RowsAhead;

static inline void
rows_ahead_add(RowsAhead *ahead, SharedAreas *areas, const Row *list)
{
	for (int i = 0; i < LISTS_AHEAD; i++)
	{
		if (ahead->fetched[i] == NULL)
			continue;
		ahead->fetched[i] = row_at(areas, ahead->fetched[i]->next);
		__builtin_prefetch(ahead->fetched[i]);
	}
	__builtin_prefetch(list);
	ahead->fetched[ahead->next] = list;
	ahead->next = (ahead->next + 1) % LISTS_AHEAD;
}

/* Make a row before `next`, with a copy of its data; returns the link. */
extern Row *row_make(Arena *arena, Row *next, const void *data, uint32 rowno, uint32 len);

/* The rows of a range of a file: a list if they have at most that many bytes. */
extern Row *rows_of_range(RowReader *reader, Arena *arena, const RowRange *range,
						  size_t max_bytes);

/* Bytes of a row in a file; and the row, at a place of as many. */
extern uint32 file_row_bytes(uint32 len);
extern void file_row_make(char *place, const void *row, uint32 rowno, uint32 len);

extern void row_reader_create(RowReader *reader, SpillFile *file, size_t buffer);

/* Read the next row; it is valid until the next call. */
extern const void *row_read(RowReader *reader, uint32 *rowno, uint32 *len);

#endif							/* NEARDUP_ROWS_H */
