/*
 * join_state.c
 *		The state of a join, and the probes that sets in memory make.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "base/memory.h"
#include "join/engine/join_state.h"

/*
 * One set in SAMPLED is in the sample that estimates the number of different
 * features.
 */
#define SAMPLED			16

/* With less memory there is no ring: what waits in it is not counted. */
#define MIN_RING_MEMORY	((size_t) 4 * 1024 * 1024)

/* With fewer features the number of counters does not matter. */
#define MIN_FEATURES	65536

void
engine_account(JoinEngine *join, size_t bytes)
{
	join->search.stats.memory = Max(join->search.stats.memory, bytes);
}

void
engine_begin_memory(JoinEngine *join)
{
	SetsInMemory *memory = join->memory = palloc0(sizeof(SetsInMemory));
	size_t		block = Min(Max(join->params.memory / 512, 1024), 64 * 1024);
	Arena	   *arenas[] = {&memory->values, &memory->keys,
		&memory->rows[SIDE_OUTER],
	&memory->rows[SIDE_INNER]};

	Assert(join->spill == NULL);
	settable_create(&memory->table, join->params.secret);
	memcpy(join->secret, memory->table.secret, JOIN_SECRET);
	if (join->params.memory >= MIN_RING_MEMORY)
		ring_create(&memory->ring, join->params.known, join->params.areas);
	for (int i = 0; i < lengthof(arenas); i++)
	{
		arena_init(arenas[i], block);
		arenas[i]->areas = engine_areas(join);
	}
}

void
engine_free_memory(JoinEngine *join)
{
	SetsInMemory *memory = join->memory;

	Assert(join->spill != NULL && memory != NULL);
	settable_free(&memory->table);
	if (join->participant != NULL)
	{
		shared_areas_empty(join->participant->areas);
		join->participant->areas = NULL;
	}
	else
	{
		arena_reset(&memory->rows[SIDE_OUTER]);
		arena_reset(&memory->rows[SIDE_INNER]);
		arena_reset(&memory->values);
	}
	ring_free(&memory->ring);
	pfree(memory);
	join->memory = NULL;
}

/* Bytes held by the sets in memory, and later by their keys and index. */
static size_t
memory_held(JoinEngine *join)
{
	const SetsInMemory *memory = join->memory;

	return memory->values.bytes + memory->rows[SIDE_OUTER].bytes +
		memory->rows[SIDE_INNER].bytes + settable_bytes(&memory->table) +
		inverted_index_bytes(memory->table.nsets, join->totals.npostings) +
		join->totals.nkeys * sizeof(uint64);
}

size_t
engine_bytes_held(JoinEngine *join)
{
	size_t		counter = sizeof(uint16) +
	(join->search.counters.weighted ? sizeof(float) : 0);
	size_t		counters = join->algorithm->ordered ?
	Min(join->totals.nfeatures * 2 * counter, join->params.memory / 8) :
	engine_counts(join) ? join->params.memory / 8 : 0;

	return (join->memory == NULL ? 0 : memory_held(join)) +
		join->filter.bytes + counters +
		join->search.max_features * sizeof(uint64);
}

size_t
engine_buffer(const JoinEngine *join)
{
	return Min(Max(join->params.memory / 64, BLCKSZ), 256 * 1024);
}

void
engine_make_room(JoinEngine *join)
{
	engine_account(join, engine_bytes_held(join));
	join->search.room = MemoryContextAllocHuge(join->search.context,
											   sizeof(uint64) *
											   Max(join->search.max_features,
												   1));
}

/*
 * Assumes that no feature of the sample occurs in other sets.  Few and
 * frequent features, as items of market baskets, need few counters, which fit
 * into a cache.
 */
uint64
engine_different_features(JoinEngine *join)
{
	const SetTable *table = &join->memory->table;
	uint64		nfeatures = join->totals.nfeatures;
	TokenCounters sample = {.weighted = false};
	double		different;

	if (nfeatures < MIN_FEATURES || join->algorithm->count != NULL)
		return nfeatures;
	counters_create(&sample, nfeatures / SAMPLED, join->params.memory / 8);
	for (uint32 i = 0; i < table->nsets; i += SAMPLED)
	{
		CHECK_FOR_INTERRUPTS();
		if (has_stored(join, &table->sets[i]))
			counters_add(&sample, table->sets[i].values, table->sets[i].size);
	}
	different = counters_different(&sample) * SAMPLED;
	counters_free(&sample);
	return different < nfeatures ? different : nfeatures;
}

bool
engine_counts(const JoinEngine *join)
{
	return join->algorithm->ordered || join->algorithm->count != NULL;
}

void
engine_count(JoinEngine *join, const uint64 *values, uint32 n)
{
	if (join->algorithm->count != NULL)
		join->algorithm->count(&join->search, values, n);
	else if (join->algorithm->ordered)
		counters_add(&join->search.counters, values, n);
}

void
engine_fetch_counters(JoinEngine *join, const uint64 *values, uint32 n)
{
	if (join->algorithm->ordered && !join->algorithm->weighted)
		counters_fetch(&join->search.counters, values, n);
}

bool
engine_is_indexed(const JoinEngine *join, const JoinSet *set)
{
	return join->search.symmetric || set_has_rows(set, join->indexed);
}

void
engine_prepare(JoinEngine *join, JoinSet *set)
{
	bool		probes = join->search.symmetric ||
	set_has_rows(set, join->probing);

	join->algorithm->prepare(&join->search, set, engine_is_indexed(join, set),
							 probes);
}

uint32
engine_indexed_keys(JoinEngine *join, const JoinSet *set)
{
	return engine_is_indexed(join, set) ?
		join->algorithm->indexed_keys(&join->search, set) : 0;
}

uint64
engine_different_keys(JoinEngine *join, uint64 npostings)
{
	return join->algorithm->ordered ? join->search.counters.used : npostings;
}

/*
 * Sets probe the index of a chunk and are verified
 *
 * The sets of a chunk probe in order of size: the index of the sets before
 * them if the measure is symmetric, or else of the other side's sets.  The
 * matches of a probe are emitted before the next probe, so only the matches of
 * one set are held.
 */

/* Number of sets ahead of which the first data are prefetched. */
#define FETCH_FIRST		(3 * FETCH_AHEAD)

/*
 * Probes that a process claims at once: many, as nothing is prefetched for the
 * first one, but all sets are at least MIN_CLAIMS claims, so that no process
 * has most of the work.
 */
#define MAX_CLAIMED		512
#define MIN_CLAIMS		512

/* True if all sets of a chunk are indexed before the first one probes. */
static bool
indexes_at_once(const JoinEngine *join)
{
	return !join->search.symmetric || join->algorithm->at_once ||
		join->search.index.mode == INDEX_SHARED;
}

/* Add the next set of the chunk to the index. */
static void
index_next(JoinEngine *join, const JoinSet *set)
{
	search_add(&join->search, join->algorithm, set,
			   engine_indexed_keys(join, set));
}

void
probe_add_next(JoinEngine *join, const JoinSet *set)
{
	if (!indexes_at_once(join))
		index_next(join, set);
}

/*
 * Create the index of the chunk. With a symmetric measure a set is added after
 * it has probed.
 */
static void
make_index(JoinEngine *join)
{
	InvertedIndex *index = &join->search.index;
	bool		own = join->algorithm->own_index;
	uint64		npostings = 0;

	for (uint32 i = 0; i < join->search.nsets && !own; i++)
	{
		CHECK_EVERY(i);
		npostings += engine_indexed_keys(join, &join->search.sets[i]);
	}
	announced_index_create(index, join->search.sets, join->search.nsets,
						   npostings,
						   engine_different_keys(join, npostings));
	for (uint32 i = 0; i < join->search.nsets && !own; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (i + FETCH_AHEAD < join->search.nsets)
			set_fetch_keys(&join->search.sets[i + FETCH_AHEAD]);
		announced_index_count(index, join->search.sets[i].keys,
							  engine_indexed_keys(join,
												  &join->search.sets[i]));
	}
	announced_index_allocate(index);
	if (indexes_at_once(join))
		for (uint32 i = 0; i < join->search.nsets; i++)
		{
			CHECK_FOR_INTERRUPTS();
			index_next(join, &join->search.sets[i]);
		}
}

void
probe_begin(JoinEngine *join)
{
	join->next = 0;
	memset(&join->ahead, 0, sizeof(RowsAhead));
	join->search.index.limit = join->search.nsets;
	join->probe = join->algorithm->probe[join->search.index.mode];
	Assert(join->probe != NULL);
	join->phase = SEARCH_CHUNK;
	join->search.stats.postings += join->search.index.npostings;
	join->search.stats.batches++;
}

void
probe_begin_chunk(JoinEngine *join)
{
	probe_end_chunk(join);
	make_index(join);
	probe_begin(join);
}

void
probe_end_chunk(JoinEngine *join)
{
	if (join->algorithm->end_chunk != NULL)
		join->algorithm->end_chunk(&join->search);
	inverted_index_free(&join->search.index);
}

bool
probe_is_claimed(JoinEngine *join)
{
	Claims	   *claims = &join->claims;
	uint64		number = claims->next++;

	if (claims->claimed == NULL)
		return true;
	if (number >= claims->end)
	{
		uint64		n = Max(Min(join->search.stats.distinct / MIN_CLAIMS,
								MAX_CLAIMED), 1);

		claims->begin = pg_atomic_fetch_add_u64(claims->claimed, n);
		claims->end = claims->begin + n;
	}
	Assert(number < claims->end);
	return number >= claims->begin;
}

/*
 * Number of sets in memory, from the one that probes on, that this process
 * certainly lets probe.
 */
static uint32
claimed_probes(const JoinEngine *join)
{
	const Claims *claims = &join->claims;
	uint32		left = join->search.nsets - join->next + 1;

	if (claims->claimed == NULL)
		return left;
	return Min(claims->end - claims->next + 1, left);
}

/* Add a pair of groups if both have rows, and prefetch their first rows. */
static void
add_pair(JoinEngine *join, const JoinSet *outer, const JoinSet *inner)
{
	FoundPairs *found = &join->found;

	if (!set_has_rows(outer, SIDE_OUTER) || !set_has_rows(inner, SIDE_INNER))
		return;
	__builtin_prefetch(row_address(outer->rows[SIDE_OUTER]));
	__builtin_prefetch(row_address(inner->rows[SIDE_INNER]));
	if (unlikely(found->n == found->max))
		found->pairs = growing_reserve(found->pairs, &found->max, found->n + 1,
									   sizeof(GroupPair));
	found->pairs[found->n++] = (GroupPair)
	{
		outer, inner
	};
}

void
probe_add_match(JoinEngine *join, const JoinSet *indexed,
				const JoinSet *probing)
{
	join->search.stats.matches++;
	if (join->search.symmetric || join->indexed == SIDE_OUTER)
		add_pair(join, indexed, probing);
	if ((join->search.symmetric && !join->params.either_order) ||
		join->indexed == SIDE_INNER)
		add_pair(join, probing, indexed);
}

void
probe_add_itself(JoinEngine *join, const JoinSet *set)
{
	const Row  *row = row_address(set->rows[SIDE_OUTER]);

	/* sketches without features are not near-duplicates of themselves */
	if (set_sides(set) != 3 ||
		(join->algorithm->reflexive != NULL &&
		 !join->algorithm->reflexive(&join->search, set)))
		return;
	if (join->params.apart && !row_exists(row->next) && row->len != ROWS_IN_FILE)
		join->search.stats.alone++;
	else
		add_pair(join, set, set);
}

uint32
probe_index(JoinEngine *join, const JoinSet *set)
{
	InvertedIndex *index = &join->search.index;
	uint32		sides = 3;

	if (join->search.symmetric)
		sides = ((set_sides(set) & 1) << 1) | (set_sides(set) >> 1);
	if (index->mode == INDEX_SHARED && join->search.symmetric)
		index->shared.own = engine_indexed_keys(join, set);
	index->ncandidates = 0;
	join->probe(&join->search, set, sides);
	join->search.stats.candidates += index->ncandidates;
	return index->ncandidates;
}

void
probe_verify(JoinEngine *join, const JoinSet *probing)
{
	uint32		n = join->search.index.ncandidates;

	for (uint32 i = 0; i < Min(n, 2 * FETCH_AHEAD); i++)
		__builtin_prefetch(&join->search.sets[join->search.index.candidates[i]]);
	for (uint32 i = 0; i < n; i++)
	{
		const JoinSet *set = probe_candidate(join, i);

		CHECK_FOR_INTERRUPTS();
		/* if the measure is not symmetric, a set finds itself */
		if (set_number(set) != set_number(probing) &&
			join->algorithm->verify(&join->search, set, probing))
			probe_add_match(join, set, probing);
	}
}

/*
 * Prefetch for the next sets: keys, bitmaps and rows first, then buckets, then
 * postings.
 */
void
probe_fetch_ahead(JoinEngine *join, uint32 number)
{
	const InvertedIndex *index = &join->search.index;
	const JoinSet *set = &join->search.sets[number];

	if (join->search.nsets - number <= FETCH_FIRST)
		return;
	set_fetch_keys(&set[FETCH_FIRST]);
	__builtin_prefetch(set[FETCH_FIRST].values - 1);
	rows_ahead_add(&join->ahead, engine_areas(join),
				   row_address(set[FETCH_FIRST].rows[SIDE_OUTER]));
	set += FETCH_AHEAD;
	if (index->mode == INDEX_SHARED)
		shared_view_fetch(index, set->keys, set->nkeys,
						  engine_indexed_keys(join, set), number);
	else
		announced_index_fetch(index, set->keys, set->nkeys,
							  engine_indexed_keys(join, set));
	set += FETCH_AHEAD;
	inverted_index_fetch_buckets(index, set->keys, set->nkeys);
}

/*
 * Probe by the next set: for the sets before it, if the measure is symmetric;
 * otherwise for all indexed sets, if it has rows of the probing side.
 */
void
probe_advance(JoinEngine *join)
{
	uint32		number = join->next;
	const JoinSet *set = &join->search.sets[number];
	bool		symmetric = join->search.symmetric;
	bool		claimed;

	Assert(number <= join->search.nsets);
	if (number == join->search.nsets)
	{
		join->phase = SEARCH_END;
		return;
	}
	join->next++;
	claimed = probe_is_claimed(join);
	if (symmetric)
		join->search.index.limit = number;
	join->search.next_probes = claimed_probes(join);

	/*
	 * among probes of other processes, only for the last ones before the
	 * claimed ones
	 */
	if (symmetric && (claimed || join->search.index.mode != INDEX_SHARED ||
					  join->claims.next + FETCH_FIRST > join->claims.begin))
		probe_fetch_ahead(join, number);
	if (claimed)
		probe_add_itself(join, set);
	if (claimed && (symmetric || set_has_rows(set, join->probing)))
	{
		(void) probe_index(join, set);
		probe_verify(join, set);
	}
	probe_add_next(join, set);
}
