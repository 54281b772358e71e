/*
 * sequence_index.h
 *		The places of one sequence's hashes in another.
 */
#ifndef NEARDUP_SEQUENCE_INDEX_H
#define NEARDUP_SEQUENCE_INDEX_H

#include "base/linear_probing.h"

/* No hash, no place. */
#define NOWHERE		PG_UINT32_MAX

/* A sequence has fewer hashes than this. */
#define INDEXED_MAX		(1 << 25)

/*
 * A hash goes by its first place: a number that all its places have in common.
 * Counts are per place; only those of first places are used.  They stay at their
 * greatest value.
 */
typedef struct SequenceIndex
{
	uint32		n;
	uint32	   *next;			/* next place of the same hash, or NOWHERE */
	uint8	   *count;			/* how often it is there */
	uint8	   *found;			/* how often it was looked up */
	const uint64 *hashes;		/* the caller's */
	uint32	   *slots;
	TightProbing probing;
} SequenceIndex;

/*
 * Index n < INDEXED_MAX hashes, in the current memory context: 12 bytes for
 * each.
 * Hashes must stay as they are while others are looked up.
 */
extern void sequence_index_build(SequenceIndex *index, const uint64 *hashes,
								 uint32 n);

/*
 * Look up n hashes of another sequence: ids[i] becomes the first place of
 * hash i, or NOWHERE.  It may be the same memory.
 */
extern void sequence_index_find(SequenceIndex *index, const uint64 *hashes,
								uint32 n, uint32 *ids);

/*
 * Index the hashes of b, look up those of a, and replace both by ids, in their own memory: a
 * place's is the first place in b of its hash, or NOWHERE.  The index answers no more look-ups
 * afterwards.  `all` is the memory context that tests measure.
 */
extern void sequences_number(SequenceIndex *index, uint64 *a, uint32 na, uint64 *b, uint32 nb,
							 MemoryContext all);

/* Free the half of the memory of n hashes, palloc'd, that their ids do not need. */
static inline uint32 *
ids_shrink(uint64 *hashes, uint32 n)
{
	return repalloc_huge(hashes, Max(n, 1) * sizeof(uint32));
}

/* Whether a hash occurs more than `often` times in one sequence or the other. */
static inline bool
sequence_index_exceeds(const SequenceIndex *index, uint32 id, uint32 often)
{
	return index->count[id] > often || index->found[id] > often;
}

#endif							/* NEARDUP_SEQUENCE_INDEX_H */
