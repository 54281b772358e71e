/*
 * set_store.c
 *		The sets that are grouped, by number: in memory, or in files.
 */
#include "postgres.h"

#include "base/interrupts.h"
#include "base/memory.h"
#include "groups/set_store.h"

/* Head of a set's bitmap and keys in their file */
typedef struct KeyRecord
{
	uint32		number;
	uint32		size;
	uint32		nvalues;		/* values after the bitmap; none if by_keys */
	uint32		nkeys;			/* 0 = it has no bitmap */
} KeyRecord;

void
set_store_begin(SetStore *store, size_t block)
{
	memset(store, 0, sizeof(SetStore));
	arena_init(&store->arena, block);
}

void
set_store_end(SetStore *store)
{
	spillfile_close(&store->values);
	spillfile_close(&store->keys);
	spillfile_close(&store->prepared);
	arena_reset(&store->arena);
	if (store->sets != NULL)
		pfree(store->sets);
}

size_t
set_store_bytes(const SetStore *store)
{
	return store->arena.bytes + store->max_sets * sizeof(JoinSet);
}

void
set_store_create_file(SpillFile *file, const char *name)
{
	static const SpillStore private_store = {.nparts = 1};

	spillfile_create(file, &private_store, name);
}

/* Adding sets */

/* Append a set to the file of values; return its place. */
static uint64
write_values(SetStore *store, const uint64 *values, uint32 n)
{
	uint64		place = store->values.size;

	spillfile_write(&store->values, &n, sizeof(n));
	spillfile_write(&store->values, values, sizeof(uint64) * n);
	return place;
}

void
set_store_begin_on_disk(SetStore *store, bool by_keys)
{
	memset(store, 0, sizeof(SetStore));
	store->on_disk = true;
	store->by_keys = by_keys;
	set_store_create_file(&store->values, "values");
	spillreader_create(&store->value_reader, &store->values, BLCKSZ);
	spillreader_create(&store->key_reader, &store->keys, BLCKSZ);
}

uint64
set_store_add(SetStore *store, const uint64 *values, uint32 n)
{
	JoinSet		set = {.size = n,.nvalues = n,.first = store->n};

	Assert(n > 0 && store->keys.own == NULL);
	if (store->on_disk)
	{
		store->n++;
		return write_values(store, values, n);
	}
	store->sets = growing_reserve(store->sets, &store->max_sets,
								  store->n + (size_t) 1, sizeof(JoinSet));
	set.key.high = store->n;
	set.values = set_values(arena_alloc(&store->arena, set_bytes(n)), n);
	memcpy(set.values, values, sizeof(uint64) * n);
	store->sets[store->n++] = set;
	return 0;
}

/* Preparation */

/* Return room for a set of that size, with nkeys keys. */
static char *
reserve_place(SetStore *store, uint32 size, uint32 nkeys)
{
	size_t		bytes = set_bytes(size) + sizeof(uint64) * nkeys;

	if (bytes > store->max_place)
		store->place = growing_reserve(store->place, &store->max_place, bytes,
									   1);
	return store->place;
}

void
set_store_rewind(SetStore *store)
{
	store->position = 0;
	if (store->on_disk)
		spillreader_seek(&store->value_reader, 0);
}

void
set_store_begin_preparing(SetStore *store)
{
	store->nprepared = 0;
	if (store->on_disk)
		set_store_create_file(&store->prepared, "keys");
}

JoinSet *
set_store_next_added(SetStore *store)
{
	JoinSet    *set = &store->read;
	uint32		n;

	CHECK_FOR_INTERRUPTS();
	if (!store->on_disk)
		return store->position == store->n ? NULL :
			&store->sets[store->position++];
	if (spillreader_at_end(&store->value_reader))
		return NULL;
	spillreader_read(&store->value_reader, &n, sizeof(n));
	memset(set, 0, sizeof(JoinSet));
	set->size = set->nvalues = n;
	set->first = store->position++;
	set->values = set_values(reserve_place(store, n, 0), n);
	spillreader_read(&store->value_reader, set->values, sizeof(uint64) * n);
	return set;
}

void
set_store_prepared(SetStore *store, JoinSet *set)
{
	KeyRecord	record = {set->first, set->size, set->nvalues, set->nkeys};
	size_t		bytes = sizeof(uint64) * set->nkeys;

	if (!store->on_disk)
	{
		set->keys = memcpy(arena_alloc(&store->arena, Max(bytes, 1)),
						   set->keys, bytes);
		return;
	}
	store->nprepared++;
	spillfile_write(&store->prepared, &record, sizeof(record));
	if (set->nkeys > 0)
		spillfile_write(&store->prepared,
						(char *) set->values - bitmap_bytes(set->size),
						bitmap_bytes(set->size));
	if (!store->by_keys)
		spillfile_write(&store->prepared, set->values,
						sizeof(uint64) * set->nvalues);
	spillfile_write(&store->prepared, set->keys, bytes);
}

void
set_store_end_preparing(SetStore *store)
{
	if (!store->on_disk)
		return;
	spillfile_close(&store->keys);
	if (!store->by_keys)
		spillfile_close(&store->values);
	store->keys = store->prepared;
	memset(&store->prepared, 0, sizeof(SpillFile));
	/* its buffer is of the file before */
	pfree(store->key_reader.buffer);
	spillreader_create(&store->key_reader, &store->keys, BLCKSZ);
}

/* Reading prepared sets */

void
set_store_seek(SetStore *store, uint64 position)
{
	store->position = position;
	if (store->on_disk)
		spillreader_seek(&store->key_reader, position);
}

uint64
set_store_tell(const SetStore *store)
{
	return store->on_disk ? spillreader_tell(&store->key_reader) :
		store->position;
}

/* Bytes of a set's record after its head. */
static size_t
body_bytes(const SetStore *store, const KeyRecord *record)
{
	return (record->nkeys > 0 ? bitmap_bytes(record->size) : 0) +
		sizeof(uint64) * ((store->by_keys ? 0 : (size_t) record->nvalues) +
						  record->nkeys);
}

bool
set_store_next(SetStore *store, uint32 *number)
{
	JoinSet    *set = &store->read;
	const KeyRecord *record;

	CHECK_FOR_INTERRUPTS();
	if (!store->on_disk)
	{
		*number = store->position;
		return store->position < store->n;
	}
	store->position = spillreader_tell(&store->key_reader);
	if (spillreader_at_end(&store->key_reader))
		return false;
	record = (KeyRecord *) spillreader_take(&store->key_reader,
											sizeof(KeyRecord));
	memset(set, 0, sizeof(JoinSet));
	set->key.high = store->position;
	set->size = record->size;
	set->nvalues = record->nvalues;
	set->nkeys = record->nkeys;
	*number = set->first = record->number;
	return true;
}

/* Read the body of a set that is found by its values, or is a large one. */
static void
read_body(SetStore *store, JoinSet *set, size_t bytes)
{
	set->values = set_values(reserve_place(store, set->size, set->nkeys),
							 set->size);
	spillreader_read(&store->key_reader,
					 set->nkeys == 0 ? (char *) set->values : store->place,
					 bytes);
	set->keys = set->values + (store->by_keys ? 0 : set->nvalues);
}

JoinSet *
set_store_read(SetStore *store)
{
	JoinSet    *set = &store->read;
	KeyRecord	record = {.size = set->size,.nvalues = set->nvalues,.nkeys = set->nkeys};
	size_t		bytes = body_bytes(store, &record);
	char	   *body = NULL;

	if (!store->on_disk)
		return &store->sets[store->position++];
	if (store->by_keys)
		body = spillreader_take(&store->key_reader, bytes);
	if (body == NULL)
		read_body(store, set, bytes);
	else
		set->keys = set->values =
			(uint64 *) (body + (set->nkeys == 0 ? 0 :
								bitmap_bytes(set->size)));
	Assert((uintptr_t) set->keys % sizeof(uint64) == 0);
	return set;
}

void
set_store_skip(SetStore *store)
{
	const JoinSet *set = &store->read;
	KeyRecord	record = {set->first, set->size, set->nvalues, set->nkeys};

	if (store->on_disk)
		spillreader_seek(&store->key_reader,
						 store->position + sizeof(record) +
						 body_bytes(store, &record));
	else
		store->position++;
}

void
set_store_read_values(SetStore *store, uint64 place, uint32 number,
					  JoinSet *set, Arena *arena)
{
	uint32		n;

	Assert(store->on_disk && store->by_keys);
	spillreader_seek(&store->value_reader, place);
	spillreader_read(&store->value_reader, &n, sizeof(n));
	memset(set, 0, sizeof(JoinSet));
	set->size = set->nvalues = n;
	set->first = number;
	set->values = set_values(arena_alloc(arena, set_bytes(n)), n);
	spillreader_read(&store->value_reader, set->values, sizeof(uint64) * n);
}
