/*
 * checked_rows.h
 *		Rows as an index of access method neardup has them, and as they should
 *		be, in the order of their places.
 */
#ifndef NEARDUP_CHECKED_ROWS_H
#define NEARDUP_CHECKED_ROWS_H

#include "executor/tuptable.h"
#include "storage/itemptr.h"
#include "utils/tuplesort.h"

typedef struct CheckedRow
{
	ItemPointerData tid;
	uint32		size;
	uint32		nkeys;
	uint64		sum;			/* of the mixed keys, and of the rest */
} CheckedRow;

/* Rows that are put in any order, and taken in that of their places. */
typedef struct CheckedRows
{
	Tuplesortstate *sort;
	TupleTableSlot *in;
	TupleTableSlot *out;
} CheckedRows;

extern void checked_rows_begin(CheckedRows *rows, size_t memory);
extern void checked_rows_put(CheckedRows *rows, const CheckedRow *row);

/* After the last row was put. */
extern void checked_rows_sort(CheckedRows *rows);

/* The next one; false if there are no more. */
extern bool checked_rows_next(CheckedRows *rows, CheckedRow *row);
extern void checked_rows_end(CheckedRows *rows);

#endif							/* NEARDUP_CHECKED_ROWS_H */
