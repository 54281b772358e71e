/*
 * deferred.c
 *		Candidates whose sets are on disk, compared later in blocks.
 */
#include "postgres.h"

#include "base/interrupts.h"
#include "base/memory.h"
#include "base/sort_uint64.h"
#include "join/engine/deferred.h"

void
deferred_create(Deferred *deferred, size_t bytes, size_t block)
{
	memset(deferred, 0, sizeof(Deferred));
	deferred->full = Max(bytes / sizeof(uint64), 1);
	arena_init(&deferred->arena, block);
}

void
deferred_add(Deferred *deferred, uint32 found, uint32 probing)
{
	/* allocate `full` pairs at first */
	deferred->pairs = growing_reserve(deferred->pairs, &deferred->max_pairs,
									  Max(deferred->npairs + 1,
										  deferred->full), sizeof(uint64));
	deferred->pairs[deferred->npairs++] = (uint64) found << 32 | probing;
}

void
deferred_begin(Deferred *deferred)
{
	deferred->next = deferred->end = 0;
	sort_hashes(deferred->pairs, deferred->npairs);
}

/*
 * Load the found set of the pair at `at`, and refer all its pairs to the place
 * in the block.  Returns the first pair of another set.
 */
static size_t
load_found(Deferred *deferred, size_t at, DeferredLoad load, void *context)
{
	uint64		found = deferred->pairs[at] >> 32;
	uint32		place = deferred->nsets++;

	deferred->sets = growing_reserve(deferred->sets, &deferred->max_sets,
									 deferred->nsets, sizeof(JoinSet));
	load(context, found, &deferred->sets[place], &deferred->arena);
	for (; at < deferred->npairs && deferred->pairs[at] >> 32 == found; at++)
	{
		CHECK_EVERY(at);
		deferred->pairs[at] = deferred->pairs[at] << 32 | place;
	}
	return at;
}

bool
deferred_next_block(Deferred *deferred, size_t bytes, DeferredLoad load,
					void *context)
{
	size_t		begin = deferred->end;
	size_t		at = begin;

	Assert(begin <= deferred->npairs && deferred->next == begin);
	arena_reuse(&deferred->arena);
	deferred->nsets = 0;
	while (at < deferred->npairs &&
		   (at == begin ||
			deferred->arena.bytes +
			deferred->max_sets * sizeof(JoinSet) < bytes))
	{
		CHECK_FOR_INTERRUPTS();
		at = load_found(deferred, at, load, context);
	}
	sort_hashes(deferred->pairs + begin, at - begin);
	deferred->next = begin;
	deferred->end = at;
	if (at == begin)
		deferred->npairs = deferred->next = deferred->end = 0;
	return at > begin;
}
