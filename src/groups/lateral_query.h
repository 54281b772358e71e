/*
 * lateral_query.h
 *		A query with parameters, run once for many rows of their values.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/groups/lateral_query.h
 */
#ifndef NEARDUP_LATERAL_QUERY_H
#define NEARDUP_LATERAL_QUERY_H

#include "utils/tuplestore.h"

#include "groups/source_table.h"
#include "groups/row_taker.h"

/*
 * A descriptor of rows of values: their number, of type int8, and the values of
 * the parameters $1 to $n, whose types are to be filled in.
 */
extern TupleDesc lateral_query_desc(int n);

/*
 * Raises an error, with the hint, if the text is no query that only reads and
 * that has these parameters.  Returns a descriptor of its rows, and the source of their
 * second column, whose table is invalid if there is none.
 */
extern TupleDesc lateral_query_check(const char *text, TupleDesc desc,
									 const char *hint, SourceTable *source);

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

/*
 * Of the rows whose second column has a source, which it still must have, only gives
 * those that stand there where a further column of the store says: the descriptor has
 * been extended by that.  The plan is one for few rows.
 */
extern TupleDesc lateral_query_desc_placed(TupleDesc desc);
extern void lateral_query_run_placed(const char *text, TupleDesc desc,
									 Tuplestorestate *store, RowTaker *taker);

/*
 * The query of what lateral_query_run_placed() gives, without a store: the places are an
 * array, the last of as many parameters as the store would have columns but for the
 * first.  In the place of a number stands 0.  NULL if the values are needed for anything
 * else than to be near to the second column.
 */
extern Query *lateral_query_at_places(const char *text, TupleDesc desc);

#endif							/* NEARDUP_LATERAL_QUERY_H */
