/*
 * steps.h
 *		Large merges, a step at a time.
 *
 * What a merge goes on from is in the index, so that any session does the next
 * step.  Searches use the old segments, until the new one is complete and takes
 * their place in one change of the metapage.
 *
 * For all of these the caller holds the merge lock.
 */
#ifndef NEARDUP_STEPS_H
#define NEARDUP_STEPS_H

#include "index/pages.h"

/* Begins to merge some; false if there are as many merges as there can be. */
extern bool steps_begin(Relation index, const SegmentInfo *segments, uint32 n);

/*
 * A step of the least of all merges, of about so many postings; false if there is
 * none.
 */
extern bool steps_do(Relation index, uint64 most_postings);

/* The state of a merge; false if there is none of that number. */
extern bool steps_state(Relation index, const IndexMeta *meta, int number,
						MergeState *state);

/* The segments that it merges, by their numbers; how many. */
extern uint32 steps_segments(const IndexMeta *meta, int number,
							 SegmentInfo *segments);

/* Of rows that it has copied, so many are dead. */
extern void steps_count_dead(Relation index, const IndexMeta *meta,
							 int number, uint32 ndead);

#endif							/* NEARDUP_STEPS_H */
