/*
 * join_plan.c
 *		Creating the plan of a similarity join.
 */
#include "postgres.h"

#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/restrictinfo.h"

#include "join/node/join_node.h"

/* Find the same column or placeholder in a list of expressions. */
static Node *
find_same(Node *node, List *forms)
{
	ListCell   *lc;

	foreach(lc, forms)
	{
		Node	   *form = lfirst(lc);

		if (IsA(node, Var) && IsA(form, Var) &&
			((Var *) node)->varno == ((Var *) form)->varno &&
			((Var *) node)->varattno == ((Var *) form)->varattno &&
			((Var *) node)->varlevelsup == ((Var *) form)->varlevelsup)
			return form;
		if (IsA(node, PlaceHolderVar) && IsA(form, PlaceHolderVar) &&
			((PlaceHolderVar *) node)->phid ==
			((PlaceHolderVar *) form)->phid &&
			((PlaceHolderVar *) node)->phlevelsup ==
			((PlaceHolderVar *) form)->phlevelsup)
			return form;
	}
	return NULL;
}

/*
 * Columns and placeholders as they are above the join.  From version 16 on
 * they name the outer joins that may have made them null, so they differ above
 * and below the join.  All expressions of the node are matched with its
 * custom_scan_tlist, so all must have one form.
 */
static Node *
to_output_form(Node *node, List *forms)
{
	if (node == NULL)
		return NULL;
	if (IsA(node, Var) || IsA(node, PlaceHolderVar))
	{
		Node	   *form = find_same(node, forms);

		return form ? copyObject(form) : copyObject(node);
	}
	return expression_tree_mutator(node, to_output_form, forms);
}

/*
 * If a partitioned table is changed, its row identity is a column without
 * relation (ROWID_VAR), which core allows in join and append nodes but not in
 * a custom scan.  The column of the partitioned table stands in for it, see
 * row_identity_path().
 */
Expr *
row_identity_column(PlannerInfo *root, Expr *expr)
{
	const RowIdentityVarInfo *info;
	Var		   *column;

	if (!IsA(expr, Var) || ((Var *) expr)->varno != ROWID_VAR)
		return expr;
	column = copyObject((Var *) expr);
	info = list_nth(root->row_identity_vars, column->varattno - 1);
	Assert(root->parse->resultRelation > 0);
	column->varno = root->parse->resultRelation;
	column->varattno = info->rowidvar->varattno;
	return (Expr *) column;
}

/* The children's columns side by side, in output form. */
static List *
child_columns(PlannerInfo *root, List *custom_plans, List *forms)
{
	List	   *columns = NIL;
	ListCell   *lc;
	ListCell   *lc2;

	foreach(lc, custom_plans)
	{
		foreach(lc2, ((Plan *) lfirst(lc))->targetlist)
		{
			TargetEntry *entry = lfirst_node(TargetEntry, lc2);
			Expr	   *expr = (Expr *) to_output_form((Node *) entry->expr,
													   forms);

			expr = row_identity_column(root, expr);
			columns = lappend(columns,
							  makeTargetEntry(expr, list_length(columns) + 1,
											  NULL, false));
		}
	}
	return columns;
}

/*
 * True if a clause is evaluated before another, by security level and then by
 * cost.
 */
static bool
goes_before(const RestrictInfo *x, const RestrictInfo *y)
{
	return x->security_level < y->security_level ||
		(x->security_level == y->security_level &&
		 x->eval_cost.per_tuple < y->eval_cost.per_tuple);
}

/* The clauses in core's order of evaluation, by a stable sort. */
static List *
ordered_clauses(PlannerInfo *root, List *rinfos)
{
	List	   *ordered = NIL;
	QualCost	cost;
	ListCell   *lc;

	cost_qual_eval(&cost, rinfos, root);	/* fills eval_cost */
	foreach(lc, rinfos)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);
		int			place = list_length(ordered);

		while (place > 0 && goes_before(rinfo, list_nth(ordered, place - 1)))
			place--;
		ordered = list_insert_nth(ordered, place, rinfo);
	}
	return ordered;
}

/* CustomPathMethods.PlanCustomPath */
Plan *
similarity_join_plan(PlannerInfo *root, RelOptInfo *rel, CustomPath *path,
					 List *tlist, List *clauses, List *custom_plans)
{
	CustomScan *scan = makeNode(CustomScan);
	List	   *private = path->custom_private;
	RestrictInfo *condition = list_nth(private, PATH_CONDITION);
	List	   *in_order = ordered_clauses(root,
										   list_nth(private, PATH_CLAUSES));
	int			nbefore = 0;
	List	   *before;
	List	   *filter;
	List	   *qual;
	Plan	   *outer = linitial(custom_plans);
	bool		self_join = path_private(path, PATH_SELF) &&
	selfjoin_unite_columns(outer, lsecond(custom_plans));
	int			flags = PVC_RECURSE_AGGREGATES | PVC_RECURSE_WINDOWFUNCS;
	Node	   *output;
	List	   *forms;

	Assert(list_member_ptr(in_order, condition));
	while (list_nth(in_order, nbefore) != condition)
		nbefore++;
	before = extract_actual_clauses(list_copy_head(in_order, nbefore), false);
	filter = remaining_clauses(in_order, condition,
							   path_private(path, PATH_IMPLIED));
	filter = extract_actual_clauses(filter, false);
	qual = ordered_clauses(root, list_nth(private, PATH_QUAL));
	qual = extract_actual_clauses(qual, false);

	/*
	 * Columns and placeholders of the output (tlist may be empty), then those
	 * within placeholders, as this join may evaluate a placeholder.
	 */
	output = (Node *) list_make2(rel->reltarget->exprs, qual);
	forms =
		list_concat(pull_var_clause(output,
									flags | PVC_INCLUDE_PLACEHOLDERS),
					pull_var_clause(output,
									flags | PVC_RECURSE_PLACEHOLDERS));
	scan->scan.plan.targetlist = tlist;
	scan->scan.scanrelid = 0;
	scan->flags = path->flags;
	scan->custom_plans = custom_plans;
	scan->custom_scan_tlist = child_columns(root, custom_plans, forms);
	scan->custom_exprs = (List *)
		to_output_form((Node *) list_make3(condition->clause, filter, qual),
					   forms);
	Assert(list_length(scan->custom_exprs) == JOIN_EXPR_COUNT);
	scan->custom_private = list_make5(list_nth(private, PATH_TYPE),
									  makeInteger(list_length(outer->targetlist)),
									  list_nth(private, PATH_LEFT_IS_INNER),
									  makeInteger(list_length(before)),
									  makeInteger(self_join));
	scan->custom_private = lappend(scan->custom_private,
								   list_nth(private, PATH_INNER_WHOLE));
	Assert(list_length(scan->custom_private) == JOIN_PRIVATE_COUNT);
	scan->methods = &similarity_join_scan_methods;
	return &scan->scan.plan;
}
