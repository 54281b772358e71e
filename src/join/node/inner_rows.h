/*
 * inner_rows.h
 *		The inner rows of a pair of groups, side by side.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/join/node/inner_rows.h
 */
#ifndef NEARDUP_INNER_ROWS_H
#define NEARDUP_INNER_ROWS_H

#include "join/engine/engine.h"

struct JoinRow;

/* What is asked of an inner row before its columns are. */
typedef struct InnerRow
{
	const struct JoinRow *row;
	int64		value;			/* to be compared, see comparison.h */
	uint32		spec;			/* number of its spec */
} InnerRow;

typedef struct InnerRows
{
	InnerRow   *rows;			/* NULL as long as there were none */
	uint32		n;
	uint32		next;			/* from 0 */
	bool		tried;			/* to lay them side by side */
	bool		laid;			/* that was possible */
} InnerRows;

/*
 * Where an outer row goes through the inner ones up to its first partner: it begins with the
 * partner of the row before it, goes on behind that, and from the last one to the first.
 * If each began with the first one, a.id > b.id would take the square of the rows where
 * these stand in the wrong order, and nobody can tell which one that is.
 */
typedef struct InnerRound
{
	uint64		passed;			/* rows in front of where the cursor is */
	uint64		end;			/* from the first on, rows behind which it ends */
	bool		from_first;		/* it has come to these */
	bool		partner;		/* the last row given was a partner, and comes again */
} InnerRound;

/*
 * Lays the rows of a group side by side, in the order in which rows_next() gives them;
 * false if they are in a file, or too many.  `context` is where they are, as long as
 * it lasts, in less than 100 kB.
 */
extern bool inner_rows_lay(InnerRows *rows, MemoryContext context,
						   SetJoin *join, RowGroup group);

#endif							/* NEARDUP_INNER_ROWS_H */
