/*
 * guard_condition.c
 *		The condition on both rows: the new row, and a stored row.
 *
 * The text of the trigger's argument is parsed when a guard is created, as
 * PostgreSQL parses the WHEN of a trigger.  Names are looked up only in
 * pg_catalog, whatever the inserter's search path, as for an index expression
 * in a dump.  Other names have their schema in the text.  The expression is
 * computed with the inserter's rights, as CHECK constraints are.  Rows are
 * near-duplicates only if it is true; null counts as false.
 */
#include "postgres.h"

#include "access/attmap.h"
#include "access/tupconvert.h"
#include "executor/executor.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parse_clause.h"
#include "parser/parse_coerce.h"
#include "parser/parse_collate.h"
#include "parser/parse_expr.h"
#include "parser/parse_relation.h"
#include "parser/parser.h"
#include "rewrite/rewriteManip.h"
#include "utils/builtins.h"
#include "utils/guc.h"

#include "base/compat.h"
#include "guard/guard.h"

/* Range table indexes of the rows while the text is parsed */
#define NEW_VARNO	1
#define OLD_VARNO	2

/* What error messages about a condition need */
typedef struct ConditionText
{
	Relation	rel;
	const Trigger *trigger;
	const char *text;
} ConditionText;

/* Errors */

/* Return the names of a table's columns, separated by commas. */
static char *
column_names(Relation rel)
{
	TupleDesc	desc = RelationGetDescr(rel);
	StringInfoData names;

	initStringInfo(&names);
	for (int i = 0; i < desc->natts; i++)
		if (!TupleDescAttr(desc, i)->attisdropped)
			appendStringInfo(&names, "%s%s", names.len > 0 ? ", " : "",
							 quote_identifier(NameStr(TupleDescAttr(desc,
																	i)->attname)));
	return names.data;
}

/*
 * Error context callback: let errors point into the text of the condition, not
 * into the calling statement, and say which names exist.
 */
static void
explain_error(void *arg)
{
	const ConditionText *parsing = arg;
	int			place = geterrposition();

	if (place > 0)
	{
		errposition(0);
		internalerrposition(place);
		internalerrquery(parsing->text);
	}
	switch (geterrcode())
	{
		case ERRCODE_UNDEFINED_COLUMN:
		case ERRCODE_UNDEFINED_TABLE:
		case ERRCODE_AMBIGUOUS_COLUMN:
			errhint("The rows are named new and old, and have the columns %s.",
					column_names(parsing->rel));
			break;
		case ERRCODE_UNDEFINED_FUNCTION:
		case ERRCODE_UNDEFINED_OBJECT:
			errhint("Names are looked up in pg_catalog: write others with their schema, as in public.similarity(a, b) or a OPERATOR(public.=) b.  Perhaps a cast is missing.");
			break;
	}
	errcontext("condition of trigger \"%s\" on table \"%s\"",
			   parsing->trigger->tgname,
			   RelationGetRelationName(parsing->rel));
}

/* Raise an error: the text is no valid condition. */
static void
refuse(const char *message)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_OBJECT_DEFINITION),
			 errmsg("%s", message),
			 errhint("A condition of neardup_guard is an expression over columns of the rows new and old, without subqueries, aggregates and volatile functions.")));
}

/* Parsing */

/* Parse the text, which must be one expression, and return that. */
static Node *
parse_text(const char *text)
{
	List	   *statements = raw_parser(text, RAW_PARSE_PLPGSQL_EXPR);
	SelectStmt *select = (SelectStmt *) linitial_node(RawStmt,
													  statements)->stmt;

	if (!IsA(select, SelectStmt) || list_length(select->targetList) != 1 ||
		select->distinctClause != NIL || select->fromClause != NIL ||
		select->whereClause != NULL || select->groupClause != NIL ||
		select->havingClause != NULL || select->windowClause != NIL ||
		select->sortClause != NIL || select->limitOffset != NULL ||
		select->limitCount != NULL || select->lockingClause != NIL)
		refuse("condition of neardup_guard is not one expression");
	return linitial_node(ResTarget, select->targetList)->val;
}

/* Raw expression tree walker: true if an expression has a subquery. */
static bool
has_subquery(Node *node, void *context)
{
	if (node == NULL)
		return false;
	return IsA(node, SubLink) ||
		raw_expression_tree_walker(node, has_subquery, context);
}

/* Let the condition refer to a row of the table by this name. */
static void
add_row(ParseState *pstate, Relation rel, const char *name)
{
	addNSItemToQuery(pstate,
					 addRangeTableEntryForRelation(pstate, rel,
												   AccessShareLock,
												   makeAlias(name, NIL),
												   false, false),
					 false, true, true);
}

/*
 * Expression tree walker: true if an expression uses a whole row or a system
 * column.
 */
static bool
uses_other_than_columns(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, Var))
		return ((Var *) node)->varattno <= 0;
	return expression_tree_walker(node, uses_other_than_columns, context);
}

/* Analyze the condition, with the present search path. */
static Node *
analyze(Relation rel, const char *text)
{
	ParseState *pstate = make_parsestate(NULL);
	Node	   *expr = parse_text(text);

	/* its tables are not looked up */
	if (has_subquery(expr, NULL))
		refuse("condition of neardup_guard has a subquery");
	pstate->p_sourcetext = text;

	add_row(pstate, rel, "new");
	add_row(pstate, rel, "old");
	expr = transformExpr(pstate, expr, EXPR_KIND_OTHER);
	if (pstate->p_hasAggs || pstate->p_hasWindowFuncs)
		refuse("condition of neardup_guard has an aggregate or window function");
	if (expression_returns_set(expr))
		refuse("condition of neardup_guard has a function that returns a set");
	expr = coerce_to_boolean(pstate, expr, "neardup_guard's IF");
	assign_expr_collations(pstate, expr);
	if (uses_other_than_columns(expr, NULL))
		refuse("condition of neardup_guard uses a whole row or a system column");
	if (contain_volatile_functions(expr))
		refuse("condition of neardup_guard uses a volatile function");
	free_parsestate(pstate);
	return expr;
}

/* Analyze the condition, with names looked up in pg_catalog. */
static Node *
analyze_in_catalog(Relation rel, const char *text)
{
	int			nest_level = NewGUCNestLevel();
	Node	   *expr;

	(void) set_config_option("search_path", "pg_catalog, pg_temp",
							 PGC_USERSET, PGC_S_SESSION, GUC_ACTION_SAVE, true,
							 0, false);
	expr = analyze(rel, text);
	AtEOXact_GUC(true, nest_level);
	return expr;
}

void
guard_parse_condition(Guard *guard, Relation rel, const Trigger *trigger,
					  const char *condition)
{
	ConditionText parsing = {rel, trigger, condition};
	ErrorContextCallback errors = {
		error_context_stack, explain_error, &parsing
	};
	Node	   *expr;
	Node	   *inputs;

	error_context_stack = &errors;
	expr = analyze_in_catalog(rel, condition);
	error_context_stack = errors.previous;

	pull_varattnos(expr, NEW_VARNO, &guard->condition.columns);
	pull_varattnos(expr, OLD_VARNO, &guard->condition.columns);

	/* a stored row may serve as either row */
	inputs = guard_expand_generated(expr, rel, NEW_VARNO, guard->before);
	inputs = guard_expand_generated(inputs, rel, OLD_VARNO, guard->before);
	pull_varattnos(inputs, NEW_VARNO, &guard->condition.inputs);
	pull_varattnos(inputs, OLD_VARNO, &guard->condition.inputs);

	expr = guard_expand_generated(expr, rel, NEW_VARNO, guard->before);
	expr = guard_expand_generated(expr, rel, OLD_VARNO, false);
	ChangeVarNodes(expr, NEW_VARNO, OUTER_VAR, 0);
	ChangeVarNodes(expr, OLD_VARNO, INNER_VAR, 0);
	guard->condition.expr = (Expr *) expr;
}

void
guard_require_same_names(Relation rel, const Trigger *trigger,
						 const char *condition)
{
	ConditionText parsing = {rel, trigger, condition};
	ErrorContextCallback errors = {
		error_context_stack, explain_error, &parsing
	};

	error_context_stack = &errors;
	if (!equal(analyze_in_catalog(rel, condition), analyze(rel, condition)))
		ereport(ERROR,
				(errcode(ERRCODE_AMBIGUOUS_FUNCTION),
				 errmsg("condition of neardup_guard depends on the search path"),
				 errdetail("A function, an operator or a type has another meaning in pg_catalog, where its name is looked up."),
				 errhint("Write it with its schema, as in public.similarity(a, b) or a OPERATOR(public.=) b.")));
	error_context_stack = errors.previous;
}

/* Computing */

/* Return the row in the table's slot, converted to the new row's layout. */
static TupleTableSlot *
other_row(ConflictScan *scan)
{
	TupleTableSlot *slot = scan->table->slot;

	if (scan->layout == NULL)
		return slot;
	return execute_attr_map_slot(scan->layout->attrMap, slot,
								 MakeSingleTupleTableSlot(scan->layout->outdesc,
														  &TTSOpsVirtual));
}

bool
guard_condition_holds(ConflictScan *scan)
{
	Guard	   *guard = scan->guard;
	GuardCondition *condition = &guard->condition;
	ExprContext *econtext = guard->candidate;
	MemoryContext caller;
	Datum		value;
	bool		isnull;

	if (condition->expr == NULL)
		return true;
	if (condition->state == NULL)
	{
		caller = MemoryContextSwitchTo(guard->memory);
		condition->state = ExecInitExpr(expression_planner(condition->expr),
										NULL);
		MemoryContextSwitchTo(caller);
	}
	caller = MemoryContextSwitchTo(econtext->ecxt_per_tuple_memory);
	econtext->ecxt_outertuple = scan->row->slot;
	econtext->ecxt_innertuple = other_row(scan);
	value = ExecEvalExpr(condition->state, econtext, &isnull);
	MemoryContextSwitchTo(caller);
	ResetExprContext(econtext);
	return !isnull && DatumGetBool(value);
}
