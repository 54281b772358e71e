/*
 * sequence_index.h
 *		Where the hashes of one sequence stand in another.
 */
#ifndef NEARDUP_SEQUENCE_INDEX_H
#define NEARDUP_SEQUENCE_INDEX_H

#include "base/linear_probing.h"

/* Stands for: no hash, no place. */
#define NOWHERE		PG_UINT32_MAX

/* A sequence has fewer hashes than this. */
#define INDEXED_MAX		(1 << 25)

/*
 * A hash goes by its first place: a number that all its places have in common.
 * Counts are per place, of which only those of first places tell something; they
 * stay at their greatest value.
 */
typedef struct SequenceIndex
{
	uint32		n;
	uint32	   *next;			/* where the same hash stands next, or NOWHERE */
	uint8	   *count;			/* how often it is there */
	uint8	   *found;			/* how often it was looked up */
	const uint64 *hashes;		/* the caller's */
	uint32	   *slots;
	TightProbing probing;
} SequenceIndex;

/*
 * Indexes n < INDEXED_MAX hashes, in the current memory context: 12 bytes for
 * each.
 * Hashes must stay as they are while others are looked up.
 */
extern void sequence_index_build(SequenceIndex *index, const uint64 *hashes,
								 uint32 n);

/*
 * Looks up n hashes of another sequence: ids[i] becomes the first place of
 * hash i, or NOWHERE.  It may be the same memory.
 */
extern void sequence_index_find(SequenceIndex *index, const uint64 *hashes,
								uint32 n, uint32 *ids);

/*
 * The same of the hashes that are indexed, in their own memory if that is
 * given.  Nothing can be looked up any more.
 */
extern void sequence_index_finish(SequenceIndex *index, uint32 *ids);

/* Whether a hash stands more often than that, in one sequence or the other. */
static inline bool
sequence_index_exceeds(const SequenceIndex *index, uint32 id, uint32 often)
{
	return index->count[id] > often || index->found[id] > often;
}

#endif							/* NEARDUP_SEQUENCE_INDEX_H */
