/*
 * row_query.c
 *		The rows of a query that a user gives as a text.
 *
 * The result must not depend on the plan.  So the query sorts by its first column after all
 * that it sorts by itself: ORDER BY ..., 1.  That is done in its parsed form, as the query
 * may end in a comment or a semicolon, and SPI does not take a parsed form.
 *
 * SELECT ... WHERE near_duplicate(sig, $1, 0.8) can be run for each value there is: a
 * look-up each.  Or all values are joined with what it reads.  The planner decides which is
 * cheaper, as the query is put behind the rows of values, FROM values, LATERAL (query),
 * where its parameters are columns of these.
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
#include "index/access.h"

/* Errors */

/*
 * While a query is analyzed, errors in it point to their place in its text, not in that of
 * the calling statement.
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

static void
query_errors_begin(ErrorContextCallback *errors, const char *text)
{
	errors->callback = point_into_text;
	errors->arg = unconstify(char *, text);
	errors->previous = error_context_stack;
	error_context_stack = errors;
}

static void
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

	if (receiver->reader->begin != NULL)
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

/*
 * Plan a query and run it as the calling statement sees the tables.  The environment has its
 * named stores.  If `wanted` is false of the plan, read no row and return false.
 */
static bool
run_query(Query *query, const char *text, QueryEnvironment *environment,
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
	bool		runs;

	MemoryContextSwitchTo(context);
	receiver.per_row = AllocSetContextCreate(context, "row of a query",
											 ALLOCSET_DEFAULT_SIZES);
	PushActiveSnapshot(GetActiveSnapshot());
	desc = CreateQueryDesc(compat_plan_query(query, text, CURSOR_OPT_PARALLEL_OK, NULL),
						   text, GetActiveSnapshot(), InvalidSnapshot,
						   &receiver.pub, NULL, environment, 0);
	ExecutorStart(desc, 0);
	runs = wanted == NULL || wanted(desc->planstate, NULL);
	if (runs)
		executor_run_to_end(desc);
	ExecutorFinish(desc);
	ExecutorEnd(desc);
	FreeQueryDesc(desc);
	PopActiveSnapshot();
	MemoryContextSwitchTo(caller);
	MemoryContextDelete(context);
	return runs;
}

/* Queries as they are parsed */

/* Raise an error unless the query only reads; the hint may be NULL. */
static void
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
		require_select(makeNode(Query), hint);
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
	select = parse_select(text, NULL);
	if (by_first)
		sort_by_first(select);
	statement->stmt = (Node *) select;
	query = linitial_node(Query, pg_analyze_and_rewrite_fixedparams(statement, text, NULL, 0, NULL));
	require_select(query, NULL);
	query_errors_end(&errors);
	MemoryContextSwitchTo(caller);
	run_query(query, text, NULL, NULL, reader);
	MemoryContextDelete(context);
}

/* Lateral queries */

/* Put a query in the place of each (SELECT) of a parsed one. */
static bool
put_query(Node *node, void *query)
{
	RangeSubselect *place = (RangeSubselect *) node;

	if (node == NULL)
		return false;
	if (IsA(node, RangeSubselect) && IsA(place->subquery, SelectStmt) &&
		((SelectStmt *) place->subquery)->op == SETOP_NONE &&
		((SelectStmt *) place->subquery)->targetList == NIL)
	{
		place->subquery = copyObject(query);
		return false;
	}
	return raw_expression_tree_walker(node, put_query, query);
}

/* p_paramref_hook: a parameter is a column of the values. */
static Node *
parameter_column(ParseState *pstate, ParamRef *param)
{
	LateralQuery *lateral = pstate->p_ref_hook_state;
	ColumnRef  *column = makeNode(ColumnRef);

	if (param->number < 1 || param->number > lateral->nvalues)
		return NULL;			/* the server raises an error */
	column->fields = list_make2(makeString(LATERAL_NAME),
								makeString(psprintf("$%d", param->number)));
	column->location = param->location;
	return transformExpr(pstate, (Node *) column, pstate->p_expr_kind);
}

static void
set_up_parser(ParseState *pstate, void *lateral)
{
	pstate->p_paramref_hook = parameter_column;
	pstate->p_ref_hook_state = lateral;
}

/* Analyze a query around the lateral one. */
static Query *
analyze_around(LateralQuery *lateral, const char *outer)
{
	RawStmt    *statement = linitial_node(RawStmt, pg_parse_query(outer));

	put_query(statement->stmt, lateral->select);
	return linitial_node(Query, pg_analyze_and_rewrite_withcb(statement, lateral->text,
															  set_up_parser, lateral,
															  lateral->environment));
}

void
lateral_query_begin(LateralQuery *lateral, const char *text, TupleDesc rows,
					const char *hint)
{
	ErrorContextCallback errors;
	Query	   *query;

	lateral->text = text;

	lateral->nvalues = rows->natts - 1;
	for (int i = 1; i <= lateral->nvalues; i++)
		namestrcpy(&TupleDescAttr(rows, i)->attname, psprintf("$%d", i));
	lateral->store = palloc0(sizeof(EphemeralNamedRelationData));
	lateral->store->md.name = LATERAL_NAME;
	lateral->store->md.tupdesc = rows;
	lateral->store->md.enrtype = ENR_NAMED_TUPLESTORE;
	lateral->environment = create_queryEnv();
	register_ENR(lateral->environment, lateral->store);
	query_errors_begin(&errors, text);
	lateral->select = parse_select(text, hint);
	query = analyze_around(lateral, "SELECT old.* FROM " LATERAL_VALUES ", LATERAL (SELECT) AS old");
	require_select(llast_node(RangeTblEntry, query->rtable)->subquery, hint);
	query_errors_end(&errors);
	lateral->result = ExecCleanTypeFromTL(query->targetList);
}

/* Different values */
typedef struct ValuesReader
{
	RowReader	reader;			/* must be first */
	LateralQuery *lateral;
	Tuplestorestate *store;
} ValuesReader;

static void
begin_values(RowReader *reader, TupleDesc desc)
{
	ValuesReader *values = (ValuesReader *) reader;

	values->lateral->store->md.tupdesc = CreateTupleDescCopy(desc);
	values->store = tuplestore_begin_heap(true, false, Max(work_mem / 16, 64));
}

static void
put_values(RowReader *reader, TupleTableSlot *slot)
{
	tuplestore_puttupleslot(((ValuesReader *) reader)->store, slot);
}

/* Let the store have the different values of the rows. */
static void
make_different(LateralQuery *lateral, Tuplestorestate *rows)
{
	ValuesReader values = {
		.reader = {.begin = begin_values,.row = put_values},
		.lateral = lateral
	};
	StringInfoData query;

	initStringInfo(&query);
	for (int i = 1; i <= lateral->nvalues; i++)
		appendStringInfo(&query, "%s \"$%d\"", i == 1 ? "SELECT DISTINCT" : ",", i);
	appendStringInfoString(&query, " FROM " LATERAL_VALUES " WHERE $1 IS NOT NULL");
	lateral->store->reldata = rows;
	lateral->store->md.enrtuples = tuplestore_tuple_count(rows);
	run_query(analyze_around(lateral, query.data), query.data, lateral->environment, NULL,
			  &values.reader);
	lateral->store->reldata = values.store;
	lateral->store->md.enrtuples = tuplestore_tuple_count(values.store);
}

/* True if a plan asks an index of access method neardup. */
static bool
asks_index(PlanState *state, void *context)
{
	Relation	index = NULL;

	if (IsA(state, IndexScanState))
		index = ((IndexScanState *) state)->iss_RelationDesc;
	else if (IsA(state, BitmapIndexScanState))
		index = ((BitmapIndexScanState *) state)->biss_RelationDesc;
	return (index != NULL && index_is_neardup(index)) ||
		planstate_tree_walker(state, asks_index, context);
}

void
lateral_query_run(LateralQuery *lateral, Tuplestorestate *rows, const char *by_index,
				  const char *outer, RowReader *reader)
{
	make_different(lateral, rows);
	if (by_index == NULL ||
		!run_query(analyze_around(lateral, by_index), lateral->text, lateral->environment,
				   asks_index, reader))
		run_query(analyze_around(lateral, outer), lateral->text, lateral->environment, NULL,
				  reader);
	tuplestore_end(lateral->store->reldata);
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
					column->attno, column->what,
					OidOutputFunctionCall(output, slot_getattr(slot, column->attno, &isnull)),
					format_type_be(column->type)),
			 errhint("%s", column->hint)));
}

TypedColumn
typed_column(TupleDesc desc, AttrNumber attno, Oid type, bool exact, const char *what,
			 const char *hint)
{
	TypedColumn column = {.attno = attno,.type = type,.what = what,.hint = hint};
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
	var = (Node *) makeVar(1, attno, att->atttypid, att->atttypmod, att->attcollation, 0);
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
