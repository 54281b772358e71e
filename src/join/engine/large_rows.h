/*
 * large_rows.h
 *		Rows of a join on disk that are too large for the runs of sets, sorted by
 *		their sets.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/join/engine/large_rows.h
 */
#ifndef NEARDUP_LARGE_ROWS_H
#define NEARDUP_LARGE_ROWS_H

#include "executor/tuptable.h"
#include "utils/tuplesort.h"

#include "join/engine/joined_set.h"

/* The rows of one side. */
typedef struct LargeRows
{
	Tuplesortstate *sort;		/* of records: high, low, data */
	TupleTableSlot *put;		/* a record that goes in */
	bytea	   *record;			/* its data */
	size_t		max_record;		/* bytes that fit there */

	TupleTableSlot *got;		/* a record that has come out */
	bool		valid;			/* there is one; the rest is set */
	SetKey		key;
	const char *data;			/* a row as it lies in a file, see row_groups.h */
	size_t		len;
} LargeRows;

/* No rows as yet, in the current memory context. */
extern void large_rows_create(LargeRows *rows, size_t bytes);

/* Adds a row of a set that has that key, or of none, which has the key zero. */
extern void large_rows_add(LargeRows *rows, SetKey key, const void *row,
						   uint32 rowno, uint32 len);

/* All are there: takes the first, in the order of keys. */
extern void large_rows_begin(LargeRows *rows);

/* Takes the next. */
extern void large_rows_next(LargeRows *rows);

/* Frees them, which may have been read or not.  Returns the bytes that were on disk. */
extern uint64 large_rows_free(LargeRows *rows);

#endif							/* NEARDUP_LARGE_ROWS_H */
