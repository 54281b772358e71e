/*
 * look_ups.c
 *		Index look-ups for comparisons of a measure.
 *
 * The planner asks a function's support what an index can do for a call of it
 * or for an operator that it implements.  In similarity(a, b) >= 0.8 the
 * function is an operand, and >= is the server's own: nobody is asked, and the
 * share of rows that pass is taken to be a third.  So when the server has made
 * its paths for a table, those of index look-ups by such comparisons are added
 * here, and the numbers of rows set right.  So it is with near_duplicate(a, b, t)
 * IS TRUE.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/planner/look_ups.c
 */
#include "postgres.h"

#include "nodes/makefuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/restrictinfo.h"

#include "planner/comparisons.h"
#include "planner/statistics.h"

static set_rel_pathlist_hook_type previous_hook = NULL;

/* Numbers of rows */

/*
 * True if the clause is a condition of which the planner asks no support: a comparison,
 * or one within IS TRUE.
 */
static bool
is_near_comparison(const RestrictInfo *rinfo, NearCondition *condition)
{
	List	   *args;

	return !rinfo->pseudoconstant &&
		near_condition((Node *) rinfo->clause, condition) &&
		near_function((Node *) rinfo->clause, &args) == NULL;
}

/* The semi- or anti-join that a clause belongs to, or NULL. */
static SpecialJoinInfo *
semi_join_of(PlannerInfo *root, const RestrictInfo *rinfo)
{
	ListCell   *lc;

	foreach(lc, root->join_info_list)
	{
		SpecialJoinInfo *info = lfirst(lc);

		if ((info->jointype == JOIN_SEMI || info->jointype == JOIN_ANTI) &&
			bms_overlap(rinfo->clause_relids, info->syn_lefthand) &&
			bms_overlap(rinfo->clause_relids, info->syn_righthand))
			return info;
	}
	return NULL;
}

/*
 * Sets the selectivities of the comparisons in a list, where the planner keeps
 * them; returns by what the number of rows that pass changes.
 */
static double
correct_selectivities(PlannerInfo *root, List *rinfos)
{
	double		factor = 1;
	ListCell   *lc;

	foreach(lc, rinfos)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);
		NearCondition condition;
		SpecialJoinInfo *semi;
		Selectivity guessed;

		if (!is_near_comparison(rinfo, &condition))
			continue;
		guessed = clause_selectivity(root, (Node *) rinfo, 0, JOIN_INNER, NULL);
		rinfo->norm_selec = near_selectivity(root, (Node *) rinfo->clause,
											 JOIN_INNER, NULL);
		semi = semi_join_of(root, rinfo);
		rinfo->outer_selec = semi == NULL ? rinfo->norm_selec :
			near_selectivity(root, (Node *) rinfo->clause, semi->jointype,
							 semi);
		factor *= rinfo->norm_selec / Max(guessed, 1e-10);
	}
	return factor;
}

/*
 * Where a.id < b.id stands beside a condition that pairs a table's rows with each
 * other, it leaves one of the two pairs that each two rows make, while the planner
 * takes a third.  Of rows with a partner it leaves those that have one before
 * them: nearly all that have many.
 */
static void
correct_order(PlannerInfo *root, RestrictInfo *rinfo, List *rinfos)
{
	NearCondition condition;
	ListCell   *lc;

	if (rinfo->pseudoconstant ||
		(!near_condition((Node *) rinfo->clause, &condition) &&
		 !approx_condition((Node *) rinfo->clause, &condition)))
		return;
	foreach(lc, rinfos)
	{
		RestrictInfo *order = lfirst_node(RestrictInfo, lc);

		if (order != rinfo)
			(void) near_order_selectivity(root, &condition, (Node *) order->clause,
										  semi_join_of(root, rinfo),
										  &order->norm_selec, &order->outer_selec);
	}
}

static void
scale_paths(List *paths, double factor)
{
	ListCell   *lc;

	foreach(lc, paths)
	{
		Path	   *path = lfirst(lc);

		path->rows = clamp_row_est(path->rows * factor);
	}
}

/*
 * Corrects the number of rows of a table, or of a partitioned one, whose
 * paths have the sum of their partitions' rows.
 */
static void
correct_rows(PlannerInfo *root, RelOptInfo *rel, const RangeTblEntry *rte)
{
	double		factor;
	ListCell   *lc;

	(void) correct_selectivities(root, rel->joininfo);
	foreach(lc, rel->joininfo)
		correct_order(root, lfirst_node(RestrictInfo, lc), rel->joininfo);
	factor = correct_selectivities(root, rel->baserestrictinfo);
	if (factor == 1)
		return;
	rel->rows = clamp_row_est(rel->rows * factor);
	if (rte->inh)
		return;
	foreach(lc, rel->ppilist)
	{
		ParamPathInfo *info = lfirst(lc);

		info->ppi_rows = clamp_row_est(info->ppi_rows * factor);
	}
	scale_paths(rel->pathlist, factor);
	scale_paths(rel->partial_pathlist, factor);
}

/* Paths */

/* Rows of the smallest table that a look-up takes its signatures from. */
static double
look_ups_made(PlannerInfo *root, Relids outer)
{
	double		fewest = 0;
	int			relid = -1;

	while ((relid = bms_next_member(outer, relid)) >= 0)
	{
		RelOptInfo *rel = root->simple_rel_array[relid];

		if (rel != NULL && rel->rows > 0 && (fewest == 0 || rel->rows < fewest))
			fewest = rel->rows;
	}
	return Max(fewest, 1);
}

/* Adds the look-up by a clause that the index column has an operator for. */
static void
add_look_up(PlannerInfo *root, IndexOptInfo *index, int indexcol,
			RestrictInfo *rinfo, Expr *clause)
{
	RelOptInfo *rel = index->rel;
	IndexClause *indexed = makeNode(IndexClause);
	Relids		outer = bms_difference(rinfo->clause_relids, rel->relids);
	double		loops = look_ups_made(root, outer);
	Path	   *path;

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
	add_path(rel, (Path *) create_bitmap_heap_path(root, rel, path, outer,
												   loops, 0));
	if (rel->consider_parallel && outer == NULL)
		create_partial_bitmap_paths(root, rel, path);
}

/* Tries a clause on each column of an index. */
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

/* Tries the comparisons of a list on the indexes of a table. */
static void
try_clauses(PlannerInfo *root, RelOptInfo *rel, List *rinfos, bool join)
{
	ListCell   *lc;
	ListCell   *lc2;

	foreach(lc, rinfos)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);
		NearCondition condition;

		if (!is_near_comparison(rinfo, &condition) ||
			!restriction_is_securely_promotable(rinfo, rel) ||
			(join && !join_clause_is_movable_to(rinfo, rel)))
			continue;
		foreach(lc2, rel->indexlist)
			try_index(root, lfirst(lc2), rinfo, &condition);
	}
}

/* set_rel_pathlist_hook */
static void
rel_pathlist(PlannerInfo *root, RelOptInfo *rel, Index rti,
			 RangeTblEntry *rte)
{
	if (previous_hook)
		previous_hook(root, rel, rti, rte);
	correct_rows(root, rel, rte);
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
