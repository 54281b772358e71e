/*
 * number_sort.h
 *		Sorting of rows of numbers, within a limit of memory.
 */
#ifndef NEARDUP_NUMBER_SORT_H
#define NEARDUP_NUMBER_SORT_H

#include "executor/tuptable.h"
#include "utils/tuplesort.h"

typedef struct NumberSort
{
	Tuplesortstate *state;
	TupleTableSlot *in;			/* a row that is put */
	TupleTableSlot *out;		/* a row that is got */
} NumberSort;

/*
 * Begin to sort rows of n bigints by the first one or two of them, within that
 * many bytes of memory, and a temporary file beyond.
 */
extern void number_sort_begin(NumberSort *sort, int n, int nkeys,
							  size_t memory);

/*
 * Put a row; sort all rows; then get them in their order, until false is
 * returned.
 */
extern void number_sort_put(NumberSort *sort, const int64 *numbers);
extern void number_sort_perform(NumberSort *sort);
extern bool number_sort_get(NumberSort *sort, int64 *numbers);
extern void number_sort_end(NumberSort *sort);

#endif							/* NEARDUP_NUMBER_SORT_H */
