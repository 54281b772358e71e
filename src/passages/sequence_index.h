/*
 * sequence_index.h
 *		An index of a sequence's hashes, in which another sequence is looked
 *		up.
 */
#ifndef NEARDUP_SEQUENCE_INDEX_H
#define NEARDUP_SEQUENCE_INDEX_H

#include "base/linear_probing.h"

/* No place */
#define NOWHERE		PG_UINT32_MAX

/* A sequence must have fewer hashes than this */
#define INDEXED_MAX		(1 << 25)

/*
 * The first place of a hash is its id.  Arrays are by place; `count` and
 * `found` are valid at first places, and saturate.
 */
typedef struct SequenceIndex
{
	uint32		n;
	uint32	   *next;			/* next place of the same hash; NOWHERE = none */
	uint8	   *count;			/* number of places of the hash */
	uint8	   *found;			/* number of look-ups that found the hash */
	const uint64 *hashes;		/* the indexed hashes, owned by the caller */
	uint32	   *slots;			/* hash table of first places */
	TightProbing probing;
} SequenceIndex;

/*
 * Index n < INDEXED_MAX hashes, in the current memory context, with 12 bytes
 * for each.  The hashes must not change while others are looked up.
 */
extern void sequence_index_build(SequenceIndex *index, const uint64 *hashes,
								 uint32 n);

/*
 * Look up n hashes of another sequence, and set ids[i] to the id of hash i;
 * NOWHERE if it is not indexed.  `ids` may be the memory of the hashes.
 */
extern void sequence_index_find(SequenceIndex *index, const uint64 *hashes,
								uint32 n, uint32 *ids);

/*
 * Index the hashes of b, look up the hashes of a, and replace both by their
 * ids, in the same memory.  The index allows no look-ups afterwards.  `all` is
 * the memory context that tests measure.
 */
extern void sequences_number(SequenceIndex *index, uint64 *a, uint32 na,
							 uint64 *b, uint32 nb,
							 MemoryContext all);

/* Free the index, but not the hashes. */
extern void sequence_index_free(SequenceIndex *index);

/* Shrink the palloc'd memory of n hashes, which holds their ids now. */
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
