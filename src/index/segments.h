/*
 * segments.h
 *		The segments of an index, and the pending rows that become segments.
 *
 * Callers of segments_...() and merge_...() hold the merge lock.
 */
#ifndef NEARDUP_SEGMENTS_H
#define NEARDUP_SEGMENTS_H

#include "index/pages.h"
#include "index/row.h"

/* Most postings that are merged at once, or in a step */
extern int	merge_step_postings;

/*
 * Replace n segments in the metapage by one, unless it has no rows.  The same
 * change removes the pending pages before `pending_first`.
 */
extern void segments_replace(Relation index, const SegmentInfo *old, uint32 n,
							 const SegmentInfo *segment, uint64 pending_first);

/*
 * Sort the segments of a copy of the metapage, lightest first.  They are
 * merged soonest, so a search should read them before their pages are reused.
 */
extern void segments_sort(IndexMeta *meta);

/* Merge until the metapage has room for another segment. */
extern void segments_make_room(Relation index);

/*
 * Merge small segments of about the same size while there are four of them,
 * and do a step with large ones.  `added` is the weight that was inserted.
 */
extern void segments_merge_some(Relation index, uint64 added);

/*
 * Merge as VACUUM does: all segments that are not small compared with the next
 * greater one, within maintenance_work_mem, and each with many dead rows.
 * Large merges are only begun.
 */
extern void segments_merge_all(Relation index);

/* Return the cost of merging a segment, in postings. */
static inline uint64
segment_weight(const SegmentInfo *segment)
{
	return segment->npostings + UINT64CONST(8) * segment->nrows;
}

/*
 * Do a step of the smallest incremental merge, of about that many postings.
 * False if there is no merge.
 */
extern bool merge_run_smallest_step(Relation index, uint64 most_postings);

/* Read the state of a merge.  False if there is no merge of that number. */
extern bool merge_state(Relation index, const IndexMeta *meta, int number,
						MergeState *state);

/* Copy the segments of a merge, by rising ids.  Returns how many. */
extern uint32 merge_segments(const IndexMeta *meta, int number,
							 SegmentInfo *segments);

/* Set the number of dead rows among those that a merge has copied. */
extern void merge_count_dead(Relation index, const IndexMeta *meta,
							 int number, uint32 ndead);

/* Pending rows */

/*
 * Add a row.  Sometimes flushes the pending rows and merges small segments,
 * which is a bounded amount of work.
 */
extern void pending_insert(Relation index, const IndexedRow *row);

/* Number of pending pages from which an insertion makes a segment */
#define FLUSH_PAGES			32

/*
 * Make a segment of the pending pages if there are at least `least`.  The
 * caller holds the merge lock.
 */
extern void pending_flush(Relation index, uint64 least);

#endif							/* NEARDUP_SEGMENTS_H */
