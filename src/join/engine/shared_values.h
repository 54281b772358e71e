/*
 * shared_values.h
 *		Values of sets that some process has stored, for all to use.
 */
#ifndef NEARDUP_SHARED_VALUES_H
#define NEARDUP_SHARED_VALUES_H

#include "port/atomics.h"

#include "join/engine/joined_set.h"
#include "join/engine/shared_pool.h"

/* A shared table: where the values of a set are, with bits of its hash. */
typedef struct SharedValues
{
	uint64		nslots;			/* a power of two */
	pg_atomic_uint64 slots[FLEXIBLE_ARRAY_MEMBER];
} SharedValues;

/* Bytes of a table for the sets of nrows rows, in a join that may use `memory`. */
extern size_t shared_values_bytes(double nrows, size_t memory);

/* Make an empty table in a place of so many bytes. */
extern void shared_values_init(SharedValues *table, size_t bytes);

/* Prefetch what is read first for a set of that key. */
extern void shared_values_fetch(SharedValues *table, SetKey key);

/* A guess where its values are, or NULL; for prefetching only. */
extern const uint64 *shared_values_look(SharedValues *table, const SharedAreas *areas,
									 SetKey key);

/*
 * Where n equal values of that key are, if some process has added them and they have not
 * been overwritten since; or else an invalid pointer.
 */
extern SharedPointer shared_values_find(SharedValues *table, SharedAreas *areas, SetKey key,
									 const uint64 *values, uint32 n);

/*
 * Add the n values of a set, which must stay until all processes have added their rows,
 * and its number in this process.
 */
extern void shared_values_add(SharedValues *table, SetKey key, uint64 *values, uint32 n,
						   uint32 number, SharedPointer pointer);

/* The number with which these values were added. */
extern uint32 shared_values_number(const uint64 *values);

#endif							/* NEARDUP_SHARED_VALUES_H */
