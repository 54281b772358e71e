/*
 * engine.c
 *		The phases of a similarity join: the one file that knows all of them.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "pgstat.h"
#include "utils/memutils.h"
#include "utils/wait_event.h"

#include "base/compat.h"
#include "join/engine/engine.h"
#include "join/engine/join_state.h"
#include "join/engine/shared_index.h"
#include "join/engine/shared_sets.h"
#include "join/engine/spill.h"

#define MIN_MEMORY		((size_t) 64 * 1024)

/* The memory is checked when this part of it has been added. */
#define CHECK_PART		256

/* The part of the memory that a filter may have. */
#define FILTER_PART		16

JoinEngine *
engine_begin(const EngineParams *params)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext,
												  "similarity join",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	JoinEngine *join = palloc0(sizeof(JoinEngine));

	Assert(params->algorithm != NULL);
	Assert(params->self_join || (!params->apart && !params->either_order));
	join->params = *params;
	join->params.memory = Max(params->memory, MIN_MEMORY);
	join->search.context = context;
	join->phase = SEARCH_ADD;
	join->search.memory = join->params.memory;
	engine_set_condition(join, params->algorithm, params->measure,
						 params->threshold);
	if (params->shared != NULL)
	{
		join->participant = palloc0(sizeof(Participant));
		join->participant->areas = params->areas;
	}
	engine_begin_memory(join);
	MemoryContextSwitchTo(old);
	return join;
}

void
engine_set_condition(JoinEngine *join, const Algorithm *algorithm,
					 Measure measure, double threshold)
{
	Assert(join->search.stats.sets == 0);
	Assert(measure_has_threshold(measure, threshold));
	Assert(!join->params.either_order || measure_commute(measure) == measure);
	join->search.threshold = threshold;

	/*
	 * index the contained set: its prefix is short, and the prefix of the
	 * containing set is all of it
	 */
	join->indexed = measure == MEASURE_CONTAINS ? SIDE_INNER : SIDE_OUTER;
	join->probing = OTHER_SIDE(join->indexed);
	join->search.measure = join->indexed == SIDE_OUTER ? measure :
		measure_commute(measure);
	join->algorithm = algorithm;
	join->search.symmetric = algorithm->symmetric ||
		measure_commute(measure) == measure;
	join->search.counters.weighted = algorithm->weighted;
}

void
engine_end(JoinEngine *join)
{
	if (join->spill != NULL)
		spill_end(join);
	MemoryContextDelete(join->search.context);
}

/* The counters so far; valid until the engine ends. */
const EngineStats *
engine_stats(JoinEngine *join)
{
	join->search.stats.algorithm = join->algorithm->name;
	return &join->search.stats;
}

/* Add the counters of one engine to a sum. */
void
engine_stats_add(EngineStats *sum, const EngineStats *stats)
{
	sum->algorithm = stats->algorithm;
	sum->sets += stats->sets;
	sum->distinct += stats->distinct;
	sum->postings += stats->postings;
	sum->visited += stats->visited;
	sum->candidates += stats->candidates;
	sum->removed_features += stats->removed_features;
	sum->removed_size += stats->removed_size;
	sum->removed_position += stats->removed_position;
	sum->removed_suffix += stats->removed_suffix;
	sum->removed_bitmap += stats->removed_bitmap;
	sum->removed_coordinates += stats->removed_coordinates;
	sum->verified += stats->verified;
	sum->matches += stats->matches;
	sum->alone += stats->alone;
	sum->memory += stats->memory;
	sum->disk += stats->disk;
	sum->batches += stats->batches;
}

/* Rows are added */

/*
 * Go to disk if memory is about to run out; if it is shared, note that it is.
 */
static void
check_memory(JoinEngine *join, size_t added)
{
	bool		grows =
	join->memory->table.nsets == join->memory->table.maxsets;
	size_t		bytes;

	Assert(join->phase == SEARCH_ADD);
	join->memory->unchecked += added;
	if (join->memory->unchecked < join->params.memory / CHECK_PART && !grows)
		return;
	join->memory->unchecked = 0;
	bytes = join->params.shared != NULL ? shared_bytes_held(join) :
		engine_bytes_held(join);
	/* the old table and one of twice the size */
	if (grows)
		bytes += 2 * settable_bytes(&join->memory->table);
	if (bytes <= join->params.memory)
		engine_account(join, bytes);
	else if (join->params.shared != NULL)
		join->participant->full = true;
	else
		spill_begin(join);
}

/* Give a new set a copy of its values. */
static void
store_values(JoinEngine *join, JoinSet *set, const uint64 *values)
{
	uint32		n = set->size;
	SharedPointer place;
	void	   *bytes = arena_alloc_shared(&join->memory->values, set_bytes(n),
										   &place);

	Assert(n > 0 && set->values == NULL);
	set->values = set_values(bytes, n);
	memcpy(set->values, values, sizeof(uint64) * n);
	set->place = place;
	if (join->params.known != NULL)
		shared_values_add(join->params.known, set->key, set->values, n,
						  join->totals.nstored, place + bitmap_bytes(n));
	join->totals.nstored++;
	join->totals.nfeatures += n;
	join->totals.npostings += join->algorithm->max_indexed(&join->search, set);
	join->totals.nkeys += join->algorithm->max_keys(&join->search, set);
}

/* The distinct set of a row, added if it is new. */
static JoinSet *
distinct_set(JoinEngine *join, const AddedRow *row)
{
	bool		found;
	JoinSet    *set = settable_find(&join->memory->table, row->key,
									row->values, row->n, &found);
	SharedPointer stored = InvalidSharedPointer;

	if (found)
		return set;
	if (join->params.known != NULL)
		stored = shared_values_find(join->params.known, join->params.areas,
									set->key,
									row->values, row->n);
	if (SharedPointerIsValid(stored))
	{
		set->values = shared_at(join->params.areas, stored);
		set->place = stored - bitmap_bytes(set->size);
	}
	else
		store_values(join, set, row->values);
	return set;
}

/* Add a row to its set in memory, or to the rows without features. */
static void
add_in_memory(JoinEngine *join, const AddedRow *row, uint32 rowno)
{
	JoinSide	side = row->side;
	bool		shared = join->params.shared != NULL;
	RowLink    *rows = row->n == 0 ? join->memory->empty :
	distinct_set(join, row)->rows;

	Assert(join->spill == NULL);
	rows[side] = row_make(&join->memory->rows[side], rows[side], row->data,
						  rowno, row->len);

	/* in shared memory, the inner link leads to the last row */
	if (join->params.self_join && (!shared || !row_exists(rows[SIDE_INNER])))
		rows[SIDE_INNER] = rows[SIDE_OUTER];
	check_memory(join, row->len + sizeof(uint64) * row->n);
}

/* Insert a row into memory or into runs. */
static void
insert_row(JoinEngine *join, const AddedRow *row)
{
	uint32		rowno = row->rowno;

	/* shared rows have numbers that no other process gives */
	if (join->params.shared != NULL)
		rowno = rowno * join->params.shared->nparts + join->params.part;
	if (join->spill == NULL)
		add_in_memory(join, row, rowno);
	else
		spill_add(join, row->side, row->key, row->values, row->data, rowno,
				  row->len);
}

/* Insert all rows of the ring. */
static void
flush_ring(JoinEngine *join)
{
	MemoryContext old = MemoryContextSwitchTo(join->search.context);
	const AddedRow *row;

	while (join->memory != NULL &&
		   (row = ring_pop(&join->memory->ring)) != NULL)
		insert_row(join, row);
	MemoryContextSwitchTo(old);
}

uint32
engine_rows_added(const JoinEngine *join, JoinSide side)
{
	return join->nrows[side];
}

/* False if no set of the side that was added before can match this one. */
static bool
may_have_match(JoinEngine *join, JoinSide side, const uint64 *values, uint32 n)
{
	bool		passes;

	Assert(n > 0);
	if (!feature_filter_is_active(&join->filter))
		return true;
	passes = join->algorithm->may_have_match(&join->search, &join->filter,
											 values, n,
											 side == join->indexed);
	feature_filter_note(&join->filter, passes);
	return passes;
}

void
engine_add(JoinEngine *join, JoinSide side, const uint64 *values, uint32 n,
		   const void *row, uint32 len)
{
	MemoryContext old = MemoryContextSwitchTo(join->search.context);
	AddedRow	added = {.side = side,.values = values,.data = row,.len = len};
	bool		keep = n > 0 || join->params.keep_empty[side];

	Assert(join->phase == SEARCH_ADD);
	if (join->nrows[side] == PG_UINT32_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("too many rows in a similarity join"),
				 errdetail("Each side can have at most %u rows.",
						   PG_UINT32_MAX)));
	added.rowno = join->nrows[side]++;
	if (n > 0 && !may_have_match(join, side, values, n))
	{
		/* the row has no match */
		n = 0;
		keep = side == SIDE_OUTER && join->params.keep_unmatched;
		join->search.stats.removed_features++;
	}
	if (n > 0)
	{
		added.n = n;
		added.key = set_key(join->secret, values, n);
		join->search.max_features = Max(join->search.max_features, n);
		join->search.stats.sets++;
	}
	if (keep && join->spill == NULL && ring_is_full(&join->memory->ring))
		insert_row(join, ring_pop(&join->memory->ring));
	if (keep && join->spill == NULL &&
		ring_accepts(&join->memory->ring, &added))
		ring_push(&join->memory->ring, &join->memory->table, &added);
	else if (keep)
	{
		/* rows of one set are inserted in their order */
		flush_ring(join);
		insert_row(join, &added);
	}
	MemoryContextSwitchTo(old);
}

uint32
engine_outer_rows(const JoinEngine *join)
{
	const SharedSets *shared = join->params.shared;
	uint32		most = 0;

	if (shared == NULL)
		return join->nrows[SIDE_OUTER];
	/* numbers of processes are interleaved */
	for (int i = 0; i < shared->nparts; i++)
		most = Max(most, shared->parts[i].nrows[SIDE_OUTER]);
	return most * shared->nparts;
}

/* The filter by the side that is known first */

/* Make a filter for nfeatures features. */
static void
create_filter(JoinEngine *join, uint64 nfeatures, size_t max_bytes)
{
	MemoryContext old = MemoryContextSwitchTo(join->search.context);

	feature_filter_create(&join->filter, nfeatures, max_bytes);
	MemoryContextSwitchTo(old);
}

void
engine_filter_begin(JoinEngine *join, uint64 nfeatures)
{
	create_filter(join, nfeatures, join->params.memory / FILTER_PART);
}

void
engine_filter_add(JoinEngine *join, const uint64 *values, uint32 n)
{
	MemoryContext old;

	if (join->filter.words == NULL || n == 0)
		return;
	old = MemoryContextSwitchTo(join->search.context);
	if (!join->algorithm->announce(&join->search, &join->filter, values, n))
		engine_filter_end(join);
	MemoryContextSwitchTo(old);
}

/* A SetCallback */
static void
announce_set(void *join, const uint64 *values, uint32 n)
{
	engine_filter_add(join, values, n);
}

/*
 * Sets on disk are read again for the filter: rows that it removes need not be
 * written, sorted and read.  It takes memory from the runs.
 */
void
engine_filter_by_added(JoinEngine *join)
{
	SetRuns    *runs;
	double		keys;			/* keys of all sets, estimated */

	flush_ring(join);
	if (join->spill == NULL)
	{
		engine_filter_begin(join,
							Max(join->totals.nfeatures,
								join->totals.npostings));
		for (uint32 i = 0; join->filter.words != NULL &&
			 i < join->memory->table.nsets; i++)
		{
			CHECK_FOR_INTERRUPTS();
			engine_filter_add(join, join->memory->table.sets[i].values,
							  join->memory->table.sets[i].size);
		}
		return;
	}
	runs = &join->spill->file.runs;
	keys = (double) join->totals.npostings / Max(join->totals.nstored, 1) *
		runs->nsets;
	create_filter(join, Max(join->totals.nfeatures, (uint64) keys),
				  runs->max_bytes / 2);
	if (join->filter.words != NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(join->search.context);

		setruns_limit(runs, runs->max_bytes - join->filter.bytes);
		setruns_scan(runs, engine_buffer(join), join->search.max_features,
					 announce_set, join);
		MemoryContextSwitchTo(old);
	}
}

void
engine_filter_end(JoinEngine *join)
{
	bool		had_memory = join->filter.words != NULL;
	MemoryContext old = MemoryContextSwitchTo(join->search.context);

	feature_filter_free(&join->filter);
	if (had_memory && join->spill != NULL)
		setruns_limit(&join->spill->file.runs, SIZE_MAX);
	MemoryContextSwitchTo(old);
}

/* Sets are prepared by this process alone */

/*
 * Prepare the sets in memory, in the order in which they were added, which is
 * their order in memory; then order them by size.
 */
static void
prepare_in_memory(JoinEngine *join)
{
	SetTable   *table = &join->memory->table;

	engine_make_room(join);
	join->search.stats.distinct = table->nsets;
	pfree(table->slots);
	table->slots = NULL;
	join->search.sets = table->sets;
	join->search.nsets = table->nsets;
	if (join->algorithm->ordered)
		counters_create(&join->search.counters,
						engine_different_features(join),
						join->params.memory / 8);
	for (uint32 i = 0; i < table->nsets && engine_counts(join); i++)
	{
		CHECK_FOR_INTERRUPTS();
		engine_count(join, table->sets[i].values, table->sets[i].size);
	}
	if (join->algorithm->ordered)
		counters_fold(&join->search.counters);
	for (uint32 i = 0; i < table->nsets; i++)
	{
		JoinSet    *set = &table->sets[i];
		uint64	   *keys = set->values;

		CHECK_FOR_INTERRUPTS();
		if (i + 1 < table->nsets)
			engine_fetch_counters(join, set[1].values, set[1].size);
		engine_prepare(join, set);
		/* keep the keys in the place of dropped values, if they fit */
		keys += set->nvalues;
		if (set->size - set->nvalues < set->nkeys)
			keys = arena_alloc(&join->memory->keys,
							   sizeof(uint64) * set->nkeys);
		memcpy(keys, set->keys, sizeof(uint64) * set->nkeys);
		set->keys = keys;
	}
	settable_sort(table);
	join->search.sets = table->sets;
}

/* Sets are prepared by several processes */

bool
engine_sharable(const Algorithm *algorithm)
{
	return algorithm->count == NULL && !algorithm->weighted;
}

bool
engine_is_full(const JoinEngine *join)
{
	return join->participant->full;
}

bool
engine_numbers_used_up(const JoinEngine *join)
{
	/* count rows of the ring, too */
	uint32		most = PG_UINT32_MAX / join->params.shared->nparts - 1 -
	RING_ROWS;

	return Max(join->nrows[SIDE_OUTER], join->nrows[SIDE_INNER]) >= most;
}

void
engine_publish(JoinEngine *join)
{
	flush_ring(join);
	shared_publish(join);
}

void
engine_return_rows(JoinEngine *join, RowCallback callback, void *arg)
{
	MemoryContext old = MemoryContextSwitchTo(join->search.context);

	flush_ring(join);
	if (join->spill != NULL)
		spill_return_rows(join, callback, arg);
	else
		shared_return_rows(join, callback, arg);
	MemoryContextSwitchTo(old);
}

void
engine_spill_shared(JoinEngine *join)
{
	SharedSets *shared = join->params.shared;
	uint32		in_memory = IN_MEMORY;
	MemoryContext old;

	Assert(shared != NULL);
	if (join->spill != NULL)
		return;
	pg_atomic_compare_exchange_u32(&shared->fallback, &in_memory, TO_RUNS);
	flush_ring(join);
	old = MemoryContextSwitchTo(join->search.context);
	spill_begin(join);
	MemoryContextSwitchTo(old);
	pg_atomic_fetch_add_u32(&shared->nreturned, 1);
}

/* Free the shared memory of this process. */
static void
free_shared_memory(JoinEngine *join)
{
	MemoryContext old = MemoryContextSwitchTo(join->search.context);

	engine_free_memory(join);
	setruns_limit(&join->spill->file.runs, SIZE_MAX);
	MemoryContextSwitchTo(old);
}

bool
engine_is_spilled(JoinEngine *join)
{
	SharedSets *shared = join->params.shared;
	uint32		nreturned;

	if (join->spill == NULL)
		return false;
	if (join->memory == NULL)
		return true;

	/*
	 * Read the number of processes that have freed their sets first: one that
	 * attaches meanwhile counts as a participant.
	 */
	nreturned = pg_atomic_read_u32(&shared->nreturned);
	pg_read_barrier();
	if (nreturned >= BarrierParticipants(&shared->barrier))
		free_shared_memory(join);
	return true;
}

/* Phases of the barrier after STEP_READ, where sets are on disk. */
enum
{
	STEP_PUBLISH = STEP_READ + 1,
	STEP_MERGE,
	STEP_FOLD_COUNTERS,
	STEP_WRITE_KEYS				/* then the sets can be read */
};

/* Prepare the sets on disk, from the phase in which this process attached. */
static void
share_on_disk(JoinEngine *join, Barrier *barrier)
{
	int			phase = BarrierPhase(barrier);

	Assert(phase > STEP_READ);
	engine_spill_shared(join);
	shared_publish_totals(join);
	spill_publish(join);
	if (phase <= STEP_PUBLISH)
		BarrierArriveAndWait(barrier, PG_WAIT_EXTENSION);
	if (join->memory != NULL)
		free_shared_memory(join);
	spill_merge(join);
	if (phase <= STEP_MERGE &&
		BarrierArriveAndWait(barrier, PG_WAIT_EXTENSION))
		spill_fold(join);
	if (phase <= STEP_FOLD_COUNTERS)
		BarrierArriveAndWait(barrier, PG_WAIT_EXTENSION);
	spill_write_keys(join);
	if (join->spill->by_keys)
	{
		if (phase <= STEP_WRITE_KEYS)
			BarrierArriveAndWait(barrier, PG_WAIT_EXTENSION);
		/* the counters are not read any more */
		shared_areas_empty(join->params.areas);
	}
	BarrierDetach(barrier);
}

void
engine_share(JoinEngine *join)
{
	SharedSets *shared = join->params.shared;
	MemoryContext old = MemoryContextSwitchTo(join->search.context);

	if (pg_atomic_read_u32(&shared->fallback) == IN_MEMORY)
		shared_sets_prepare(join);
	else
		share_on_disk(join, &shared->barrier);
	MemoryContextSwitchTo(old);
}

/* The search */

void
engine_build(JoinEngine *join, pg_atomic_uint64 *claimed)
{
	MemoryContext old = MemoryContextSwitchTo(join->search.context);

	Assert(join->phase == SEARCH_ADD);
	flush_ring(join);
	engine_filter_end(join);
	join->claims.claimed = claimed;
	join->advance = probe_advance;
	if (join->spill != NULL)
	{
		if (join->params.shared == NULL)
		{
			spill_publish(join);
			spill_merge(join);
			spill_write_keys(join);
		}
		disk_search_begin(join);
	}
	else if (join->params.shared != NULL)
	{
		shared_gather(join);
		if (shared_index_attach(join))
			probe_begin(join);
		else
			probe_begin_chunk(join);
		engine_account(join,
					   engine_areas(join)->bytes + join->search.index.bytes +
					   sizeof(JoinSet) * (size_t) join->search.nsets);
	}
	else
	{
		prepare_in_memory(join);
		probe_begin_chunk(join);
	}
	MemoryContextSwitchTo(old);
}

bool
engine_next(JoinEngine *join, RowGroup *outer, RowGroup *inner)
{
	FoundPairs *found = &join->found;
	const GroupPair *pair;

	Assert(join->phase != SEARCH_ADD && found->next <= found->n);
	if (found->next == found->n)
	{
		MemoryContext old = MemoryContextSwitchTo(join->search.context);

		while (found->next == found->n && join->phase != SEARCH_END)
		{
			CHECK_FOR_INTERRUPTS();
			found->n = found->next = 0;
			join->advance(join);
		}
		MemoryContextSwitchTo(old);
		if (found->next == found->n)
			return false;
	}
	pair = &found->pairs[found->next++];
	*outer = row_address(pair->outer->rows[SIDE_OUTER]);
	*inner = row_address(pair->inner->rows[SIDE_INNER]);
	return true;
}

void
engine_pair_sets(const JoinEngine *join, const JoinSet **outer,
				 const JoinSet **inner)
{
	const FoundPairs *found = &join->found;

	Assert(found->next > 0 && found->next <= found->n);
	*outer = found->pairs[found->next - 1].outer;
	*inner = found->pairs[found->next - 1].inner;
}

/* The pairs of one probe stay where they are until all are emitted. */
bool
engine_inner_stays(const JoinEngine *join)
{
	const GroupPair *next = &join->found.pairs[join->found.next];

	return join->found.next > 1 && next[-1].inner == next[-2].inner;
}

/* Rows are read */

void
rows_begin(JoinEngine *join, JoinSide side, RowGroup group, RowCursor *cursor)
{
	cursor->next = group;
	cursor->areas = engine_areas(join);
	cursor->left = 0;
	cursor->reader = NULL;
	if (group != NULL && group->len == ROWS_IN_FILE)
	{
		RowsInFile	range;

		memcpy(&range, group->data, sizeof(RowsInFile));
		cursor->next = NULL;
		cursor->left = range.nrows;
		cursor->reader = &join->spill->cursors[side];
		spillreader_seek(&cursor->reader->reader, range.offset);
	}
}

bool
rows_begin_behind(const RowCursor *row, RowCursor *cursor)
{
	*cursor = *row;
	return row->reader == NULL;
}

/*
 * Rows of equal sets are far from each other in memory: the row after this one
 * is prefetched while the caller uses this one.
 */
const void *
rows_next(RowCursor *cursor, uint32 *rowno)
{
	const Row  *row = cursor->next;

	if (row == NULL)
	{
		uint32		len;

		if (cursor->left == 0)
			return NULL;
		cursor->left--;
		return row_read(cursor->reader, rowno, &len);
	}
	cursor->next = row_at(cursor->areas, row->next);
	__builtin_prefetch(cursor->next);
	*rowno = row->rowno;
	return row->data;
}

void
engine_rows(JoinEngine *join, JoinSide side)
{
	if (join->spill != NULL)
		spillreader_seek(&join->spill->cursors[side].reader, 0);
	else
		join->memory->scans[side] = (RowScan)
	{
		row_address(join->memory->empty[side]), 0
	};
}

const void *
engine_rows_next(JoinEngine *join, JoinSide side, uint32 *rowno)
{
	RowScan    *scan;
	const Row  *found;

	if (join->spill != NULL)
	{
		RowReader  *reader = &join->spill->cursors[side];
		uint32		len;

		return spillreader_at_end(&reader->reader) ? NULL :
			row_read(reader, rowno, &len);
	}
	scan = &join->memory->scans[side];
	while (scan->row == NULL && scan->set < join->search.nsets)
	{
		CHECK_FOR_INTERRUPTS();
		scan->row = row_address(join->search.sets[scan->set++].rows[side]);
	}
	found = scan->row;
	if (found == NULL)
		return NULL;
	scan->row = row_at(engine_areas(join), found->next);
	*rowno = found->rowno;
	return found->data;
}
