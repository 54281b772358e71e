/*
 * deferred.c
 *		Candidates whose sets are on disk, to be compared later.
 *
 * Where sets are searched by their keys alone, a pair of candidates is a pair
 * of numbers of sets in the set file.  Pairs are collected in memory.  Once
 * there are many, or the search is over, they are sorted by the set that was
 * found, and these sets are read in blocks, as many as fit into memory.  Those
 * that found them are then read one after another, each once for a block in
 * which it has a candidate.  All reading goes forward through the file; sets
 * that nobody wants are passed over.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/join/engine/deferred.c
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "base/growing.h"
#include "base/sort_uint64.h"
#include "join/engine/deferred.h"
#include "join/engine/spill.h"

typedef struct Deferred
{
	/*
	 * A set that was found << 32 | the one that found it.  Of the block: the one
	 * that found it << 32 | the place in the block.
	 */
	uint64	   *pairs;
	size_t		npairs;
	size_t		max_pairs;		/* allocated */
	size_t		full;			/* so many are compared */

	/* of the block */
	size_t		block_bytes;	/* that it may take */
	JoinSet    *sets;
	size_t		nsets;
	size_t		max_sets;		/* allocated */
	Arena		arena;			/* values and rows */
	size_t		next;			/* pair of those who probe it */
	size_t		end;			/* behind its pairs */
	uint32		probing;		/* set that probes */
} Deferred;

/* No candidates as yet, in the current memory context. */
Deferred *
deferred_create(size_t memory)
{
	Deferred   *deferred = palloc0(sizeof(Deferred));

	deferred->full = memory / 100 * DEFERRED_PAIRS_SHARE / sizeof(uint64);
	arena_init(&deferred->arena, Min(Max(memory / 64, 1024), 64 * 1024));
	return deferred;
}

/* Takes note of a pair.  A set that probes has all its candidates noted. */
void
deferred_add(SetJoin *join, const JoinSet *indexed, const JoinSet *probing)
{
	Deferred   *deferred = join->deferred;

	if (unlikely(deferred->npairs == deferred->max_pairs))
	{
		if (deferred->max_pairs == 0)
			deferred->pairs = growing_reserve(NULL, &deferred->max_pairs,
											  deferred->full, sizeof(uint64));
		else
			deferred->pairs = growing_reserve(deferred->pairs,
											  &deferred->max_pairs,
											  deferred->npairs + 1,
											  sizeof(uint64));
	}
	deferred->pairs[deferred->npairs++] =
		(uint64) indexed->key.low << 32 | (uint64) probing->key.low;
}

/* True if there are so many that they are to be compared. */
bool
deferred_full(SetJoin *join)
{
	return join->deferred->npairs >= join->deferred->full;
}

/*
 * Begins to compare what there is; false if there is nothing.  After the last
 * chunk there is more room.
 */
bool
deferred_begin(SetJoin *join, bool last)
{
	Deferred   *deferred = join->deferred;

	if (deferred->npairs == 0)
		return false;
	deferred->block_bytes = join->params.memory / 100 *
		(last ? DEFERRED_LAST_SHARE : DEFERRED_BLOCK_SHARE);
	deferred->next = deferred->end = 0;
	sort_hashes(deferred->pairs, deferred->npairs);
	return true;
}

static size_t
block_size(const Deferred *deferred)
{
	return deferred->arena.bytes + deferred->max_sets * sizeof(JoinSet);
}

/* Adds the set of that number to the block, without bitmap and keys. */
static void
load_set(SetJoin *join, uint32 number)
{
	Deferred   *deferred = join->deferred;
	JoinSet    *from = setfile_get(&join->spill->file, number);
	size_t		bytes = sizeof(uint64) * from->size;
	JoinSet    *set;

	deferred->sets = growing_reserve(deferred->sets, &deferred->max_sets,
									 deferred->nsets + 1, sizeof(JoinSet));
	set = &deferred->sets[deferred->nsets++];
	*set = *from;
	set->values = arena_alloc(&deferred->arena, bytes);
	memcpy(set->values, from->values, bytes);
	setfile_keep_rows(&join->spill->file, set, &deferred->arena);
}

/* Reads the next block; false if there is none. */
static bool
next_block(SetJoin *join)
{
	Deferred   *deferred = join->deferred;
	size_t		begin = deferred->end;
	size_t		at = begin;

	arena_reset(&deferred->arena);
	deferred->nsets = 0;
	while (at < deferred->npairs &&
		   (at == begin || block_size(deferred) < deferred->block_bytes))
	{
		uint64		found = deferred->pairs[at] >> 32;

		CHECK_FOR_INTERRUPTS();
		load_set(join, found);
		for (; at < deferred->npairs && deferred->pairs[at] >> 32 == found; at++)
		{
			CHECK_EVERY(at);
			deferred->pairs[at] = deferred->pairs[at] << 32 |
				(deferred->nsets - 1);
		}
	}
	sort_hashes(deferred->pairs + begin, at - begin);
	deferred->next = begin;
	deferred->end = at;
	return at > begin;
}

/* The next set whose candidates are to be compared with it, or NULL. */
JoinSet *
deferred_next_probe(SetJoin *join)
{
	Deferred   *deferred = join->deferred;

	if (deferred->next == deferred->end && !next_block(join))
	{
		deferred->npairs = 0;
		return NULL;
	}
	deferred->probing = deferred->pairs[deferred->next] >> 32;
	return setfile_get(&join->spill->file, deferred->probing);
}

/* Its next candidate, or NULL. */
JoinSet *
deferred_next_candidate(SetJoin *join)
{
	Deferred   *deferred = join->deferred;

	if (deferred->next == deferred->end ||
		deferred->pairs[deferred->next] >> 32 != deferred->probing)
		return NULL;
	return &deferred->sets[(uint32) deferred->pairs[deferred->next++]];
}
