/*
 * deferred.h
 *		Candidates whose sets are on disk, compared later in blocks.
 */
#ifndef NEARDUP_DEFERRED_H
#define NEARDUP_DEFERRED_H

#include "join/engine/set_table.h"

/*
 * Pairs of numbers: a set that was found, and the set that probed.  When there
 * are many they are sorted by the found set.  Found sets are loaded in blocks;
 * for each block, the probing sets are read one after another.  All reading
 * goes forward and skips sets without a candidate.
 */
typedef struct Deferred
{
	/*
	 * Found set << 32 | probing set; in the current block, probing set << 32
	 * | place in the block.
	 */
	uint64	   *pairs;
	size_t		npairs;
	size_t		max_pairs;		/* allocated */
	size_t		full;			/* number from which they are compared */

	/* of the block */
	JoinSet    *sets;
	size_t		nsets;
	size_t		max_sets;		/* allocated */
	Arena		arena;			/* values and rows */
	size_t		next;			/* pair */
	size_t		end;			/* end of its pairs */
} Deferred;

/* Prepare an empty list that is full at that number of bytes of pairs. */
extern void deferred_create(Deferred *deferred, size_t bytes, size_t block);

/* Add a pair. */
extern void deferred_add(Deferred *deferred, uint32 found, uint32 probing);

/* True if the deferred candidates are to be compared. */
static inline bool
deferred_is_full(const Deferred *deferred)
{
	return deferred->npairs >= deferred->full;
}

/* End adding: sort the pairs, before the first block is loaded. */
extern void deferred_begin(Deferred *deferred);

/* Load the set of that number, with values and rows in the arena. */
typedef void (*DeferredLoad) (void *context, uint32 number, JoinSet *set,
							  Arena *arena);

/*
 * Load the next block, of about that many bytes but at least one set.  False
 * if there is none, and the list is empty again.
 */
extern bool deferred_next_block(Deferred *deferred, size_t bytes,
								DeferredLoad load, void *context);

/* The probing set of the next pair in the block; false at its end. */
static inline bool
deferred_next_probing(const Deferred *deferred, uint32 *number)
{
	if (deferred->next == deferred->end)
		return false;
	*number = deferred->pairs[deferred->next] >> 32;
	return true;
}

/* The next found set in the block for that probing set, or NULL. */
static inline const JoinSet *
deferred_next_found(Deferred *deferred, uint32 probing)
{
	if (deferred->next == deferred->end ||
		deferred->pairs[deferred->next] >> 32 != probing)
		return NULL;
	return &deferred->sets[(uint32) deferred->pairs[deferred->next++]];
}

#endif							/* NEARDUP_DEFERRED_H */
