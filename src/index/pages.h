/*
 * pages.h
 *		Pages of an index of access method neardup: their layout, reading and
 *		writing them.
 *
 * Block 0 is the metapage.  It names the segments, which never change except
 * for marks on dead rows, and the pending pages, to which new rows are
 * appended.
 *
 * Every other page has the number of its owner: of a segment, which is never
 * used again, or of a place in the sequence of pending pages.  So a reader
 * locks one page at a time.  It copies the metapage and reads what that names;
 * if a page has another owner, its segment has been merged away, and the
 * reader starts again.
 *
 * A segment is one chain of pages: rows by their numbers (FORWARD), then lists
 * by their keys (POSTINGS).  Each step of writing ends with the pages of the
 * filter and of directories that it has filled.
 */
#ifndef NEARDUP_PAGES_H
#define NEARDUP_PAGES_H

#include "access/generic_xlog.h"
#include "storage/buffile.h"
#include "storage/bufmgr.h"
#include "storage/bufpage.h"
#include "storage/itemptr.h"
#include "storage/lmgr.h"
#include "utils/rel.h"

#include "base/compat.h"
#include "base/hash.h"
#include "signature/signature.h"

#define INDEX_MAGIC		0x6e647570
#define INDEX_VERSION	4
#define INDEX_PAGE_ID	0xFF9D	/* last two bytes of every page */

#define META_BLOCK			0

typedef enum PageKind
{
	PAGE_META = 1,
	PAGE_PENDING = 2,			/* rows, each whole */
	PAGE_FORWARD = 3,			/* ForwardEntry */
	PAGE_POSTINGS = 4,			/* lists, see postings.h */
	PAGE_CONTINUED = 5,			/* lists; begins with the rest of one */
	PAGE_DIRECTORY = 6,			/* DirectoryEntry */
	PAGE_FILTER = 7,			/* words of bits, see directory.h */
	PAGE_MERGE = 8,				/* MergeState */
	PAGE_ROW_MAP = 9,			/* of a merge: the input of each row */
	PAGE_SPARE = 10,			/* empty, where a chain continues */
} PageKind;

/* The end of every page */
typedef struct PageTail
{
	uint64		owner;			/* segment, or PENDING_OWNER(place) */
	BlockNumber next;			/* in the segment's chain, or invalid */
	uint16		kind;			/* PageKind */
	uint16		page_id;		/* INDEX_PAGE_ID */
} PageTail;

#define PAGE_TAIL(page)		((PageTail *) PageGetSpecialPointer(page))

/*
 * Places of pending pages rise for ever, in the order in which pages are
 * filled.
 */
#define PENDING_OWNER(place)	((place) | UINT64CONST(1) << 63)
#define META_OWNER				0
#define FIRST_SEGMENT			1

/* A row in a segment.  Its number is its place. */
typedef struct ForwardEntry
{
	uint32		order_high;		/* see IndexedRow */
	uint32		order_low;
	uint32		size;			/* features */
	ItemPointerData tid;
	uint16		spec;			/* spec_number(), or: */
} ForwardEntry;

#define SPEC_NULL			0xfffe	/* the row has no signature */
#define SPEC_DEAD			0xffff	/* the row is gone */

/*
 * Of two specs with one number, rows of one are candidates of the other, and
 * recheck refuses them.
 */
static inline uint16
spec_number(const SignatureSpec *spec)
{
	return spec_hash(spec) % SPEC_NULL;
}

StaticAssertDecl(sizeof(ForwardEntry) == 20, "ForwardEntry has padding");

static inline uint64
forward_order(const ForwardEntry *row)
{
	return (uint64) row->order_high << 32 | row->order_low;
}

/* A page, and the first number of a row or a word, or the first key, on it. */
typedef struct DirectoryEntry
{
	uint32		key;
	BlockNumber block;
} DirectoryEntry;

#define PAGE_ROOM \
	(BLCKSZ - MAXALIGN(SizeOfPageHeaderData) - MAXALIGN(sizeof(PageTail)))
#define FORWARD_PER_PAGE	(PAGE_ROOM / sizeof(ForwardEntry))

/* A tree over pages; of height 0 it is the only page itself. */
typedef struct Directory
{
	BlockNumber root;			/* invalid: there are no pages */
	uint32		height;
} Directory;

typedef struct SegmentInfo
{
	uint64		owner;			/* its number */
	uint64		oldest;			/* least number of those merged into it */
	uint64		npostings;
	uint32		nrows;			/* dead ones included */
	uint32		ndead;
	uint32		nkeys;
	uint32		npages;
	BlockNumber first;			/* of the chain */
	BlockNumber first_lists;	/* first page of lists, or invalid */
	BlockNumber last_lists;		/* and the last one */
	Directory	forward;
	Directory	postings;
	Directory	filter;
	uint32		filter_words;	/* 0: there is none */
	uint32		merge;			/* 1 + slot of the merge in steps, or 0 */
} SegmentInfo;

#define SEGMENT_MERGE(segment)	((int) (segment)->merge - 1)

#define MAX_SEGMENTS		48
#define MAX_PENDING_PAGES	512

/* A merge in steps: the number of its segment, and the block of its state. */
typedef struct MergeSlot
{
	uint64		owner;			/* 0: there is none */
	BlockNumber block;
	uint32		unused;
} MergeSlot;

#define MAX_MERGES			8

/* Owner of pages that only the merge uses; they become free with it. */
#define MERGE_OWNER(owner)	((owner) + 1)

typedef struct IndexMeta
{
	uint32		magic;
	uint32		version;
	uint64		next_owner;

	/*
	 * Pending pages first ... end - 1 hold rows; those before `closed` are
	 * being flushed, and take no more rows.  Blocks of the places kept ...
	 * first - 1 are reused.
	 */
	uint64		pending_kept;
	uint64		pending_first;
	uint64		pending_closed;
	uint64		pending_end;
	uint32		nsegments;
	uint32		unused;
	BlockNumber pending[MAX_PENDING_PAGES]; /* block of a place, modulo */
	SegmentInfo segments[MAX_SEGMENTS];
	MergeSlot	merges[MAX_MERGES];
} IndexMeta;

StaticAssertDecl(sizeof(IndexMeta) <= PAGE_ROOM,
				 "IndexMeta does not fit on a page");

#define META_OF(page)		((IndexMeta *) PageGetContents(page))

/* Pages written in their order, in steps */
typedef struct PageChain
{
	BlockNumber first;
	BlockNumber next;			/* the last one, to be written to next */
	uint32		npages;			/* before that one */
} PageChain;

#define MAX_DIRECTORY_HEIGHT	4
#define LEVEL_ENTRIES			64

/*
 * Entries of a directory that are not on a page yet, by level from the leaves
 * up
 */
typedef struct DirectoryLevels
{
	uint32		n[MAX_DIRECTORY_HEIGHT];
	DirectoryEntry pages[MAX_DIRECTORY_HEIGHT][LEVEL_ENTRIES];
} DirectoryLevels;

/* A partly written segment */
typedef struct WriterState
{
	SegmentInfo info;			/* so far */
	PageChain	chain;
	uint32		next_word;		/* words of the filter before it are written */
	DirectoryLevels forward;
	DirectoryLevels postings;
	DirectoryLevels filter;
} WriterState;

typedef enum MergePhase
{
	MERGE_ROWS = 1,				/* rows are copied, and the row map written */
	MERGE_LISTS = 2,
	MERGE_FINISH = 3,
	MERGE_RELEASE = 4,			/* the segment is in place; free the old pages */
} MergePhase;

/* Pages of a former segment */
typedef struct OldChain
{
	uint64		owner;
	BlockNumber block;			/* the first that is left, or invalid */
	uint32		unused;
} OldChain;

#define MERGE_NO_KEY		PG_UINT64_MAX	/* greater than any */

/* The state of a merge in steps, on a page of its own */
typedef struct MergeState
{
	uint32		phase;			/* MergePhase */
	uint32		ninputs;
	uint64		next_key;		/* lists of lesser keys are written */
	uint64		nmapped;		/* rows in the row map */
	PageChain	row_map;
	WriterState writer;
	OldChain	old[MAX_SEGMENTS];
} MergeState;

StaticAssertDecl(sizeof(MergeState) <= PAGE_ROOM,
				 "MergeState does not fit on a page");

/* A bit for each 128th of the range of keys */
typedef struct KeysBitmap
{
	uint64		low;
	uint64		high;
} KeysBitmap;

/*
 * A row on a pending page has two parts.  One is at the end of the page, the
 * first row's last: most rows can be left out by it.
 */
typedef struct PendingHead
{
	KeysBitmap	bitmap;			/* see keys_bitmap() */
	uint32		size;
	uint16		spec;
	uint16		offset;			/* of the other part on the page */
} PendingHead;

/* The other one is MAXALIGNed, from the beginning of the page up. */
typedef struct PendingRow
{
	uint64		order;
	uint32		nkeys;
	ItemPointerData tid;
	uint16		unused;
	uint32		keys[FLEXIBLE_ARRAY_MEMBER];
} PendingRow;

#define PENDING_ROW_BYTES(nkeys) \
	MAXALIGN(offsetof(PendingRow, keys) + (nkeys) * sizeof(uint32))
#define PENDING_BYTES(nkeys) \
	(PENDING_ROW_BYTES(nkeys) + sizeof(PendingHead))

/* Reading and writing pages */

/*
 * Where the pages of segments are: in an index, or in a temporary file while
 * one is built.
 */
typedef struct PageStore
{
	Relation	index;			/* or NULL */
	BufFile    *file;			/* if there is no index */
	BlockNumber nblocks;		/* of the file */
	bool		building;		/* not visible to others; WAL is written at
								 * the end */
} PageStore;

/* An empty page in local memory. */
extern void page_init(char *page, PageKind kind, uint64 owner);

/* True if it is a page of ours, of that owner. */
extern bool page_is_of(Page page, uint64 owner);

/* Bytes from the header of a page to pd_lower. */
static inline uint32
page_contents_size(const char *page)
{
	Assert(((const PageHeaderData *) page)->pd_lower >=
		   MAXALIGN(SizeOfPageHeaderData));
	return ((const PageHeaderData *) page)->pd_lower -
		MAXALIGN(SizeOfPageHeaderData);
}

/* Pin a page; raises INDEX_CORRUPTED if the index has no such block. */
extern Buffer page_pin(Relation index, BlockNumber block);

/* Pin a page and take a share lock on it. */
extern Buffer page_lock(Relation index, BlockNumber block);

/* Copy a page; false if it has another owner, or is no page of ours. */
extern bool page_copy(PageStore *store, BlockNumber block, uint64 owner,
					  char *copy);

/* Copy a page; raises INDEX_CORRUPTED where page_copy() is false. */
extern void page_require(PageStore *store, BlockNumber block, uint64 owner,
						 char *copy);

/*
 * Allocate a block for a page of a new segment.  The caller holds the merge
 * lock, if others see the index.
 */
extern BlockNumber page_allocate(PageStore *store, uint64 owner);

/* Add an empty block at the end. */
extern BlockNumber extend_index(Relation index);

/* Replace the page in a block. */
extern void page_write(PageStore *store, BlockNumber block, const char *page);

/* New bytes of a page */
typedef struct PageChange
{
	uint16		offset;
	uint16		length;
	const void *bytes;
} PageChange;

/* Change a page in memory. */
extern void page_apply(Page page, const PageChange *changes, int n);

/*
 * Change a page that is locked exclusively, and write that to the WAL.  Bytes
 * between pd_lower and pd_upper must be zeros, before and after it.
 */
extern void page_change(Relation index, Buffer buffer,
						const PageChange *changes, int n);

/*
 * True if nothing that the metapage names owns the page: it is new, or left
 * from a segment that was merged, or never finished.
 */
extern bool page_is_free(Page page, const IndexMeta *meta);

/* Raises INDEX_CORRUPTED. */
compat_noreturn extern void index_corrupt(Relation index, BlockNumber block,
										  const char *rule);

/*
 * Raise INDEX_CORRUPTED if a row has an impossible place: reading
 * InvalidBlockNumber would extend the table.
 */
static inline void
tid_require(Relation index, BlockNumber block, const ItemPointerData *tid)
{
	if (!ItemPointerIsValid(tid) ||
		!BlockNumberIsValid(ItemPointerGetBlockNumberNoCheck(tid)))
		index_corrupt(index, block, "A row has no place in the table.");
}

/* The contents of the metapage; raises INDEX_CORRUPTED if invalid. */
extern IndexMeta *meta_of(Relation index, Page page);

/*
 * Copy the metapage, and check the copy; meta_read() returns one that is
 * palloc'd.
 */
extern void meta_copy(Relation index, IndexMeta *meta);
extern IndexMeta *meta_read(Relation index);

/* Initialize an empty metapage. */
extern void meta_init(char *page);

/*
 * Lock the metapage exclusively, and begin a change of it; the second function
 * ends the change and writes it to the WAL.
 */
extern IndexMeta *meta_begin_change(Relation index, Buffer *buffer,
									GenericXLogState **xlog);
extern void meta_finish_change(Buffer buffer, GenericXLogState *xlog);

/* The merge lock protects the lists of segments and of free pages. */
static inline void
merge_lock(Relation index)
{
	LockPage(index, META_BLOCK, ExclusiveLock);
}

static inline void
merge_unlock(Relation index)
{
	UnlockPage(index, META_BLOCK, ExclusiveLock);
}

/* The segment of that owner, or NULL. */
extern SegmentInfo *meta_segment(IndexMeta *meta, uint64 owner);

/*
 * A chain of pages that is written in steps, in its order.  The page at
 * chain->next is empty, or half full: there the next step begins.  An aborted
 * step has left pages from there on, which the next step uses first.
 */
typedef struct ChainWriter
{
	PageStore  *store;
	uint64		owner;
	PageChain  *chain;
	BlockNumber stale;			/* next page of an aborted step, or invalid */
} ChainWriter;

/*
 * Allocate the first page; it has to be written before the merge lock is
 * released.
 */
extern void chain_create(PageStore *store, uint64 owner, PageChain *chain);

/* Begin a step. */
extern void chain_resume(ChainWriter *writer, PageStore *store, uint64 owner,
						 PageChain *chain);

/* Write a complete page to chain->next; returns its block. */
extern BlockNumber chain_put(ChainWriter *writer, char *page);

/* End a step; `page` is half full, or NULL. */
extern void chain_pause(ChainWriter *writer, char *page);

/* End the chain, with an empty page. */
extern void chain_end(ChainWriter *writer);

/*
 * Copy the first page of that kind from `block` on; returns its block, or
 * invalid.
 */
extern BlockNumber chain_find(PageStore *store, BlockNumber block,
							  uint64 owner,
							  PageKind kind, char *copy);

/*
 * Filters: each key sets four bits of a word.  Words are in the order of their
 * keys.
 */

#define FILTER_KEYS_PER_WORD	8
#define FILTER_WORDS_PER_PAGE	(PAGE_ROOM / sizeof(uint64))

/* The word of a key. */
static inline uint32
filter_word(uint32 key, uint32 nwords)
{
	return (uint64) key * nwords >> 32;
}

/* The bits of a key. */
static inline uint64
filter_bits(uint32 key)
{
	uint64		hash = mix64(key);

	return UINT64CONST(1) << (hash & 63) | UINT64CONST(1) << (hash >> 6 & 63) |
		UINT64CONST(1) << (hash >> 12 & 63) |
		UINT64CONST(1) << (hash >> 18 & 63);
}

/* Further bits of a key whose list is long. */
static inline uint64
filter_long_bits(uint32 key)
{
	uint64		hash = mix64(key);

	return UINT64CONST(1) << (hash >> 24 & 63) |
		UINT64CONST(1) << (hash >> 30 & 63) |
		UINT64CONST(1) << (hash >> 36 & 63);
}

/* Pending pages */

/* Number of rows on a pending page. */
static inline int
pending_count(Page page)
{
	return (((PageHeader) page)->pd_special - ((PageHeader) page)->pd_upper) /
		sizeof(PendingHead);
}

/* The head of row i, from 0. */
static inline const PendingHead *
pending_head(Page page, int i)
{
	return (const PendingHead *) PAGE_TAIL(page) - 1 - i;
}

/*
 * The rest of a pending row; raises INDEX_CORRUPTED if that is not on the
 * page.
 */
static inline const PendingRow *
pending_row(Relation index, Page page, const PendingHead *head)
{
	const PendingRow *row =
	(const PendingRow *) ((char *) page + head->offset);
	int			most = (int) ((PageHeader) page)->pd_lower - head->offset -
	(int) offsetof(PendingRow, keys);

	if (head->offset != MAXALIGN(head->offset) || most < 0 ||
		row->nkeys > most / sizeof(uint32))
		index_corrupt(index, META_BLOCK, "A pending row cannot be read.");
	return row;
}

#endif							/* NEARDUP_PAGES_H */
