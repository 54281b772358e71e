/*
 * ordered_query.h
 *		The rows of a query that a user gives as a text, in a total order.
 */
#ifndef NEARDUP_ORDERED_QUERY_H
#define NEARDUP_ORDERED_QUERY_H

#include "nodes/execnodes.h"

#include "groups/row_taker.h"

/*
 * Runs a query that only reads, as the statement sees the tables that this is
 * part of.  Its rows come in the order of its ORDER BY and, where that does not
 * decide, in the order of its first `columns` columns.  Raises an error if it
 * is no such query.
 */
extern void ordered_query_run(const char *text, int columns, RowTaker *taker);

/* A column of a query, as another type. */
typedef struct TypedColumn
{
	AttrNumber	attno;
	ExprState  *cast;			/* NULL: it is of that type */
	ExprState  *unchanged;		/* tells whether the cast has left the value as it
								 * was; NULL: it does, or may change it */
	ExprContext *context;		/* of these */
	Oid			type;			/* that it is read as */
	AttrNumber	number;			/* in the query, for errors, */
	const char *what;			/* what it holds, */
	const char *hint;			/* and their hint */
} TypedColumn;

/*
 * Makes ready to read a column of the query, whose columns begin behind others,
 * as that type; raises DATATYPE_MISMATCH, with
 * the hint, if it cannot be assigned to it, and INVALID_COLUMN_DEFINITION if
 * there is no such column; `what` says what it holds.  exact: no value may become
 * another one.
 */
extern TypedColumn typed_column(TupleDesc desc, int before, AttrNumber attno,
								Oid type, bool exact, const char *what, const char *hint);

/*
 * Its value, in the current memory context; raises DATATYPE_MISMATCH, with the hint, if it
 * is another one as that type, as 1.5 is as a bigint: rows would be taken for each other.
 */
extern Datum typed_value(const TypedColumn *column, TupleTableSlot *slot,
						 bool *isnull);

#endif							/* NEARDUP_ORDERED_QUERY_H */
