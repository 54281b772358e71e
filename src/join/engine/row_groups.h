/*
 * row_groups.h
 *		The rows of a group, in memory or in a file.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/join/engine/row_groups.h
 */
#ifndef NEARDUP_ROW_GROUPS_H
#define NEARDUP_ROW_GROUPS_H

#include "join/engine/arena.h"
#include "join/engine/spillfile.h"

/*
 * Where rows are shared with other processes, links are SharedPointers, which are
 * not longer than addresses: row_link() makes one, row_at() looks where it is.
 */
typedef struct Row
{
	struct Row *next;			/* of the same set and side */
	uint32		rowno;			/* on its side */
	uint32		len;			/* of data, or ROWS_IN_FILE */
	char		data[FLEXIBLE_ARRAY_MEMBER];
} Row;

/* A Row that stands for rows in the side's file: data is a RowRange. */
#define ROWS_IN_FILE	UINT32_MAX

typedef struct RowRange
{
	uint64		offset;			/* in the side's file */
	uint64		bytes;
	uint64		nrows;
	uint64		first;			/* least number of a row */
} RowRange;

/* A row as it lies in a file: rowno, len, len bytes. */
typedef struct FileRow
{
	uint32		rowno;
	uint32		len;
} FileRow;

typedef struct RowReader
{
	SpillReader reader;
	char	   *row;			/* the row that was read last */
	uint32		max;			/* size of row */
} RowReader;

/* A SharedPointer in place of an address. */
static inline Row *
row_link(SharedPointer pointer)
{
	Assert(CAN_SHARE_ROWS || !SharedPointerIsValid(pointer));
	return (Row *) (uintptr_t) pointer;
}

/* The row that a link leads to; NULL if there is none. */
static inline Row *
row_at(SharedAreas *areas, const Row *link)
{
	return areas == NULL ? unconstify(Row *, link) :
		shared_at(areas, (SharedPointer) (uintptr_t) link);
}

/*
 * Lists of rows that will be wanted one after another.  The rows of a list are far from
 * each other in memory, and only from one is it known where the next one is.  So of each
 * of these lists one more row is fetched into the cache whenever a list is added.
 */
#define LISTS_AHEAD	12

typedef struct RowsAhead
{
	const Row  *fetched[LISTS_AHEAD];	/* last of each list; NULL: all are */
	uint32		next;			/* place of the list that has been there longest */
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

extern Row *row_make(Arena *arena, Row *next, const void *data, uint32 rowno,
					 uint32 len);
extern Row *row_make_shared(Arena *arena, Row *next, const void *data,
							uint32 rowno, uint32 len);
extern Row *rows_in_file(Arena *arena, const RowRange *range);
extern void row_range(const Row *row, RowRange *range);
extern uint32 file_row_bytes(uint32 len);
extern void file_row_make(char *place, const void *row, uint32 rowno,
						  uint32 len);
extern void row_reader_create(RowReader *reader, SpillFile *file,
							  size_t buffer);
extern const void *row_read(RowReader *reader, uint32 *rowno, uint32 *len);

#endif							/* NEARDUP_ROW_GROUPS_H */
