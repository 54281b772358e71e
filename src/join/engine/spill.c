/*
 * spill.c
 *		A join on disk: from rows that are added to a file of distinct sets.
 *
 * Sets and their rows are written to runs, in order of the size of the set and
 * then of its hash, which are merged into a file of distinct sets
 * (set_runs.c); that is read in chunks (disk_search.c).  A hash only brings
 * records of identical sets together: they are compared.
 *
 * Several processes write runs of their own, and merge all runs in shares of
 * the keys. One process alone is the case of one share.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "base/hash.h"
#include "join/engine/join_state.h"
#include "join/engine/shared_index.h"
#include "join/engine/spill.h"

/* Bits of the hash of a set in the first part of its key. */
#define OWN_HASH_BITS	10

/*
 * Percentages of memory for pending sets, while the sets that were added
 * before are still in memory, and afterwards.
 */
#define FIRST_SHARE		16
#define PENDING_SHARE	64

/*
 * Shares of the keys for each process; with more, runs would be read in
 * smaller pieces.
 */
#define SHARES_PER_PROCESS	4

/* Initialize the shares: none is claimed. */
void
spill_shares_init(SpillShares *shares)
{
	memset(shares, 0, sizeof(SpillShares));
	pg_atomic_init_u32(&shares->sets_taken, 0);
	pg_atomic_init_u32(&shares->keys_taken, 0);
}

/* The part of a process. */
static SpillPart *
part_of(JoinEngine *join, int part)
{
	return join->params.shared == NULL ? &join->spill->part :
		&join->params.shared->parts[part].spill;
}

/* Where the files of this join are. */
static const SpillStore *
store_of(const JoinEngine *join)
{
	return &join->spill->file.runs.store;
}

/* Adding rows */

/*
 * The key by which sets are ordered: size, then bits of the hash.  Where
 * candidates are compared later, matches should be close to each other in the
 * file: bits of the least element, in which they mostly agree, come before the
 * hash.
 */
static SetKey
ordered_key(const JoinEngine *join, SetKey key, const uint64 *values)
{
	uint64		mask = (UINT64CONST(1) << SETKEY_HASH_BITS) -
	(UINT64CONST(1) << OWN_HASH_BITS);

	if (join->spill->by_keys)
		key.high =
			(int64) (((uint64) key.high & ~mask) | (mix64(values[0]) & mask));
	return key;
}

void
spill_add(JoinEngine *join, JoinSide side, SetKey key, const uint64 *values,
		  const void *row, uint32 rowno, uint32 len)
{
	SetRuns    *runs = &join->spill->file.runs;

	if (SETKEY_SIZE(key) > 0)
	{
		key = setruns_new_key(runs, ordered_key(join, key, values));
		join->totals.nfeatures += SETKEY_SIZE(key);
	}
	setruns_add(runs, key, SETKEY_SIZE(key) > 0 ? values : NULL, side, row,
				rowno, len);
}

/*
 * Write the rows of one side, the first of them with the set itself if there
 * are values. Returns the values if they are still to be written.
 */
static const uint64 *
write_rows(JoinEngine *join, JoinSide side, SetKey key, const uint64 *values,
		   RowLink link)
{
	for (const Row *row = row_at(engine_areas(join), link); row != NULL;
		 row = row_at(engine_areas(join), row->next))
	{
		CHECK_FOR_INTERRUPTS();
		setruns_add(&join->spill->file.runs, key, values, side, row->data,
					row->rowno,
					row->len);
		values = NULL;
	}
	return values;
}

/* Write the sets that are in memory, and their rows. */
static void
write_table(JoinEngine *join)
{
	SetTable   *table = &join->memory->table;
	SetKey		none = {0, 0};

	join->totals.nfeatures = 0;
	for (int side = SIDE_OUTER; side <= LAST_SIDE(join); side++)
	{
		(void) write_rows(join, side, none, NULL, join->memory->empty[side]);
		join->memory->empty[side] = NO_ROW;
	}
	for (uint32 i = 0; i < table->nsets; i++)
	{
		const JoinSet *set = &table->sets[i];
		const uint64 *values = set->values;
		SetKey		key = setruns_new_key(&join->spill->file.runs,
										  ordered_key(join, set->key, values));

		for (int side = SIDE_OUTER; side <= LAST_SIDE(join); side++)
			values = write_rows(join, side, key, values, set->rows[side]);
		join->totals.nfeatures += set->size;
	}
}

void
spill_begin(JoinEngine *join)
{
	Spill	   *spill = join->spill = palloc0(sizeof(Spill));
	SharedSets *shared = join->params.shared;
	size_t		memory = join->params.memory;
	SpillStore	store = {.nparts = 1};
	const AddedRow *waiting;

	Assert(join->phase == SEARCH_ADD);
	/* numbers of rows that several processes add are not their own */
	Assert(shared == NULL || join->memory->ring.n == 0);
	if (shared != NULL)
	{
		store = (SpillStore)
		{
			join->params.files, join->params.part, shared->nparts
		};
		spill->shares = &shared->spill;
		spill->nshares = Min(shared->nparts * SHARES_PER_PROCESS,
							 MAX_SPILL_SHARES);
	}
	else
	{
		spill->shares = palloc(sizeof(SpillShares));
		spill_shares_init(spill->shares);
		spill->nshares = 1;
	}
	spill->by_keys = join->algorithm->compare != NULL;
	/* the sets in memory, and what is pending while they are written */
	engine_account(join,
				   join->memory->values.bytes +
				   join->memory->rows[SIDE_OUTER].bytes +
				   join->memory->rows[SIDE_INNER].bytes + join->filter.bytes +
				   settable_bytes(&join->memory->table) + memory / 100 *
				   FIRST_SHARE);
	setruns_create(&spill->file.runs, memory / 100 * PENDING_SHARE, &store);
	setruns_limit(&spill->file.runs, memory / 100 * FIRST_SHARE);
	write_table(join);
	while ((waiting = ring_pop(&join->memory->ring)) != NULL)
		spill_add(join, waiting->side, waiting->key, waiting->values,
				  waiting->data,
				  waiting->rowno, waiting->len);
	settable_free(&join->memory->table);
	/* other processes may still read what is in shared memory */
	if (shared == NULL)
	{
		engine_free_memory(join);
		setruns_limit(&spill->file.runs, SIZE_MAX);
	}
	engine_account(join, memory / 100 * PENDING_SHARE);
}

/* Publishing and merging */

void
spill_publish(JoinEngine *join)
{
	SpillPart  *part = part_of(join, join->params.part);

	part->nfeatures = join->totals.nfeatures;
	part->nsets = join->search.stats.sets;
	part->max_features = join->search.max_features;
	setruns_publish(&join->spill->file.runs, &part->runs);
}

/* Import the runs of all processes, and add up their counts. */
static void
import_runs(JoinEngine *join)
{
	join->totals.nfeatures = 0;
	join->search.stats.sets = 0;
	for (int i = 0; i < store_of(join)->nparts; i++)
	{
		const SpillPart *part = part_of(join, i);

		/* a process that attached later has no runs */
		if (part->runs.bytes == 0)
			continue;
		join->totals.nfeatures += part->nfeatures;
		join->search.stats.sets += part->nsets;
		join->search.max_features = Max(join->search.max_features,
										part->max_features);
		setruns_import(&join->spill->file.runs, i, &part->runs);
	}
	join->search.stats.disk += part_of(join, join->params.part)->runs.bytes;
}

/*
 * Memory for counters; more if they are freed before the first chunk: the
 * fewer features share a counter, the fewer candidates there are.
 */
static size_t
counters_memory(const JoinEngine *join)
{
	return join->params.memory / (join->spill->by_keys ? 4 : 8);
}

/* A SetCallback: a distinct set has been merged. */
static void
count_merged(void *arg, const uint64 *values, uint32 n)
{
	JoinEngine *join = arg;

	if (join->spill->counting != NULL)
		shared_counts_add(join->spill->counting, values, n);
	else
		engine_count(join, values, n);
}

/* Claim and merge shares, and count their features. */
void
spill_merge(JoinEngine *join)
{
	Spill	   *spill = join->spill;
	TokenCounters *counters = &join->search.counters;
	uint32		share;

	import_runs(join);
	engine_make_room(join);
	if (join->algorithm->ordered && join->params.shared == NULL)
		counters_create(counters, join->totals.nfeatures,
						counters_memory(join));
	setfile_create(&spill->file, LAST_SIDE(join) + 1,
				   join->search.max_features);
	setruns_divide(&spill->file.runs, spill->nshares);
	while ((share = pg_atomic_fetch_add_u32(&spill->shares->sets_taken,
											1)) < spill->nshares)
	{
		if (join->algorithm->ordered && join->params.shared != NULL &&
			spill->counting == NULL)
		{
			counters_shape(counters, join->totals.nfeatures,
						   counters_memory(join));
			spill->counting = shared_counts_begin(&join->params.shared->counts,
												  join->params.areas,
												  counters);
		}
		setfile_merge(&spill->file, share, &spill->shares->sets[share],
					  count_merged, join);
	}
	if (spill->counting != NULL)
		shared_counts_end(spill->counting, join->params.part,
						  store_of(join)->nparts);
	spill->counting = NULL;
	if (join->algorithm->ordered && join->params.shared == NULL)
		counters_fold(counters);
	join->search.stats.disk += spillfile_publish(&spill->file.records);
	for (int side = SIDE_OUTER; side <= LAST_SIDE(join); side++)
		join->search.stats.disk += spillfile_publish(&spill->file.rows[side]);
}

/* Shrink the counters of all processes, when all shares are merged. */
void
spill_fold(JoinEngine *join)
{
	TokenCounters counters = join->search.counters;

	if (!join->algorithm->ordered)
		return;
	counters_shape(&counters, join->totals.nfeatures, counters_memory(join));
	shared_counts_fold(&join->params.shared->counts, join->params.areas,
					   &counters);
}

/* Attach to the counters of all sets. */
static void
use_counters(JoinEngine *join)
{
	TokenCounters *counters = &join->search.counters;

	if (!join->algorithm->ordered || counters->count != NULL)
		return;
	shared_counts_attach(&join->params.shared->counts, join->params.areas,
						 counters);
}

/*
 * Prepare to read the sets, when all shares are merged.  Chunks must be the
 * same in all processes, which claim probes in their order.
 */
static void
begin_reading(JoinEngine *join)
{
	SetFile    *file = &join->spill->file;
	size_t		max_group = join->params.memory / 16;

	/* deferred candidates are read from many places of the files */
	size_t		buffer = join->spill->by_keys ? BLCKSZ : engine_buffer(join);
	size_t		values;

	if (join->params.shared != NULL)
		join->search.counters.used =
			pg_atomic_read_u64(&join->params.shared->counts.used);
	if (!join->spill->by_keys)
		use_counters(join);
	values = setfile_begin(file, join->spill->shares->sets,
						   join->spill->nshares, buffer,
						   max_group);
	join->search.stats.distinct = file->nsets;
	for (int side = SIDE_OUTER; side <= SIDE_INNER; side++)
		row_reader_create(&join->spill->cursors[side],
						  &file->rows[Min(side, LAST_SIDE(join))], buffer);
	chunks_create(join, 2 * max_group + SET_FILE_READERS * buffer + values +
				  join->search.counters.bytes +
				  (size_t) join->search.max_features * 3 * sizeof(uint64));
}

/* Keys */

void
spill_write_keys(JoinEngine *join)
{
	Spill	   *spill = join->spill;
	SetFile    *file = &spill->file;
	uint32		share;

	begin_reading(join);
	if (!spill->by_keys)
		return;
	spillfile_create(&spill->keys, store_of(join), "keys");
	while ((share = pg_atomic_fetch_add_u32(&spill->shares->keys_taken,
											1)) < MAX_SPILL_SHARES)
	{
		SpillPiece *piece = &spill->shares->keys[share];
		uint64		begin = file->nsets * share / MAX_SPILL_SHARES;
		uint64		end = file->nsets * (share + 1) / MAX_SPILL_SHARES;

		use_counters(join);
		*piece = spillfile_begin_piece(&spill->keys);
		setfile_seek(file, begin);
		for (uint64 i = begin; i < end; i++)
		{
			JoinSet    *set = setfile_next(file);

			CHECK_FOR_INTERRUPTS();
			setfile_read_values(file);
			join->algorithm->prepare(&join->search, set, true, true);
			if (set->nkeys > 0)
				keys_write(&spill->keys, set);
		}
		spillfile_end_piece(&spill->keys, piece);
	}
	join->search.stats.disk += spillfile_publish(&spill->keys);
	if (join->params.shared == NULL)
		counters_free(&join->search.counters);
	join->search.counters.count = NULL;
}

/* The end */

void
spill_return_rows(JoinEngine *join, RowCallback callback, void *arg)
{
	SetRuns    *runs = &join->spill->file.runs;
	uint64	   *values = palloc_extended(sizeof(uint64) *
										 Max(join->search.max_features, 1),
										 MCXT_ALLOC_HUGE);
	RunDirectory directory;
	SetKey		key;

	setruns_publish(runs, &directory);
	setruns_import(runs, runs->store.part, &directory);
	setruns_divide(runs, 1);
	setruns_begin_share(runs, 0);
	while (setruns_next_key(runs, &key))
	{
		/* a further row leaves the values of its set */
		const RunRecord *record = setruns_next(runs, values);
		uint32		n = SETKEY_SIZE(key);
		FileRow		head;

		memcpy(&head, record->row, sizeof(FileRow));
		callback(arg, record->side, n == 0 ? NULL : values, n,
				 record->row + sizeof(FileRow), head.len);
	}
	pfree(values);
}

/* Close the files; memory belongs to the context of the join. */
void
spill_end(JoinEngine *join)
{
	Spill	   *spill = join->spill;

	setfile_close(&spill->file);
	spillfile_close(&spill->keys);
}
