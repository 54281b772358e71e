/*
 * set_table.h
 *		Distinct sets, their bitmaps, and the ring in which rows wait for them.
 */
#ifndef NEARDUP_SET_TABLE_H
#define NEARDUP_SET_TABLE_H

#include "port/atomics.h"

#include "base/interrupts.h"
#include "base/linear_probing.h"
#include "join/engine/arena.h"
#include "join/engine/engine_params.h"
#include "join/engine/rows.h"

/* A distinct set of a similarity join, with its rows and its bitmap */

/*
 * Order of a set: its size, then bits of its hash.  On disk the last 32 bits
 * are a number, which distinguishes sets with one hash.
 */
typedef struct SetKey
{
	int64		high;			/* size << 36 | 36 bits of hash */
	int64		low;			/* 64 bits more */
} SetKey;

#define SETKEY_HASH_BITS	36
#define SETKEY_SIZE(key)	((uint32) ((key).high >> SETKEY_HASH_BITS))

typedef struct JoinSet
{
	union
	{
		SetKey		key;		/* while rows are added */
		uint64		number;		/* then: see set_number() */
		uint64		representative; /* in groups: see set_representative() */
	};
	uint64	   *values;			/* rising; the set's bitmap is before them */
	union
	{
		SharedPointer place;	/* until it is prepared, where bitmap and
								 * values are in shared memory */
		uint64	   *keys;		/* then, tokens of its prefix, rising */
	};
	uint32		size;			/* elements of the set */
	uint32		nvalues;		/* less than size once elements that occur in
								 * no other set are dropped */
	uint32		nkeys;			/* keys of the prefix, without dropped ones */
	uint32		first;			/* number in groups */
	RowLink		rows[2];		/* first row by JoinSide; in a self-join in
								 * shared memory, until sets are gathered,
								 * first and last row */
} JoinSet;

/*
 * The number of a set among all, in order of size, once identical sets are
 * collapsed.  A key is greater than any number, as no set is empty.
 */
static inline uint32
set_number(const JoinSet *set)
{
	Assert(set->number <= PG_UINT32_MAX);
	return set->number;
}

/* The number of the set that represents this one, in groups. */
static inline uint32
set_representative(const JoinSet *set)
{
	Assert(set->representative <= PG_UINT32_MAX);
	return set->representative;
}

/* True if a set has rows on a side. */
static inline bool
set_has_rows(const JoinSet *set, JoinSide side)
{
	return row_exists(set->rows[side]);
}

/* The sides on which a set has rows, as bits. */
static inline uint32
set_sides(const JoinSet *set)
{
	return set_has_rows(set, SIDE_OUTER) |
		set_has_rows(set, SIDE_INNER) << 1;
}

/* Prefetch the first 24 keys of a set, by cache lines. */
static inline void
set_fetch_keys(const JoinSet *set)
{
	for (int i = 0; i < 24; i += 8)
		__builtin_prefetch(&set->keys[i]);
}

/*
 * A bitmap and values are allocated together: bytes of both, and where values
 * begin.
 */
extern size_t set_bytes(uint32 size);
extern uint64 *set_values(void *place, uint32 size);
extern size_t bitmap_bytes(uint32 size);

/* Make the bitmap of the values that are left. */
extern void bitmap_make(JoinSet *set);

/*
 * The bitmap folded to 64 bits, which can be compared with any other folded
 * bitmap; and another such word, by another hash of the values that are left.
 */
extern uint64 bitmap_folded(const JoinSet *set);
extern uint64 bitmap_second(const JoinSet *set);

/*
 * False if the bitmaps prove that the sets share fewer than `need` elements.
 */
extern bool bitmaps_allow(const JoinSet *a, const JoinSet *b, uint32 need);

/* Values of sets that some process has stored, for all to use */

/* A shared table: where the values of a set are, with bits of its hash. */
typedef struct SharedValues
{
	uint64		nslots;			/* a power of two */
	pg_atomic_uint64 slots[FLEXIBLE_ARRAY_MEMBER];
} SharedValues;

/*
 * Bytes of a table for the sets of nrows rows, in a join that may use
 * `memory`.
 */
extern size_t shared_values_bytes(double nrows, size_t memory);

/* Initialize an empty table of `bytes` bytes. */
extern void shared_values_init(SharedValues *table, size_t bytes);

/* Prefetch the slots of that key. */
extern void shared_values_fetch(SharedValues *table, SetKey key);

/* The probable place of its values, or NULL; for prefetching only. */
extern const uint64 *shared_values_look(SharedValues *table,
										const SharedAreas *areas,
										SetKey key);

/*
 * The place of equal values, if some process has added them and they have not
 * been overwritten; or an invalid pointer.
 */
extern SharedPointer shared_values_find(SharedValues *table,
										SharedAreas *areas, SetKey key,
										const uint64 *values, uint32 n);

/*
 * Add the n values of a set, which must stay until all processes have added
 * their rows, and its number in this process.
 */
extern void shared_values_add(SharedValues *table, SetKey key, uint64 *values,
							  uint32 n,
							  uint32 number, SharedPointer pointer);

/* The number with which these values were added. */
extern uint32 shared_values_number(const uint64 *values);

/* The distinct sets of a similarity join, while rows are added */

/* Bytes of the secret with which sets are hashed. */
#define JOIN_SECRET		192

/* Draw a secret; raise an error if there is no source of random bits. */
extern void join_secret_draw(char *secret);

typedef struct SetTable
{
	JoinSet    *sets;			/* sets in order of arrival */
	uint32		nsets;
	uint32		maxsets;		/* allocated */
	uint32	   *slots;			/* hash table: number of set + 1, 0 = free */
	uint32		nslots;
	Probing		probing;		/* probing of the slots */
	char		secret[JOIN_SECRET];	/* secret of the hash, drawn for this
										 * join */
} SetTable;

extern void settable_create(SetTable *table, const char *secret);
extern void settable_free(SetTable *table);
extern JoinSet *settable_take_room(SetTable *table, uint32 n);
extern size_t settable_bytes(const SetTable *table);
extern SetKey set_key(const char *secret, const uint64 *values, uint32 n);
extern JoinSet *settable_find(SetTable *table, SetKey key,
							  const uint64 *values, uint32 n, bool *found);
extern void settable_sort(SetTable *table);

/* A ring of rows whose places in the table of sets are being prefetched */

/* Number of rows in the ring; a power of two. */
#define RING_ROWS		16

/* Larger sets and rows are not put into the ring. */
#define RING_VALUES		256
#define RING_BYTES		256

/*
 * A row that is added, with the key of its set of n values; n = 0: it has
 * none.
 */
typedef struct AddedRow
{
	JoinSide	side;
	SetKey		key;
	const uint64 *values;
	uint32		n;
	const void *data;
	uint32		len;			/* bytes of data */
	uint32		rowno;			/* number on its side, in this process */
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
	SharedValues *shared;		/* table in which new sets are searched; NULL:
								 * none */
	SharedAreas *areas;
} PrefetchRing;

/* Create a ring in the current memory context; and free an empty one. */
extern void ring_free(PrefetchRing *ring);
extern void ring_create(PrefetchRing *ring, SharedValues *shared,
						SharedAreas *areas);

/* True if a row is small enough for the ring, which exists. */
static inline bool
ring_accepts(const PrefetchRing *ring, const AddedRow *row)
{
	return ring->slots != NULL && row->n > 0 && row->n <= RING_VALUES &&
		row->len <= RING_BYTES;
}

/* True if a row must be removed before the next one is pushed. */
static inline bool
ring_is_full(const PrefetchRing *ring)
{
	return ring->n == RING_ROWS;
}

/*
 * Copy an accepted row into a ring that is not full, and prefetch for it and
 * the rows before it.
 */
extern void ring_push(PrefetchRing *ring, const SetTable *table,
					  const AddedRow *row);

/*
 * Remove the oldest row, which is valid until the next one is pushed; NULL:
 * none.
 */
extern const AddedRow *ring_pop(PrefetchRing *ring);

#endif							/* NEARDUP_SET_TABLE_H */
