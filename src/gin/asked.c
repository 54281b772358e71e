/*
 * asked.c
 *		What an index is asked, as far as the planner knows.
 */
#include "postgres.h"

#include "access/detoast.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"

#include "base/settings.h"
#include "gin/asked.h"
#include "signature/sql/signature_query.h"

/* How often the planner takes a subquery of an outer row to run: it does not know yet. */
#define CORRELATED_LOOPS	100

/* A constant, or what can be made one; or NULL. */
static Const *
known(PlannerInfo *root, Expr *expr)
{
	Const	   *constant = (Const *) estimate_expression_value(root, (Node *) expr);

	return IsA(constant, Const) && !constant->constisnull ? constant : NULL;
}

static void
asked_by_constant(const Const *constant, Asked *asked)
{
	const SignatureQuery *query = DatumGetSignatureQuery(constant->constvalue);

	asked->measure = query->measure;
	asked->threshold = query->threshold;
	asked->values = SIGNATURE_NVALUES(&query->signature);
}

void
asked_by(PlannerInfo *root, Node *query, Asked *asked)
{
	Expr	   *signature;
	Expr	   *measure;
	Expr	   *threshold;
	Const	   *constant;

	asked->measure = MEASURE_JACCARD;
	asked->threshold = neardup_threshold;
	asked->values = 0;
	if (IsA(query, Const) && !((Const *) query)->constisnull)
		asked_by_constant((Const *) query, asked);
	else if (signature_subscripts(query, &signature, &measure, &threshold))
	{
		const text *name;

		constant = known(root, measure);
		name = constant != NULL ? DatumGetTextPP(constant->constvalue) : NULL;
		if (name != NULL)
			(void) measure_by_name(VARDATA_ANY(name), VARSIZE_ANY_EXHDR(name),
								   &asked->measure);
		constant = threshold != NULL ? known(root, threshold) : NULL;
		if (constant != NULL)
			asked->threshold = DatumGetFloat8(constant->constvalue);
	}
	if (!measure_has_threshold(asked->measure, asked->threshold))
		asked->threshold = 1;
}

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

/* Walks over what has a value of an outer query's row in it. */
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
asked_loops(PlannerInfo *root, List *conditions, double loop_count)
{
	if (loop_count <= 1 && has_outer_value((Node *) conditions, root))
		return CORRELATED_LOOPS;
	return loop_count;
}

double
asked_pages(PlannerInfo *root, const IndexOptInfo *index, double pages, double loops)
{
	if (loops <= 1)
		return pages;
	return Min(index_pages_fetched(pages * loops, index->pages, index->pages,
								   root) / loops, pages);
}
