/*
 * shared_sets.c
 *		The sets of a similarity join that several processes prepare together.
 *
 * Each process adds a part of the rows, and collapses equal sets in shared
 * memory.  When all rows have been added, rows of a set whose values another
 * process has stored (set_table.c) are reassigned to that process.  Equal sets
 * that several processes have stored are collapsed in shares of their hashes,
 * if another process has marked them, too.  The features are counted
 * (shared_index.c), and the sets are prepared in place.
 *
 * Sets are counted, prepared and numbered in the order in which they were
 * added: near sets were often added together, and have counters and index
 * places that are still in the cache.
 *
 * Each process makes its own array of all sets, in the same order.  The index
 * over it is made together (shared_index.c), unless an algorithm has its own.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "pgstat.h"
#include "port/pg_bitutils.h"
#include "utils/memutils.h"
#include "utils/wait_event.h"

#include "base/compat.h"
#include "join/engine/join_state.h"
#include "join/engine/set_table.h"
#include "join/engine/shared_index.h"
#include "join/engine/shared_sets.h"
#include "join/engine/spill.h"

/* A distinct set of one process; rows are links. */
typedef struct SharedSet
{
	SetKey		key;
	SharedPointer place;		/* place of its bitmap and values; invalid:
								 * another process has the same set, and its
								 * rows */
	pg_atomic_uint64 rows[2];	/* links to the first rows, by JoinSide; in a
								 * self-join the second is the last row, which
								 * stays that */
	SharedPointer keys;			/* the rest is set when it is prepared */
	uint32		nvalues;
	uint32		nkeys;
} SharedSet;

/* Number of sets that a process claims at once to count or prepare them. */
#define RUN		256

/* Least number of marks of a process for each of its sets. */
#define MARKS_A_SET		16
#define MARKS_A_WORD	64

/*
 * Number of sets ahead of which a set is prefetched, and its values and a row.
 */
#define FETCH_SET		8
#define FETCH_VALUES	4

/*
 * Number of sets ahead of which the number of the owner's set is prefetched,
 * and then that set.
 */
#define FETCH_NUMBER	12
#define FETCH_OWNER		6

/* The share that a set belongs to, by its hash. */
static inline int
share_of(SetKey key)
{
	return (uint64) key.high % SET_SHARES;
}

/* The mark of a set in a process. */
static inline uint64
mark_of(const SharedSetsPart *part, SetKey key)
{
	return (uint64) key.low >> (64 - part->mark_bits);
}

/* The part of this process. */
static SharedSetsPart *
own_part(const JoinEngine *join)
{
	return &join->params.shared->parts[join->params.part];
}

/* The address of a pointer into shared memory. */
static inline void *
at(const JoinEngine *join, SharedPointer pointer)
{
	return shared_at(engine_areas(join), pointer);
}

/* Bytes of the state of nparts processes. */
size_t
shared_sets_bytes(int nparts)
{
	return add_size(offsetof(SharedSets, parts),
					mul_size(nparts, sizeof(SharedSetsPart)));
}

/* Initialize the state of nparts processes, before any attaches. */
void
shared_sets_init(SharedSets *shared, int nparts)
{
	memset(shared, 0, shared_sets_bytes(nparts));
	BarrierInit(&shared->barrier, 0);
	pg_atomic_init_u32(&shared->fallback, IN_MEMORY);
	pg_atomic_init_u32(&shared->nreturned, 0);
	spill_shares_init(&shared->spill);
	for (int i = 0; i < STEP_READY; i++)
		pg_atomic_init_u32(&shared->taken[i], 0);
	shared_counts_init(&shared->counts);
	for (int side = SIDE_OUTER; side <= SIDE_INNER; side++)
		pg_atomic_init_u64(&shared->empty[side], 0);
	pg_atomic_init_u64(&shared->index.npostings, 0);
	shared->nparts = nparts;
	for (int i = 0; i < nparts; i++)
	{
		pg_atomic_init_u64(&shared->parts[i].nsets, 0);
		pg_atomic_init_u64(&shared->parts[i].npostings, 0);
		pg_atomic_init_u64(&shared->parts[i].nfeatures, 0);
		for (int step = 0; step < STEP_READY; step++)
			pg_atomic_init_u32(&shared->parts[i].taken[step], 0);
	}
}

/*
 * Bytes that this process holds now or later, if no process adds any more
 * rows: its shared memory, its part of the index over the sets of all, and its
 * part of the counters and those that wait.
 */
size_t
shared_bytes_held(JoinEngine *join)
{
	SharedSets *shared = join->params.shared;
	SharedSetsPart *own = own_part(join);
	uint64		nsets = 0;
	uint64		npostings = 0;
	uint64		nfeatures = 0;
	size_t		index;

	pg_atomic_write_u64(&own->nsets, join->totals.nstored);
	pg_atomic_write_u64(&own->npostings, join->totals.npostings);
	pg_atomic_write_u64(&own->nfeatures, join->totals.nfeatures);
	for (int i = 0; i < shared->nparts; i++)
	{
		nsets += pg_atomic_read_u64(&shared->parts[i].nsets);
		npostings += pg_atomic_read_u64(&shared->parts[i].npostings);
		nfeatures += pg_atomic_read_u64(&shared->parts[i].nfeatures);
	}
	if (nsets > PG_UINT32_MAX)
		return SIZE_MAX / 2;
	index = inverted_index_bytes(nsets, npostings) -
		inverted_index_own_bytes(nsets) +
		npostings * sizeof(uint32);
	return engine_areas(join)->bytes + settable_bytes(&join->memory->table) +
		join->memory->table.nsets * (sizeof(SharedSet) + 2 * sizeof(uint32) +
									 2 * MARKS_A_SET / BITS_PER_BYTE) +
		nsets * sizeof(JoinSet) + inverted_index_own_bytes(nsets) +
		index / Max(BarrierParticipants(&shared->barrier), 1) +
		(join->algorithm->ordered ?
		 Min(nfeatures * 2 * sizeof(uint16), join->params.memory / 8) : 0) +
		(join->totals.nkeys + join->search.max_features) * sizeof(uint64);
}

void
shared_publish_totals(JoinEngine *join)
{
	SharedSetsPart *part = own_part(join);

	memcpy(part->nrows, join->nrows, sizeof(part->nrows));
	part->max_features = join->search.max_features;
	part->nonempty = join->search.stats.sets;
}

void
shared_publish(JoinEngine *join)
{
	SharedSetsPart *part = own_part(join);
	SetTable   *table = &join->memory->table;
	uint32		n = 0;
	uint32		nborrowed = 0;
	SharedSet  *sets;
	uint64		nmarks;
	uint64	   *marks;

	sets = shared_alloc(engine_areas(join),
						sizeof(SharedSet) * (size_t) join->totals.nstored,
						&part->sets);
	join->participant->borrowed = MemoryContextAllocHuge(join->search.context,
														 sizeof(uint32) *
														 (size_t) (table->nsets - join->totals.nstored));
	for (uint32 i = 0; i < table->nsets; i++)
	{
		const JoinSet *set = &table->sets[i];
		SharedSet  *shared = &sets[n];

		CHECK_EVERY(i);
		if (!has_stored(join, set))
		{
			join->participant->borrowed[nborrowed++] = i;
			continue;
		}
		memset(shared, 0, sizeof(SharedSet));
		shared->key = set->key;
		shared->place = set->place;
		for (int side = SIDE_OUTER; side <= SIDE_INNER; side++)
			pg_atomic_init_u64(&shared->rows[side],
							   set->rows[side].shared);
		n++;
	}
	Assert(n == join->totals.nstored);
	part->n = n;
	nmarks = pg_nextpower2_64((uint64) MARKS_A_SET * Max(n, MARKS_A_WORD));
	marks = shared_alloc(engine_areas(join), nmarks / BITS_PER_BYTE,
						 &part->marks);
	clear_memory(marks, nmarks / BITS_PER_BYTE);
	part->mark_bits = pg_leftmost_one_pos64(nmarks);
	for (uint32 i = 0; i < n; i++)
	{
		uint64		mark = mark_of(part, sets[i].key);

		CHECK_EVERY(i);
		marks[mark / MARKS_A_WORD] |= UINT64CONST(1) << mark % MARKS_A_WORD;
	}
	shared_publish_totals(join);
	if (join->algorithm->ordered)
		part->different = engine_different_features(join);
}

/* Emit the rows of a list, with their set; NULL: they have none. */
static void
return_list(JoinEngine *join, JoinSide side, const JoinSet *set,
			RowLink link, RowCallback take, void *arg)
{
	for (const Row *row = row_at(engine_areas(join), link); row != NULL;
		 row = row_at(engine_areas(join), row->next))
	{
		CHECK_FOR_INTERRUPTS();
		take(arg, side, set == NULL ? NULL : set->values,
			 set == NULL ? 0 : set->size, row->data, row->len);
	}
}

void
shared_return_rows(JoinEngine *join, RowCallback take, void *arg)
{
	for (int side = SIDE_OUTER; side <= LAST_SIDE(join); side++)
	{
		return_list(join, side, NULL, join->memory->empty[side], take, arg);
		for (uint32 i = 0; i < join->memory->table.nsets; i++)
			return_list(join, side, &join->memory->table.sets[i],
						join->memory->table.sets[i].rows[side], take, arg);
	}
}

/* The steps */

/* The row that a stored link leads to; NULL if there is none. */
static inline Row *
row_of(const JoinEngine *join, uint64 link)
{
	return row_at(engine_areas(join), row_shared_link(link));
}

/*
 * The last row of a set, whose rows are links by JoinSide, on a side where it
 * has rows.
 */
static Row *
last_row(const JoinEngine *join, const uint64 *rows, JoinSide side)
{
	Row		   *last;

	if (join->params.self_join)
		return row_of(join, rows[SIDE_INNER]);
	last = row_of(join, rows[side]);
	while (row_exists(last->next))
	{
		CHECK_FOR_INTERRUPTS();
		last = row_at(engine_areas(join), last->next);
	}
	return last;
}

/*
 * Put the rows of a set, links by JoinSide, before the rows of another one;
 * other processes may do so, too.
 */
static void
prepend_rows(const JoinEngine *join, pg_atomic_uint64 *links,
			 const uint64 *rows)
{
	for (int side = SIDE_OUTER; side <= LAST_SIDE(join); side++)
	{
		uint64		next = pg_atomic_read_u64(&links[side]);
		Row		   *last;

		if (rows[side] == 0)
			continue;
		last = last_row(join, rows, side);
		do
			last->next = row_shared_link(next);
		while (!pg_atomic_compare_exchange_u64(&links[side], &next,
											   rows[side]));
	}
}

/* The set of another process whose values a set of this one has. */
static inline SharedSet *
owner_of(const JoinEngine *join, const JoinSet *set)
{
	const SharedSets *shared = join->params.shared;
	SharedSet  *sets = at(join, shared->parts[set_storer(join, set)].sets);

	Assert(!has_stored(join, set) && sets != NULL);
	return &sets[shared_values_number(set->values)];
}

/*
 * Link the rows of sets whose values another process has stored to the sets of
 * that process.
 */
static void
reassign_rows(JoinEngine *join)
{
	const JoinSet *sets = join->memory->table.sets;
	uint32		nborrowed = join->participant->borrowed == NULL ? 0 :
	join->memory->table.nsets - join->totals.nstored;

	for (uint32 i = 0; i < nborrowed; i++)
	{
		const uint32 *number = &join->participant->borrowed[i];
		const JoinSet *set = &sets[*number];
		uint64		rows[2] = {set->rows[SIDE_OUTER].shared,
		set->rows[SIDE_INNER].shared};

		CHECK_EVERY(i);
		if (i + FETCH_NUMBER < nborrowed)
			__builtin_prefetch(sets[number[FETCH_NUMBER]].values - 1);
		if (i + FETCH_OWNER < nborrowed)
			__builtin_prefetch(owner_of(join, &sets[number[FETCH_OWNER]]), 1);
		prepend_rows(join, owner_of(join, set)->rows, rows);
	}
	if (join->participant->borrowed != NULL)
		pfree(join->participant->borrowed);
	join->participant->borrowed = NULL;
}

/*
 * True if a process other than number `part` has a mark for the key, and so
 * may have the set.
 */
static bool
others_have_mark(const JoinEngine *join, int part, SetKey key)
{
	const SharedSets *shared = join->params.shared;

	for (int i = 0; i < shared->nparts; i++)
	{
		const SharedSetsPart *other = &shared->parts[i];
		const uint64 *marks;
		uint64		mark;

		if (i == part || other->n == 0)
			continue;
		marks = at(join, other->marks);
		mark = mark_of(other, key);
		if (marks[mark / MARKS_A_WORD] >> mark % MARKS_A_WORD & 1)
			return true;
	}
	return false;
}

/* List the sets of one process that others may have, by share. */
static void
list_suspects(JoinEngine *join, int number)
{
	SharedSetsPart *part = &join->params.shared->parts[number];
	const SharedSet *sets;
	uint32	   *suspects;
	uint32		nsuspects = 0;
	uint32		next[SET_SHARES] = {0};
	uint32		end = 0;
	uint32	   *by_share;

	if (part->n == 0)
		return;
	sets = at(join, part->sets);
	suspects = MemoryContextAllocHuge(CurrentMemoryContext,
									  sizeof(uint32) * (size_t) part->n);
	for (uint32 i = 0; i < part->n; i++)
	{
		bool		suspect = others_have_mark(join, number, sets[i].key);

		CHECK_EVERY(i);
		suspects[nsuspects] = i;
		nsuspects += suspect;
		next[share_of(sets[i].key)] += suspect;
	}
	for (int share = 0; share < SET_SHARES; share++)
	{
		part->ends[share] = end + next[share];
		next[share] = end;
		end = part->ends[share];
	}
	by_share = shared_alloc(engine_areas(join),
							sizeof(uint32) * (size_t) Max(nsuspects, 1),
							&part->suspects);
	for (uint32 i = 0; i < nsuspects; i++)
	{
		CHECK_EVERY(i);
		by_share[next[share_of(sets[suspects[i]].key)]++] = suspects[i];
	}
	pfree(suspects);
}

/* Prefetch some of the next n sets. */
static void
fetch_ahead(const JoinEngine *join, SharedSet *sets, const uint32 *numbers,
			uint32 n)
{
	if (n > FETCH_SET)
		__builtin_prefetch(&sets[numbers[FETCH_SET]], 1);
	if (n > FETCH_VALUES)
	{
		SharedSet  *set = &sets[numbers[FETCH_VALUES]];

		__builtin_prefetch(at(join, set->place));
		/* in a self-join the last row, which is written to */
		__builtin_prefetch(row_of(join,
								  pg_atomic_read_u64(&set->rows[OTHER_SIDE(LAST_SIDE(join))])), 1);
	}
}

/*
 * Collapse the sets of one process in a share; `kept` are the sets of the
 * table.
 */
static void
collapse_part(JoinEngine *join, int share, const SharedSetsPart *part,
			  SetTable *table, SharedSet **kept)
{
	SharedSet  *sets = at(join, part->sets);
	const uint32 *numbers = at(join, part->suspects);

	Assert(share >= 0 && share < SET_SHARES);
	for (uint32 i = share == 0 ? 0 :
		 part->ends[share - 1]; i < part->ends[share]; i++)
	{
		SharedSet  *set = &sets[numbers[i]];
		uint32		size = SETKEY_SIZE(set->key);
		uint64	   *values = set_values(at(join, set->place), size);
		bool		found;
		JoinSet    *same = settable_find(table, set->key, values, size,
										 &found);
		uint32		number = same - table->sets;
		uint64		rows[2];

		CHECK_FOR_INTERRUPTS();
		fetch_ahead(join, sets, numbers + i, part->ends[share] - i);
		if (!found)
		{
			same->values = values;
			kept[number] = set;
			continue;
		}
		for (int side = SIDE_OUTER; side <= SIDE_INNER; side++)
			rows[side] = pg_atomic_read_u64(&set->rows[side]);
		prepend_rows(join, kept[number]->rows, rows);
		set->place = InvalidSharedPointer;
	}
}

/* STEP_COLLAPSE: collapse identical sets of a share. */
static void
collapse_sets(JoinEngine *join, int share)
{
	SharedSets *shared = join->params.shared;
	uint64		most = 0;
	SetTable	table;
	SharedSet **kept;

	for (int i = 0; i < shared->nparts; i++)
		most += shared->parts[i].ends[share] -
			(share == 0 ? 0 : shared->parts[i].ends[share - 1]);
	kept = MemoryContextAllocHuge(CurrentMemoryContext,
								  sizeof(SharedSet *) * Max(most, 1));
	settable_create(&table, join->params.secret);
	for (int i = 0; i < shared->nparts; i++)
		collapse_part(join, share, &shared->parts[i], &table, kept);
	settable_free(&table);
	pfree(kept);
}

/* Claim shares of a step, and do it. */
static void
do_shares(JoinEngine *join, SharedStep step, uint32 nshares,
		  void (*work) (JoinEngine *join, int share))
{
	pg_atomic_uint32 *taken = &join->params.shared->taken[step];
	uint32		share;

	while ((share = pg_atomic_fetch_add_u32(taken, 1)) < nshares)
		work(join, share);
}

/* Does a step for n of the sets. */
typedef void (*RunCallback) (JoinEngine *join, SharedSet *sets, uint32 n,
							 void *arg);

/*
 * Claim runs of sets for a step, and do it; runs of this process come first,
 * as their memory is mapped.
 */
static void
do_runs(JoinEngine *join, SharedStep step, RunCallback work, void *arg)
{
	SharedSets *shared = join->params.shared;

	for (int i = 0; i < shared->nparts; i++)
	{
		SharedSetsPart *part = &shared->parts[(join->params.part +
											   i) % shared->nparts];
		SharedSet  *sets = at(join, part->sets);
		uint32		begin;

		while ((begin = pg_atomic_fetch_add_u32(&part->taken[step],
												RUN)) < part->n)
			work(join, sets + begin, Min(RUN, part->n - begin), arg);
	}
}

/* The values of a stored set. */
static inline uint64 *
shared_values(const JoinEngine *join, const SharedSet *set)
{
	return set_values(at(join, set->place), SETKEY_SIZE(set->key));
}

/* The shape of the shared counters until they are folded. */
static TokenCounters
counters_of_all(const JoinEngine *join)
{
	const SharedSets *shared = join->params.shared;
	TokenCounters counters = join->search.counters;
	uint64		different = 0;

	for (int i = 0; i < shared->nparts; i++)
		different += shared->parts[i].different;
	counters_shape(&counters, different, join->params.memory / 8);
	return counters;
}

/* STEP_COUNT */
static void
count_run(JoinEngine *join, SharedSet *sets, uint32 n, void *counting)
{
	for (uint32 i = 0; i < n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (SharedPointerIsValid(sets[i].place))
			shared_counts_add(counting, shared_values(join, &sets[i]),
							  SETKEY_SIZE(sets[i].key));
	}
}

/* Prepare a set in its place. Returns its number of postings. */
static uint32
prepare_set(JoinEngine *join, SharedSet *shared)
{
	JoinSet		set = {.key = shared->key};
	uint64	   *keys;

	set.size = set.nvalues = SETKEY_SIZE(shared->key);
	set.values = shared_values(join, shared);
	/* algorithms check on which sides there are rows, but read none */
	for (int side = SIDE_OUTER; side <= SIDE_INNER; side++)
		set.rows[side] =
			row_shared_link(pg_atomic_read_u64(&shared->rows[side]));
	engine_prepare(join, &set);
	shared->nvalues = set.nvalues;
	shared->nkeys = set.nkeys;
	keys = set.values + set.nvalues;
	if (set.size - set.nvalues >= set.nkeys)
		shared->keys = shared->place +
			((char *) keys - (char *) at(join, shared->place));
	else
		keys = arena_alloc_shared(&join->memory->keys,
								  sizeof(uint64) * set.nkeys, &shared->keys);
	memcpy(keys, set.keys, sizeof(uint64) * set.nkeys);
	return engine_indexed_keys(join, &set);
}

/* STEP_PREPARE */
static void
prepare_run(JoinEngine *join, SharedSet *sets, uint32 n, void *arg)
{
	uint64		npostings = 0;

	for (uint32 i = 0; i < n; i++)
	{
		const SharedSet *next = &sets[Min(i + 1, n - 1)];

		CHECK_FOR_INTERRUPTS();
		if (SharedPointerIsValid(next->place))
			engine_fetch_counters(join, shared_values(join, next),
								  SETKEY_SIZE(next->key));
		if (SharedPointerIsValid(sets[i].place))
			npostings += prepare_set(join, &sets[i]);
	}
	pg_atomic_fetch_add_u64(&join->params.shared->index.npostings, npostings);
}

/* Do this process's part of a step. */
static void
do_step(JoinEngine *join, SharedStep step)
{
	SharedSets *shared = join->params.shared;
	TokenCounters shape;
	Counting   *counting;

	switch (step)
	{
		case STEP_SUSPECT:
			do_shares(join, step, shared->nparts, list_suspects);
			break;
		case STEP_COLLAPSE:
			do_shares(join, step, SET_SHARES, collapse_sets);
			break;
		case STEP_COUNT:
			if (!join->algorithm->ordered)
				break;
			shape = counters_of_all(join);
			counting = shared_counts_begin(&shared->counts, engine_areas(join),
										   &shape);
			do_runs(join, step, count_run, counting);
			shared_counts_end(counting, join->params.part, shared->nparts);
			break;
		case STEP_PREPARE:
			if (join->algorithm->ordered)
				shared_counts_attach(&shared->counts, engine_areas(join),
									 &join->search.counters);
			do_runs(join, step, prepare_run, NULL);
			break;
		case STEP_GATHER:
			if (join->algorithm->probe[INDEX_SHARED] != NULL)
				do_shares(join, step, SET_SHARES, shared_index_allocate);
			break;
		case STEP_COUNT_KEYS:
			do_shares(join, step, SET_SHARES, shared_index_count);
			break;
		case STEP_DISTRIBUTE:
			do_shares(join, step, SET_SHARES, shared_index_distribute);
			break;
		case STEP_ORDER:
			do_shares(join, step, SET_SHARES, shared_index_order);
			break;
		default:
			break;
	}
}

void
shared_sets_prepare(JoinEngine *join)
{
	SharedSets *shared = join->params.shared;
	Barrier    *barrier = &shared->barrier;
	uint64		empty[2] = {
		join->memory->empty[SIDE_OUTER].shared,
		join->memory->empty[SIDE_INNER].shared
	};

	/* the sets are published */
	pfree(join->memory->table.slots);
	join->memory->table.slots = NULL;
	for (int i = 0; i < shared->nparts; i++)
		join->search.max_features = Max(join->search.max_features,
										shared->parts[i].max_features);
	engine_make_room(join);
	prepend_rows(join, shared->empty, empty);
	reassign_rows(join);

	/* the number of used counters is known after the counters are freed */
	if (join->algorithm->ordered && BarrierPhase(barrier) > STEP_PREPARE)
		join->search.counters.used = pg_atomic_read_u64(&shared->counts.used);
	for (int step = BarrierPhase(barrier); step < STEP_READY; step++)
	{
		if (step >= STEP_GATHER)
			shared_gather(join);
		do_step(join, step);
		if (BarrierArriveAndWait(barrier, PG_WAIT_EXTENSION) &&
			step == STEP_COUNT &&
			join->algorithm->ordered)
		{
			TokenCounters shape = counters_of_all(join);

			/* the index reuses the memory of the counters */
			shared_counts_fold(&shared->counts, engine_areas(join), &shape);
			shared->index.room = shared->counts.counts;
			shared->index.room_bytes = shape.bytes;
		}
	}
	BarrierDetach(barrier);
}

/* Sets by size */

/* The first place of each size in the array of all sets. */
static uint32 *
size_starts(JoinEngine *join)
{
	const SharedSets *shared = join->params.shared;
	size_t		nsizes = (size_t) join->search.max_features + 1;
	uint32	   *starts = alloc_zeros(sizeof(uint32) * nsizes);
	uint32		start = 0;

	for (int part = 0; part < shared->nparts; part++)
	{
		const SharedSet *sets = at(join, shared->parts[part].sets);

		for (uint32 i = 0; i < shared->parts[part].n; i++)
		{
			CHECK_EVERY(i);
			starts[SETKEY_SIZE(sets[i].key)] += SharedPointerIsValid(sets[i].place);
		}
	}
	for (size_t size = 0; size < nsizes; size++)
	{
		uint32		n = starts[size];

		CHECK_EVERY(size);
		starts[size] = start;
		start += n;
	}
	join->search.nsets = start;
	return starts;
}

/* A set as algorithms see it. */
static void
gather_set(JoinEngine *join, SharedSet *shared, uint32 number)
{
	JoinSet    *set = &join->search.sets[number];

	memset(set, 0, sizeof(JoinSet));
	set->number = number;
	set->size = SETKEY_SIZE(shared->key);
	set->nvalues = shared->nvalues;
	set->nkeys = shared->nkeys;
	set->values = shared_values(join, shared);
	set->keys = at(join, shared->keys);
	for (int side = SIDE_OUTER; side <= LAST_SIDE(join); side++)
		set->rows[side] =
			row_link(row_of(join, pg_atomic_read_u64(&shared->rows[side])));
	if (join->params.self_join)
		set->rows[SIDE_INNER] = set->rows[SIDE_OUTER];
}

void
shared_gather(JoinEngine *join)
{
	SharedSets *shared = join->params.shared;
	uint32	   *starts;

	if (join->search.sets != NULL)
		return;
	starts = size_starts(join);
	join->search.sets = settable_take_room(&join->memory->table,
										   join->search.nsets);
	join->search.stats.distinct = join->search.nsets;
	join->search.stats.sets = 0;
	for (int part = 0; part < shared->nparts; part++)
	{
		SharedSet  *sets = at(join, shared->parts[part].sets);

		for (uint32 i = 0; i < shared->parts[part].n; i++)
		{
			CHECK_EVERY(i);
			if (SharedPointerIsValid(sets[i].place))
				gather_set(join, &sets[i], starts[SETKEY_SIZE(sets[i].key)]++);
		}
		join->search.stats.sets += shared->parts[part].nonempty;
	}
	pfree(starts);
	for (int side = SIDE_OUTER; side <= SIDE_INNER; side++)
	{
		int			stored = Min(side, LAST_SIDE(join));

		join->memory->empty[side] =
			row_link(row_of(join, pg_atomic_read_u64(&shared->empty[stored])));
	}
}
