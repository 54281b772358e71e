/*
 * chunks.c
 *		The sets of a join on disk, read in chunks that fit into memory.
 *
 * A chunk is indexed.  With a symmetric measure its matches are in itself and after it,
 * so that only sets that are after it and not too large are read again to probe it.  The
 * work is that of the join in memory and, in addition, to read each set once for each
 * chunk in whose range of sizes it is.
 *
 * Where an algorithm can find candidates by keys and bitmaps alone, these are written to
 * a file of their own and the chunks are of them: several times as many sets fit into
 * one, and a set that probes is prepared once and not for each chunk.  A set without keys
 * has no match and is left out.  The candidates are compared later (deferred.c).
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "join/engine/chunks.h"
#include "join/engine/deferred.h"
#include "join/engine/spill.h"

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
