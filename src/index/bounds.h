/*
 * bounds.h
 *		How near a row can be to a query, by what pages of an index tell of it.
 */
#ifndef NEARDUP_BOUNDS_H
#define NEARDUP_BOUNDS_H

#include "index/pass.h"

/* What a page tells of a row */
typedef struct RowTraits
{
	uint32		size;
	double		peak;			/* of a vector, see row.h */
	const uint64 *value;		/* of a sketch that is one, if it is known */
} RowTraits;

/* A measure of a row that has such an overlap with the query at the most. */
extern double bounds_value(const IndexQuery *query, Measure measure,
						   const RowTraits *row, uint64 overlap);

/* The same of the row of the best size: one that is a part of the query. */
extern double bounds_best(const IndexQuery *query, Measure measure,
						  uint64 overlap);

/*
 * The least overlap of a sketch that is wanted; one more than it has places if
 * there is none.
 */
extern uint64 bounds_sketch_overlap(const IndexQuery *query);

#endif							/* NEARDUP_BOUNDS_H */
