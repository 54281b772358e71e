/*
 * sequence_index.h
 *		Where the hashes of one sequence stand in another.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/passages/sequence_index.h
 */
#ifndef NEARDUP_SEQUENCE_INDEX_H
#define NEARDUP_SEQUENCE_INDEX_H

#include "base/linear_probing.h"

/* Stands for: no hash, no place. */
#define NOWHERE		PG_UINT32_MAX

/* A hash of the indexed sequence; counts stay at their greatest value. */
typedef struct IndexedHash
{
	uint64		hash;
	uint32		first;			/* where it stands first */
	uint16		count;			/* how often it is there; 0 = a free slot */
	uint16		found;			/* how often it was looked up */
} IndexedHash;

typedef struct SequenceIndex
{
	IndexedHash *slots;
	Probing		probing;
	uint32	   *next;			/* per place: where the same hash stands next,
								 * or NOWHERE */
} SequenceIndex;

/*
 * Indexes n < 2^31 hashes, in the current memory context: some 4 to 7 numbers
 * of 64 bits for each.  ids[i] becomes the slot of hash i: a number that two
 * places have in common if they have the same hash.
 */
extern void sequence_index_build(SequenceIndex *index, const uint64 *hashes,
								 uint32 n, uint32 *ids);

/* Looks up n hashes of another sequence; those that are not there get NOWHERE. */
extern void sequence_index_find(SequenceIndex *index, const uint64 *hashes,
								uint32 n, uint32 *ids);

#endif							/* NEARDUP_SEQUENCE_INDEX_H */
