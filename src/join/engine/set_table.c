/*
 * set_table.c
 *		Distinct sets, their bitmaps, and the ring in which rows wait for them.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "postmaster/bgworker_internals.h"

#include "base/hash.h"
#include "base/sort_uint64.h"
#include "join/engine/arena.h"
#include "join/engine/set_table.h"

/*
 * The bitmap of a set, by which most candidates are discarded
 *
 * Each element flips one bit of a bitmap of about two bits an element.  An
 * element that two sets share flips the same bit in both, so their bitmaps
 * differ in at most as many bits as the sets have elements that they do not
 * share: the Hamming distance of the bitmaps is a lower bound of the distance
 * of the sets, which may be |A| + |B| - 2 need at most. S. Wandelt et al.,
 * "Bitmap filter: speeding up exact set similarity joins with bitwise
 * operations", 2019.
 *
 * The number of words is a power of two.  A bit is found by the low bits of a
 * hash, so a bitmap of twice the length is folded by xor of its halves into
 * one that can be compared.
 */

#define BITS_PER_ELEMENT	2

/* Smaller sets are compared as fast as their bitmaps. */
#define MIN_ELEMENTS		16

#define BITMAP_MULTIPLIER	UINT64CONST(0xC2B2AE3D27D4EB4F)
#define SECOND_MULTIPLIER	UINT64CONST(0x9FB21C651E98DF25)

/* Words that are compared before the result is checked. */
#define WORDS_AT_ONCE	32

/* Number of words of the bitmap of a set of that size. */
static uint32
bitmap_words(uint32 size)
{
	uint32		words = 1;

	while ((uint64) words * 64 < (uint64) size * BITS_PER_ELEMENT)
		words *= 2;
	return words;
}

size_t
bitmap_bytes(uint32 size)
{
	return sizeof(uint64) * bitmap_words(size);
}

size_t
set_bytes(uint32 size)
{
	return sizeof(uint64) * ((size_t) bitmap_words(size) + size);
}

uint64 *
set_values(void *place, uint32 size)
{
	return (uint64 *) place + bitmap_words(size);
}

/* The bitmap of a set, which is before its values. */
static inline const uint64 *
bitmap_of(const JoinSet *set)
{
	return set->values - bitmap_words(set->size);
}

void
bitmap_make(JoinSet *set)
{
	uint32		words = bitmap_words(set->size);
	uint64	   *bitmap = set->values - words;
	uint64		mask = (uint64) words * 64 - 1;

	Assert(set->nvalues <= set->size);
	memset(bitmap, 0, sizeof(uint64) * words);
	for (uint32 i = 0; i < set->nvalues; i++)
	{
		uint64		bit = (set->values[i] * BITMAP_MULTIPLIER) >> 32 & mask;

		CHECK_EVERY(i);
		bitmap[bit / 64] ^= UINT64CONST(1) << bit % 64;
	}
}

/* Fold word i of n out of a bitmap that is `fold` times as long. */
static inline uint64
folded_word(const uint64 *bitmap, uint32 i, uint32 n, uint32 fold)
{
	uint64		word = bitmap[i];

	for (uint32 part = 1; part < fold; part++)
		word ^= bitmap[i + (size_t) part * n];
	return word;
}

uint64
bitmap_folded(const JoinSet *set)
{
	return folded_word(bitmap_of(set), 0, 1, bitmap_words(set->size));
}

uint64
bitmap_second(const JoinSet *set)
{
	uint64		bitmap = 0;

	for (uint32 i = 0; i < set->nvalues; i++)
	{
		CHECK_EVERY(i);
		bitmap ^= UINT64CONST(1) << (set->values[i] * SECOND_MULTIPLIER >> 58);
	}
	return bitmap;
}

bool
bitmaps_allow(const JoinSet *a, const JoinSet *b, uint32 need)
{
	uint32		a_words = bitmap_words(a->size);
	uint32		b_words = bitmap_words(b->size);
	uint32		words = Min(a_words, b_words);
	int64		allowed = (int64) a->nvalues + b->nvalues - 2 * (int64) need;
	uint64		differing[WORDS_AT_ONCE];

	Assert(a->nvalues <= a->size && b->nvalues <= b->size);
	if (Min(a->nvalues, b->nvalues) < MIN_ELEMENTS ||
		allowed >= (int64) words * 32)
		return true;
	for (uint32 done = 0; done < words; done += WORDS_AT_ONCE)
	{
		uint32		n = Min(WORDS_AT_ONCE, words - done);

		for (uint32 i = 0; i < n; i++)
			differing[i] =
				folded_word(bitmap_of(a), done + i, words, a_words / words) ^
				folded_word(bitmap_of(b), done + i, words, b_words / words);
		allowed -= pg_popcount((const char *) differing, sizeof(uint64) * n);
		if (allowed < 0)
			return false;
	}
	return true;
}

/*
 * Values of sets that some process has stored, for all to use
 *
 * A frequent set is added by all processes.  Each would copy its values, and
 * all but one of the copies would be useless once identical sets are
 * collapsed.  Allocating shared memory takes as long as filling it, so a
 * process looks here first.
 *
 * The table has a fixed size.  A slot may be overwritten by another set, and
 * two processes may write one at the same time: lost values are stored twice,
 * and found when identical sets are collapsed (shared_sets.c).
 */

/* The table has at most this share of a join's memory. */
#define MEMORY_SHARE	64

/*
 * Rows for each slot: rare sets gain little, and a small table fits into a
 * cache.
 */
#define ROWS_PER_SLOT	4

#define MIN_SLOTS		UINT64CONST(512)

/* Number of consecutive slots in which a set may be. */
#define WAYS			4

/* Bits of the hash in a slot, which no SharedPointer uses. */
#define TAG_BITS		6
#define TAG_SHIFT		(64 - TAG_BITS)

/*
 * The word before the values, until bitmaps are made: the number of values,
 * and the number of the set.
 */
#define HEAD(values)		((values)[-1])
#define HEAD_OF(n, number)	((uint64) (n) << 32 | (number))
#define HEAD_VALUES(head)	((uint32) ((head) >> 32))

StaticAssertDecl((uint64) (MAX_PARALLEL_WORKER_LIMIT + 1) * AREA_SEGMENTS <=
				 UINT64CONST(1) << (TAG_SHIFT - SEGMENT_SHIFT),
				 "pointers have bits of tags");

size_t
shared_values_bytes(double nrows, size_t memory)
{
	uint64		most = memory / MEMORY_SHARE / sizeof(pg_atomic_uint64);
	uint64		n = MIN_SLOTS;

	while (n < nrows / ROWS_PER_SLOT && n * 2 <= most)
		n *= 2;
	return offsetof(SharedValues, slots) + n * sizeof(pg_atomic_uint64);
}

void
shared_values_init(SharedValues *table, size_t bytes)
{
	table->nslots = (bytes - offsetof(SharedValues, slots)) /
		sizeof(pg_atomic_uint64);
	for (uint64 i = 0; i < table->nslots; i++)
	{
		CHECK_EVERY(i);
		pg_atomic_init_u64(&table->slots[i], InvalidSharedPointer);
	}
}

/* The slots in which a set of that key may be. */
static inline pg_atomic_uint64 *
slots_of(SharedValues *table, SetKey key)
{
	return &table->slots[(uint64) key.low & (table->nslots -
											 1) & ~(uint64) (WAYS - 1)];
}

/* The bits of a hash by which a slot is told from others. */
static inline uint64
tag_of(SetKey key)
{
	return (uint64) key.low >> TAG_SHIFT << TAG_SHIFT;
}

/* The values of a slot, if they may be of that key. */
static inline SharedPointer
values_in(pg_atomic_uint64 *slot, SetKey key)
{
	uint64		found = pg_atomic_read_u64(slot) ^ tag_of(key);

	return found >> TAG_SHIFT == 0 ? found : InvalidSharedPointer;
}

void
shared_values_fetch(SharedValues *table, SetKey key)
{
	__builtin_prefetch(slots_of(table, key));
}

const uint64 *
shared_values_look(SharedValues *table, const SharedAreas *areas, SetKey key)
{
	pg_atomic_uint64 *slots = slots_of(table, key);

	for (int i = 0; i < WAYS; i++)
	{
		SharedPointer values = values_in(&slots[i], key);

		if (SharedPointerIsValid(values))
			return shared_at_if_mapped(areas, values);
	}
	return NULL;
}

SharedPointer
shared_values_find(SharedValues *table, SharedAreas *areas, SetKey key,
				   const uint64 *values, uint32 n)
{
	pg_atomic_uint64 *slots = slots_of(table, key);

	for (int i = 0; i < WAYS; i++)
	{
		SharedPointer pointer = values_in(&slots[i], key);
		const uint64 *stored;

		if (!SharedPointerIsValid(pointer))
			continue;
		pg_read_barrier();
		stored = shared_at(areas, pointer);
		if (HEAD_VALUES(HEAD(stored)) == n &&
			memcmp(stored, values, sizeof(uint64) * n) == 0)
			return pointer;
	}
	return InvalidSharedPointer;
}

uint32
shared_values_number(const uint64 *values)
{
	return HEAD(values);
}

void
shared_values_add(SharedValues *table, SetKey key, uint64 *values, uint32 n,
				  uint32 number,
				  SharedPointer pointer)
{
	pg_atomic_uint64 *slots = slots_of(table, key);
	int			place = 0;

	Assert(SharedPointerIsValid(pointer) && n > 0);
	for (int i = WAYS - 1; i > 0; i--)
		if (!SharedPointerIsValid(pg_atomic_read_u64(&slots[i])))
			place = i;
	HEAD(values) = HEAD_OF(n, number);
	pg_write_barrier();
	pg_atomic_write_u64(&slots[place], pointer | tag_of(key));
}

/*
 * Identical sets become one
 *
 * Most near-duplicates are exact duplicates.  A hash table over both sides of
 * the join holds one copy of each distinct set, with its rows of either side;
 * the join is done on distinct sets.
 *
 * Sets are looked up by size and hash and compared element by element.  The
 * hash is keyed with a secret of the join, so that no input can be made to
 * collide.
 */

#define FIRST_SLOTS		1024

/* Random bytes, so that no input can be made to collide. */
void
join_secret_draw(char *secret)
{
	if (!pg_strong_random(secret, JOIN_SECRET))
		ereport(ERROR,
				(errcode(ERRCODE_INTERNAL_ERROR),
				 errmsg("could not generate random values")));
}

/* Create an empty table, with that secret or, if it is NULL, a new one. */
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

/* Free the slots, and the sets unless settable_take_room() has taken them. */
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

/* Free all but the memory of the sets, and return that, resized for n sets. */
JoinSet *
settable_take_room(SetTable *table, uint32 n)
{
	JoinSet    *room = repalloc_huge(table->sets, sizeof(JoinSet) * Max(n, 1));

	table->sets = NULL;
	settable_free(table);
	return room;
}

/* Bytes of the table. */
size_t
settable_bytes(const SetTable *table)
{
	return (size_t) table->nslots * (sizeof(uint32) + sizeof(JoinSet) / 2);
}

/* The key of a set of n >= 1 values, by a secret of JOIN_SECRET bytes. */
SetKey
set_key(const char *secret, const uint64 *values, uint32 n)
{
	XXH128_hash_t hash = XXH3_128bits_withSecret(values, sizeof(uint64) * n,
												 secret, JOIN_SECRET);
	SetKey		key;

	key.high = (int64) ((uint64) n << SETKEY_HASH_BITS |
						hash.high64 >> (64 - SETKEY_HASH_BITS));
	key.low = (int64) hash.low64;
	return key;
}

/* Double the table. */
static void
settable_grow(SetTable *table)
{
	uint64		nslots = (uint64) table->nslots * 2;

	Assert(table->nsets == table->maxsets);
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
	table->sets = repalloc_huge(table->sets, table->maxsets * sizeof(JoinSet));
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
 * Find the set of that key and values.  If there is none, *found is false and
 * a set without rows is added, whose `values` the caller must set before the
 * next call.  The result is valid until the next call.
 */
JoinSet *
settable_find(SetTable *table, SetKey key, const uint64 *values, uint32 n,
			  bool *found)
{
	size_t		slot;
	JoinSet    *set;

	Assert(n > 0 && SETKEY_SIZE(key) == n);
	Assert(table->slots != NULL);
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

/*
 * Number the sets in the order of addition, and sort them by size and number,
 * so that the join does not depend on the secret.  The slots have been freed.
 */
void
settable_sort(SetTable *table)
{
	JoinSet    *sets = table->sets;
	uint64	   *order = alloc_zeros(sizeof(uint64) * (size_t) table->nsets);

	Assert(table->slots == NULL);
	for (uint32 i = 0; i < table->nsets; i++)
	{
		CHECK_EVERY(i);
		sets[i].number = i;
		order[i] = (uint64) sets[i].size << 32 | i;
	}
	sort_hashes(order, table->nsets);
	/* sets change places in cycles; one that is in place is its own source */
	for (uint32 i = 0; i < table->nsets; i++)
	{
		JoinSet		first = sets[i];
		uint32		to = i;

		CHECK_EVERY(i);
		for (uint32 from = order[to]; from != i; from = order[to])
		{
			CHECK_EVERY(from);
			sets[to] = sets[from];
			order[to] = to;
			to = from;
		}
		sets[to] = first;
		order[to] = to;
	}
	pfree(order);
}

/*
 * A ring of rows whose places in the table of sets are being prefetched
 *
 * Finding the set of a row in a large table reads the slot, the set, and its
 * values, none of which is in a cache.  So rows wait in a ring.  The slot is
 * prefetched when a row is pushed, the set some rows later, and its values
 * some rows after that; in the table of shared values, too.
 */

/*
 * Number of rows after which a row's set is prefetched, and then its values.
 */
#define FETCH_SET		5
#define FETCH_VALUES	10

/* Values are prefetched by cache lines, up to this number of values. */
#define VALUES_PER_LINE	8
#define MAX_FETCHED		64

void
ring_create(PrefetchRing *ring, SharedValues *shared, SharedAreas *areas)
{
	ring->shared = shared;
	ring->areas = areas;
	ring->slots = palloc(sizeof(RingSlot) * RING_ROWS);
	ring->first = ring->n = 0;
}

void
ring_free(PrefetchRing *ring)
{
	Assert(ring->n == 0);
	if (ring->slots != NULL)
		pfree(ring->slots);
	ring->slots = NULL;
}

/* The row that was pushed `before` rows before the last one, or NULL. */
static inline const AddedRow *
row_before(const PrefetchRing *ring, uint32 before)
{
	if (before >= ring->n)
		return NULL;
	return &ring->slots[(ring->first + ring->n - 1 - before) % RING_ROWS].row;
}

/* The first set that a row's set is compared with, or NULL. */
static inline const JoinSet *
first_set(const SetTable *table, const AddedRow *row)
{
	uint32		number = table->slots[probing_first(&table->probing,
													row->key.low)];

	return number == 0 ? NULL : &table->sets[number - 1];
}

void
ring_push(PrefetchRing *ring, const SetTable *table, const AddedRow *row)
{
	RingSlot   *slot = &ring->slots[(ring->first + ring->n++) % RING_ROWS];
	const JoinSet *set;
	const uint64 *values = NULL;

	Assert(ring->n <= RING_ROWS && ring_accepts(ring, row));
	slot->row = *row;
	slot->row.values = memcpy(slot->values, row->values,
							  sizeof(uint64) * row->n);
	slot->row.data = memcpy(slot->data, row->data, row->len);
	__builtin_prefetch(&table->slots[probing_first(&table->probing,
												   row->key.low)]);
	row = row_before(ring, FETCH_SET);
	if (row != NULL && (set = first_set(table, row)) != NULL)
		__builtin_prefetch(set, 1);
	else if (row != NULL && ring->shared != NULL)
		shared_values_fetch(ring->shared, row->key);
	row = row_before(ring, FETCH_VALUES);
	if (row == NULL)
		return;
	set = first_set(table, row);
	if (set == NULL && ring->shared != NULL)
		values = shared_values_look(ring->shared, ring->areas, row->key);
	else if (set != NULL && set->key.low == row->key.low)
		values = set->values;
	if (values != NULL)
		for (uint32 i = 0; i < Min(row->n, MAX_FETCHED); i += VALUES_PER_LINE)
			__builtin_prefetch(&values[i]);
}

const AddedRow *
ring_pop(PrefetchRing *ring)
{
	if (ring->n == 0)
		return NULL;
	ring->n--;
	return &ring->slots[ring->first++ % RING_ROWS].row;
}
