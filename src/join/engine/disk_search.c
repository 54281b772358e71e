/*
 * disk_search.c
 *		The search on disk: by chunks, by deferred candidates.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "base/memory.h"
#include "base/sort_uint64.h"
#include "join/engine/disk_search.h"
#include "join/engine/join_state.h"
#include "join/engine/spill.h"

/*
 * Candidates whose sets are on disk, to be compared later
 *
 * A candidate is a pair of numbers of sets in the set file.  Pairs are collected in
 * memory.  Once there are many, or the search is over, they are sorted by the set that was
 * found, and these sets are read in blocks that fit into memory.  The sets that found them
 * are then read one after another, each once for a block in which it has a candidate.
 * All reading goes forward through the file and skips sets without a candidate.
 */

typedef struct Deferred
{
	/*
	 * The set that was found << 32 | the one that found it; of the block, the
	 * one that found it << 32 | the place in the block.
	 */
	uint64	   *pairs;
	size_t		npairs;
	size_t		max_pairs;		/* allocated */
	size_t		full;			/* number from which they are compared */

	/* of the block */
	size_t		block_bytes;	/* that it may take */
	JoinSet    *sets;
	size_t		nsets;
	size_t		max_sets;		/* allocated */
	Arena		arena;			/* values and rows */
	size_t		next;			/* pair */
	size_t		end;			/* of its pairs */
	uint32		probing;		/* number of the set that probed */
} Deferred;

Deferred *
deferred_create(size_t memory)
{
	Deferred   *deferred = palloc0(sizeof(Deferred));

	deferred->full = memory / 100 * DEFERRED_PAIRS_SHARE / sizeof(uint64);
	arena_init(&deferred->arena, Min(Max(memory / 64, 1024), 64 * 1024));
	return deferred;
}

void
deferred_add(SetJoin *join, const JoinSet *indexed, const JoinSet *probing)
{
	Deferred   *deferred = join->spill->chunks->deferred;

	Assert(indexed->key.low >= 0 && indexed->key.low <= PG_UINT32_MAX);
	Assert(probing->key.low >= 0 && probing->key.low <= PG_UINT32_MAX);
	/* at first, room for all that are compared at once */
	deferred->pairs = growing_reserve(deferred->pairs, &deferred->max_pairs,
									  Max(deferred->npairs + 1, deferred->full),
									  sizeof(uint64));
	deferred->pairs[deferred->npairs++] =
		(uint64) indexed->key.low << 32 | (uint64) probing->key.low;
}

bool
deferred_is_full(SetJoin *join)
{
	return join->spill->chunks->deferred->npairs >= join->spill->chunks->deferred->full;
}

bool
deferred_begin(SetJoin *join, bool last)
{
	Deferred   *deferred = join->spill->chunks->deferred;

	if (deferred->npairs == 0)
		return false;
	deferred->block_bytes = join->params.memory / 100 *
		(last ? DEFERRED_LAST_SHARE : DEFERRED_BLOCK_SHARE);
	deferred->next = deferred->end = 0;
	sort_hashes(deferred->pairs, deferred->npairs);
	return true;
}

static size_t
block_size(const Deferred *deferred)
{
	return deferred->arena.bytes + deferred->max_sets * sizeof(JoinSet);
}

/* Read the set of that number, with its values. */
static JoinSet *
read_set(SetFile *file, uint32 number)
{
	setfile_seek(file, number);
	(void) setfile_next(file);
	setfile_read_values(file);
	return &file->set;
}

/* Add the set of that number to the block, with rows that are not larger than its values. */
static void
load_deferred_set(SetJoin *join, uint32 number)
{
	Deferred   *deferred = join->spill->chunks->deferred;
	JoinSet    *from = read_set(&join->spill->file, number);
	size_t		bytes = sizeof(uint64) * from->size;
	JoinSet    *set;

	deferred->sets = growing_reserve(deferred->sets, &deferred->max_sets,
									 deferred->nsets + 1, sizeof(JoinSet));
	set = &deferred->sets[deferred->nsets++];
	*set = *from;
	set->values = arena_alloc(&deferred->arena, bytes);
	memcpy(set->values, from->values, bytes);
	setfile_read_rows(&join->spill->file, set, &deferred->arena, bytes);
}

/* Read the next block; false if there is none. */
static bool
next_block(SetJoin *join)
{
	Deferred   *deferred = join->spill->chunks->deferred;
	size_t		begin = deferred->end;
	size_t		at = begin;

	Assert(begin <= deferred->npairs);
	arena_reset(&deferred->arena);
	deferred->nsets = 0;
	while (at < deferred->npairs &&
		   (at == begin || block_size(deferred) < deferred->block_bytes))
	{
		uint64		found = deferred->pairs[at] >> 32;

		CHECK_FOR_INTERRUPTS();
		load_deferred_set(join, found);
		for (; at < deferred->npairs && deferred->pairs[at] >> 32 == found; at++)
		{
			CHECK_EVERY(at);
			deferred->pairs[at] = deferred->pairs[at] << 32 | (deferred->nsets - 1);
		}
	}
	sort_hashes(deferred->pairs + begin, at - begin);
	deferred->next = begin;
	deferred->end = at;
	return at > begin;
}

JoinSet *
deferred_next_probe(SetJoin *join)
{
	Deferred   *deferred = join->spill->chunks->deferred;

	if (deferred->next == deferred->end && !next_block(join))
	{
		deferred->npairs = 0;
		return NULL;
	}
	deferred->probing = deferred->pairs[deferred->next] >> 32;
	return read_set(&join->spill->file, deferred->probing);
}

JoinSet *
deferred_next_candidate(SetJoin *join)
{
	Deferred   *deferred = join->spill->chunks->deferred;

	if (deferred->next == deferred->end ||
		deferred->pairs[deferred->next] >> 32 != deferred->probing)
		return NULL;
	return &deferred->sets[(uint32) deferred->pairs[deferred->next++]];
}

/*
 * The sets of a join on disk, read in chunks that fit into memory
 *
 * A chunk is indexed.  With a symmetric measure its matches are in itself and after it,
 * so that only sets that are after it and not too large are read again to probe it.  The
 * work is that of the join in memory and, in addition, to read each set once for each
 * chunk in whose range of sizes it is.
 *
 * Where an algorithm can find candidates by keys and bitmaps alone, these are written to
 * a file of their own and the chunks are of them: several times as many sets fit into
 * one, and a set that probes is prepared once and not for each chunk.  A set without keys
 * has no match and is left out.  The candidates are compared later.
 */

/* Head of the keys of a set; its bitmap and the keys follow. */
typedef struct KeyRecord
{
	uint32		number;			/* of the set in the set file */
	uint32		size;
	uint32		nvalues;
	uint32		nkeys;
	uint64		sides;			/* on which it has rows, as bits */
} KeyRecord;

void
chunks_create(SetJoin *join, size_t fixed)
{
	Chunks	   *chunks = palloc0(sizeof(Chunks));
	size_t		memory = join->params.memory;

	join->spill->chunks = chunks;
	chunks->reader = &join->spill->file.reader;
	chunks->max_bytes = Max(memory > fixed ? memory - fixed : 0, memory / 4);
	arena_init(&chunks->arena, Min(Max(memory / 64, 1024), 64 * 1024));
}

void
keys_write(SpillFile *file, const JoinSet *set)
{
	KeyRecord	record = {
		.number = set->key.low,.size = set->size,.nvalues = set->nvalues,
		.nkeys = set->nkeys,.sides = SET_SIDES(set)
	};
	size_t		bytes = bitmap_bytes(set->size);

	spillfile_write(file, &record, sizeof(record));
	spillfile_write(file, (char *) set->values - bytes, bytes);
	spillfile_write(file, set->keys, sizeof(uint64) * set->nkeys);
}

void
chunks_of_keys(SetJoin *join)
{
	Chunks	   *chunks = join->spill->chunks;

	spillreader_create(&chunks->keys, &join->spill->keys, setjoin_buffer(join));
	chunks->reader = &chunks->keys;
	chunks->max_bytes = join->params.memory / 100 * DEFERRED_CHUNK_SHARE;
	chunks->deferred = deferred_create(join->params.memory);
}

/* Read the next bitmap and keys into the place for values of the set file. */
static void
read_keys(SetJoin *join, JoinSet *set)
{
	SpillReader *reader = &join->spill->chunks->keys;
	void	   *place = join->spill->file.place;
	KeyRecord	record;

	spillreader_read(reader, &record, sizeof(record));
	spillreader_read(reader, place, bitmap_bytes(record.size) + sizeof(uint64) * record.nkeys);
	memset(set, 0, sizeof(JoinSet));
	set->key.high = (int64) ((uint64) record.size << SETKEY_HASH_BITS);
	set->key.low = record.number;
	set->size = record.size;
	set->nvalues = record.nvalues;
	set->nkeys = record.nkeys;
	set->values = set->keys = set_values(place, record.size);
	for (int side = SIDE_OUTER; side <= SIDE_INNER; side++)
		if ((record.sides & (1 << side)) != 0)
			set->rows[side] = &rows_somewhere;
}

/* Copy the bitmap of a set that was read into the chunk, and the keys that are indexed. */
static void
keep_keys(SetJoin *join, JoinSet *set)
{
	size_t		bytes;
	char	   *place;

	set->nkeys = setjoin_indexed_keys(join, set);
	bytes = bitmap_bytes(set->size) + sizeof(uint64) * set->nkeys;
	place = arena_alloc(&join->spill->chunks->arena, bytes);
	memcpy(place, join->spill->file.place, bytes);
	set->values = set->keys = set_values(place, set->size);
}

/* Copy a prepared set into the chunk: bitmap, values, keys. */
static void
keep_set(Spill *spill, JoinSet *set)
{
	size_t		head = (char *) set->values - (char *) spill->file.place;
	size_t		body = head + sizeof(uint64) * set->nvalues;
	char	   *place = arena_alloc(&spill->chunks->arena, body + sizeof(uint64) * set->nkeys);

	memcpy(place, spill->file.place, body);
	memcpy(place + body, set->keys, sizeof(uint64) * set->nkeys);
	set->values = (uint64 *) (place + head);
	set->keys = (uint64 *) (place + body);
}

/* Read the next set into the chunk; false if none of its rows are indexed. */
static bool
load_set(SetJoin *join, JoinSet *set)
{
	Spill	   *spill = join->spill;
	SetFile    *file = &spill->file;

	if (spill->by_keys)
		read_keys(join, set);
	else
		*set = *setfile_next(file);
	if (!setjoin_is_indexed(join, set))
		return false;
	if (spill->by_keys)
	{
		keep_keys(join, set);
		return true;
	}
	setfile_read_rows(file, set, &spill->chunks->arena, file->max_group);
	setfile_read_values(file);
	setjoin_prepare(join, set);
	keep_set(spill, set);
	return true;
}

/* Make room for one more set. */
static void
reserve_set(SetJoin *join)
{
	Chunks	   *chunks = join->spill->chunks;

	if (join->search.nsets < chunks->max_sets)
		return;
	if (chunks->max_sets == 0)
	{
		chunks->max_sets = 64;
		join->search.sets = palloc(chunks->max_sets * sizeof(JoinSet));
		return;
	}
	/* by small steps: the memory is missing for postings */
	chunks->max_sets += Max(chunks->max_sets / 8, 64);
	join->search.sets = repalloc_huge(join->search.sets, chunks->max_sets * sizeof(JoinSet));
}

/* Bytes of a chunk with that many sets and postings. */
static size_t
chunk_bytes(const Chunks *chunks, uint32 nsets, uint64 npostings)
{
	return chunks->arena.bytes + chunks->max_sets * sizeof(JoinSet) +
		setindex_bytes(nsets, npostings);
}

bool
chunks_next(SetJoin *join)
{
	Chunks	   *chunks = join->spill->chunks;
	SpillReader *reader = chunks->reader;
	uint64		npostings = 0;

	arena_reset(&chunks->arena);
	join->search.nsets = 0;
	chunks->this_chunk = chunks->next_chunk;
	spillreader_seek(reader, chunks->this_chunk);
	while (!spillreader_at_end(reader))
	{
		JoinSet    *set;

		CHECK_FOR_INTERRUPTS();
		reserve_set(join);
		set = &join->search.sets[join->search.nsets];
		if (load_set(join, set))
		{
			join->search.nsets++;
			npostings += setjoin_indexed_keys(join, set);
		}
		if (chunk_bytes(chunks, join->search.nsets, npostings) > chunks->max_bytes)
			break;
	}
	chunks->next_chunk = spillreader_tell(reader);
	setjoin_account(join, join->params.memory - chunks->max_bytes +
					chunk_bytes(chunks, join->search.nsets, npostings));
	return join->search.nsets > 0;
}

void
chunks_free_sets(SetJoin *join)
{
	Chunks	   *chunks = join->spill->chunks;

	arena_reset(&chunks->arena);
	if (chunks->max_sets > 0)
		pfree(join->search.sets);
	join->search.sets = NULL;
	join->search.nsets = chunks->max_sets = 0;
}

/* The least size of a match of the chunk's sets, if the measure is not symmetric. */
static uint64
least_probe(SetJoin *join)
{
	uint64		least;
	uint64		most;

	measure_sizes(join->search.measure, join->search.sets[0].size, join->search.threshold,
				  &least, &most);
	return least;
}

void
chunks_begin_keys(SetJoin *join)
{
	Chunks	   *chunks = join->spill->chunks;
	uint64		least;

	if (join->search.symmetric)
	{
		spillreader_seek(&chunks->keys, chunks->this_chunk);
		return;
	}
	least = least_probe(join);
	spillreader_seek(&chunks->keys, chunks->first_probe);
	while (chunks_next_keys(join) != NULL && chunks->probe.size < least)
	{
		CHECK_FOR_INTERRUPTS();
		chunks->first_probe = spillreader_tell(&chunks->keys);
	}
	spillreader_seek(&chunks->keys, chunks->first_probe);
}

JoinSet *
chunks_next_keys(SetJoin *join)
{
	Chunks	   *chunks = join->spill->chunks;

	if (spillreader_at_end(&chunks->keys))
		return NULL;
	read_keys(join, &chunks->probe);
	return &chunks->probe;
}

void
chunks_begin_stream(SetJoin *join)
{
	if (join->search.symmetric)
		spillreader_seek(&join->spill->file.reader, join->spill->chunks->next_chunk);
	else
		setfile_seek_size(&join->spill->file, least_probe(join));
}

/*
 * The search of a join whose sets are on disk
 *
 * There are two ways.  By keys, where the algorithm needs only keys and bitmaps to find
 * candidates: each set is matched with itself; then the keys of all sets probe chunks of keys,
 * and candidates are compared whenever there are many of them, and at the end.  By whole sets
 * otherwise: the sets of a chunk probe each other, and the sets after it are read and probe it.
 */

/* Whether sets of that size, and larger ones, have no match in the chunk. */
static bool
is_too_large(SetJoin *join, uint32 size)
{
	uint64		least;
	uint64		most;

	if (!join->algorithm->sized)
		return false;
	measure_sizes(join->search.measure, join->search.sets[join->search.nsets - 1].size,
				  join->search.threshold, &least, &most);
	return size > most;
}

/* By keys */

/* Match the next set with itself; false if there is none. */
static bool
next_self(SetJoin *join)
{
	JoinSet    *set = setfile_next(&join->spill->file);

	if (set == NULL)
		return false;
	if (probe_is_claimed(join) && SET_SIDES(set) == 3)
	{
		setfile_load_rows(&join->spill->file);
		probe_add_itself(join, set);
	}
	return true;
}

/* Defer those candidates of the last probe that the bitmaps allow. */
static void
defer_candidates(SetJoin *join, const JoinSet *probing)
{
	for (uint32 i = 0; i < join->search.index.ncandidates; i++)
	{
		const JoinSet *set = probe_candidate(join, i);

		CHECK_FOR_INTERRUPTS();
		if (set->key.low != probing->key.low &&
			join->algorithm->may_match(&join->search, set, probing))
			deferred_add(join, set, probing);
	}
}

/* The keys of the next set probe the chunk; false if no further ones find anything. */
static bool
probe_keys(SetJoin *join)
{
	JoinSet    *probing = chunks_next_keys(join);
	uint32		number = join->next++;
	bool		in_chunk = join->search.symmetric && number < join->search.nsets;

	if (probing == NULL || is_too_large(join, probing->size))
		return false;
	join->search.index.limit = in_chunk ? number : join->search.nsets;
	if (in_chunk)
		probe_fetch_ahead(join, number);
	if (probe_is_claimed(join) &&
		(join->search.symmetric || probing->rows[join->probing] != NULL) &&
		probe_index(join, probing) > 0)
		defer_candidates(join, probing);
	if (in_chunk)
		probe_add_next(join, &join->search.sets[number]);
	return true;
}

/* Compare the next set that has deferred candidates with them; false if there is none. */
static bool
compare_next(SetJoin *join)
{
	JoinSet    *probing = deferred_next_probe(join);
	const JoinSet *set;

	if (probing == NULL)
		return false;
	while ((set = deferred_next_candidate(join)) != NULL)
	{
		CHECK_FOR_INTERRUPTS();
		if (join->algorithm->compare(&join->search, set, probing))
		{
			setfile_load_rows(&join->spill->file);
			probe_add_match(join, set, probing);
		}
	}
	return true;
}

/* Compare deferred candidates, and then go on with a phase. */
static void
compare_before(SetJoin *join, SearchPhase resumed, bool last)
{
	join->resumed = resumed;
	join->phase = deferred_begin(join, last) ? SEARCH_COMPARE : resumed;
}

static void
next_chunk_of_keys(SetJoin *join)
{
	probe_end_chunk(join);
	if (chunks_next(join))
	{
		probe_begin_chunk(join);
		chunks_begin_keys(join);
	}
	else
	{
		chunks_free_sets(join);
		compare_before(join, SEARCH_END, true);
	}
}

/* join->advance */
static void
advance_by_keys(SetJoin *join)
{
	switch (join->phase)
	{
		case SEARCH_SELVES:
			if (!next_self(join))
				next_chunk_of_keys(join);
			break;
		case SEARCH_CHUNK:
			if (!probe_keys(join))
				next_chunk_of_keys(join);
			else if (deferred_is_full(join))
				compare_before(join, SEARCH_CHUNK, false);
			break;
		case SEARCH_COMPARE:
			if (!compare_next(join))
				join->phase = join->resumed;
			break;
		default:
			Assert(false);
	}
}

/* By whole sets */

/* The next set of the chunk is matched with itself and, if symmetric, those before it. */
static void
probe_member(SetJoin *join, uint32 number)
{
	JoinSet    *set = &join->search.sets[number];
	bool		claimed = probe_is_claimed(join);

	if (claimed)
		probe_add_itself(join, set);
	if (!join->search.symmetric)
		return;
	join->search.index.limit = number;
	probe_fetch_ahead(join, number);
	if (claimed)
	{
		(void) probe_index(join, set);
		probe_verify(join, set);
	}
	probe_add_next(join, set);
}

/* The next set that is read probes the chunk; false if no further ones find anything. */
static bool
probe_stream(SetJoin *join)
{
	SetFile    *file = &join->spill->file;
	JoinSet    *set = setfile_next(file);

	if (set == NULL || is_too_large(join, set->size))
		return false;
	if (!probe_is_claimed(join) ||
		(!join->search.symmetric && set->rows[join->probing] == NULL))
		return true;
	setfile_read_values(file);
	join->algorithm->prepare(&join->search, set, false, true);
	if (probe_index(join, set) > 0)
	{
		setfile_load_rows(file);
		probe_verify(join, set);
	}
	return true;
}

static void
next_chunk_of_sets(SetJoin *join)
{
	probe_end_chunk(join);
	if (chunks_next(join))
		probe_begin_chunk(join);
	else
		join->phase = SEARCH_END;
}

/* join->advance */
static void
advance_by_sets(SetJoin *join)
{
	switch (join->phase)
	{
		case SEARCH_CHUNK:
			if (join->next < join->search.nsets)
			{
				probe_member(join, join->next++);
				break;
			}
			join->phase = SEARCH_STREAM;
			join->search.index.limit = join->search.nsets;
			chunks_begin_stream(join);
			break;
		case SEARCH_STREAM:
			if (!probe_stream(join))
				next_chunk_of_sets(join);
			break;
		default:
			Assert(false);
	}
}

void
disk_search_begin(SetJoin *join)
{
	setfile_seek(&join->spill->file, 0);
	if (join->spill->by_keys)
	{
		join->search.only_keys = true;
		join->phase = SEARCH_SELVES;
		join->advance = advance_by_keys;
	}
	else
	{
		join->advance = advance_by_sets;
		next_chunk_of_sets(join);
	}
}
