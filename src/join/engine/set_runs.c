/*
 * set_runs.c
 *		Sets on disk: sorted runs, and the file into which they are merged.
 */
#include "postgres.h"

#include "lib/binaryheap.h"
#include "miscadmin.h"

#include "base/memory.h"
#include "join/engine/rows.h"
#include "join/engine/set_runs.h"

/*
 * Sorted runs of sets and rows on disk
 *
 * Sets are collected in memory.  When it is full they are sorted by their keys
 * and appended to a file as a run; identical sets of a run are written once.
 * In the end the runs of all processes are merged in shares of the keys, but
 * only the places of sets are written: values stay in their runs, and reading
 * sets in the order of their keys reads each run forward.
 *
 * Each run has a buffer: the more runs there are, the smaller these are.  Each
 * process merges its runs into fewer before it publishes them, if even the
 * smallest buffers of all runs would not fit into memory.
 */

/* Bounds of the buffer of a run. */
#define MIN_BUFFER		((size_t) 512)
#define MAX_BUFFER		((size_t) 256 * 1024)

/*
 * The part of the memory that the smallest buffers of all open runs may take.
 */
#define OPEN_PART		16

/* Number of runs that can be open in any case. */
#define MIN_OPEN_RUNS	64

#define SAMPLE_BYTES	((uint64) 64 * 1024)

#define HEAD_ROW_BYTES(head)	((head)->row >> 1)
#define HEAD_ROW_SIDE(head)		((JoinSide) ((head)->row & 1))

/* Bits of the number in a key; the others are equal for identical sets. */
#define NUMBER_MASK		((uint64) PG_UINT32_MAX)

/* The order of two records: a set comes before its further rows. */
static inline int
compare_records(SetKey a, bool a_is_row, SetKey b, bool b_is_row)
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
	compare_records((a)->key, (a)->values == NULL, (b)->key, (b)->values == NULL)
#define ST_SCOPE static
#define ST_CHECK_FOR_INTERRUPTS
#define ST_DEFINE
#include "lib/sort_template.h"

#define ST_SORT sort_keys
#define ST_ELEMENT_TYPE SetKey
#define ST_COMPARE(a, b) compare_records(*(a), false, *(b), false)
#define ST_SCOPE static
#define ST_CHECK_FOR_INTERRUPTS
#define ST_DEFINE
#include "lib/sort_template.h"

/* True if two keys differ in the number at most. */
static bool
same_hash(SetKey a, SetKey b)
{
	return a.high == b.high &&
		(((uint64) a.low ^ (uint64) b.low) & ~NUMBER_MASK) == 0;
}

/* Bytes of the values of a record. */
static size_t
values_bytes(uint32 nvalues)
{
	return sizeof(uint64) * nvalues;
}

void
setruns_create(SetRuns *runs, size_t max_bytes, const SpillStore *store)
{
	memset(runs, 0, sizeof(SetRuns));
	runs->store = *store;
	runs->max_bytes = runs->pending_bytes = MAXALIGN_DOWN(max_bytes);
	spillfile_create(&runs->file, store, "runs");
}

SetKey
setruns_new_key(SetRuns *runs, SetKey key)
{
	if (runs->nsets >= PG_UINT32_MAX / runs->store.nparts)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("too many sets in a similarity join"),
				 errhint("Raise work_mem.")));
	key.low = (int64) (((uint64) key.low & ~NUMBER_MASK) |
					   (runs->nsets++ * runs->store.nparts +
						runs->store.part));
	return key;
}

/* Writing */

/* Note the key of the next record, once every SAMPLE_BYTES. */
static void
take_sample(SetRuns *runs, SetKey key)
{
	uint64		offset = runs->file.size;
	size_t		n = runs->nsamples;

	if (runs->store.nparts == 1 ||
		(n > 0 && offset - runs->samples[n - 1].offset < SAMPLE_BYTES))
		return;
	runs->samples = growing_reserve(runs->samples, &runs->max_samples, n + 1,
									sizeof(RunSample));
	runs->samples[runs->nsamples++] = (RunSample)
	{
		key, offset
	};
}

/* The end of the run that begins at that offset: note it. */
static void
add_range(SetRuns *runs, uint64 begin)
{
	Assert(runs->file.size > begin);
	runs->ranges = growing_reserve(runs->ranges, &runs->max_ranges,
								   runs->nranges + 1,
								   sizeof(RunRange));
	runs->ranges[runs->nranges++] = (RunRange)
	{
		begin, runs->file.size
	};
}

/* The PendingSets, newest first. */
static PendingSet *
pending_sets(const SetRuns *runs)
{
	return (PendingSet *) (runs->room + runs->pending_bytes) - runs->npending;
}

/*
 * Write a pending set or row; `last` is the last set that was written, or
 * NULL.
 */
static void
write_pending(SetRuns *runs, PendingSet *set, const PendingSet *last)
{
	RunHead		head = {.row = set->row_bytes << 1 | set->side};

	/* a set that is identical to the last one becomes a further row of it */
	if (set->values != NULL && last != NULL &&
		same_hash(set->key, last->key) &&
		memcmp(set->values, last->values,
			   values_bytes(SETKEY_SIZE(set->key))) == 0)
	{
		set->key = last->key;
		set->values = NULL;
	}
	if (set->values != NULL)
		head.nvalues = SETKEY_SIZE(set->key);
	head.key = set->key;
	take_sample(runs, set->key);
	spillfile_write(&runs->file, &head, sizeof(head));
	spillfile_write(&runs->file, set->row - values_bytes(head.nvalues),
					values_bytes(head.nvalues) + set->row_bytes);
}

/* Write the pending sets, if there are any, as a run. */
static void
flush_pending(SetRuns *runs)
{
	uint64		begin = runs->file.size;
	PendingSet *pending;
	const PendingSet *last = NULL;

	if (runs->npending == 0)
		return;
	pending = pending_sets(runs);
	sort_pending(pending, runs->npending);
	for (size_t i = 0; i < runs->npending; i++)
	{
		CHECK_FOR_INTERRUPTS();
		write_pending(runs, &pending[i], last);
		if (pending[i].values != NULL)
			last = &pending[i];
	}
	add_range(runs, begin);
	runs->npending = runs->used = 0;
}

/* Free the memory of pending sets; there are none. */
static void
free_pending(SetRuns *runs)
{
	Assert(runs->npending == 0);
	if (runs->room != NULL)
		pfree(runs->room);
	runs->room = NULL;
}

/* Reading */

/* Read the head of the run's next record; false at its end. */
static bool
read_head(Run *run)
{
	if (spillreader_tell(&run->reader) == run->range.end)
		return false;
	spillreader_read(&run->reader, &run->head, sizeof(RunHead));
	return true;
}

/* A heap has the greatest first, so the order is reversed. */
static int
compare_runs(Datum a, Datum b, void *arg)
{
	const SetRuns *runs = arg;
	const RunHead *head_a = &runs->runs[DatumGetUInt32(a)].head;
	const RunHead *head_b = &runs->runs[DatumGetUInt32(b)].head;

	return -compare_records(head_a->key, head_a->nvalues == 0,
							head_b->key, head_b->nvalues == 0);
}

/* The run whose next record comes first. */
static Run *
first_run(const SetRuns *runs)
{
	return &runs->runs[DatumGetUInt32(binaryheap_first(runs->heap))];
}

/* Number of runs that can be open at once, of all processes. */
static size_t
most_open(const SetRuns *runs)
{
	return Max(runs->max_bytes / OPEN_PART / (MIN_BUFFER + sizeof(Run)),
			   MIN_OPEN_RUNS);
}

/*
 * Open the first n runs, with `buffers` bytes for all buffers, or MIN_BUFFER
 * for each.
 */
static void
open_runs(SetRuns *runs, size_t n, size_t buffers)
{
	Assert(runs->runs == NULL && n <= runs->nranges);
	runs->runs = palloc(Max(n, 1) * sizeof(Run));
	runs->nopen = n;
	runs->buffer = Min(Max(buffers / Max(n, 1), MIN_BUFFER), MAX_BUFFER);
	for (size_t i = 0; i < n; i++)
	{
		runs->runs[i].range = runs->ranges[i];
		spillreader_create(&runs->runs[i].reader, &runs->file, runs->buffer);
		spillreader_seek(&runs->runs[i].reader, runs->ranges[i].begin);
	}
}

/* Close all open runs. */
static void
close_runs(SetRuns *runs)
{
	if (runs->heap != NULL)
		binaryheap_free(runs->heap);
	runs->heap = NULL;
	for (size_t i = 0; i < runs->nopen; i++)
		pfree(runs->runs[i].reader.buffer);
	pfree(runs->runs);
	runs->runs = NULL;
	runs->nopen = 0;
}

/* True if a key belongs to a share before the border. */
static inline bool
is_before(SetKey key, SetKey border)
{
	return compare_records(key, false, border, false) < 0;
}

/* Offset in a run before the first record that is not before the border. */
static uint64
offset_before(const SetRuns *runs, const Run *run, SetKey border)
{
	size_t		low = 0;
	size_t		high = runs->nsamples;

	/* within the range of the run, samples are in the order of keys, too */
	while (low < high)
	{
		size_t		middle = low + (high - low) / 2;
		const RunSample *sample = &runs->samples[middle];

		if (sample->offset < run->range.begin ||
			(sample->offset < run->range.end &&
			 is_before(sample->key, border)))
			low = middle + 1;
		else
			high = middle;
	}
	return low == 0 ? run->range.begin :
		Max(runs->samples[low - 1].offset, run->range.begin);
}

/*
 * Read the head of the run's first record that is not before the border;
 * false: none is.
 */
static bool
read_head_from(const SetRuns *runs, Run *run, SetKey border)
{
	spillreader_seek(&run->reader, offset_before(runs, run, border));
	while (read_head(run))
	{
		CHECK_FOR_INTERRUPTS();
		if (!is_before(run->head.key, border))
			return true;
		spillreader_seek(&run->reader, spillreader_tell(&run->reader) +
						 values_bytes(run->head.nvalues) +
						 HEAD_ROW_BYTES(&run->head));
	}
	return false;
}

/* Go to the next record of the first run. */
static void
advance(SetRuns *runs, Run *run)
{
	if (read_head(run))
		binaryheap_replace_first(runs->heap, binaryheap_first(runs->heap));
	else
		(void) binaryheap_remove_first(runs->heap);
}

void
setruns_limit(SetRuns *runs, size_t bytes)
{
	flush_pending(runs);
	free_pending(runs);
	runs->pending_bytes = MAXALIGN_DOWN(Min(bytes, runs->max_bytes));
}

/* True if there is room for one more, with that many bytes. */
static bool
has_room(const SetRuns *runs, size_t bytes)
{
	return runs->used + MAXALIGN(bytes) +
		(runs->npending + 1) * sizeof(PendingSet) <= runs->pending_bytes;
}

/*
 * Copy a set of that many bytes, for which there is room, and its row to the
 * pending ones.
 */
static void
add_pending(SetRuns *runs, PendingSet *set, const uint64 *values, size_t bytes,
			const FileRow *head, const void *row)
{
	char	   *copy;

	Assert(has_room(runs, bytes + set->row_bytes));
	if (runs->room == NULL)
		runs->room = palloc_huge(runs->pending_bytes, 1);
	copy = runs->room + runs->used;
	runs->used += MAXALIGN(bytes + set->row_bytes);
	if (values != NULL)
		set->values = memcpy(copy, values, bytes);
	set->row = memcpy(copy + bytes, head, sizeof(FileRow));
	memcpy(copy + bytes + sizeof(FileRow), row, head->len);
	runs->npending++;
	*pending_sets(runs) = *set;
}

/*
 * Write a set and its row that are larger than the memory for pending ones as
 * a run.
 */
static void
write_alone(SetRuns *runs, const PendingSet *set, const uint64 *values,
			size_t bytes,
			const FileRow *head, const void *row)
{
	uint64		begin = runs->file.size;
	RunHead		run_head = {
		.key = set->key,.nvalues = bytes / sizeof(uint64),
		.row = set->row_bytes << 1 | set->side
	};

	Assert(runs->npending == 0);
	take_sample(runs, set->key);
	spillfile_write(&runs->file, &run_head, sizeof(RunHead));
	spillfile_write(&runs->file, values, bytes);
	spillfile_write(&runs->file, head, sizeof(FileRow));
	spillfile_write(&runs->file, row, head->len);
	add_range(runs, begin);
}

void
setruns_add(SetRuns *runs, SetKey key, const uint64 *values, JoinSide side,
			const void *row, uint32 rowno, uint32 len)
{
	size_t		bytes = values == NULL ? 0 : values_bytes(SETKEY_SIZE(key));
	size_t		row_bytes = sizeof(FileRow) + (size_t) len;
	FileRow		head = {rowno, len};
	PendingSet	set = {.key = key,.side = side,.row_bytes = row_bytes};

	if (row_bytes > MaxAllocSize - VARHDRSZ)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("row of a similarity join is too large"),
				 errdetail("It has %zu bytes.", row_bytes)));

	if (!has_room(runs, bytes + row_bytes))
		flush_pending(runs);
	if (has_room(runs, bytes + row_bytes))
		add_pending(runs, &set, values, bytes, &head, row);
	else
		write_alone(runs, &set, values, bytes, &head, row);
}

void
setruns_scan(SetRuns *runs, size_t buffer, uint32 max_values,
			 SetCallback callback, void *arg)
{
	uint64	   *values = palloc_extended(values_bytes(Max(max_values, 1)),
										 MCXT_ALLOC_HUGE);
	Run			all = {.range.begin = 0};

	flush_pending(runs);
	all.range.end = runs->file.size;
	spillreader_create(&all.reader, &runs->file, buffer);
	while (read_head(&all))
	{
		CHECK_FOR_INTERRUPTS();
		Assert(all.head.nvalues <= max_values);
		spillreader_read(&all.reader, values, values_bytes(all.head.nvalues));
		spillreader_seek(&all.reader,
						 spillreader_tell(&all.reader) +
						 HEAD_ROW_BYTES(&all.head));
		if (all.head.nvalues > 0)
			callback(arg, values, all.head.nvalues);
	}
	pfree(all.reader.buffer);
	pfree(values);
}

/* Runs of all processes */

/* Remove the first n runs from the lists; nothing reads them any more. */
static void
drop_first(SetRuns *runs, size_t n)
{
	size_t		kept = 0;

	runs->nranges -= n;
	memmove(runs->ranges, runs->ranges + n, runs->nranges * sizeof(RunRange));
	for (size_t i = 0; i < runs->nsamples; i++)
	{
		CHECK_EVERY(i);
		if (runs->samples[i].offset >= runs->ranges[0].begin)
			runs->samples[kept++] = runs->samples[i];
	}
	runs->nsamples = kept;
}

/* Merge the first n runs into one, which becomes the last one. */
static void
merge_first(SetRuns *runs, size_t n)
{
	uint64		begin = runs->file.size;

	Assert(n > 1);
	open_runs(runs, n, runs->max_bytes / 2);
	runs->heap = binaryheap_allocate(n, compare_runs, runs);
	for (size_t i = 0; i < n; i++)
		if (read_head(&runs->runs[i]))
			binaryheap_add_unordered(runs->heap, UInt32GetDatum(i));
	binaryheap_build(runs->heap);
	while (!binaryheap_empty(runs->heap))
	{
		Run		   *run = first_run(runs);

		CHECK_FOR_INTERRUPTS();
		take_sample(runs, run->head.key);
		spillfile_write(&runs->file, &run->head, sizeof(RunHead));
		spillreader_copy(&run->reader, &runs->file,
						 values_bytes(run->head.nvalues) +
						 HEAD_ROW_BYTES(&run->head));
		advance(runs, run);
	}
	close_runs(runs);
	add_range(runs, begin);
	drop_first(runs, n);
}

void
setruns_publish(SetRuns *runs, RunDirectory *directory)
{
	size_t		most = Max(most_open(runs) / runs->store.nparts, 2);

	flush_pending(runs);
	free_pending(runs);
	while (runs->nranges > most)
		merge_first(runs, Min(most, runs->nranges - most + 1));
	directory->offset = runs->file.size;
	directory->nranges = runs->nranges;
	directory->nsamples = runs->nsamples;
	spillfile_write(&runs->file, runs->ranges,
					sizeof(RunRange) * runs->nranges);
	spillfile_write(&runs->file, runs->samples,
					sizeof(RunSample) * runs->nsamples);
	directory->bytes = spillfile_publish(&runs->file);
	/* this process reads its own runs as all others do */
	runs->nranges = runs->nsamples = 0;
}

void
setruns_import(SetRuns *runs, int part, const RunDirectory *directory)
{
	SpillPiece	all = {.part = part,.bytes = directory->bytes};
	uint64		start = runs->file.size;
	uint64		at = start + directory->offset;
	size_t		n = directory->nranges;
	RunRange   *ranges;
	RunSample  *samples;

	Assert(part >= 0 && part < runs->store.nparts);
	spillfile_add_piece(&runs->file, &all);
	runs->ranges = growing_reserve(runs->ranges, &runs->max_ranges,
								   runs->nranges + n,
								   sizeof(RunRange));
	ranges = runs->ranges + runs->nranges;
	spillfile_read(&runs->file, at, ranges, sizeof(RunRange) * n);
	for (size_t i = 0; i < n; i++)
	{
		ranges[i].begin += start;
		ranges[i].end += start;
	}
	runs->nranges += n;
	at += sizeof(RunRange) * n;
	n = directory->nsamples;
	runs->samples = growing_reserve(runs->samples, &runs->max_samples,
									runs->nsamples + n,
									sizeof(RunSample));
	samples = runs->samples + runs->nsamples;
	spillfile_read(&runs->file, at, samples, sizeof(RunSample) * n);
	for (size_t i = 0; i < n; i++)
	{
		CHECK_EVERY(i);
		samples[i].offset += start;
	}
	runs->nsamples += n;
}

void
setruns_divide(SetRuns *runs, uint32 nshares)
{
	size_t		n = runs->nsamples;
	SetKey	   *samples = palloc_extended(sizeof(SetKey) * Max(n, 1),
										  MCXT_ALLOC_HUGE);

	Assert(nshares > 0);
	for (size_t i = 0; i < n; i++)
	{
		CHECK_EVERY(i);
		samples[i] = runs->samples[i].key;
	}
	sort_keys(samples, n);
	runs->borders = palloc(sizeof(SetKey) * nshares);
	runs->nshares = nshares;
	runs->borders[0] = (SetKey)
	{
		PG_INT64_MIN, PG_INT64_MIN
	};
	for (uint32 i = 1; i < nshares; i++)
	{
		SetKey		border = n == 0 ? (SetKey) {PG_INT64_MAX, 0} :
		samples[n * i / nshares];

		/* identical sets differ in their numbers, and are in one share */
		border.low = (int64) ((uint64) border.low & ~NUMBER_MASK);
		runs->borders[i] = border;
	}
	pfree(samples);
	open_runs(runs, runs->nranges, runs->max_bytes / 2);
}

void
setruns_begin_share(SetRuns *runs, uint32 share)
{
	Assert(share < runs->nshares);
	runs->share = share;
	if (runs->heap != NULL)
		binaryheap_free(runs->heap);
	runs->heap = binaryheap_allocate(Max(runs->nranges, 1), compare_runs,
									 runs);
	for (size_t i = 0; i < runs->nranges; i++)
		if (read_head_from(runs, &runs->runs[i], runs->borders[share]))
			binaryheap_add_unordered(runs->heap, UInt32GetDatum(i));
	binaryheap_build(runs->heap);
}

bool
setruns_next_key(const SetRuns *runs, SetKey *key)
{
	if (binaryheap_empty(runs->heap))
		return false;
	*key = first_run(runs)->head.key;
	return runs->share == runs->nshares - 1 ||
		is_before(*key, runs->borders[runs->share + 1]);
}

bool
setruns_next_is(SetRuns *runs, const uint64 *values)
{
	Run		   *run = first_run(runs);

	return spillreader_next_is(&run->reader, values,
							   values_bytes(run->head.nvalues));
}

const RunRecord *
setruns_next(SetRuns *runs, uint64 *values)
{
	Run		   *run = first_run(runs);
	RunRecord  *record = &runs->record;
	uint64		begin = spillreader_tell(&run->reader);

	CHECK_FOR_INTERRUPTS();
	record->key = run->head.key;
	record->place = begin;
	record->side = HEAD_ROW_SIDE(&run->head);
	record->row_bytes = HEAD_ROW_BYTES(&run->head);
	record->row = growing_reserve(record->row, &record->max_row_bytes,
								  record->row_bytes, 1);
	if (values != NULL)
		spillreader_read(&run->reader, values,
						 values_bytes(run->head.nvalues));
	else
		spillreader_seek(&run->reader,
						 begin + values_bytes(run->head.nvalues));
	spillreader_read(&run->reader, record->row, record->row_bytes);
	advance(runs, run);
	return record;
}

size_t
setruns_end(SetRuns *runs, size_t buffer)
{
	close_runs(runs);
	if (runs->samples != NULL)
		pfree(runs->samples);
	runs->samples = NULL;
	runs->nsamples = runs->max_samples = 0;
	/* it may be large */
	if (runs->record.row != NULL)
		pfree(runs->record.row);
	memset(&runs->record, 0, sizeof(RunRecord));
	open_runs(runs, runs->nranges,
			  Min(runs->nranges * buffer, runs->max_bytes / 32));
	return runs->nranges * runs->buffer;
}

void
setruns_read(SetRuns *runs, uint64 place, uint64 *values, uint32 n)
{
	size_t		low = 0;
	size_t		high = runs->nranges;

	/* the run of the place */
	while (high - low > 1)
	{
		size_t		middle = low + (high - low) / 2;

		if (runs->ranges[middle].begin <= place)
			low = middle;
		else
			high = middle;
	}
	Assert(place < runs->ranges[low].end);
	spillreader_seek(&runs->runs[low].reader, place);
	spillreader_read(&runs->runs[low].reader, values, values_bytes(n));
}

/*
 * The distinct sets of a join on disk, in order of size, and their rows
 *
 * A set has a record with the place of its values in the runs and the ranges
 * of its rows, which are in a file for each side.  The number of the record is
 * its number.  Shares of the keys are merged by several processes, each into
 * files of its own; the concatenation of all shares is what is read.
 */

static Row	somewhere;

/* It is an address of this process, which nobody follows. */
RowLink
rows_somewhere(void)
{
	return row_link(&somewhere);
}

/* True if a link is rows_somewhere(). */
static bool
is_somewhere(RowLink link)
{
	return link.address == &somewhere;
}

/* Bytes of the record of a set, which has the rows of stored sides only. */
static size_t
record_bytes(const SetFile *file)
{
	return offsetof(SetRecord, rows) + file->nsides * sizeof(RowsInFile);
}

void
setfile_create(SetFile *file, int nsides, uint32 max_features)
{
	file->nsides = nsides;
	file->place = palloc_extended(set_bytes(max_features), MCXT_ALLOC_HUGE);
	spillfile_create(&file->records, &file->runs.store, "sets");
	for (int side = 0; side < nsides; side++)
		spillfile_create(&file->rows[side], &file->runs.store,
						 side == SIDE_OUTER ? "outer" : "inner");
}

/* Merging */

/*
 * Append the row of a record to its side's file, and to the range of its set.
 */
static void
add_row(SetFile *file, const RunRecord *from, RowsInFile *ranges)
{
	RowsInFile *range = &ranges[from->side];

	if (from->row_bytes == 0)
		return;
	range->nrows++;
	range->bytes += from->row_bytes;
	spillfile_write(&file->rows[from->side], from->row, from->row_bytes);
}

/* Begin the ranges of the rows of a set. */
static void
begin_rows(const SetFile *file, RowsInFile *ranges)
{
	memset(ranges, 0, file->nsides * sizeof(RowsInFile));
	for (int side = 0; side < file->nsides; side++)
		ranges[side].offset = file->rows[side].size;
}

/*
 * Identical sets and their further rows follow each other.  If copies of two
 * different sets with one hash alternate, they stay several sets, which are
 * joined like any others.
 */
void
setfile_merge(SetFile *file, uint32 share, MergedShare *merged,
			  SetCallback callback,
			  void *arg)
{
	SetRecord	record;
	SetKey		key;

	Assert(share < file->runs.nshares);
	merged->records = spillfile_begin_piece(&file->records);
	for (int side = 0; side < file->nsides; side++)
		merged->rows[side] = spillfile_begin_piece(&file->rows[side]);
	setruns_begin_share(&file->runs, share);
	begin_rows(file, record.rows);
	/* rows without features come first */
	while (setruns_next_key(&file->runs, &key) && SETKEY_SIZE(key) == 0)
		add_row(file, setruns_next(&file->runs, NULL), record.rows);
	while (setruns_next_key(&file->runs, &key))
	{
		const RunRecord *from = setruns_next(&file->runs, file->place);
		SetKey		next;

		record.high = key.high;
		record.place = from->place;
		begin_rows(file, record.rows);
		add_row(file, from, record.rows);
		while (setruns_next_key(&file->runs, &next) && same_hash(next, key) &&
			   setruns_next_is(&file->runs, file->place))
			add_row(file, setruns_next(&file->runs, NULL), record.rows);
		spillfile_write(&file->records, &record, record_bytes(file));
		callback(arg, file->place, SETKEY_SIZE(key));
	}
	spillfile_end_piece(&file->records, &merged->records);
	for (int side = 0; side < file->nsides; side++)
		spillfile_end_piece(&file->rows[side], &merged->rows[side]);
}

/* Reading */

size_t
setfile_begin(SetFile *file, const MergedShare *shares, uint32 nshares,
			  size_t buffer,
			  size_t max_group)
{
	file->shift = palloc(sizeof(*file->shift) * nshares);
	for (uint32 i = 0; i < nshares; i++)
	{
		spillfile_add_piece(&file->records, &shares[i].records);
		for (int side = 0; side < file->nsides; side++)
		{
			file->shift[i][side] = file->rows[side].size -
				shares[i].rows[side].offset;
			spillfile_add_piece(&file->rows[side], &shares[i].rows[side]);
		}
	}
	file->nsets = file->records.size / record_bytes(file);
	spillreader_create(&file->reader, &file->records, buffer);
	for (int side = 0; side < file->nsides; side++)
		row_reader_create(&file->row_readers[side], &file->rows[side], buffer);
	file->max_group = max_group;
	arena_init(&file->set_rows, 1024);
	return setruns_end(&file->runs, buffer);
}

JoinSet *
setfile_next(SetFile *file)
{
	JoinSet    *set = &file->set;
	SetRecord  *record = &file->record;
	uint64		at = spillreader_tell(&file->reader);
	SetKey		key = {0, 0};
	size_t		share;

	if (spillreader_at_end(&file->reader))
		return NULL;
	spillreader_read(&file->reader, record, record_bytes(file));
	share = spillfile_piece(&file->records, at);
	key.high = record->high;
	Assert(at % record_bytes(file) == 0);
	memset(set, 0, sizeof(JoinSet));
	for (int side = 0; side < file->nsides; side++)
	{
		record->rows[side].offset += file->shift[share][side];
		if (record->rows[side].nrows > 0)
			set->rows[side] = rows_somewhere();
	}
	if (file->nsides == 1)
		set->rows[SIDE_INNER] = set->rows[SIDE_OUTER];
	set->number = at / record_bytes(file);
	set->size = set->nvalues = SETKEY_SIZE(key);
	set->values = set_values(file->place, set->size);
	return set;
}

void
setfile_read_values(SetFile *file)
{
	setruns_read(&file->runs, file->record.place, file->set.values,
				 file->set.size);
}

void
setfile_read_rows(SetFile *file, JoinSet *set, Arena *arena, size_t max_bytes)
{
	for (int side = 0; side < file->nsides; side++)
		set->rows[side] = rows_of_range(&file->row_readers[side], arena,
										&file->record.rows[side], max_bytes);
	if (file->nsides == 1)
		set->rows[SIDE_INNER] = set->rows[SIDE_OUTER];
}

void
setfile_load_rows(SetFile *file)
{
	JoinSet    *set = &file->set;

	if (!is_somewhere(set->rows[SIDE_OUTER]) &&
		!is_somewhere(set->rows[SIDE_INNER]))
		return;
	arena_reset(&file->set_rows);
	setfile_read_rows(file, set, &file->set_rows, file->max_group);
}

void
setfile_seek(SetFile *file, uint64 number)
{
	Assert(number <= file->nsets);
	spillreader_seek(&file->reader, number * record_bytes(file));
}

/* Close all files of the sets and rows. */
void
setfile_close(SetFile *file)
{
	spillfile_close(&file->runs.file);
	spillfile_close(&file->records);
	spillfile_close(&file->rows[SIDE_OUTER]);
	spillfile_close(&file->rows[SIDE_INNER]);
}
