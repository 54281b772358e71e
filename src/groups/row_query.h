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

/* Called for each row, in a memory context that is reset after it */
typedef void (*SlotCallback) (void *context, TupleTableSlot *slot);

typedef struct UserQuery
{
	const char *text;
	SelectStmt *select;
	TupleDesc	result;			/* its columns */
	int			nvalues;		/* parameters */
	QueryEnvironment *environment;
	EphemeralNamedRelation store;	/* of values */
} UserQuery;

/*
 * Analyze a query.  Unless rows is NULL, its parameters are columns of such
 * rows: $1 is the second column, a signature.  Raises an error, with the hint,
 * which may be NULL, unless the query only reads.
 */
extern void user_query_begin(UserQuery *query, const char *text,
							 TupleDesc rows,
							 const char *hint);

/*
 * Run a query, once.  Rows are sorted by its ORDER BY, then by its first
 * column.
 */
extern void user_query_run(UserQuery *query, SlotCallback row, void *context);

/*
 * Return the columns of an outer query, with the user's query in place of each
 * (SELECT).
 */
extern TupleDesc user_query_columns(UserQuery *query, const char *outer);

/*
 * Run an outer query, with the user's query in place of each (SELECT); both
 * may have parameters.  If `wanted` is not NULL and returns false for the
 * plan, read no row and return false.
 */
extern bool user_query_run_inside(UserQuery *query, const char *outer,
								  bool (*wanted) (PlanState *plan,
												  void *unused),
								  SlotCallback row, void *context);

/*
 * The table of distinct values of parameters, whose name no table should have
 */
#define VALUES_NAME		"near-duplicate groups: new rows"
#define VALUES_TABLE	"\"" VALUES_NAME "\""

/*
 * Set the rows of that table; or set it to the distinct values of rows, and
 * return these.
 */
extern void user_query_rows(UserQuery *query, Tuplestorestate *rows,
							TupleDesc desc);
extern Tuplestorestate *user_query_values(UserQuery *query,
										  Tuplestorestate *rows);

/* A column of a query, cast to a type */
typedef struct TypedColumn
{
	AttrNumber	attno;
	ExprState  *cast;			/* NULL: it has that type */
	ExprState  *unchanged;		/* true if a cast back returns the value;
								 * NULL: not checked */
	ExprContext *context;		/* of both expressions */
	Oid			type;			/* after the cast */
	const char *what;			/* its content, in errors */
	const char *hint;			/* of errors */
} TypedColumn;

/*
 * Prepare to read column `attno` of a query as that type; `what` names its
 * content in errors.  Raises INVALID_COLUMN_DEFINITION, with the hint, if
 * there is no such column, and DATATYPE_MISMATCH if it cannot be assigned to
 * the type.  exact: a cast must not change values.
 */
extern TypedColumn typed_column(TupleDesc desc, AttrNumber attno, Oid type,
								bool exact,
								const char *what, const char *hint);

/*
 * Return the value, in the current memory context.  Raises DATATYPE_MISMATCH,
 * with the hint, if the cast changes a value of an exact column, as 1.5 to a
 * bigint: different ids would be equal.
 */
extern Datum typed_value(const TypedColumn *column, TupleTableSlot *slot,
						 bool *isnull);

#endif							/* NEARDUP_ROW_QUERY_H */
