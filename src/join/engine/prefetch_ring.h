/*
 * prefetch_ring.h
 *		A ring of rows whose places in the table of sets are being prefetched.
 */
#ifndef NEARDUP_PREFETCH_RING_H
#define NEARDUP_PREFETCH_RING_H

#include "join/engine/set_table.h"
#include "join/engine/shared_values.h"

/* Number of rows in the ring; a power of two. */
#define RING_ROWS		16

/* Larger sets and rows are not put into the ring. */
#define RING_VALUES		256
#define RING_BYTES		256

/* A row that is added, with the key of its set of n values; n = 0: it has none. */
typedef struct AddedRow
{
	JoinSide	side;
	SetKey		key;
	const uint64 *values;
	uint32		n;
	const void *data;
	uint32		len;			/* bytes of data */
	uint32		rowno;			/* on its side, in this process */
} AddedRow;

typedef struct RingSlot
{
	AddedRow	row;
	uint64		values[RING_VALUES];
	char		data[RING_BYTES];
} RingSlot;

typedef struct PrefetchRing
{
	RingSlot   *slots;			/* NULL: there is no ring */
	uint32		first;			/* number of the oldest row */
	uint32		n;
	SharedValues *shared;		/* where new sets are searched; NULL: nowhere */
	SharedAreas *areas;
} PrefetchRing;

/* In the current memory context. */
extern void ring_create(PrefetchRing *ring, SharedValues *shared, SharedAreas *areas);

static inline bool
ring_accepts(const PrefetchRing *ring, const AddedRow *row)
{
	return ring->slots != NULL && row->n > 0 && row->n <= RING_VALUES &&
		row->len <= RING_BYTES;
}

static inline bool
ring_is_full(const PrefetchRing *ring)
{
	return ring->n == RING_ROWS;
}

/*
 * Copy a row that is accepted into a ring that is not full, and prefetch what will be
 * read of the table for it and those before it.
 */
extern void ring_push(PrefetchRing *ring, const SetTable *table, const AddedRow *row);

/* Remove the oldest row, which is valid until the next one is pushed; NULL: none. */
extern const AddedRow *ring_pop(PrefetchRing *ring);

#endif							/* NEARDUP_PREFETCH_RING_H */
