/*
 * pages.h
 *		Pages of an index of access method neardup: reading, allocating and
 *		writing them.
 */
#ifndef NEARDUP_PAGES_H
#define NEARDUP_PAGES_H

#include "storage/buffile.h"
#include "storage/bufmgr.h"
#include "utils/rel.h"

#include "base/compat.h"
#include "index/layout.h"

/*
 * Where the pages of segments are: in an index, or in a temporary file while
 * one is built.
 */
typedef struct PageStore
{
	Relation	index;			/* or NULL */
	BufFile    *file;			/* if there is no index */
	BlockNumber nblocks;		/* of the file */
	bool		building;		/* nobody sees the index; WAL comes later */
} PageStore;

/* An empty page in local memory. */
extern void page_init(char *page, PageKind kind, uint64 owner);

/* True if it is a page of ours, of that owner. */
extern bool page_is_of(Page page, uint64 owner);

/* Bytes from the header of a page to pd_lower. */
static inline uint32
page_contents_size(const char *page)
{
	Assert(((const PageHeaderData *) page)->pd_lower >= MAXALIGN(SizeOfPageHeaderData));
	return ((const PageHeaderData *) page)->pd_lower - MAXALIGN(SizeOfPageHeaderData);
}

/* Pin a page; raises INDEX_CORRUPTED if the index has no such block. */
extern Buffer page_pin(Relation index, BlockNumber block);

/* Pin a page and take a share lock on it. */
extern Buffer page_lock(Relation index, BlockNumber block);

/*
 * Copies a page of that owner.  False if it has another owner, or is no page
 * of ours.
 */
extern bool page_copy(PageStore *store, BlockNumber block, uint64 owner,
					  char *copy);

/* The same where it must be there; raises INDEX_CORRUPTED if it is not. */
extern void page_require(PageStore *store, BlockNumber block, uint64 owner,
						 char *copy);

/*
 * A block to write a page of a new segment to.  The caller holds the merge
 * lock, if others see the index.
 */
extern BlockNumber page_allocate(PageStore *store, uint64 owner);

/* Replaces the page in a block by another one. */
extern void page_write(PageStore *store, BlockNumber block, const char *page);

/* Bytes of a page that are to be others. */
typedef struct PageChange
{
	uint16		offset;
	uint16		length;
	const void *bytes;
} PageChange;

/* Makes changes in a page, a copy perhaps. */
extern void page_apply(Page page, const PageChange *changes, int n);

/*
 * The same in a page that is locked exclusively, and to the WAL.  Between
 * pd_lower and pd_upper there are zeros after it, as before.
 */
extern void page_change(Relation index, Buffer buffer,
						const PageChange *changes, int n);

/* Lets the blocks of a segment that is no longer in the metapage be used. */
extern void pages_release(PageStore *store, const SegmentInfo *segment);

/*
 * True if nothing that the metapage names owns the page: a new one, or one
 * that is left from a segment that was merged, or never finished.
 */
extern bool page_is_free(Page page, const IndexMeta *meta);

/* Raises INDEX_CORRUPTED. */
compat_noreturn extern void index_corrupt(Relation index,
											 BlockNumber block,
											 const char *rule);

/*
 * Raises INDEX_CORRUPTED if a row has a place where none can be: the number of no block
 * would be taken for an order to make one, in the table.
 */
static inline void
tid_require(Relation index, BlockNumber block, const ItemPointerData *tid)
{
	if (!ItemPointerIsValid(tid) ||
		!BlockNumberIsValid(ItemPointerGetBlockNumberNoCheck(tid)))
		index_corrupt(index, block, "A row has no place in the table.");
}

/* The contents of the metapage; raises INDEX_CORRUPTED if it is none. */
extern IndexMeta *meta_of(Relation index, Page page);

/* A copy of the metapage, which is checked. */
extern void meta_copy(Relation index, IndexMeta *meta);

/* A metapage as it is at first. */
extern void meta_init(char *page);

/*
 * Flushing, merging and all that takes pages or segments away is done under
 * this lock, by one backend at a time.
 */
extern void merge_lock(Relation index);
extern bool merge_lock_conditional(Relation index);
extern void merge_unlock(Relation index);

/* The segment of that owner, or NULL. */
extern SegmentInfo *meta_segment(IndexMeta *meta, uint64 owner);

#endif							/* NEARDUP_PAGES_H */
