/*
 * sequence_index.c
 *		An index of a sequence's hashes, in which another sequence is looked
 *		up.
 *
 * A hash table with open addressing.  A slot holds the first place of a hash
 * and a few of its bits; the hash itself is at that place.  Each place links
 * to the next place of the same hash.  Slots are prefetched, since the table
 * is larger than the processor's caches.
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "base/interrupts.h"
#include "base/memory.h"
#include "passages/sequence_index.h"

#define AHEAD		12			/* number of hashes between a prefetch and its
								 * use */

/* Prefetch the slot where a hash is looked for first. */
static inline void
prefetch_slot(const SequenceIndex *index, uint64 hash)
{
	__builtin_prefetch(&index->slots[tight_probing_first(&index->probing,
														 hash)]);
}

/* A slot holds the upper bits of the hash, and its first place */

#define FREE_SLOT	PG_UINT32_MAX

/* Return the slot of a hash whose first place is `first`. */
static inline uint32
make_slot(uint64 hash, uint32 first)
{
	Assert(first < INDEXED_MAX);
	return ((uint32) (hash >> 32) & ~(INDEXED_MAX - 1)) | first;
}

/* True if a used slot belongs to a hash. */
static inline bool
is_slot_of(const SequenceIndex *index, uint32 slot, uint64 hash)
{
	uint32		first = slot & (INDEXED_MAX - 1);

	return slot == make_slot(hash, first) && index->hashes[first] == hash;
}

/* Return the first place that a slot holds; NOWHERE if it is free. */
static inline uint32
first_of(uint32 slot)
{
	return slot == FREE_SLOT ? NOWHERE : slot & (INDEXED_MAX - 1);
}

/* Return the slot that holds a hash, or the free slot for it. */
static inline uint32 *
slot_of(const SequenceIndex *index, uint64 hash)
{
	uint32		i = tight_probing_first(&index->probing, hash);

	while (index->slots[i] != FREE_SLOT &&
		   !is_slot_of(index, index->slots[i], hash))
		i = tight_probing_next(&index->probing, i);
	return &index->slots[i];
}

/* Return a count that is greater by one, unless it is full. */
static inline uint8
one_more(uint8 count)
{
	return count < PG_UINT8_MAX ? count + 1 : count;
}

/* Allocate a hash table that n hashes fill to 2/3. */
static void
make_slots(SequenceIndex *index, uint32 n)
{
	uint32		size = n + n / 2 + 2;

	tight_probing_init(&index->probing, size);
	index->slots = MemoryContextAllocHuge(CurrentMemoryContext,
										  size * sizeof(uint32));
	memset(index->slots, 0xFF, size * sizeof(uint32));
}

void
sequence_index_build(SequenceIndex *index, const uint64 *hashes, uint32 n)
{
	Assert(n < INDEXED_MAX);
	make_slots(index, n);
	index->n = n;
	index->hashes = hashes;
	index->next = MemoryContextAllocHuge(CurrentMemoryContext,
										 Max(n, 1) * sizeof(uint32));
	index->count = MemoryContextAllocHuge(CurrentMemoryContext, Max(n, 1));
	index->found = MemoryContextAllocExtended(CurrentMemoryContext, Max(n, 1),
											  MCXT_ALLOC_HUGE |
											  MCXT_ALLOC_ZERO);
	/* backwards, so that links lead from lower to higher places */
	for (uint32 i = n; i-- > 0;)
	{
		uint32	   *slot;
		uint32		first;

		CHECK_EVERY(i);
		if (i >= AHEAD)
			prefetch_slot(index, hashes[i - AHEAD]);
		slot = slot_of(index, hashes[i]);
		first = first_of(*slot);
		index->next[i] = first;
		index->count[i] = first == NOWHERE ? 1 : one_more(index->count[first]);
		*slot = make_slot(hashes[i], i);
	}
}

void
sequence_index_find(SequenceIndex *index, const uint64 *hashes, uint32 n,
					uint32 *ids)
{
	for (uint32 i = 0; i < n; i++)
	{
		uint32		first;

		CHECK_EVERY(i);
		if (i + AHEAD < n)
			prefetch_slot(index, hashes[i + AHEAD]);
		first = first_of(*slot_of(index, hashes[i]));
		ids[i] = first;
		if (first != NOWHERE)
			index->found[first] = one_more(index->found[first]);
	}
}

/* Replace the indexed hashes by their ids, and free the slots. */
static void
finish(SequenceIndex *index, uint32 *ids)
{
	pfree(index->slots);
	index->slots = NULL;
	index->hashes = NULL;
	for (uint32 i = 0; i < index->n; i++)
		ids[i] = i;
	/* links lead upwards, so each place has its id before it is passed on */
	for (uint32 i = 0; i < index->n; i++)
	{
		CHECK_EVERY(i);
		if (index->next[i] != NOWHERE)
			ids[index->next[i]] = ids[i];
	}
}

void
sequence_index_free(SequenceIndex *index)
{
	if (index->slots != NULL)
		pfree(index->slots);
	pfree(index->next);
	pfree(index->count);
	pfree(index->found);
}

void
sequences_number(SequenceIndex *index, uint64 *a, uint32 na, uint64 *b,
				 uint32 nb,
				 MemoryContext all)
{
	sequence_index_build(index, b, nb);
	sequence_index_find(index, a, na, (uint32 *) a);
	LOOK_AT_MEMORY(all);
	finish(index, (uint32 *) b);
}
