/*
 * engine.c
 *		Drives the stages of a similarity join.
 *
 * Rows are added and identical sets collapsed, or handed on to spill.c once
 * memory runs out; then the sets get ready to probe, see probing.c.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/join/engine/engine.c
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "join/engine/shared_known.h"
#include "join/engine/shared_sets.h"
#include "join/engine/spill.h"

#define MIN_MEMORY	((size_t) 64 * 1024)

/* With less memory, rows do not wait: what waits is not counted. */
#define MEMORY_TO_WAIT	((size_t) 4 * 1024 * 1024)

/* A share of the memory after which it is looked at again. */
#define CHECK_SHARE		256

/* Where values, keys and rows will be: in shared memory if there are areas for it. */
void
setjoin_init_arenas(SetJoin *join)
{
	size_t		block = Min(Max(join->params.memory / 128, 1024), 64 * 1024);
	Arena	   *arenas[] = {&join->values, &join->keys, &join->rows[SIDE_OUTER],
	&join->rows[SIDE_INNER]};

	for (int i = 0; i < lengthof(arenas); i++)
		if (join->pool.areas == NULL)
			arena_init(arenas[i], block);
		else
			arena_init_shared(arenas[i], block, &join->pool);
}

/* See engine.h */
SetJoin *
setjoin_begin(const SetJoinParams *params)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext,
												  "similarity join",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	SetJoin    *join = palloc0(sizeof(SetJoin));

	join->params = *params;
	join->params.memory = Max(params->memory, MIN_MEMORY);
	join->search.context = context;
	join->stage = STAGE_ADD;
	join->search.threshold = params->threshold;
	join->search.memory = join->params.memory;
	setjoin_use(join, params->algorithm);

	/* the contained set's prefix is short, the containing one's is all of it */
	join->indexed = params->measure == MEASURE_CONTAINS ? SIDE_INNER : SIDE_OUTER;
	join->probing = OTHER_SIDE(join->indexed);
	join->search.measure = join->indexed == SIDE_OUTER ? params->measure :
		measure_commute(params->measure);

	settable_create(&join->table, params->secret);
	if (join->params.memory >= MEMORY_TO_WAIT)
		arrivals_create(&join->arrivals, params->known, params->areas);
	if (params->shared != NULL)
	{
		join->pool.areas = params->areas;
		join->pool.own = params->part;
	}
	setjoin_init_arenas(join);
	MemoryContextSwitchTo(old);
	progress_begin(&join->progress);
	return join;
}

/* See engine.h */
void
setjoin_use(SetJoin *join, const Algorithm *algorithm)
{
	Measure		measure = join->params.measure;

	Assert(join->search.stats.sets == 0);
	join->algorithm = algorithm;
	join->search.symmetric = algorithm->symmetric ||
		measure_commute(measure) == measure;
	join->search.counters.weighted = algorithm->weighted;
}

/* See engine.h */
void
setjoin_end(SetJoin *join)
{
	progress_end(&join->progress);
	if (join->spill != NULL)
		spill_end(join);
	MemoryContextDelete(join->search.context);
}

/* See engine.h */
const SetJoinStats *
setjoin_stats(SetJoin *join)
{
	join->search.stats.algorithm = join->algorithm->name;
	return &join->search.stats;
}

/* See engine.h */
void
setjoin_stats_add(SetJoinStats *sum, const SetJoinStats *stats)
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
	sum->verified += stats->verified;
	sum->matches += stats->matches;
	sum->alone += stats->alone;
	sum->memory += stats->memory;
	sum->disk += stats->disk;
	sum->batches += stats->batches;
}

/* Notes that so many bytes are held. */
void
setjoin_account(SetJoin *join, size_t bytes)
{
	join->search.stats.memory = Max(join->search.stats.memory, bytes);
}

/* Bytes held now and, if no more rows come, to be held by the join. */
static size_t
bytes_held(SetJoin *join)
{
	size_t		counters = join->algorithm->ordered ?
		Min(join->nfeatures * 2 *
			(join->search.counters.weighted ? sizeof(uint16) + sizeof(float) :
			 sizeof(uint16)),
			join->params.memory / 8) : 0;

	return join->values.bytes + join->rows[SIDE_OUTER].bytes +
		join->rows[SIDE_INNER].bytes + join->filter.bytes +
		settable_bytes(&join->table) +
		setindex_bytes(join->table.nsets, join->npostings) + counters +
		(join->nkeys + join->search.most_features) * sizeof(uint64);
}

/* Goes over to disk if memory is about to run out, or tells that it is. */
static void
check_memory(SetJoin *join, size_t added)
{
	bool		grows = join->table.nsets == join->table.maxsets;
	size_t		bytes;

	join->unchecked += added;
	if (join->unchecked < join->params.memory / CHECK_SHARE && !grows)
		return;
	join->unchecked = 0;
	bytes = join->params.shared != NULL ? shared_bytes_held(join) :
		bytes_held(join);
	if (grows)
		bytes += settable_bytes_next(&join->table) -
			settable_bytes(&join->table);
	if (bytes > join->params.memory && join->params.shared != NULL)
		join->full = true;
	else if (bytes > join->params.memory)
		spill_begin(join);
	else
		setjoin_account(join, bytes);
}

/* Where a set is in shared memory that is not prepared yet. */
SharedPointer
setjoin_place(const JoinSet *set)
{
	return (SharedPointer) (uintptr_t) set->keys;
}

static void
set_place(JoinSet *set, SharedPointer place)
{
	set->keys = (uint64 *) (uintptr_t) place;
}

/* Gives a new set the values that some process has stored; false if none has. */
static bool
use_known_values(SetJoin *join, JoinSet *set, const uint64 *values)
{
	SharedPointer known;

	if (join->params.known == NULL)
		return false;
	known = known_sets_find(join->params.known, join->params.areas, set->key,
							values, set->size);
	if (!SharedPointerIsValid(known))
		return false;
	set->values = shared_at(join->params.areas, known);
	set_place(set, known - bitmap_bytes(set->size));
	return true;
}

/* Gives it a copy of its values. */
static void
store_values(SetJoin *join, JoinSet *set, const uint64 *values)
{
	uint32		n = set->size;
	SharedPointer place = InvalidSharedPointer;
	void	   *bytes = join->params.shared == NULL ?
		arena_alloc(&join->values, set_bytes(n)) :
		arena_alloc_shared(&join->values, set_bytes(n), &place);

	set->values = set_values(bytes, n);
	memcpy(set->values, values, sizeof(uint64) * n);
	set_place(set, place);
	if (join->params.known != NULL)
		known_sets_add(join->params.known, set->key, set->values, n,
					   join->nstored, place + bitmap_bytes(n));
	join->nstored++;
	join->nfeatures += n;
	join->npostings += join->algorithm->most_indexed(&join->search, set);
	join->nkeys += join->algorithm->most_keys(&join->search, set);
}

/*
 * The distinct set of that key and those values, added if it is new, with the first
 * of its rows.
 */
static JoinSet *
distinct_set(SetJoin *join, SetKey key, const uint64 *values, uint32 n,
			 uint32 rowno)
{
	bool		found;
	JoinSet    *set = settable_find(&join->table, key, values, n, &found);

	if (found)
		return set;
	set->first = rowno;
	if (!use_known_values(join, set, values))
		store_values(join, set, values);
	return set;
}

/* A row in front of `next`. */
static Row *
add_row(SetJoin *join, JoinSide side, Row *next, const void *row, uint32 rowno,
		uint32 len)
{
	return join->params.shared == NULL ?
		row_make(&join->rows[side], next, row, rowno, len) :
		row_make_shared(&join->rows[side], next, row, rowno, len);
}

static void
add_in_memory(SetJoin *join, JoinSide side, SetKey key, const uint64 *values,
			  uint32 n, const void *row, uint32 rowno, uint32 len)
{
	Row		  **rows = n == 0 ? join->empty :
		distinct_set(join, key, values, n, rowno)->rows;

	rows[side] = add_row(join, side, rows[side], row, rowno, len);
	if (n == 0 && join->params.shared != NULL && join->last_empty[side] == NULL)
		join->last_empty[side] = row_at(join->pool.areas, rows[side]);
	/* where rows are shared, the other side's is a link to the last row */
	if (join->params.self_join &&
		(join->params.shared == NULL || rows[SIDE_INNER] == NULL))
		rows[SIDE_INNER] = rows[SIDE_OUTER];
	check_memory(join, len + sizeof(uint64) * n);
}

/* The number of the n-th row of this process: if rows are shared, no other has it. */
static uint32
row_number(const SetJoin *join, uint32 n)
{
	return join->params.shared == NULL ? n :
		n * join->params.shared->nparts + join->params.part;
}

/* Takes in a row that waits no more. */
static void
take_in(SetJoin *join, JoinSide side, SetKey key, const uint64 *values,
		uint32 n, const void *row, uint32 number, uint32 len)
{
	uint32		rowno = row_number(join, number);

	if (join->spill != NULL)
		spill_add(join, side, key, values, row, rowno, len);
	else
		add_in_memory(join, side, key, values, n, row, rowno, len);
}

/* Takes in the oldest of those that wait; false if there is none. */
static bool
take_in_next(SetJoin *join)
{
	const Arrival *next = arrivals_next(&join->arrivals);

	if (next == NULL)
		return false;
	take_in(join, next->side, next->key, next->values, next->n, next->row,
			next->rowno, next->len);
	return true;
}

/* Takes in all that wait. */
void
setjoin_flush(SetJoin *join)
{
	MemoryContext old = MemoryContextSwitchTo(join->search.context);

	while (take_in_next(join))
		;
	MemoryContextSwitchTo(old);
}

/* See engine.h */
uint32
setjoin_rows_added(const SetJoin *join, JoinSide side)
{
	return join->nrows[side];
}

/* A share of the memory that the filter gets. */
#define FILTER_SHARE	16

/* See engine.h */
void
setjoin_begin_filter(SetJoin *join, uint64 nfeatures)
{
	MemoryContext old = MemoryContextSwitchTo(join->search.context);

	feature_filter_create(&join->filter, nfeatures, join->params.memory / FILTER_SHARE);
	MemoryContextSwitchTo(old);
}

/* See engine.h */
void
setjoin_announce(SetJoin *join, const uint64 *values, uint32 n)
{
	MemoryContext old;

	if (join->filter.words == NULL || n == 0)
		return;
	old = MemoryContextSwitchTo(join->search.context);
	if (!join->algorithm->announce(&join->search, &join->filter, values, n))
		setjoin_end_filter(join);
	MemoryContextSwitchTo(old);
}

/* See engine.h */
void
setjoin_filter(SetJoin *join)
{
	setjoin_flush(join);
	if (join->spill != NULL)
	{
		spill_filter(join);
		return;
	}
	setjoin_begin_filter(join, Max(join->nfeatures, join->npostings));
	for (uint32 i = 0; join->filter.words != NULL && i < join->table.nsets; i++)
	{
		CHECK_FOR_INTERRUPTS();
		setjoin_announce(join, join->table.sets[i].values, join->table.sets[i].size);
	}
}

/* See engine.h */
void
setjoin_end_filter(SetJoin *join)
{
	bool		had_memory = join->filter.words != NULL;

	feature_filter_free(&join->filter);
	if (had_memory && join->spill != NULL)
		spill_end_filter(join);
}

/* False if no set of the side that was added before is near to this one. */
static bool
may_have_partner(SetJoin *join, JoinSide side, const uint64 *values, uint32 n)
{
	bool		passes;

	if (!feature_filter_looks(&join->filter))
		return true;
	passes = join->algorithm->may_have_partner(&join->search, &join->filter,
											   values, n, side == join->indexed);
	feature_filter_note(&join->filter, passes);
	return passes;
}

/* See engine.h */
void
setjoin_add(SetJoin *join, JoinSide side, const uint64 *values, uint32 n,
			const void *row, uint32 len)
{
	MemoryContext old = MemoryContextSwitchTo(join->search.context);
	SetKey		key = {0, 0};
	bool		keep = n > 0 || join->params.keep_empty[side];

	Assert(join->stage == STAGE_ADD);
	if (join->nrows[side] == PG_UINT32_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("too many rows in a similarity join"),
				 errdetail("Each side can have at most %u rows.",
						   PG_UINT32_MAX)));
	if (n > 0 && !may_have_partner(join, side, values, n))
	{
		/* a nested loop would have compared it, and without an error */
		n = 0;
		keep = side == SIDE_OUTER && join->params.keep_unmatched;
		join->search.stats.removed_features++;
	}
	if (n > 0)
	{
		key = set_key(&join->table, values, n);
		join->search.most_features = Max(join->search.most_features, n);
		join->search.stats.sets++;
	}
	if (keep)
	{
		if (arrivals_full(&join->arrivals))
			take_in_next(join);
		if (join->spill == NULL && arrivals_take(&join->arrivals, n, len))
			arrivals_add(&join->arrivals, &join->table, side, key, values, n,
						 row, join->nrows[side], len);
		else
		{
			/* rows of one set come in their order */
			setjoin_flush(join);
			take_in(join, side, key, values, n, row, join->nrows[side], len);
		}
	}
	join->nrows[side]++;
	progress_done(&join->progress,
				  (uint64) join->nrows[SIDE_OUTER] + join->nrows[SIDE_INNER]);
	MemoryContextSwitchTo(old);
}

/* See engine.h */
uint32
setjoin_outer_rows(const SetJoin *join)
{
	return join->params.shared != NULL ? shared_outer_rows(join) :
		join->nrows[SIDE_OUTER];
}

/* Takes note of a distinct set before any is prepared. */
void
setjoin_count(SetJoin *join, const uint64 *values, uint32 n)
{
	if (join->algorithm->count != NULL)
		join->algorithm->count(&join->search, values, n);
	else if (join->algorithm->ordered)
		counters_add(&join->search.counters, values, n);
}

/* Fetches what will be looked up first when a set with that many values is prepared. */
void
setjoin_fetch_counters(SetJoin *join, const uint64 *values, uint32 n)
{
	if (join->algorithm->ordered && !join->algorithm->weighted)
		counters_fetch(&join->search.counters, values, n);
}

/* Gives the keys of a set a lasting place: where values were dropped, if so. */
static void
keep_keys(SetJoin *join, JoinSet *set)
{
	uint64	   *keys = set->values + set->nvalues;

	if (set->size - set->nvalues < set->nkeys)
		keys = arena_alloc(&join->keys, sizeof(uint64) * set->nkeys);
	memcpy(keys, set->keys, sizeof(uint64) * set->nkeys);
	set->keys = keys;
}

/* One set in so many is looked at to tell how many features differ. */
#define SAMPLED		16

/* With fewer features it does not matter how many counters they get. */
#define FEW_FEATURES	65536

/* True if this process has the values of a set that is not prepared yet. */
bool
setjoin_has_stored(const SetJoin *join, const JoinSet *set)
{
	return join->params.shared == NULL ||
		POINTER_AREA(setjoin_place(set)) == join->params.part;
}

/*
 * How many different features the sets have whose values are here, about, at the most:
 * those of a sample, as if none of them were in the others.  Where features are few and
 * come often, as items of market baskets do, counters for these alone fit into a cache.
 */
uint64
setjoin_different_features(SetJoin *join)
{
	const SetTable *table = &join->table;
	TokenCounters sample = {.weighted = false};
	double		different;

	if (join->nfeatures < FEW_FEATURES || join->algorithm->count != NULL)
		return join->nfeatures;
	counters_create(&sample, join->nfeatures / SAMPLED, join->params.memory / 8);
	for (uint32 i = 0; i < table->nsets; i += SAMPLED)
	{
		CHECK_FOR_INTERRUPTS();
		if (setjoin_has_stored(join, &table->sets[i]))
			counters_add(&sample, table->sets[i].values, table->sets[i].size);
	}
	different = counters_different(&sample) * SAMPLED;
	counters_free(&sample);
	return different < join->nfeatures ? different : join->nfeatures;
}

static void
count_features(SetJoin *join)
{
	counters_create(&join->search.counters, setjoin_different_features(join),
					join->params.memory / 8);
	for (uint32 i = 0; i < join->search.nsets; i++)
	{
		CHECK_FOR_INTERRUPTS();
		setjoin_count(join, join->search.sets[i].values, join->search.sets[i].size);
	}
	counters_fold(&join->search.counters);
}

/*
 * Orders the sets and their features; all is in memory.  Sets are made ready in the
 * order in which they came, which is that of memory.
 */
static void
build_in_memory(SetJoin *join)
{
	SetTable   *table = &join->table;

	join->search.stats.distinct = table->nsets;
	pfree(table->slots);
	table->slots = NULL;
	join->search.sets = table->sets;
	join->search.nsets = table->nsets;
	if (join->algorithm->ordered)
		count_features(join);
	progress_phase(&join->progress, PROGRESS_PREPARING, join->search.nsets);
	for (uint32 i = 0; i < join->search.nsets; i++)
	{
		JoinSet    *set = &join->search.sets[i];

		CHECK_FOR_INTERRUPTS();
		progress_done(&join->progress, i);
		if (i + 1 < join->search.nsets)
			setjoin_fetch_counters(join, set[1].values, set[1].size);
		setjoin_prepare(join, set);
		keep_keys(join, set);
	}
	settable_sort(table);
	join->search.sets = table->sets;
}

/* Makes room for the keys of the largest set. */
void
setjoin_make_room(SetJoin *join)
{
	setjoin_account(join, bytes_held(join));
	join->search.room = MemoryContextAllocHuge(join->search.context,
										sizeof(uint64) * Max(join->search.most_features, 1));
}

/* Goes to what is to be done with the sets on disk. */
static void
begin_on_disk(SetJoin *join)
{
	if (!join->spill->finished)
	{
		setjoin_make_room(join);
		spill_finish(join);
	}
	if (join->deferred != NULL)
	{
		setfile_seek(&join->spill->file, 0);
		join->stage = runs_are_shared(join->spill) ? STAGE_SELVES : STAGE_KEYS;
	}
	else if (chunks_next(join))
		setjoin_begin_chunk(join);
}

/* Makes the sets ready, or the first chunk of those on disk. */
static void
build_alone(SetJoin *join)
{
	if (join->spill == NULL)
	{
		setjoin_make_room(join);
		build_in_memory(join);
		setjoin_begin_chunk(join);
	}
	else
		begin_on_disk(join);
}

/* See engine.h */
void
setjoin_build(SetJoin *join)
{
	MemoryContext old = MemoryContextSwitchTo(join->search.context);

	setjoin_flush(join);
	setjoin_end_filter(join);
	join->stage = STAGE_END;
	if (join->params.shared != NULL && join->spill == NULL)
	{
		shared_gather(join);
		setjoin_begin_chunk(join);
		setjoin_account(join, join->pool.bytes + join->search.index.bytes +
						sizeof(JoinSet) * (size_t) join->search.nsets);
	}
	else
		build_alone(join);
	progress_phase(&join->progress, PROGRESS_JOINING,
				   join->search.stats.distinct);
	MemoryContextSwitchTo(old);
}
