/*
 * prefetch_ring.c
 *		A ring of rows whose places in the table of sets are being prefetched.
 *
 * To find the set of a row in a large table reads three places in memory one after
 * another: the slot, the set, and its values, none of which is in a cache.  So rows wait
 * in a ring.  The slot is prefetched when a row comes, the set some rows later, and its
 * values some rows after that; and likewise in the table of sets that other processes
 * have stored.
 */
#include "postgres.h"

#include "join/engine/prefetch_ring.h"

/* Number of rows after which a row's set is prefetched, and then its values. */
#define FETCH_SET		5
#define FETCH_VALUES	10

/* Values are prefetched by cache lines, at most so many. */
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

/* The row that was pushed so many before the last one, or NULL. */
static inline const AddedRow *
row_before(const PrefetchRing *ring, uint32 before)
{
	if (before >= ring->n)
		return NULL;
	return &ring->slots[(ring->first + ring->n - 1 - before) % RING_ROWS].row;
}

/* The set that a row's set is compared with first, or NULL. */
static inline const JoinSet *
first_set(const SetTable *table, const AddedRow *row)
{
	uint32		number = table->slots[probing_first(&table->probing, row->key.low)];

	return number == 0 ? NULL : &table->sets[number - 1];
}

/* Prefetch the values that a row's are compared with first. */
static inline void
fetch_values(const PrefetchRing *ring, const SetTable *table, const AddedRow *row)
{
	const JoinSet *set = first_set(table, row);
	const uint64 *values = NULL;

	if (set == NULL && ring->shared != NULL)
		values = shared_values_look(ring->shared, ring->areas, row->key);
	else if (set != NULL && set->key.low == row->key.low)
		values = set->values;
	if (values != NULL)
		for (uint32 i = 0; i < Min(row->n, MAX_FETCHED); i += VALUES_PER_LINE)
			__builtin_prefetch(&values[i]);
}

void
ring_push(PrefetchRing *ring, const SetTable *table, const AddedRow *row)
{
	RingSlot   *slot = &ring->slots[(ring->first + ring->n++) % RING_ROWS];
	const JoinSet *set;

	Assert(ring->n <= RING_ROWS && ring_accepts(ring, row));
	slot->row = *row;
	slot->row.values = memcpy(slot->values, row->values, sizeof(uint64) * row->n);
	slot->row.data = memcpy(slot->data, row->data, row->len);
	__builtin_prefetch(&table->slots[probing_first(&table->probing, row->key.low)]);
	row = row_before(ring, FETCH_SET);
	if (row != NULL && (set = first_set(table, row)) != NULL)
		__builtin_prefetch(set, 1);
	else if (row != NULL && ring->shared != NULL)
		shared_values_fetch(ring->shared, row->key);
	row = row_before(ring, FETCH_VALUES);
	if (row != NULL)
		fetch_values(ring, table, row);
}

const AddedRow *
ring_pop(PrefetchRing *ring)
{
	if (ring->n == 0)
		return NULL;
	ring->n--;
	return &ring->slots[ring->first++ % RING_ROWS].row;
}
