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

/* What is cached of a segment */
typedef struct CachedSegment
{
	uint64		segment_id;
	uint64		searches;		/* searches before it was loaded */
	MemoryContext context;		/* NULL = not loaded */
	CachedPages forward;
	CachedPages postings;
	CachedPages filter;
	uint64	   *words;			/* first words of the filter */
	uint32		nwords;
	uint32	   *sizes;			/* size of each row, or NULL */
} CachedSegment;

/* The head of a pending row, and the slot of its page */
typedef struct CachedRow
{
	PendingHead head;
	uint32		slot;
} CachedRow;

/* What is cached of an index */
typedef struct SegmentCache
{
	Oid			relid;			/* hash key */
	bool		stale;			/* the index may have been replaced */
	MemoryContext context;		/* memory of all that is cached */
	uint64		next_segment_id;	/* next_segment_id of the metapage seen
									 * last */
	uint32		nsegments;
	CachedSegment *segments[MAX_SEGMENTS];
	Buffer		pending[MAX_PENDING_PAGES]; /* recent buffers, by slot */
	uint64		first;			/* pages first ... end - 1 are cached */
	uint64		end;
	CachedRow  *rows;
	size_t		nrows;
	size_t		room;
} SegmentCache;

/* Kilobytes that all caches together may take, or hash_mem if it is more */
extern int	segment_cache_memory;

/*
 * Return the cache of an index, given a metapage that was just read.  Valid
 * until the next call.
 */
extern SegmentCache *segment_cache(Relation index, const IndexMeta *meta);

/*
 * Return the cached data of a segment.  It is loaded after some searches, if
 * memory has room for it.
 */
extern CachedSegment *cached_segment(SegmentCache *cache, Relation index,
									 const SegmentInfo *segment);

/*
 * Load rows of the full pending pages, as far as memory has room for them;
 * these are the pages before cache->end.  False if the metapage is out of
 * date.
 */
extern bool cache_pending_rows(SegmentCache *cache, Relation index,
							   const IndexMeta *meta);

#endif							/* NEARDUP_SEGMENT_CACHE_H */
