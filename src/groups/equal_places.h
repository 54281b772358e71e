/*
 * equal_places.h
 *		Values for a query, with places where it may find equal signatures.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/groups/equal_places.h
 */
#ifndef NEARDUP_EQUAL_PLACES_H
#define NEARDUP_EQUAL_PLACES_H

#include "nodes/params.h"
#include "utils/rel.h"
#include "utils/tuplestore.h"

#include "groups/asked_sets.h"
#include "groups/lateral_query.h"

typedef struct EqualPlaces
{
	Relation	table;
	Relation	index;			/* of access method neardup */
	AskedSets  *sets;
	uint32		next;			/* of these, whose places are to be looked for */
	PagedArray *rows;			/* uint32, by number: see below */
	struct EqualSet *found;		/* those that are at hand */
	size_t		room;			/* for so many */
	size_t		n;
	size_t		done;			/* of these, put into the store */
	TupleDesc	desc;			/* of what comes out */
	Tuplestorestate *store;		/* it */
	ParamListInfo params;		/* or, the last of them, if these are set */
} EqualPlaces;

/*
 * Makes ready for these sets, of which rows have that descriptor; false if the source has
 * no index that tells of equal ones.  For each set, how many rows may be equal will be in
 * `rows`.
 */
extern bool equal_places_begin(EqualPlaces *places, const SourceTable *source,
							   AskedSets *sets, TupleDesc desc, PagedArray *rows,
							   size_t memory);

/*
 * Before the first are put: from now on places only are wanted, see
 * lateral_query_at_places().  Or after them: they are wanted in the store all the same.
 */
extern void equal_places_as_param(EqualPlaces *places);
extern void equal_places_as_rows(EqualPlaces *places);

/*
 * Puts some of the next sets for which there is a place into the store, as
 * lateral_query_run_placed() takes them, sorted by that, in the place of those that
 * were there, or sets their places as a parameter; false if there are no more.
 */
extern bool equal_places_next(EqualPlaces *places);

extern void equal_places_end(EqualPlaces *places);

/* RowTaker.planned: true if rows are fetched by their places, and that costs little. */
extern bool equal_places_planned(RowTaker *taker, PlanState *plan);

#endif							/* NEARDUP_EQUAL_PLACES_H */
