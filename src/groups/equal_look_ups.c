/*
 * equal_look_ups.c
 *		Whether a plan looks equal signatures up in an index.
 *
 * With the threshold 1 an index of access method neardup reads one list, and the
 * planner's estimates do not tell that from a look-up of all near ones.  GIN has
 * no such short way.
 */
#include "postgres.h"

#include "nodes/nodeFuncs.h"

#include "groups/equal_look_ups.h"
#include "index/access.h"
#include "signature/sql/subscript.h"

/* The index that a node asks, and its conditions; false if it asks none. */
static bool
index_of(PlanState *state, Relation *index, List **conditions)
{
	if (IsA(state, IndexScanState))
	{
		*index = ((IndexScanState *) state)->iss_RelationDesc;
		*conditions = ((IndexScan *) state->plan)->indexqual;
	}
	else if (IsA(state, BitmapIndexScanState))
	{
		*index = ((BitmapIndexScanState *) state)->biss_RelationDesc;
		*conditions = ((BitmapIndexScan *) state->plan)->indexqual;
	}
	else
		return false;
	return true;
}

/* True if the threshold of a condition of the index is 1. */
static bool
asks_for_equal(Node *condition)
{
	Expr	   *signature;
	Expr	   *measure;
	Const	   *threshold;

	return IsA(condition, OpExpr) &&
		list_length(((OpExpr *) condition)->args) == 2 &&
		signature_subscripts(lsecond(((OpExpr *) condition)->args), &signature,
							 &measure, (Expr **) &threshold) &&
		threshold != NULL && IsA(threshold, Const) && !threshold->constisnull &&
		DatumGetFloat8(threshold->constvalue) == 1;
}

static bool
looks_up_equal(PlanState *state, void *context)
{
	Relation	index;
	List	   *conditions;
	ListCell   *lc;

	/* of EXPLAIN only, there is none */
	if (index_of(state, &index, &conditions) && index != NULL &&
		index_is_neardup(index))
		foreach(lc, conditions)
			if (asks_for_equal(lfirst(lc)))
				return true;
	return planstate_tree_walker(state, looks_up_equal, context);
}

bool
equal_look_ups_planned(RowTaker *taker, PlanState *plan)
{
	return looks_up_equal(plan, NULL);
}
