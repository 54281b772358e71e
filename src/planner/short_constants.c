/*
 * short_constants.c
 *		Signatures that are constants of a plan, made short for EXPLAIN.
 *
 * The signature of a document has a number for each of its shingles, and
 * EXPLAIN shows a constant as a whole, in each condition that it stands in:
 * megabytes for one line worth reading.  How a plan is shown is the server's
 * business.  But it is shown only when it has been run, or is not going to be,
 * so then its nodes are exchanged for copies with shorter constants.  The plan
 * itself, which may be cached, stays as it is.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/planner/short_constants.c
 */
#include "postgres.h"

#include "access/transam.h"
#include "catalog/pg_type_d.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "utils/float.h"
#include "utils/lsyscache.h"

#include "base/compat.h"
#include "signature/signature.h"
#include "methods/spec_name.h"
#include "planner/short_constants.h"
#include "signature/sql/signature_io.h"
#include "signature/sql/signature_query.h"

/* Signatures of more values than so many are made short. */
#define SHOWN_VALUES	16

static ExecutorStart_hook_type previous_start = NULL;
static ExecutorFinish_hook_type previous_finish = NULL;

/* Constants */

/* The C function that writes values of a type, NULL if it may be none of ours. */
static PGFunction
output_function(Oid type)
{
	Oid			function;
	bool		isvarlena;
	FmgrInfo	flinfo;

	getTypeOutputInfo(type, &function, &isvarlena);
	if (function < FirstNormalObjectId)
		return NULL;
	fmgr_info(function, &flinfo);
	return flinfo.fn_addr;
}

/*
 * How a constant is shown, if it is a signature, or a query with one, that is
 * long; else NULL.
 */
static char *
short_form(const Const *constant)
{
	StringInfoData text;
	PGFunction	output;
	const Signature *sig;

	if (constant->constisnull || constant->constlen != -1 ||
		VARSIZE_ANY(DatumGetPointer(constant->constvalue)) <= SHOWN_VALUES)
		return NULL;
	initStringInfo(&text);
	output = output_function(constant->consttype);
	if (output == signature_out)
		sig = DatumGetSignature(constant->constvalue);
	else if (output == signature_query_out)
	{
		const SignatureQuery *query = DatumGetSignatureQuery(constant->constvalue);

		appendStringInfo(&text, "%s %s ", float8out_internal(query->threshold),
						 measure_name(query->measure));
		sig = &query->signature;
	}
	else
		return NULL;
	if (SIGNATURE_NVALUES(sig) <= SHOWN_VALUES)
		return NULL;
	spec_append(&sig->spec, &text);
	appendStringInfo(&text, "{%llu values}",
					 (unsigned long long) SIGNATURE_NVALUES(sig));
	return text.data;
}

/* True if an expression has such a constant. */
static bool
has_long_constant(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, Const))
		return short_form((Const *) node) != NULL;
	return expression_tree_walker(node, has_long_constant, context);
}

/* Such constants become literals of no certain type, which are shown alone. */
static Node *
shorten(Node *node, void *context)
{
	char	   *text;

	if (node == NULL)
		return NULL;
	if (!IsA(node, Const))
		return expression_tree_mutator(node, shorten, context);
	text = short_form((Const *) node);
	if (text == NULL)
		return node;
	return (Node *) makeConst(UNKNOWNOID, -1, InvalidOid, -2,
							  CStringGetDatum(text), false, false);
}

/* Plans */

/* Does something to each list of expressions of a node that EXPLAIN shows. */
static bool
visit_expressions(Plan *plan, bool (*visit) (List **exprs))
{
	bool		result = visit(&plan->targetlist);

	result |= visit(&plan->qual);
	switch (nodeTag(plan))
	{
		case T_IndexScan:
			result |= visit(&((IndexScan *) plan)->indexqualorig);
			result |= visit(&((IndexScan *) plan)->indexorderbyorig);
			break;
		case T_IndexOnlyScan:
			result |= visit(&((IndexOnlyScan *) plan)->indexqual);
			result |= visit(&((IndexOnlyScan *) plan)->recheckqual);
			break;
		case T_BitmapIndexScan:
			result |= visit(&((BitmapIndexScan *) plan)->indexqualorig);
			break;
		case T_BitmapHeapScan:
			result |= visit(&((BitmapHeapScan *) plan)->bitmapqualorig);
			break;
		case T_FunctionScan:
			result |= visit(&((FunctionScan *) plan)->functions);
			break;
		case T_NestLoop:
		case T_MergeJoin:
		case T_HashJoin:
			result |= visit(&((Join *) plan)->joinqual);
			break;
		case T_CustomScan:
			result |= visit(&((CustomScan *) plan)->custom_exprs);
			break;
		case T_Result:
			result |= visit((List **) &((Result *) plan)->resconstantqual);
			break;
		default:
			break;
	}
	return result;
}

static bool
have_long_constants(List **exprs)
{
	return has_long_constant((Node *) *exprs, NULL);
}

static bool
shorten_list(List **exprs)
{
	*exprs = (List *) shorten((Node *) *exprs, NULL);
	return true;
}

/* The plan of the first or second child, as it is now. */
static Plan *
child_plan(PlanState *ps, int which, Plan *before)
{
	PlanState  *child = which == 0 ? outerPlanState(ps) : innerPlanState(ps);

	if (child == NULL && before != NULL && IsA(ps, CustomScanState))
		child = list_nth(((CustomScanState *) ps)->custom_ps, which);
	return child != NULL ? child->plan : before;
}

/*
 * Exchanges plans in the tree below ps, and its own, for copies.  EXPLAIN
 * finds the source of a parameter by comparing pointers of plans, so a parent
 * has to point to the copies of its children.
 */
static bool
shorten_plans(PlanState *ps, void *context)
{
	Plan	   *plan = ps->plan;
	Plan	   *left;
	Plan	   *right;

	check_stack_depth();
	planstate_tree_walker(ps, shorten_plans, context);
	left = child_plan(ps, 0, plan->lefttree);
	right = child_plan(ps, 1, plan->righttree);
	if (left == plan->lefttree && right == plan->righttree &&
		!visit_expressions(plan, have_long_constants))
		return false;
	plan = copyObject(plan);
	plan->lefttree = left;
	plan->righttree = right;
	visit_expressions(plan, shorten_list);
	ps->plan = plan;
	return false;
}

static void
shorten_query(QueryDesc *query)
{
	MemoryContext old = MemoryContextSwitchTo(query->estate->es_query_cxt);

	shorten_plans(query->planstate, NULL);
	MemoryContextSwitchTo(old);
}

/* ExecutorStart_hook: a plan that is only explained is not going to be run. */
static void
executor_start(QueryDesc *query, int eflags)
{
	if (previous_start)
		previous_start(query, eflags);
	else
		standard_ExecutorStart(query, eflags);
	if (eflags & EXEC_FLAG_EXPLAIN_ONLY)
		shorten_query(query);
}

/* ExecutorFinish_hook: one that is explained with what it did has been run. */
static void
executor_finish(QueryDesc *query)
{
	if (previous_finish)
		previous_finish(query);
	else
		standard_ExecutorFinish(query);
	if (query->instrument_options != 0)
		shorten_query(query);
}

void
short_constants_init(void)
{
	previous_start = ExecutorStart_hook;
	ExecutorStart_hook = executor_start;
	previous_finish = ExecutorFinish_hook;
	ExecutorFinish_hook = executor_finish;
}
