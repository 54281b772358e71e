/*
 * row_query.c
 *		The rows of a query that a user gives as a text.
 *
 * The result must not depend on the plan.  So the query sorts by its first column after all
 * that it sorts by itself: ORDER BY ..., 1.  That is done in its parsed form, as the query
 * may end in a comment or a semicolon, and SPI does not take a parsed form.
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

void
query_errors_begin(ErrorContextCallback *errors, const char *text)
{
	errors->callback = point_into_text;
	errors->arg = unconstify(char *, text);
	errors->previous = error_context_stack;
	error_context_stack = errors;
}

void
query_errors_end(ErrorContextCallback *errors)
{
	error_context_stack = errors->previous;
}

/* Rows */

typedef struct RowReceiver
{
	DestReceiver pub;
	RowReader  *reader;
	MemoryContext context;		/* of the caller */
	MemoryContext per_row;
} RowReceiver;

static void
receive_startup(DestReceiver *self, int operation, TupleDesc desc)
{
	RowReceiver *receiver = (RowReceiver *) self;
	MemoryContext old = MemoryContextSwitchTo(receiver->context);

	receiver->reader->begin(receiver->reader, desc);
	MemoryContextSwitchTo(old);
}

static bool
receive_row(TupleTableSlot *slot, DestReceiver *self)
{
	RowReceiver *receiver = (RowReceiver *) self;
	MemoryContext old = MemoryContextSwitchTo(receiver->per_row);

	receiver->reader->row(receiver->reader, slot);
	MemoryContextSwitchTo(old);
	MemoryContextReset(receiver->per_row);
	return true;
}

static void
receive_nothing(DestReceiver *self)
{
}

void
row_query_run(Query *query, const char *text, QueryEnvironment *environment,
			  bool (*wanted) (PlanState *plan, void *unused), RowReader *reader)
{
	MemoryContext caller = CurrentMemoryContext;
	MemoryContext context = AllocSetContextCreate(caller, "query of rows",
												  ALLOCSET_DEFAULT_SIZES);
	RowReceiver receiver = {
		.pub = {
			.receiveSlot = receive_row,
			.rStartup = receive_startup,
			.rShutdown = receive_nothing,
			.rDestroy = receive_nothing,
			.mydest = DestNone
		},
		.reader = reader,
		.context = caller
	};
	QueryDesc  *desc;

	MemoryContextSwitchTo(context);
	receiver.per_row = AllocSetContextCreate(context, "row of a query",
											 ALLOCSET_DEFAULT_SIZES);
	PushActiveSnapshot(GetActiveSnapshot());
	desc = CreateQueryDesc(compat_plan_query(query, text, CURSOR_OPT_PARALLEL_OK, NULL),
						   text, GetActiveSnapshot(), InvalidSnapshot,
						   &receiver.pub, NULL, environment, 0);
	ExecutorStart(desc, 0);
	if (wanted == NULL || wanted(desc->planstate, NULL))
		executor_run_to_end(desc);
	ExecutorFinish(desc);
	ExecutorEnd(desc);
	FreeQueryDesc(desc);
	PopActiveSnapshot();
	MemoryContextSwitchTo(caller);
	MemoryContextDelete(context);
}

/* Order */

void
require_select(const Query *query, const char *hint)
{
	if (query->commandType != CMD_SELECT || query->hasModifyingCTE || query->rowMarks != NIL)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("statement is not a query that only reads"),
				 hint != NULL ? errhint("%s", hint) :
				 query->rowMarks != NIL ?
				 errhint("Leave out FOR UPDATE or FOR SHARE.") :
				 errhint("Use a SELECT, VALUES or TABLE command.")));
}

/* Raise an error if the text is the name of a table: the parser would say less. */
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

/* Parse one SELECT, VALUES or TABLE command. */
static SelectStmt *
parse_select(const char *text)
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
		require_select(makeNode(Query), NULL);
	return (SelectStmt *) linitial_node(RawStmt, statements)->stmt;
}

/* Sort by the first column after all that the query sorts by. */
static void
sort_by_first(SelectStmt *select)
{
	SortBy	   *by = makeNode(SortBy);
	A_Const    *position = makeNode(A_Const);

	/* ties would be those in all columns that it sorts by */
	if (select->limitOption == LIMIT_OPTION_WITH_TIES)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("query must not end with FETCH FIRST ... WITH TIES"),
				 errdetail("Its rows are sorted by their ids, too."),
				 errhint("Put it into a subquery.")));
	position->val.ival.type = T_Integer;
	position->val.ival.ival = 1;
	position->location = -1;
	by->node = (Node *) position;
	by->location = -1;
	select->sortClause = lappend(select->sortClause, by);
}

void
ordered_query_run(const char *text, bool by_first, RowReader *reader)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext,
												  "ordered query",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext caller = MemoryContextSwitchTo(context);
	RawStmt    *statement = makeNode(RawStmt);
	SelectStmt *select;
	Query	   *query;
	ErrorContextCallback errors;

	query_errors_begin(&errors, text);
	select = parse_select(text);
	if (by_first)
		sort_by_first(select);
	statement->stmt = (Node *) select;
	query = linitial_node(Query, pg_analyze_and_rewrite_fixedparams(statement, text, NULL, 0, NULL));
	require_select(query, NULL);
	query_errors_end(&errors);
	MemoryContextSwitchTo(caller);
	row_query_run(query, text, NULL, NULL, reader);
	MemoryContextDelete(context);
}

/* Columns */

/*
 * Return an expression that is true if a cast back gives the value again; NULL if there is
 * no such cast.
 */
static ExprState *
unchanged_expression(Node *value, Node *cast, Oid from, Oid type)
{
	Oid			equal = lookup_type_cache(from, TYPECACHE_EQ_OPR)->eq_opr;
	Oid			collation = exprCollation(value);
	Node	   *back;

	if (!OidIsValid(equal))
		return NULL;
	back = coerce_to_target_type(NULL, cast, type, from, -1, COERCION_ASSIGNMENT,
								 COERCE_IMPLICIT_CAST, -1);
	if (back == NULL)
		return NULL;
	return ExecInitExpr(expression_planner(make_opclause(equal, BOOLOID, false, (Expr *) back,
														 (Expr *) value, InvalidOid,
														 OidIsValid(collation) ? collation : get_typcollation(from))),
						NULL);
}

/* Raise an error if the cast has changed the value of that row. */
static void
require_unchanged(const TypedColumn *column, TupleTableSlot *slot)
{
	Form_pg_attribute att = TupleDescAttr(slot->tts_tupleDescriptor, column->attno - 1);
	Oid			output;
	bool		isvarlena;
	bool		isnull;
	Datum		unchanged = ExecEvalExpr(column->unchanged, column->context, &isnull);

	if (isnull || DatumGetBool(unchanged))
		return;
	getTypeOutputInfo(att->atttypid, &output, &isvarlena);
	ereport(ERROR,
			(errcode(ERRCODE_DATATYPE_MISMATCH),
			 errmsg("column %d of the query, %s, has the value %s, which is no %s",
					column->number, column->what,
					OidOutputFunctionCall(output, slot_getattr(slot, column->attno, &isnull)),
					format_type_be(column->type)),
			 errhint("%s", column->hint)));
}

TypedColumn
typed_column(TupleDesc desc, int before, AttrNumber attno, Oid type, bool exact,
			 const char *what, const char *hint)
{
	TypedColumn column = {
		.attno = before + attno,.type = type,.number = attno,
		.what = what,.hint = hint
	};
	Form_pg_attribute att;
	Node	   *var;
	Node	   *cast;

	if (column.attno > desc->natts)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_COLUMN_DEFINITION),
				 errmsg_plural("query has %d column, and none for %s",
							   "query has %d columns, and none for %s",
							   desc->natts - before, desc->natts - before,
							   what),
				 errhint("%s", hint)));
	att = TupleDescAttr(desc, column.attno - 1);
	var = (Node *) makeVar(1, column.attno, att->atttypid, att->atttypmod,
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
		column.cast = ExecInitExpr(expression_planner((Expr *) copyObject(cast)), NULL);
		column.unchanged = exact ? unchanged_expression(var, cast, att->atttypid, type) : NULL;
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
