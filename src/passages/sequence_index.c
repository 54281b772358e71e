/*
 * sequence_index.c
 *		Where the hashes of one sequence stand in another.
 *
 * A table by open addressing, of which a slot holds a hash, its counts and the
 * first of its places; each place leads to the next one of the same hash.  Slots
 * are asked for some hashes ahead of their use, as the table is larger than the
 * processor's caches.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/passages/sequence_index.c
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "base/interrupts.h"
#include "passages/sequence_index.h"

#define AHEAD		12			/* hashes */

static inline void
ask_for(const SequenceIndex *index, uint64 hash)
{
#ifdef __GNUC__
	__builtin_prefetch(&index->slots[probing_first(&index->probing, hash)]);
#endif
}

/* The slot that holds a hash, or the free one where it would go. */
static inline uint32
slot_of(const SequenceIndex *index, uint64 hash)
{
	size_t		i = probing_first(&index->probing, hash);

	while (index->slots[i].count != 0 && index->slots[i].hash != hash)
		i = probing_next(&index->probing, i);
	return i;
}

static inline void
count_one(uint16 *count)
{
	if (*count < PG_UINT16_MAX)
		(*count)++;
}

/* A table of twice as many slots as hashes at most, 4/5 full at most. */
static void
make_slots(SequenceIndex *index, uint32 n)
{
	size_t		size = 16;

	while (size * 4 / 5 < n)
		size *= 2;
	probing_init(&index->probing, size);
	index->slots = MemoryContextAllocExtended(CurrentMemoryContext,
											  size * sizeof(IndexedHash),
											  MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
}

void
sequence_index_build(SequenceIndex *index, const uint64 *hashes, uint32 n,
					 uint32 *ids)
{
	make_slots(index, n);
	index->next = MemoryContextAllocHuge(CurrentMemoryContext,
										 Max(n, 1) * sizeof(uint32));
	/* from the last to the first, so that places come in rising order */
	for (uint32 i = n; i-- > 0;)
	{
		IndexedHash *slot;

		CHECK_EVERY(i);
		if (i >= AHEAD)
			ask_for(index, hashes[i - AHEAD]);
		ids[i] = slot_of(index, hashes[i]);
		slot = &index->slots[ids[i]];
		index->next[i] = slot->count == 0 ? NOWHERE : slot->first;
		slot->hash = hashes[i];
		slot->first = i;
		count_one(&slot->count);
	}
}

void
sequence_index_find(SequenceIndex *index, const uint64 *hashes, uint32 n,
					uint32 *ids)
{
	for (uint32 i = 0; i < n; i++)
	{
		uint32		at;

		CHECK_EVERY(i);
		if (i + AHEAD < n)
			ask_for(index, hashes[i + AHEAD]);
		at = slot_of(index, hashes[i]);
		ids[i] = NOWHERE;
		if (index->slots[at].count == 0)
			continue;
		ids[i] = at;
		count_one(&index->slots[at].found);
	}
}
