/*
 * row_query.h
 *		The rows of a query that a user gives as a text.
 */
#ifndef NEARDUP_ROW_QUERY_H
#define NEARDUP_ROW_QUERY_H

#include "executor/tuptable.h"
#include "nodes/execnodes.h"
#include "nodes/parsenodes.h"
#include "utils/queryenvironment.h"

/*
 * Callbacks for the rows.  begin gets the columns, in the memory context of the caller
 * of row_query_run(); row is called in a context that is reset after each row.
 */
typedef struct RowReader
{
	void		(*begin) (struct RowReader *reader, TupleDesc desc);
	void		(*row) (struct RowReader *reader, TupleTableSlot *slot);
} RowReader;

/*
 * Plan a query that only reads, and run it as the calling statement sees the tables.
 * The environment has its named stores, or is NULL.  If `wanted` is not NULL and false
 * of the plan, no row is read.
 */
extern void row_query_run(Query *query, const char *text, QueryEnvironment *environment,
						  bool (*wanted) (PlanState *plan, void *unused),
						  RowReader *reader);

/*
 * Run the query of that text.  Rows come in the order of its ORDER BY and, if by_first and
 * that leaves rows equal, in the order of its first column.  Raises an error if it is no
 * query that only reads.
 */
extern void ordered_query_run(const char *text, bool by_first, RowReader *reader);

/* Raise an error unless the query only reads; the hint may be NULL. */
extern void require_select(const Query *query, const char *hint);

/*
 * While a query is analyzed, errors in it point to their place in its text, not in that
 * of the calling statement.
 */
extern void query_errors_begin(ErrorContextCallback *errors, const char *text);
extern void query_errors_end(ErrorContextCallback *errors);

/* A column of a query, as another type. */
typedef struct TypedColumn
{
	AttrNumber	attno;
	ExprState  *cast;			/* NULL: it is of that type */
	ExprState  *unchanged;		/* true if the cast has left the value as it
								 * was; NULL: it does, or may change it */
	ExprContext *context;		/* of these */
	Oid			type;			/* that it is read as */
	AttrNumber	number;			/* in the query, for errors, */
	const char *what;			/* what it holds, */
	const char *hint;			/* and their hint */
} TypedColumn;

/*
 * Prepare to read column `attno` of a query, behind `before` others, as that type.
 * Raises DATATYPE_MISMATCH, with the hint, if it cannot be assigned to it, and
 * INVALID_COLUMN_DEFINITION if there is no such column; `what` says what it holds.
 * exact: no value may become another one.
 */
extern TypedColumn typed_column(TupleDesc desc, int before, AttrNumber attno,
								Oid type, bool exact, const char *what, const char *hint);

/*
 * Return its value, in the current memory context.  Raises DATATYPE_MISMATCH, with the
 * hint, if it is another one as that type, as 1.5 is as a bigint: rows would be taken
 * for each other.
 */
extern Datum typed_value(const TypedColumn *column, TupleTableSlot *slot, bool *isnull);

#endif							/* NEARDUP_ROW_QUERY_H */
