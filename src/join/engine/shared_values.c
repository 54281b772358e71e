/*
 * shared_values.c
 *		Values of sets that some process has stored, for all to use.
 *
 * A set that is frequent in a table comes to all processes.  Each would copy its values,
 * and all but one of the copies would be useless once identical sets are collapsed.  To
 * get shared memory costs as much time as to fill it, so a process looks here first.
 *
 * The table has a fixed size.  A slot may be overwritten by another set, and two processes
 * may write one at the same time: values that are lost are stored twice, and found when
 * identical sets are collapsed (shared_sets.c).
 */
#include "postgres.h"

#include "miscadmin.h"
#include "postmaster/bgworker_internals.h"

#include "join/engine/shared_values.h"

/* One part in so many of a join's memory is the most that the table has. */
#define MEMORY_SHARE	64

/*
 * Rows for each slot: less frequent sets gain little, and a table that fits into a cache
 * costs little.
 */
#define ROWS_PER_SLOT	4

#define MIN_SLOTS		UINT64CONST(512)

/* A set is in one of so many consecutive slots. */
#define WAYS			4

/* Bits of the hash in a slot, where no SharedPointer has any. */
#define TAG_BITS		6
#define TAG_SHIFT		(64 - TAG_BITS)

/* The word before the values, until bitmaps are made: their number, and the set's. */
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
	uint64		n = MIN_SLOTS;

	while (n < nrows / ROWS_PER_SLOT && n * 2 <= most)
		n *= 2;
	return n;
}

size_t
shared_values_bytes(double nrows, size_t memory)
{
	return offsetof(SharedValues, slots) +
		slots_for(nrows, memory) * sizeof(pg_atomic_uint64);
}

void
shared_values_init(SharedValues *table, size_t bytes)
{
	table->nslots = (bytes - offsetof(SharedValues, slots)) / sizeof(pg_atomic_uint64);
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
	return &table->slots[(uint64) key.low & (table->nslots - 1) & ~(uint64) (WAYS - 1)];
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
shared_values_add(SharedValues *table, SetKey key, uint64 *values, uint32 n, uint32 number,
			   SharedPointer pointer)
{
	pg_atomic_uint64 *slots = slots_of(table, key);
	int			place = 0;

	for (int i = WAYS - 1; i > 0; i--)
		if (!SharedPointerIsValid(pg_atomic_read_u64(&slots[i])))
			place = i;
	HEAD(values) = HEAD_OF(n, number);
	pg_write_barrier();
	pg_atomic_write_u64(&slots[place], pointer | tag_of(key));
}
