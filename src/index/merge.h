/*
 * merge.h
 *		Several segments become one.
 */
#ifndef NEARDUP_MERGE_H
#define NEARDUP_MERGE_H

#include "index/script.h"
#include "index/writer.h"

/*
 * Writes a segment of all rows of the given ones that are not dead, to
 * `to`.  from[i] is where segments[i] is.  A segment without rows has no pages.
 */
extern SegmentInfo segments_merge(PageStore *const *from,
								  const SegmentInfo *segments, uint32 n,
								  PageStore *to, uint64 owner);

/*
 * The same in steps, of segments of an index.  Each step takes about as many
 * postings as that, or an eighth as many rows, and returns true if it was the last
 * of its kind: first rows, then lists.
 */
extern bool merge_some_rows(PageStore *store, const SegmentInfo *segments,
							uint32 n, MergeState *state, uint64 most);
extern bool merge_some_lists(PageStore *store, const SegmentInfo *segments,
							 uint32 n, MergeState *state, uint64 most);

#define MERGE_DROPPED		PG_UINT32_MAX	/* new number of a dead row */

/*
 * The new numbers of the rows of each segment that have been passed, *passed of
 * them, which is 0 before.
 */
extern uint32 **merge_new_numbers(PageStore *store, const SegmentInfo *segments,
								  const MergeState *state, uint32 *passed);

/* How many keys they have, about, by a part of all keys. */
extern uint64 merge_count_keys(PageStore *store, const SegmentInfo *segments,
							   uint32 n);

/* Bytes of memory that a step needs at the least. */
extern uint64 merge_steps_memory(uint64 nrows);

/* Bytes of memory that merging so many rows takes, about. */
extern uint64 merge_memory(uint64 nrows);

#endif							/* NEARDUP_MERGE_H */
