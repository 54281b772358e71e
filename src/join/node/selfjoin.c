/*
 * selfjoin.c
 *		Joins of a table with itself, which read it once.
 *
 * If both sides are scans of one table with the same conditions, they have the
 * same rows. Reading them twice takes twice the time and memory, and
 * signatures that are expressions are made twice.  So the two scans are
 * compared, and changed to return the same columns; a row of one stands for a
 * row of the other.
 *
 * Scans of a table, of its partitions, of the branches of UNION ALL or of a
 * common table expression are compared.  An index scan returns the rows that
 * pass the conditions, whichever index it is.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "optimizer/prep.h"
#include "parser/parsetree.h"
#include "rewrite/rewriteManip.h"
#include "nodes/makefuncs.h"
#include "nodes/plannodes.h"

#include "base/compat.h"
#include "join/node/join_node.h"

/* A copy of an expression, with one relation replaced by another. */
static Node *
moved(Node *node, Index from, Index to)
{
	Node	   *copy = copyObject(node);

	ChangeVarNodes(copy, from, to, 0);
	return copy;
}

/* True if two expressions have the same value for each row. */
static bool
same_value(Node *outer, Index outer_relid, Node *inner, Index inner_relid)
{
	return !contain_volatile_functions(outer) && !contain_subplans(outer) &&
		equal(moved(outer, outer_relid, inner_relid), inner);
}

/* The relation of a path: a table, a common table expression, a subquery. */
static RangeTblEntry *
path_relation(PlannerInfo *root, Path *path)
{
	return planner_rt_fetch(path->parent->relid, root);
}

/* True if both are one table, or one common table expression. */
static bool
same_relation(const RangeTblEntry *outer, const RangeTblEntry *inner)
{
	if (outer->rtekind != inner->rtekind)
		return false;
	if (outer->rtekind == RTE_RELATION)
		return outer->relid == inner->relid;
	return outer->rtekind == RTE_CTE &&
		outer->ctelevelsup == inner->ctelevelsup &&
		strcmp(outer->ctename, inner->ctename) == 0;
}

/* True if the same rows pass the conditions of both relations. */
static bool
same_conditions(RelOptInfo *outer, RelOptInfo *inner)
{
	ListCell   *lc;
	ListCell   *lc2;

	if (list_length(outer->baserestrictinfo) !=
		list_length(inner->baserestrictinfo))
		return false;
	forboth(lc, outer->baserestrictinfo, lc2, inner->baserestrictinfo)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);
		RestrictInfo *rinfo2 = lfirst_node(RestrictInfo, lc2);

		if (rinfo->pseudoconstant || rinfo2->pseudoconstant ||
			!same_value((Node *) rinfo->clause, outer->relid,
						(Node *) rinfo2->clause, inner->relid))
			return false;
	}
	return true;
}

/* True if the outer foreign scan fetches all columns of the inner one. */
static bool
has_columns_of(RelOptInfo *outer, RelOptInfo *inner)
{
	ListCell   *lc;

	foreach(lc, inner->reltarget->exprs)
		if (!list_member(outer->reltarget->exprs,
						 moved(lfirst(lc), inner->relid, outer->relid)))
		return false;
	return true;
}

/* The strength of the row locks of a foreign scan. */
static int
lock_strength(PlannerInfo *root, RelOptInfo *rel)
{
	PlanRowMark *mark = get_plan_rowmark(root->rowMarks, rel->relid);

	if (bms_is_member(rel->relid, root->all_result_relids))
		return LCS_FORUPDATE;
	return mark == NULL ? LCS_NONE : mark->strength;
}

/*
 * True if both scans of a foreign table return the same rows, with all columns
 * of the inner one.  Rows may depend on the user, who for a view is its
 * owner.  The outer scan, which is executed, must lock at least as strongly as
 * the inner one.
 */
static bool
same_foreign_rows(PlannerInfo *outer_root, RelOptInfo *outer,
				  PlannerInfo *inner_root, RelOptInfo *inner)
{
	return outer->userid == inner->userid && has_columns_of(outer, inner) &&
		lock_strength(inner_root, inner) <= lock_strength(outer_root, outer);
}

/*
 * True if two children of appends have the same columns, up to the relations
 * of the query.
 */
static bool
same_translation(PlannerInfo *outer_root, Index outer, Index outer_parent,
				 PlannerInfo *inner_root, Index inner, Index inner_parent)
{
	while (outer != outer_parent && inner != inner_parent)
	{
		AppendRelInfo *info = outer_root->append_rel_array[outer];
		AppendRelInfo *info2 = inner_root->append_rel_array[inner];

		if (info == NULL || info2 == NULL ||
			!same_value((Node *) info->translated_vars, outer,
						(Node *) info2->translated_vars, inner))
			return false;
		outer = info->parent_relid;
		inner = info2->parent_relid;
	}
	return outer == outer_parent && inner == inner_parent;
}

static bool same_rows(PlannerInfo *outer_root, Path *outer,
					  PlannerInfo *inner_root, Path *inner);

/* True if both append the same rows. */
static bool
same_appended(PlannerInfo *outer_root, AppendPath *outer,
			  PlannerInfo *inner_root, AppendPath *inner)
{
	ListCell   *lc;
	ListCell   *lc2;

	if (list_length(outer->subpaths) != list_length(inner->subpaths))
		return false;
	forboth(lc, outer->subpaths, lc2, inner->subpaths)
	{
		Path	   *child = lfirst(lc);
		Path	   *child2 = lfirst(lc2);

		if (!same_rows(outer_root, child, inner_root, child2) ||
			!same_translation(outer_root, child->parent->relid,
							  outer->path.parent->relid,
							  inner_root, child2->parent->relid,
							  inner->path.parent->relid))
			return false;
	}
	return true;
}

/* A subquery without the columns that are selected of its relations. */
static Query *
subquery_of(PlannerInfo *root, Path *path)
{
	Query	   *query = copyObject(path_relation(root, path)->subquery);
	ListCell   *lc;

	foreach(lc, query->rtable)
		forget_wanted_columns(lfirst_node(RangeTblEntry, lc));
	return query;
}

/* True if both are one subquery; its conditions may have been pushed down. */
static bool
same_subquery(PlannerInfo *outer_root, SubqueryScanPath *outer,
			  PlannerInfo *inner_root, SubqueryScanPath *inner)
{
	RelOptInfo *outer_rel = outer->path.parent;
	RelOptInfo *inner_rel = inner->path.parent;
	Query	   *query = subquery_of(outer_root, &outer->path);

	return equal(query, subquery_of(inner_root, &inner->path)) &&
		!contain_volatile_functions((Node *) query) &&
		same_conditions(outer_rel, inner_rel) &&
		same_rows(outer_rel->subroot, outer->subpath, inner_rel->subroot,
				  inner->subpath);
}

/* A path without the projection on top of it. */
static Path *
projected(Path *path)
{
	return IsA(path, ProjectionPath) ? ((ProjectionPath *) path)->subpath :
		path;
}

/* True if both paths read the same rows. */
static bool
same_rows(PlannerInfo *outer_root, Path *outer, PlannerInfo *inner_root,
		  Path *inner)
{
	check_stack_depth();
	outer = projected(outer);
	inner = projected(inner);
	if (outer->pathtype != inner->pathtype ||
		!IS_SIMPLE_REL(outer->parent) || !IS_SIMPLE_REL(inner->parent))
		return false;
	switch (outer->pathtype)
	{
		case T_ForeignScan:
			if (!same_foreign_rows(outer_root, outer->parent, inner_root,
								   inner->parent))
				return false;
			pg_fallthrough;
		case T_SeqScan:
		case T_IndexScan:
		case T_BitmapHeapScan:
		case T_CteScan:
			return same_relation(path_relation(outer_root, outer),
								 path_relation(inner_root, inner)) &&
				same_conditions(outer->parent, inner->parent);
		case T_Append:
			return same_appended(outer_root, (AppendPath *) outer,
								 inner_root, (AppendPath *) inner);
		case T_SubqueryScan:
			return same_subquery(outer_root, (SubqueryScanPath *) outer,
								 inner_root, (SubqueryScanPath *) inner);
		default:
			return false;
	}
}

/*
 * True if the paths return the same rows, with the same signatures; both
 * expressions are given.
 */
bool
selfjoin_paths(PlannerInfo *root, Path *outer, Path *inner,
			   Expr *outer_signature, Expr *inner_signature)
{
	return same_rows(root, outer, root, inner) &&
		same_value((Node *) outer_signature, outer->parent->relid,
				   (Node *) inner_signature, inner->parent->relid);
}

/*
 * Both sides return the same columns
 *
 * The outer plan, which is executed, gets the missing columns of the inner
 * one, down to its scans, and the inner plan is changed to look like it.  The
 * inner plan is executed only to recheck rows after a concurrent update.
 */

/* The relation whose columns a plan returns. */
static Index
plan_relid(Plan *plan)
{
	if (IsA(plan, Append))
		return bms_singleton_member(((Append *) plan)->apprelids);
	return ((Scan *) plan)->scanrelid;
}

/* The children of an Append, with columns in the same places. */
static List *
plan_branches(Plan *plan)
{
	return IsA(plan, Append) ? ((Append *) plan)->appendplans : NIL;
}

/* The plan of a subquery; NULL: it is none. */
static Plan *
plan_subquery(Plan *plan)
{
	return IsA(plan, SubqueryScan) ? ((SubqueryScan *) plan)->subplan : NULL;
}

/* True if two plans can be changed to return the same columns. */
static bool
can_unite(Plan *outer, Plan *inner)
{
	ListCell   *lc;
	ListCell   *lc2;

	check_stack_depth();
	if (nodeTag(outer) != nodeTag(inner) ||
		outer->initPlan != NIL || inner->initPlan != NIL ||
		contain_subplans((Node *) inner->targetlist))
		return false;
	switch (nodeTag(outer))
	{
		case T_SeqScan:
		case T_IndexScan:
		case T_BitmapHeapScan:
		case T_CteScan:
		case T_ForeignScan:
			return true;
		case T_SubqueryScan:
			return can_unite(plan_subquery(outer), plan_subquery(inner));
		case T_Append:
			if (bms_membership(((Append *) outer)->apprelids) != BMS_SINGLETON)
				return false;
			forboth(lc, plan_branches(outer), lc2, plan_branches(inner))
				if (!can_unite(lfirst(lc), lfirst(lc2)))
				return false;
			return true;
		default:
			return false;
	}
}

/*
 * True if a plan returns columns only.  A row identity (ROWID_VAR) has no
 * relation, and on either side means the outer row: so only the outer plan may
 * have it.
 */
static bool
has_columns_only(Plan *plan, JoinSide side)
{
	ListCell   *lc;

	foreach(lc, plan->targetlist)
	{
		Var		   *var = (Var *) lfirst_node(TargetEntry, lc)->expr;

		if (!IsA(var, Var) || (var->varno == ROWID_VAR && side == SIDE_INNER))
			return false;
	}
	return true;
}

/* True if the column is in the target list. */
static bool
has_column(List *targetlist, const Var *var)
{
	ListCell   *lc;

	foreach(lc, targetlist)
	{
		Var		   *given = (Var *) lfirst_node(TargetEntry, lc)->expr;

		if (given->varno != ROWID_VAR && given->varattno == var->varattno)
			return true;
	}
	return false;
}

/*
 * The inner plan's expression in a place, as an expression of the outer plan.
 */
static Expr *
outer_form(Plan *outer, Plan *inner, int place)
{
	return (Expr *)
		moved((Node *) list_nth_node(TargetEntry, inner->targetlist,
									 place)->expr,
			  plan_relid(inner), plan_relid(outer));
}

/*
 * Replace columns that the outer subquery does not need, which are null, by
 * the columns of the inner one.
 */
static void
fill_columns(Plan *outer, Plan *inner)
{
	ListCell   *lc;
	ListCell   *lc2;

	foreach(lc, outer->targetlist)
	{
		TargetEntry *entry = lfirst_node(TargetEntry, lc);

		if (IsA(entry->expr, Const) && ((Const *) entry->expr)->constisnull)
			entry->expr = outer_form(outer, inner, foreach_current_index(lc));
	}
	forboth(lc, plan_branches(outer), lc2, plan_branches(inner))
		fill_columns(lfirst(lc), lfirst(lc2));
	if (plan_subquery(outer) != NULL)
		fill_columns(plan_subquery(outer), plan_subquery(inner));
}

/* Add the inner plan's column in that place to the outer plan. */
static void
add_column(Plan *outer, Plan *inner, int place)
{
	ListCell   *lc;
	ListCell   *lc2;

	forboth(lc, plan_branches(outer), lc2, plan_branches(inner))
		add_column(lfirst(lc), lfirst(lc2), place);
	if (plan_subquery(outer) != NULL)
		fill_columns(plan_subquery(outer), plan_subquery(inner));
	outer->targetlist = lappend(outer->targetlist,
								makeTargetEntry(outer_form(outer, inner,
														   place),
												list_length(outer->targetlist) + 1,
												NULL, false));
}

/* Make the inner plan return the columns of the outer one. */
static void
mirror(Plan *outer, Plan *inner)
{
	ListCell   *lc;
	ListCell   *lc2;

	forboth(lc, plan_branches(outer), lc2, plan_branches(inner))
		mirror(lfirst(lc), lfirst(lc2));
	if (plan_subquery(outer) != NULL)
	{
		mirror(plan_subquery(outer), plan_subquery(inner));
		((SubqueryScan *) outer)->scanstatus = SUBQUERY_SCAN_UNKNOWN;
		((SubqueryScan *) inner)->scanstatus = SUBQUERY_SCAN_UNKNOWN;
	}
	inner->targetlist = (List *) moved((Node *) outer->targetlist,
									   plan_relid(outer),
									   plan_relid(inner));
}

/*
 * Make two plans of the same rows return the same columns; false if that is
 * not possible.
 */
bool
selfjoin_unite_columns(Plan *outer, Plan *inner)
{
	ListCell   *lc;

	if (!can_unite(outer, inner) || !has_columns_only(outer, SIDE_OUTER) ||
		!has_columns_only(inner, SIDE_INNER))
		return false;
	foreach(lc, inner->targetlist)
	{
		Var		   *var = (Var *) lfirst_node(TargetEntry, lc)->expr;

		if (!has_column(outer->targetlist, var))
			add_column(outer, inner, foreach_current_index(lc));
	}
	mirror(outer, inner);
	return true;
}
