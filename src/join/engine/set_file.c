/*
 * set_file.c
 *		The distinct sets of a join on disk, in order of size, and their rows.
 *
 * A set has a record with the place of its values in the runs and the ranges of its rows,
 * which are in a file for each side.  Its number is that of its record.  Shares of the
 * keys are merged by several processes, each into files of its own; the concatenation of
 * all shares is what is read.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "join/engine/set_file.h"

#define NAME_OF_RECORDS	"sets"

/* By side. */
static const char *const names_of_rows[] = {"outer", "inner"};

Row			rows_somewhere;

static size_t
record_bytes(const SetFile *file)
{
	return offsetof(SetRecord, rows) + file->nsides * sizeof(RowRange);
}

void
setfile_create(SetFile *file, int nsides, uint32 max_features)
{
	file->store = file->runs.store;
	file->nsides = nsides;
	file->place = palloc_extended(set_bytes(max_features), MCXT_ALLOC_HUGE);
	spillfile_create(&file->records, &file->store, NAME_OF_RECORDS);
	for (int side = 0; side < nsides; side++)
		spillfile_create(&file->rows[side], &file->store, names_of_rows[side]);
}

/* Merging */

static void
add_row(SetFile *file, const RunRecord *from, RowRange *ranges)
{
	RowRange   *range = &ranges[from->side];
	FileRow		head;

	if (from->row_bytes == 0)
		return;
	memcpy(&head, from->row, sizeof(FileRow));
	range->first = Min(range->first, head.rowno);
	range->nrows++;
	range->bytes += from->row_bytes;
	spillfile_write(&file->rows[from->side], from->row, from->row_bytes);
}

/*
 * Read the next set, its values into file->place, with those that are identical to it and
 * the rows of all.
 *
 * If two different sets had one hash and copies of them came in turn, these would stay
 * different sets, and be joined like any others.
 */
static void
merge_set(SetFile *file, SetRecord *record)
{
	const RunRecord *from = setruns_next(&file->runs, file->place);
	SetKey		key = from->key;
	SetKey		next;

	record->high = key.high;
	record->place = from->place;
	add_row(file, from, record->rows);
	while (setruns_next_key(&file->runs, &next) && setkeys_same_hash(next, key) &&
		   setruns_next_is(&file->runs, file->place))
		add_row(file, setruns_next(&file->runs, NULL), record->rows);
}

static void
begin_rows(const SetFile *file, RowRange *ranges)
{
	for (int side = 0; side < file->nsides; side++)
		ranges[side] = (RowRange) {.offset = file->rows[side].size,.first = PG_UINT32_MAX};
}

void
setfile_merge(SetFile *file, uint32 share, MergedShare *merged, SetCallback callback,
			  void *arg)
{
	SetRecord	record;
	SetKey		key;

	merged->part = file->store.part;
	merged->first = file->nsets;
	for (int side = 0; side < file->nsides; side++)
		merged->rows[side] = file->rows[side].size;
	setruns_begin_share(&file->runs, share);
	begin_rows(file, record.rows);
	/* rows without features come first */
	while (setruns_next_key(&file->runs, &key) && SETKEY_SIZE(key) == 0)
		add_row(file, setruns_next(&file->runs, NULL), record.rows);
	while (setruns_next_key(&file->runs, &key))
	{
		begin_rows(file, record.rows);
		merge_set(file, &record);
		spillfile_write(&file->records, &record, record_bytes(file));
		file->nsets++;
		callback(arg, file->place, SETKEY_SIZE(key));
	}
	merged->nsets = file->nsets - merged->first;
	for (int side = 0; side < file->nsides; side++)
		merged->row_bytes[side] = file->rows[side].size - merged->rows[side];
}

uint64
setfile_publish(SetFile *file)
{
	uint64		bytes = spillfile_publish(&file->records, &file->store);

	for (int side = 0; side < file->nsides; side++)
		bytes += spillfile_publish(&file->rows[side], &file->store);
	file->nsets = 0;
	return bytes;
}

/* Reading */

/* Append what was merged of a share. */
static void
add_share(SetFile *file, const MergedShare *merged)
{
	size_t		number = file->records.npieces;
	SpillPiece	piece = {.part = merged->part,.offset = merged->first * record_bytes(file)};

	spillfile_add_piece(&file->records, &file->store, NAME_OF_RECORDS, &piece,
						merged->nsets * record_bytes(file));
	for (int side = 0; side < file->nsides; side++)
	{
		piece.offset = merged->rows[side];
		file->shift[number][side] = file->rows[side].size - merged->rows[side];
		spillfile_add_piece(&file->rows[side], &file->store, names_of_rows[side], &piece,
							merged->row_bytes[side]);
	}
	file->nsets += merged->nsets;
}

size_t
setfile_begin(SetFile *file, const MergedShare *shares, uint32 nshares, size_t buffer,
			  size_t max_group)
{
	file->shift = palloc(sizeof(*file->shift) * nshares);
	for (uint32 i = 0; i < nshares; i++)
		add_share(file, &shares[i]);
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
	size_t		share;

	if (spillreader_at_end(&file->reader))
		return NULL;
	spillreader_read(&file->reader, record, record_bytes(file));
	share = spillfile_piece(&file->records, at);
	memset(set, 0, sizeof(JoinSet));
	for (int side = 0; side < file->nsides; side++)
	{
		record->rows[side].offset += file->shift[share][side];
		if (record->rows[side].nrows > 0)
			set->rows[side] = &rows_somewhere;
	}
	if (file->nsides == 1)
		set->rows[SIDE_INNER] = set->rows[SIDE_OUTER];
	set->key.high = record->high;
	set->key.low = at / record_bytes(file);
	set->size = set->nvalues = SETKEY_SIZE(set->key);
	set->first = record->rows[SIDE_OUTER].first;
	set->values = set_values(file->place, set->size);
	return set;
}

void
setfile_read_values(SetFile *file)
{
	setruns_read(&file->runs, file->record.place, file->set.values, file->set.size);
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

	if (set->rows[SIDE_OUTER] != &rows_somewhere && set->rows[SIDE_INNER] != &rows_somewhere)
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

void
setfile_seek_size(SetFile *file, uint64 size)
{
	uint64		low = 0;
	uint64		high = file->nsets;

	while (low < high)
	{
		uint64		middle = low + (high - low) / 2;

		setfile_seek(file, middle);
		if (setfile_next(file)->size < size)
			low = middle + 1;
		else
			high = middle;
	}
	setfile_seek(file, low);
}

void
setfile_close(SetFile *file)
{
	setruns_close(&file->runs);
	spillfile_close(&file->records);
	spillfile_close(&file->rows[SIDE_OUTER]);
	spillfile_close(&file->rows[SIDE_INNER]);
}
