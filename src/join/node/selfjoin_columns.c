/*
 * selfjoin_columns.c
 *		Both sides of a table's join with itself give the same columns.
 *
 * What is wanted of either side may differ.  So the outer plan, the one that
 * is read, gets the columns of the inner one that it has not, down to the scans
 * at its bottom, and the inner plan is made to look like it.  The inner one is
 * read only where rows are checked again after a concurrent update.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/join/node/selfjoin_columns.c
 */
#include "postgres.h"

#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/plannodes.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"

#include "join/node/join_node.h"

/* The relation whose columns a plan gives. */
static Index
plan_relid(Plan *plan)
{
	if (IsA(plan, Append))
		return bms_singleton_member(((Append *) plan)->apprelids);
	return ((Scan *) plan)->scanrelid;
}

/* The plans that a plan gets its rows from, with columns in the same places. */
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

/* True if plans are such as can be made to give the same columns. */
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
 * True if a plan gives columns only.  Where a partitioned table is changed, what
 * tells its rows (ROWID_VAR) has no relation, and would be taken for that of
 * the outer row on either side: so only the outer one may have it.
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

/* What the inner plan has in a place, as an expression of the outer plan. */
static Expr *
outer_form(Plan *outer, Plan *inner, int place)
{
	return (Expr *)
		selfjoin_moved((Node *) list_nth_node(TargetEntry, inner->targetlist,
											  place)->expr,
					   plan_relid(inner), plan_relid(outer));
}

/*
 * Columns that nobody wants of a subquery are null: those that the inner one
 * has besides are put in their places.
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

/* Adds what the inner plan has in that place to the outer plan. */
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
								makeTargetEntry(outer_form(outer, inner, place),
												list_length(outer->targetlist) + 1,
												NULL, false));
}

/* Makes the inner plan give what the outer one gives. */
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
	inner->targetlist = (List *) selfjoin_moved((Node *) outer->targetlist,
												plan_relid(outer),
												plan_relid(inner));
}

/*
 * Makes two plans, of paths that give the same rows, give the same columns.
 * False if they cannot.
 */
bool
selfjoin_unite_columns(Plan *outer, Plan *inner)
{
	ListCell   *lc;

	if (!can_unite(outer, inner) ||
		!has_columns_only(outer, SIDE_OUTER) ||
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
