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

/* Is called for each row, in a memory context that is reset after it. */
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
 * Analyze a query.  Unless rows is NULL, its parameters are columns of rows like these: $1
 * is the second column, a signature.  Raises an error if it is no query that only reads,
 * with the hint, which may be NULL.
 */
extern void user_query_begin(UserQuery *query, const char *text, TupleDesc rows,
							 const char *hint);

/*
 * Run it, once.  Rows come in the order of its ORDER BY and, where that leaves rows equal, in
 * the order of its first column.
 */
extern void user_query_run(UserQuery *query, SlotCallback row, void *context);

/* Return the columns of a query in which it stands in the place of each (SELECT). */
extern TupleDesc user_query_columns(UserQuery *query, const char *outer);

/*
 * Run a query in which it stands in the place of each (SELECT), and which may have its
 * parameters.  If `wanted`, unless it is NULL, is false of the plan, read no row and return
 * false.
 */
extern bool user_query_run_inside(UserQuery *query, const char *outer,
								  bool (*wanted) (PlanState *plan, void *unused),
								  SlotCallback row, void *context);

/* The table of different values of parameters; no user has one of that name. */
#define VALUES_NAME		"near-duplicate groups: new rows"
#define VALUES_TABLE	"\"" VALUES_NAME "\""

/* Put these rows into that table; or the different values of such rows, which are returned. */
extern void user_query_rows(UserQuery *query, Tuplestorestate *rows, TupleDesc desc);
extern Tuplestorestate *user_query_values(UserQuery *query, Tuplestorestate *rows);

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
