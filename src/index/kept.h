/*
 * kept.h
 *		What a session keeps of segments from search to search.
 *
 * A segment never changes, so what was read of it once stays true: on which
 * page a key or a row is, and what its filter says.  Also kept is in which
 * buffer a page was last, which only is where to look first: a page is read
 * under its lock, and tells whose it is.
 */
#ifndef NEARDUP_KEPT_H
#define NEARDUP_KEPT_H

#include "index/kept_filter.h"
#include "index/pages.h"

/* Pages of one kind, in their order */
typedef struct KeptPages
{
	uint32		n;				/* 0: nothing is kept of them */
	DirectoryEntry *entries;
	Buffer	   *buffers;		/* that had them last, or invalid */
} KeptPages;

typedef struct KeptSegment
{
	uint64		owner;
	uint64		searches;		/* of the segment, until something is kept */
	Size		bytes;			/* of what is kept */
	MemoryContext context;		/* it; NULL: nothing is kept */
	KeptPages	forward;
	KeptPages	postings;
	KeptPages	filter;
	KeptFilter	words;			/* of the filter */
	uint32	   *sizes;			/* of the rows, or NULL */
	uint32		nsizes;
	uint64	   *orders;			/* of the first row of each page, or NULL */
} KeptSegment;

/* A pending row: what stands at the end of its page, and where it is */
typedef struct KeptRow
{
	PendingHead head;
	ItemPointerData tid;
	uint16		slot;			/* its page's place, modulo MAX_PENDING_PAGES */
} KeptRow;

/* The rows of pending pages first ... end - 1 */
typedef struct KeptRows
{
	uint64		first;
	uint64		end;
	size_t		n;
	size_t		room;
	KeptRow    *rows;			/* in the order of the pages */
	uint32	   *sizes;			/* of each, once more: most are told by it */
	uint16		counts[MAX_PENDING_PAGES];	/* rows of a page, by its slot */
} KeptRows;

#define KEPT_ROW_BYTES		(sizeof(KeptRow) + sizeof(uint32))

typedef struct KeptIndex KeptIndex;

extern int	segment_cache_memory;

/* What is kept of an index, of which the caller has read the metapage. */
extern KeptIndex *kept_index(Relation index, const IndexMeta *meta);

/*
 * What is kept of one of its segments, before it is searched.  Stays until the
 * next call of kept_index().
 */
extern KeptSegment *kept_segment(KeptIndex *kept, Relation index,
								 const SegmentInfo *segment);

/* The last page that begins with no greater number; -1 if there is none. */
extern int64 kept_find(const KeptPages *pages, uint32 number);

/*
 * The first page of rows that may have a row of that order.  Orders are kept.
 */
extern uint32 kept_find_order(const KeptSegment *segment, uint64 order);

/* Pins a page and takes a share lock on it. */
extern Buffer kept_lock(KeptPages *pages, Relation index, uint32 place);

/* The same of a page of which only the block is kept, and the buffer. */
extern Buffer kept_lock_block(Relation index, BlockNumber block,
							  Buffer *buffer);

/* Where pending pages were last; by their places, modulo MAX_PENDING_PAGES. */
extern Buffer *kept_pending(KeptIndex *kept);

/* Pending rows, see kept_rows.h. */
extern KeptRows *kept_index_rows(KeptIndex *kept);

/* Makes room for so many of them; false if memory is for other things. */
extern bool kept_rows_reserve(KeptIndex *kept, size_t room);

/*
 * Begins to fetch into the processor's cache what is asked of a page first: its
 * buffer's lock, both ends, and what is at `offset`.
 */
extern void kept_prefetch(const KeptPages *pages, uint32 place,
						  uint32 offset);

#endif							/* NEARDUP_KEPT_H */
