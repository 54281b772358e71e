/*
 * segments.h
 *		The list of segments in the metapage: which are merged, and when.
 *
 * For all of these the caller holds the merge lock.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/inverted/segments.h
 */
#ifndef NEARDUP_SEGMENTS_H
#define NEARDUP_SEGMENTS_H

#include "inverted/pages.h"

/*
 * Takes n segments out of the metapage and puts one in, unless that has no
 * rows; the pending pages before `pending_first` are gone with it.  All in one.
 */
extern void segments_replace(Relation index, const SegmentInfo *old, uint32 n,
							 const SegmentInfo *segment, uint64 pending_first);

/* Sees to it that the metapage can take another segment. */
extern void segments_make_room(Relation index);

/*
 * Merges segments of about the same size while there are four of them, and
 * they have no more than that many postings together.
 */
extern void segments_merge_some(Relation index, uint64 most_postings);

/*
 * What VACUUM does: merges all that are not small to the next greater one,
 * within maintenance_work_mem, and rewrites those with many dead rows.
 */
extern void segments_merge_all(Relation index);

#endif							/* NEARDUP_SEGMENTS_H */
