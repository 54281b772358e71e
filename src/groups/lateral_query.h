/*
 * lateral_query.h
 *		A query with parameters, run once for many rows of their values.
 */
#ifndef NEARDUP_LATERAL_QUERY_H
#define NEARDUP_LATERAL_QUERY_H

#include "utils/tuplestore.h"

#include "groups/row_taker.h"

/*
 * A descriptor of rows of values: their number, of type int8, and the values of
 * the parameters $1 to $n, whose types are to be filled in.
 */
extern TupleDesc lateral_query_desc(int n);

/*
 * Raises an error, with the hint, if the text is no query that only reads and
 * that has these parameters.  Returns a descriptor of its rows.
 */
extern TupleDesc lateral_query_check(const char *text, TupleDesc desc,
									 const char *hint);

/*
 * Gives the rows of the query, for each row of the store, to the taker: the
 * number of the store's row, then the columns of the query.
 */
extern void lateral_query_run(const char *text, TupleDesc desc,
							  Tuplestorestate *store, RowTaker *taker);

/*
 * Of the rows whose second column is equal to $1, both being signatures, gives only
 * one.  The schema is that of the extension.
 */
extern void lateral_query_run_equal(const char *text, Oid schema, TupleDesc desc,
									Tuplestorestate *store, RowTaker *taker);

#endif							/* NEARDUP_LATERAL_QUERY_H */
