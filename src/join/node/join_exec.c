/*
 * join_exec.c
 *		The similarity join in the executor.
 *
 * Both sides are read to their ends into the engine (join_read.c), which then
 * yields pairs of groups of rows, which are
 * multiplied out here; a semi-join leaves a row after its first partner.  One
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

/* Notes the columns that an expression reads of either side. */
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
			state->columns[side] = bms_add_member(state->columns[side],
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

	state->rows[SIDE_OUTER] =
		ExecInitExtraTupleSlot(estate,
							   ExecGetResultType(join_child(state, SIDE_OUTER)),
							   &TTSOpsMinimalTuple);
	state->rows[SIDE_INNER] =
		ExecInitExtraTupleSlot(estate, inner, &TTSOpsMinimalTuple);
	for (int side = SIDE_OUTER; side <= SIDE_INNER; side++)
	{
		int			n = state->rows[side]->tts_tupleDescriptor->natts;

		state->values[side] = palloc0(sizeof(Datum) * Max(n, 1));
		state->isnull[side] = palloc(sizeof(bool) * Max(n, 1));
		memset(state->isnull[side], true, sizeof(bool) * n);
	}
	state->no_row = ExecInitNullTupleSlot(estate, inner, &TTSOpsMinimalTuple);
}

/*
 * Raises if the user may not call what a condition calls.  PostgreSQL looks for that
 * as it makes a condition ready, and those that the join works out itself never are.
 */
static void
require_rights(SimilarityJoinState *state, Node *clause)
{
	(void) ExecInitExpr((Expr *) clause, &state->css.ss.ps);
}

/*
 * The signatures' expressions, which read the rows of the children, and the
 * threshold.
 */
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
	state->left = left_is_inner ? SIDE_INNER : SIDE_OUTER;
	state->keys[SIDE_OUTER] =
		ExecInitExpr(left_is_inner ? near.right : near.left, ps);
	state->keys[SIDE_INNER] =
		ExecInitExpr(left_is_inner ? near.left : near.right, ps);
	state->threshold = ExecInitExpr(near.threshold, ps);
	state->recall = ExecInitExpr(near.recall, ps);
	state->measure = left_is_inner ? measure_commute(near.measure) :
		near.measure;
}

/*
 * Takes a condition as the comparison; false if it is none.  Where rows stand
 * for both sides they have but one value.
 */
static bool
init_comparison(SimilarityJoinState *state, Node *clause)
{
	Comparison *comparison = &state->comparison;

	if (comparison_init(comparison, clause) &&
		(!state->self_join ||
		 comparison->columns[SIDE_OUTER] == comparison->columns[SIDE_INNER]))
		return true;
	comparison->kind = COMPARISON_NONE;
	return false;
}

/*
 * What is worked out on pairs: other conditions and the output.  The first
 * condition may be a comparison, if a nested loop works it out before the
 * near-duplicate condition: then rows whose value is null are not compared, and of the
 * others the value is kept, not the column.
 */
static void
init_output(SimilarityJoinState *state, List *filter, List *qual)
{
	PlanState  *ps = &state->css.ss.ps;
	int			before = join_private(state, JOIN_PRIVATE_BEFORE);
	Node	   *tlist = side_columns(state, (Node *) ps->plan->targetlist);

	state->has_before = before > 0;
	if (before > 0 && init_comparison(state, linitial(filter)))
	{
		require_rights(state, linitial(filter));
		filter = list_copy_tail(filter, 1);
		before--;
	}
	specs_check_init(state, list_copy_head(filter, before));
	find_columns(tlist, state);
	find_columns((Node *) qual, state);
	find_columns((Node *) filter, state);
	if (state->self_join)
		state->columns[SIDE_OUTER] = state->columns[SIDE_INNER] =
			bms_union(state->columns[SIDE_OUTER], state->columns[SIDE_INNER]);
	state->either_order = state->self_join && state->type == JOIN_INNER &&
		comparison_is_strict(&state->comparison) &&
		measure_commute(state->measure) == state->measure;
	state->filter = ExecInitQual(filter, ps);
	state->qual = ExecInitQual(qual, ps);
	state->projects = tlist != NULL;
	state->evaluates = state->projects || state->filter != NULL ||
		state->qual != NULL;
	ps->ps_ProjInfo = ExecBuildProjectionInfo((List *) tlist,
											  ps->ps_ExprContext,
											  ps->ps_ResultTupleSlot, ps,
											  NULL);
}

/*
 * Names the columns that tell the rows of a partitioned table that is changed:
 * EXPLAIN VERBOSE does not know a column of no relation.
 */
static void
name_row_identities(CustomScan *scan)
{
	ListCell   *lc;

	foreach(lc, scan->custom_scan_tlist)
	{
		Var		   *var = (Var *) lfirst_node(TargetEntry, lc)->expr;

		if (!IsA(var, Var) || var->varno != ROWID_VAR)
			continue;
		var->varno = var->varnosyn;
		var->varattno = var->varattnosyn;
	}
}

/*
 * Gives the plan its children in the places where core's joins have them.  A
 * subplan has arguments from outer and inner rows, which EXPLAIN looks up
 * there.  The planner and the executor must not find them there: the plan, which
 * may be shared, stays as it is.
 */
static void
show_children(SimilarityJoinState *state)
{
	CustomScan *plan = makeNode(CustomScan);

	memcpy(plan, join_plan(state), sizeof(CustomScan));
	outerPlan(plan) = linitial(plan->custom_plans);
	innerPlan(plan) = lsecond(plan->custom_plans);
	plan->custom_scan_tlist = copyObject(plan->custom_scan_tlist);
	name_row_identities(plan);
	state->css.ss.ps.plan = &plan->scan.plan;
}

static Node *create_state(CustomScan *scan);

const CustomScanMethods similarity_join_scan_methods = {
	.CustomName = "SimilarityJoin",
	.CreateCustomScanState = create_state,
};

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

	/* a recheck (EvalPlanQual) has one row of each side, which may differ */
	state->self_join = join_private(state, JOIN_PRIVATE_SELF) &&
		estate->es_epq_active == NULL;
	init_rows(state, estate);
	init_condition(state, list_nth(exprs, JOIN_EXPR_CONDITION));
	init_output(state, list_nth(exprs, JOIN_EXPR_FILTER),
				list_nth(exprs, JOIN_EXPR_QUAL));
	state->context = AllocSetContextCreate(estate->es_query_cxt,
										   "similarity join rows",
										   ALLOCSET_DEFAULT_SIZES);
	state->phase = JOIN_BUILD;
}

/* Pairs of rows */

/* The place of a row's bit among those that several processes share. */
static uint64
shared_place(SimilarityJoinState *state, uint32 rowno)
{
	return state->first_row[state->current] + rowno;
}

static bool
is_matched(SimilarityJoinState *state, uint32 rowno)
{
	uint64		place;

	if (state->shared_matched == NULL)
		return (state->matched[state->current][rowno / 8] & 1 << rowno % 8) != 0;
	place = shared_place(state, rowno);
	return (pg_atomic_read_u32(&state->shared_matched[place / 32]) &
			(uint32) 1 << place % 32) != 0;
}

/* Notes that a row has found a partner; false if that was known. */
static bool
set_matched(SimilarityJoinState *state, uint32 rowno)
{
	bool		known = is_matched(state, rowno);
	uint64		place;
	uint32		bit;

	if (known)
		return false;
	if (state->shared_matched == NULL)
	{
		state->matched[state->current][rowno / 8] |= 1 << rowno % 8;
		return true;
	}
	place = shared_place(state, rowno);
	bit = (uint32) 1 << place % 32;
	return (pg_atomic_fetch_or_u32(&state->shared_matched[place / 32], bit) &
			bit) == 0;
}

/* Makes a row the current one of its side, if anybody asks for its columns. */
static inline void
show_row(SimilarityJoinState *state, JoinSide side, const JoinRow *row)
{
	if (state->columns[side] == NULL)
		return;
	ExecStoreMinimalTuple(unconstify(MinimalTupleData *, &row->columns),
						  state->rows[side], false);
}

/* True if an outer row needs one partner, not all. */
static inline bool
needs_one(const SimilarityJoinState *state)
{
	return state->type == JOIN_SEMI || state->type == JOIN_ANTI;
}

/* Goes to the first inner row of the pair, which the first round begins with. */
static void
start_rounds(SimilarityJoinState *state)
{
	rows_begin(state->engines[state->current], SIDE_INNER, state->inner_group,
			   &state->inner);
	memset(&state->round, 0, sizeof(InnerRound));
}

/* Begins a round where the row before has left its own. */
static void
begin_round(SimilarityJoinState *state)
{
	InnerRound *round = &state->round;

	/* a partner is the last row passed: it is met first, and not again */
	round->end = round->passed - round->partner;
	round->from_first = false;
}

/* The next inner row of the round; NULL if the outer one has met all. */
static const JoinRow *
next_of_round(SimilarityJoinState *state)
{
	InnerRound *round = &state->round;
	const JoinRow *row;
	uint32		rowno;

	if (round->partner)
	{
		round->partner = false;
		return state->inner_row.row;
	}
	if (round->from_first && round->passed == round->end)
		return NULL;
	row = rows_next(&state->inner, &rowno);
	if (row == NULL && !round->from_first && round->end > 0)
	{
		rows_begin(state->engines[state->current], SIDE_INNER, state->inner_group,
				   &state->inner);
		row = rows_next(&state->inner, &rowno);
		round->passed = 0;
		round->from_first = true;
	}
	round->passed += row != NULL;
	return row;
}

/* Goes to the next engine; false if there is none. */
static bool
next_engine(SimilarityJoinState *state)
{
	Assert(state->current < state->nengines);
	if (state->current == state->nengines - 1)
		return false;
	state->current++;
	return true;
}

/* Goes to the next pair of groups; false if there are no more. */
static bool
next_groups(SimilarityJoinState *state)
{
	RowGroup	outer;

	while (!setjoin_next(state->engines[state->current], &outer,
						 &state->inner_group))
		if (!next_engine(state))
			return false;
	rows_begin(state->engines[state->current], SIDE_OUTER, outer,
			   &state->outer);
	state->one_group = outer == state->inner_group;
	state->nouter = 0;
	state->inner_stays = setjoin_inner_stays(state->engines[state->current]);
	if (!state->inner_stays)
		state->inner_rows.tried = state->inner_rows.laid = false;
	if (needs_one(state))
		start_rounds(state);
	return state->in_pair = true;
}

/* What a cache holds; where there are more, they stay where they are. */
#define MAX_LAID_ROWS	4096

/*
 * Lays the rows of a group side by side, in the order of rows_next(); false if they are in
 * a file, or too many.  They last as long as `context`.  Rows of a list are far from each
 * other in memory: to go to the next takes longer than all else that is done about most
 * pairs.
 */
static bool
inner_rows_lay(InnerRows *rows, MemoryContext context, SetJoin *join,
			   RowGroup group)
{
	RowCursor	cursor;
	const JoinRow *row;
	uint32		rowno;

	rows_begin(join, SIDE_INNER, group, &cursor);
	if (cursor.reader != NULL)
		return false;
	if (rows->rows == NULL)
		rows->rows = MemoryContextAlloc(context, MAX_LAID_ROWS * sizeof(InnerRow));
	rows->n = 0;
	while ((row = rows_next(&cursor, &rowno)) != NULL)
	{
		InnerRow   *inner = &rows->rows[rows->n];

		if (rows->n == MAX_LAID_ROWS)
			return false;
		inner->row = row;
		inner->value = row->value;
		inner->spec = row_spec(row);
		rows->n++;
	}
	return true;
}

/*
 * Lays the inner rows side by side if more than one outer row is to meet all of them,
 * of this pair of groups or of several with the same inner one.
 */
static void
lay_inner_rows(SimilarityJoinState *state)
{
	InnerRows  *inner = &state->inner_rows;

	if (inner->tried || needs_one(state) ||
		(state->outer.next == NULL && !state->inner_stays))
		return;
	inner->tried = true;
	inner->laid = inner_rows_lay(inner, state->css.ss.ps.state->es_query_cxt,
								 state->engines[state->current],
								 state->inner_group);
}

/*
 * Goes to the first inner row.  Where rows may pass in either order, those of one group
 * meet those behind them; but in a file all meet all, in both orders.
 */
static void
begin_inner_rows(SimilarityJoinState *state)
{
	bool		behind = state->either_order && state->one_group;

	state->nouter++;
	lay_inner_rows(state);
	if (needs_one(state))
		begin_round(state);
	else if (state->inner_rows.laid)
		state->inner_rows.next = behind ? state->nouter : 0;
	else
	{
		behind = behind && rows_begin_behind(&state->outer, &state->inner);
		if (!behind)
			rows_begin(state->engines[state->current], SIDE_INNER,
					   state->inner_group, &state->inner);
	}
	state->exchangeable = behind || (state->either_order && !state->one_group);
	/* a row with itself does not pass */
	state->nfiltered += behind;
}

/* Goes to the next outer row; false if there are no more pairs. */
static bool
next_outer_row(SimilarityJoinState *state)
{
	const JoinRow *row;

	for (;;)
	{
		if (!state->in_pair && !next_groups(state))
			return false;
		CHECK_FOR_INTERRUPTS();
		row = rows_next(&state->outer, &state->rowno);
		if (row == NULL)
		{
			state->in_pair = false;
			continue;
		}
		if (needs_one(state) && is_matched(state, state->rowno))
			continue;
		state->spec = row_spec(row);
		state->value = row->value;
		show_row(state, SIDE_OUTER, row);
		begin_inner_rows(state);
		return state->in_row = true;
	}
}

/* How many rows ahead columns are fetched. */
#define FETCH_AHEAD	4

/* The next inner row of rows that are laid side by side. */
static inline const InnerRow *
next_laid(SimilarityJoinState *state)
{
	InnerRows  *inner = &state->inner_rows;

	if (inner->next == inner->n)
		return NULL;
	if (state->columns[SIDE_INNER] != NULL && inner->n - inner->next > FETCH_AHEAD)
		__builtin_prefetch(inner->rows[inner->next + FETCH_AHEAD].row);
	return &inner->rows[inner->next++];
}

/* The next inner row for the current outer one; NULL if there is none. */
static inline const InnerRow *
next_inner_row(SimilarityJoinState *state)
{
	const JoinRow *row;
	uint32		rowno;

	if (state->inner_rows.laid)
		return next_laid(state);
	row = needs_one(state) ? next_of_round(state) : rows_next(&state->inner, &rowno);
	if (row == NULL)
		return NULL;
	state->inner_row.row = row;
	state->inner_row.value = row->value;
	state->inner_row.spec = row_spec(row);
	return &state->inner_row;
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

	if (!comparison_holds(&state->comparison, state->value, inner->value))
	{
		if (!state->exchangeable ||
			!comparison_holds(&state->comparison, inner->value, state->value))
			return false;
		exchanged = true;
	}
	if (!state->evaluates)
		return true;
	show_row(state, SIDE_INNER, inner->row);
	/* in a self-join rows of both sides have the same columns */
	econtext->ecxt_outertuple = state->rows[exchanged ? SIDE_INNER : SIDE_OUTER];
	econtext->ecxt_innertuple = state->rows[exchanged ? SIDE_OUTER : SIDE_INNER];
	ResetExprContext(econtext);
	return state->filter == NULL || ExecQual(state->filter, econtext);
}

/* Goes to the next pair of rows that the filter lets through. */
static bool
next_pair(SimilarityJoinState *state)
{
	for (;;)
	{
		const InnerRow *inner;

		if (!state->in_row && !next_outer_row(state))
			return false;
		inner = next_inner_row(state);
		if (inner == NULL)
		{
			state->in_row = false;
			continue;
		}
		if (inner->spec == state->spec)
		{
			/* nor does the pair in the other order, for which this one stands */
			state->nfiltered += state->exchangeable;
			if (passes(state, inner))
				return true;
			state->nfiltered++;
		}
		CHECK_FOR_INTERRUPTS();
	}
}

/* What comes out of the join where no column is wanted, or for the current rows. */
static inline TupleTableSlot *
output(SimilarityJoinState *state)
{
	PlanState  *ps = &state->css.ss.ps;
	TupleTableSlot *slot = ps->ps_ResultTupleSlot;

	if (state->projects)
		return ExecProject(ps->ps_ProjInfo);
	return TTS_EMPTY(slot) ? ExecStoreVirtualTuple(slot) : slot;
}

/* What comes out of the join where rows pair; NULL if there is no more. */
static TupleTableSlot *
next_matched(SimilarityJoinState *state)
{
	PlanState  *ps = &state->css.ss.ps;

	while (next_pair(state))
	{
		bool		first = state->type != JOIN_INNER &&
			set_matched(state, state->rowno);

		if (needs_one(state))
		{
			state->round.partner = true;
			state->in_row = false;
		}
		if (state->type == JOIN_ANTI || (state->type == JOIN_SEMI && !first))
			continue;
		if (state->qual == NULL || ExecQual(state->qual, ps->ps_ExprContext))
			return output(state);
		state->nremoved++;
	}
	return NULL;
}

/* The next outer row, of either engine; NULL if there is no more. */
static const JoinRow *
next_row(SimilarityJoinState *state, uint32 *rowno)
{
	const JoinRow *row;

	while ((row = setjoin_rows_next(state->engines[state->current], SIDE_OUTER,
									rowno)) == NULL)
	{
		if (!next_engine(state))
			return NULL;
		setjoin_rows(state->engines[state->current], SIDE_OUTER);
	}
	return row;
}

/* And where outer rows have found no partner. */
static TupleTableSlot *
next_unmatched(SimilarityJoinState *state)
{
	PlanState  *ps = &state->css.ss.ps;
	const JoinRow *row;
	uint32		rowno;

	while ((row = next_row(state, &rowno)) != NULL)
	{
		CHECK_FOR_INTERRUPTS();
		if (is_matched(state, rowno))
			continue;
		ResetExprContext(ps->ps_ExprContext);
		show_row(state, SIDE_OUTER, row);
		ps->ps_ExprContext->ecxt_outertuple = state->rows[SIDE_OUTER];
		ps->ps_ExprContext->ecxt_innertuple = state->no_row;
		if (state->qual == NULL || ExecQual(state->qual, ps->ps_ExprContext))
			return output(state);
		state->nremoved++;
	}
	return NULL;
}

/* CustomExecMethods.ExecCustomScan */
static TupleTableSlot *
exec(CustomScanState *node)
{
	SimilarityJoinState *state = (SimilarityJoinState *) node;
	TupleTableSlot *slot = NULL;

	Assert(state->phase == JOIN_BUILD || state->phase == JOIN_DONE || state->nengines > 0);
	if (state->phase == JOIN_BUILD)
		state->phase = join_read(state) ? JOIN_PAIRS : JOIN_DONE;
	if (state->phase == JOIN_PAIRS)
	{
		slot = next_matched(state);
		if (slot != NULL)
			return slot;
		state->phase = JOIN_DONE;
		if (keeps_unmatched(state) && join_shared_end_probes(state))
		{
			state->current = 0;
			setjoin_rows(state->engines[0], SIDE_OUTER);
			state->phase = JOIN_UNMATCHED;
		}
	}
	if (state->phase == JOIN_UNMATCHED)
		slot = next_unmatched(state);
	if (slot == NULL)
	{
		state->phase = JOIN_DONE;
		ExecClearTuple(state->rows[SIDE_OUTER]);
		ExecClearTuple(state->rows[SIDE_INNER]);
		/* to give back much memory takes time: do it while others do */
		join_shared_close(state);
		return ExecClearTuple(node->ss.ps.ps_ResultTupleSlot);
	}
	return slot;
}

const SetJoinStats *
similarity_join_stats(SimilarityJoinState *state)
{
	if (state->stats_gathered)
		return &state->stats;
	if (state->nengines > 0)
		memset(&state->stats, 0, sizeof(SetJoinStats));
	for (int i = 0; i < state->nengines; i++)
		setjoin_stats_add(&state->stats, setjoin_stats(state->engines[i]));
	return &state->stats;
}

/* Gives back what the engines hold. */
static void
end_engine(SimilarityJoinState *state)
{
	similarity_join_stats(state);
	for (int i = 0; i < state->nengines; i++)
		setjoin_end(state->engines[i]);
	state->nengines = state->nkinds = 0;
	state->specs = NULL;
	state->shared_matched = NULL;
	state->to_files = false;
	ExecClearTuple(state->rows[SIDE_OUTER]);
	ExecClearTuple(state->rows[SIDE_INNER]);
	MemoryContextReset(state->context);
	state->in_pair = state->in_row = false;
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
