/*
 * join_shared.c
 *		A similarity join by several processes.
 *
 * If one side is much smaller, or memory would not suffice for both, each
 * process may read all of the inner side and a part of the outer one, and join
 * them alone; the planner decides.  Then only counters are shared.
 *
 * Otherwise each process reads a part of the sides, and adds rows and sets to
 * shared memory. The processes prepare the sets and their index together
 * (join/engine/shared_sets.c), so that all have the same sets with the same
 * numbers, and divide the probes by a counter.
 *
 * If memory is full, each process writes its sets to disk
 * (join/engine/spill.c).  Rows with signatures of several specs, and with
 * vectors, go to files that each process reads whole, in the same order:
 * reading, the probes of a single engine or else the engines, and later work
 * are divided.
 *
 * No process waits for another one once rows are emitted.  A process that
 * attaches later takes part in the running phase, or finds the sets prepared,
 * or the files complete.
 *
 * The bits of outer rows with a match are shared, so that a semi-join emits
 * each row once.  Rows without a match are emitted by the process that ends
 * its probes last.
 */
#include "postgres.h"

#include "executor/executor.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "port/atomics.h"
#include "storage/barrier.h"
#include "storage/dsm.h"
#include "storage/lwlock.h"
#include "storage/sharedfileset.h"
#include "storage/spin.h"
#include "utils/dsa.h"
#include "utils/memutils.h"
#include "utils/wait_event.h"

#include "base/compat.h"
#include "base/memory.h"
#include "join/classic/classic.h"
#include "join/engine/set_table.h"
#include "join/engine/arena.h"
#include "join/engine/shared_sets.h"
#include "join/node/join_node.h"

/* The number of this process, 0 for the leader. */
static int
part_number(void)
{
	return ParallelWorkerNumber + 1;
}

/* Counters */

/* The counters of one process. */
typedef struct PartCounts
{
	bool		counted;		/* true if the rest is set */
	EngineStats stats;
	char		algorithm[32];	/* copy of stats.algorithm, which may lie
								 * elsewhere in another process */
	uint64		nfiltered;
	uint64		nremoved;
} PartCounts;

typedef struct JoinCounts
{
	int			nparts;
	PartCounts	parts[FLEXIBLE_ARRAY_MEMBER];
} JoinCounts;

/* Bytes of the counters of all processes. */
static Size
counts_bytes(int nparts)
{
	return MAXALIGN(add_size(offsetof(JoinCounts, parts),
							 mul_size(nparts, sizeof(PartCounts))));
}

/* Initialize the counters: no process has any. */
static void
counts_init(JoinCounts *counts, int nparts)
{
	memset(counts, 0, counts_bytes(nparts));
	counts->nparts = nparts;
}

/* The address after the counters. */
static void *
counts_end(JoinCounts *counts)
{
	return (char *) counts + counts_bytes(counts->nparts);
}

/* Add the counters of a process to the sum. */
static void
add_part(SimilarityJoinState *state, const PartCounts *part)
{
	EngineStats *sum = &state->stats;
	EngineStats before = *sum;

	if (!part->counted)
		return;
	pg_read_barrier();
	engine_stats_add(sum, &part->stats);
	sum->batches = Max(before.batches, part->stats.batches);
	if (!state->inner_whole)
	{
		/* these are the same in all processes */
		sum->sets = Max(before.sets, part->stats.sets);
		sum->distinct = Max(before.distinct, part->stats.distinct);
		sum->postings = Max(before.postings, part->stats.postings);
	}
	state->nfiltered += part->nfiltered;
	state->nremoved += part->nremoved;

	/* a process without a set does not know the algorithm */
	sum->algorithm = before.algorithm;
	if (part->algorithm[0] != '\0' &&
		(part->stats.sets > 0 || before.algorithm == NULL))
		sum->algorithm =
			MemoryContextStrdup(state->css.ss.ps.state->es_query_cxt,
								part->algorithm);
}

/* Rows and sets */

#define READ_BUFFER		(256 * 1024)

/* The part of one process. */
typedef struct SharedPart
{
	bool		has_spec;		/* true if the process has read a signature */
	SignatureSpec spec;			/* spec of all signatures that it has read */
	uint64		bytes[2];		/* bytes of its files, by JoinSide; 0: there
								 * is none */
} SharedPart;

typedef struct SharedJoin
{
	dsm_handle	segment;		/* segment that this lies in */
	LWLock		lock;			/* protects the next field */
	bool		closed;			/* true once all probes are claimed: a process
								 * that attaches finds nothing to do, and no
								 * areas */
	SharedFileSet files;
	pg_atomic_uint64 claimed;	/* number of claimed probes or, if there are
								 * several, engines */
	pg_atomic_uint64 matched;	/* dsa_pointer to a bit for each outer row */
	slock_t		mutex;			/* protects the next two fields */
	int			nprobing;		/* number of processes that make probes */
	bool		all_probed;		/* true once the last one has made its last
								 * probe */
	char		secret[JOIN_SECRET];
	size_t		known_bytes;	/* bytes of the SharedValues */
	int			nparts;
	SharedPart	parts[FLEXIBLE_ARRAY_MEMBER];
} SharedJoin;

/* A row in a file: this, a JoinRow, a signature, both padded to MAXALIGN. */
typedef struct SharedRow
{
	uint64		len;			/* bytes of the JoinRow */
	uint64		signature;		/* bytes of the signature; 0: there is none */
} SharedRow;

/*
 * Bytes of a SharedJoin.  It follows the JoinCounts, and is followed by
 * SharedSets, SharedAreas and SharedValues.
 */
static size_t
shared_bytes(int nparts)
{
	return MAXALIGN(add_size(offsetof(SharedJoin, parts),
							 mul_size(nparts, sizeof(SharedPart))));
}

/* The shared state of the sets. */
static SharedSets *
shared_sets(SharedJoin *shared)
{
	return (SharedSets *) ((char *) shared + shared_bytes(shared->nparts));
}

/* The place of the SharedAreas. */
static void *
place_of_areas(SharedJoin *shared)
{
	return (char *) shared_sets(shared) +
		MAXALIGN(shared_sets_bytes(shared->nparts));
}

/* The place of the SharedValues. */
static SharedValues *
place_of_known(SharedJoin *shared)
{
	return (SharedValues *) ((char *) place_of_areas(shared) +
							 MAXALIGN(shared_areas_bytes(shared->nparts)));
}

/* Bytes of the SharedValues for the expected rows, if rows can be shared. */
static size_t
known_bytes(const SimilarityJoinState *state, int nparts)
{
	double		nrows = 0;
	ListCell   *lc;

	if (CAN_SHARE_ROWS)
		foreach(lc, state->css.custom_ps)
			nrows += ((PlanState *) lfirst(lc))->plan->plan_rows * nparts;
	return shared_values_bytes(state->self_join ? nrows / 2 : nrows,
							   get_hash_memory_limit());
}

/* CustomExecMethods.EstimateDSMCustomScan */
Size
join_shared_estimate(CustomScanState *node, ParallelContext *pcxt)
{
	SimilarityJoinState *state = (SimilarityJoinState *) node;
	int			nparts = pcxt->nworkers + 1;
	Size		bytes = counts_bytes(nparts);

	if (state->inner_whole)
		return bytes;
	bytes = add_size(bytes, shared_bytes(nparts));
	bytes = add_size(bytes, MAXALIGN(shared_sets_bytes(nparts)));
	bytes = add_size(bytes, MAXALIGN(shared_areas_bytes(nparts)));
	return add_size(bytes, known_bytes(state, nparts));
}

/* Initialize the shared state for a scan; no other process is attached. */
static void
shared_init(SharedJoin *shared)
{
	shared_values_init(place_of_known(shared), shared->known_bytes);
	shared_sets_init(shared_sets(shared), shared->nparts);
	shared_areas_init(place_of_areas(shared), shared->nparts);
	pg_atomic_write_u64(&shared->claimed, 0);
	pg_atomic_write_u64(&shared->matched, InvalidDsaPointer);
	shared->closed = false;
	shared->nprobing = 0;
	shared->all_probed = false;
	memset(shared->parts, 0, shared->nparts * sizeof(SharedPart));
	join_secret_draw(shared->secret);
}

/* CustomExecMethods.InitializeDSMCustomScan */
void
join_shared_create(CustomScanState *node, ParallelContext *pcxt,
				   void *coordinate)
{
	SimilarityJoinState *state = (SimilarityJoinState *) node;
	SharedJoin *shared;

	/* without shared memory there are no workers */
	if (pcxt->seg == NULL)
		return;
	state->counts = coordinate;
	counts_init(state->counts, pcxt->nworkers + 1);
	if (state->inner_whole)
		return;
	shared = counts_end(state->counts);
	shared->segment = dsm_segment_handle(pcxt->seg);
	shared->nparts = pcxt->nworkers + 1;
	shared->known_bytes = known_bytes(state, shared->nparts);
	SharedFileSetInit(&shared->files, pcxt->seg);
	pg_atomic_init_u64(&shared->claimed, 0);
	pg_atomic_init_u64(&shared->matched, InvalidDsaPointer);
	LWLockInitialize(&shared->lock, LWTRANCHE_PARALLEL_QUERY_DSA);
	SpinLockInit(&shared->mutex);
	shared_init(shared);
	state->areas = shared_areas_attach(place_of_areas(shared), shared->nparts,
									   part_number(),
									   pcxt->seg);
	state->shared = shared;
}

/* CustomExecMethods.ReInitializeDSMCustomScan */
void
join_shared_reset(CustomScanState *node, ParallelContext *pcxt,
				  void *coordinate)
{
	SimilarityJoinState *state = (SimilarityJoinState *) node;
	SharedJoin *shared = state->shared;
	dsm_segment *segment;
	dsa_pointer matched;

	if (state->counts != NULL)
		counts_init(state->counts, pcxt->nworkers + 1);
	if (shared == NULL)
		return;
	matched = pg_atomic_read_u64(&shared->matched);
	if (DsaPointerIsValid(matched))
		dsa_free(node->ss.ps.state->es_query_dsa, matched);
	/* no other process is attached */
	segment = dsm_find_mapping(shared->segment);
	join_shared_leave(state);
	shared_areas_free(place_of_areas(shared), shared->nparts, segment);
	SharedFileSetDeleteAll(&shared->files);
	shared_init(shared);
	state->areas = shared_areas_attach(place_of_areas(shared), shared->nparts,
									   part_number(),
									   segment);
}

/* CustomExecMethods.InitializeWorkerCustomScan */
void
join_shared_attach(CustomScanState *node, shm_toc *toc, void *coordinate)
{
	SimilarityJoinState *state = (SimilarityJoinState *) node;
	SharedJoin *shared;
	dsm_segment *segment;

	state->counts = coordinate;
	if (state->inner_whole)
		return;
	shared = counts_end(state->counts);
	segment = dsm_find_mapping(shared->segment);
	SharedFileSetAttach(&shared->files, segment);
	LWLockAcquire(&shared->lock, LW_EXCLUSIVE);
	if (!shared->closed)
		state->areas = shared_areas_attach(place_of_areas(shared),
										   shared->nparts, part_number(),
										   segment);
	LWLockRelease(&shared->lock);
	state->shared = shared;
}

void
join_shared_divide(SimilarityJoinState *state)
{
	SharedJoin *shared = state->shared;
	EngineParams *params;

	state->division = NULL;
	if (shared == NULL)
		return;
	params = MemoryContextAllocZero(state->context, sizeof(EngineParams));
	params->secret = shared->secret;
	params->shared = shared_sets(shared);
	params->areas = state->areas;
	params->known = place_of_known(shared);
	params->files = &shared->files.fs;
	params->part = part_number();
	state->division = params;
}

/*
 * Begin an engine for all rows: each process has them in the same order, and
 * only probes are divided.
 */
static void
begin_from_files(SimilarityJoinState *state)
{
	const char *secret = state->division->secret;

	memset(state->division, 0, sizeof(EngineParams));
	state->division->secret = secret;
	state->to_files = true;
	specs_begin(state);
}

/* The store of the files of rows, and their names by JoinSide. */
static SpillStore
store_of_rows(const SimilarityJoinState *state)
{
	return (SpillStore)
	{
		&state->shared->files.fs, part_number(), state->shared->nparts
	};
}

static const char *const row_files[] = {"outer_rows", "inner_rows"};

/* Write a row. */
static void
write_row(SpillFile *file, const JoinRow *row, size_t len,
		  const Signature *sig)
{
	static const char padding[MAXIMUM_ALIGNOF] = {0};
	SharedRow	head = {len, sig == NULL ? 0 : VARSIZE(sig)};

	spillfile_write(file, &head, sizeof(head));
	spillfile_write(file, row, len);
	spillfile_write(file, padding, MAXALIGN(len) - len);
	spillfile_write(file, sig, head.signature);
	spillfile_write(file, padding, MAXALIGN(head.signature) - head.signature);
}

/*
 * A RowCallback: write a row of the engine, with a signature of its set that
 * equals the original one to a join.
 */
static void
return_row(void *arg, JoinSide side, const uint64 *values, uint32 n,
		   const void *data, uint32 len)
{
	SimilarityJoinState *state = arg;
	const JoinRow *row = data;
	Signature  *sig;

	if (n == 0 || specs_kind(state) == KIND_SKETCHES)
	{
		write_row(&state->files[side], row, len,
				  n == 0 ? NULL : (const Signature *) values);
		return;
	}
	sig = signature_alloc(&state->shared->parts[part_number()].spec, n);
	memcpy(sig->values, values, sizeof(uint64) * n);
	write_row(&state->files[side], row, len, sig);
	pfree(sig);
}

/*
 * Write rows to files from now on, from which each process reads all; first
 * those in memory.
 */
static void
go_to_files(SimilarityJoinState *state)
{
	SharedJoin *shared = state->shared;
	SharedSets *sets = shared_sets(shared);
	SpillStore	store = store_of_rows(state);
	MemoryContext old = MemoryContextSwitchTo(state->context);

	Assert(!state->to_files);
	pg_atomic_write_u32(&sets->fallback, TO_ROWS);
	for (int side = SIDE_OUTER; side <= LAST_READ_SIDE(state); side++)
		spillfile_create(&state->files[side], &store, row_files[side]);
	engine_return_rows(state->engine, return_row, state);
	begin_from_files(state);
	MemoryContextSwitchTo(old);
}

/*
 * True if processes can share the set of a signature: if it has the spec of
 * the first signature.
 */
static bool
is_sharable(SimilarityJoinState *state, const Signature *sig)
{
	SharedPart *part = &state->shared->parts[part_number()];

	if (sig == NULL || (part->has_spec && spec_equal(&part->spec, &sig->spec)))
		return true;
	if (part->has_spec || !specs_use(state, sig) ||
		specs_kind(state) == KIND_VECTORS ||
		!engine_sharable(selected_algorithm(neardup_join_algorithm,
											specs_kind(state),
											state->near.measure)))
		return false;
	part->has_spec = true;
	part->spec = sig->spec;
	return true;
}

/* Where rows and sets go, as the processes have agreed. */
static Fallback
fallback(const SimilarityJoinState *state)
{
	return pg_atomic_read_u32(&shared_sets(state->shared)->fallback);
}

/*
 * Go to disk if memory is full, in this process or another one; a process that
 * attaches later does so before its first set.  If there are only rows without
 * signatures, they go to files.
 */
static void
leave_memory_if_full(SimilarityJoinState *state)
{
	JoinEngine *engine = state->engine;
	bool		full = engine_is_full(engine);

	if (engine_is_spilled(engine) || (!full && fallback(state) == IN_MEMORY))
		return;
	if (specs_engines(state) > 0)
		engine_spill_shared(engine);
	else if (full)
		go_to_files(state);
}

void
join_shared_add(SimilarityJoinState *state, JoinSide side, JoinRow *row,
				size_t len, const Signature *sig)
{
	if (!state->to_files &&
		(!CAN_SHARE_ROWS || !is_sharable(state, sig) ||
		 engine_numbers_used_up(state->engine) || fallback(state) == TO_ROWS))
		go_to_files(state);
	if (!state->to_files)
		leave_memory_if_full(state);
	if (state->to_files)
		write_row(&state->files[side], row, len, sig);
	else
		specs_add_row(state, side, row, len, sig);
}

void
join_shared_end_rows(SimilarityJoinState *state)
{
	if (!state->to_files)
		leave_memory_if_full(state);
	if (!state->to_files && !engine_is_spilled(state->engine))
		engine_publish(state->engine);
	BarrierArriveAndWait(&shared_sets(state->shared)->barrier,
						 PG_WAIT_EXTENSION);
}

/* A part with a spec, or NULL; sets *differ if others have another one. */
static SharedPart *
spec_of_all(SharedJoin *shared, bool *differ)
{
	SharedPart *found = NULL;

	*differ = false;
	for (int i = 0; i < shared->nparts; i++)
	{
		SharedPart *part = &shared->parts[i];

		if (!part->has_spec)
			continue;
		if (found == NULL)
			found = part;
		*differ |= !spec_equal(&found->spec, &part->spec);
	}
	return found;
}

/* Add the rows of one side that all processes have written. */
static void
read_written_rows(SimilarityJoinState *state, JoinSide side)
{
	ExprContext *econtext = state->css.ss.ps.ps_ExprContext;
	size_t		max = 1024;
	char	   *room = palloc(max);
	SpillFile	file = {.store = store_of_rows(state),.name = row_files[side]};
	SpillReader reader;

	for (int i = 0; i < state->shared->nparts; i++)
	{
		SpillPiece	all =
		{.part = i,.bytes = state->shared->parts[i].bytes[side]};

		if (all.bytes > 0)
			spillfile_add_piece(&file, &all);
	}
	spillreader_create(&reader, &file, READ_BUFFER);
	while (!spillreader_at_end(&reader))
	{
		SharedRow	head;
		MemoryContext old;
		size_t		bytes;

		CHECK_FOR_INTERRUPTS();
		spillreader_read(&reader, &head, sizeof(head));
		bytes = MAXALIGN(head.len) + MAXALIGN(head.signature);
		room = growing_reserve(room, &max, bytes, 1);
		spillreader_read(&reader, room, bytes);
		ResetExprContext(econtext);
		old = MemoryContextSwitchTo(econtext->ecxt_per_tuple_memory);
		specs_add_row(state, side, (JoinRow *) room, head.len,
					  head.signature == 0 ? NULL :
					  (const Signature *) (room + MAXALIGN(head.len)));
		MemoryContextSwitchTo(old);
	}
	pfree(reader.buffer);
	pfree(room);
	spillfile_close(&file);
}

/* Read the rows that all processes have written, after waiting for them. */
static void
share_rows(SimilarityJoinState *state, Barrier *barrier, bool wait)
{
	if (wait)
	{
		if (!state->to_files)
			go_to_files(state);
		for (int side = SIDE_OUTER; side <= LAST_READ_SIDE(state); side++)
			state->shared->parts[part_number()].bytes[side] =
				spillfile_publish(&state->files[side]);
		BarrierArriveAndWait(barrier, PG_WAIT_EXTENSION);
		/* no process reads values of others any more */
		shared_areas_empty(state->areas);
	}
	BarrierDetach(barrier);
	if (!state->to_files)
		begin_from_files(state);
	for (int side = LAST_READ_SIDE(state); side >= SIDE_OUTER; side--)
	{
		read_written_rows(state, side);
		if (side == SIDE_INNER)
			specs_end_side(state);
	}
}

bool
join_shared_begin(SimilarityJoinState *state)
{
	return BarrierAttach(&shared_sets(state->shared)->barrier) == STEP_READ;
}

/* If sets cannot be shared, each process reads all rows from files. */
void
join_shared_gather(SimilarityJoinState *state)
{
	Barrier    *barrier = &shared_sets(state->shared)->barrier;
	MemoryContext old = MemoryContextSwitchTo(state->context);
	bool		differ;
	const SharedPart *part = spec_of_all(state->shared, &differ);

	if (differ || fallback(state) == TO_ROWS)
		share_rows(state, barrier, BarrierPhase(barrier) == STEP_READ + 1);
	else
	{
		/* a process without signatures uses the spec of the others */
		if (part != NULL && specs_engines(state) == 0)
			(void) specs_use(state, signature_alloc(&part->spec, 0));
		engine_share(state->engine);
	}
	MemoryContextSwitchTo(old);
}

/* True if processes divide the probes of the engine. */
static bool
divides_probes(const SimilarityJoinState *state)
{
	return state->shared != NULL && specs_engines(state) <= 1;
}

pg_atomic_uint64 *
join_shared_probes(SimilarityJoinState *state)
{
	return divides_probes(state) ? &state->shared->claimed : NULL;
}

bool
join_shared_claims(SimilarityJoinState *state, uint32 number)
{
	if (state->shared == NULL || divides_probes(state))
		return true;
	Assert(number == 0 || state->claimed_engine >= number - 1);
	if (number == 0 || state->claimed_engine < number)
		state->claimed_engine =
			pg_atomic_fetch_add_u64(&state->shared->claimed, 1);
	return state->claimed_engine == number;
}

/* A bit for each row, allocated by the first process that needs them. */
static void
share_matched(SimilarityJoinState *state, uint64 rows)
{
	SharedJoin *shared = state->shared;
	dsa_area   *area = state->css.ss.ps.state->es_query_dsa;
	uint64		none = InvalidDsaPointer;
	dsa_pointer matched = pg_atomic_read_u64(&shared->matched);

	if (!DsaPointerIsValid(matched))
	{
		matched = dsa_allocate_extended(area, (rows / 32 + 1) * sizeof(uint32),
										DSA_ALLOC_HUGE | DSA_ALLOC_ZERO);
		if (!pg_atomic_compare_exchange_u64(&shared->matched, &none, matched))
		{
			dsa_free(area, matched);
			matched = none;
		}
	}
	state->shared_matched = dsa_get_address(area, matched);
}

bool
join_shared_begin_probes(SimilarityJoinState *state)
{
	SharedJoin *shared = state->shared;
	bool		late;

	if (!divides_probes(state) || state->type == JOIN_INNER)
		return true;
	share_matched(state, engine_outer_rows(state->engine));
	SpinLockAcquire(&shared->mutex);
	late = shared->all_probed;
	if (!late)
		shared->nprobing++;
	SpinLockRelease(&shared->mutex);
	return !late;
}

bool
join_shared_end_probes(SimilarityJoinState *state)
{
	SharedJoin *shared = state->shared;
	bool		last;

	if (!divides_probes(state))
		return true;
	Assert(shared->nprobing > 0);
	SpinLockAcquire(&shared->mutex);
	last = --shared->nprobing == 0;
	shared->all_probed |= last;
	SpinLockRelease(&shared->mutex);
	return last;
}

bool
join_shared_is_late(const SimilarityJoinState *state)
{
	return state->shared != NULL && state->areas == NULL;
}

void
join_shared_close(SimilarityJoinState *state)
{
	SharedJoin *shared = state->shared;

	if (shared == NULL || state->areas == NULL)
		return;
	LWLockAcquire(&shared->lock, LW_EXCLUSIVE);
	shared->closed = true;
	LWLockRelease(&shared->lock);
	shared_areas_close(state->areas, dsm_find_mapping(shared->segment));
	state->areas = NULL;
}

void
join_shared_leave(SimilarityJoinState *state)
{
	if (state->areas != NULL)
		shared_areas_detach(state->areas);
	state->areas = NULL;
}

/*
 * CustomExecMethods.ShutdownCustomScan: publish the counters of this process
 * and, in the leader, add up the counters of all, before the shared memory is
 * freed.
 */
void
join_shared_finish(CustomScanState *node)
{
	SimilarityJoinState *state = (SimilarityJoinState *) node;
	JoinCounts *counts = state->counts;
	PartCounts *part;

	if (counts == NULL)
		return;
	part = &counts->parts[part_number()];
	part->stats = similarity_join_stats(state);
	if (part->stats.algorithm != NULL)
		strlcpy(part->algorithm, part->stats.algorithm,
				sizeof(part->algorithm));
	part->nfiltered = state->nfiltered;
	part->nremoved = state->nremoved;
	pg_write_barrier();
	part->counted = true;
	join_shared_leave(state);
	if (IsParallelWorker())
		return;
	memset(&state->stats, 0, sizeof(EngineStats));
	state->nfiltered = state->nremoved = 0;
	for (int i = 0; i < counts->nparts; i++)
		add_part(state, &counts->parts[i]);
	state->stats_gathered = true;
	state->counts = NULL;
	state->shared = NULL;
}
