/*
 * arrivals.h
 *		Rows on their way into the table of sets.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/join/engine/arrivals.h
 */
#ifndef NEARDUP_ARRIVALS_H
#define NEARDUP_ARRIVALS_H

#include "join/engine/collapse.h"
#include "join/engine/shared_known.h"

/* Rows that are on their way at once; a power of two. */
#define MAX_ARRIVALS	16

/* Larger sets and rows do not wait. */
#define ARRIVAL_VALUES	256
#define ARRIVAL_BYTES	256

typedef struct Arrival
{
	JoinSide	side;
	SetKey		key;
	uint32		n;				/* values */
	uint32		rowno;
	uint32		len;			/* bytes of the row */
	uint64		values[ARRIVAL_VALUES];
	char		row[ARRIVAL_BYTES];
} Arrival;

typedef struct Arrivals
{
	Arrival    *ring;			/* NULL: nothing waits */
	uint32		first;			/* number of the oldest one */
	uint32		n;
	KnownSets  *known;			/* where new sets are looked for; NULL: nowhere */
	SharedAreas *areas;
} Arrivals;

/* In the current memory context. */
extern void arrivals_create(Arrivals *arrivals, KnownSets *known,
							SharedAreas *areas);

/* True if a row may wait, with a set of n values. */
static inline bool
arrivals_take(const Arrivals *arrivals, uint32 n, uint32 len)
{
	return arrivals->ring != NULL && n > 0 && n <= ARRIVAL_VALUES &&
		len <= ARRIVAL_BYTES;
}

static inline bool
arrivals_full(const Arrivals *arrivals)
{
	return arrivals->n == MAX_ARRIVALS;
}

/*
 * Takes a copy of a row, of which there is room; and fetches what will be asked of
 * the table for those that wait.
 */
extern void arrivals_add(Arrivals *arrivals, const SetTable *table,
						 JoinSide side, SetKey key, const uint64 *values,
						 uint32 n, const void *row, uint32 rowno, uint32 len);

/* Gives up the oldest, which lasts until the next one is added; NULL: there is none. */
extern const Arrival *arrivals_next(Arrivals *arrivals);

#endif							/* NEARDUP_ARRIVALS_H */
