/*
 * arrivals.c
 *		Rows on their way into the table of sets.
 *
 * To find a row's set in a large table takes three places in memory one after
 * another: the slot, the set, and its values, none of which is in a cache.  So rows
 * wait for some others.  Meanwhile these places are fetched, one when the row comes,
 * and the others when the one before should be there.  The same is done in the table
 * of sets that other processes have stored.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/join/engine/arrivals.c
 */
#include "postgres.h"

#include "join/engine/arrivals.h"

/* How many rows after its own a row's set is fetched, and the set's values. */
#define FETCH_SET		5
#define FETCH_VALUES	10

/* Values are fetched by so many, a line of a cache, and so many of them at the most. */
#define VALUES_PER_LINE	8
#define MAX_FETCHED	64

/* See arrivals.h */
void
arrivals_create(Arrivals *arrivals, KnownSets *known, SharedAreas *areas)
{
	arrivals->known = known;
	arrivals->areas = areas;
	arrivals->ring = palloc(sizeof(Arrival) * MAX_ARRIVALS);
	arrivals->first = arrivals->n = 0;
}

/* The one that came so many before the last, or NULL. */
static inline const Arrival *
arrival_before(const Arrivals *arrivals, uint32 before)
{
	if (before >= arrivals->n)
		return NULL;
	return &arrivals->ring[(arrivals->first + arrivals->n - 1 - before) % MAX_ARRIVALS];
}

/* The first set that a row's is compared with, or NULL. */
static inline const JoinSet *
first_set(const SetTable *table, const Arrival *arrival)
{
	uint32		number = table->slots[probing_first(&table->probing, arrival->key.low)];

	return number == 0 ? NULL : &table->sets[number - 1];
}

/* Fetches the values of the set that a row's is compared with first. */
static inline void
fetch_values(const Arrivals *arrivals, const SetTable *table,
			 const Arrival *arrival)
{
	const JoinSet *set = first_set(table, arrival);
	const uint64 *values = NULL;

	if (set == NULL && arrivals->known != NULL)
		values = known_sets_look(arrivals->known, arrivals->areas, arrival->key);
	else if (set != NULL && set->key.low == arrival->key.low)
		values = set->values;
	if (values != NULL)
		for (uint32 i = 0; i < Min(arrival->n, MAX_FETCHED); i += VALUES_PER_LINE)
			__builtin_prefetch(&values[i]);
}

/* Fetches what is the next of each. */
static void
fetch_ahead(const Arrivals *arrivals, const SetTable *table)
{
	const Arrival *arrival = arrival_before(arrivals, 0);
	const JoinSet *set;

	__builtin_prefetch(&table->slots[probing_first(&table->probing, arrival->key.low)]);
	arrival = arrival_before(arrivals, FETCH_SET);
	if (arrival != NULL && (set = first_set(table, arrival)) != NULL)
		__builtin_prefetch(set, 1);
	else if (arrival != NULL && arrivals->known != NULL)
		known_sets_fetch(arrivals->known, arrival->key);
	arrival = arrival_before(arrivals, FETCH_VALUES);
	if (arrival != NULL)
		fetch_values(arrivals, table, arrival);
}

/* See arrivals.h */
void
arrivals_add(Arrivals *arrivals, const SetTable *table, JoinSide side,
			 SetKey key, const uint64 *values, uint32 n, const void *row,
			 uint32 rowno, uint32 len)
{
	Arrival    *arrival = &arrivals->ring[(arrivals->first + arrivals->n++) % MAX_ARRIVALS];

	arrival->side = side;
	arrival->key = key;
	arrival->n = n;
	arrival->rowno = rowno;
	arrival->len = len;
	memcpy(arrival->values, values, sizeof(uint64) * n);
	memcpy(arrival->row, row, len);
	fetch_ahead(arrivals, table);
}

/* See arrivals.h */
const Arrival *
arrivals_next(Arrivals *arrivals)
{
	if (arrivals->n == 0)
		return NULL;
	arrivals->n--;
	return &arrivals->ring[arrivals->first++ % MAX_ARRIVALS];
}
