/*
 * join_read.c
 *		Reading the sides of a similarity join into the engine.
 *
 * The side with fewer expected rows is read first.  A row is kept with the
 * columns that the output or other conditions need, and with the set of its
 * signature.  A table that is joined with itself is read once.
 */
#include "postgres.h"

#include "executor/executor.h"
#include "utils/memutils.h"

#include "base/compat.h"
#include "base/memory.h"
#include "base/settings.h"
#include "join/classic/classic.h"
#include "join/engine/feature_counts.h"
#include "join/node/join_node.h"
#include "signature/sql/near.h"
#include "methods/sketches/minhash.h"

/*
 * Form a row of the needed columns of the current one; valid until the next
 * call.
 */
static JoinRow *
make_row(SimilarityJoinState *state, JoinSide side, TupleTableSlot *slot,
		 int64 value, size_t *len)
{
	Datum	   *values = state->sides[side].values;
	bool	   *isnull = state->sides[side].isnull;
	int			column = -1;
	MinimalTuple columns;
	JoinRow    *row;

	/* no tuple is formed, as for count(*) */
	if (state->sides[side].columns == NULL)
	{
		memset(&state->bare_row, 0, sizeof(state->bare_row));
		state->bare_row.value = value;
		*len = offsetof(JoinRow, columns);
		return &state->bare_row;
	}
	while ((column = bms_next_member(state->sides[side].columns, column)) >= 0)
		values[column] = slot_getattr(slot, column + 1, &isnull[column]);
	columns = form_minimal_tuple(slot->tts_tupleDescriptor, values, isnull);
	*len = offsetof(JoinRow, columns) + columns->t_len;
	row = MemoryContextAllocHuge(CurrentMemoryContext, *len);
	row->value = value;
	memcpy(&row->columns, columns, columns->t_len);
	return row;
}

/*
 * Add the current row, without signature if the value of the comparison is
 * null.
 */
static void
take_row(SimilarityJoinState *state, JoinSide side, TupleTableSlot *slot,
		 const Signature *sig)
{
	int64		value;
	size_t		len;
	JoinRow    *row;

	if (!comparison_value(&state->conditions.comparison, side, slot, &value))
		sig = NULL;
	if (sig == NULL && !(side == SIDE_OUTER && keeps_unmatched(state)))
		return;
	row = make_row(state, side, slot, value, &len);
	if (state->shared != NULL)
		join_shared_add(state, side, row, len, sig);
	else
		specs_add_row(state, side, row, len, sig);
}

/* The signature of the current row, or NULL; valid until the next one. */
static Signature *
row_signature(SimilarityJoinState *state, JoinSide side)
{
	Datum		value;
	bool		isnull;

	value = ExecEvalExpr(state->near.signatures[side],
						 state->css.ss.ps.ps_ExprContext,
						 &isnull);
	if (isnull)
		return NULL;
	/* short signatures need no allocation */
	if (VARATT_IS_SHORT(DatumGetPointer(value)) &&
		!VARATT_IS_EXTERNAL(DatumGetPointer(value)))
	{
		const struct varlena *stored =
		(struct varlena *) DatumGetPointer(value);
		Size		bytes = VARSIZE_SHORT(stored) - VARHDRSZ_SHORT;

		SET_VARSIZE(&state->short_signature, VARHDRSZ + bytes);
		memcpy(VARDATA(&state->short_signature), VARDATA_SHORT(stored), bytes);
		return (Signature *) &state->short_signature;
	}
	return DatumGetSignature(value);
}

/*
 * The sequential scan that has returned a child's current row, or NULL; of an
 * Append with asynchronous parts, perhaps another one.
 */
static ScanState *
scan_of(PlanState *child)
{
	while (child != NULL)
		switch (nodeTag(child))
		{
			case T_SeqScanState:
				return (ScanState *) child;
			case T_AppendState:
				{
					AppendState *append = (AppendState *) child;

					child = append->as_whichplan < 0 ? NULL :
						append->appendplans[append->as_whichplan];
					break;
				}
			case T_SubqueryScanState:
				child = ((SubqueryScanState *) child)->subplan;
				break;
			default:
				return NULL;
		}
	return NULL;
}

/*
 * Prefetch the next row, if it is about as long; a self-join takes 8 percent
 * longer without.
 */
static void
fetch_next_row(PlanState *child)
{
	ScanState  *scan = scan_of(child);
	HeapTuple	row;

	if (scan == NULL || !TTS_IS_BUFFERTUPLE(scan->ss_ScanTupleSlot))
		return;
	row = ((BufferHeapTupleTableSlot *) scan->ss_ScanTupleSlot)->base.tuple;
	if (row != NULL)
		fetch_before(row->t_data, row->t_len);
}

/*
 * Read one side to its end, into the engine or shared memory.  Signatures are
 * ignored if the threshold is null.
 */
static void
read_side(SimilarityJoinState *state, JoinSide side, bool any_threshold)
{
	ExprContext *econtext = state->css.ss.ps.ps_ExprContext;
	MemoryContext caller =
	MemoryContextSwitchTo(state->css.ss.ps.state->es_query_cxt);

	/* a child allocates in this context at its first call */
	for (;;)
	{
		TupleTableSlot *slot = ExecProcNode(join_child(state, side));
		Signature  *sig = NULL;
		MemoryContext old;

		if (TupIsNull(slot))
			break;
		fetch_next_row(join_child(state, side));
		ResetExprContext(econtext);
		old = MemoryContextSwitchTo(econtext->ecxt_per_tuple_memory);
		if (side == SIDE_OUTER)
			econtext->ecxt_outertuple = slot;
		else
			econtext->ecxt_innertuple = slot;
		if (any_threshold)
			sig = row_signature(state, side);
		take_row(state, side, slot, sig);
		MemoryContextSwitchTo(old);
	}
	ResetExprContext(econtext);
	MemoryContextSwitchTo(caller);
}

/* Evaluate an argument that is the same for all pairs; false if null. */
static bool
evaluate_argument(SimilarityJoinState *state, ExprState *argument,
				  double *value)
{
	ExprContext *econtext = state->css.ss.ps.ps_ExprContext;
	Datum		datum;
	bool		isnull;

	if (argument == NULL)
		return true;
	datum = ExecEvalExprSwitchContext(argument, econtext, &isnull);
	if (!isnull)
		*value = DatumGetFloat8(datum);
	return !isnull;
}

/*
 * Evaluate the threshold, and the recall if there is one; false if one is
 * null.  An invalid one is an error only when two signatures are compared: see
 * specs.c.
 */
static bool
join_arguments(SimilarityJoinState *state)
{
	state->near.threshold_value = neardup_threshold;
	state->near.valid = true;
	if (!evaluate_argument(state, state->near.threshold,
						   &state->near.threshold_value) ||
		!evaluate_argument(state, state->near.recall,
						   &state->near.recall_value))
		return false;
	state->near.valid = measure_has_threshold(state->near.measure,
											  state->near.threshold_value) &&
		(state->near.recall == NULL ||
		 lsh_approx_possible(state->near.threshold_value,
							 state->near.recall_value));
	return true;
}

/*
 * Prepare the engine, which has all rows of its spec; false if other processes
 * have found all pairs.
 */
static bool
build_engine(SimilarityJoinState *state)
{
	if (state->matched != NULL)
		pfree(state->matched);
	state->matched = NULL;
	if (!join_shared_begin_probes(state))
		return false;
	if (state->shared_matched == NULL)
		state->matched = MemoryContextAllocZero(state->context,
												engine_outer_rows(state->engine) / 8 + 1);
	engine_build(state->engine, join_shared_probes(state));
	return true;
}

/*
 * Read both sides, the one with fewer expected rows first.  If that has no
 * signature, no row has a match, and the second one is read only if its rows
 * are emitted.
 */
static void
read_sides(SimilarityJoinState *state, bool any_threshold)
{
	double		rows[2] = {
		join_child(state, SIDE_OUTER)->plan->plan_rows,
		join_child(state, SIDE_INNER)->plan->plan_rows
	};
	JoinSide	first = state->self_join ||
	rows[SIDE_OUTER] < rows[SIDE_INNER] ?
	SIDE_OUTER : SIDE_INNER;
	bool		any_signature;

	read_side(state, first, any_threshold);
	if (state->self_join)
		return;
	specs_end_side(state);
	/* from now on rows without a match may be dropped */
	if (specs_engines(state) == 1 &&
		feature_filter_is_worthwhile(engine_rows_added(state->engine, first),
									 rows[OTHER_SIDE(first)]))
		engine_filter_by_added(state->engine);
	any_signature = specs_engines(state) > 0;
	if (any_signature || (first == SIDE_INNER && keeps_unmatched(state)))
		read_side(state, OTHER_SIDE(first), any_threshold && any_signature);
}

bool
join_read(SimilarityJoinState *state)
{
	bool		any_threshold;

	if (join_shared_is_late(state))
		return false;
	any_threshold = join_arguments(state);
	join_shared_divide(state);
	specs_begin(state);
	if (state->shared == NULL)
		read_sides(state, any_threshold);
	else
	{
		/* the part of this process, unless others have read all */
		if (join_shared_begin(state))
		{
			for (int side = LAST_READ_SIDE(state); side >= SIDE_OUTER; side--)
				read_side(state, side, any_threshold);
			join_shared_end_rows(state);
		}
		join_shared_gather(state);
	}
	specs_warn(state);
	return join_shared_claims(state, 0) ? build_engine(state) :
		join_next_engine(state);
}

bool
join_next_engine(SimilarityJoinState *state)
{
	int64		engine;

	while ((engine = specs_waiting(state)) >= 0)
	{
		bool		wanted = join_shared_claims(state, engine);

		specs_next(state, wanted);
		if (wanted)
			return build_engine(state);
	}
	return false;
}
