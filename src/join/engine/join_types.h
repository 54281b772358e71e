/*
 * join_types.h
 *		What the callers of the join engine and its algorithms both know.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/join/engine/join_types.h
 */
#ifndef NEARDUP_JOIN_TYPES_H
#define NEARDUP_JOIN_TYPES_H

typedef enum JoinSide
{
	SIDE_OUTER = 0,
	SIDE_INNER = 1,
} JoinSide;

#define OTHER_SIDE(side) ((side) == SIDE_OUTER ? SIDE_INNER : SIDE_OUTER)

/* What EXPLAIN ANALYZE tells. */
typedef struct SetJoinStats
{
	const char *algorithm;		/* by which candidates are found */
	uint64		sets;			/* rows with a set that is not empty */
	uint64		distinct;		/* distinct sets among them */
	uint64		postings;		/* places in prefix indexes */
	uint64		visited;		/* postings looked at, if they are not shared */
	uint64		candidates;		/* pairs of sets that shared a token of their
								 * prefixes and passed all filters before
								 * verification */
	uint64		removed_size;	/* postings passed over by size */
	uint64		removed_features;	/* rows, as they share too little with the other
									 * side */
	uint64		removed_position;	/* pairs, by the positional filter, each time
									 * that they meet */
	uint64		removed_suffix; /* pairs, by the suffix filter */
	uint64		removed_bitmap; /* pairs, by the bitmaps */
	uint64		verified;		/* pairs compared element by element */
	uint64		matches;		/* pairs of distinct sets that reach the
								 * threshold, identical ones not counted */
	uint64		alone;			/* rows that were not paired with themselves */
	uint64		memory;			/* most bytes held at once */
	uint64		disk;			/* bytes written to temporary files */
	uint64		batches;		/* parts in which the index was built */
} SetJoinStats;

#endif							/* NEARDUP_JOIN_TYPES_H */
