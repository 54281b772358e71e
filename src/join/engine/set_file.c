/*
 * set_file.c
 *		The distinct sets of a join on disk, in order of size, and their rows.
 *
 * A set has a record, with the place of its values in the runs and the ranges of
 * its rows, which are in a file for each side.  Its number is its place among the
 * records.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/join/engine/set_file.c
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "base/growing.h"
#include "join/engine/set_file.h"

/* The last side whose rows are stored. */
#define LAST_STORED(file)	((file)->nsides - 1)

/* Bytes of a record. */
static size_t
record_bytes(const SetFile *file)
{
	return offsetof(SetRecord, rows) + file->nsides * sizeof(RowRange);
}

/* Files of several processes have names by which all find them. */
#define FILE_OF_RECORDS	"similarity_join_sets_%d"
#define FILE_OF_ROWS	"similarity_join_rows_%d_%d"

static void
create(SetFile *file, int nsides, uint32 most_features)
{
	file->nsides = nsides;
	file->place = MemoryContextAllocHuge(CurrentMemoryContext,
										 set_bytes(most_features));
}

/* See set_file.h */
void
setfile_create(SetFile *file, int nsides, uint32 most_features)
{
	create(file, nsides, most_features);
	spillfile_create(&file->records);
	for (int side = SIDE_OUTER; side <= LAST_STORED(file); side++)
		spillfile_create(&file->rows[side]);
}

/* See set_file.h */
void
setfile_create_in(SetFile *file, int nsides, uint32 most_features,
				  FileSet *files, int part)
{
	char		name[MAXPGPATH];

	create(file, nsides, most_features);
	snprintf(name, MAXPGPATH, FILE_OF_RECORDS, part);
	spillfile_create_in(&file->records, files, name);
	for (int side = SIDE_OUTER; side <= LAST_STORED(file); side++)
	{
		snprintf(name, MAXPGPATH, FILE_OF_ROWS, part, side);
		spillfile_create_in(&file->rows[side], files, name);
	}
}

/* See set_file.h */
void
setfile_begin_rows(const SetFile *file, JoinSide side, RowRange *range)
{
	range->offset = file->rows[side].size;
	range->bytes = range->nrows = 0;
	range->first = PG_UINT32_MAX;
}

/* See set_file.h */
void
setfile_add_row(SetFile *file, JoinSide side, const char *row, size_t len,
				RowRange *range)
{
	FileRow		head;

	memcpy(&head, row, sizeof(FileRow));
	range->first = Min(range->first, head.rowno);
	spillfile_write(&file->rows[side], row, len);
	range->nrows++;
	range->bytes += len;
}

/* Notes where the sets of this size begin, if the next set is the first. */
static void
note_size(SetFile *file, uint64 size)
{
	if (file->nsizes > 0 && file->sizes[file->nsizes - 1].size == size)
		return;
	file->sizes = growing_reserve(file->sizes, &file->max_sizes,
								  file->nsizes + 1, sizeof(SizeStart));
	file->sizes[file->nsizes].size = size;
	file->sizes[file->nsizes++].number = file->nsets;
}

/* See set_file.h */
void
setfile_add(SetFile *file, const SetRecord *record)
{
	SetKey		key = {record->high, 0};

	note_size(file, SETKEY_SIZE(key));
	spillfile_write(&file->records, record, record_bytes(file));
	file->nsets++;
}

/* See set_file.h */
void
setfile_begin_share(const SetFile *file, MergedShare *share)
{
	share->first = file->nsets;
	for (int side = SIDE_OUTER; side <= LAST_STORED(file); side++)
		share->rows[side] = file->rows[side].size;
}

/* See set_file.h */
void
setfile_end_share(const SetFile *file, MergedShare *share)
{
	share->nsets = file->nsets - share->first;
	for (int side = SIDE_OUTER; side <= LAST_STORED(file); side++)
		share->row_bytes[side] = file->rows[side].size - share->rows[side];
}

/* Closes a file for others to read; returns its size, and leaves room for a whole. */
static uint64
export_file(SpillFile *file)
{
	uint64		bytes = file->size;

	spillfile_export(file);
	spillfile_close(file);
	memset(file, 0, sizeof(SpillFile));
	return bytes;
}

/* See set_file.h */
void
setfile_export(SetFile *file, MergedBytes *bytes)
{
	bytes->records = export_file(&file->records);
	for (int side = SIDE_OUTER; side <= LAST_STORED(file); side++)
		bytes->rows[side] = export_file(&file->rows[side]);
	/* sizes are those of its own sets: nothing that differs between processes may be left */
	if (file->sizes != NULL)
		pfree(file->sizes);
	file->sizes = NULL;
	file->nsets = file->nsizes = file->max_sizes = 0;
}

static bool
is_empty(const SetFile *file, const MergedShare *share)
{
	bool		empty = share->nsets == 0;

	for (int side = SIDE_OUTER; side <= LAST_STORED(file); side++)
		empty &= share->row_bytes[side] == 0;
	return empty;
}

/* The files of a process, opened if they are not. */
static MergedFiles *
merged_files(SetFile *file, FileSet *files, int part, const MergedBytes *bytes)
{
	MergedFiles *merged = &file->merged[part];
	char		name[MAXPGPATH];

	if (merged->records.file != NULL)
		return merged;
	snprintf(name, MAXPGPATH, FILE_OF_RECORDS, part);
	spillfile_open(&merged->records, files, name, bytes->records);
	for (int side = SIDE_OUTER; side <= LAST_STORED(file); side++)
	{
		snprintf(name, MAXPGPATH, FILE_OF_ROWS, part, side);
		spillfile_open(&merged->rows[side], files, name, bytes->rows[side]);
	}
	return merged;
}

/* See set_file.h */
void
setfile_add_share(SetFile *file, FileSet *files, int nparts,
				  const MergedShare *share, const MergedBytes *bytes)
{
	MergedFiles *merged;
	SharePlace *place;

	if (is_empty(file, share))
		return;
	if (file->merged == NULL)
		file->merged = palloc0(sizeof(MergedFiles) * nparts);
	file->nmerged = nparts;
	merged = merged_files(file, files, share->part, bytes);
	file->shares = growing_reserve(file->shares, &file->max_shares,
								   file->nshares + 1, sizeof(SharePlace));
	place = &file->shares[file->nshares++];
	spillfile_add(&file->records, &merged->records, share->first * record_bytes(file),
				  share->nsets * record_bytes(file));
	for (int side = SIDE_OUTER; side <= LAST_STORED(file); side++)
	{
		place->rows[side] = file->rows[side].size - share->rows[side];
		spillfile_add(&file->rows[side], &merged->rows[side], share->rows[side],
					  share->row_bytes[side]);
	}
	file->nsets += share->nsets;
}

/* See set_file.h */
void
setfile_begin(SetFile *file, size_t buffer, size_t largest_group)
{
	spillreader_create(&file->reader, &file->records, buffer);
	for (int side = SIDE_OUTER; side <= SIDE_INNER; side++)
		row_reader_create(&file->row_readers[side],
						  &file->rows[Min(side, LAST_STORED(file))], buffer);
	file->largest_group = largest_group;
	arena_init(&file->set_rows, 1024);
}

/* See set_file.h */
uint64
setfile_bytes(const SetFile *file)
{
	return file->records.size + setruns_bytes(&file->runs) +
		file->rows[SIDE_OUTER].size + file->rows[SIDE_INNER].size;
}

/* Tells where the rows of a set are in what is put together, not in the file of a process. */
static void
place_rows(const SetFile *file, uint64 number, SetRecord *record)
{
	/* a share has one piece of the records */
	const SharePlace *place =
		&file->shares[spillfile_piece(&file->records, number * record_bytes(file))];

	for (int side = SIDE_OUTER; side <= LAST_STORED(file); side++)
		record->rows[side].offset += place->rows[side];
}

/* See set_file.h */
void
setfile_read(SetFile *file, JoinSet *set, SetRecord *record)
{
	memset(set, 0, sizeof(JoinSet));
	set->key.low = spillreader_tell(&file->reader) / record_bytes(file);
	spillreader_read(&file->reader, record, record_bytes(file));
	if (file->shares != NULL)
		place_rows(file, set->key.low, record);
	if (file->nsides == 1)
		record->rows[SIDE_INNER] = record->rows[SIDE_OUTER];
	set->key.high = record->high;
	set->size = set->nvalues = SETKEY_SIZE(set->key);
	set->first = record->rows[SIDE_OUTER].first;
}

/* See set_file.h */
void
setfile_read_values(SetFile *file, JoinSet *set, const SetRecord *record)
{
	set->values = set_values(file->place, set->size);
	setruns_read(&file->runs, record->place, set->values, set->size);
}

/* Reads the rows of a range into a list. */
static Row *
load_rows(SetFile *file, Arena *arena, JoinSide side, const RowRange *range)
{
	RowReader  *reader = &file->row_readers[side];
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

/* The rows of a range if they have no more bytes than that, or else where they are. */
static Row *
rows_of(SetFile *file, Arena *arena, JoinSide side, const RowRange *range,
		size_t most)
{
	return range->bytes <= most ? load_rows(file, arena, side, range) :
		rows_in_file(arena, range);
}

/* Where both sides have the same rows, gives the inner side those. */
static void
mirror_rows(const SetFile *file, JoinSet *set)
{
	if (file->nsides == 1)
		set->rows[SIDE_INNER] = set->rows[SIDE_OUTER];
}

/* See set_file.h */
void
setfile_read_rows(SetFile *file, JoinSet *set, const SetRecord *record,
				  Arena *arena)
{
	for (int side = SIDE_OUTER; side <= LAST_STORED(file); side++)
		set->rows[side] = rows_of(file, arena, side, &record->rows[side],
								  file->largest_group);
	mirror_rows(file, set);
}

/* See set_file.h */
void
setfile_load_rows(SetFile *file, JoinSet *set)
{
	for (int side = SIDE_OUTER; side <= LAST_STORED(file); side++)
	{
		RowRange	range;

		if (set->rows[side] == NULL || set->rows[side]->len != ROWS_IN_FILE)
			continue;
		memcpy(&range, set->rows[side]->data, sizeof(range));
		if (range.bytes <= file->largest_group)
			set->rows[side] = load_rows(file, &file->set_rows, side, &range);
	}
	mirror_rows(file, set);
}

/* See set_file.h */
void
setfile_keep_rows(SetFile *file, JoinSet *set, Arena *arena)
{
	for (int side = SIDE_OUTER; side <= LAST_STORED(file); side++)
	{
		RowRange	range;

		if (set->rows[side] == NULL)
			continue;
		memcpy(&range, set->rows[side]->data, sizeof(range));
		set->rows[side] = rows_of(file, arena, side, &range,
								  sizeof(uint64) * set->size);
	}
	mirror_rows(file, set);
}

/* See set_file.h */
void
setfile_seek(SetFile *file, uint64 number)
{
	spillreader_seek(&file->reader, number * record_bytes(file));
}

/* The same where it is not noted where the sets of a size begin: looks at records. */
static void
look_for_size(SetFile *file, uint64 size)
{
	uint64		low = 0;
	uint64		high = file->nsets;

	while (low < high)
	{
		uint64		middle = low + (high - low) / 2;
		SetRecord	record;
		JoinSet		set;

		setfile_seek(file, middle);
		setfile_read(file, &set, &record);
		if (set.size < size)
			low = middle + 1;
		else
			high = middle;
	}
	setfile_seek(file, low);
}

/* See set_file.h */
void
setfile_seek_size(SetFile *file, uint64 size)
{
	uint32		low = 0;
	uint32		high = file->nsizes;

	if (file->shares != NULL)
	{
		look_for_size(file, size);
		return;
	}

	while (low < high)
	{
		uint32		middle = low + (high - low) / 2;

		if (file->sizes[middle].size < size)
			low = middle + 1;
		else
			high = middle;
	}
	setfile_seek(file, low < file->nsizes ? file->sizes[low].number : file->nsets);
}

/* See set_file.h */
void
setfile_note_rows(SetFile *file, JoinSet *set, const RowRange *rows)
{
	arena_reset(&file->set_rows);
	for (int side = SIDE_OUTER; side <= LAST_STORED(file); side++)
		set->rows[side] = rows_in_file(&file->set_rows, &rows[side]);
	mirror_rows(file, set);
}

/* See set_file.h */
JoinSet *
setfile_next(SetFile *file)
{
	JoinSet    *set = &file->set;
	SetRecord	record;

	if (spillreader_at_end(&file->reader))
		return NULL;
	setfile_read(file, set, &record);
	setfile_read_values(file, set, &record);
	setfile_note_rows(file, set, record.rows);
	return set;
}

/* See set_file.h */
JoinSet *
setfile_get(SetFile *file, uint32 number)
{
	setfile_seek(file, number);
	return setfile_next(file);
}

/* See set_file.h */
void
setfile_close(SetFile *file)
{
	setruns_free(&file->runs);
	spillfile_close(&file->records);
	spillfile_close(&file->rows[SIDE_OUTER]);
	spillfile_close(&file->rows[SIDE_INNER]);
	for (int i = 0; i < file->nmerged; i++)
	{
		spillfile_close(&file->merged[i].records);
		spillfile_close(&file->merged[i].rows[SIDE_OUTER]);
		spillfile_close(&file->merged[i].rows[SIDE_INNER]);
	}
}
