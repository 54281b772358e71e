/*
 * segments.h
 *		The list of segments in the metapage: which are merged, and when.
 *
 * For all of these the caller holds the merge lock.
 */
#ifndef NEARDUP_SEGMENTS_H
#define NEARDUP_SEGMENTS_H

#include "index/pages.h"

/*
 * Takes n segments out of the metapage and puts one in, unless that has no
 * rows; the pending pages before `pending_first` are gone with it.  All in one.
 */
extern void segments_replace(Relation index, const SegmentInfo *old, uint32 n,
							 const SegmentInfo *segment, uint64 pending_first);

/*
 * Puts the segments of a copy of the metapage in order, lightest first.  Who reads them so
 * comes to those that are soon merged away, whose pages are used again, before they are.
 */
extern void segments_sort(IndexMeta *meta);

/* Sees to it that the metapage can take another segment. */
extern void segments_make_room(Relation index);

/*
 * What an insertion does that has added so much to the segments (as
 * segment_weight() tells): merges small ones of about the same size while there are
 * four of them, and does a step with large ones.
 */
extern void segments_merge_some(Relation index, uint64 added);

/*
 * What VACUUM does: merges all that are not small to the next greater one,
 * within maintenance_work_mem, and rewrites those with many dead rows.  Where that
 * is much, it only begins to.
 */
extern void segments_merge_all(Relation index);

/* How much there is to do with a segment, in postings. */
static inline uint64
segment_weight(const SegmentInfo *segment)
{
	return segment->npostings + UINT64CONST(8) * segment->nrows;
}

/* The most postings that are merged at once, or in a step. */
extern int merge_step_postings;

#endif							/* NEARDUP_SEGMENTS_H */
