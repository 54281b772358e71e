/*
 * sequence_index.h
 *		The places of one sequence's hashes in another.
 */
#ifndef NEARDUP_SEQUENCE_INDEX_H
#define NEARDUP_SEQUENCE_INDEX_H

#include "base/linear_probing.h"

/* No place. */
#define NOWHERE		PG_UINT32_MAX

/* A sequence has fewer hashes than this. */
#define INDEXED_MAX		(1 << 25)

/*
 * The first place of a hash is its id.  Arrays are per place; counts are valid
 * at first places, and saturate.
 */
typedef struct SequenceIndex
{
	uint32		n;
	uint32	   *next;			/* next place of the same hash, or NOWHERE */
	uint8	   *count;			/* places of the hash */
	uint8	   *found;			/* look-ups that found it */
	const uint64 *hashes;		/* of the caller */
	uint32	   *slots;
	TightProbing probing;
} SequenceIndex;

/*
 * Index n < INDEXED_MAX hashes, in the current memory context, with 12 bytes
 * for each.  The hashes must not change while others are looked up.
 */
extern void sequence_index_build(SequenceIndex *index, const uint64 *hashes,
								 uint32 n);

/*
 * Look up n hashes of another sequence, and set ids[i] to the first place of
 * hash i, or NOWHERE.  `ids` may be the memory of the hashes.
 */
extern void sequence_index_find(SequenceIndex *index, const uint64 *hashes,
								uint32 n, uint32 *ids);

/*
 * Index the hashes of b, look up those of a, and replace both by ids, in their
 * own memory.  The index allows no look-ups afterwards.  `all` is the memory
 * context that tests measure.
 */
extern void sequences_number(SequenceIndex *index, uint64 *a, uint32 na,
							 uint64 *b, uint32 nb,
							 MemoryContext all);

/* Free what the index holds; not the hashes. */
extern void sequence_index_free(SequenceIndex *index);

/* Shrink the memory of n hashes, palloc'd, to that of their ids. */
static inline uint32 *
ids_shrink(uint64 *hashes, uint32 n)
{
	return repalloc_huge(hashes, Max(n, 1) * sizeof(uint32));
}

/* True if a hash occurs more than `often` times in either sequence. */
static inline bool
sequence_index_exceeds(const SequenceIndex *index, uint32 id, uint32 often)
{
	return index->count[id] > often || index->found[id] > often;
}

#endif							/* NEARDUP_SEQUENCE_INDEX_H */
