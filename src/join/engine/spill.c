/*
 * spill.c
 *		The join of sets that do not fit into memory.
 *
 * Rows and distinct sets are sorted by the size of the set, then by its
 * hash: sets with small rows in runs, see set_runs.c, and large rows of each side in a sort.  Merged
 * they make three files: the distinct sets in order of size, each with the place
 * of its values in the runs and the ranges of its rows in the other two.
 *
 * The set file is then read in chunks that fit into memory.  A chunk is
 * indexed; its partners are in itself and, with a symmetric measure, behind
 * it, so that only sets that are behind it and not too large are read again
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
 * While rows come in, sets seen before are not written again, as far as
 * seen.c can tell; those that slip through meet when the runs are merged.  Where hardly any
 * set has come twice before memory was full, none is looked for: they would
 * all be written a second time for that.  Each set that is written has a number, in its own record and in those of its rows.  A hash
 * only brings records of identical sets together: whether two are identical
 * is seen by comparing them.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/join/engine/spill.c
 */
#include "postgres.h"

#include "catalog/pg_operator_d.h"
#include "catalog/pg_type_d.h"
#include "executor/tuptable.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/tuplesort.h"

#include "base/growing.h"
#include "base/hash.h"
#include "join/engine/deferred.h"
#include "join/engine/seen.h"
#include "join/engine/set_runs.h"
#include "join/engine/spill.h"

/* A distinct set in the set file, of which only sides that are stored have rows. */
typedef struct SetRecord
{
	int64		high;			/* of its key */
	uint64		place;			/* of its values, in the runs */
	RowRange	rows[2];
} SetRecord;

/* Bits of its own hash that a set keeps in the first part of its key. */
#define OWN_HASH_BITS			10

/* Rows are in the runs with their sets, unless they are larger: then they are sorted apart. */
#define LARGEST_OWN_ROW		256

/* Which sets of the set file are of one size. */
typedef struct SizeStart
{
	uint64		size;
	uint64		number;			/* of the first of them */
} SizeStart;

/* A set in the key file; its bitmap and its keys follow. */
typedef struct KeyRecord
{
	uint32		number;			/* in the set file */
	uint32		size;
	uint32		nvalues;
	uint32		nkeys;
	uint64		sides;			/* on which it has rows */
} KeyRecord;

/* What comes out of one sort. */
typedef struct SortedStream
{
	Tuplesortstate *sort;
	TupleTableSlot *slot;
	bool		valid;			/* there is a record; the rest is set */
	SetKey		key;
	const char *data;
	size_t		len;
} SortedStream;

typedef struct Spill
{
	/* while rows come in */
	TupleDesc	desc;			/* of sorted records: high, low, data */
	TupleTableSlot *slot;		/* to put one */
	bytea	   *record;			/* its data */
	size_t		max_record;		/* bytes that fit there */
	RunRow	   *own_row;		/* room for one */
	SetRuns		sets;
	SortedStream rows[2];
	SeenSets	seen;
	uint32		nwritten;		/* sets */

	/* then */
	SpillFile	set_file;
	SpillFile	key_file;
	SpillFile	row_files[2];
	SizeStart  *sizes;
	uint32		nsizes;
	size_t		max_sizes;		/* allocated */
	SpillReader set_reader;
	SpillReader key_reader;
	SpillReader *chunk_reader;	/* of what chunks are made of: one of these */
	RowReader	row_readers[2];
	size_t		largest_group;	/* bytes of rows that are loaded at once */
	size_t		chunk_bytes;	/* that a chunk may take */
	uint64		this_chunk;		/* where in that file it begins */
	uint64		next_chunk;		/* and the next one */
	Arena		chunk;			/* values and rows of the chunk */
	uint32		max_sets;		/* room in join->search.sets */

	/* the set that probes */
	Arena		probe_rows;
	void	   *place;			/* of its bitmap and values: room for the
								 * largest set; only for values in a merge */
	JoinSet		probe;
} Spill;

/*
 * Shares of the memory while rows come in, in percent.  Where no sets are looked for
 * that have been seen, runs of sets have what that would take.
 */
#define RUNS_SHARE			26
#define SORT_ROWS_SHARE		16	/* both sides */
#define SEEN_SHARE			25
#define SEEN_CACHE_SHARE	12

/* Sets seen before are looked for if one in so many is such. */
#define FEW_REPEATED		16

#define READERS		5			/* with a buffer each */

static Tuplesortstate *
begin_sort(TupleDesc desc, size_t bytes)
{
	AttrNumber	columns[] = {1, 2};
	Oid			operators[] = {Int8LessOperator, Int8LessOperator};
	Oid			collations[] = {InvalidOid, InvalidOid};
	bool		nulls_first[] = {false, false};

	return tuplesort_begin_heap(desc, 2, columns, operators, collations,
								nulls_first, Max(bytes / 1024, 64), NULL,
								TUPLESORT_NONE);
}

static void
init_stream(Spill *spill, SortedStream *stream, size_t bytes)
{
	stream->sort = begin_sort(spill->desc, bytes);
	stream->slot = MakeSingleTupleTableSlot(spill->desc, &TTSOpsMinimalTuple);
	stream->valid = false;
}

/* Makes room for n bytes of data in the record to put. */
static char *
record_room(Spill *spill, size_t n)
{
	if (n > MaxAllocSize - VARHDRSZ)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("row of a similarity join is too large"),
				 errdetail("It has %zu bytes.", n)));
	if (n > spill->max_record)
	{
		if (spill->record)
			pfree(spill->record);
		spill->max_record = Min(Max(n, spill->max_record * 2),
								MaxAllocSize - VARHDRSZ);
		spill->record = palloc(VARHDRSZ + spill->max_record);
	}
	SET_VARSIZE(spill->record, VARHDRSZ + n);
	return VARDATA(spill->record);
}

/* Puts the record into a sort. */
static void
put_record(Spill *spill, SortedStream *stream, SetKey key)
{
	TupleTableSlot *slot = spill->slot;

	ExecClearTuple(slot);
	/* on 32 bits these are pointers to what is copied below */
	slot->tts_values[0] = Int64GetDatumFast(key.high);
	slot->tts_values[1] = Int64GetDatumFast(key.low);
	slot->tts_values[2] = PointerGetDatum(spill->record);
	memset(slot->tts_isnull, 0, 3 * sizeof(bool));
	ExecStoreVirtualTuple(slot);
	tuplesort_puttupleslot(stream->sort, slot);
}

/* The key with the number of a set in place of some of its hash. */
static SetKey
numbered_key(SetKey key, uint32 number)
{
	key.low = (int64) (((uint64) key.low & ~(uint64) PG_UINT32_MAX) | number);
	return key;
}

/* True if two keys differ in the number at most. */
static bool
same_hash(SetKey a, SetKey b)
{
	return a.high == b.high && (a.low ^ b.low) >> 32 == 0;
}

/*
 * Sets are in order of size, then of a hash.  Where candidates are compared
 * later, sets that are near better be so in the file, and first come bits of
 * the least element, in which they agree for the most part.  Behind these, bits
 * of the hash are left: the sort of large rows looks at records in full only where
 * the first column is the same.
 */
static SetKey
placed_key(SetJoin *join, SetKey key, const uint64 *values)
{
	uint64		mask = (UINT64CONST(1) << SETKEY_HASH_BITS) -
		(UINT64CONST(1) << OWN_HASH_BITS);

	if (join->deferred != NULL && SETKEY_SIZE(key) > 0)
		key.high = (int64) (((uint64) key.high & ~mask) |
							(mix64(values[0]) & mask));
	return key;
}

/* The key of a set that has not been seen before, by which it will have its place. */
static SetKey
new_key(SetJoin *join, SetKey key, const uint64 *values)
{
	Spill	   *spill = join->spill;

	if (spill->nwritten == PG_UINT32_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("too many sets in a similarity join"),
				 errhint("Raise work_mem.")));
	return numbered_key(placed_key(join, key, values), spill->nwritten);
}

/* The set has been written: returns its number. */
static uint32
note_set(SetJoin *join, SetKey key, const uint64 *values)
{
	Spill	   *spill = join->spill;

	seen_add(&spill->seen, key, values, spill->nwritten);
	join->nfeatures += SETKEY_SIZE(key);
	return spill->nwritten++;
}

/* Makes a row as it lies in a file. */
static void
make_file_row(char *place, const void *row, uint32 rowno, uint32 len)
{
	FileRow		head = {rowno, len};

	memcpy(place, &head, sizeof(FileRow));
	memcpy(place + sizeof(FileRow), row, len);
}

/* A row as runs have it; good until the next one. */
static const RunRow *
own_row(Spill *spill, JoinSide side, const void *row, uint32 rowno, uint32 len)
{
	spill->own_row->side = side;
	spill->own_row->bytes = sizeof(FileRow) + len;
	make_file_row(spill->own_row->data, row, rowno, len);
	return spill->own_row;
}

/*
 * Writes a set that has not been seen before, and gives it a number, together
 * with a row of its own, or NULL.
 */
static uint32
put_set(SetJoin *join, SetKey key, const uint64 *values, const RunRow *row)
{
	Spill	   *spill = join->spill;

	setruns_add(&spill->sets, new_key(join, key, values), values, row);
	return note_set(join, key, values);
}

/* Writes a set that stays in memory until all of them have been written. */
static void
put_kept_set(SetJoin *join, const JoinSet *set)
{
	setruns_add_kept(&join->spill->sets, new_key(join, set->key, set->values),
					 set->values);
	(void) note_set(join, set->key, set->values);
}

/* Writes a row of a set that has that key, or of none, which has the key zero. */
static void
put_row(Spill *spill, JoinSide side, SetKey key, const void *row,
		uint32 rowno, uint32 len)
{
	if (len <= LARGEST_OWN_ROW && SETKEY_SIZE(key) > 0)
	{
		setruns_add(&spill->sets, key, NULL,
					own_row(spill, side, row, rowno, len));
		return;
	}
	make_file_row(record_room(spill, sizeof(FileRow) + (size_t) len), row, rowno,
				  len);
	put_record(spill, &spill->rows[side], key);
}

static void
put_rows(Spill *spill, JoinSide side, SetKey key, const Row *row)
{
	for (; row != NULL; row = row->next)
	{
		CHECK_FOR_INTERRUPTS();
		put_row(spill, side, key, row->data, row->rowno, row->len);
	}
}

/*
 * Writes the rows of one side that have come in so far, and frees them.  Their
 * sets will be numbered in the order in which they came.
 */
static void
put_side(SetJoin *join, JoinSide side)
{
	static const SetKey empty = {0, 0};
	SetTable   *table = &join->table;

	for (uint32 i = 0; i < table->nsets; i++)
		put_rows(join->spill, side,
				 numbered_key(placed_key(join, table->sets[i].key,
										 table->sets[i].values), i),
				 table->sets[i].rows[side]);
	put_rows(join->spill, side, empty, join->empty[side]);
	join->empty[side] = NULL;
	arena_reset(&join->rows[side]);
}

/* Writes what has come in so far, and frees it. */
static void
put_all(SetJoin *join)
{
	SetTable   *table = &join->table;

	for (int side = SIDE_OUTER; side <= LAST_SIDE(join); side++)
		put_side(join, side);
	join->nfeatures = 0;
	for (uint32 i = 0; i < table->nsets; i++)
	{
		CHECK_FOR_INTERRUPTS();
		put_kept_set(join, &table->sets[i]);
	}
	setruns_flush(&join->spill->sets);
	arena_reset(&join->values);
	settable_free(table);
}

/* True if more than a few of the sets that came in had come before. */
static bool
sets_repeat(SetJoin *join)
{
	uint64		came = join->search.stats.sets;

	return came - join->table.nsets > came / FEW_REPEATED;
}

/* Goes over to disk.  In join->search.context. */
void
spill_begin(SetJoin *join)
{
	Spill	   *spill = palloc0(sizeof(Spill));
	size_t		memory = join->params.memory;
	bool		repeated = sets_repeat(join);

	spill->desc = CreateTemplateTupleDesc(3);
	TupleDescInitEntry(spill->desc, 1, "high", INT8OID, -1, 0);
	TupleDescInitEntry(spill->desc, 2, "low", INT8OID, -1, 0);
	TupleDescInitEntry(spill->desc, 3, "data", BYTEAOID, -1, 0);
	spill->slot = MakeSingleTupleTableSlot(spill->desc, &TTSOpsVirtual);
	spill->own_row = palloc(RUN_ROW_HEAD + sizeof(FileRow) + LARGEST_OWN_ROW);
	setruns_create(&spill->sets, memory / 100 *
				   (RUNS_SHARE + (repeated ? 0 : SEEN_SHARE + SEEN_CACHE_SHARE)),
				   sizeof(FileRow) + LARGEST_OWN_ROW);
	for (int side = SIDE_OUTER; side <= LAST_SIDE(join); side++)
		init_stream(spill, &spill->rows[side],
					memory / 100 * SORT_ROWS_SHARE / (LAST_SIDE(join) + 1));
	if (repeated)
		seen_create(&spill->seen, memory / 100 * SEEN_SHARE,
					memory / 100 * SEEN_CACHE_SHARE);
	/* while the rows and sets are in memory that have come so far */
	setruns_limit(&spill->sets, memory / 100 * SORT_ROWS_SHARE);
	join->spill = spill;
	if (join->search.symmetric && join->algorithm->compare != NULL)
		join->deferred = deferred_create(memory);
	put_all(join);
	setruns_limit(&spill->sets, SIZE_MAX);
	setjoin_account(join, memory / 100 *
					(RUNS_SHARE + SORT_ROWS_SHARE + SEEN_SHARE + SEEN_CACHE_SHARE));
}

/* Adds a row and its set; a row without features has the key zero. */
void
spill_add(SetJoin *join, JoinSide side, SetKey key, const uint64 *values,
		  const void *row, uint32 rowno, uint32 len)
{
	uint32		number = 0;

	if (SETKEY_SIZE(key) > 0 &&
		!seen_find(&join->spill->seen, key, values, &number))
	{
		if (len <= LARGEST_OWN_ROW)
		{
			put_set(join, key, values, own_row(join->spill, side, row, rowno, len));
			return;
		}
		number = put_set(join, key, values, NULL);
	}
	put_row(join->spill, side,
			numbered_key(placed_key(join, key, values), number), row, rowno,
			len);
}

/* Reads the next record of a sort. */
static void
stream_next(SortedStream *stream)
{
	bool		isnull;
	bytea	   *data;

	CHECK_FOR_INTERRUPTS();
	stream->valid = tuplesort_gettupleslot(stream->sort, true, false,
										   stream->slot, NULL);
	if (!stream->valid)
		return;
	stream->key.high = DatumGetInt64(slot_getattr(stream->slot, 1, &isnull));
	stream->key.low = DatumGetInt64(slot_getattr(stream->slot, 2, &isnull));
	data = (bytea *) DatumGetPointer(slot_getattr(stream->slot, 3, &isnull));
	stream->data = VARDATA_ANY(data);
	stream->len = VARSIZE_ANY_EXHDR(data);
}

static void
stream_begin(SortedStream *stream)
{
	tuplesort_performsort(stream->sort);
	stream_next(stream);
}

/* Gives a stream up, which may have been read or not. */
static void
stream_free(SortedStream *stream)
{
	if (stream->sort == NULL)
		return;
	ExecDropSingleTupleTableSlot(stream->slot);
	tuplesort_end(stream->sort);
	stream->sort = NULL;
}

static void
stream_end(SetJoin *join, SortedStream *stream)
{
	TuplesortInstrumentation stats;

	tuplesort_get_stats(stream->sort, &stats);
	if (stats.spaceType == SORT_SPACE_TYPE_DISK)
		join->search.stats.disk += stats.spaceUsed * 1024;
	stream_free(stream);
}

/* No rows as yet: they will be the next ones in the side's file. */
static void
begin_range(Spill *spill, JoinSide side, RowRange *range)
{
	range->offset = spill->row_files[side].size;
	range->bytes = range->nrows = 0;
	range->first = PG_UINT32_MAX;
}

/* Adds a row, as it lies in a file, to the side's file and to a range. */
static void
add_to_range(Spill *spill, JoinSide side, const char *row, size_t len,
			 RowRange *range)
{
	FileRow		head;

	memcpy(&head, row, sizeof(FileRow));
	range->first = Min(range->first, head.rowno);
	spillfile_write(&spill->row_files[side], row, len);
	range->nrows++;
	range->bytes += len;
}

/* Copies the rows up to that key to the side's file. */
static void
copy_rows(Spill *spill, JoinSide side, SetKey last, RowRange *range)
{
	SortedStream *stream = &spill->rows[side];

	while (stream->valid && stream->key.high == last.high &&
		   stream->key.low <= last.low)
	{
		add_to_range(spill, side, stream->data, stream->len, range);
		stream_next(stream);
	}
}

/* Copies the row that a set came with, if there is one. */
static void
copy_own_row(Spill *spill, const RunRow *row, RowRange *ranges)
{
	if (row->bytes > 0)
		add_to_range(spill, row->side, row->data, row->bytes,
					 &ranges[row->side]);
}

/* Notes where the sets of this size begin, if this is the first. */
static void
note_size(Spill *spill, uint64 size, uint64 number)
{
	if (spill->nsizes > 0 && spill->sizes[spill->nsizes - 1].size == size)
		return;
	spill->sizes = growing_reserve(spill->sizes, &spill->max_sizes,
								   spill->nsizes + 1, sizeof(SizeStart));
	spill->sizes[spill->nsizes].size = size;
	spill->sizes[spill->nsizes++].number = number;
}

/*
 * Takes the next set, its values to spill->place, and those behind it that are
 * identical to it, and the rows they came with.  Returns the key of the last one.
 *
 * If ever two different sets had one hash, and copies of them came in turn,
 * these would stay different sets; they join like any others.
 */
static SetKey
next_distinct(Spill *spill, SetRecord *record)
{
	SetRuns    *sets = &spill->sets;
	const RunRow *row;
	SetKey		last;
	SetKey		next;

	(void) setruns_next_key(sets, &last);
	record->high = last.high;
	record->place = setruns_take(sets, spill->place, &row);
	copy_own_row(spill, row, record->rows);
	while (setruns_next_key(sets, &next) && same_hash(next, last) &&
		   setruns_next_is(sets, spill->place))
	{
		last = next;
		(void) setruns_take(sets, NULL, &row);
		copy_own_row(spill, row, record->rows);
	}
	return last;
}

/* Bytes of a record in the set file. */
static size_t
record_bytes(const SetJoin *join)
{
	return offsetof(SetRecord, rows) + (LAST_SIDE(join) + 1) * sizeof(RowRange);
}

/* Writes the next distinct set, with its rows, and counts its features. */
static void
merge_set(SetJoin *join)
{
	Spill	   *spill = join->spill;
	SetKey		last;
	SetRecord	record;

	for (int side = SIDE_OUTER; side <= LAST_SIDE(join); side++)
		begin_range(spill, side, &record.rows[side]);
	last = next_distinct(spill, &record);
	for (int side = SIDE_OUTER; side <= LAST_SIDE(join); side++)
		copy_rows(spill, side, last, &record.rows[side]);
	note_size(spill, SETKEY_SIZE(last), join->search.stats.distinct++);
	spillfile_write(&spill->set_file, &record, record_bytes(join));
	if (join->algorithm->ordered)
		setjoin_count(join, spill->place, SETKEY_SIZE(last));
}

/* Opens the readers and divides the memory for the second part. */
static void
prepare_chunks(SetJoin *join)
{
	Spill	   *spill = join->spill;
	size_t		memory = join->params.memory;
	size_t		buffer = Min(Max(memory / 64, BLCKSZ), 256 * 1024);
	size_t		fixed;

	/* candidates to compare are all over the files */
	if (join->deferred != NULL)
		buffer = BLCKSZ;
	join->search.stats.disk += spill->set_file.size + setruns_bytes(&spill->sets);
	fixed = READERS * buffer + setruns_end(&spill->sets, buffer) +
		join->search.counters.bytes +
		(size_t) join->search.most_features * 3 * sizeof(uint64) +
		spill->max_sizes * sizeof(SizeStart);
	spillreader_create(&spill->set_reader, &spill->set_file, buffer);
	spill->chunk_reader = &spill->set_reader;
	for (int side = SIDE_OUTER; side <= SIDE_INNER; side++)
	{
		SpillFile  *file = &spill->row_files[Min(side, LAST_SIDE(join))];

		row_reader_create(&spill->row_readers[side], file, buffer);
		row_reader_create(&join->cursors[side], file, buffer);
		join->search.stats.disk += spill->row_files[side].size;
	}
	spill->largest_group = memory / 16;
	spill->chunk_bytes = memory - memory / 16 * 2 > fixed ?
		memory - memory / 16 * 2 - fixed : 0;
	spill->chunk_bytes = Max(spill->chunk_bytes, memory / 4);
	arena_init(&spill->chunk, Min(Max(memory / 64, 1024), 64 * 1024));
	arena_init(&spill->probe_rows, 1024);
	if (join->deferred != NULL)
	{
		spill->chunk_bytes = memory / 100 * DEFERRED_CHUNK_SHARE;
		spillfile_create(&spill->key_file);
	}
}

/*
 * Counters may have one part in so many of the memory.  Where they are gone
 * before there is a chunk, they may have more: the fewer features share one, the
 * fewer keys there are, and the fewer candidates.
 */
static int
counters_part(SetJoin *join)
{
	return join->deferred != NULL ? 4 : 8;
}

/* All rows are there: sorts and merges them into the three files. */
void
spill_finish(SetJoin *join)
{
	static const SetKey empty = {0, 0};
	Spill	   *spill = join->spill;
	RowRange	range;
	SetKey		key;

	join->search.stats.disk += spill->seen.bytes;
	seen_free(&spill->seen);
	spill->place = MemoryContextAllocHuge(CurrentMemoryContext,
										  set_bytes(join->search.most_features));
	if (join->algorithm->ordered)
		counters_create(&join->search.counters, join->nfeatures,
						join->params.memory / counters_part(join));
	spillfile_create(&spill->set_file);
	setruns_begin(&spill->sets);
	for (int side = SIDE_OUTER; side <= LAST_SIDE(join); side++)
	{
		spillfile_create(&spill->row_files[side]);
		stream_begin(&spill->rows[side]);
		begin_range(spill, side, &range);
		copy_rows(spill, side, empty, &range);
	}
	while (setruns_next_key(&spill->sets, &key))
		merge_set(join);
	if (join->algorithm->ordered)
		counters_fold(&join->search.counters);
	for (int side = SIDE_OUTER; side <= LAST_SIDE(join); side++)
		stream_end(join, &spill->rows[side]);
	prepare_chunks(join);
}

/* Reads the rows of a range into a list. */
static Row *
load_rows(Spill *spill, Arena *arena, JoinSide side, const RowRange *range)
{
	RowReader  *reader = &spill->row_readers[side];
	Row		   *first = NULL;
	Row		  **last = &first;

	if (range->nrows == 0)
		return NULL;
	spillreader_seek(&reader->reader, range->offset);
	for (uint64 i = 0; i < range->nrows; i++)
	{
		uint32		rowno;
		uint32		len;
		const void *data = row_read(reader, &rowno, &len);

		CHECK_FOR_INTERRUPTS();
		*last = row_make(arena, NULL, data, rowno, len);
		last = &(*last)->next;
	}
	return first;
}

/* Where both sides have the same rows, gives the inner side those. */
static void
mirror_rows(SetJoin *join, JoinSet *set)
{
	if (join->params.self_join)
		set->rows[SIDE_INNER] = set->rows[SIDE_OUTER];
}

/* Loads the rows of a set that probes, where they are not too many. */
void
spill_load_rows(SetJoin *join, JoinSet *set)
{
	Spill	   *spill = join->spill;

	for (int side = SIDE_OUTER; side <= LAST_SIDE(join); side++)
	{
		RowRange	range;

		if (set->rows[side] == NULL || set->rows[side]->len != ROWS_IN_FILE)
			continue;
		memcpy(&range, set->rows[side]->data, sizeof(range));
		if (range.bytes <= spill->largest_group)
			set->rows[side] = load_rows(spill, &spill->probe_rows, side,
										&range);
	}
	mirror_rows(join, set);
}

/*
 * Moves the rows of a set that has been read to the arena: those that are not
 * larger than the set, and of others where they are.
 */
void
spill_keep_rows(SetJoin *join, JoinSet *set, Arena *arena)
{
	for (int side = SIDE_OUTER; side <= LAST_SIDE(join); side++)
	{
		RowRange	range;

		if (set->rows[side] == NULL)
			continue;
		memcpy(&range, set->rows[side]->data, sizeof(range));
		if (range.bytes <= sizeof(uint64) * set->size)
			set->rows[side] = load_rows(join->spill, arena, side, &range);
		else
			set->rows[side] = rows_in_file(arena, &range);
	}
	mirror_rows(join, set);
}

/* Reads the record of the next set in the set file. */
static void
read_record(SetJoin *join, JoinSet *set, SetRecord *record)
{
	SpillReader *reader = &join->spill->set_reader;

	memset(set, 0, sizeof(JoinSet));
	set->key.low = spillreader_tell(reader) / record_bytes(join);
	spillreader_read(reader, record, record_bytes(join));
	if (join->params.self_join)
		record->rows[SIDE_INNER] = record->rows[SIDE_OUTER];
	set->key.high = record->high;
	set->size = set->nvalues = SETKEY_SIZE(set->key);
	set->first = record->rows[SIDE_OUTER].first;
}

/* True if the set is wanted in a chunk. */
static bool
wanted_in_chunk(SetJoin *join, const SetRecord *record)
{
	return join->search.symmetric || record->rows[join->indexed].nrows > 0;
}

/* Reads the values of a set. */
static void
read_values(Spill *spill, JoinSet *set, const SetRecord *record)
{
	set->values = set_values(spill->place, set->size);
	setruns_read(&spill->sets, record->place, set->values, set->size);
}

/* Moves what has been made of a set into the chunk: bitmap, values, keys. */
static void
keep_set(Spill *spill, JoinSet *set)
{
	size_t		head = (char *) set->values - (char *) spill->place;
	size_t		body = head + sizeof(uint64) * set->nvalues;
	char	   *place = arena_alloc(&spill->chunk,
									body + sizeof(uint64) * set->nkeys);

	memcpy(place, spill->place, body);
	memcpy(place + body, set->keys, sizeof(uint64) * set->nkeys);
	set->values = (uint64 *) (place + head);
	set->keys = (uint64 *) (place + body);
}

/* Reads what belongs to a set into the chunk. */
static void
load_set(SetJoin *join, JoinSet *set, const SetRecord *record)
{
	Spill	   *spill = join->spill;

	for (int side = SIDE_OUTER; side <= LAST_SIDE(join); side++)
	{
		const RowRange *range = &record->rows[side];

		if (range->bytes <= spill->largest_group)
			set->rows[side] = load_rows(spill, &spill->chunk, side, range);
		else
			set->rows[side] = rows_in_file(&spill->chunk, range);
	}
	mirror_rows(join, set);
	read_values(spill, set, record);
	setjoin_prepare(join, set);
	keep_set(spill, set);
}

/* Rows that are somewhere. */
static Row	somewhere;

/* Writes the keys of a prepared set. */
void
spill_write_keys(SetJoin *join, const JoinSet *set)
{
	SpillFile  *file = &join->spill->key_file;
	KeyRecord	record = {
		.number = set->key.low,.size = set->size,.nvalues = set->nvalues,
		.nkeys = set->nkeys,.sides = SET_SIDES(set)
	};
	size_t		bytes = bitmap_bytes(set->size);

	spillfile_write(file, &record, sizeof(record));
	spillfile_write(file, (char *) set->values - bytes, bytes);
	spillfile_write(file, set->keys, sizeof(uint64) * set->nkeys);
}

/* All keys have been written; chunks are of them from now on. */
void
spill_end_keys(SetJoin *join)
{
	Spill	   *spill = join->spill;
	size_t		memory = join->params.memory;

	counters_free(&join->search.counters);
	spillreader_create(&spill->key_reader, &spill->key_file,
					   Min(Max(memory / 64, BLCKSZ), 256 * 1024));
	spill->chunk_reader = &spill->key_reader;
	join->search.stats.disk += spill->key_file.size;
}

/* Reads the bitmap and the keys of a set into spill->place. */
static void
read_keys(Spill *spill, JoinSet *set)
{
	SpillReader *reader = &spill->key_reader;
	KeyRecord	record;

	spillreader_read(reader, &record, sizeof(record));
	spillreader_read(reader, spill->place,
					 bitmap_bytes(record.size) + sizeof(uint64) * record.nkeys);
	memset(set, 0, sizeof(JoinSet));
	set->key.high = (int64) ((uint64) record.size << SETKEY_HASH_BITS);
	set->key.low = record.number;
	set->size = record.size;
	set->nvalues = record.nvalues;
	set->nkeys = record.nkeys;
	set->values = set->keys = set_values(spill->place, record.size);
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
	Spill	   *spill = join->spill;
	size_t		bytes;
	char	   *place;

	set->nkeys = setjoin_indexed_keys(join, set);
	bytes = bitmap_bytes(set->size) + sizeof(uint64) * set->nkeys;
	place = arena_alloc(&spill->chunk, bytes);
	memcpy(place, spill->place, bytes);
	set->values = set->keys = set_values(place, set->size);
}

/* Bytes of a chunk of that many sets and postings, with what it holds. */
static size_t
chunk_bytes(const Spill *spill, uint32 nsets, uint64 npostings)
{
	return spill->chunk.bytes + spill->max_sets * sizeof(JoinSet) +
		setindex_bytes(nsets, npostings);
}

static void
chunk_room(SetJoin *join)
{
	Spill	   *spill = join->spill;

	if (join->search.nsets < spill->max_sets)
		return;
	if (spill->max_sets == 0)
	{
		spill->max_sets = 64;
		join->search.sets = palloc(spill->max_sets * sizeof(JoinSet));
		return;
	}
	/* memory that has been taken for sets is gone for their postings */
	spill->max_sets += Max(spill->max_sets / 8, 64);
	join->search.sets = repalloc_huge(join->search.sets, spill->max_sets * sizeof(JoinSet));
}

/* Reads the next set into the chunk; false if it is not wanted there. */
static bool
chunk_set(SetJoin *join, JoinSet *set)
{
	Spill	   *spill = join->spill;
	SetRecord	record;

	if (join->deferred != NULL)
	{
		read_keys(spill, set);
		keep_indexed_keys(join, set);
		return true;
	}
	read_record(join, set, &record);
	if (!wanted_in_chunk(join, &record))
		return false;
	load_set(join, set, &record);
	return true;
}

/* Frees the sets of the chunk: no more will come. */
void
spill_free_chunk(SetJoin *join)
{
	Spill	   *spill = join->spill;

	arena_reset(&spill->chunk);
	if (spill->max_sets > 0)
		pfree(join->search.sets);
	join->search.sets = NULL;
	join->search.nsets = spill->max_sets = 0;
}

/*
 * Loads the next chunk into join->search.sets; false if there is none.  A chunk has
 * one set at least, however large.
 */
bool
spill_next_chunk(SetJoin *join)
{
	Spill	   *spill = join->spill;
	SpillReader *reader = spill->chunk_reader;
	uint64		npostings = 0;

	arena_reset(&spill->chunk);
	join->search.nsets = 0;
	spill->this_chunk = spill->next_chunk;
	spillreader_seek(reader, spill->this_chunk);
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
		if (chunk_bytes(spill, join->search.nsets, npostings) > spill->chunk_bytes)
			break;
	}
	spill->next_chunk = spillreader_tell(reader);
	setjoin_account(join, join->params.memory - spill->chunk_bytes +
					chunk_bytes(spill, join->search.nsets, npostings));
	return join->search.nsets > 0;
}

/* spill_next_probe() will read the sets of the chunk, then those behind it. */
void
spill_probe_from_chunk(SetJoin *join)
{
	spillreader_seek(join->spill->chunk_reader, join->spill->this_chunk);
}

/* spill_next_probe() will read the sets behind the chunk. */
void
spill_probe_after_chunk(SetJoin *join)
{
	spillreader_seek(join->spill->chunk_reader, join->spill->next_chunk);
}

/* spill_next_probe() will read the sets from that size on. */
void
spill_probe_from_size(SetJoin *join, uint64 size)
{
	Spill	   *spill = join->spill;
	uint32		low = 0;
	uint32		high = spill->nsizes;

	while (low < high)
	{
		uint32		middle = low + (high - low) / 2;

		if (spill->sizes[middle].size < size)
			low = middle + 1;
		else
			high = middle;
	}
	spillreader_seek(&spill->set_reader,
					 low < spill->nsizes ? spill->sizes[low].number * record_bytes(join) :
					 spill->set_file.size);
}

/* The next set of the set file, or NULL; valid until the next call. */
JoinSet *
spill_next_set(SetJoin *join)
{
	Spill	   *spill = join->spill;
	JoinSet    *set = &spill->probe;
	SetRecord	record;

	if (spillreader_at_end(&spill->set_reader))
		return NULL;
	arena_reset(&spill->probe_rows);
	read_record(join, set, &record);
	read_values(spill, set, &record);
	for (int side = SIDE_OUTER; side <= LAST_SIDE(join); side++)
		set->rows[side] = rows_in_file(&spill->probe_rows,
									   &record.rows[side]);
	mirror_rows(join, set);
	return set;
}

/* The set of that number; valid until the next one is read. */
JoinSet *
spill_set(SetJoin *join, uint32 number)
{
	spillreader_seek(&join->spill->set_reader,
					 (uint64) number * record_bytes(join));
	return spill_next_set(join);
}

/*
 * The next set to probe the chunk, or NULL; valid until the next call.  Of
 * sets that are compared later it has the keys.
 */
JoinSet *
spill_next_probe(SetJoin *join)
{
	Spill	   *spill = join->spill;

	if (join->deferred == NULL)
		return spill_next_set(join);
	if (spillreader_at_end(&spill->key_reader))
		return NULL;
	read_keys(spill, &spill->probe);
	return &spill->probe;
}

/*
 * Closes the files.  Those of the sorts are still there if the join is ended
 * before anything came out, as by a process that comes too late for a part.
 */
void
spill_end(SetJoin *join)
{
	Spill	   *spill = join->spill;

	setruns_free(&spill->sets);
	stream_free(&spill->rows[SIDE_OUTER]);
	stream_free(&spill->rows[SIDE_INNER]);
	seen_free(&spill->seen);
	spillfile_close(&spill->set_file);
	spillfile_close(&spill->key_file);
	spillfile_close(&spill->row_files[SIDE_OUTER]);
	spillfile_close(&spill->row_files[SIDE_INNER]);
}
