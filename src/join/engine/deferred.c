/*
 * deferred.c
 *		Candidates whose sets are on disk, to be compared later.
 *
 * A candidate is a pair of numbers of sets in the set file.  Pairs are collected in
 * memory.  Once there are many, or the search is over, they are sorted by the set that was
 * found, and these sets are read in blocks that fit into memory.  The sets that found them
 * are then read one after another, each once for a block in which it has a candidate.
 * All reading goes forward through the file and skips sets without a candidate.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "base/growing.h"
#include "base/sort_uint64.h"
#include "join/engine/chunks.h"
#include "join/engine/deferred.h"
#include "join/engine/spill.h"

typedef struct Deferred
{
	/*
	 * The set that was found << 32 | the one that found it; of the block, the one
	 * that found it << 32 | the place in the block.
	 */
	uint64	   *pairs;
	size_t		npairs;
	size_t		max_pairs;		/* allocated */
	size_t		full;			/* number from which they are compared */

	/* of the block */
	size_t		block_bytes;	/* that it may take */
	JoinSet    *sets;
	size_t		nsets;
	size_t		max_sets;		/* allocated */
	Arena		arena;			/* values and rows */
	size_t		next;			/* pair */
	size_t		end;			/* of its pairs */
	uint32		probing;		/* number of the set that probed */
} Deferred;

Deferred *
deferred_create(size_t memory)
{
	Deferred   *deferred = palloc0(sizeof(Deferred));

	deferred->full = memory / 100 * DEFERRED_PAIRS_SHARE / sizeof(uint64);
	arena_init(&deferred->arena, Min(Max(memory / 64, 1024), 64 * 1024));
	return deferred;
}

void
deferred_add(SetJoin *join, const JoinSet *indexed, const JoinSet *probing)
{
	Deferred   *deferred = join->spill->chunks->deferred;

	/* at first, room for all that are compared at once */
	deferred->pairs = growing_reserve(deferred->pairs, &deferred->max_pairs,
									  Max(deferred->npairs + 1, deferred->full),
									  sizeof(uint64));
	deferred->pairs[deferred->npairs++] =
		(uint64) indexed->key.low << 32 | (uint64) probing->key.low;
}

bool
deferred_is_full(SetJoin *join)
{
	return join->spill->chunks->deferred->npairs >= join->spill->chunks->deferred->full;
}

bool
deferred_begin(SetJoin *join, bool last)
{
	Deferred   *deferred = join->spill->chunks->deferred;

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

/* Read the set of that number, with its values. */
static JoinSet *
read_set(SetFile *file, uint32 number)
{
	setfile_seek(file, number);
	(void) setfile_next(file);
	setfile_read_values(file);
	return &file->set;
}

/* Add the set of that number to the block, with rows that are not larger than its values. */
static void
load_set(SetJoin *join, uint32 number)
{
	Deferred   *deferred = join->spill->chunks->deferred;
	JoinSet    *from = read_set(&join->spill->file, number);
	size_t		bytes = sizeof(uint64) * from->size;
	JoinSet    *set;

	deferred->sets = growing_reserve(deferred->sets, &deferred->max_sets,
									 deferred->nsets + 1, sizeof(JoinSet));
	set = &deferred->sets[deferred->nsets++];
	*set = *from;
	set->values = arena_alloc(&deferred->arena, bytes);
	memcpy(set->values, from->values, bytes);
	setfile_read_rows(&join->spill->file, set, &deferred->arena, bytes);
}

/* Read the next block; false if there is none. */
static bool
next_block(SetJoin *join)
{
	Deferred   *deferred = join->spill->chunks->deferred;
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

JoinSet *
deferred_next_probe(SetJoin *join)
{
	Deferred   *deferred = join->spill->chunks->deferred;

	if (deferred->next == deferred->end && !next_block(join))
	{
		deferred->npairs = 0;
		return NULL;
	}
	deferred->probing = deferred->pairs[deferred->next] >> 32;
	return read_set(&join->spill->file, deferred->probing);
}

JoinSet *
deferred_next_candidate(SetJoin *join)
{
	Deferred   *deferred = join->spill->chunks->deferred;

	if (deferred->next == deferred->end ||
		deferred->pairs[deferred->next] >> 32 != deferred->probing)
		return NULL;
	return &deferred->sets[(uint32) deferred->pairs[deferred->next++]];
}
