/*
 * inner_rows.c
 *		The inner rows of a pair of groups, side by side.
 *
 * Each outer row of a pair of groups meets each inner one.  These are a list, whose
 * rows are far from each other in memory: to go from one to the next takes longer
 * than all else that is done about most pairs.  So where there are several outer
 * rows, what is asked of an inner row first is laid side by side once.  What a set finds
 * comes as pairs with that set: its rows stay where they have been laid.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/join/node/inner_rows.c
 */
#include "postgres.h"

#include "join/node/join_node.h"

/* What a cache holds; where there are more, they stay where they are. */
#define MAX_ROWS	4096

/* See inner_rows.h */
bool
inner_rows_lay(InnerRows *rows, MemoryContext context, SetJoin *join,
			   RowGroup group)
{
	RowCursor	cursor;
	const JoinRow *row;
	uint32		rowno;

	rows_begin(join, SIDE_INNER, group, &cursor);
	if (cursor.reader != NULL)
		return false;
	if (rows->rows == NULL)
		rows->rows = MemoryContextAlloc(context, MAX_ROWS * sizeof(InnerRow));
	rows->n = 0;
	while ((row = rows_next(&cursor, &rowno)) != NULL)
	{
		InnerRow   *inner = &rows->rows[rows->n];

		if (rows->n == MAX_ROWS)
			return false;
		inner->row = row;
		inner->value = row->value;
		inner->spec = row_spec(row);
		rows->n++;
	}
	return true;
}
