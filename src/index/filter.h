/*
 * filter.h
 *		Filters of segments: which keys a segment does not have.
 */
#ifndef NEARDUP_FILTER_H
#define NEARDUP_FILTER_H

#include "index/segment_cache.h"

/*
 * Drop keys that the segment does not have from rising ones, until `enough`
 * are left.  If the filter is cached, keys with long lists come last then.
 * False if the segment is gone.
 */
extern bool filter_keys(PageStore *store, const SegmentInfo *segment,
						CachedSegment *cached, uint32 *keys, uint32 *nkeys,
						uint32 enough);

#endif							/* NEARDUP_FILTER_H */
