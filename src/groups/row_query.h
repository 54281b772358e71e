/*
 * row_query.h
 *		Runs a query that a user gives as text, and casts its columns.
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

/* A query of the user */
typedef struct UserQuery
{
	const char *text;
	SelectStmt *select;
	TupleDesc	result;			/* columns of the query */
	int			nvalues;		/* number of parameters */
	QueryEnvironment *environment;
	EphemeralNamedRelation store;	/* table of the parameters' values */
} UserQuery;

/*
 * Analyze a query.  If rows is not NULL, its columns from the second one on,
 * the signature, are the query's parameters $1, $2, ...  Raises an error with
 * the hint, which may be NULL, unless the query only reads.
 */
extern void user_query_begin(UserQuery *query, const char *text,
							 TupleDesc rows,
							 const char *hint);

/*
 * Run a query; this can be done once.  Rows are sorted by the query's ORDER
 * BY, then by the first column.
 */
extern void user_query_run(UserQuery *query, SlotCallback row, void *context);

/*
 * Return the columns of an outer query, in which the user's query replaces
 * each (SELECT).
 */
extern TupleDesc user_query_columns(UserQuery *query, const char *outer);

/*
 * Run an outer query, in which the user's query replaces each (SELECT); both
 * may have parameters.  If `wanted` is not NULL and is false for the plan,
 * read no row and return false.
 */
extern bool user_query_run_inside(UserQuery *query, const char *outer,
								  bool (*wanted) (PlanState *plan,
												  void *unused),
								  SlotCallback row, void *context);

/*
 * Table of the parameters' distinct values, under a name that no user's table
 * should have
 */
#define VALUES_NAME		"near-duplicate groups: new rows"
#define VALUES_TABLE	"\"" VALUES_NAME "\""

/* Let VALUES_TABLE be these rows. */
extern void user_query_rows(UserQuery *query, Tuplestorestate *rows,
							TupleDesc desc);

/* Let VALUES_TABLE be the distinct parameters in these rows, and return it. */
extern Tuplestorestate *user_query_values(UserQuery *query,
										  Tuplestorestate *rows);

/* A column of a query, with its cast to a type */
typedef struct TypedColumn
{
	AttrNumber	attno;
	ExprState  *cast;			/* NULL = no cast is needed */
	ExprState  *unchanged;		/* expression that is true if casting back
								 * gives the same value; NULL = not checked */
	ExprContext *context;		/* context of both expressions */
	Oid			type;			/* type after the cast */
	const char *what;			/* what the column holds, for errors */
	const char *hint;			/* hint for errors */
} TypedColumn;

/*
 * Prepare to read column `attno` of a query as a type.  `what` says in errors
 * what the column holds.  If `exact`, a value that the cast would change is an
 * error when it is read.  Raises INVALID_COLUMN_DEFINITION, with the hint, if
 * there is no such column, and DATATYPE_MISMATCH if it cannot be assigned to
 * the type.
 */
extern TypedColumn typed_column(TupleDesc desc, AttrNumber attno, Oid type,
								bool exact,
								const char *what, const char *hint);

/*
 * Return the column's value, cast, in the current memory context.  Raises
 * DATATYPE_MISMATCH, with the hint, if the cast changes a value of an exact
 * column, as 1.5 to a bigint: different ids would become equal.
 */
extern Datum typed_value(const TypedColumn *column, TupleTableSlot *slot,
						 bool *isnull);

#endif							/* NEARDUP_ROW_QUERY_H */
