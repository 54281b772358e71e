/*
 * join_exec.c
 *		The similarity join in the executor.
 *
 * Both sides are read into the engine (join_read.c), which returns pairs of
 * groups of rows. Here these are paired row by row; a semi-join is done with a
 * row at its first match.  Semi-, anti- and left joins have one bit for each
 * outer row with a match; the last two read all outer rows again at the end.
 *
 * A Var of the plan is a column of the scan tuple: all outer columns, then all
 * inner ones.  To avoid copying columns for each pair, expressions are changed
 * to read from an outer and an inner row, as in core's joins.
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

/* The plan of the node. */
static CustomScan *
join_plan(SimilarityJoinState *state)
{
	return (CustomScan *) state->css.ss.ps.plan;
}

/* An integer of the plan's custom_private. */
static int
join_private(SimilarityJoinState *state, enum JoinPrivate which)
{
	return intVal(list_nth(join_plan(state)->custom_private, which));
}

/* Expressions */

/* Replace columns of the scan tuple by columns of an outer or an inner row. */
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

/* An expression over the scan tuple as one over outer and inner rows. */
static Node *
side_columns(SimilarityJoinState *state, Node *expr)
{
	int			columns = join_private(state, JOIN_PRIVATE_COLUMNS);

	return to_side_columns(expr, &columns);
}

/* Collect the columns of each side that an expression reads. */
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

		if (var->varno == OUTER_VAR || var->varno == INNER_VAR)
			state->sides[side].columns =
				bms_add_member(state->sides[side].columns,
							   var->varattno - 1);
		return false;
	}
	return expression_tree_walker(node, find_columns, context);
}

/* Create the slots and arrays of both sides, whose rows are minimal tuples. */
static void
init_rows(SimilarityJoinState *state, EState *estate)
{
	TupleDesc	inner = ExecGetResultType(join_child(state, SIDE_INNER));

	state->sides[SIDE_OUTER].slot =
		ExecInitExtraTupleSlot(estate,
							   ExecGetResultType(join_child(state,
															SIDE_OUTER)),
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
 * Raise an error if the user may not call the functions of a condition that
 * the join evaluates itself:  ExecInitExpr() checks that.
 */
static void
require_rights(SimilarityJoinState *state, Node *clause)
{
	(void) ExecInitExpr((Expr *) clause, &state->css.ss.ps);
}

/*
 * Initialize the expressions of the signatures, which read the children's
 * rows, and of the threshold.
 */
static void
init_condition(SimilarityJoinState *state, Node *clause)
{
	PlanState  *ps = &state->css.ss.ps;
	bool		left_is_inner = join_private(state,
											 JOIN_PRIVATE_LEFT_IS_INNER);
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
	state->near.measure = left_is_inner ? measure_commute(near.measure) :
		near.measure;
}

/* The column of PairConditions.value. */
#define VALUE_COLUMN	1

/* Let expressions read the measure of the current pair from a slot. */
static void
init_value(SimilarityJoinState *state)
{
	TupleDesc	desc;

	if (state->conditions.value != NULL)
		return;
	desc = CreateTemplateTupleDesc(VALUE_COLUMN);
	TupleDescInitEntry(desc, VALUE_COLUMN, "value", FLOAT8OID, -1, 0);
	TupleDescFinalize(desc);
	state->conditions.value = ExecInitExtraTupleSlot(state->css.ss.ps.state,
													 desc, &TTSOpsVirtual);
	ExecStoreVirtualTuple(state->conditions.value);
	state->css.ss.ps.ps_ExprContext->ecxt_scantuple = state->conditions.value;
}

typedef struct ValueContext
{
	SimilarityJoinState *state;
	NearCondition near;			/* the condition that drives the join */
} ValueContext;

/*
 * Replace calls of the condition's measure: the join knows the value of a pair
 * of sets, and its rows need no signatures.
 */
static Node *
to_value(Node *node, void *context)
{
	ValueContext *value = context;

	if (node == NULL)
		return NULL;
	if (!near_is_value(node, &value->near))
		return expression_tree_mutator(node, to_value, context);
	require_rights(value->state, node);
	init_value(value->state);
	return (Node *) makeVar(INDEX_VAR, VALUE_COLUMN, FLOAT8OID, -1, InvalidOid,
							0);
}

/*
 * Initialize other conditions and the output.  If a nested loop would evaluate
 * a comparison before the near-duplicate condition, it is evaluated on values
 * that are kept with the rows; a row with a null value has no match.  In a
 * self-join a row has one value for both sides.
 */
static void
init_output(SimilarityJoinState *state, Node *condition, List *filter,
			List *qual)
{
	PlanState  *ps = &state->css.ss.ps;
	Comparison *comparison = &state->conditions.comparison;
	int			before = join_private(state, JOIN_PRIVATE_BEFORE);
	Node	   *tlist = side_columns(state, (Node *) ps->plan->targetlist);
	ValueContext value = {state};

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
	state->conditions.before = ExecInitQual(list_copy_head(filter, before),
											ps);
	(void) similarity_join_clause(condition, &value.near);
	tlist = to_value(tlist, &value);
	filter = (List *) to_value((Node *) filter, &value);
	qual = (List *) to_value((Node *) qual, &value);
	find_columns(tlist, state);
	find_columns((Node *) qual, state);
	find_columns((Node *) filter, state);
	if (state->self_join)
		state->sides[SIDE_OUTER].columns = state->sides[SIDE_INNER].columns =
			bms_union(state->sides[SIDE_OUTER].columns,
					  state->sides[SIDE_INNER].columns);
	state->either_order = state->self_join && state->type == JOIN_INNER &&
		comparison_is_strict(comparison) &&
		measure_commute(state->near.measure) == state->near.measure;
	state->conditions.filter = ExecInitQual(filter, ps);
	state->conditions.qual = ExecInitQual(qual, ps);
	state->conditions.projects = tlist != NULL;
	state->conditions.evaluates = state->conditions.projects ||
		state->conditions.filter != NULL ||
		state->conditions.qual != NULL;
	ps->ps_ProjInfo = ExecBuildProjectionInfo((List *) tlist,
											  ps->ps_ExprContext,
											  ps->ps_ResultTupleSlot, ps,
											  NULL);
}

/*
 * Change a copy of the plan for EXPLAIN, which looks up arguments of subplans
 * in outer and inner plans, while planner and executor must not find the
 * children there.
 */
static void
show_children(SimilarityJoinState *state)
{
	CustomScan *plan = makeNode(CustomScan);

	memcpy(plan, join_plan(state), sizeof(CustomScan));
	outerPlan(plan) = linitial(plan->custom_plans);
	innerPlan(plan) = lsecond(plan->custom_plans);
	state->css.ss.ps.plan = &plan->scan.plan;
}

/* CustomExecMethods.BeginCustomScan */
static void
begin(CustomScanState *node, EState *estate, int eflags)
{
	SimilarityJoinState *state = (SimilarityJoinState *) node;
	CustomScan *scan = join_plan(state);
	List	   *exprs = (List *) side_columns(state,
											  (Node *) scan->custom_exprs);
	ListCell   *lc;

	foreach(lc, scan->custom_plans)
		node->custom_ps = lappend(node->custom_ps,
								  ExecInitNode(lfirst(lc), estate, eflags));
	show_children(state);
	state->type = join_private(state, JOIN_PRIVATE_TYPE);
	state->inner_whole = join_private(state, JOIN_PRIVATE_INNER_WHOLE);

	/* a recheck (EvalPlanQual) has different rows of both sides */
	state->self_join = join_private(state, JOIN_PRIVATE_SELF) &&
		estate->es_epq_active == NULL;
	init_rows(state, estate);
	init_condition(state, list_nth(exprs, JOIN_EXPR_CONDITION));
	init_output(state, list_nth(exprs, JOIN_EXPR_CONDITION),
				list_nth(exprs, JOIN_EXPR_FILTER), list_nth(exprs, JOIN_EXPR_QUAL));
	state->context = AllocSetContextCreate(estate->es_query_cxt,
										   "similarity join rows",
										   ALLOCSET_DEFAULT_SIZES);
	state->phase = JOIN_BUILD;
}

/* Pairs of rows */

/* True if an outer row of the engine has found a match. */
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
		return (pg_atomic_fetch_or_u32(&state->shared_matched[rowno / 32],
									   bit) & bit) == 0;
	state->matched[rowno / 8] |= 1 << rowno % 8;
	return true;
}

/* Store a row in the slot of its side, if its columns are needed. */
static inline void
show_row(SimilarityJoinState *state, JoinSide side, const JoinRow *row)
{
	if (state->sides[side].columns == NULL)
		return;
	ExecStoreMinimalTuple(unconstify(MinimalTupleData *, &row->columns),
						  state->sides[side].slot, false);
}

/* True if an outer row needs one match only. */
static inline bool
needs_one(const SimilarityJoinState *state)
{
	return state->type == JOIN_SEMI || state->type == JOIN_ANTI;
}

/* The next inner row of the round; NULL if the outer row has visited all. */
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
		rows_begin(state->engine, SIDE_INNER, state->scan.inner_group,
				   &state->scan.inner);
		row = rows_next(&state->scan.inner, &rowno);
		round->passed = 0;
		round->from_first = true;
	}
	round->passed += row != NULL;
	return row;
}

/*
 * Store the measure of the current pair of groups for expressions; null for
 * outer rows without a match.
 */
static void
show_value(SimilarityJoinState *state)
{
	TupleTableSlot *slot = state->conditions.value;
	const struct JoinSet *outer;
	const struct JoinSet *inner;

	if (slot == NULL || state->incomparable)
		return;
	slot->tts_isnull[VALUE_COLUMN - 1] = state->phase == JOIN_UNMATCHED;
	if (state->phase == JOIN_UNMATCHED)
		return;
	engine_pair_sets(state->engine, &outer, &inner);
	slot->tts_values[VALUE_COLUMN - 1] =
		Float8GetDatum(paired_similarity(specs_kind(state),
										 state->near.measure, outer, inner));
}

/* Go to the next pair of groups; false if there are no more. */
static bool
next_groups(SimilarityJoinState *state)
{
	RowGroup	outer;

	if (!engine_next(state->engine, &outer, &state->scan.inner_group))
		return false;
	show_value(state);
	rows_begin(state->engine, SIDE_OUTER, outer, &state->scan.outer);
	state->scan.one_group = outer == state->scan.inner_group;
	state->scan.nouter = 0;
	state->scan.inner_stays = engine_inner_stays(state->engine);
	if (!state->scan.inner_stays)
		state->scan.inner_rows.tried = state->scan.inner_rows.copied = false;
	if (needs_one(state))
	{
		/* the first round begins with the first inner row */
		rows_begin(state->engine, SIDE_INNER, state->scan.inner_group,
				   &state->scan.inner);
		memset(&state->scan.round, 0, sizeof(InnerRound));
	}
	return state->scan.in_pair = true;
}

/* Rows that fit into a cache; more are not copied. */
#define MAX_COPIED_ROWS	4096

/*
 * Copy the inner rows to an array if several outer rows are paired with them,
 * in this pair of groups or in several with the same inner group; unless they
 * are in a file, or too many.  Rows of a list are far from each other in
 * memory: following its links takes most of the time of a pair.
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
 * Go to the first inner row.  If the order of a pair does not matter, rows of
 * one group are paired with later ones only; but rows in a file with all, in
 * both orders.
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

		/*
		 * a match is the last row passed: it is visited first, and only once
		 */
		round->end = round->passed - round->match;
		round->from_first = false;
	}
	else if (state->scan.inner_rows.copied)
		state->scan.inner_rows.next = behind ? state->scan.nouter : 0;
	else
	{
		behind = behind &&
			rows_begin_behind(&state->scan.outer, &state->scan.inner);
		if (!behind)
			rows_begin(state->engine, SIDE_INNER,
					   state->scan.inner_group, &state->scan.inner);
	}
	state->scan.exchangeable = behind ||
		(state->either_order && !state->scan.one_group);
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

/* Number of rows ahead of which columns are prefetched. */
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
		if (state->sides[SIDE_INNER].columns != NULL &&
			inner->n - inner->next > FETCH_AHEAD)
			__builtin_prefetch(inner->rows[inner->next + FETCH_AHEAD].row);
		return &inner->rows[inner->next++];
	}
	row = needs_one(state) ? next_of_round(state) :
		rows_next(&state->scan.inner, &rowno);
	if (row == NULL)
		return NULL;
	state->scan.inner_row.row = row;
	state->scan.inner_row.value = row->value;
	return &state->scan.inner_row;
}

/*
 * True if the current outer row passes the filter with this one, or the two in
 * the other order.
 */
static inline bool
passes(SimilarityJoinState *state, const InnerRow *inner)
{
	ExprContext *econtext = state->css.ss.ps.ps_ExprContext;
	bool		exchanged = false;

	if (!comparison_holds(&state->conditions.comparison, state->scan.value,
						  inner->value))
	{
		if (!state->scan.exchangeable ||
			!comparison_holds(&state->conditions.comparison, inner->value,
							  state->scan.value))
			return false;
		exchanged = true;
	}
	if (!state->conditions.evaluates && !state->incomparable)
		return true;
	show_row(state, SIDE_INNER, inner->row);
	/* in a self-join rows of both sides have the same columns */
	econtext->ecxt_outertuple = state->sides[exchanged ? SIDE_INNER :
											 SIDE_OUTER].slot;
	econtext->ecxt_innertuple = state->sides[exchanged ? SIDE_OUTER :
											 SIDE_INNER].slot;
	ResetExprContext(econtext);
	if (unlikely(state->incomparable) &&
		ExecQual(state->conditions.before, econtext))
		specs_refuse(state);
	return ExecQual(state->conditions.filter, econtext);
}

/* Go to the next pair of rows that passes the filter. */
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
		/* neither order of the pair passes */
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

/* The next output of matching rows; NULL if there is none. */
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

	while ((row = engine_rows_next(state->engine, SIDE_OUTER, &rowno)) != NULL)
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

/* Clear the slots: rows of the engine are not read any more. */
static void
leave_rows(SimilarityJoinState *state)
{
	ExecClearTuple(state->sides[SIDE_OUTER].slot);
	ExecClearTuple(state->sides[SIDE_INNER].slot);
	state->scan.in_pair = state->scan.in_row = false;
}

/* Go to the next phase. */
static void
next_phase(SimilarityJoinState *state)
{
	if (state->phase == JOIN_BUILD)
		state->phase = join_read(state) ? JOIN_PAIRS : JOIN_DONE;
	else if (state->phase == JOIN_PAIRS && keeps_unmatched(state) &&
			 join_shared_end_probes(state))
	{
		engine_rows(state->engine, SIDE_OUTER);
		state->phase = JOIN_UNMATCHED;
		show_value(state);
	}
	else
	{
		leave_rows(state);
		state->phase = join_next_engine(state) ? JOIN_PAIRS : JOIN_DONE;
	}
	/* free memory while other processes do so: it takes time */
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
 * CustomExecMethods.ReScanCustomScan. Core does not pass changed parameters to
 * custom children.
 */
static void
rescan(CustomScanState *node)
{
	SimilarityJoinState *state = (SimilarityJoinState *) node;
	ListCell   *lc;

	end_engine(state);
	/* count the last run only */
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
