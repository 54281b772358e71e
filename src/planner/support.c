/*
 * support.c
 *		Planner support for near-duplicate conditions: index conditions,
 *		estimates, look-ups.
 *
 * The planner calls the support function of a function or of an operator's
 * function.  In similarity(a, b) >= 0.8 the function is an operand, and >= is
 * the server's, without such support.  So index paths for such comparisons, and
 * for near_duplicate(a, b, t) IS TRUE, are added to the server's paths of a
 * table, with our estimate of rows.  Other estimates stay the server's.
 */
#include "postgres.h"

#include "nodes/makefuncs.h"
#include "nodes/supportnodes.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/restrictinfo.h"

#include "base/compat.h"
#include "planner/conditions.h"
#include "signature/sql/near.h"
#include "signature/sql/signature_query.h"

/* Requests to the support function */

/*
 * Whether a condition raises an error must not depend on the plan.  So the
 * index condition is lossy and raises none; the condition itself stays in the
 * plan, after cheaper ones.
 */
static List *
index_condition(SupportRequestIndexCondition *req)
{
	NearCondition condition;
	Expr	   *clause;

	if (!near_condition(req->node, &condition) &&
		!approx_condition(req->node, &condition))
		return NIL;
	clause = near_index_clause(req->root, req->index, req->indexcol,
							   req->opfamily, req->indexarg, &condition);
	if (clause == NULL)
		return NIL;
	req->lossy = true;
	return list_make1(clause);
}

/* The support function of near-duplicate conditions, see SupportRequest. */
PG_FUNCTION_INFO_V1(neardup_support);
Datum
neardup_support(PG_FUNCTION_ARGS)
{
	Node	   *request = (Node *) PG_GETARG_POINTER(0);

	if (IsA(request, SupportRequestIndexCondition))
		PG_RETURN_POINTER(index_condition((SupportRequestIndexCondition *) request));
	if (IsA(request, SupportRequestSelectivity))
	{
		SupportRequestSelectivity *req = (SupportRequestSelectivity *) request;
		Expr	   *clause = (Expr *) makeFuncExpr(req->funcid, BOOLOID,
												   req->args, InvalidOid,
												   req->inputcollid,
												   COERCE_EXPLICIT_CALL);

		req->selectivity = near_selectivity(req->root, (Node *) clause,
											req->jointype,
											req->is_join ? req->sjinfo : NULL);
		PG_RETURN_POINTER(req);
	}
	if (IsA(request, SupportRequestCost))
	{
		SupportRequestCost *req = (SupportRequestCost *) request;
		NearCondition condition;

		if (req->root == NULL || req->node == NULL ||
			(!near_condition(req->node, &condition) &&
			 !approx_condition(req->node, &condition) &&
			 !near_measure_call(req->node, &condition)))
			PG_RETURN_POINTER(NULL);
		req->startup = 0;
		req->per_tuple = near_comparison_cost(req->root, &condition);
		PG_RETURN_POINTER(req);
	}
	PG_RETURN_POINTER(NULL);
}

/* Selectivity of the operators */

/* The condition whose selectivity is estimated. */
static Node *
estimated_clause(FunctionCallInfo fcinfo)
{
	List	   *args = (List *) PG_GETARG_POINTER(2);

	return (Node *) make_opclause(PG_GETARG_OID(1), BOOLOID, false,
								  linitial(args), lsecond(args),
								  InvalidOid, PG_GET_COLLATION());
}

/* Restriction selectivity of the operators. */
PG_FUNCTION_INFO_V1(neardup_sel);
Datum
neardup_sel(PG_FUNCTION_ARGS)
{
	PG_RETURN_FLOAT8(near_selectivity((PlannerInfo *) PG_GETARG_POINTER(0),
									  estimated_clause(fcinfo), JOIN_INNER,
									  NULL));
}

/* Join selectivity of the operators. */
PG_FUNCTION_INFO_V1(neardup_joinsel);
Datum
neardup_joinsel(PG_FUNCTION_ARGS)
{
	PG_RETURN_FLOAT8(near_selectivity((PlannerInfo *) PG_GETARG_POINTER(0),
									  estimated_clause(fcinfo),
									  (JoinType) PG_GETARG_INT16(3),
									  (SpecialJoinInfo *) PG_GETARG_POINTER(4)));
}

/* Look-ups by comparisons of a measure */

static set_rel_pathlist_hook_type previous_hook = NULL;

/*
 * True if the clause is a condition whose index conditions the server does not
 * ask for: it has no planner support, or it is %% whose right signature is in
 * a call of signature_query().
 */
static bool
needs_look_up(const RestrictInfo *rinfo, NearCondition *condition)
{
	List	   *args;
	PGFunction	function = near_function((Node *) rinfo->clause, &args);

	return !rinfo->pseudoconstant &&
		(function == NULL || function == signature_matches) &&
		near_condition((Node *) rinfo->clause, condition);
}

/*
 * The number of look-ups: rows of the smallest table whose signatures are
 * looked up.
 */
static double
look_ups_made(PlannerInfo *root, Relids outer)
{
	double		fewest = 0;
	int			relid = -1;

	while ((relid = bms_next_member(outer, relid)) >= 0)
	{
		RelOptInfo *rel = root->simple_rel_array[relid];

		if (rel != NULL && rel->rows > 0 &&
			(fewest == 0 || rel->rows < fewest))
			fewest = rel->rows;
	}
	return Max(fewest, 1);
}

/*
 * Add the index path of an index condition, with the rows that we
 * expect.  Where the server expects more, a scan seems to find the first rows
 * of a LIMIT or EXISTS at once.  So then the look-up is listed as if it began
 * at once, too.
 */
static void
add_look_up(PlannerInfo *root, IndexOptInfo *index, int indexcol,
			RestrictInfo *rinfo, Expr *clause)
{
	RelOptInfo *rel = index->rel;
	IndexClause *indexed = makeNode(IndexClause);
	Relids		outer = bms_difference(rinfo->clause_relids, rel->relids);
	double		loops = look_ups_made(root, outer);
	double		correction = near_correction(root, rinfo, rel->relid,
											 JOIN_INNER, NULL);
	Path	   *path;
	Path	   *scan;

	Assert(indexcol < index->nkeycolumns && !bms_is_member(rel->relid, outer));
	Assert(loops >= 1 && correction >= 0);
	indexed->rinfo = rinfo;
	indexed->indexquals = list_make1(make_simple_restrictinfo(root, clause));
	indexed->lossy = true;
	indexed->indexcol = indexcol;
	outer = bms_add_members(outer, rel->lateral_relids);
	if (bms_is_empty(outer))
		outer = NULL;
	path = (Path *) create_index_path(root, index, list_make1(indexed), NIL,
									  NIL, NIL, ForwardScanDirection, false,
									  outer, loops, false);
	scan = (Path *) create_bitmap_heap_path(root, rel, path, outer, loops, 0);
	scan->rows = clamp_row_est(scan->rows * correction);
	if (correction < 1)
		scan->startup_cost = 0;
	add_path(rel, scan);
	if (rel->consider_parallel && outer == NULL)
		create_partial_bitmap_paths(root, rel, path);
}

/* Add index paths of a clause on each column of an index. */
static void
try_index(PlannerInfo *root, IndexOptInfo *index, RestrictInfo *rinfo,
		  const NearCondition *condition)
{
	if (!index->amhasgetbitmap || (index->indpred != NIL && !index->predOK))
		return;
	for (int col = 0; col < index->nkeycolumns; col++)
		for (int arg = 0; arg < 2; arg++)
		{
			Expr	   *operand = arg == 0 ? condition->left :
			condition->right;
			Expr	   *clause;

			if (!match_index_to_operand((Node *) operand, col, index))
				continue;
			clause = near_index_clause(root, index, col, index->opfamily[col],
									   arg, condition);
			if (clause != NULL)
				add_look_up(root, index, col, rinfo, clause);
		}
}

/* Add index paths of the comparisons in a list, on all indexes of a table. */
static void
try_clauses(PlannerInfo *root, RelOptInfo *rel, List *rinfos, bool join)
{
	ListCell   *lc;
	ListCell   *lc2;

	foreach(lc, rinfos)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);
		NearCondition condition;

		if (!needs_look_up(rinfo, &condition) ||
			!restriction_is_securely_promotable(rinfo, rel) ||
			(join && !join_clause_is_movable_to(rinfo, rel)))
			continue;
		foreach(lc2, rel->indexlist)
			try_index(root, lfirst(lc2), rinfo, &condition);
	}
}

/* set_rel_pathlist_hook */
static void
rel_pathlist(PlannerInfo *root, RelOptInfo *rel, Index rti, RangeTblEntry *rte)
{
	if (previous_hook)
		previous_hook(root, rel, rti, rte);
	if (rte->rtekind != RTE_RELATION || rte->inh)
		return;
	try_clauses(root, rel, rel->baserestrictinfo, false);
	try_clauses(root, rel, rel->joininfo, true);
}

void
near_look_ups_init(void)
{
	previous_hook = set_rel_pathlist_hook;
	set_rel_pathlist_hook = rel_pathlist;
}
