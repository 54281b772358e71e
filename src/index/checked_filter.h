/*
 * checked_filter.h
 *		The filter of a segment that is checked.
 */
#ifndef NEARDUP_CHECKED_FILTER_H
#define NEARDUP_CHECKED_FILTER_H

#include "index/directory.h"

/* The word at hand, and the page that it is on */
typedef struct CheckedFilter
{
	PageStore  *store;
	const SegmentInfo *segment;
	DirectoryPath path;
	uint32		word;
	uint64		bits;			/* that it should have */
	BlockNumber block;
	char	   *page;
} CheckedFilter;

extern void checked_filter_begin(CheckedFilter *filter, PageStore *store,
								 const SegmentInfo *segment);

/*
 * A key that the segment has, greater than those before, whether several rows
 * have it, and whether its list is long.  Raises INDEX_CORRUPTED if the filter
 * is not right for the keys before.
 */
extern void checked_filter_key(CheckedFilter *filter, uint32 key,
							   bool several, bool is_long);

/* After the last key. */
extern void checked_filter_end(CheckedFilter *filter);

#endif							/* NEARDUP_CHECKED_FILTER_H */
