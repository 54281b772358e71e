/*
 * join_exec.c
 *		The similarity join in the executor.
 *
 * Both sides are read to their ends into the engine (join_read.c), which then
 * yields pairs of groups of rows, which are
 * multiplied out here; a semi-join leaves a row after its first match.  One
 * bit for each outer row tells that it has found one, for semi-, anti- and left
 * joins; the last two go through all outer rows once more at the end.
 *
 * In the plan a column of the node is a column of its scan tuple, all outer
 * columns and then all inner ones.  Here that would mean to copy columns for
 * each pair; instead the expressions are changed to read from an outer and an
 * inner row, as those of core's joins do.
 */
#include "postgres.h"

#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "utils/memutils.h"

#include "base/compat.h"
#include "base/settings.h"
#include "join/classic/classic.h"
#include "join/node/join_node.h"
#include "signature/sql/near.h"
#include "planner/conditions.h"

static CustomScan *
join_plan(SimilarityJoinState *state)
{
	return (CustomScan *) state->css.ss.ps.plan;
}

static int
join_private(SimilarityJoinState *state, enum JoinPrivate which)
{
	return intVal(list_nth(join_plan(state)->custom_private, which));
}

/* Expressions */

/* Columns of the scan tuple become columns of an outer or an inner row. */
static Node *
to_side_columns(Node *node, void *context)
{
	int			outer_columns = *(int *) context;

	if (node == NULL)
		return NULL;
	if (IsA(node, Var) && ((Var *) node)->varno == INDEX_VAR)
	{
		Var		   *var = copyObject((Var *) node);

		var->varno = OUTER_VAR;
		if (var->varattno > outer_columns)
		{
			var->varno = INNER_VAR;
			var->varattno -= outer_columns;
		}
		return (Node *) var;
	}
	return expression_tree_mutator(node, to_side_columns, context);
}

static Node *
side_columns(SimilarityJoinState *state, Node *expr)
{
	int			columns = join_private(state, JOIN_PRIVATE_COLUMNS);

	return to_side_columns(expr, &columns);
}

/* Note the columns that an expression reads of either side. */
static bool
find_columns(Node *node, void *context)
{
	SimilarityJoinState *state = context;

	if (node == NULL)
		return false;
	if (IsA(node, Var))
	{
		Var		   *var = (Var *) node;
		JoinSide	side = var->varno == OUTER_VAR ? SIDE_OUTER : SIDE_INNER;

		if (IS_SPECIAL_VARNO(var->varno))
			state->sides[side].columns = bms_add_member(state->sides[side].columns,
														var->varattno - 1);
		return false;
	}
	return expression_tree_walker(node, find_columns, context);
}

/* Rows of both sides are minimal tuples. */
static void
init_rows(SimilarityJoinState *state, EState *estate)
{
	TupleDesc	inner = ExecGetResultType(join_child(state, SIDE_INNER));

	state->sides[SIDE_OUTER].slot =
		ExecInitExtraTupleSlot(estate, ExecGetResultType(join_child(state, SIDE_OUTER)),
							   &TTSOpsMinimalTuple);
	state->sides[SIDE_INNER].slot =
		ExecInitExtraTupleSlot(estate, inner, &TTSOpsMinimalTuple);
	for (int side = SIDE_OUTER; side <= SIDE_INNER; side++)
	{
		int			n = state->sides[side].slot->tts_tupleDescriptor->natts;

		state->sides[side].values = palloc0(sizeof(Datum) * Max(n, 1));
		state->sides[side].isnull = palloc(sizeof(bool) * Max(n, 1));
		memset(state->sides[side].isnull, true, sizeof(bool) * n);
	}
	state->no_row = ExecInitNullTupleSlot(estate, inner, &TTSOpsMinimalTuple);
}

/*
 * Raise if the user may not call what a condition calls.  PostgreSQL looks for that
 * as it makes a condition ready, and those that the join evaluates itself never are.
 */
static void
require_rights(SimilarityJoinState *state, Node *clause)
{
	(void) ExecInitExpr((Expr *) clause, &state->css.ss.ps);
}

/* The signatures' expressions, which read the rows of the children, and the threshold. */
static void
init_condition(SimilarityJoinState *state, Node *clause)
{
	PlanState  *ps = &state->css.ss.ps;
	bool		left_is_inner = join_private(state, JOIN_PRIVATE_LEFT_IS_INNER);
	NearCondition near;

	if (!similarity_join_clause(clause, &near))
		elog(ERROR, "not a near-duplicate condition");
	Assert(join_private(state, JOIN_PRIVATE_TYPE) == state->type);
	require_rights(state, clause);
	state->near.left = left_is_inner ? SIDE_INNER : SIDE_OUTER;
	state->near.signatures[SIDE_OUTER] =
		ExecInitExpr(left_is_inner ? near.right : near.left, ps);
	state->near.signatures[SIDE_INNER] =
		ExecInitExpr(left_is_inner ? near.left : near.right, ps);
	state->near.threshold = ExecInitExpr(near.threshold, ps);
	state->near.recall = ExecInitExpr(near.recall, ps);
	state->near.measure = left_is_inner ? measure_commute(near.measure) : near.measure;
}

/*
 * What is evaluated on pairs: other conditions and the output.  The first condition may be a
 * comparison, if a nested loop evaluates it before the near-duplicate condition: then rows
 * whose value is null are not compared, and of the others the value is kept, not the column.
 * Where rows stand for both sides they have but one value.
 */
static void
init_output(SimilarityJoinState *state, List *filter, List *qual)
{
	PlanState  *ps = &state->css.ss.ps;
	Comparison *comparison = &state->conditions.comparison;
	int			before = join_private(state, JOIN_PRIVATE_BEFORE);
	Node	   *tlist = side_columns(state, (Node *) ps->plan->targetlist);

	if (before > 0 && comparison_init(comparison, linitial(filter)) &&
		(!state->self_join ||
		 comparison->columns[SIDE_OUTER] == comparison->columns[SIDE_INNER]))
	{
		require_rights(state, linitial(filter));
		filter = list_copy_tail(filter, 1);
		before--;
	}
	else
		comparison->kind = COMPARISON_NONE;
	state->conditions.before = ExecInitQual(list_copy_head(filter, before), ps);
	find_columns(tlist, state);
	find_columns((Node *) qual, state);
	find_columns((Node *) filter, state);
	if (state->self_join)
		state->sides[SIDE_OUTER].columns = state->sides[SIDE_INNER].columns =
			bms_union(state->sides[SIDE_OUTER].columns, state->sides[SIDE_INNER].columns);
	state->either_order = state->self_join && state->type == JOIN_INNER &&
		comparison_is_strict(comparison) &&
		measure_commute(state->near.measure) == state->near.measure;
	state->conditions.filter = ExecInitQual(filter, ps);
	state->conditions.qual = ExecInitQual(qual, ps);
	state->conditions.projects = tlist != NULL;
	state->conditions.evaluates = state->conditions.projects || state->conditions.filter != NULL ||
		state->conditions.qual != NULL;
	ps->ps_ProjInfo = ExecBuildProjectionInfo((List *) tlist, ps->ps_ExprContext,
											  ps->ps_ResultTupleSlot, ps,
											  NULL);
}

/*
 * Change a copy of the plan for EXPLAIN.  The children are where core's joins have them: a
 * subplan has arguments from outer and inner rows, which EXPLAIN looks up there, but the planner
 * and the executor must not.  And columns that identify the rows of a partitioned table that is
 * changed get names: EXPLAIN VERBOSE does not know a column of no relation.
 */
static void
show_children(SimilarityJoinState *state)
{
	CustomScan *plan = makeNode(CustomScan);
	ListCell   *lc;

	memcpy(plan, join_plan(state), sizeof(CustomScan));
	outerPlan(plan) = linitial(plan->custom_plans);
	innerPlan(plan) = lsecond(plan->custom_plans);
	plan->custom_scan_tlist = copyObject(plan->custom_scan_tlist);
	foreach(lc, plan->custom_scan_tlist)
	{
		Var		   *var = (Var *) lfirst_node(TargetEntry, lc)->expr;

		if (!IsA(var, Var) || var->varno != ROWID_VAR)
			continue;
		var->varno = var->varnosyn;
		var->varattno = var->varattnosyn;
	}
	state->css.ss.ps.plan = &plan->scan.plan;
}

/* CustomExecMethods.BeginCustomScan */
static void
begin(CustomScanState *node, EState *estate, int eflags)
{
	SimilarityJoinState *state = (SimilarityJoinState *) node;
	CustomScan *scan = join_plan(state);
	List	   *exprs = (List *) side_columns(state, (Node *) scan->custom_exprs);
	ListCell   *lc;

	foreach(lc, scan->custom_plans)
		node->custom_ps = lappend(node->custom_ps, ExecInitNode(lfirst(lc), estate, eflags));
	show_children(state);
	state->type = join_private(state, JOIN_PRIVATE_TYPE);
	state->inner_whole = join_private(state, JOIN_PRIVATE_INNER_WHOLE);

	/* a recheck (EvalPlanQual) has one row of each side, which may differ */
	state->self_join = join_private(state, JOIN_PRIVATE_SELF) &&
		estate->es_epq_active == NULL;
	init_rows(state, estate);
	init_condition(state, list_nth(exprs, JOIN_EXPR_CONDITION));
	init_output(state, list_nth(exprs, JOIN_EXPR_FILTER), list_nth(exprs, JOIN_EXPR_QUAL));
	state->context = AllocSetContextCreate(estate->es_query_cxt, "similarity join rows",
										   ALLOCSET_DEFAULT_SIZES);
	state->phase = JOIN_BUILD;
}

/* Pairs of rows */

static bool
is_matched(SimilarityJoinState *state, uint32 rowno)
{
	if (state->shared_matched == NULL)
		return (state->matched[rowno / 8] & 1 << rowno % 8) != 0;
	return (pg_atomic_read_u32(&state->shared_matched[rowno / 32]) &
			(uint32) 1 << rowno % 32) != 0;
}

/* Note that a row has found a match; false if that was known. */
static bool
set_matched(SimilarityJoinState *state, uint32 rowno)
{
	uint32		bit = (uint32) 1 << rowno % 32;

	Assert(state->matched != NULL || state->shared_matched != NULL);
	if (is_matched(state, rowno))
		return false;
	if (state->shared_matched != NULL)
		return (pg_atomic_fetch_or_u32(&state->shared_matched[rowno / 32], bit) & bit) == 0;
	state->matched[rowno / 8] |= 1 << rowno % 8;
	return true;
}

/* Make a row the current one of its side, if its columns are needed. */
static inline void
show_row(SimilarityJoinState *state, JoinSide side, const JoinRow *row)
{
	if (state->sides[side].columns == NULL)
		return;
	ExecStoreMinimalTuple(unconstify(MinimalTupleData *, &row->columns),
						  state->sides[side].slot, false);
}

/* True if an outer row needs one match, not all. */
static inline bool
needs_one(const SimilarityJoinState *state)
{
	return state->type == JOIN_SEMI || state->type == JOIN_ANTI;
}

/* The next inner row of the round; NULL if the outer one has met all. */
static const JoinRow *
next_of_round(SimilarityJoinState *state)
{
	InnerRound *round = &state->scan.round;
	const JoinRow *row;
	uint32		rowno;

	Assert(round->passed <= PG_UINT32_MAX);
	if (round->match)
	{
		round->match = false;
		return state->scan.inner_row.row;
	}
	if (round->from_first && round->passed == round->end)
		return NULL;
	row = rows_next(&state->scan.inner, &rowno);
	if (row == NULL && !round->from_first && round->end > 0)
	{
		rows_begin(state->engine, SIDE_INNER, state->scan.inner_group, &state->scan.inner);
		row = rows_next(&state->scan.inner, &rowno);
		round->passed = 0;
		round->from_first = true;
	}
	round->passed += row != NULL;
	return row;
}

/* Go to the next pair of groups; false if there are no more. */
static bool
next_groups(SimilarityJoinState *state)
{
	RowGroup	outer;

	if (!setjoin_next(state->engine, &outer, &state->scan.inner_group))
		return false;
	rows_begin(state->engine, SIDE_OUTER, outer, &state->scan.outer);
	state->scan.one_group = outer == state->scan.inner_group;
	state->scan.nouter = 0;
	state->scan.inner_stays = setjoin_inner_stays(state->engine);
	if (!state->scan.inner_stays)
		state->scan.inner_rows.tried = state->scan.inner_rows.copied = false;
	if (needs_one(state))
	{
		/* the first round begins with the first inner row */
		rows_begin(state->engine, SIDE_INNER, state->scan.inner_group, &state->scan.inner);
		memset(&state->scan.round, 0, sizeof(InnerRound));
	}
	return state->scan.in_pair = true;
}

/* Rows that fit into a cache; more are not copied. */
#define MAX_COPIED_ROWS	4096

/*
 * Lay the inner rows side by side if more than one outer row is to be paired with all of them,
 * of this pair of groups or of several with the same inner one; unless they are in a file, or
 * too many.  Rows of a list are far from each other in memory: to go to the next takes longer
 * than all else that is done about most pairs.
 */
static void
copy_inner_rows(SimilarityJoinState *state)
{
	InnerRows  *rows = &state->scan.inner_rows;
	RowCursor	cursor;
	const JoinRow *row;
	uint32		rowno;

	if (rows->tried || needs_one(state) ||
		(state->scan.outer.next == NULL && !state->scan.inner_stays))
		return;
	rows->tried = true;
	rows_begin(state->engine, SIDE_INNER, state->scan.inner_group, &cursor);
	if (cursor.reader != NULL)
		return;
	if (rows->rows == NULL)
		rows->rows = MemoryContextAlloc(state->css.ss.ps.state->es_query_cxt,
										MAX_COPIED_ROWS * sizeof(InnerRow));
	rows->n = 0;
	while ((row = rows_next(&cursor, &rowno)) != NULL)
	{
		if (rows->n == MAX_COPIED_ROWS)
			return;
		rows->rows[rows->n++] = (InnerRow)
		{
			row, row->value
		};
	}
	rows->copied = true;
}

/*
 * Go to the first inner row.  Where rows may pass in either order, those of one group
 * meet those behind them; but in a file all meet all, in both orders.
 */
static void
begin_inner_rows(SimilarityJoinState *state)
{
	bool		behind = state->either_order && state->scan.one_group;

	state->scan.nouter++;
	copy_inner_rows(state);
	if (needs_one(state))
	{
		InnerRound *round = &state->scan.round;

		/* a match is the last row passed: it is met first, and not again */
		round->end = round->passed - round->match;
		round->from_first = false;
	}
	else if (state->scan.inner_rows.copied)
		state->scan.inner_rows.next = behind ? state->scan.nouter : 0;
	else
	{
		behind = behind && rows_begin_behind(&state->scan.outer, &state->scan.inner);
		if (!behind)
			rows_begin(state->engine, SIDE_INNER,
					   state->scan.inner_group, &state->scan.inner);
	}
	state->scan.exchangeable = behind || (state->either_order && !state->scan.one_group);
	/* a row with itself does not pass */
	state->nfiltered += behind;
}

/* Go to the next outer row; false if there are no more pairs. */
static bool
next_outer_row(SimilarityJoinState *state)
{
	const JoinRow *row;

	for (;;)
	{
		if (!state->scan.in_pair && !next_groups(state))
			return false;
		CHECK_FOR_INTERRUPTS();
		row = rows_next(&state->scan.outer, &state->scan.rowno);
		if (row == NULL)
		{
			state->scan.in_pair = false;
			continue;
		}
		if (needs_one(state) && is_matched(state, state->scan.rowno))
			continue;
		state->scan.value = row->value;
		show_row(state, SIDE_OUTER, row);
		begin_inner_rows(state);
		return state->scan.in_row = true;
	}
}

/* How many rows ahead columns are fetched. */
#define FETCH_AHEAD	4

/* The next inner row for the current outer one; NULL if there is none. */
static inline const InnerRow *
next_inner_row(SimilarityJoinState *state)
{
	InnerRows  *inner = &state->scan.inner_rows;
	const JoinRow *row;
	uint32		rowno;

	if (inner->copied)
	{
		if (inner->next == inner->n)
			return NULL;
		if (state->sides[SIDE_INNER].columns != NULL && inner->n - inner->next > FETCH_AHEAD)
			__builtin_prefetch(inner->rows[inner->next + FETCH_AHEAD].row);
		return &inner->rows[inner->next++];
	}
	row = needs_one(state) ? next_of_round(state) : rows_next(&state->scan.inner, &rowno);
	if (row == NULL)
		return NULL;
	state->scan.inner_row.row = row;
	state->scan.inner_row.value = row->value;
	return &state->scan.inner_row;
}

/*
 * True if the filter lets through the current outer row with this one, or the two in
 * the other order.
 */
static inline bool
passes(SimilarityJoinState *state, const InnerRow *inner)
{
	ExprContext *econtext = state->css.ss.ps.ps_ExprContext;
	bool		exchanged = false;

	if (!comparison_holds(&state->conditions.comparison, state->scan.value, inner->value))
	{
		if (!state->scan.exchangeable ||
			!comparison_holds(&state->conditions.comparison, inner->value, state->scan.value))
			return false;
		exchanged = true;
	}
	if (!state->conditions.evaluates && !state->refused)
		return true;
	show_row(state, SIDE_INNER, inner->row);
	/* in a self-join rows of both sides have the same columns */
	econtext->ecxt_outertuple = state->sides[exchanged ? SIDE_INNER : SIDE_OUTER].slot;
	econtext->ecxt_innertuple = state->sides[exchanged ? SIDE_OUTER : SIDE_INNER].slot;
	ResetExprContext(econtext);
	if (unlikely(state->refused) && ExecQual(state->conditions.before, econtext))
		specs_refuse(state);
	return ExecQual(state->conditions.filter, econtext);
}

/* Go to the next pair of rows that the filter lets through. */
static bool
next_pair(SimilarityJoinState *state)
{
	for (;;)
	{
		const InnerRow *inner;

		if (!state->scan.in_row && !next_outer_row(state))
			return false;
		inner = next_inner_row(state);
		if (inner == NULL)
		{
			state->scan.in_row = false;
			continue;
		}
		/* nor does the pair in the other order, for which this one stands */
		state->nfiltered += state->scan.exchangeable;
		if (passes(state, inner))
			return true;
		state->nfiltered++;
		CHECK_FOR_INTERRUPTS();
	}
}

/* The output of the join for the current rows. */
static inline TupleTableSlot *
output(SimilarityJoinState *state)
{
	PlanState  *ps = &state->css.ss.ps;
	TupleTableSlot *slot = ps->ps_ResultTupleSlot;

	if (state->conditions.projects)
		return ExecProject(ps->ps_ProjInfo);
	return TTS_EMPTY(slot) ? ExecStoreVirtualTuple(slot) : slot;
}

/* The next output of rows that pair; NULL if there is none. */
static TupleTableSlot *
next_matched(SimilarityJoinState *state)
{
	PlanState  *ps = &state->css.ss.ps;

	while (next_pair(state))
	{
		bool		first = state->type != JOIN_INNER &&
		set_matched(state, state->scan.rowno);

		if (needs_one(state))
		{
			state->scan.round.match = true;
			state->scan.in_row = false;
		}
		if (state->type == JOIN_ANTI || (state->type == JOIN_SEMI && !first))
			continue;
		if (ExecQual(state->conditions.qual, ps->ps_ExprContext))
			return output(state);
		state->nremoved++;
	}
	return NULL;
}

/* The next output of outer rows without a match. */
static TupleTableSlot *
next_unmatched(SimilarityJoinState *state)
{
	PlanState  *ps = &state->css.ss.ps;
	const JoinRow *row;
	uint32		rowno;

	while ((row = setjoin_rows_next(state->engine, SIDE_OUTER, &rowno)) != NULL)
	{
		CHECK_FOR_INTERRUPTS();
		if (is_matched(state, rowno))
			continue;
		ResetExprContext(ps->ps_ExprContext);
		show_row(state, SIDE_OUTER, row);
		ps->ps_ExprContext->ecxt_outertuple = state->sides[SIDE_OUTER].slot;
		ps->ps_ExprContext->ecxt_innertuple = state->no_row;
		if (ExecQual(state->conditions.qual, ps->ps_ExprContext))
			return output(state);
		state->nremoved++;
	}
	return NULL;
}

/* Rows of the engine are not read any more. */
static void
leave_rows(SimilarityJoinState *state)
{
	ExecClearTuple(state->sides[SIDE_OUTER].slot);
	ExecClearTuple(state->sides[SIDE_INNER].slot);
	state->scan.in_pair = state->scan.in_row = false;
}

/* Go on to the phase after this one. */
static void
next_phase(SimilarityJoinState *state)
{
	if (state->phase == JOIN_BUILD)
		state->phase = join_read(state) ? JOIN_PAIRS : JOIN_DONE;
	else if (state->phase == JOIN_PAIRS && keeps_unmatched(state) &&
			 join_shared_end_probes(state))
	{
		setjoin_rows(state->engine, SIDE_OUTER);
		state->phase = JOIN_UNMATCHED;
	}
	else
	{
		leave_rows(state);
		state->phase = join_next_spec(state) ? JOIN_PAIRS : JOIN_DONE;
	}
	/* to free much memory takes time: do it while other processes do */
	if (state->phase == JOIN_DONE)
		join_shared_close(state);
}

/* CustomExecMethods.ExecCustomScan */
static TupleTableSlot *
exec(CustomScanState *node)
{
	SimilarityJoinState *state = (SimilarityJoinState *) node;

	for (;;)
	{
		TupleTableSlot *slot = NULL;

		if (state->phase == JOIN_DONE)
			return ExecClearTuple(node->ss.ps.ps_ResultTupleSlot);
		Assert(state->phase == JOIN_BUILD || state->engine != NULL);
		if (state->phase == JOIN_PAIRS)
			slot = next_matched(state);
		else if (state->phase == JOIN_UNMATCHED)
			slot = next_unmatched(state);
		if (slot != NULL)
			return slot;
		next_phase(state);
	}
}

/* Free the engine and all that it holds. */
static void
end_engine(SimilarityJoinState *state)
{
	leave_rows(state);
	specs_end(state);
	state->matched = NULL;
	state->shared_matched = NULL;
	state->to_files = false;
	MemoryContextReset(state->context);
	state->phase = JOIN_BUILD;
}

/* CustomExecMethods.EndCustomScan */
static void
end(CustomScanState *node)
{
	ListCell   *lc;

	end_engine((SimilarityJoinState *) node);
	join_shared_leave((SimilarityJoinState *) node);
	foreach(lc, node->custom_ps)
		ExecEndNode(lfirst(lc));
}

/*
 * CustomExecMethods.ReScanCustomScan.  Core passes changed parameters on to
 * the usual children only, not to these.
 */
static void
rescan(CustomScanState *node)
{
	SimilarityJoinState *state = (SimilarityJoinState *) node;
	ListCell   *lc;

	end_engine(state);
	/* what is counted is the last run's */
	state->stats_gathered = false;
	state->nfiltered = state->nremoved = 0;
	foreach(lc, node->custom_ps)
	{
		PlanState  *ps = lfirst(lc);

		if (node->ss.ps.chgParam != NULL)
			UpdateChangedParamSet(ps, node->ss.ps.chgParam);
		if (ps->chgParam == NULL)
			ExecReScan(ps);
	}
}

static const CustomExecMethods exec_methods = {
	.CustomName = "SimilarityJoin",
	.BeginCustomScan = begin,
	.ExecCustomScan = exec,
	.EndCustomScan = end,
	.ReScanCustomScan = rescan,
	.EstimateDSMCustomScan = join_shared_estimate,
	.InitializeDSMCustomScan = join_shared_create,
	.ReInitializeDSMCustomScan = join_shared_reset,
	.InitializeWorkerCustomScan = join_shared_attach,
	.ShutdownCustomScan = join_shared_finish,
	.ExplainCustomScan = similarity_join_explain,
};

/* CustomScanMethods.CreateCustomScanState */
static Node *
create_state(CustomScan *scan)
{
	SimilarityJoinState *state = palloc0(sizeof(SimilarityJoinState));

	NodeSetTag(state, T_CustomScanState);
	state->css.methods = &exec_methods;
	return (Node *) state;
}

const CustomScanMethods similarity_join_scan_methods = {
	.CustomName = "SimilarityJoin",
	.CreateCustomScanState = create_state,
};
