/*
 * known_sets.c
 *		Finds sets that equal a set before them.
 */
#include "postgres.h"

#include "common/hashfn.h"

#include "base/interrupts.h"
#include "groups/known_sets.h"
#include "groups/set_store.h"

/* Entry of the table */
typedef struct KnownSet
{
	SetKey		key;
	uint32		number;
	char		status;
} KnownSet;

#define SH_PREFIX		known
#define SH_ELEMENT_TYPE KnownSet
#define SH_KEY_TYPE		SetKey
#define SH_KEY			key
#define SH_HASH_KEY(table, key)	((uint32) (key).low)
#define SH_EQUAL(table, a, b)	((a).high == (b).high && (a).low == (b).low)
#define SH_SCOPE		static inline
#define SH_DEFINE
#define SH_DECLARE
#include "lib/simplehash.h"

/* Record of a set in the file */
typedef struct OtherSet
{
	SetKey		key;
	uint64		number;
} OtherSet;

/* Bytes of the table for each set in it, while it grows */
#define BYTES_A_SET	(3 * sizeof(KnownSet))

void
known_sets_begin(KnownSets *known)
{
	memset(known, 0, sizeof(KnownSets));
	known->table = known_create(CurrentMemoryContext, 1024, NULL);
}

/* Free the table. */
static void
free_table(KnownSets *known)
{
	if (known->table != NULL)
		known_destroy(known->table);
	known->table = NULL;
}

void
known_sets_end(KnownSets *known)
{
	free_table(known);
	spillfile_close(&known->others);
}

uint32
known_sets_find(const KnownSets *known, SetKey key)
{
	const KnownSet *set = known_lookup(known->table, key);

	return set == NULL ? NOT_KNOWN : set->number;
}

/*
 * True if memory allows another entry.  A table that is nearly full grows by
 * itself if entries are far from their places.
 */
static bool
table_has_room(const KnownSets *known, size_t memory)
{
	size_t		bytes = known->table->size * sizeof(KnownSet);

	/* both tables exist while it grows */
	return bytes * 3 <= memory ||
		(bytes <= memory &&
		 known->table->members < known->table->size / 4 * 3);
}

void
known_sets_add(KnownSets *known, SetKey key, uint32 number, size_t memory)
{
	OtherSet	other = {key, number};
	bool		has_room = table_has_room(known, memory);
	bool		found = false;

	if (has_room)
		known_insert(known->table, key, &found)->number = number;
	Assert(!found);
	/* a set that comes after one in the file may equal it */
	if (has_room && known->others.own == NULL)
		return;
	if (known->others.own == NULL)
		set_store_create_file(&known->others, "known sets");
	spillfile_write(&known->others, &other, sizeof(other));
}

bool
known_sets_has_untracked(const KnownSets *known)
{
	return known->others.own != NULL;
}

/*
 * Find equal sets among those of one part of the hashes; `number` is below
 * nparts, a power of two.
 */
static void
find_in_part(KnownSets *known, uint32 number, uint32 nparts,
			 SpillReader *reader, EqualSetCallback callback, void *context)
{
	spillreader_seek(reader, 0);
	while (!spillreader_at_end(reader))
	{
		const OtherSet *other = (OtherSet *)
		spillreader_take(reader, sizeof(OtherSet));
		KnownSet   *set;
		bool		found;

		if (((uint64) other->key.high & (nparts - 1)) != number)
			continue;
		set = known_insert(known->table, other->key, &found);
		if (found)
			callback(context, other->number, set->number);
		else
			set->number = other->number;
	}
}

void
known_sets_find_equal(KnownSets *known, size_t memory,
					  EqualSetCallback callback, void *context)
{
	uint64		n = known->others.size / sizeof(OtherSet);
	uint32		nparts = 1;
	SpillReader reader;

	free_table(known);
	if (n == 0)
		return;
	while (n / nparts * BYTES_A_SET > memory)
		nparts *= 2;
	spillreader_create(&reader, &known->others, BLCKSZ);
	for (uint32 i = 0; i < nparts; i++)
	{
		known->table = known_create(CurrentMemoryContext,
									n / nparts, NULL);
		find_in_part(known, i, nparts, &reader, callback, context);
		free_table(known);
	}
	pfree(reader.buffer);
	spillfile_close(&known->others);
}
