/*
 * known_sets.h
 *		Finds sets that equal a set before them.
 */
#ifndef NEARDUP_KNOWN_SETS_H
#define NEARDUP_KNOWN_SETS_H

#include "join/engine/rows.h"
#include "join/engine/set_table.h"

/*
 * The numbers of sets by their hashes.  A set is in a table that is searched
 * at once.  If memory is short, it is in a file, and is compared when all sets
 * are there; so are all sets after it.
 */
typedef struct KnownSets
{
	struct known_hash *table;
	SpillFile	others;			/* exists once memory was short */
} KnownSets;

#define NOT_KNOWN	UINT32_MAX

/* Begin without sets, in the current memory context. */
extern void known_sets_begin(KnownSets *known);

/* Free the sets. */
extern void known_sets_end(KnownSets *known);

/* Return the number of the set in the table with that hash, or NOT_KNOWN. */
extern uint32 known_sets_find(const KnownSets *known, SetKey key);

/*
 * Add a set that is not in the table, which takes at most `memory` bytes while
 * it grows.  Numbers rise.
 */
extern void known_sets_add(KnownSets *known, SetKey key, uint32 number,
						   size_t memory);

/* True if a set may equal one that was not found. */
extern bool known_sets_has_untracked(const KnownSets *known);

/* Say that a set equals one before it, which equals none before it. */
typedef void (*EqualSetCallback) (void *context, uint32 number, uint32 first);

/*
 * All sets are added: free the table, and find the sets in the file that equal
 * one before them, in `memory` bytes.
 */
extern void known_sets_find_equal(KnownSets *known, size_t memory,
								  EqualSetCallback callback, void *context);

#endif							/* NEARDUP_KNOWN_SETS_H */
