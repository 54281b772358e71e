/*
 * join_read.c
 *		Reading the sides of a similarity join into the engine.
 *
 * Both are read to their ends, the one of which fewer rows are expected first: of
 * each row what is wanted above the join or by its other conditions, with the set of
 * its signature.  If the sides are one table that is joined with itself, it is read
 * once.
 */
#include "postgres.h"

#include "executor/executor.h"
#include "utils/memutils.h"

#include "base/compat.h"
#include "base/prefetch.h"
#include "base/settings.h"
#include "join/classic/classic.h"
#include "join/engine/feature_filter.h"
#include "join/node/join_node.h"
#include "signature/sql/near.h"
#include "methods/sketches/lsh.h"

/* Memory of an engine that is not the first: one part in so many. */
#define OTHERS_SHARE	8

/*
 * Adds an engine.  The first has all of the memory; others, where signatures
 * of several kinds come together, a share.
 */
static SetJoin *
add_engine(SimilarityJoinState *state)
{
	MemoryContext old = MemoryContextSwitchTo(state->context);
	size_t		memory = get_hash_memory_limit();
	SetJoinParams params = {
		.algorithm = chosen_algorithm(neardup_join_algorithm, KIND_SETS,
									  state->measure),
		.measure = state->measure,
		.threshold = state->valid ? state->threshold_value : 1,
		.self_join = state->self_join,
		.apart = state->self_join &&
			comparison_refuses_equal(&state->comparison),
		.either_order = state->either_order,
		/* see specs.c */
		.keep_empty[SIDE_OUTER] = keeps_unmatched(state) || state->has_before,
		.keep_empty[SIDE_INNER] = state->has_before,
		.keep_unmatched = keeps_unmatched(state),
		.memory = state->nengines == 0 ? memory : memory / OTHERS_SHARE
	};
	SetJoin    *engine;

	join_shared_divide(state, &params);
	engine = setjoin_begin(&params);

	state->engines[state->nengines++] = engine;
	MemoryContextSwitchTo(old);
	return engine;
}

SetJoin *
join_engine_for(SimilarityJoinState *state, SignatureKind kind)
{
	SetJoin    *engine = state->engines[0];

	for (int i = 0; i < state->nkinds; i++)
		if (state->kinds[i] == kind)
			return state->engines[i];
	if (state->nkinds > 0)
		engine = add_engine(state);
	state->kinds[state->nkinds++] = kind;
	setjoin_use(engine, chosen_algorithm(neardup_join_algorithm, kind,
										 state->measure));
	return engine;
}

/*
 * Adds a row whose columns, value and signature (or NULL) are known, unless
 * nobody will ask for it.
 */
void
join_add_row(SimilarityJoinState *state, JoinSide side, JoinRow *row,
			 size_t len, const Signature *sig)
{
	SetJoin    *engine = state->engines[0];
	uint32		spec = 0;
	uint32		n = 0;
	const uint64 *set = NULL;

	if (sig != NULL)
		spec = specs_note(state->specs, side, sig, state->measure,
							  state->recall != NULL);
	/* that it cannot be compared with the other side may be an error */
	if (spec > 1)
		setjoin_end_filter(state->engines[0]);
	if (spec != 0 && state->valid && !specs_last_refused(state->specs))
	{
		engine = join_engine_for(state, specs_last_kind(state->specs));
		set = signature_as_set(sig, specs_last_kind(state->specs),
							   state->measure, &n);
	}
	if (n == 0 && !(spec != 0 && state->has_before) &&
		!(side == SIDE_OUTER && keeps_unmatched(state)))
		return;
	row_set_spec(row, spec);
	setjoin_add(engine, side, set, n, row, len);
}

/*
 * A row of which no column is wanted, as by count(*): no tuple is made.  It is good
 * until the next one.
 */
static JoinRow *
make_bare_row(SimilarityJoinState *state, int64 value, size_t *len)
{
	memset(&state->bare_row, 0, sizeof(state->bare_row));
	state->bare_row.value = value;
	*len = offsetof(JoinRow, columns.mt_padding) + sizeof(RowSpec);
	return &state->bare_row;
}

/* What is kept of the current row: of its columns those that are wanted again. */
static JoinRow *
make_row(SimilarityJoinState *state, JoinSide side, TupleTableSlot *slot,
		 int64 value, size_t *len)
{
	Datum	   *values = state->values[side];
	bool	   *isnull = state->isnull[side];
	int			column = -1;
	MinimalTuple columns;
	JoinRow    *row;

	if (state->columns[side] == NULL)
		return make_bare_row(state, value, len);
	while ((column = bms_next_member(state->columns[side], column)) >= 0)
		values[column] = slot_getattr(slot, column + 1, &isnull[column]);
	columns = form_minimal_tuple(slot->tts_tupleDescriptor, values, isnull);
	*len = offsetof(JoinRow, columns) + columns->t_len;
	row = MemoryContextAllocHuge(CurrentMemoryContext, *len);
	row->value = value;
	memcpy(&row->columns, columns, columns->t_len);
	return row;
}

/* Takes in the current row.  If it passes no comparison, it has no signature. */
static void
take_row(SimilarityJoinState *state, JoinSide side, TupleTableSlot *slot,
		 const Signature *sig)
{
	int64		value;
	size_t		len;
	JoinRow    *row;

	if (!comparison_value(&state->comparison, side, slot, &value))
		sig = NULL;
	if (sig == NULL && !(side == SIDE_OUTER && keeps_unmatched(state)))
		return;
	row = make_row(state, side, slot, value, &len);
	if (state->shared != NULL)
		join_shared_take(state, side, row, len, sig);
	else
		join_add_row(state, side, row, len, sig);
}

/*
 * A signature that is stored with a short header, in full, until the next one.  That of
 * a small set is so; memory need not be had for each row.
 */
static Signature *
lengthen(SimilarityJoinState *state, const struct varlena *stored)
{
	Size		bytes = VARSIZE_SHORT(stored) - VARHDRSZ_SHORT;

	SET_VARSIZE(&state->short_signature, VARHDRSZ + bytes);
	memcpy(VARDATA(&state->short_signature), VARDATA_SHORT(stored), bytes);
	return &state->short_signature.sig;
}

/* The signature of the current row, or NULL. */
static Signature *
row_signature(SimilarityJoinState *state, JoinSide side)
{
	Datum		value;
	bool		isnull;

	value = ExecEvalExpr(state->keys[side], state->css.ss.ps.ps_ExprContext,
						 &isnull);
	if (isnull)
		return NULL;
	if (VARATT_IS_SHORT(DatumGetPointer(value)) &&
		!VARATT_IS_EXTERNAL(DatumGetPointer(value)))
		return lengthen(state, (struct varlena *) DatumGetPointer(value));
	return DatumGetSignature(value);
}

/*
 * The scan that has given a child's current row, if it goes through a table page by page; of
 * an Append with asynchronous parts, perhaps another one.
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

/* Fetches the row that comes next into the cache, if it is about as long as this one. */
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

void
join_read_side(SimilarityJoinState *state, JoinSide side, bool any_threshold)
{
	ExprContext *econtext = state->css.ss.ps.ps_ExprContext;
	MemoryContext caller = MemoryContextSwitchTo(state->css.ss.ps.state->es_query_cxt);

	/* what a child makes when it is first asked has to last as long as it */
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

/* The value of an argument that is the same for all pairs; false if null. */
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
 * The threshold, and the recall if there is one; false if one is null.  That
 * they are valid is not required before two signatures come to be compared:
 * see specs.c.
 */
static bool
join_arguments(SimilarityJoinState *state)
{
	state->threshold_value = neardup_threshold;
	state->valid = true;
	if (!evaluate_argument(state, state->threshold, &state->threshold_value) ||
		!evaluate_argument(state, state->recall, &state->recall_value))
		return false;
	state->valid = measure_has_threshold(state->measure,
										 state->threshold_value) &&
		(state->recall == NULL ||
		 lsh_approx_possible(state->threshold_value, state->recall_value));
	return true;
}

/*
 * All rows have been read: goes to the first engine's pairs.  False if other
 * processes have found them all.
 */
static bool
build_engines(SimilarityJoinState *state)
{
	uint64		rows = 0;

	for (int i = 0; i < state->nengines; i++)
	{
		uint64		n = setjoin_outer_rows(state->engines[i]);

		state->first_row[i] = rows;
		rows += n;
		state->matched[i] = state->shared != NULL ? NULL :
			MemoryContextAllocZero(state->context, n / 8 + 1);
	}
	state->current = 0;
	if (!join_shared_begin_probes(state, rows))
		return false;
	for (int i = 0; i < state->nengines; i++)
		setjoin_build(state->engines[i]);
	return true;
}

/* The side that is read first: the one of which fewer rows are expected. */
static JoinSide
first_side(SimilarityJoinState *state)
{
	if (state->self_join)
		return SIDE_OUTER;
	return join_child(state, SIDE_OUTER)->plan->plan_rows <
		join_child(state, SIDE_INNER)->plan->plan_rows ? SIDE_OUTER : SIDE_INNER;
}

/*
 * Has rows that can have no partner passed over from now on, if all signatures of the
 * side that has been read are of one spec, and the other side is so much larger
 * that it pays.
 */
static void
filter_other_side(SimilarityJoinState *state, JoinSide first)
{
	SetJoin    *engine = state->engines[0];
	double		others = join_child(state, OTHER_SIDE(first))->plan->plan_rows;

	if (state->nkinds == 1 && specs_number(state->specs) == 1 &&
		feature_filter_pays(setjoin_rows_added(engine, first), others))
		setjoin_filter(engine);
}

/*
 * Reads both sides, the second one only if it matters: where the first one has no signature,
 * none of its rows has a partner, and nobody asks for their sets.
 */
static void
read_sides(SimilarityJoinState *state, bool any_threshold)
{
	JoinSide	first = first_side(state);
	bool		any_signature;

	join_read_side(state, first, any_threshold);
	if (state->self_join)
	{
		specs_mirror(state->specs);
		return;
	}
	filter_other_side(state, first);
	any_signature = specs_on_side(state->specs, first);
	if (any_signature || (first == SIDE_INNER && keeps_unmatched(state)))
		join_read_side(state, OTHER_SIDE(first), any_threshold && any_signature);
}

void
join_begin_engines(SimilarityJoinState *state)
{
	MemoryContext old = MemoryContextSwitchTo(state->context);

	for (int i = 0; i < state->nengines; i++)
		setjoin_end(state->engines[i]);
	state->nengines = state->nkinds = 0;
	state->specs = specs_begin();
	add_engine(state);
	MemoryContextSwitchTo(old);
}

bool
join_read(SimilarityJoinState *state)
{
	bool		any_threshold;

	if (join_shared_is_late(state))
		return false;
	any_threshold = join_arguments(state);
	join_begin_engines(state);
	if (state->shared != NULL)
		join_shared_read(state, any_threshold);
	else
		read_sides(state, any_threshold);
	if (!build_engines(state))
		return false;
	specs_check(state);
	return true;
}
