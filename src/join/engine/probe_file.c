/*
 * probe_file.c
 *		Sets that probe each chunk, prepared, in a file.
 *
 * Where a measure is not symmetric the sets of one side are in chunks, and those of the
 * other probe each of them.  A few of these may be very large, as documents in which
 * short texts are looked for: to order their features takes much longer than to look
 * these up.  So what was made of a set for the first chunk is kept for the others.
 *
 * Most large sets find nothing in most chunks.  Then their values are not needed, and
 * not read.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/join/engine/probe_file.c
 */
#include "postgres.h"

#include "miscadmin.h"

#include "join/engine/probe_file.h"
#include "join/engine/search.h"

/* A set in the file; its bitmap, its keys and its values follow. */
typedef struct ProbeRecord
{
	SetKey		key;			/* with its number in the set file */
	uint32		first;			/* as JoinSet */
	uint32		nvalues;
	uint32		nkeys;
	RowRange	rows[2];
} ProbeRecord;

/* See probe_file.h */
void
probe_file_create(ProbeFile *probes)
{
	spillfile_create(&probes->file);
}

/* See probe_file.h */
void
probe_file_add(ProbeFile *probes, const JoinSet *set)
{
	SpillFile  *file = &probes->file;
	size_t		bytes = bitmap_bytes(set->size);
	ProbeRecord record;

	memset(&record, 0, sizeof(record));
	record.key = set->key;
	record.first = set->first;
	record.nvalues = set->nvalues;
	record.nkeys = set->nkeys;
	for (int side = SIDE_OUTER; side <= SIDE_INNER; side++)
		row_range(set->rows[side], &record.rows[side]);
	spillfile_write(file, &record, sizeof(record));
	spillfile_write(file, (char *) set->values - bytes, bytes);
	spillfile_write(file, set->keys, sizeof(uint64) * set->nkeys);
	spillfile_write(file, set->values, sizeof(uint64) * set->nvalues);
}

/* See probe_file.h */
void
probe_file_end(ProbeFile *probes, size_t buffer)
{
	spillreader_create(&probes->reader, &probes->file, buffer);
	probes->complete = true;
}

/* Reads the next record; false if there is none. */
static bool
read_record(ProbeFile *probes, ProbeRecord *record)
{
	CHECK_FOR_INTERRUPTS();
	if (spillreader_at_end(&probes->reader))
		return false;
	spillreader_read(&probes->reader, record, sizeof(ProbeRecord));
	probes->values = spillreader_tell(&probes->reader) +
		bitmap_bytes(SETKEY_SIZE(record->key)) + sizeof(uint64) * record->nkeys;
	return true;
}

/* The place of the record that follows. */
static uint64
next_record(const ProbeFile *probes, const ProbeRecord *record)
{
	return probes->values + sizeof(uint64) * record->nvalues;
}

/* See probe_file.h */
void
probe_file_begin(ProbeFile *probes, uint64 size)
{
	ProbeRecord record;

	spillreader_seek(&probes->reader, probes->begin);
	while (read_record(probes, &record) && SETKEY_SIZE(record.key) < size)
	{
		probes->begin = next_record(probes, &record);
		spillreader_seek(&probes->reader, probes->begin);
	}
	spillreader_seek(&probes->reader, probes->begin);
	probes->has_values = true;
}

/* See probe_file.h */
JoinSet *
probe_file_next(ProbeFile *probes, SetFile *file, uint64 *keys)
{
	JoinSet    *set = &file->set;
	SpillReader *reader = &probes->reader;
	ProbeRecord record;

	if (!probes->has_values)
		spillreader_seek(reader, probes->values + sizeof(uint64) * set->nvalues);
	if (!read_record(probes, &record))
		return NULL;
	memset(set, 0, sizeof(JoinSet));
	set->key = record.key;
	set->first = record.first;
	set->size = SETKEY_SIZE(record.key);
	set->nvalues = record.nvalues;
	set->nkeys = record.nkeys;
	set->keys = keys;
	set->values = set_values(file->place, set->size);
	spillreader_read(reader, (char *) set->values - bitmap_bytes(set->size),
					 bitmap_bytes(set->size));
	spillreader_read(reader, keys, sizeof(uint64) * set->nkeys);
	setfile_note_rows(file, set, record.rows);
	probes->has_values = false;
	if (set->nvalues <= MAX_VALUES_TO_PROBE)
		probe_file_read_values(probes, set);
	return set;
}

/* See probe_file.h */
void
probe_file_read_values(ProbeFile *probes, JoinSet *set)
{
	if (probes->has_values)
		return;
	spillreader_read(&probes->reader, set->values, sizeof(uint64) * set->nvalues);
	probes->has_values = true;
}

/* See probe_file.h */
void
probe_file_close(ProbeFile *probes)
{
	spillfile_close(&probes->file);
}
