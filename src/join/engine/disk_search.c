/*
 * disk_search.c
 *		The search of a join whose sets are on disk: by chunks, by deferred
 *		candidates.
 *
 * Sets are read in chunks that fit into memory, and a chunk is indexed.  With
 * a symmetric measure its matches are in itself and after it, so only sets
 * after it that are not too large are read to probe it.
 *
 * If an algorithm finds candidates by keys and bitmaps alone, chunks have only
 * keys and bitmaps: several times as many sets fit into one, and a set is
 * prepared once.  A set without keys has no match and is skipped.  Candidates
 * are deferred (deferred.h), and compared when there are many, and at the end.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "base/memory.h"
#include "join/engine/deferred.h"
#include "join/engine/join_state.h"
#include "join/engine/spill.h"

/*
 * Percentages of memory: of a chunk of keys; of pairs of candidates; of a
 * block of sets that are compared, before and after the last chunk.
 */
#define DEFERRED_CHUNK_SHARE	62
#define DEFERRED_PAIRS_SHARE	16
#define DEFERRED_BLOCK_SHARE	12
#define DEFERRED_LAST_SHARE		72

/* Head of the keys of a set; its bitmap and the keys follow. */
typedef struct KeyRecord
{
	uint32		number;			/* number of the set in the set file */
	uint32		size;
	uint32		nvalues;
	uint32		nkeys;
	uint64		sides;			/* sides on which it has rows, as bits */
} KeyRecord;

typedef struct Chunks
{
	size_t		max_bytes;		/* bytes that a chunk may take */
	Arena		arena;			/* its values, keys and rows */
	uint32		max_sets;		/* allocated in join->search.sets */
	SpillReader keys;			/* reader of keys, if chunks are of keys */
	SpillReader *reader;		/* reader of keys or else of sets */
	uint64		this_chunk;		/* offset in that file */
	uint64		next_chunk;
	uint64		first_probe;	/* offset of the first set large enough to
								 * probe, if the measure is not symmetric */
	JoinSet		probe;			/* whose keys were read last */
	Deferred	deferred;
	bool		last;			/* there are no more chunks */
} Chunks;

void
chunks_create(JoinEngine *join, size_t fixed)
{
	Chunks	   *chunks = palloc0(sizeof(Chunks));
	size_t		memory = join->params.memory;
	size_t		block = Min(Max(memory / 512, 1024), 64 * 1024);

	join->spill->chunks = chunks;
	chunks->reader = &join->spill->file.reader;
	chunks->max_bytes = Max(memory > fixed ? memory - fixed : 0, memory / 4);
	arena_init(&chunks->arena, block);
	deferred_create(&chunks->deferred, memory / 100 * DEFERRED_PAIRS_SHARE,
					block);
}

void
keys_write(SpillFile *file, const JoinSet *set)
{
	KeyRecord	record = {
		.number = set_number(set),.size = set->size,.nvalues = set->nvalues,
		.nkeys = set->nkeys,.sides = set_sides(set)
	};
	size_t		bytes = bitmap_bytes(set->size);

	spillfile_write(file, &record, sizeof(record));
	spillfile_write(file, (char *) set->values - bytes, bytes);
	spillfile_write(file, set->keys, sizeof(uint64) * set->nkeys);
}

/*
 * Read the next bitmap and keys into the place for values of the set file;
 * NULL at the end.
 */
static JoinSet *
next_keys(JoinEngine *join)
{
	Chunks	   *chunks = join->spill->chunks;
	JoinSet    *set = &chunks->probe;
	void	   *place = join->spill->file.place;
	KeyRecord	record;

	if (spillreader_at_end(&chunks->keys))
		return NULL;
	spillreader_read(&chunks->keys, &record, sizeof(record));
	spillreader_read(&chunks->keys, place,
					 bitmap_bytes(record.size) +
					 sizeof(uint64) * record.nkeys);
	memset(set, 0, sizeof(JoinSet));
	set->number = record.number;
	set->size = record.size;
	set->nvalues = record.nvalues;
	set->nkeys = record.nkeys;
	set->values = set->keys = set_values(place, record.size);
	for (int side = SIDE_OUTER; side <= SIDE_INNER; side++)
		if ((record.sides & (1 << side)) != 0)
			set->rows[side] = rows_somewhere();
	return set;
}

/* Read the next set, or its keys; NULL at the end. */
static JoinSet *
next_set(JoinEngine *join)
{
	return join->spill->by_keys ? next_keys(join) :
		setfile_next(&join->spill->file);
}

/*
 * Read the next set into the chunk: bitmap, values and keys; or bitmap and
 * indexed keys.  False if it has no rows of an indexed side.
 */
static bool
load_set(JoinEngine *join, JoinSet *set)
{
	Chunks	   *chunks = join->spill->chunks;
	SetFile    *file = &join->spill->file;
	size_t		head;
	size_t		body;
	char	   *place;

	*set = *next_set(join);
	if (!engine_is_indexed(join, set))
		return false;
	head = body = bitmap_bytes(set->size);
	if (join->spill->by_keys)
		set->nkeys = engine_indexed_keys(join, set);
	else
	{
		setfile_read_rows(file, set, &chunks->arena, file->max_group);
		setfile_read_values(file);
		engine_prepare(join, set);
		body += sizeof(uint64) * set->nvalues;
	}
	place = arena_alloc(&chunks->arena, body + sizeof(uint64) * set->nkeys);
	memcpy(place, file->place, body);
	memcpy(place + body, set->keys, sizeof(uint64) * set->nkeys);
	set->values = (uint64 *) (place + head);
	set->keys = (uint64 *) (place + body);
	return true;
}

/*
 * Load the next chunk into join->search.sets; false if there is none.  A chunk
 * has at least one set, however large.
 */
static bool
load_chunk(JoinEngine *join)
{
	Chunks	   *chunks = join->spill->chunks;
	uint64		npostings = 0;
	size_t		bytes = 0;

	arena_reset(&chunks->arena);
	join->search.nsets = 0;
	chunks->this_chunk = chunks->next_chunk;
	spillreader_seek(chunks->reader, chunks->this_chunk);
	while (!spillreader_at_end(chunks->reader) && bytes <= chunks->max_bytes)
	{
		JoinSet    *set;

		CHECK_FOR_INTERRUPTS();
		/* in small steps, to leave memory for postings */
		if (join->search.nsets == chunks->max_sets)
		{
			chunks->max_sets += Max(chunks->max_sets / 8, 64);
			join->search.sets = chunks->max_sets == 64 ?
				palloc(64 * sizeof(JoinSet)) :
				repalloc_huge(join->search.sets,
							  chunks->max_sets * sizeof(JoinSet));
		}
		set = &join->search.sets[join->search.nsets];
		if (load_set(join, set))
		{
			join->search.nsets++;
			npostings += join->algorithm->own_index ?
				join->algorithm->max_indexed(&join->search, set) :
				engine_indexed_keys(join, set);
		}
		bytes = chunks->arena.bytes + chunks->max_sets * sizeof(JoinSet) +
			inverted_index_bytes(join->search.nsets, npostings);
	}
	chunks->next_chunk = spillreader_tell(chunks->reader);
	engine_account(join, join->params.memory - chunks->max_bytes + bytes);
	return join->search.nsets > 0;
}

/*
 * Go to the first set that probes the chunk.  With a symmetric measure: its
 * own first set, if only keys are in memory, or else the first one after it.
 * Otherwise: the first set of the file that is large enough.
 */
static void
begin_probes(JoinEngine *join)
{
	Chunks	   *chunks = join->spill->chunks;
	const JoinSet *set;
	uint64		least;
	uint64		most;

	if (join->search.symmetric)
	{
		spillreader_seek(chunks->reader,
						 join->spill->by_keys ? chunks->this_chunk :
						 chunks->next_chunk);
		return;
	}
	measure_sizes(join->search.measure, join->search.sets[0].size,
				  join->search.threshold,
				  &least, &most);
	spillreader_seek(chunks->reader, chunks->first_probe);
	while ((set = next_set(join)) != NULL && set->size < least)
	{
		CHECK_FOR_INTERRUPTS();
		chunks->first_probe = spillreader_tell(chunks->reader);
	}
	spillreader_seek(chunks->reader, chunks->first_probe);
}

/* True if sets of that size, and larger ones, have no match in the chunk. */
static bool
is_too_large(JoinEngine *join, uint32 size)
{
	uint64		least;
	uint64		most;

	if (!join->algorithm->sized)
		return false;
	measure_sizes(join->search.measure,
				  join->search.sets[join->search.nsets - 1].size,
				  join->search.threshold, &least, &most);
	return size > most;
}

/* Match the next set with itself; false if there is none. */
static bool
next_self(JoinEngine *join)
{
	SetFile    *file = &join->spill->file;
	JoinSet    *set = setfile_next(file);

	if (set == NULL)
		return false;
	if (probe_is_claimed(join) && set_sides(set) == 3)
	{
		if (!join->spill->by_keys && join->algorithm->reflexive != NULL)
			setfile_read_values(file);
		setfile_load_rows(file);
		probe_add_itself(join, set);
	}
	return true;
}

/* Defer the candidates of the last probe whose bitmaps may match. */
static void
defer_candidates(JoinEngine *join, const JoinSet *probing)
{
	Deferred   *deferred = &join->spill->chunks->deferred;

	for (uint32 i = 0; i < join->search.index.ncandidates; i++)
	{
		const JoinSet *set = probe_candidate(join, i);

		CHECK_FOR_INTERRUPTS();
		if (set_number(set) == set_number(probing) ||
			!join->algorithm->may_match(&join->search, set, probing))
			continue;
		deferred_add(deferred, set_number(set), set_number(probing));
	}
}

/* Probe the chunk by a set, and defer or verify its candidates. */
static void
probe_chunk(JoinEngine *join, JoinSet *set, bool in_chunk)
{
	bool		by_keys = join->spill->by_keys;
	bool		from_file = !by_keys && !in_chunk;

	if (from_file)
	{
		setfile_read_values(&join->spill->file);
		join->algorithm->prepare(&join->search, set, false, true);
	}
	if (probe_index(join, set) == 0)
		return;
	if (from_file)
		setfile_load_rows(&join->spill->file);
	if (by_keys)
		defer_candidates(join, set);
	else
		probe_verify(join, set);
}

/*
 * Probe the chunk by the next set: with a symmetric measure its own sets come
 * first.  False if no further set can have a match.
 */
static bool
probe_next(JoinEngine *join)
{
	uint32		number = join->next++;
	bool		in_chunk = join->search.symmetric &&
	number < join->search.nsets;
	bool		in_memory = in_chunk && !join->spill->by_keys;
	JoinSet    *set = in_memory ? &join->search.sets[number] :
	next_set(join);

	if (set == NULL || is_too_large(join, set->size))
		return false;
	join->search.index.limit = in_chunk ? number : join->search.nsets;
	if (in_chunk)
		probe_fetch_ahead(join, number);
	if (probe_is_claimed(join) &&
		(join->search.symmetric || set_has_rows(set, join->probing)))
		probe_chunk(join, set, in_chunk);
	if (in_chunk)
		probe_add_next(join, &join->search.sets[number]);
	return true;
}

/* Begin to compare the deferred candidates, if there are any. */
static void
begin_compare(JoinEngine *join, bool last)
{
	Chunks	   *chunks = join->spill->chunks;

	chunks->last = last;
	deferred_begin(&chunks->deferred);
	join->phase = SEARCH_COMPARE;
}

/*
 * Load and probe the next chunk; after the last one, compare what is
 * deferred.
 */
static void
next_chunk(JoinEngine *join)
{
	Chunks	   *chunks = join->spill->chunks;

	probe_end_chunk(join);
	if (load_chunk(join))
	{
		probe_begin_chunk(join);
		begin_probes(join);
		return;
	}
	arena_reset(&chunks->arena);
	if (join->search.sets != NULL)
		pfree(join->search.sets);
	join->search.sets = NULL;
	chunks->max_sets = 0;
	begin_compare(join, true);
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

/* DeferredLoad: also the rows, if they are not larger than the values. */
static void
load_found(void *context, uint32 number, JoinSet *set, Arena *arena)
{
	JoinEngine *join = context;
	const JoinSet *from = read_set(&join->spill->file, number);
	size_t		bytes = sizeof(uint64) * from->size;

	*set = *from;
	set->values = arena_alloc(arena, bytes);
	memcpy(set->values, from->values, bytes);
	setfile_read_rows(&join->spill->file, set, arena, bytes);
}

/*
 * Compare the next set that has deferred candidates with them; false if there
 * is none.
 */
static bool
compare_next(JoinEngine *join)
{
	Chunks	   *chunks = join->spill->chunks;
	Deferred   *deferred = &chunks->deferred;
	size_t		most = join->params.memory / 100 *
	(chunks->last ? DEFERRED_LAST_SHARE : DEFERRED_BLOCK_SHARE);
	uint32		number;
	const JoinSet *probing;
	const JoinSet *set;

	if (!deferred_next_probing(deferred, &number))
		return deferred_next_block(deferred, most, load_found, join);
	probing = read_set(&join->spill->file, number);
	while ((set = deferred_next_found(deferred, number)) != NULL)
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

/* join->advance */
static void
disk_advance(JoinEngine *join)
{
	Chunks	   *chunks = join->spill->chunks;

	switch (join->phase)
	{
		case SEARCH_SELVES:
			if (!next_self(join))
				next_chunk(join);
			break;
		case SEARCH_CHUNK:
			if (!probe_next(join))
				next_chunk(join);
			else if (deferred_is_full(&chunks->deferred))
				begin_compare(join, false);
			break;
		case SEARCH_COMPARE:
			if (!compare_next(join))
				join->phase = chunks->last ? SEARCH_END : SEARCH_CHUNK;
			break;
		default:
			Assert(false);
	}
}

void
disk_search_begin(JoinEngine *join)
{
	Spill	   *spill = join->spill;
	Chunks	   *chunks = spill->chunks;

	if (spill->by_keys)
	{
		for (int i = 0; i < MAX_SPILL_SHARES; i++)
			spillfile_add_piece(&spill->keys, &spill->shares->keys[i]);
		spillreader_create(&chunks->keys, &spill->keys, engine_buffer(join));
		chunks->reader = &chunks->keys;
		chunks->max_bytes = join->params.memory / 100 * DEFERRED_CHUNK_SHARE;
	}
	setfile_seek(&spill->file, 0);
	join->search.only_keys = spill->by_keys;
	join->phase = SEARCH_SELVES;
	join->advance = disk_advance;
}
