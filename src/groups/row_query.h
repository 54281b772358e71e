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
#include "utils/tuplestore.h"

/*
 * Callbacks for the rows.  begin gets the columns, in the memory context of the caller;
 * row is called in a context that is reset after each row.
 */
typedef struct RowReader
{
	void		(*begin) (struct RowReader *reader, TupleDesc desc);
	void		(*row) (struct RowReader *reader, TupleTableSlot *slot);
} RowReader;

/*
 * Run the query of that text.  Rows come in the order of its ORDER BY and, if by_first and
 * that leaves rows equal, in the order of its first column.  Raises an error if it is no
 * query that only reads.
 */
extern void ordered_query_run(const char *text, bool by_first, RowReader *reader);

/* A query with parameters, run once for many rows of their values */
typedef struct LateralQuery
{
	const char *text;
	SelectStmt *select;
	int			nvalues;
	TupleDesc	result;			/* its columns */
	QueryEnvironment *environment;
	EphemeralNamedRelation store;	/* of values */
} LateralQuery;

/*
 * Analyze a query whose parameters are columns of rows like these: $1 is the second column,
 * a signature.  Raise an error, with the hint, if it is no query that only reads.
 */
extern void lateral_query_begin(LateralQuery *lateral, const char *text, TupleDesc rows,
								const char *hint);

/* The table of different values; no user has one of that name. */
#define LATERAL_NAME	"near-duplicate groups: new rows"
#define LATERAL_VALUES	"\"" LATERAL_NAME "\""

/*
 * Run a query around it, once, for the different values of the rows in the store.  It
 * stands there in the place of each (SELECT), and the outer query may have parameters, too.
 * `by_index`, unless it is NULL, is run instead if it asks an index of access method
 * neardup.  The reader's begin may be NULL.
 */
extern void lateral_query_run(LateralQuery *lateral, Tuplestorestate *rows,
							  const char *by_index, const char *outer, RowReader *reader);

/* A column of a query, as another type. */
typedef struct TypedColumn
{
	AttrNumber	attno;
	ExprState  *cast;			/* NULL: it is of that type */
	ExprState  *unchanged;		/* true if the cast has left the value as it
								 * was; NULL: it does, or may change it */
	ExprContext *context;		/* of these */
	Oid			type;			/* that it is read as */
	const char *what;			/* what it holds, for errors, */
	const char *hint;			/* and their hint */
} TypedColumn;

/*
 * Prepare to read column `attno` of a query as that type.  Raises DATATYPE_MISMATCH, with the
 * hint, if it cannot be assigned to it, and INVALID_COLUMN_DEFINITION if there is no such
 * column; `what` says what it holds.  exact: no value may become another one.
 */
extern TypedColumn typed_column(TupleDesc desc, AttrNumber attno, Oid type, bool exact,
								const char *what, const char *hint);

/*
 * Return its value, in the current memory context.  Raises DATATYPE_MISMATCH, with the
 * hint, if it is another one as that type, as 1.5 is as a bigint: rows would be taken
 * for each other.
 */
extern Datum typed_value(const TypedColumn *column, TupleTableSlot *slot, bool *isnull);

#endif							/* NEARDUP_ROW_QUERY_H */
