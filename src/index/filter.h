/*
 * filter.h
 *		Looking up keys in the filter of a segment.
 */
#ifndef NEARDUP_FILTER_H
#define NEARDUP_FILTER_H

#include "index/segment_cache.h"

/*
 * Drop from rising keys those that the segment does not have, until `enough`
 * are left.  If the filter is cached, keys with long lists are moved to the
 * end.  False if the segment is gone.
 */
extern bool filter_keys(PageStore *store, const SegmentInfo *segment,
						CachedSegment *cached, uint32 *keys, uint32 *nkeys,
						uint32 enough);

#endif							/* NEARDUP_FILTER_H */
