/*
 * set_table.c
 *		Identical sets become one.
 *
 * Collections of near-duplicates consist of exact duplicates for the most
 * part.  A hash table over both sides of the join holds one copy of each
 * distinct set, with the rows of either side that carry it; the join is done
 * on distinct sets and its pairs are multiplied out.
 *
 * Sets are looked up by size and hash and compared element by element.  The
 * hash is keyed with a secret that is drawn anew for each join, so that no
 * input can be made to crowd the table.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "base/hash.h"
#include "join/engine/arena.h"
#include "join/engine/set_table.h"

#define FIRST_SLOTS		1024

/* Random bytes, with which nobody can foresee hashes. */
void
join_secret_draw(char *secret)
{
	if (!pg_strong_random(secret, JOIN_SECRET))
		ereport(ERROR,
				(errcode(ERRCODE_INTERNAL_ERROR),
				 errmsg("could not generate random values")));
}

/* An empty table, with that secret or, if it is NULL, one of its own. */
void
settable_create(SetTable *table, const char *secret)
{
	memset(table, 0, sizeof(SetTable));
	if (secret != NULL)
		memcpy(table->secret, secret, JOIN_SECRET);
	else
		join_secret_draw(table->secret);
	table->nslots = FIRST_SLOTS;
	table->slots = palloc0(table->nslots * sizeof(uint32));
	probing_init(&table->probing, table->nslots);
	table->maxsets = FIRST_SLOTS / 2;
	table->sets = palloc(table->maxsets * sizeof(JoinSet));
}

/* Frees the slots; the sets as well unless somebody else has taken them. */
void
settable_free(SetTable *table)
{
	if (table->slots)
		pfree(table->slots);
	if (table->sets)
		pfree(table->sets);
	table->slots = NULL;
	table->sets = NULL;
	table->nslots = table->nsets = table->maxsets = 0;
}

/* Frees all but the memory of the sets, and gives that up, with room for n. */
JoinSet *
settable_take_room(SetTable *table, uint32 n)
{
	JoinSet    *room = repalloc_huge(table->sets, sizeof(JoinSet) * Max(n, 1));

	table->sets = NULL;
	settable_free(table);
	return room;
}

static size_t
settable_bytes_for(const SetTable *table, uint64 nslots)
{
	return nslots * sizeof(uint32) + nslots / 2 * sizeof(JoinSet);
}

/* Bytes that the table takes. */
size_t
settable_bytes(const SetTable *table)
{
	return settable_bytes_for(table, table->nslots);
}

/* Bytes that it takes for a moment if one more set makes it grow. */
size_t
settable_bytes_next(const SetTable *table)
{
	if (table->nsets < table->maxsets)
		return settable_bytes(table);
	return settable_bytes_for(table, (uint64) table->nslots * 3);
}

/* The key of a set of n >= 1 values. */
SetKey
set_key(const SetTable *table, const uint64 *values, uint32 n)
{
	XXH128_hash_t hash = XXH3_128bits_withSecret(values,
												 sizeof(uint64) * n,
												 table->secret,
												 sizeof(table->secret));
	SetKey		key;

	key.high = (int64) ((uint64) n << SETKEY_HASH_BITS |
						hash.high64 >> (64 - SETKEY_HASH_BITS));
	key.low = (int64) hash.low64;
	return key;
}

/* Doubles the table. */
static void
settable_grow(SetTable *table)
{
	uint64		nslots = (uint64) table->nslots * 2;

	if (nslots > PG_UINT32_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("too many distinct sets in a similarity join"),
				 errdetail("A similarity join holds at most %u distinct sets in memory.",
						   table->maxsets),
				 errhint("Lower work_mem.")));
	pfree(table->slots);
	table->slots = NULL;
	table->slots = alloc_zeros(nslots * sizeof(uint32));
	table->nslots = nslots;
	probing_init(&table->probing, nslots);
	table->maxsets = nslots / 2;
	table->sets = repalloc_huge(table->sets,
								table->maxsets * sizeof(JoinSet));
	for (uint32 i = 0; i < table->nsets; i++)
	{
		size_t		slot = probing_first(&table->probing,
										 table->sets[i].key.low);

		CHECK_EVERY(i);
		while (table->slots[slot] != 0)
			slot = probing_next(&table->probing, slot);
		table->slots[slot] = i + 1;
	}
}

/*
 * The set of that key and those values.  If there is none yet, *found is
 * false and a set without rows is added, whose `values` the caller points to
 * a copy of his own before the next call.  The result is valid until the
 * next call.
 */
JoinSet *
settable_find(SetTable *table, SetKey key, const uint64 *values, uint32 n,
			  bool *found)
{
	size_t		slot;
	JoinSet    *set;

	if (table->nsets == table->maxsets)
		settable_grow(table);
	slot = probing_first(&table->probing, key.low);
	while (table->slots[slot] != 0)
	{
		set = &table->sets[table->slots[slot] - 1];
		if (set->key.high == key.high && set->key.low == key.low &&
			(set->values == values ||
			 memcmp(set->values, values, sizeof(uint64) * n) == 0))
		{
			*found = true;
			return set;
		}
		slot = probing_next(&table->probing, slot);
	}
	*found = false;
	set = &table->sets[table->nsets++];
	table->slots[slot] = table->nsets;
	memset(set, 0, sizeof(JoinSet));
	set->key = key;
	set->size = set->nvalues = n;
	return set;
}

/* Sets come in the order of arrival where sizes are equal. */
static inline int
compare_sets(const JoinSet *a, const JoinSet *b)
{
	if (a->size != b->size)
		return a->size < b->size ? -1 : 1;
	return (a->key.low > b->key.low) - (a->key.low < b->key.low);
}

#define ST_SORT sort_join_sets
#define ST_ELEMENT_TYPE JoinSet
#define ST_COMPARE(a, b) compare_sets(a, b)
#define ST_CHECK_FOR_INTERRUPTS
#define ST_SCOPE static
#define ST_DEFINE
#include "lib/sort_template.h"

/* Where each set goes, if sets of fewer than so many elements are counted. */
static uint32 *
places_by_size(const SetTable *table, uint32 nsizes)
{
	uint32	   *starts = alloc_zeros(sizeof(uint32) * nsizes);
	uint32	   *places = alloc_zeros(sizeof(uint32) * (size_t) table->nsets);
	uint32		start = 0;

	for (uint32 i = 0; i < table->nsets; i++)
	{
		CHECK_EVERY(i);
		starts[table->sets[i].size]++;
	}
	for (uint32 size = 0; size < nsizes; size++)
	{
		uint32		n = starts[size];

		starts[size] = start;
		start += n;
	}
	for (uint32 i = 0; i < table->nsets; i++)
	{
		CHECK_EVERY(i);
		places[i] = starts[table->sets[i].size]++;
	}
	pfree(starts);
	return places;
}

/* Brings the sets to their places; those are used up. */
static void
move_sets(SetTable *table, uint32 *places)
{
	for (uint32 i = 0; i < table->nsets; i++)
	{
		CHECK_EVERY(i);
		while (places[i] != i)
		{
			uint32		to = places[i];
			JoinSet		set = table->sets[to];

			CHECK_EVERY(to);
			table->sets[to] = table->sets[i];
			table->sets[i] = set;
			places[i] = places[to];
			places[to] = to;
		}
	}
}

/*
 * Sorts the sets by size and forgets their hashes: what the join does next
 * does not depend on the secret.  With fewer sizes than sets they are counted,
 * in less memory than the slots took, which are gone.
 */
void
settable_sort(SetTable *table)
{
	uint32		most = 0;

	Assert(table->slots == NULL);
	for (uint32 i = 0; i < table->nsets; i++)
	{
		CHECK_EVERY(i);
		table->sets[i].key.low = i;
		most = Max(most, table->sets[i].size);
	}
	if (most < table->nsets)
	{
		uint32	   *places = places_by_size(table, most + 1);

		move_sets(table, places);
		pfree(places);
	}
	else
		sort_join_sets(table->sets, table->nsets);
}
