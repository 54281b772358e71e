/*
 * chunks.c
 *		The sets of a join on disk, read in chunks that fit into memory.
 *
 * A chunk is indexed; its partners are in itself and, with a symmetric measure,
 * behind it, so that only sets that are behind it and not too large are read again
 * to probe it.  The work is that of the join in memory; what is added is
 * sorting once, and reading each set once for each chunk in whose range of
 * sizes it lies.
 *
 * Where an algorithm can find candidates by keys and bitmaps alone, these are
 * written to a file of their own in one go through the sets, and the chunks
 * are of them: several times as many sets fit into one, and what probes is
 * prepared once and not for each chunk.  A set without keys has no partner and
 * is left out.  The candidates are compared later, see deferred.c.
 *
 * Where the measure is not symmetric the sets of one side probe all chunks that are not of
 * larger sets.  They are prepared for the first one, and written, see probe_file.c.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/join/engine/chunks.c
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "join/engine/chunks.h"
#include "join/engine/deferred.h"
#include "join/engine/spill.h"

/* A set in the file of keys; its bitmap and its keys follow. */
typedef struct KeyRecord
{
	uint32		number;			/* in the set file */
	uint32		size;
	uint32		nvalues;
	uint32		nkeys;
	uint64		sides;			/* on which it has rows */
} KeyRecord;

/* See chunks.h */
void
chunks_create(SetJoin *join, size_t fixed)
{
	Chunks	   *chunks = &join->spill->chunks;
	size_t		memory = join->params.memory;

	chunks->reader = &join->spill->file.reader;
	chunks->most_bytes = memory > fixed ? memory - fixed : 0;
	chunks->most_bytes = Max(chunks->most_bytes, memory / 4);
	arena_init(&chunks->arena, Min(Max(memory / 64, 1024), 64 * 1024));
	if (join->deferred != NULL)
	{
		chunks->most_bytes = memory / 100 * DEFERRED_CHUNK_SHARE;
		if (!runs_are_shared(join->spill))
			spillfile_create(&chunks->keys);
	}
}

static void
write_keys(SpillFile *file, const JoinSet *set)
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

/* See chunks.h */
bool
chunks_write_keys(SetJoin *join, JoinSet *set)
{
	join->algorithm->prepare(&join->search, set, true, true);
	if (set->nkeys > 0)
		write_keys(&join->spill->chunks.keys, set);
	return set->nkeys > 0;
}

/* See chunks.h */
void
chunks_end_keys(SetJoin *join)
{
	Chunks	   *chunks = &join->spill->chunks;

	counters_free(&join->search.counters);
	spillreader_create(&chunks->keys_reader, &chunks->keys,
					   spill_buffer(join));
	chunks->reader = &chunks->keys_reader;
	if (!runs_are_shared(join->spill))
		join->search.stats.disk += chunks->keys.size;
}

/* Rows that are somewhere. */
static Row	somewhere;

/* Reads the bitmap and the keys of a set to the place of sets that are read. */
static void
read_keys(SetJoin *join, JoinSet *set)
{
	SpillReader *reader = &join->spill->chunks.keys_reader;
	void	   *place = join->spill->file.place;
	KeyRecord	record;

	spillreader_read(reader, &record, sizeof(record));
	spillreader_read(reader, place,
					 bitmap_bytes(record.size) + sizeof(uint64) * record.nkeys);
	memset(set, 0, sizeof(JoinSet));
	set->key.high = (int64) ((uint64) record.size << SETKEY_HASH_BITS);
	set->key.low = record.number;
	set->size = record.size;
	set->nvalues = record.nvalues;
	set->nkeys = record.nkeys;
	set->values = set->keys = set_values(place, record.size);
	for (int side = SIDE_OUTER; side <= SIDE_INNER; side++)
		if ((record.sides & (1 << side)) != 0)
			set->rows[side] = &somewhere;
}

/*
 * Moves the bitmap of a set that has been read into the chunk, and those of its
 * keys that will be in the index.  To probe, it is read again.
 */
static void
keep_indexed_keys(SetJoin *join, JoinSet *set)
{
	size_t		bytes;
	char	   *place;

	set->nkeys = setjoin_indexed_keys(join, set);
	bytes = bitmap_bytes(set->size) + sizeof(uint64) * set->nkeys;
	place = arena_alloc(&join->spill->chunks.arena, bytes);
	memcpy(place, join->spill->file.place, bytes);
	set->values = set->keys = set_values(place, set->size);
}

/* Moves what has been made of a set into the chunk: bitmap, values, keys. */
static void
keep_set(Spill *spill, JoinSet *set)
{
	size_t		head = (char *) set->values - (char *) spill->file.place;
	size_t		body = head + sizeof(uint64) * set->nvalues;
	char	   *place = arena_alloc(&spill->chunks.arena,
									body + sizeof(uint64) * set->nkeys);

	memcpy(place, spill->file.place, body);
	memcpy(place + body, set->keys, sizeof(uint64) * set->nkeys);
	set->values = (uint64 *) (place + head);
	set->keys = (uint64 *) (place + body);
}

/* True if the set is wanted in a chunk. */
static bool
wanted_in_chunk(SetJoin *join, const SetRecord *record)
{
	return join->search.symmetric || record->rows[join->indexed].nrows > 0;
}

/* Reads the next set into the chunk; false if it is not wanted there. */
static bool
chunk_set(SetJoin *join, JoinSet *set)
{
	Spill	   *spill = join->spill;
	SetRecord	record;

	if (join->deferred != NULL)
	{
		read_keys(join, set);
		keep_indexed_keys(join, set);
		return true;
	}
	setfile_read(&spill->file, set, &record);
	if (!wanted_in_chunk(join, &record))
		return false;
	setfile_read_rows(&spill->file, set, &record, &spill->chunks.arena);
	setfile_read_values(&spill->file, set, &record);
	setjoin_prepare(join, set);
	keep_set(spill, set);
	return true;
}

/* Makes room for one more set. */
static void
chunk_room(SetJoin *join)
{
	Chunks	   *chunks = &join->spill->chunks;

	if (join->search.nsets < chunks->max_sets)
		return;
	if (chunks->max_sets == 0)
	{
		chunks->max_sets = 64;
		join->search.sets = palloc(chunks->max_sets * sizeof(JoinSet));
		return;
	}
	/* memory that has been taken for sets is gone for their postings */
	chunks->max_sets += Max(chunks->max_sets / 8, 64);
	join->search.sets = repalloc_huge(join->search.sets,
									  chunks->max_sets * sizeof(JoinSet));
}

/* Bytes of a chunk of that many sets and postings, with what it holds. */
static size_t
chunk_bytes(const Chunks *chunks, uint32 nsets, uint64 npostings)
{
	return chunks->arena.bytes + chunks->max_sets * sizeof(JoinSet) +
		setindex_bytes(nsets, npostings);
}

/* See chunks.h */
bool
chunks_next(SetJoin *join)
{
	Chunks	   *chunks = &join->spill->chunks;
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
		chunk_room(join);
		set = &join->search.sets[join->search.nsets];
		if (chunk_set(join, set))
		{
			join->search.nsets++;
			npostings += setjoin_indexed_keys(join, set);
		}
		if (chunk_bytes(chunks, join->search.nsets, npostings) > chunks->most_bytes)
			break;
	}
	chunks->next_chunk = spillreader_tell(reader);
	setjoin_account(join, join->params.memory - chunks->most_bytes +
					chunk_bytes(chunks, join->search.nsets, npostings));
	return join->search.nsets > 0;
}

/* See chunks.h */
void
chunks_free_sets(SetJoin *join)
{
	Chunks	   *chunks = &join->spill->chunks;

	arena_reset(&chunks->arena);
	if (chunks->max_sets > 0)
		pfree(join->search.sets);
	join->search.sets = NULL;
	join->search.nsets = chunks->max_sets = 0;
}

/* See chunks.h */
void
chunks_probe_from_this(SetJoin *join)
{
	Chunks	   *chunks = &join->spill->chunks;

	spillreader_seek(chunks->reader, chunks->this_chunk);
}

/* See chunks.h */
void
chunks_probe_from_next(SetJoin *join)
{
	Chunks	   *chunks = &join->spill->chunks;

	spillreader_seek(chunks->reader, chunks->next_chunk);
}

/* True if there will be another chunk. */
static bool
chunks_follow(const Chunks *chunks)
{
	return chunks->next_chunk < chunks->reader->file->size;
}

/* See chunks.h */
void
chunks_probe_all(SetJoin *join)
{
	Chunks	   *chunks = &join->spill->chunks;
	uint64		least;
	uint64		most;

	measure_sizes(join->search.measure, join->search.sets[0].size,
				  join->params.threshold, &least, &most);
	if (chunks->probes.complete)
		probe_file_begin(&chunks->probes, least);
	else
	{
		setfile_seek_size(&join->spill->file, least);
		if (chunks->this_chunk == 0 && chunks_follow(chunks))
			probe_file_create(&chunks->probes);
	}
}

/* True if sets are prepared and written that probe the first of several chunks. */
static bool
writes_probes(const Chunks *chunks)
{
	return chunks->probes.file.file != NULL && !chunks->probes.complete &&
		chunks->this_chunk == 0;
}

/* The next set of the set file that has rows of the side that probes, or NULL. */
static JoinSet *
next_of_probing(SetJoin *join)
{
	JoinSet    *set;

	do
	{
		CHECK_FOR_INTERRUPTS();
		set = setfile_next(&join->spill->file);
	} while (set != NULL && set->rows[join->probing] == NULL);
	return set;
}

/* The same, prepared and written if others will follow this chunk. */
static JoinSet *
next_to_write(SetJoin *join)
{
	Chunks	   *chunks = &join->spill->chunks;
	JoinSet    *set = next_of_probing(join);

	if (!writes_probes(chunks))
		return set;
	if (set == NULL)
	{
		probe_file_end(&chunks->probes, spill_buffer(join));
		join->search.stats.disk += chunks->probes.file.size;
		return NULL;
	}
	join->algorithm->prepare(&join->search, set, false, true);
	probe_file_add(&chunks->probes, set);
	return set;
}

/* See chunks.h */
JoinSet *
chunks_next_probe(SetJoin *join)
{
	Chunks	   *chunks = &join->spill->chunks;

	if (!join->search.symmetric)
		return chunks->probes.complete ?
			probe_file_next(&chunks->probes, &join->spill->file, join->search.room) :
			next_to_write(join);
	if (join->deferred == NULL)
		return setfile_next(&join->spill->file);
	if (spillreader_at_end(&chunks->keys_reader))
		return NULL;
	read_keys(join, &chunks->probe);
	return &chunks->probe;
}

/* See chunks.h */
bool
chunks_probe_is_prepared(const SetJoin *join)
{
	const Chunks *chunks = &join->spill->chunks;

	return join->deferred != NULL || chunks->probes.complete ||
		writes_probes(chunks);
}

/* See chunks.h */
void
chunks_read_probe_values(SetJoin *join, JoinSet *set)
{
	if (join->spill->chunks.probes.complete)
		probe_file_read_values(&join->spill->chunks.probes, set);
}

/* See chunks.h */
void
chunks_close(Chunks *chunks)
{
	spillfile_close(&chunks->keys);
	for (int i = 0; i < chunks->nkey_files; i++)
		spillfile_close(&chunks->key_files[i]);
	probe_file_close(&chunks->probes);
}
