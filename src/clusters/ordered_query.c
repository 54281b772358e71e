/*
 * ordered_query.c
 *		The rows of a query that a user gives as a text, in a total order.
 *
 * What comes out must not depend on the plan: so the query is made to sort by
 * its first column after all that it sorts by itself.  That is done on
 * its parsed form, where it costs nothing if an index has that order already.
 *
 * The query is run here, not by SPI, which would not let its parsed form be
 * changed; as SPI does for a function that changes nothing, with the snapshot
 * of the statement that calls.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/clusters/ordered_query.c
 */
#include "postgres.h"

#include <ctype.h>

#include "catalog/namespace.h"
#include "executor/executor.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parse_clause.h"
#include "parser/parse_coerce.h"
#include "parser/parse_oper.h"
#include "tcop/dest.h"
#include "tcop/tcopprot.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/varlena.h"
#include "utils/snapmgr.h"

#include "base/compat.h"
#include "clusters/ordered_query.h"

/* Raises an error unless it is a query that only reads. */
static void
require_select(const Query *query)
{
	if (query->commandType != CMD_SELECT || query->hasModifyingCTE)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("statement is not a query that only reads"),
				 errhint("Use a SELECT, VALUES or TABLE command.")));
}

/*
 * Raises an error if the text is the name of a table, as who thinks that this is
 * wanted writes; the parser would tell him less.
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

/* The statement as one query. */
static Query *
analyze(const char *text)
{
	List	   *statements;
	List	   *queries;

	require_no_name(text);
	statements = pg_parse_query(text);
	if (list_length(statements) != 1)
		ereport(ERROR,
				(errcode(ERRCODE_SYNTAX_ERROR),
				 errmsg("there are %d statements in the place of one query",
						list_length(statements))));
	queries = pg_analyze_and_rewrite_fixedparams(linitial_node(RawStmt, statements),
												 text, NULL, 0, NULL);
	if (list_length(queries) != 1)
		require_select(queries == NIL ? makeNode(Query) : linitial(queries));
	require_select(linitial_node(Query, queries));
	return linitial_node(Query, queries);
}

/* Column number n of the result, from 1, or NULL. */
static TargetEntry *
result_column(const Query *query, int n)
{
	ListCell   *lc;

	foreach(lc, query->targetList)
	{
		TargetEntry *entry = lfirst_node(TargetEntry, lc);

		if (!entry->resjunk && entry->resno == n)
			return entry;
	}
	return NULL;
}

/* Sorts by a column after all that the query sorts by. */
static void
sort_by(Query *query, TargetEntry *entry)
{
	SortGroupClause *clause = makeNode(SortGroupClause);
	ListCell   *lc;

	foreach(lc, query->sortClause)
		if (lfirst_node(SortGroupClause, lc)->tleSortGroupRef ==
			entry->ressortgroupref && entry->ressortgroupref != 0)
			return;
	get_sort_group_operators(exprType((Node *) entry->expr), true, true, false,
							 &clause->sortop, &clause->eqop, NULL,
							 &clause->hashable);
	clause->tleSortGroupRef = assignSortGroupRef(entry, query->targetList);
	query->sortClause = lappend(query->sortClause, clause);
}

/* Rows go to the taker */

typedef struct TakerReceiver
{
	DestReceiver pub;
	RowTaker   *taker;
	MemoryContext context;		/* of the caller */
	MemoryContext per_row;
} TakerReceiver;

static void
receive_startup(DestReceiver *self, int operation, TupleDesc desc)
{
	TakerReceiver *receiver = (TakerReceiver *) self;
	MemoryContext old = MemoryContextSwitchTo(receiver->context);

	receiver->taker->begin(receiver->taker, desc);
	MemoryContextSwitchTo(old);
}

static bool
receive_row(TupleTableSlot *slot, DestReceiver *self)
{
	TakerReceiver *receiver = (TakerReceiver *) self;
	MemoryContext old = MemoryContextSwitchTo(receiver->per_row);

	receiver->taker->row(receiver->taker, slot);
	MemoryContextSwitchTo(old);
	MemoryContextReset(receiver->per_row);
	return true;
}

static void
receive_nothing(DestReceiver *self)
{
}

/* Runs a plan to its end. */
static void
run_plan(PlannedStmt *plan, const char *text, DestReceiver *dest)
{
	QueryDesc  *desc;

	PushActiveSnapshot(GetActiveSnapshot());
	desc = CreateQueryDesc(plan, text, GetActiveSnapshot(), InvalidSnapshot,
						   dest, NULL, NULL, 0);
	ExecutorStart(desc, 0);
	executor_run_to_end(desc);
	ExecutorFinish(desc);
	ExecutorEnd(desc);
	FreeQueryDesc(desc);
	PopActiveSnapshot();
}

/* See ordered_query.h */
void
ordered_query_run(const char *text, int columns, RowTaker *taker)
{
	MemoryContext caller = CurrentMemoryContext;
	MemoryContext context = AllocSetContextCreate(caller, "ordered query",
												  ALLOCSET_DEFAULT_SIZES);
	TakerReceiver receiver = {
		.pub = {
			.receiveSlot = receive_row,
			.rStartup = receive_startup,
			.rShutdown = receive_nothing,
			.rDestroy = receive_nothing,
			.mydest = DestNone
		},
		.taker = taker,
		.context = caller
	};
	Query	   *query;

	MemoryContextSwitchTo(context);
	receiver.per_row = AllocSetContextCreate(context, "row of a query",
											 ALLOCSET_DEFAULT_SIZES);
	query = analyze(text);
	for (int n = 1; n <= columns; n++)
	{
		TargetEntry *entry = result_column(query, n);

		if (entry != NULL)
			sort_by(query, entry);
	}
	run_plan(pg_plan_query(query, text, CURSOR_OPT_PARALLEL_OK, NULL), text,
			 &receiver.pub);
	MemoryContextSwitchTo(caller);
	MemoryContextDelete(context);
}

/* Columns */

/* See ordered_query.h */
TypedColumn
typed_column(TupleDesc desc, AttrNumber attno, Oid type, const char *what,
			 const char *hint)
{
	TypedColumn column = {.attno = attno};
	Form_pg_attribute att;
	Node	   *var;
	Node	   *cast;

	if (attno > desc->natts)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_COLUMN_DEFINITION),
				 errmsg("query has %d columns, and none for %s", desc->natts,
						what),
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
		column.cast = ExecInitExpr(expression_planner((Expr *) cast), NULL);
		column.context = CreateStandaloneExprContext();
	}
	return column;
}

/* See ordered_query.h */
Datum
typed_value(const TypedColumn *column, TupleTableSlot *slot, bool *isnull)
{
	if (column->cast == NULL)
		return slot_getattr(slot, column->attno, isnull);
	ResetExprContext(column->context);
	column->context->ecxt_scantuple = slot;
	return ExecEvalExpr(column->cast, column->context, isnull);
}
