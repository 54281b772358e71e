/*
 * row_query.c
 *		Runs a query that a user gives as text, and casts its columns.
 *
 * The result must not depend on the plan.  So the first column is added to the
 * query's ORDER BY.  This changes the parse tree, as the text may end in a
 * comment or a semicolon.  SPI does not run parse trees.
 *
 * SELECT ... WHERE near_duplicate(sig, $1, 0.8) can look up each value, or
 * join all values with a table.  The planner chooses: the query becomes FROM
 * values, LATERAL (query), and its parameters become columns of the values.
 */
#include "postgres.h"

#include <ctype.h>

#include "catalog/namespace.h"
#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parse_coerce.h"
#include "parser/parse_expr.h"
#include "parser/parse_node.h"
#include "tcop/dest.h"
#include "tcop/tcopprot.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/typcache.h"
#include "utils/varlena.h"

#include "base/compat.h"
#include "groups/row_query.h"

/* Errors */

/*
 * Error context callback: let errors in the query point into its text, not
 * into the calling statement.
 */
static void
point_into_text(void *text)
{
	int			place = geterrposition();

	if (place <= 0)
		return;
	errposition(0);
	internalerrposition(place);
	internalerrquery(text);
}

/* Parsing */

/* Raise an error: the statement does more than read. */
static void
refuse(const char *hint)
{
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("statement is not a query that only reads"),
			 errhint("%s", hint)));
}

/*
 * Raise an error if the text is the name of a table, which is clearer than a
 * syntax error.
 */
static void
require_no_name(const char *text)
{
	const char *c = text;

	while (isalnum((unsigned char) *c) || *c == '_' || *c == '.' ||
		   *c == '"' || IS_HIGHBIT_SET(*c))
		c++;
	if (*c == '\0' && c > text &&
		OidIsValid(RangeVarGetRelid(makeRangeVarFromNameList(textToQualifiedNameList(cstring_to_text(text))),
									NoLock, true)))
		ereport(ERROR,
				(errcode(ERRCODE_SYNTAX_ERROR),
				 errmsg("\"%s\" is not a query", text),
				 errhint("Use 'SELECT id, sig FROM %s', with the columns that the table has.",
						 text)));
}

/* Parse one SELECT, VALUES or TABLE command; the hint may be NULL. */
static SelectStmt *
parse_select(const char *text, const char *hint)
{
	List	   *statements;

	require_no_name(text);
	statements = pg_parse_query(text);
	if (list_length(statements) != 1)
		ereport(ERROR,
				(errcode(ERRCODE_SYNTAX_ERROR),
				 errmsg("there are %d statements in the place of one query",
						list_length(statements))));
	if (!IsA(linitial_node(RawStmt, statements)->stmt, SelectStmt))
		refuse(hint != NULL ? hint : "Use a SELECT, VALUES or TABLE command.");
	return (SelectStmt *) linitial_node(RawStmt, statements)->stmt;
}

/* Add the first column to the end of ORDER BY. */
static void
sort_by_first(SelectStmt *select)
{
	SortBy	   *by = linitial_node(SortBy,
								   parse_select("SELECT 1 ORDER BY 1",
												NULL)->sortClause);

	/* with the id as last key there would be no ties */
	if (select->limitOption == LIMIT_OPTION_WITH_TIES)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("query must not end with FETCH FIRST ... WITH TIES"),
				 errdetail("Its rows are sorted by their ids, too."),
				 errhint("Put it into a subquery.")));
	castNode(A_Const, by->node)->location = -1;
	select->sortClause = lappend(select->sortClause, by);
}

/*
 * Replace each (SELECT) in a parse tree by a query: a
 * raw_expression_tree_walker callback.
 */
static bool
put_query(Node *node, void *select)
{
	RangeSubselect *place = (RangeSubselect *) node;

	if (node == NULL)
		return false;
	if (IsA(node, RangeSubselect) && IsA(place->subquery, SelectStmt) &&
		((SelectStmt *) place->subquery)->op == SETOP_NONE &&
		((SelectStmt *) place->subquery)->targetList == NIL &&
		((SelectStmt *) place->subquery)->valuesLists == NIL)
	{
		place->subquery = copyObject(select);
		return false;
	}
	return raw_expression_tree_walker(node, put_query, select);
}

/* p_paramref_hook: turn a parameter into a column of VALUES_TABLE. */
static Node *
parameter_column(ParseState *pstate, ParamRef *param)
{
	UserQuery  *query = pstate->p_ref_hook_state;
	ColumnRef  *column = makeNode(ColumnRef);

	if (param->number < 1 || param->number > query->nvalues)
		return NULL;			/* the server raises the error */
	column->fields = list_make2(makeString(VALUES_NAME),
								makeString(psprintf("$%d", param->number)));
	column->location = param->location;
	return transformExpr(pstate, (Node *) column, pstate->p_expr_kind);
}

/* ParserSetupHook: let parameter_column() resolve parameters. */
static void
set_up_parser(ParseState *pstate, void *query)
{
	pstate->p_paramref_hook = parameter_column;
	pstate->p_ref_hook_state = query;
}

/* Analyze and rewrite a parse tree. */
static Query *
analyze(UserQuery *query, RawStmt *statement)
{
	return linitial_node(Query,
						 pg_analyze_and_rewrite_withcb(statement, query->text,
													   set_up_parser,
													   query,
													   query->environment));
}

/* Analyze an outer query, in which the user's query replaces each (SELECT). */
static Query *
analyze_outer(UserQuery *query, const char *outer)
{
	RawStmt    *statement = linitial_node(RawStmt, pg_parse_query(outer));

	put_query(statement->stmt, query->select);
	return analyze(query, statement);
}

/* Register VALUES_TABLE; its columns are named $1, $2, ... */
static void
begin_values(UserQuery *query, TupleDesc rows)
{
	query->nvalues = rows->natts - 1;
	for (int i = 1; i <= query->nvalues; i++)
		namestrcpy(&TupleDescAttr(rows, i)->attname, psprintf("$%d", i));
	query->store = palloc0(sizeof(EphemeralNamedRelationData));
	query->store->md.name = VALUES_NAME;
	query->store->md.tupdesc = rows;
	query->store->md.enrtype = ENR_NAMED_TUPLESTORE;
	query->environment = create_queryEnv();
	register_ENR(query->environment, query->store);
}

void
user_query_begin(UserQuery *query, const char *text, TupleDesc rows,
				 const char *hint)
{
	ErrorContextCallback errors = {error_context_stack, point_into_text,
	unconstify(char *, text)};
	Query	   *outer;

	memset(query, 0, sizeof(UserQuery));
	query->text = text;

	if (rows != NULL)
		begin_values(query, rows);
	error_context_stack = &errors;
	query->select = parse_select(text, hint);
	outer = analyze_outer(query, rows == NULL ?
						  "SELECT * FROM (SELECT) AS rows" :
						  "SELECT rows.* FROM " VALUES_TABLE ", LATERAL (SELECT) AS rows");
	if (llast_node(RangeTblEntry, outer->rtable)->subquery->rowMarks != NIL)
		refuse(hint != NULL ? hint : "Leave out FOR UPDATE or FOR SHARE.");
	error_context_stack = errors.previous;
	query->result = ExecCleanTypeFromTL(outer->targetList);
}

/* Running */

/* Receiver that calls a SlotCallback */
typedef struct RowReceiver
{
	DestReceiver pub;
	SlotCallback row;
	void	   *context;
	MemoryContext per_row;
} RowReceiver;

/* receiveSlot: pass a row to the callback. */
static bool
receive_row(TupleTableSlot *slot, DestReceiver *self)
{
	RowReceiver *receiver = (RowReceiver *) self;
	MemoryContext old = MemoryContextSwitchTo(receiver->per_row);

	receiver->row(receiver->context, slot);
	MemoryContextSwitchTo(old);
	MemoryContextReset(receiver->per_row);
	return true;
}

/*
 * Plan and run an analyzed query, with the snapshot of the calling statement.
 * False, without a row read, if `wanted` is false for the plan.  The query
 * cannot be used again: planning changes it, and puts parts of it into memory
 * that is freed here.
 */
static bool
run(UserQuery *query, Query *analyzed,
	bool (*wanted) (PlanState *plan, void *unused),
	SlotCallback row, void *context)
{
	MemoryContext memory = AllocSetContextCreate(CurrentMemoryContext,
												 "query of rows",
												 ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(memory);
	RowReceiver receiver = {
		.pub = *None_Receiver,
		.row = row,
		.context = context,
		.per_row = AllocSetContextCreate(memory, "row of a query",
										 ALLOCSET_DEFAULT_SIZES)
	};
	QueryDesc  *desc;
	bool		runs;

	receiver.pub.receiveSlot = receive_row;
	PushActiveSnapshot(GetActiveSnapshot());
	desc =
		CreateQueryDesc(compat_plan_query(analyzed, query->text,
										  CURSOR_OPT_PARALLEL_OK, NULL),
						query->text, GetActiveSnapshot(), InvalidSnapshot,
						&receiver.pub, NULL, query->environment, 0);
	ExecutorStart(desc, 0);
	runs = wanted == NULL || wanted(desc->planstate, NULL);
	if (runs)
		executor_run_to_end(desc);
	ExecutorFinish(desc);
	ExecutorEnd(desc);
	FreeQueryDesc(desc);
	PopActiveSnapshot();
	MemoryContextSwitchTo(old);
	MemoryContextDelete(memory);
	return runs;
}

void
user_query_run(UserQuery *query, SlotCallback row, void *context)
{
	RawStmt    *statement = makeNode(RawStmt);

	sort_by_first(query->select);
	statement->stmt = (Node *) query->select;
	run(query, analyze(query, statement), NULL, row, context);
}

TupleDesc
user_query_columns(UserQuery *query, const char *outer)
{
	return ExecCleanTypeFromTL(analyze_outer(query, outer)->targetList);
}

bool
user_query_run_inside(UserQuery *query, const char *outer,
					  bool (*wanted) (PlanState *plan, void *unused),
					  SlotCallback row,
					  void *context)
{
	return run(query, analyze_outer(query, outer), wanted, row, context);
}

/* SlotCallback: store a row. */
static void
put_values(void *store, TupleTableSlot *slot)
{
	tuplestore_puttupleslot(store, slot);
}

void
user_query_rows(UserQuery *query, Tuplestorestate *rows, TupleDesc desc)
{
	query->store->md.tupdesc = desc;
	query->store->md.enrtuples = tuplestore_tuple_count(rows);
	query->store->reldata = rows;
}

Tuplestorestate *
user_query_values(UserQuery *query, Tuplestorestate *rows)
{
	Tuplestorestate *values = tuplestore_begin_heap(true, false,
													Max(work_mem / 16, 64));
	TupleDesc	desc;
	StringInfoData outer;

	initStringInfo(&outer);
	for (int i = 1; i <= query->nvalues; i++)
		appendStringInfo(&outer, "%s \"$%d\"", i == 1 ? "SELECT DISTINCT" :
						 ",", i);
	appendStringInfoString(&outer,
						   " FROM " VALUES_TABLE " WHERE $1 IS NOT NULL");
	user_query_rows(query, rows, query->store->md.tupdesc);
	desc = user_query_columns(query, outer.data);
	user_query_run_inside(query, outer.data, NULL, put_values, values);
	user_query_rows(query, values, desc);
	return values;
}

/* Columns */

/*
 * Return an expression that is true if a value survives the cast and a cast
 * back; NULL if there is no cast back.
 */
static ExprState *
unchanged_expression(Node *value, Node *cast, Oid from, Oid type)
{
	Oid			equal = lookup_type_cache(from, TYPECACHE_EQ_OPR)->eq_opr;
	Oid			collation = exprCollation(value);
	Node	   *back;

	if (!OidIsValid(equal))
		return NULL;
	back = coerce_to_target_type(NULL, cast, type, from, -1,
								 COERCION_ASSIGNMENT,
								 COERCE_IMPLICIT_CAST, -1);
	if (back == NULL)
		return NULL;
	return ExecInitExpr(expression_planner(make_opclause(equal, BOOLOID, false,
														 (Expr *) back,
														 (Expr *) value,
														 InvalidOid,
														 OidIsValid(collation) ? collation : get_typcollation(from))),
						NULL);
}

/* Raise an error if the cast has changed the column's value in this row. */
static void
require_unchanged(const TypedColumn *column, TupleTableSlot *slot)
{
	Form_pg_attribute att = TupleDescAttr(slot->tts_tupleDescriptor,
										  column->attno - 1);
	Oid			output;
	bool		isvarlena;
	bool		isnull;
	Datum		unchanged = ExecEvalExpr(column->unchanged, column->context,
										 &isnull);

	if (isnull || DatumGetBool(unchanged))
		return;
	getTypeOutputInfo(att->atttypid, &output, &isvarlena);
	ereport(ERROR,
			(errcode(ERRCODE_DATATYPE_MISMATCH),
			 errmsg("column %d of the query, %s, has the value %s, which is no %s",
					column->attno, column->what,
					OidOutputFunctionCall(output,
										  slot_getattr(slot, column->attno,
													   &isnull)),
					format_type_be(column->type)),
			 errhint("%s", column->hint)));
}

TypedColumn
typed_column(TupleDesc desc, AttrNumber attno, Oid type, bool exact,
			 const char *what,
			 const char *hint)
{
	TypedColumn column = {.attno = attno,.type = type,.what = what,
	.hint = hint};
	Form_pg_attribute att;
	Node	   *var;
	Node	   *cast;

	if (attno > desc->natts)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_COLUMN_DEFINITION),
				 errmsg_plural("query has %d column, and none for %s",
							   "query has %d columns, and none for %s",
							   desc->natts, desc->natts, what),
				 errhint("%s", hint)));
	att = TupleDescAttr(desc, attno - 1);
	var = (Node *) makeVar(1, attno, att->atttypid, att->atttypmod,
						   att->attcollation, 0);
	cast = coerce_to_target_type(NULL, var, att->atttypid, type, -1,
								 COERCION_ASSIGNMENT, COERCE_IMPLICIT_CAST,
								 -1);
	if (cast == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("column %d of the query, %s, is of type %s, not %s",
						attno, what, format_type_be(att->atttypid),
						format_type_be(type)),
				 errhint("%s", hint)));
	if (cast != var)
	{
		column.cast =
			ExecInitExpr(expression_planner((Expr *) copyObject(cast)), NULL);
		column.unchanged = exact ?
			unchanged_expression(var, cast, att->atttypid, type) : NULL;
		column.context = CreateStandaloneExprContext();
	}
	return column;
}

Datum
typed_value(const TypedColumn *column, TupleTableSlot *slot, bool *isnull)
{
	Datum		value;

	if (column->cast == NULL)
		return slot_getattr(slot, column->attno, isnull);
	ResetExprContext(column->context);
	column->context->ecxt_scantuple = slot;
	value = ExecEvalExpr(column->cast, column->context, isnull);
	if (column->unchanged != NULL)
		require_unchanged(column, slot);
	return value;
}
