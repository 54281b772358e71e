/*
 * checked_merge.h
 *		A merge in steps that is checked.
 */
#ifndef NEARDUP_CHECKED_MERGE_H
#define NEARDUP_CHECKED_MERGE_H

#include "index/pages.h"

/*
 * Compares what a merge has written so far with the segments that it merges.
 * Raises INDEX_CORRUPTED.  Takes four bytes of memory for each row.  The caller
 * holds the merge lock.
 */
extern void checked_merge(Relation index, const IndexMeta *meta, int number);

#endif							/* NEARDUP_CHECKED_MERGE_H */
