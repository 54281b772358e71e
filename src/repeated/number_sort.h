/*
 * number_sort.h
 *		Sorts rows of numbers, within a limit of memory.
 */
#ifndef NEARDUP_NUMBER_SORT_H
#define NEARDUP_NUMBER_SORT_H

#include "executor/tuptable.h"
#include "utils/tuplesort.h"

/* A sort of rows of bigints */
typedef struct NumberSort
{
	Tuplesortstate *state;
	TupleTableSlot *in;			/* row that is put */
	TupleTableSlot *out;		/* row that is got */
} NumberSort;

/*
 * Begin to sort rows of n bigints by the first one.  Rows beyond `memory`
 * bytes go to a temporary file.
 */
extern void number_sort_begin(NumberSort *sort, int n, size_t memory);

/* Put a row. */
extern void number_sort_put(NumberSort *sort, const int64 *numbers);

/* Sort all rows that were put. */
extern void number_sort_perform(NumberSort *sort);

/* Get the next row in order; false if there is none. */
extern bool number_sort_get(NumberSort *sort, int64 *numbers);

/* Free the sort. */
extern void number_sort_end(NumberSort *sort);

#endif							/* NEARDUP_NUMBER_SORT_H */
