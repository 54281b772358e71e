/*
 * selfjoin.c
 *		Joins of a table with itself, which read it once.
 *
 * Deduplication joins a table with itself: both sides are scans of one table,
 * with the same conditions, and so have the same rows.  Reading them twice
 * takes twice the time and twice the memory, and where the signature is an
 * expression each one is made twice.  Such joins are told by comparing the
 * two scans; as the columns that are wanted of them may differ, both are made
 * to give all columns that either one gives, in the same order.  Then a row of
 * the one can stand for a row of the other.
 *
 * Only scans that read all of a table, or of a common table expression, are
 * compared: of other paths, one would do as well, but self-joins of large
 * tables have none.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/join/selfjoin.c
 */
#include "postgres.h"

#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "rewrite/rewriteManip.h"

#include "join/node.h"

/* A copy of an expression on one relation that is on another. */
static Node *
moved(Node *node, Index from, Index to)
{
	Node	   *copy = copyObject(node);

	ChangeVarNodes(copy, from, to, 0);
	return copy;
}

/* True if these are expressions of the same value for each row. */
static bool
same_value(Node *outer, Index outer_relid, Node *inner, Index inner_relid)
{
	return !contain_volatile_functions(outer) && !contain_subplans(outer) &&
		equal(moved(outer, outer_relid, inner_relid), inner);
}

/* True if these are one table, or one common table expression. */
static bool
same_relation(PlannerInfo *root, Index outer_relid, Index inner_relid)
{
	RangeTblEntry *outer = planner_rt_fetch(outer_relid, root);
	RangeTblEntry *inner = planner_rt_fetch(inner_relid, root);

	if (outer->rtekind != inner->rtekind)
		return false;
	if (outer->rtekind == RTE_RELATION)
		return outer->relid == inner->relid;
	return outer->rtekind == RTE_CTE &&
		outer->ctelevelsup == inner->ctelevelsup &&
		strcmp(outer->ctename, inner->ctename) == 0;
}

/* True if both relations' own conditions let through the same rows. */
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

/*
 * True if the paths give the same rows, with the same signatures: of an outer
 * and an inner row, these are the expressions.
 */
bool
selfjoin_paths(PlannerInfo *root, Path *outer, Path *inner,
			   Expr *outer_signature, Expr *inner_signature)
{
	Index		outer_relid = outer->parent->relid;
	Index		inner_relid = inner->parent->relid;

	return (outer->pathtype == T_SeqScan || outer->pathtype == T_CteScan) &&
		outer->pathtype == inner->pathtype &&
		same_relation(root, outer_relid, inner_relid) &&
		same_conditions(outer->parent, inner->parent) &&
		same_value((Node *) outer_signature, outer_relid,
				   (Node *) inner_signature, inner_relid);
}

/* True if a plan is such a scan, and has columns of its table only. */
static bool
is_scan_of_columns(Plan *plan)
{
	ListCell   *lc;

	if ((!IsA(plan, SeqScan) && !IsA(plan, CteScan)) || plan->initPlan != NIL)
		return false;
	foreach(lc, plan->targetlist)
		if (!IsA(lfirst_node(TargetEntry, lc)->expr, Var))
			return false;
	return true;
}

/* True if the column is in the target list. */
static bool
has_column(List *targetlist, const Var *var)
{
	ListCell   *lc;

	foreach(lc, targetlist)
		if (((Var *) lfirst_node(TargetEntry, lc)->expr)->varattno ==
			var->varattno)
			return true;
	return false;
}

/*
 * Makes two scans, of paths that give the same rows, give the same columns.
 * False if they cannot.
 */
bool
selfjoin_unite_columns(Plan *outer, Plan *inner)
{
	Index		outer_relid = ((Scan *) outer)->scanrelid;
	Index		inner_relid = ((Scan *) inner)->scanrelid;
	List	   *columns;
	ListCell   *lc;

	if (!is_scan_of_columns(outer) || !is_scan_of_columns(inner))
		return false;
	columns = copyObject(outer->targetlist);
	foreach(lc, inner->targetlist)
	{
		Node	   *var = (Node *) lfirst_node(TargetEntry, lc)->expr;

		if (!has_column(columns, (Var *) var))
			columns = lappend(columns,
							  makeTargetEntry((Expr *) moved(var, inner_relid,
															 outer_relid),
											  list_length(columns) + 1,
											  NULL, false));
	}
	outer->targetlist = columns;
	inner->targetlist = (List *) moved((Node *) columns, outer_relid,
									   inner_relid);
	return true;
}
