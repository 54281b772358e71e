/*
 * engine.c
 *		Drives the stages of a similarity join.
 *
 * Rows are added; then sets, one after another in order of size, probe the
 * index of the sets before them (of either side, if the measure is
 * symmetric) or of the other side's sets (if it is not).  What a probe finds
 * is handed out as pairs of groups before the next one is made, so that no
 * more than the partners of one set are ever held.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/join/engine.c
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "join/internal.h"

#define LEAST_MEMORY	((size_t) 64 * 1024)

/* A share of the memory after which it is looked at again. */
#define CHECK_SHARE		256

static const Algorithm *const algorithms[] = {
	[ALGORITHM_AUTO] = &ppjoin,
	[ALGORITHM_PPJOIN] = &ppjoin,
	[ALGORITHM_PPJOIN_PLUS] = &ppjoin_plus,
	[ALGORITHM_PROBE_COUNT] = &probe_count,
	[ALGORITHM_PAIR_COUNT] = &pair_count,
	[ALGORITHM_PROBE_STOPWORDS] = &probe_stopwords,
	[ALGORITHM_PROBE_OPTMERGE] = &probe_optmerge,
	[ALGORITHM_ALL_PAIRS_0] = &all_pairs_0,
	[ALGORITHM_ALL_PAIRS_1] = &all_pairs_1,
	[ALGORITHM_ALL_PAIRS_2] = &all_pairs_2,
	[ALGORITHM_WORD_GROUPS] = &word_groups,
};

/* See engine.h */
const char *
setjoin_algorithm_name(JoinAlgorithm algorithm)
{
	return algorithms[algorithm]->name;
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
	size_t		block;

	join->params = *params;
	join->params.memory = Max(params->memory, LEAST_MEMORY);
	join->context = context;
	join->stage = STAGE_ADD;
	join->symmetric = measure_commute(params->measure) == params->measure;
	join->algorithm = algorithms[params->algorithm];

	/* the contained set's prefix is short, the containing one's is all of it */
	join->indexed = params->measure == MEASURE_CONTAINS ? SIDE_INNER : SIDE_OUTER;
	join->probing = join->indexed == SIDE_OUTER ? SIDE_INNER : SIDE_OUTER;
	join->measure = join->indexed == SIDE_OUTER ? params->measure :
		measure_commute(params->measure);

	settable_create(&join->table);
	block = Min(Max(join->params.memory / 128, 1024), 64 * 1024);
	arena_init(&join->values, block);
	arena_init(&join->keys, block);
	arena_init(&join->rows[SIDE_OUTER], block);
	arena_init(&join->rows[SIDE_INNER], block);
	MemoryContextSwitchTo(old);
	return join;
}

/* See engine.h */
void
setjoin_keyed(SetJoin *join, const KeyedSets *keyed_sets)
{
	join->symmetric = true;
	join->algorithm = &keyed;
	join->keyed_sets = keyed_sets;
}

/* See engine.h */
void
setjoin_vectors(SetJoin *join)
{
	Assert(join->params.measure == MEASURE_COSINE ||
		   join->params.measure == MEASURE_JACCARD);
	join->algorithm = vector_algorithm(join->params.algorithm,
									   join->params.measure);
	join->vectors = true;
	join->counters.weighted = join->params.measure == MEASURE_COSINE;
}

/* See engine.h */
void
setjoin_end(SetJoin *join)
{
	if (join->spill != NULL)
		spill_end(join);
	MemoryContextDelete(join->context);
}

/* See engine.h */
const SetJoinStats *
setjoin_stats(SetJoin *join)
{
	join->stats.algorithm = join->algorithm->name;
	return &join->stats;
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
	sum->removed_size += stats->removed_size;
	sum->removed_position += stats->removed_position;
	sum->removed_suffix += stats->removed_suffix;
	sum->removed_bitmap += stats->removed_bitmap;
	sum->verified += stats->verified;
	sum->matches += stats->matches;
	sum->memory += stats->memory;
	sum->disk += stats->disk;
	sum->batches += stats->batches;
}

/* Notes that so many bytes are held. */
void
setjoin_account(SetJoin *join, size_t bytes)
{
	join->stats.memory = Max(join->stats.memory, bytes);
}

/* The answer's place in the cache, after `other` has been compared. */
static inline uint32 *
cache_place(SizeCache *cache, uint32 other, uint32 size, bool *found)
{
	uint32		slot = size % NEED_CACHE;

	if (unlikely(cache->other != other))
	{
		memset(cache->size, 0, sizeof(cache->size));
		cache->other = other;
	}
	*found = cache->size[slot] == size;
	cache->size[slot] = size;
	return &cache->answer[slot];
}

/* The least overlap with which sets of these sizes reach the threshold. */
uint32
setjoin_need(SetJoin *join, uint32 indexed, uint32 probing)
{
	bool		found;
	uint32	   *need = cache_place(&join->need, probing, indexed, &found);

	if (!found)
		*need = measure_min_overlap(join->measure, indexed, probing,
									join->params.threshold);
	return *need;
}

/*
 * How many of its rarest elements a set of that size has in the index.  With
 * a symmetric measure the sets that will look for it are as large or larger,
 * and the larger, the greater is the overlap that they need.
 */
uint32
setjoin_indexed_prefix(SetJoin *join, uint32 size)
{
	double		t = join->params.threshold;
	bool		found;
	uint32	   *prefix = cache_place(&join->indexed_prefix, 0, size, &found);
	uint64		need;

	if (found)
		return *prefix;
	if (join->symmetric)
		need = measure_min_overlap(join->measure, size, size, t);
	else
		need = measure_least_overlap(join->measure, size, t);
	*prefix = need > size ? 0 : size - need + 1;
	return *prefix;
}

/* How many of its rarest elements a set of that size looks for. */
uint32
setjoin_probing_prefix(SetJoin *join, uint32 size)
{
	bool		found;
	uint32	   *prefix = cache_place(&join->probing_prefix, 0, size, &found);

	if (!found)
	{
		uint64		need;

		need = measure_least_overlap(measure_commute(join->measure), size,
									 join->params.threshold);
		*prefix = need > size ? 0 : size - need + 1;
	}
	return *prefix;
}

/* Bytes held now and, if no more rows come, to be held by the join. */
static size_t
bytes_held(SetJoin *join)
{
	size_t		counters = join->algorithm->ordered ?
		Min(join->nfeatures * 2 *
			(join->counters.weighted ? sizeof(uint16) + sizeof(float) :
			 sizeof(uint16)),
			join->params.memory / 8) : 0;

	return join->values.bytes + join->rows[SIDE_OUTER].bytes +
		join->rows[SIDE_INNER].bytes + settable_bytes(&join->table) +
		setindex_bytes(join->table.nsets, join->npostings) + counters +
		(join->nkeys + join->most_features) * sizeof(uint64);
}

/* Goes over to disk if memory is about to run out. */
static void
check_memory(SetJoin *join, size_t added)
{
	bool		grows = join->table.nsets == join->table.maxsets;
	size_t		bytes;

	join->unchecked += added;
	if (join->unchecked < join->params.memory / CHECK_SHARE && !grows)
		return;
	join->unchecked = 0;
	bytes = bytes_held(join);
	if (grows)
		bytes += settable_bytes_next(&join->table) -
			settable_bytes(&join->table);
	if (bytes > join->params.memory)
		spill_begin(join);
	else
		setjoin_account(join, bytes);
}

/* The distinct set of that key and those values, added if it is new. */
static JoinSet *
distinct_set(SetJoin *join, SetKey key, const uint64 *values, uint32 n)
{
	bool		found;
	JoinSet    *set = settable_find(&join->table, key, values, n, &found);

	if (found)
		return set;
	set->values = set_values(arena_alloc(&join->values, set_bytes(n)), n);
	memcpy(set->values, values, sizeof(uint64) * n);
	join->nfeatures += n;
	join->npostings += join->algorithm->most_indexed(join, set);
	join->nkeys += join->algorithm->most_keys(join, set);
	return set;
}

static void
add_in_memory(SetJoin *join, JoinSide side, SetKey key, const uint64 *values,
			  uint32 n, const void *row, uint32 len)
{
	Row		  **rows = n == 0 ? join->empty :
		distinct_set(join, key, values, n)->rows;

	rows[side] = row_make(&join->rows[side], rows[side], row,
						  join->nrows[side], len);
	if (join->params.self_join)
		rows[SIDE_INNER] = rows[SIDE_OUTER];
	check_memory(join, len + sizeof(uint64) * n);
}

/* See engine.h */
void
setjoin_add(SetJoin *join, JoinSide side, const uint64 *values, uint32 n,
			const void *row, uint32 len)
{
	MemoryContext old = MemoryContextSwitchTo(join->context);
	SetKey		key = {0, 0};

	Assert(join->stage == STAGE_ADD);
	if (join->nrows[side] == PG_UINT32_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("too many rows in a similarity join"),
				 errdetail("Each side can have at most %u rows.",
						   PG_UINT32_MAX)));
	if (n > 0)
	{
		key = set_key(&join->table, values, n);
		join->most_features = Max(join->most_features, n);
		join->stats.sets++;
	}
	if (n > 0 || join->params.keep_empty[side])
	{
		if (join->spill != NULL)
			spill_add(join, side, key, values, row, join->nrows[side], len);
		else
			add_in_memory(join, side, key, values, n, row, len);
	}
	join->nrows[side]++;
	MemoryContextSwitchTo(old);
}

/* See engine.h */
uint32
setjoin_outer_rows(const SetJoin *join)
{
	return join->nrows[SIDE_OUTER];
}

/*
 * Drops what occurs in this set only, makes its bitmap, and the keys of a
 * prefix of that length, which are good until the next call.
 */
void
setjoin_order(SetJoin *join, JoinSet *set, uint32 prefix)
{
	uint32		dropped;

	set->nvalues = tokens_make(&join->counters, set->values, set->size,
							   join->room);
	dropped = set->size - set->nvalues;
	set->keys = join->room;
	set->nkeys = prefix <= dropped ? 0 : Min(prefix - dropped, set->nvalues);
	tokens_select(set->keys, set->nvalues, set->nkeys, true);
	if (set->nvalues > 0)
		bitmap_make(set);
}

/* True if the set has rows that are looked for in the index. */
static bool
is_indexed(SetJoin *join, const JoinSet *set)
{
	return join->symmetric || set->rows[join->indexed] != NULL;
}

/* Takes note of a distinct set before any is prepared. */
void
setjoin_count(SetJoin *join, const uint64 *values, uint32 n)
{
	if (join->algorithm->count != NULL)
		join->algorithm->count(join, values, n);
	else if (join->algorithm->ordered)
		counters_add(&join->counters, values, n);
}

/* Makes the keys of a set of the chunk. */
void
setjoin_prepare(SetJoin *join, JoinSet *set)
{
	bool		probes = join->symmetric ||
		(join->spill == NULL && set->rows[join->probing] != NULL);

	join->algorithm->prepare(join, set, is_indexed(join, set), probes);
}

/* How many of its keys a set of the chunk has in the index. */
uint32
setjoin_indexed_keys(SetJoin *join, const JoinSet *set)
{
	return is_indexed(join, set) ?
		join->algorithm->indexed_keys(join, set) : 0;
}

/* Adds the next set of the chunk to the index. */
static void
index_next(SetJoin *join, const JoinSet *set)
{
	if (join->algorithm->add != NULL)
		join->algorithm->add(join, set);
	else
		setindex_add(&join->index, set->keys, setjoin_indexed_keys(join, set),
			  set->size - set->nvalues);
}

/* True if all sets are in the index before the first one probes. */
static bool
indexed_at_once(SetJoin *join)
{
	return !join->symmetric || join->algorithm->at_once;
}

static void
end_chunk(SetJoin *join)
{
	if (join->algorithm->end_chunk != NULL)
		join->algorithm->end_chunk(join);
	setindex_free(&join->index);
}

/* Makes the index of the chunk; sets that probe for each other add it later. */
static void
begin_chunk(SetJoin *join)
{
	InvertedIndex *index = &join->index;
	uint64		npostings = 0;

	for (uint32 i = 0; i < join->nsets; i++)
	{
		CHECK_EVERY(i);
		npostings += setjoin_indexed_keys(join, &join->sets[i]);
	}
	end_chunk(join);
	setindex_create(index, join->sets, join->nsets, npostings);
	for (uint32 i = 0; i < join->nsets; i++)
	{
		CHECK_FOR_INTERRUPTS();
		setindex_count(index, join->sets[i].keys,
					setjoin_indexed_keys(join, &join->sets[i]));
	}
	setindex_allot(index);
	if (indexed_at_once(join))
		for (uint32 i = 0; i < join->nsets; i++)
		{
			CHECK_FOR_INTERRUPTS();
			index_next(join, &join->sets[i]);
		}
	join->next = 0;
	index->limit = join->nsets;
	join->stage = STAGE_CHUNK;
	join->stats.postings += npostings;
	join->stats.batches++;
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

static void
count_features(SetJoin *join)
{
	counters_create(&join->counters, join->nfeatures,
					join->params.memory / 8);
	for (uint32 i = 0; i < join->nsets; i++)
	{
		CHECK_FOR_INTERRUPTS();
		setjoin_count(join, join->sets[i].values, join->sets[i].size);
	}
	counters_fold(&join->counters);
}

/* Orders the sets and their features; all is in memory. */
static void
build_in_memory(SetJoin *join)
{
	SetTable   *table = &join->table;

	join->stats.distinct = table->nsets;
	pfree(table->slots);
	table->slots = NULL;
	settable_sort(table);
	join->sets = table->sets;
	join->nsets = table->nsets;
	if (join->algorithm->ordered)
		count_features(join);
	for (uint32 i = 0; i < join->nsets; i++)
	{
		CHECK_FOR_INTERRUPTS();
		setjoin_prepare(join, &join->sets[i]);
		keep_keys(join, &join->sets[i]);
	}
}

/* See engine.h */
void
setjoin_build(SetJoin *join)
{
	MemoryContext old = MemoryContextSwitchTo(join->context);

	setjoin_account(join, bytes_held(join));
	join->room = MemoryContextAllocHuge(join->context,
										sizeof(uint64) * Max(join->most_features, 1));
	join->maxpairs = 64;
	join->pairs = palloc(join->maxpairs * sizeof(GroupPair));
	join->stage = STAGE_END;
	if (join->spill == NULL)
	{
		build_in_memory(join);
		begin_chunk(join);
	}
	else
	{
		spill_finish(join);
		if (spill_next_chunk(join))
			begin_chunk(join);
	}
	MemoryContextSwitchTo(old);
}

/* Adds a pair of groups to hand out, if there are rows in both. */
static void
add_pair(SetJoin *join, const JoinSet *outer, const JoinSet *inner)
{
	if (outer->rows[SIDE_OUTER] == NULL || inner->rows[SIDE_INNER] == NULL)
		return;
	if (join->npairs == join->maxpairs)
	{
		join->maxpairs *= 2;
		join->pairs = repalloc_huge(join->pairs,
									join->maxpairs * sizeof(GroupPair));
	}
	join->pairs[join->npairs].outer = outer->rows[SIDE_OUTER];
	join->pairs[join->npairs++].inner = inner->rows[SIDE_INNER];
}

/* Hands out what a candidate and the probing set have to give. */
static void
add_match(SetJoin *join, const JoinSet *indexed, JoinSet *probing)
{
	join->stats.matches++;
	if (join->stage == STAGE_STREAM)
		spill_load_rows(join, probing);
	if (join->symmetric || join->indexed == SIDE_OUTER)
		add_pair(join, indexed, probing);
	if (join->symmetric || join->indexed == SIDE_INNER)
		add_pair(join, probing, indexed);
}

/* Compares the candidates of the last probe with the set that probed. */
static void
verify_candidates(SetJoin *join, JoinSet *probing)
{
	for (uint32 i = 0; i < join->index.ncandidates; i++)
	{
		const JoinSet *set = &join->sets[join->index.candidates[i]];

		CHECK_FOR_INTERRUPTS();

		/* without order of arrival, a set meets itself: see probe_set() */
		if (set->key.low == probing->key.low)
			continue;
		if (join->algorithm->verify(join, set, probing))
			add_match(join, set, probing);
	}
}

/* Looks for the partners of a set in the index. */
static void
probe_index(SetJoin *join, JoinSet *set)
{
	uint32		sides = 3;

	if (join->symmetric)
		sides = ((SET_SIDES(set) & 1) << 1) | (SET_SIDES(set) >> 1);
	join->index.ncandidates = 0;
	join->algorithm->probe(join, set, sides);
	join->stats.candidates += join->index.ncandidates;
	verify_candidates(join, set);
}

/* True if a set is near to itself, as it is unless it is a strange sketch. */
static bool
is_reflexive(SetJoin *join, const JoinSet *set)
{
	if (join->vectors)
		return true;
	if (join->keyed_sets != NULL)
		return join->keyed_sets->near(set->values, set->values,
									  join->params.threshold);
	return setjoin_need(join, set->size, set->size) <= set->size;
}

/*
 * A set of the chunk looks for its partners, itself among them, and is then
 * found by the next ones.
 */
static void
probe_set(SetJoin *join, uint32 number)
{
	JoinSet    *set = &join->sets[number];

	if (SET_SIDES(set) == 3 && is_reflexive(join, set))
		add_pair(join, set, set);
	if (join->symmetric)
	{
		join->index.limit = number;
		probe_index(join, set);
		if (!indexed_at_once(join))
			index_next(join, set);
	}
	else if (join->spill == NULL && set->rows[join->probing] != NULL)
		probe_index(join, set);
}

/* All sets of the chunk have probed: what is on disk comes next. */
static void
begin_stream(SetJoin *join)
{
	join->stage = STAGE_STREAM;
	join->index.limit = join->nsets;
	if (join->symmetric)
		spill_probe_after_chunk(join);
	else
	{
		uint64		least;
		uint64		most;

		measure_sizes(join->measure, join->sets[0].size,
					  join->params.threshold, &least, &most);
		spill_probe_from_size(join, least);
	}
}

/* True if a set of that size, and larger ones, find nothing in the chunk. */
static bool
too_large(SetJoin *join, uint32 size)
{
	uint64		least;
	uint64		most;

	/* of sketches and vectors the size tells nothing */
	if (join->keyed_sets != NULL || join->vectors)
		return false;
	measure_sizes(join->measure, join->sets[join->nsets - 1].size,
				  join->params.threshold, &least, &most);
	return size > most;
}

/* A set from disk probes; false if no more can find anything in the chunk. */
static bool
probe_stream(SetJoin *join)
{
	JoinSet    *set = spill_next_probe(join);

	if (set == NULL || too_large(join, set->size))
		return false;
	if (!join->symmetric && set->rows[join->probing] == NULL)
		return true;
	join->algorithm->prepare(join, set, false, true);
	probe_index(join, set);
	return true;
}

/* Makes the next probe, or goes on to the next stage. */
static void
advance(SetJoin *join)
{
	CHECK_FOR_INTERRUPTS();
	join->npairs = join->next_pair = 0;
	if (join->stage == STAGE_CHUNK)
	{
		if (join->next < join->nsets)
			probe_set(join, join->next++);
		else if (join->spill == NULL)
			join->stage = STAGE_END;
		else
			begin_stream(join);
	}
	else if (!probe_stream(join))
	{
		join->stage = STAGE_END;
		end_chunk(join);
		if (spill_next_chunk(join))
			begin_chunk(join);
	}
}

/* See engine.h */
bool
setjoin_next(SetJoin *join, RowGroup *outer, RowGroup *inner)
{
	MemoryContext old;

	if (join->next_pair == join->npairs)
	{
		old = MemoryContextSwitchTo(join->context);
		while (join->next_pair == join->npairs && join->stage != STAGE_END)
			advance(join);
		MemoryContextSwitchTo(old);
		if (join->next_pair == join->npairs)
			return false;
	}
	*outer = join->pairs[join->next_pair].outer;
	*inner = join->pairs[join->next_pair++].inner;
	return true;
}

/* See engine.h */
void
setjoin_rows(SetJoin *join, JoinSide side)
{
	if (join->spill != NULL)
		spillreader_seek(&join->cursors[side].reader, 0);
	join->next_row[side] = join->empty[side];
	join->next_set[side] = 0;
}

/* See engine.h */
const void *
setjoin_rows_next(SetJoin *join, JoinSide side, uint32 *rowno)
{
	const Row **row = &join->next_row[side];
	const Row  *found;
	uint32		len;

	if (join->spill != NULL)
	{
		RowReader  *reader = &join->cursors[side];

		if (spillreader_at_end(&reader->reader))
			return NULL;
		return row_read(reader, rowno, &len);
	}
	while (*row == NULL && join->next_set[side] < join->nsets)
	{
		CHECK_FOR_INTERRUPTS();
		*row = join->sets[join->next_set[side]++].rows[side];
	}
	found = *row;
	if (found == NULL)
		return NULL;
	*row = found->next;
	*rowno = found->rowno;
	return found->data;
}
