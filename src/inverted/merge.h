/*
 * merge.h
 *		Several segments become one.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/inverted/merge.h
 */
#ifndef NEARDUP_MERGE_H
#define NEARDUP_MERGE_H

#include "inverted/writer.h"

/*
 * Writes a segment of all rows of the given ones that are not dead, to
 * `to`.  from[i] is where segments[i] is.  A segment without rows has no pages.
 */
extern SegmentInfo segments_merge(PageStore *const *from,
								  const SegmentInfo *segments, uint32 n,
								  PageStore *to, uint64 owner);

/* Bytes of memory that merging so many rows takes, about. */
extern uint64 merge_memory(uint64 nrows);

#endif							/* NEARDUP_MERGE_H */
