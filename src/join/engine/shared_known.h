/*
 * shared_known.h
 *		Sets of which some process has stored the values, for others to use.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/join/engine/shared_known.h
 */
#ifndef NEARDUP_SHARED_KNOWN_H
#define NEARDUP_SHARED_KNOWN_H

#include "port/atomics.h"

#include "join/engine/joined_set.h"
#include "join/engine/shared_pool.h"

/* A table in memory that all see: where the values of a set are, with bits of its hash. */
typedef struct KnownSets
{
	uint64		nslots;			/* a power of two */
	pg_atomic_uint64 slots[FLEXIBLE_ARRAY_MEMBER];
} KnownSets;

/*
 * Bytes of a table for the sets of about so many rows, of which a join may take so much
 * memory.
 */
extern size_t known_sets_bytes(double nrows, size_t memory);

/* Makes an empty one in a place of so many bytes. */
extern void known_sets_init(KnownSets *known, size_t bytes);

/* Fetches into the cache what is looked at first for a set of that key. */
extern void known_sets_fetch(KnownSets *known, SetKey key);

/* Where its values may be, if that can be told at once; or NULL.  They may be others. */
extern const uint64 *known_sets_look(KnownSets *known, const SharedAreas *areas,
									 SetKey key);

/*
 * Where in the areas the values are that are equal to these n of the key, if some process
 * has told of them and it has not been forgotten since; or else an invalid pointer.
 */
extern SharedPointer known_sets_find(KnownSets *known, SharedAreas *areas, SetKey key,
									 const uint64 *values, uint32 n);

/*
 * Tells the others where the n values of a set are, which will stay there until all have
 * taken in their rows, and its number, which is the caller's.
 */
extern void known_sets_add(KnownSets *known, SetKey key, uint64 *values, uint32 n,
						   uint32 number, SharedPointer pointer);

/* The number of the set that has told of these values. */
extern uint32 known_set_number(const uint64 *values);

#endif							/* NEARDUP_SHARED_KNOWN_H */
