/*
 * shared_known.c
 *		Sets of which some process has stored the values, for others to use.
 *
 * Where several processes take in the rows of a table, a set that comes often comes to
 * all of them; each would copy its values, and all but one of the copies would be of no
 * use when the sets have become one.  Memory that is shared costs as much time to get as
 * to fill, so a process looks here first.
 *
 * It is a table of fixed size, in which a place may be taken over by another set, and two
 * processes may write at the same time: what is forgotten is stored twice, and found by
 * whoever makes identical sets one (shared_sets.c).
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/join/engine/shared_known.c
 */
#include "postgres.h"

#include "miscadmin.h"
#include "postmaster/bgworker_internals.h"

#include "join/engine/shared_known.h"

/* The share of the memory of a join that a table may take. */
#define MEMORY_SHARE	64

/*
 * So many rows a slot: where each set comes less often there is little to gain, and a
 * table that fits into a cache costs little to look at.
 */
#define ROWS_A_SLOT		4

#define FEWEST_SLOTS	UINT64CONST(512)

/* Slots, side by side, in one of which a set may be. */
#define WAYS			4

/* Bits of the hash in a slot, where no SharedPointer has any. */
#define TAG_BITS		6
#define TAG_SHIFT		(64 - TAG_BITS)

/*
 * The word before the values, until bitmaps are made: how many they are, and the set's
 * number.
 */
#define HEAD(values)		((values)[-1])
#define HEAD_OF(n, number)	((uint64) (n) << 32 | (number))
#define HEAD_VALUES(head)	((uint32) ((head) >> 32))

StaticAssertDecl((uint64) (MAX_PARALLEL_WORKER_LIMIT + 1) * AREA_SEGMENTS <=
				 UINT64CONST(1) << (TAG_SHIFT - SEGMENT_SHIFT),
				 "pointers have bits of tags");

static uint64
slots_for(double nrows, size_t memory)
{
	uint64		most = memory / MEMORY_SHARE / sizeof(pg_atomic_uint64);
	uint64		n = FEWEST_SLOTS;

	while (n < nrows / ROWS_A_SLOT && n * 2 <= most)
		n *= 2;
	return n;
}

/* See shared_known.h */
size_t
known_sets_bytes(double nrows, size_t memory)
{
	return offsetof(KnownSets, slots) +
		slots_for(nrows, memory) * sizeof(pg_atomic_uint64);
}

/* See shared_known.h */
void
known_sets_init(KnownSets *known, size_t bytes)
{
	known->nslots = (bytes - offsetof(KnownSets, slots)) / sizeof(pg_atomic_uint64);
	for (uint64 i = 0; i < known->nslots; i++)
	{
		CHECK_EVERY(i);
		pg_atomic_init_u64(&known->slots[i], InvalidSharedPointer);
	}
}

/* The slots in which a set of that key may be. */
static inline pg_atomic_uint64 *
slots_of(KnownSets *known, SetKey key)
{
	return &known->slots[(uint64) key.low & (known->nslots - 1) & ~(uint64) (WAYS - 1)];
}

static inline uint64
tag_of(SetKey key)
{
	return (uint64) key.low >> TAG_SHIFT << TAG_SHIFT;
}

/* Where the values of a slot are, if they may be of that key. */
static inline SharedPointer
values_in(pg_atomic_uint64 *slot, SetKey key)
{
	uint64		found = pg_atomic_read_u64(slot) ^ tag_of(key);

	return found >> TAG_SHIFT == 0 ? found : InvalidSharedPointer;
}

/* See shared_known.h */
void
known_sets_fetch(KnownSets *known, SetKey key)
{
	__builtin_prefetch(slots_of(known, key));
}

/* See shared_known.h */
const uint64 *
known_sets_look(KnownSets *known, const SharedAreas *areas, SetKey key)
{
	pg_atomic_uint64 *slots = slots_of(known, key);

	for (int i = 0; i < WAYS; i++)
	{
		SharedPointer values = values_in(&slots[i], key);

		if (SharedPointerIsValid(values))
			return shared_at_if_mapped(areas, values);
	}
	return NULL;
}

/* See shared_known.h */
SharedPointer
known_sets_find(KnownSets *known, SharedAreas *areas, SetKey key,
				const uint64 *values, uint32 n)
{
	pg_atomic_uint64 *slots = slots_of(known, key);

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

/* See shared_known.h */
uint32
known_set_number(const uint64 *values)
{
	return HEAD(values);
}

/* See shared_known.h */
void
known_sets_add(KnownSets *known, SetKey key, uint64 *values, uint32 n, uint32 number,
			   SharedPointer pointer)
{
	pg_atomic_uint64 *slots = slots_of(known, key);
	int			place = 0;

	for (int i = WAYS - 1; i > 0; i--)
		if (!SharedPointerIsValid(pg_atomic_read_u64(&slots[i])))
			place = i;
	HEAD(values) = HEAD_OF(n, number);
	pg_write_barrier();
	pg_atomic_write_u64(&slots[place], pointer | tag_of(key));
}
