/*
 * copied_blocks.h
 *		Which blocks of a text were copied from another.
 */
#ifndef NEARDUP_COPIED_BLOCKS_H
#define NEARDUP_COPIED_BLOCKS_H

#include "passages/sequence_index.h"

/*
 * A shingle that stands more often than this in the other text counts as
 * standing in each of its blocks.
 */
#define PLACES_MAX	64

typedef struct BlockSearch
{
	SequenceIndex index;		/* of the other text's shingles */
	uint32		shingles;		/* of a block, at most */
	uint64	   *places;			/* room for PLACES_MAX for each: where it
								 * stands, and its number in the block */
	uint32	   *ids;			/* room for as many as a block has */
	uint32	   *counts;			/* likewise: in the window */
} BlockSearch;

/*
 * Makes what searches a text of n shingles for blocks of at most so many
 * shingles, in the current memory context.  Hashes must stay as they are.
 */
extern BlockSearch *block_search_create(const uint64 *hashes, uint32 n,
										uint32 shingles);

/*
 * The share of a block's n >= 1 shingles that stand in one block of the other
 * text: the greatest of all stretches of as many shingles, wherever they begin.
 */
extern double block_share(BlockSearch *search, const uint64 *hashes, uint32 n);

#endif							/* NEARDUP_COPIED_BLOCKS_H */
