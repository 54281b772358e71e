/*
 * spill.c
 *		Rows and sets of a join go to disk when memory runs out.
 *
 * They are sorted by the size of the set, then by its hash: sets with small rows
 * in runs, see set_runs.c, and large rows of each side in a sort, see large_rows.c.
 * Merged they make the set file, see set_file.c, which is then read in chunks,
 * see chunks.c.
 *
 * While rows come in, sets seen before are not written again, as far as
 * seen.c can tell; those that slip through meet when the runs are merged.  Where
 * hardly any set has come twice before memory was full, none is looked for: they
 * would all be written a second time for that.  Each set that is written has a
 * number, in its own record and in those of its rows.  A hash only brings records
 * of identical sets together: whether two are identical is seen by comparing them.
 *
 * Where several processes take in the rows, each writes runs of its own, which they merge
 * together: see shared_runs.c.  A sort cannot be read by others, so rows of any size are in the runs.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/join/engine/spill.c
 */
#include "postgres.h"

#include "miscadmin.h"

#include "base/hash.h"
#include "join/engine/deferred.h"
#include "join/engine/spill.h"

/* Bits of its own hash that a set keeps in the first part of its key. */
#define OWN_HASH_BITS			10

/* Rows are in the runs with their sets; larger ones are sorted apart. */
#define LARGEST_OWN_ROW		256

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

/* The number of the n-th set; no other process has it. */
static uint32
set_number(const SetJoin *join, uint32 n)
{
	const RunsPlace *place = &join->spill->file.runs.place;

	if (n >= PG_UINT32_MAX / place->nparts)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("too many sets in a similarity join"),
				 errhint("Raise work_mem.")));
	return n * place->nparts + place->part;
}

/* The key of a set that has not been seen before, by which it will have its place. */
static SetKey
new_key(SetJoin *join, SetKey key, const uint64 *values)
{
	return numbered_key(placed_key(join, key, values),
						set_number(join, join->spill->nwritten));
}

/* The set has been written: returns its number. */
static uint32
note_set(SetJoin *join, SetKey key, const uint64 *values)
{
	Spill	   *spill = join->spill;
	uint32		number = set_number(join, spill->nwritten++);

	seen_add(&spill->seen, key, values, number);
	join->nfeatures += SETKEY_SIZE(key);
	return number;
}

/* A row as runs have it; good until the next one. */
static const RunRow *
own_row(Spill *spill, JoinSide side, const void *row, uint32 rowno, uint32 len)
{
	uint32		bytes = file_row_bytes(len);

	if (bytes > spill->own_room)
	{
		spill->own_row = repalloc_huge(spill->own_row, RUN_ROW_HEAD + (size_t) bytes);
		spill->own_room = bytes;
	}
	spill->own_row->side = side;
	spill->own_row->bytes = bytes;
	file_row_make(spill->own_row->data, row, rowno, len);
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

	setruns_add(&spill->file.runs, new_key(join, key, values), values, row);
	return note_set(join, key, values);
}

/* Writes a set that stays in memory until all of them have been written. */
static void
put_kept_set(SetJoin *join, const JoinSet *set)
{
	setruns_add_kept(&join->spill->file.runs, new_key(join, set->key, set->values),
					 set->values);
	(void) note_set(join, set->key, set->values);
}

/* True if a row is in the runs. */
static bool
is_own_row(const Spill *spill, uint32 len)
{
	return len <= LARGEST_OWN_ROW || runs_are_shared(spill);
}

/* Writes a row of a set that has that key, or of none, which has the key zero. */
static void
put_row(Spill *spill, JoinSide side, SetKey key, const void *row,
		uint32 rowno, uint32 len)
{
	if (is_own_row(spill, len) && (SETKEY_SIZE(key) > 0 || runs_are_shared(spill)))
		setruns_add(&spill->file.runs, key, NULL,
					own_row(spill, side, row, rowno, len));
	else
		large_rows_add(&spill->rows[side], key, row, rowno, len);
}

static void
put_rows(SetJoin *join, JoinSide side, SetKey key, const Row *link)
{
	for (const Row *row = row_at(join->pool.areas, link); row != NULL;
		 row = row_at(join->pool.areas, row->next))
	{
		CHECK_FOR_INTERRUPTS();
		put_row(join->spill, side, key, row->data, row->rowno, row->len);
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
		put_rows(join, side,
				 numbered_key(placed_key(join, table->sets[i].key,
										 table->sets[i].values),
							  set_number(join, i)),
				 table->sets[i].rows[side]);
	put_rows(join, side, empty, join->empty[side]);
	join->empty[side] = NULL;
	if (!runs_are_shared(join->spill))
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
	setruns_flush(&join->spill->file.runs);
	if (!runs_are_shared(join->spill))
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

/* Where runs will be. */
static RunsPlace
runs_place(const SetJoin *join)
{
	RunsPlace	place = {NULL, 0, 1};

	if (join->params.shared == NULL)
		return place;
	place.files = join->params.files;
	place.part = join->params.part;
	place.nparts = join->params.shared->nparts;
	return place;
}

/* Makes what there is while rows come in.  Sorts of rows are not for several processes. */
static Spill *
make_spill(SetJoin *join)
{
	Spill	   *spill = palloc0(sizeof(Spill));
	size_t		memory = join->params.memory;
	RunsPlace	place = runs_place(join);
	bool		repeated = sets_repeat(join);

	spill->own_room = sizeof(FileRow) + LARGEST_OWN_ROW;
	spill->own_row = palloc(RUN_ROW_HEAD + spill->own_room);
	setruns_create(&spill->file.runs, memory / 100 *
				   (RUNS_SHARE + (repeated ? 0 : SEEN_SHARE + SEEN_CACHE_SHARE)),
				   &place);
	for (int side = SIDE_OUTER; side <= LAST_SIDE(join) && !runs_are_shared(spill); side++)
		large_rows_create(&spill->rows[side],
						  memory / 100 * SORT_ROWS_SHARE / (LAST_SIDE(join) + 1));
	if (repeated)
		seen_create(&spill->seen, memory / 100 * SEEN_SHARE,
					memory / 100 * SEEN_CACHE_SHARE);
	/* while the rows and sets are in memory that have come so far */
	setruns_limit(&spill->file.runs, memory / 100 * SORT_ROWS_SHARE);
	return spill;
}

/* See spill.h */
void
spill_has_memory(SetJoin *join)
{
	setruns_limit(&join->spill->file.runs, SIZE_MAX);
	join->spill->holds_memory = false;
}

/* See spill.h */
void
spill_begin(SetJoin *join)
{
	join->spill = make_spill(join);
	if (join->search.symmetric && join->algorithm->compare != NULL)
		join->deferred = deferred_create(join->params.memory);
	put_all(join);
	join->spill->holds_memory = runs_are_shared(join->spill);
	if (!join->spill->holds_memory)
		spill_has_memory(join);
	setjoin_account(join, join->params.memory / 100 *
					(RUNS_SHARE + SORT_ROWS_SHARE + SEEN_SHARE + SEEN_CACHE_SHARE));
}

/* See spill.h */
void
spill_add(SetJoin *join, JoinSide side, SetKey key, const uint64 *values,
		  const void *row, uint32 rowno, uint32 len)
{
	uint32		number = 0;

	if (SETKEY_SIZE(key) > 0 &&
		!seen_find(&join->spill->seen, key, values, &number))
	{
		if (is_own_row(join->spill, len))
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

/*
 * What the sets on disk have in common with others, about: features, or keys, of which
 * sets that were in memory had so many on the average.
 */
static uint64
announced_features(const SetJoin *join)
{
	double		keys = (double) join->npostings / Max(join->nstored, 1) *
		join->spill->nwritten;

	return Max(join->nfeatures, (uint64) keys);
}

/* Announces all sets on disk. */
static void
announce_all(SetJoin *join)
{
	SetRuns    *runs = &join->spill->file.runs;
	uint64	   *values = MemoryContextAllocHuge(join->search.context,
												sizeof(uint64) * join->search.most_features);
	RunsScan	scan;
	uint32		n;

	setruns_scan_begin(runs, &scan, spill_buffer(join));
	while (join->filter.words != NULL && setruns_scan_next(&scan, values, &n))
		setjoin_announce(join, values, n);
	setruns_scan_end(&scan);
	pfree(values);
}

/*
 * See spill.h.  Sets are in memory no more, so they are read once again; what is not
 * kept of the other side need not be written, sorted and read.
 */
void
spill_filter(SetJoin *join)
{
	MemoryContext old = MemoryContextSwitchTo(join->search.context);
	SetRuns    *runs = &join->spill->file.runs;

	feature_filter_create(&join->filter, announced_features(join), runs->most_bytes / 2);
	if (join->filter.words != NULL)
	{
		setruns_limit(runs, runs->most_bytes - join->filter.bytes);
		announce_all(join);
	}
	MemoryContextSwitchTo(old);
}

/* See spill.h */
void
spill_end_filter(SetJoin *join)
{
	MemoryContext old = MemoryContextSwitchTo(join->search.context);

	setruns_limit(&join->spill->file.runs, SIZE_MAX);
	MemoryContextSwitchTo(old);
}

/* Copies the large rows up to that key to the set file. */
static void
copy_rows(Spill *spill, JoinSide side, SetKey last, RowRange *range)
{
	LargeRows  *rows = &spill->rows[side];

	while (rows->valid && rows->key.high == last.high &&
		   rows->key.low <= last.low)
	{
		setfile_add_row(&spill->file, side, rows->data, rows->len, range);
		large_rows_next(rows);
	}
}

/* Copies the row that a set came with, if there is one. */
static void
copy_own_row(Spill *spill, const RunRow *row, RowRange *ranges)
{
	if (row->bytes > 0)
		setfile_add_row(&spill->file, row->side, row->data, row->bytes,
						&ranges[row->side]);
}

/*
 * Takes the next set, its values to the place for them, and those behind it that are
 * identical to it, and the rows they came with.  Returns the key of the last one.
 *
 * If ever two different sets had one hash, and copies of them came in turn,
 * these would stay different sets; they join like any others.
 */
static SetKey
next_distinct(Spill *spill, SetRecord *record)
{
	SetRuns    *sets = &spill->file.runs;
	void	   *place = spill->file.place;
	const RunRow *row;
	SetKey		last;
	SetKey		next;

	(void) setruns_next_key(sets, &last);
	record->high = last.high;
	record->place = setruns_take(sets, place, &row);
	copy_own_row(spill, row, record->rows);
	while (setruns_next_key(sets, &next) && same_hash(next, last) &&
		   setruns_next_is(sets, place))
	{
		last = next;
		(void) setruns_take(sets, NULL, &row);
		copy_own_row(spill, row, record->rows);
	}
	return last;
}

/* Writes the next distinct set, with its rows, and counts its features. */
static void
merge_set(SetJoin *join)
{
	Spill	   *spill = join->spill;
	SetKey		last;
	SetRecord	record;

	for (int side = SIDE_OUTER; side <= LAST_SIDE(join); side++)
		setfile_begin_rows(&spill->file, side, &record.rows[side]);
	last = next_distinct(spill, &record);
	for (int side = SIDE_OUTER; side <= LAST_SIDE(join); side++)
		copy_rows(spill, side, last, &record.rows[side]);
	setfile_add(&spill->file, &record);
	join->search.stats.distinct++;
	if (join->algorithm->ordered)
		setjoin_count(join, spill->file.place, SETKEY_SIZE(last));
}

/* Copies the rows of no set, which come first, if they are in the runs. */
static void
copy_empty_rows(SetJoin *join)
{
	Spill	   *spill = join->spill;
	RowRange	ranges[2];
	const RunRow *row;
	SetKey		key;

	for (int side = SIDE_OUTER; side <= LAST_SIDE(join); side++)
		setfile_begin_rows(&spill->file, side, &ranges[side]);
	while (setruns_next_key(&spill->file.runs, &key) && SETKEY_SIZE(key) == 0)
	{
		(void) setruns_take(&spill->file.runs, NULL, &row);
		copy_own_row(spill, row, ranges);
	}
}

/* See spill.h */
size_t
spill_buffer(const SetJoin *join)
{
	return Min(Max(join->params.memory / 64, BLCKSZ), 256 * 1024);
}

/*
 * Opens the readers and divides the memory for the second part.  Where several processes have
 * the same sets, what chunks may take must be the same in all of them: they take probes from
 * one counter, in the order of the chunks.
 */
static void
begin_chunks(SetJoin *join)
{
	SetFile    *file = &join->spill->file;
	size_t		largest_group = join->params.memory / 16;
	/* candidates to compare are all over the files */
	size_t		buffer = join->deferred != NULL ? BLCKSZ : spill_buffer(join);
	/* of those that probe each chunk, too */
	int			readers = SET_FILE_READERS + (join->search.symmetric ? 0 : 1);

	setfile_begin(file, buffer, largest_group);
	for (int side = SIDE_OUTER; side <= SIDE_INNER; side++)
		row_reader_create(&join->cursors[side],
						  &file->rows[Min(side, LAST_SIDE(join))], buffer);
	chunks_create(join, 2 * largest_group + readers * buffer +
				  setruns_end(&file->runs, buffer) +
				  join->search.counters.bytes +
				  (size_t) join->search.most_features * 3 * sizeof(uint64) +
				  file->max_sizes * sizeof(SizeStart));
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

/* No more sets are looked for that have been seen; those that are merged are counted. */
static void
begin_merge(SetJoin *join)
{
	Spill	   *spill = join->spill;

	join->search.stats.disk += spill->seen.bytes;
	seen_free(&spill->seen);
	pfree(spill->own_row);
	spill->own_row = NULL;
	if (join->algorithm->ordered)
		counters_create(&join->search.counters, join->nfeatures,
						join->params.memory / counters_part(join));
}

/* All sets are in the set file, and counted. */
static void
end_merge(SetJoin *join)
{
	if (join->algorithm->ordered)
		counters_fold(&join->search.counters);
	begin_chunks(join);
	join->spill->finished = true;
}

/* See spill.h */
void
spill_finish(SetJoin *join)
{
	static const SetKey empty = {0, 0};
	Spill	   *spill = join->spill;
	RowRange	range;
	SetKey		key;

	begin_merge(join);
	setfile_create(&spill->file, LAST_SIDE(join) + 1, join->search.most_features);
	setruns_begin(&spill->file.runs);
	for (int side = SIDE_OUTER; side <= LAST_SIDE(join); side++)
	{
		large_rows_begin(&spill->rows[side]);
		setfile_begin_rows(&spill->file, side, &range);
		copy_rows(spill, side, empty, &range);
	}
	while (setruns_next_key(&spill->file.runs, &key))
		merge_set(join);
	join->search.stats.disk += setfile_bytes(&spill->file);
	for (int side = SIDE_OUTER; side <= LAST_SIDE(join); side++)
		join->search.stats.disk += large_rows_free(&spill->rows[side]);
	end_merge(join);
}

/* See spill.h */
void
spill_begin_shares(SetJoin *join, uint32 nshares)
{
	Spill	   *spill = join->spill;

	begin_merge(join);
	setfile_create_in(&spill->file, LAST_SIDE(join) + 1, join->search.most_features,
					  join->params.files, join->params.part);
	setruns_divide(&spill->file.runs, nshares);
}

/* See spill.h */
void
spill_merge_share(SetJoin *join, uint32 number, MergedShare *share)
{
	SetFile    *file = &join->spill->file;
	SetKey		key;

	share->part = join->params.part;
	setfile_begin_share(file, share);
	setruns_begin_share(&file->runs, number);
	copy_empty_rows(join);
	while (setruns_next_key(&file->runs, &key))
		merge_set(join);
	setfile_end_share(file, share);
}

/* See spill.h */
void
spill_end_shares(SetJoin *join)
{
	join->search.stats.distinct = join->spill->file.nsets;
	end_merge(join);
}

/* Hands out a row as it lies in a file. */
static void
return_row(const RunRow *row, SetKey key, const uint64 *values, RowTaker take, void *arg)
{
	uint32		n = SETKEY_SIZE(key);
	FileRow		head;

	if (row->bytes == 0)
		return;
	memcpy(&head, row->data, sizeof(FileRow));
	take(arg, row->side, n == 0 ? NULL : values, n, row->data + sizeof(FileRow), head.len);
}

/* See spill.h */
void
spill_return_rows(SetJoin *join, RowTaker take, void *arg)
{
	SetRuns    *runs = &join->spill->file.runs;
	uint64	   *values = MemoryContextAllocHuge(join->search.context,
												sizeof(uint64) * Max(join->search.most_features, 1));
	const RunRow *row;
	SetKey		key;

	setruns_begin(runs);
	while (setruns_next_key(runs, &key))
	{
		(void) setruns_take(runs, values, &row);
		return_row(row, key, values, take, arg);
	}
	pfree(values);
}

/* See spill.h */
void
spill_end(SetJoin *join)
{
	Spill	   *spill = join->spill;

	(void) large_rows_free(&spill->rows[SIDE_OUTER]);
	(void) large_rows_free(&spill->rows[SIDE_INNER]);
	seen_free(&spill->seen);
	setfile_close(&spill->file);
	chunks_close(&spill->chunks);
}
