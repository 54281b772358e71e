/*
 * segment_cache.h
 *		Per-backend cache of segment directories, filters and pending rows.
 *
 * A segment never changes, so its cached data stay valid.  The recent buffer
 * of each page is a hint: a page is read under its lock, and has the number of
 * its owner.
 */
#ifndef NEARDUP_SEGMENT_CACHE_H
#define NEARDUP_SEGMENT_CACHE_H

#include "index/directory.h"

typedef struct CachedSegment
{
	uint64		owner;
	uint64		searches;		/* before it was loaded */
	MemoryContext context;		/* NULL: not loaded */
	CachedPages forward;
	CachedPages postings;
	CachedPages filter;
	uint64	   *words;			/* first words of the filter */
	uint32		nwords;
	uint32	   *sizes;			/* of the rows, or NULL */
} CachedSegment;

/* The head of a pending row, and the slot of its page */
typedef struct CachedRow
{
	PendingHead head;
	uint32		slot;
} CachedRow;

typedef struct SegmentCache
{
	Oid			relid;			/* the key */
	bool		stale;			/* the index may have been replaced */
	MemoryContext context;		/* of all that is cached of the index */
	uint64		next_owner;		/* of the metapage that was seen last */
	uint32		nsegments;
	CachedSegment *segments[MAX_SEGMENTS];
	Buffer		pending[MAX_PENDING_PAGES]; /* recent buffers, by slot */
	uint64		first;			/* rows of pending pages first ... end - 1 */
	uint64		end;
	CachedRow  *rows;
	size_t		nrows;
	size_t		room;
} SegmentCache;

/* Kilobytes that the cache may take, unless hash tables may take more. */
extern int	segment_cache_memory;

/*
 * The cache of an index, by a metapage that was just read.  Valid until the
 * next call.
 */
extern SegmentCache *segment_cache(Relation index, const IndexMeta *meta);

/*
 * A segment in the cache, loaded after some searches if memory has room for
 * it.
 */
extern CachedSegment *cached_segment(SegmentCache *cache, Relation index,
									 const SegmentInfo *segment);

/*
 * Load rows of the pending pages that are full, as far as memory has room for
 * them:  those before cache->end.  False if the metapage is out of date.
 */
extern bool cache_pending_rows(SegmentCache *cache, Relation index,
							   const IndexMeta *meta);

#endif							/* NEARDUP_SEGMENT_CACHE_H */
