/*
 * specs.c
 *		Rows of a similarity join enter an engine.
 *
 * Most joins have signatures of one spec.  Signatures of different specs are
 * never near-duplicates.  The sets of all specs are in one engine: features of
 * the second and further specs are salted, so that they have none in common
 * with others (signature_as_scoped_set()). Sketches and vectors of each
 * further spec get an engine of their own: their rows wait in a sort by engine
 * until all pairs of the previous engine have been emitted.
 *
 * Comparing signatures without the measure, or with a threshold out of range,
 * is an error, which a nested loop raises when a pair has passed the cheaper
 * conditions.  The engine has all such rows with the same set, so that the
 * first pair that passes these conditions raises the error.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_operator_d.h"
#include "catalog/pg_type_d.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/hsearch.h"
#include "utils/memutils.h"
#include "utils/tuplesort.h"

#include "base/compat.h"
#include "document/recorded_versions.h"
#include "join/classic/classic.h"
#include "join/node/join_node.h"
#include "methods/method.h"
#include "methods/sketches/minhash.h"
#include "signature/signature.h"
#include "signature/sql/near.h"

/* A spec of the signatures that were read. */
typedef struct JoinSpec
{
	SignatureSpec spec;			/* key in the hash table */
	uint32		number;			/* number from 0, in the order in which specs
								 * were met */
	uint32		engine;			/* number of the engine that joins it, from 0 */
	bool		salted;			/* true if its sets share that engine with
								 * others */
	SignatureKind kind;			/* kind of its signatures, unless they are
								 * incomparable */
	bool		incomparable;	/* true if comparing two signatures is an
								 * error */
} JoinSpec;

typedef struct JoinSpecs
{
	uint32		n;				/* number of specs met */
	uint32		nengines;		/* number of engines for these */
	HTAB	   *table;			/* hash table of JoinSpec */
	JoinSpec   *sets;			/* first spec of sets, which are not salted */
	uint64		salt;			/* salt for all further ones, drawn at the
								 * second */
	JoinSpec   *first;
	JoinSpec   *second;
	JoinSpec   *last;			/* spec that was met last */
	JoinSpec   *current;		/* first spec in the engine; NULL as long as
								 * it has no set */
	uint32		nboth;			/* number of specs that both sides may have,
								 * once one side has been read */
	bool		has_signature[2];	/* true if the side has a signature, by
									 * JoinSide */
	Tuplesortstate *waiting;	/* rows of other specs; NULL: none */
	uint64		nwaiting;
	TupleTableSlot *in;			/* row that goes into the sort */
	TupleTableSlot *out;		/* next row out of it */
	bool		sorted;
	bool		fetched;		/* true if that row is in the slot */
} JoinSpecs;

/* A row that waits: this, a JoinRow, a signature, both padded to MAXALIGN. */
typedef struct WaitingRow
{
	uint32		side;
	uint64		len;			/* bytes of the JoinRow */
} WaitingRow;

/* Columns of the sort */
enum
{
	WAITING_ENGINE = 1,			/* number of the engine */
	WAITING_NUMBER,				/* number of the row, so that their order is
								 * defined */
	WAITING_SPEC_ROW,
};

/* The engine */

/*
 * Begin an engine for the condition, with an algorithm of sets until a
 * signature is known.
 */
static void
begin_engine(SimilarityJoinState *state)
{
	MemoryContext old = MemoryContextSwitchTo(state->context);
	const DrivingCondition *near = &state->near;
	EngineParams params = {0};

	if (state->division != NULL)
		params = *state->division;
	params.measure = near->valid ? near->measure : MEASURE_JACCARD;
	params.threshold = near->valid ? near->threshold_value : 1;
	params.algorithm = selected_algorithm(neardup_join_algorithm, KIND_SETS,
										  params.measure);
	params.self_join = state->self_join;
	params.apart = state->self_join &&
		comparison_refuses_equal(&state->conditions.comparison);
	params.either_order = state->either_order;
	params.keep_empty[SIDE_OUTER] = params.keep_unmatched =
		keeps_unmatched(state);
	params.memory = get_hash_memory_limit();
	state->engine = engine_begin(&params);
	MemoryContextSwitchTo(old);
}

EngineStats
similarity_join_stats(const SimilarityJoinState *state)
{
	EngineStats sum = state->stats;

	if (state->stats_gathered || state->engine == NULL)
		return sum;
	engine_stats_add(&sum, engine_stats(state->engine));
	/* engines follow one another */
	sum.memory = Max(state->stats.memory, sum.memory - state->stats.memory);
	return sum;
}

/* Free the engine, and keep its counters. */
static void
end_engine(SimilarityJoinState *state)
{
	if (state->engine == NULL)
		return;
	state->stats = similarity_join_stats(state);
	engine_end(state->engine);
	state->engine = NULL;
}

/* Let the engine join sets of that spec, and of others with its number. */
static void
use_spec(SimilarityJoinState *state, JoinSpec *spec)
{
	if (spec->incomparable)
		engine_set_condition(state->engine,
							 default_algorithm(KIND_SETS, MEASURE_JACCARD),
							 MEASURE_JACCARD, 1);
	else
		engine_set_condition(state->engine,
							 selected_algorithm(neardup_join_algorithm,
												spec->kind,
												state->near.measure),
							 state->near.measure, state->near.threshold_value);
	state->specs->current = spec;
	state->incomparable = spec->incomparable;
}

/*
 * Add a row whose signature has that spec; both are NULL if it has no match.
 */
static void
add_to_engine(SimilarityJoinState *state, JoinSide side, JoinRow *row,
			  size_t len,
			  const JoinSpec *spec, const Signature *sig)
{
	static const uint64 same_set[] = {0};
	const uint64 *set = NULL;
	uint32		n = 0;

	Assert((spec == NULL) == (sig == NULL));
	Assert(spec == NULL || spec->engine == state->specs->current->engine);
	Assert(spec == NULL || spec_equal(&spec->spec, &sig->spec) ||
		   spec->incomparable);
	if (spec != NULL && spec->incomparable)
	{
		set = same_set;
		n = lengthof(same_set);
	}
	else if (spec != NULL && spec->salted)
		set = signature_as_scoped_set(sig, KIND_SETS, state->specs->salt, &n);
	else if (spec != NULL)
		set = signature_as_set(sig, spec->kind, state->near.measure, &n);
	if (n > 0 || (side == SIDE_OUTER && keeps_unmatched(state)))
		engine_add(state->engine, side, set, n, row, len);
}

/* Specs */

void
specs_end(SimilarityJoinState *state)
{
	end_engine(state);
	if (state->specs != NULL && state->specs->waiting != NULL)
		tuplesort_end(state->specs->waiting);
	state->specs = NULL;
}

void
specs_begin(SimilarityJoinState *state)
{
	MemoryContext old = MemoryContextSwitchTo(state->context);
	HASHCTL		ctl = {0};

	specs_end(state);
	memset(&state->stats, 0, sizeof(EngineStats));
	ctl.keysize = sizeof(SignatureSpec);
	ctl.entrysize = sizeof(JoinSpec);
	ctl.hcxt = CurrentMemoryContext;
	state->specs = palloc0(sizeof(JoinSpecs));
	state->specs->nboth = PG_UINT32_MAX;
	state->incomparable = false;
	state->specs->table = hash_create("specs of a similarity join", 16, &ctl,
									  HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	begin_engine(state);
	MemoryContextSwitchTo(old);
}

/* Draw the salt; engines of several processes have the same. */
static void
draw_salt(SimilarityJoinState *state)
{
	char		drawn[JOIN_SECRET];
	const char *secret = drawn;

	if (state->division != NULL && state->division->secret != NULL)
		secret = state->division->secret;
	else
		join_secret_draw(drawn);
	memcpy(&state->specs->salt, secret, sizeof(uint64));
}

/* Choose the engine of a new spec. */
static void
choose_engine(SimilarityJoinState *state, JoinSpec *entry)
{
	JoinSpecs  *specs = state->specs;
	bool		sets = !entry->incomparable && entry->kind == KIND_SETS;

	entry->salted = sets && specs->sets != NULL;
	if (!entry->salted)
	{
		entry->engine = specs->nengines++;
		if (sets)
			specs->sets = entry;
		return;
	}
	entry->engine = specs->sets->engine;
	if (specs->salt == 0)
		draw_salt(state);
}

/* Initialize a new spec. */
static void
add_spec(SimilarityJoinState *state, JoinSpec *entry, const Signature *sig)
{
	JoinSpecs  *specs = state->specs;
	const MethodInfo *method = method_info(sig->spec.method);

	entry->number = specs->n++;
	entry->incomparable = !state->near.valid ||
		(state->near.recall != NULL ? !approx_takes(method) :
		 !measure_is_defined(method, state->near.measure));
	if (!entry->incomparable)
		entry->kind = signature_kind(sig, state->near.measure);
	choose_engine(state, entry);
	if (entry->number == 0)
		specs->first = entry;
	if (entry->number == 1)
		specs->second = entry;
	recorded_versions_check_spec(&sig->spec);
}

/* The spec of a signature; NULL if no signature of the other side has it. */
static JoinSpec *
find_spec(SimilarityJoinState *state, JoinSide side, const Signature *sig)
{
	JoinSpecs  *specs = state->specs;
	bool		found = true;

	specs->has_signature[side] = true;
	/* an argument out of range is an error for all specs */
	if (!state->near.valid && specs->first != NULL)
		return specs->first;
	if (specs->last == NULL || !spec_equal(&specs->last->spec, &sig->spec))
		specs->last = hash_search(specs->table, &sig->spec, HASH_ENTER,
								  &found);
	if (!found)
		add_spec(state, specs->last, sig);
	return specs->last->number < specs->nboth ? specs->last : NULL;
}

bool
specs_use(SimilarityJoinState *state, const Signature *sig)
{
	JoinSpec   *spec = find_spec(state, SIDE_OUTER, sig);

	Assert(state->specs->current == NULL);
	if (spec->incomparable)
		return false;
	use_spec(state, spec);
	return true;
}

uint32
specs_engines(const SimilarityJoinState *state)
{
	return state->specs->nengines;
}

SignatureKind
specs_kind(const SimilarityJoinState *state)
{
	return state->specs->current->kind;
}

void
specs_end_side(SimilarityJoinState *state)
{
	state->specs->nboth = state->specs->n;
}

void
specs_refuse(const SimilarityJoinState *state)
{
	const DrivingCondition *near = &state->near;
	SignatureSpec spec = state->specs->current->spec;

	Assert(state->incomparable);
	threshold_require_valid(near->threshold_value, near->measure);
	if (near->recall != NULL)
	{
		(void) lsh_approx_banding(near->threshold_value, near->recall_value);
		approx_require_method(method_info(spec.method));
	}
	measure_refuse(signature_alloc(&spec, 0),
				   measure_name(near->left == SIDE_OUTER ? near->measure :
								measure_commute(near->measure)));
}

/* Only the leader warns: each process may have all specs. */
void
specs_warn(const SimilarityJoinState *state)
{
	const JoinSpecs *specs = state->specs;

	if (specs->n > 1 && state->conditions.before == NULL &&
		!IsParallelWorker() &&
		specs->has_signature[SIDE_OUTER] &&
		(state->self_join || specs->has_signature[SIDE_INNER]))
		spec_warn_different(&specs->first->spec, &specs->second->spec);
}

/* Rows that wait */

/* Create the sort of rows that wait. */
static void
begin_waiting(JoinSpecs *specs)
{
	TupleDesc	desc = CreateTemplateTupleDesc(WAITING_SPEC_ROW);
	AttrNumber	columns[] = {WAITING_ENGINE, WAITING_NUMBER};
	Oid			operators[] = {Int4LessOperator, Int8LessOperator};
	Oid			collations[] = {InvalidOid, InvalidOid};
	bool		nulls_first[] = {false, false};

	TupleDescInitEntry(desc, WAITING_ENGINE, "engine", INT4OID, -1, 0);
	TupleDescInitEntry(desc, WAITING_NUMBER, "number", INT8OID, -1, 0);
	TupleDescInitEntry(desc, WAITING_SPEC_ROW, "row", BYTEAOID, -1, 0);
	TupleDescFinalize(desc);
	specs->in = MakeSingleTupleTableSlot(desc, &TTSOpsVirtual);
	specs->out = MakeSingleTupleTableSlot(desc, &TTSOpsMinimalTuple);
	specs->waiting = tuplesort_begin_heap(desc, lengthof(columns), columns,
										  operators,
										  collations, nulls_first, work_mem,
										  NULL,
										  TUPLESORT_NONE);
}

/* Keep a row for another engine. */
static void
add_waiting(SimilarityJoinState *state, const JoinSpec *spec, JoinSide side,
			const JoinRow *row, size_t len, const Signature *sig)
{
	JoinSpecs  *specs = state->specs;
	WaitingRow	head = {side, len};
	size_t		bytes = VARHDRSZ + sizeof(head) + MAXALIGN(len) + VARSIZE(sig);
	bytea	   *kept = palloc(bytes);
	char	   *place = VARDATA(kept);
	MemoryContext old = MemoryContextSwitchTo(state->context);

	Assert(spec->engine != specs->current->engine);
	if (specs->waiting == NULL)
		begin_waiting(specs);
	SET_VARSIZE(kept, bytes);
	memcpy(place, &head, sizeof(head));
	memcpy(place + sizeof(head), row, len);
	memcpy(place + sizeof(head) + MAXALIGN(len), sig, VARSIZE(sig));
	ExecClearTuple(specs->in);
	specs->in->tts_values[WAITING_ENGINE - 1] = Int32GetDatum(spec->engine);
	specs->in->tts_values[WAITING_NUMBER -
						  1] = Int64GetDatum(specs->nwaiting++);
	specs->in->tts_values[WAITING_SPEC_ROW - 1] = PointerGetDatum(kept);
	memset(specs->in->tts_isnull, false, WAITING_SPEC_ROW * sizeof(bool));
	ExecStoreVirtualTuple(specs->in);
	tuplesort_puttupleslot(specs->waiting, specs->in);
	MemoryContextSwitchTo(old);
	pfree(kept);
}

/* Number of the engine of the next waiting row; -1 if there is none. */
static int64
next_waiting(JoinSpecs *specs)
{
	bool		isnull;

	if (!specs->fetched)
		specs->fetched = tuplesort_gettupleslot(specs->waiting, true, false,
												specs->out,
												NULL);
	return specs->fetched ?
		DatumGetInt32(slot_getattr(specs->out, WAITING_ENGINE, &isnull)) : -1;
}

/*
 * Add the next waiting row to the engine, and let it use the spec if there is
 * none.
 */
static void
add_next_waiting(SimilarityJoinState *state)
{
	JoinSpecs  *specs = state->specs;
	ExprContext *econtext = state->css.ss.ps.ps_ExprContext;
	MemoryContext old;
	WaitingRow	head;
	bool		isnull;
	bytea	   *kept;
	char	   *copy;
	const Signature *sig;

	ResetExprContext(econtext);
	old = MemoryContextSwitchTo(econtext->ecxt_per_tuple_memory);
	kept = DatumGetByteaPP(slot_getattr(specs->out, WAITING_SPEC_ROW,
										&isnull));
	copy = MemoryContextAllocHuge(CurrentMemoryContext,
								  VARSIZE_ANY_EXHDR(kept));
	memcpy(copy, VARDATA_ANY(kept), VARSIZE_ANY_EXHDR(kept));
	memcpy(&head, copy, sizeof(head));
	sig = (const Signature *) (copy + sizeof(head) + MAXALIGN(head.len));
	if (!spec_equal(&specs->last->spec, &sig->spec))
		specs->last = hash_search(specs->table, &sig->spec, HASH_FIND, NULL);
	if (specs->current == NULL)
		use_spec(state, specs->last);
	add_to_engine(state, head.side, (JoinRow *) (copy + sizeof(head)),
				  head.len,
				  specs->last, sig);
	MemoryContextSwitchTo(old);
}

int64
specs_waiting(SimilarityJoinState *state)
{
	JoinSpecs  *specs = state->specs;

	if (specs->waiting == NULL)
		return -1;
	if (!specs->sorted)
		tuplesort_performsort(specs->waiting);
	specs->sorted = true;
	return next_waiting(specs);
}

void
specs_next(SimilarityJoinState *state, bool wanted)
{
	JoinSpecs  *specs = state->specs;
	int64		engine = next_waiting(specs);

	Assert(specs->sorted && engine >= 0);
	end_engine(state);
	begin_engine(state);
	specs->current = NULL;
	state->incomparable = false;
	for (; next_waiting(specs) == engine; specs->fetched = false)
	{
		CHECK_FOR_INTERRUPTS();
		if (wanted)
			add_next_waiting(state);
	}
}

void
specs_add_row(SimilarityJoinState *state, JoinSide side, JoinRow *row,
			  size_t len,
			  const Signature *sig)
{
	JoinSpec   *spec = NULL;

	if (sig != NULL)
		spec = find_spec(state, side, sig);
	if (spec == NULL)
		sig = NULL;
	else if (state->specs->current == NULL)
		use_spec(state, spec);
	if (spec == NULL || spec->engine == state->specs->current->engine)
		add_to_engine(state, side, row, len, spec, sig);
	else
		add_waiting(state, spec, side, row, len, sig);
}
