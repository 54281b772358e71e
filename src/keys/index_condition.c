/*
 * index_condition.c
 *		What the planner knows of a condition on an index of signatures, and
 *		how often the index is searched.
 */
#include "postgres.h"

#include "access/detoast.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"

#include "base/settings.h"
#include "keys/index_condition.h"
#include "signature/sql/signature_query.h"

/*
 * Assumed number of executions of a correlated subquery, which the planner
 * does not know yet
 */
#define CORRELATED_LOOPS	100

/* Return the constant that an expression is or can be folded to, or NULL. */
static Const *
known(PlannerInfo *root, Expr *expr)
{
	Const	   *constant = (Const *) estimate_expression_value(root,
															   (Node *) expr);

	return IsA(constant, Const) && !constant->constisnull ? constant : NULL;
}

/* Read a constant query into *condition. */
static void
constant_condition(const Const *constant, IndexCondition *condition)
{
	const SignatureQuery *query = DatumGetSignatureQuery(constant->constvalue);

	condition->measure = query->measure;
	condition->threshold = query->threshold;
	condition->values = SIGNATURE_NVALUES(&query->signature);
}

void
index_condition_of(PlannerInfo *root, Node *query, IndexCondition *condition)
{
	Expr	   *signature;
	Expr	   *measure;
	Expr	   *threshold;
	Const	   *constant;

	condition->measure = MEASURE_JACCARD;
	condition->threshold = neardup_threshold;
	condition->values = 0;
	if (IsA(query, Const) && !((Const *) query)->constisnull)
		constant_condition((Const *) query, condition);
	else if (signature_subscripts(query, &signature, &measure, &threshold))
	{
		const text *name;

		constant = known(root, measure);
		name = constant != NULL ? DatumGetTextPP(constant->constvalue) : NULL;
		if (name != NULL)
			(void) measure_by_name(VARDATA_ANY(name), VARSIZE_ANY_EXHDR(name),
								   &condition->measure);
		constant = threshold != NULL ? known(root, threshold) : NULL;
		if (constant != NULL)
			condition->threshold = DatumGetFloat8(constant->constvalue);
	}
	if (!measure_has_threshold(condition->measure, condition->threshold))
		condition->threshold = 1;
}

/* True if a parameter is a value of a row of an outer query. */
static bool
is_of_outer_query(const PlannerInfo *root, int param)
{
	for (root = root->parent_root; root != NULL; root = root->parent_root)
	{
		ListCell   *lc;

		foreach(lc, root->plan_params)
			if (lfirst_node(PlannerParamItem, lc)->paramId == param)
			return true;
	}
	return false;
}

/* True if an expression depends on a row of an outer query. */
static bool
has_outer_value(Node *node, void *root)
{
	if (node == NULL)
		return false;
	if (IsA(node, RestrictInfo))
		return has_outer_value((Node *) ((RestrictInfo *) node)->clause, root);
	if (IsA(node, Param))
		return ((Param *) node)->paramkind == PARAM_EXEC &&
			is_of_outer_query(root, ((Param *) node)->paramid);
	return expression_tree_walker(node, has_outer_value, root);
}

double
index_loops(PlannerInfo *root, List *conditions, double loop_count)
{
	if (loop_count <= 1 && has_outer_value((Node *) conditions, root))
		return CORRELATED_LOOPS;
	return loop_count;
}

double
index_uncached_pages(PlannerInfo *root, const IndexOptInfo *index,
					 double pages, double loops)
{
	Assert(pages >= 0);
	if (loops <= 1)
		return pages;
	return Min(index_pages_fetched(pages * loops, index->pages, index->pages,
								   root) / loops, pages);
}
