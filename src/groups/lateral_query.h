/*
 * lateral_query.h
 *		A query with parameters, run once for many rows of their values.
 */
#ifndef NEARDUP_LATERAL_QUERY_H
#define NEARDUP_LATERAL_QUERY_H

#include "utils/tuplestore.h"

#include "groups/row_query.h"

typedef struct LateralQuery
{
	const char *text;
	Query	   *query;			/* behind the values */
	TupleDesc	values;			/* $1, $2 and so on, behind some columns: */
	int			before;
	TupleDesc	result;			/* of the query, without the values */
	QueryEnvironment *environment;
	EphemeralNamedRelation store;
} LateralQuery;

/*
 * Analyze a query whose parameters are the values behind the first `before` ones.
 * Raises an error, with the hint, if it is no query that only reads.
 */
extern void lateral_query_begin(LateralQuery *lateral, const char *text, TupleDesc values,
								int before, const char *hint);

/*
 * Run it, once, for each row of the store: gives to the reader the columns of the store's
 * row, then those of the query.
 */
extern void lateral_query_run(LateralQuery *lateral, Tuplestorestate *store,
							  RowReader *reader);

/*
 * Run it for rows only whose second column, a signature, is equal to $1, and for one of these at
 * most, if the plan looks them up in an index of access method neardup: then a look-up
 * costs a fraction of one for all near-duplicates.  Else do nothing.  The schema is that of the
 * extension.
 */
extern void lateral_query_run_equal(LateralQuery *lateral, Oid schema,
									Tuplestorestate *store, RowReader *reader);

#endif							/* NEARDUP_LATERAL_QUERY_H */
