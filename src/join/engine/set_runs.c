/*
 * set_runs.c
 *		Sets on disk, in sorted runs.
 *
 * Sets that come in are collected in memory.  When they have no more room they are put in
 * order of their keys and appended to a file as a run.  Rows of sets that have come
 * before are there too, behind their sets, where they are small or others read the runs.
 * In the end the runs are merged; but what is written then is only where each set is, by
 * our caller.  The sets stay in their runs and are read there.  Whoever asks for them in
 * the order of their keys reads each run forward.  A sort that gives out the sets
 * themselves has them written twice.
 *
 * Each run that is read has a buffer, so only so many can be merged at once.  When
 * there are twice as many they become two runs of the next level, and the file in
 * which they were is closed.  In the end no more runs are written anew than have to be.
 *
 * Where several processes each write some of the sets, their files are where all can
 * read them, and each merges the runs of all in some shares of the sets.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/join/engine/set_runs.c
 */
#include "postgres.h"

#include "lib/binaryheap.h"
#include "miscadmin.h"

#include "base/growing.h"
#include "join/engine/set_runs.h"

/* Fewest runs that are read at once, and most. */
#define FEWEST_RUNS		4
#define MAX_RUNS		256

/*
 * There may be as many runs as have a block each in one part in so many of the
 * memory: buffers stay when that is used for other things.
 */
#define BUFFERS_PART	8

#define LARGEST_BUFFER	((size_t) 256 * 1024)

/* Files of several processes have names by which all find them. */
#define FILE_OF_RUNS	"similarity_join_runs_%d_%u"
#define DIRECTORY		"similarity_join_directory_%d"

/* What a directory says of a level; the ends of its runs follow, then samples. */
typedef struct SharedLevel
{
	uint64		bytes;
	uint64		nsamples;
	uint32		number;
	uint32		nruns;
} SharedLevel;

/* Bytes of a file for one sample. */
#define SAMPLED_BYTES	((uint64) 64 * 1024)

/* RunHead.row */
#define ROW_HEAD(bytes, side)	((bytes) << 1 | (side))
#define HEAD_ROW_BYTES(head)	((head)->row >> 1)
#define HEAD_ROW_SIDE(head)		((head)->row & 1)

/* Room for the data of a row, at first. */
#define ROW_ROOM		512

/* The place of a set: the number of its run, then where its values are in the file. */
#define PLACE_BITS		48
#define PLACE_MASK		((UINT64CONST(1) << PLACE_BITS) - 1)

/* The order of two keys, each of a set or of one of its rows, which come later. */
static inline int
compare_keys(SetKey a, bool a_is_row, SetKey b, bool b_is_row)
{
	if (a.high != b.high)
		return a.high < b.high ? -1 : 1;
	if (a.low != b.low)
		return a.low < b.low ? -1 : 1;
	return (int) a_is_row - (int) b_is_row;
}

#define ST_SORT sort_pending
#define ST_ELEMENT_TYPE PendingSet
#define ST_COMPARE(a, b) \
	compare_keys((a)->key, (a)->values == NULL, (b)->key, (b)->values == NULL)
#define ST_SCOPE static
#define ST_CHECK_FOR_INTERRUPTS
#define ST_DEFINE
#include "lib/sort_template.h"

/* See set_runs.h */
void
setruns_create(SetRuns *runs, size_t most_bytes, const RunsPlace *place)
{
	memset(runs, 0, sizeof(SetRuns));
	runs->most_bytes = most_bytes;
	runs->pending_bytes = most_bytes;
	arena_init(&runs->arena, Min(Max(most_bytes / 64, 1024), 64 * 1024));
	runs->most_runs = Min(Max(most_bytes / BUFFERS_PART / BLCKSZ, FEWEST_RUNS),
						  MAX_RUNS);
	runs->place = *place;
	runs->largest_row = ROW_ROOM;
	runs->row = palloc(RUN_ROW_HEAD + runs->largest_row);
}

/* Frees what sets take in memory; there are none. */
static void
free_pending(SetRuns *runs)
{
	Assert(runs->npending == 0);
	arena_reset(&runs->arena);
	if (runs->pending != NULL)
		pfree(runs->pending);
	runs->pending = NULL;
	runs->max_pending = 0;
}

/* See set_runs.h */
void
setruns_limit(SetRuns *runs, size_t bytes)
{
	setruns_flush(runs);
	free_pending(runs);
	runs->pending_bytes = Min(bytes, runs->most_bytes);
}

/* Runs are written */

static size_t
values_bytes(uint32 nvalues)
{
	return sizeof(uint64) * nvalues;
}

static void
file_name(char *name, int part, uint32 number)
{
	snprintf(name, MAXPGPATH, FILE_OF_RUNS, part, number);
}

/* Opens the file of a level if there is none. */
static SpillFile *
level_file(SetRuns *runs, RunLevel *level)
{
	char		name[MAXPGPATH];

	if (level->file.file != NULL)
		return &level->file;
	if (runs->place.files == NULL)
		spillfile_create(&level->file);
	else
	{
		level->number = runs->nfiles++;
		file_name(name, runs->place.part, level->number);
		spillfile_create_in(&level->file, runs->place.files, name);
	}
	return &level->file;
}

/* Closes the file of a level that this process has written, and deletes it. */
static void
close_level(const SetRuns *runs, RunLevel *level)
{
	char		name[MAXPGPATH];

	if (level->file.file == NULL)
		return;
	spillfile_close(&level->file);
	if (runs->place.files == NULL)
		return;
	file_name(name, runs->place.part, level->number);
	spillfile_delete(runs->place.files, name);
}

/* Runs that a level may have: all of them are merged before there is another. */
static uint32
level_room(const SetRuns *runs)
{
	return runs->most_runs * 2;
}

/* What has been written to the file since the last run is one. */
static void
end_run(SetRuns *runs, RunLevel *level)
{
	if (level->ends == NULL)
		level->ends = palloc(level_room(runs) * sizeof(uint64));
	Assert(level->nruns < level_room(runs));
	level->ends[level->nruns++] = level->file.size;
}

/* Takes a sample of what is about to be written, if it is time, for those who merge shares. */
static void
take_sample(const SetRuns *runs, RunLevel *level, SetKey key)
{
	uint64		place = level->file.size;

	if (runs->place.files == NULL ||
		(level->nsamples > 0 &&
		 place - level->samples[level->nsamples - 1].place < SAMPLED_BYTES))
		return;
	level->samples = growing_reserve(level->samples, &level->max_samples,
									 level->nsamples + 1, sizeof(RunSample));
	level->samples[level->nsamples++] = (RunSample) {key, place};
}

static void
write_pending(const SetRuns *runs, RunLevel *level, const PendingSet *set)
{
	SpillFile  *file = &level->file;
	RunHead		head = {.key = set->key};

	if (set->values != NULL)
		head.nvalues = SETKEY_SIZE(set->key);
	if (set->row != NULL)
		head.row = ROW_HEAD(set->row->bytes, set->row->side);
	take_sample(runs, level, set->key);
	spillfile_write(file, &head, sizeof(head));
	if (head.nvalues > 0)
		spillfile_write(file, set->values, values_bytes(head.nvalues));
	if (set->row != NULL)
		spillfile_write(file, set->row->data, set->row->bytes);
}

/* Runs are read */

/* Reads the head of the run's next set; false if there is none. */
static bool
read_head(Run *run)
{
	if (spillreader_tell(&run->reader) == run->end)
		return false;
	spillreader_read(&run->reader, &run->head, sizeof(RunHead));
	return true;
}

/* A heap has the greatest first; so the least key counts as the greatest. */
static int
compare_runs(Datum a, Datum b, void *arg)
{
	const SetRuns *runs = arg;
	const RunHead *head_a = &runs->runs[DatumGetUInt32(a)].head;
	const RunHead *head_b = &runs->runs[DatumGetUInt32(b)].head;

	return -compare_keys(head_a->key, head_a->nvalues == 0,
						 head_b->key, head_b->nvalues == 0);
}

static Run *
first_run(const SetRuns *runs)
{
	return &runs->runs[DatumGetUInt32(binaryheap_first(runs->heap))];
}

/* There will be n runs to read, with that many bytes for all buffers. */
static void
prepare_runs(SetRuns *runs, uint32 n, size_t buffers)
{
	runs->runs = palloc(Max(n, 1) * sizeof(Run));
	runs->nruns = 0;
	runs->buffer = Min(Max(buffers / Max(n, 1), BLCKSZ), LARGEST_BUFFER);
}

/* Opens the last n runs of a level. */
static void
open_runs(SetRuns *runs, RunLevel *level, uint32 n)
{
	for (uint32 i = level->nruns - n; i < level->nruns; i++)
	{
		Run		   *run = &runs->runs[runs->nruns++];

		run->level = level;
		run->begin = i > 0 ? level->ends[i - 1] : 0;
		run->end = level->ends[i];
		spillreader_create(&run->reader, &level->file, runs->buffer);
		spillreader_seek(&run->reader, run->begin);
	}
}

/* Runs of this process that are not exported. */
static uint32
count_runs(const SetRuns *runs)
{
	uint32		n = 0;

	for (int i = 0; i < RUN_LEVELS; i++)
		n += runs->levels[i].nruns;
	return n;
}

/* And those of all. */
static uint32
count_shared_runs(const SetRuns *runs)
{
	uint32		n = 0;

	for (uint32 i = 0; i < runs->nshared; i++)
		n += runs->shared[i].nruns;
	return n;
}

/* Opens all runs. */
static void
open_all(SetRuns *runs, size_t buffers)
{
	prepare_runs(runs, count_runs(runs) + count_shared_runs(runs), buffers);
	for (int i = 0; i < RUN_LEVELS; i++)
		open_runs(runs, &runs->levels[i], runs->levels[i].nruns);
	for (uint32 i = 0; i < runs->nshared; i++)
		open_runs(runs, &runs->shared[i], runs->shared[i].nruns);
}

static void
close_runs(SetRuns *runs)
{
	for (uint32 i = 0; i < runs->nruns; i++)
		pfree(runs->runs[i].reader.buffer);
	pfree(runs->runs);
	runs->runs = NULL;
	runs->nruns = 0;
}

/* True if a set or row belongs to a share before the one that has that border. */
static inline bool
is_before(SetKey key, SetKey border)
{
	return compare_keys(key, false, border, false) < 0;
}

/* The place of a record of a run from which on one may come that is not before a border. */
static uint64
place_before(const Run *run, SetKey border)
{
	const RunLevel *level = run->level;
	size_t		low = 0;
	size_t		high = level->nsamples;

	/* samples of earlier runs first, which are not in the order of keys with these */
	while (low < high)
	{
		size_t		middle = low + (high - low) / 2;
		const RunSample *sample = &level->samples[middle];

		if (sample->place < run->begin ||
			(sample->place < run->end && is_before(sample->key, border)))
			low = middle + 1;
		else
			high = middle;
	}
	return low == 0 ? run->begin : Max(level->samples[low - 1].place, run->begin);
}

/* Passes over the rest of a record whose head has been read. */
static void
skip_record(Run *run)
{
	spillreader_seek(&run->reader, spillreader_tell(&run->reader) +
					 values_bytes(run->head.nvalues) + HEAD_ROW_BYTES(&run->head));
}

/* Reads the head of the run's first set from a border on; false if there is none. */
static bool
read_head_from(Run *run, SetKey border)
{
	spillreader_seek(&run->reader, place_before(run, border));
	while (read_head(run))
	{
		CHECK_FOR_INTERRUPTS();
		if (!is_before(run->head.key, border))
			return true;
		skip_record(run);
	}
	return false;
}

/* The runs that are open give out their sets in order, from a border on or NULL. */
static void
begin_merge(SetRuns *runs, const SetKey *border)
{
	runs->heap = binaryheap_allocate(Max(runs->nruns, 1), compare_runs, runs);
	for (uint32 i = 0; i < runs->nruns; i++)
	{
		Run		   *run = &runs->runs[i];

		if (border == NULL ? read_head(run) : read_head_from(run, *border))
			binaryheap_add_unordered(runs->heap, UInt32GetDatum(i));
	}
	binaryheap_build(runs->heap);
}

static void
end_merge(SetRuns *runs)
{
	if (runs->heap == NULL)
		return;
	binaryheap_free(runs->heap);
	runs->heap = NULL;
}

/* The set of the first run has been read: goes on to the next one. */
static void
advance(SetRuns *runs, Run *run)
{
	if (read_head(run))
		binaryheap_replace_first(runs->heap, binaryheap_first(runs->heap));
	else
		(void) binaryheap_remove_first(runs->heap);
}

static void
copy_bytes(SpillReader *from, SpillFile *to, size_t len)
{
	char		piece[1024];

	while (len > 0)
	{
		size_t		n = Min(len, sizeof(piece));

		spillreader_read(from, piece, n);
		spillfile_write(to, piece, n);
		len -= n;
	}
}

/* The last n runs of a level become one of the next level. */
static void
raise_runs(SetRuns *runs, int number, uint32 n)
{
	RunLevel   *level = &runs->levels[number];
	RunLevel   *next = &runs->levels[number + 1];
	SpillFile  *file = level_file(runs, next);
	uint64		left = n < level->nruns ? level->ends[level->nruns - n - 1] : 0;

	prepare_runs(runs, n, runs->most_bytes / 2);
	open_runs(runs, level, n);
	begin_merge(runs, NULL);
	while (!binaryheap_empty(runs->heap))
	{
		Run		   *run = first_run(runs);

		CHECK_FOR_INTERRUPTS();
		take_sample(runs, next, run->head.key);
		spillfile_write(file, &run->head, sizeof(RunHead));
		copy_bytes(&run->reader, file,
				   values_bytes(run->head.nvalues) + HEAD_ROW_BYTES(&run->head));
		advance(runs, run);
	}
	end_merge(runs);
	close_runs(runs);
	level->nruns -= n;
	while (level->nsamples > 0 && level->samples[level->nsamples - 1].place >= left)
		level->nsamples--;
	if (level->nruns == 0)
		close_level(runs, level);
	end_run(runs, next);
}

/*
 * Leaves no more than so many runs.  A level gets two more from the one below at the
 * most.  It has room for them: so far it got them in twos, too.
 */
static void
merge_few(SetRuns *runs, uint32 most)
{
	/* those of lower levels are shorter */
	for (int i = 0; count_runs(runs) > most;)
	{
		uint32		too_many = count_runs(runs) - most;
		uint32		n = Min(runs->levels[i].nruns, runs->most_runs);

		if (n == 0)
			i++;
		else
			raise_runs(runs, i, Min(n, too_many + 1));
	}
}

/* Sets come in */

/* Writes the sets that are in memory, as a run. */
static void
write_run(SetRuns *runs)
{
	RunLevel   *level = &runs->levels[0];

	(void) level_file(runs, level);
	sort_pending(runs->pending, runs->npending);
	for (size_t i = 0; i < runs->npending; i++)
	{
		CHECK_FOR_INTERRUPTS();
		write_pending(runs, level, &runs->pending[i]);
	}
	end_run(runs, level);
	runs->npending = 0;
	arena_rewind(&runs->arena);
}

/* See set_runs.h */
void
setruns_flush(SetRuns *runs)
{
	if (runs->npending == 0)
		return;
	write_run(runs);
	for (int i = 0; runs->levels[i].nruns == level_room(runs); i++)
	{
		free_pending(runs);
		raise_runs(runs, i, runs->most_runs);
		raise_runs(runs, i, runs->most_runs);
	}
}

/* True if there is room for one more, with that many bytes of data. */
static bool
has_room(const SetRuns *runs, size_t bytes)
{
	size_t		sets = runs->max_pending;

	if (runs->npending == sets)
		sets *= 2;
	return runs->arena.bytes + bytes + sets * sizeof(PendingSet) <=
		runs->pending_bytes;
}

/* Adds a set whose values and row will stay until it is written. */
static PendingSet *
add_pending(SetRuns *runs, SetKey key, const uint64 *values, const RunRow *row)
{
	PendingSet *set;

	runs->pending = growing_reserve(runs->pending, &runs->max_pending,
									runs->npending + 1, sizeof(PendingSet));
	set = &runs->pending[runs->npending++];
	*set = (PendingSet) {key, values, row};
	return set;
}

static void *
keep(SetRuns *runs, const void *data, size_t bytes)
{
	return memcpy(arena_alloc(&runs->arena, bytes), data, bytes);
}

/* See set_runs.h */
void
setruns_add(SetRuns *runs, SetKey key, const uint64 *values, const RunRow *row)
{
	size_t		bytes = values == NULL ? 0 : values_bytes(SETKEY_SIZE(key));
	size_t		row_bytes = row == NULL ? 0 : RUN_ROW_HEAD + row->bytes;
	PendingSet *set;
	bool		fits;

	if (!has_room(runs, bytes + row_bytes))
		setruns_flush(runs);
	/* small sets before it may have made the array of sets large */
	if (!has_room(runs, bytes + row_bytes))
		free_pending(runs);
	fits = has_room(runs, bytes + row_bytes);
	set = add_pending(runs, key, values, row);
	if (!fits)
	{
		/* even alone: it is a run of its own, and not copied */
		setruns_flush(runs);
		return;
	}
	if (values != NULL)
		set->values = keep(runs, values, bytes);
	if (row != NULL)
		set->row = keep(runs, row, row_bytes);
}

/* See set_runs.h */
void
setruns_add_kept(SetRuns *runs, SetKey key, const uint64 *values)
{
	if (!has_room(runs, 0))
		setruns_flush(runs);
	add_pending(runs, key, values, NULL);
}

/* Sets are looked at while more are to come */

/* See set_runs.h */
void
setruns_scan_begin(SetRuns *runs, RunsScan *scan, size_t buffer)
{
	scan->runs = runs;
	scan->level = 0;
	spillreader_create(&scan->reader, &runs->levels[0].file, buffer);
}

/* Goes to the next level once all of a file has been read; false if there is none. */
static bool
scan_has_more(RunsScan *scan)
{
	while (scan->reader.file->file == NULL || spillreader_at_end(&scan->reader))
	{
		if (scan->level == RUN_LEVELS - 1)
			return false;
		spillreader_turn(&scan->reader, &scan->runs->levels[++scan->level].file);
	}
	return true;
}

/* See set_runs.h */
bool
setruns_scan_next(RunsScan *scan, uint64 *values, uint32 *n)
{
	SpillReader *reader = &scan->reader;

	while (scan_has_more(scan))
	{
		RunHead		head;

		CHECK_FOR_INTERRUPTS();
		spillreader_read(reader, &head, sizeof(head));
		*n = head.nvalues;
		spillreader_read(reader, values, values_bytes(head.nvalues));
		spillreader_seek(reader, spillreader_tell(reader) + HEAD_ROW_BYTES(&head));
		if (head.nvalues > 0)
			return true;
	}
	return false;
}

/* See set_runs.h */
void
setruns_scan_end(RunsScan *scan)
{
	for (int i = 0; i < RUN_LEVELS; i++)
		if (scan->runs->levels[i].file.file != NULL)
			spillfile_to_end(&scan->runs->levels[i].file);
	pfree(scan->reader.buffer);
}

/* Runs of several processes */

/* Tells of a level in the directory, and leaves its file to all. */
static void
export_level(SetRuns *runs, RunLevel *level, SpillFile *directory)
{
	SharedLevel shared = {
		.bytes = level->file.size,.nsamples = level->nsamples,
		.number = level->number,.nruns = level->nruns
	};

	if (level->nruns == 0)
		return;
	spillfile_export(&level->file);
	spillfile_close(&level->file);
	spillfile_write(directory, &shared, sizeof(shared));
	spillfile_write(directory, level->ends, sizeof(uint64) * level->nruns);
	spillfile_write(directory, level->samples, sizeof(RunSample) * level->nsamples);
	runs->exported += shared.bytes;
	pfree(level->samples);
	level->samples = NULL;
	level->nruns = level->nsamples = level->max_samples = 0;
}

/* See set_runs.h.  Each process will have a buffer for each of the runs of all. */
uint64
setruns_export(SetRuns *runs)
{
	char		name[MAXPGPATH];
	SpillFile	directory;

	setruns_flush(runs);
	free_pending(runs);
	merge_few(runs, Max(runs->most_runs / runs->place.nparts, 1));
	snprintf(name, MAXPGPATH, DIRECTORY, runs->place.part);
	spillfile_create_in(&directory, runs->place.files, name);
	for (int i = 0; i < RUN_LEVELS; i++)
		export_level(runs, &runs->levels[i], &directory);
	spillfile_export(&directory);
	spillfile_close(&directory);
	return directory.size;
}

/* Opens the next level that a directory tells of. */
static void
import_level(SetRuns *runs, int part, SpillReader *directory)
{
	char		name[MAXPGPATH];
	SharedLevel shared;
	RunLevel   *level;

	spillreader_read(directory, &shared, sizeof(shared));
	runs->shared = growing_reserve(runs->shared, &runs->max_shared,
								   runs->nshared + 1, sizeof(RunLevel));
	level = &runs->shared[runs->nshared++];
	memset(level, 0, sizeof(RunLevel));
	level->nruns = shared.nruns;
	level->ends = palloc(sizeof(uint64) * shared.nruns);
	spillreader_read(directory, level->ends, sizeof(uint64) * shared.nruns);
	level->nsamples = shared.nsamples;
	level->samples = MemoryContextAllocHuge(CurrentMemoryContext,
											sizeof(RunSample) * Max(shared.nsamples, 1));
	spillreader_read(directory, level->samples, sizeof(RunSample) * shared.nsamples);
	file_name(name, part, shared.number);
	spillfile_open(&level->file, runs->place.files, name, shared.bytes);
}

/* See set_runs.h */
void
setruns_import(SetRuns *runs, int part, uint64 directory_bytes)
{
	char		name[MAXPGPATH];
	SpillFile	file;
	SpillReader directory;

	snprintf(name, MAXPGPATH, DIRECTORY, part);
	spillfile_open(&file, runs->place.files, name, directory_bytes);
	spillreader_create(&directory, &file, BLCKSZ);
	while (!spillreader_at_end(&directory))
		import_level(runs, part, &directory);
	pfree(directory.buffer);
	spillfile_close(&file);
}

/* Sets are given out */

/* See set_runs.h */
void
setruns_begin(SetRuns *runs)
{
	setruns_flush(runs);
	free_pending(runs);
	merge_few(runs, runs->most_runs);
	open_all(runs, runs->most_bytes / 2);
	begin_merge(runs, NULL);
}

#define ST_SORT sort_samples
#define ST_ELEMENT_TYPE SetKey
#define ST_COMPARE(a, b) compare_keys(*(a), false, *(b), false)
#define ST_SCOPE static
#define ST_CHECK_FOR_INTERRUPTS
#define ST_DEFINE
#include "lib/sort_template.h"

/* The keys of all samples of runs that all processes have, in order. */
static SetKey *
all_samples(const SetRuns *runs, size_t *n)
{
	SetKey	   *keys;
	size_t		next = 0;

	*n = 0;
	for (uint32 i = 0; i < runs->nshared; i++)
		*n += runs->shared[i].nsamples;
	keys = MemoryContextAllocHuge(CurrentMemoryContext, sizeof(SetKey) * Max(*n, 1));
	for (uint32 i = 0; i < runs->nshared; i++)
		for (size_t j = 0; j < runs->shared[i].nsamples; j++)
		{
			CHECK_EVERY(j);
			keys[next++] = runs->shared[i].samples[j].key;
		}
	sort_samples(keys, *n);
	return keys;
}

/*
 * See set_runs.h.  Of a key there are the bits that are the same in all records of a set:
 * these are in one share.
 */
void
setruns_divide(SetRuns *runs, uint32 nshares)
{
	size_t		n;
	SetKey	   *samples = all_samples(runs, &n);

	runs->borders = palloc(sizeof(SetKey) * nshares);
	runs->nshares = nshares;
	for (uint32 i = 1; i < nshares; i++)
	{
		SetKey		border = n == 0 ? (SetKey) {PG_INT64_MAX, 0} : samples[n * i / nshares];

		border.low = (int64) ((uint64) border.low & ~(uint64) PG_UINT32_MAX);
		runs->borders[i - 1] = border;
	}
	pfree(samples);
	open_all(runs, runs->most_bytes / 2);
}

/* See set_runs.h */
void
setruns_begin_share(SetRuns *runs, uint32 share)
{
	static const SetKey least = {PG_INT64_MIN, PG_INT64_MIN};

	end_merge(runs);
	runs->share = share;
	begin_merge(runs, share == 0 ? &least : &runs->borders[share - 1]);
}

/* See set_runs.h */
bool
setruns_next_key(const SetRuns *runs, SetKey *key)
{
	if (binaryheap_empty(runs->heap))
		return false;
	*key = first_run(runs)->head.key;
	return runs->borders == NULL || runs->share == runs->nshares - 1 ||
		is_before(*key, runs->borders[runs->share]);
}

/* See set_runs.h */
bool
setruns_next_is(SetRuns *runs, const uint64 *values)
{
	Run		   *run = first_run(runs);

	return spillreader_next_is(&run->reader, values, values_bytes(run->head.nvalues));
}

/* Makes room for the data of a row. */
static void
make_row_room(SetRuns *runs, uint32 bytes)
{
	if (bytes <= runs->largest_row)
		return;
	runs->row = repalloc_huge(runs->row, RUN_ROW_HEAD + (size_t) bytes);
	runs->largest_row = bytes;
}

/* See set_runs.h */
uint64
setruns_take(SetRuns *runs, uint64 *values, const RunRow **row)
{
	Run		   *run = first_run(runs);
	uint64		begin = spillreader_tell(&run->reader);

	CHECK_FOR_INTERRUPTS();
	if (values != NULL)
		spillreader_read(&run->reader, values, values_bytes(run->head.nvalues));
	else
		spillreader_seek(&run->reader, begin + values_bytes(run->head.nvalues));
	make_row_room(runs, HEAD_ROW_BYTES(&run->head));
	runs->row->side = HEAD_ROW_SIDE(&run->head);
	runs->row->bytes = HEAD_ROW_BYTES(&run->head);
	spillreader_read(&run->reader, runs->row->data, runs->row->bytes);
	*row = runs->row;
	advance(runs, run);
	return (uint64) (run - runs->runs) << PLACE_BITS | begin;
}

/* Frees what tells where shares begin. */
static void
free_samples(SetRuns *runs)
{
	if (runs->borders == NULL)
		return;
	for (uint32 i = 0; i < runs->nshared; i++)
	{
		pfree(runs->shared[i].samples);
		runs->shared[i].samples = NULL;
		runs->shared[i].nsamples = 0;
	}
	pfree(runs->borders);
	runs->borders = NULL;
}

/* See set_runs.h */
size_t
setruns_end(SetRuns *runs, size_t buffers)
{
	end_merge(runs);
	close_runs(runs);
	free_samples(runs);
	/* it may have had a large row */
	pfree(runs->row);
	runs->row = NULL;
	open_all(runs, buffers);
	return runs->nruns * runs->buffer;
}

/* See set_runs.h */
void
setruns_read(SetRuns *runs, uint64 place, uint64 *values, uint32 n)
{
	SpillReader *reader = &runs->runs[place >> PLACE_BITS].reader;

	spillreader_seek(reader, place & PLACE_MASK);
	spillreader_read(reader, values, values_bytes(n));
}

/* See set_runs.h */
uint64
setruns_bytes(const SetRuns *runs)
{
	uint64		bytes = runs->exported;

	for (int i = 0; i < RUN_LEVELS; i++)
		if (runs->levels[i].file.file != NULL)
			bytes += runs->levels[i].file.size;
	return bytes;
}

/* See set_runs.h */
void
setruns_free(SetRuns *runs)
{
	for (int i = 0; i < RUN_LEVELS; i++)
		close_level(runs, &runs->levels[i]);
	for (uint32 i = 0; i < runs->nshared; i++)
		spillfile_close(&runs->shared[i].file);
}
