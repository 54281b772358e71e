/*
 * pages.h
 *		Pages of an index of access method neardup: their layout, reading and
 *		writing them.
 *
 * Block 0 is the metapage.  It names the segments, which never change except
 * for marks on dead rows, and the pending pages, to which new rows are
 * appended.
 *
 * Every other page has the number of its owner: the id of a segment, which is
 * never used again, or a place in the sequence of pending pages.  So a reader
 * locks one page at a time.  It copies the metapage and reads the pages that
 * the copy names.  If a page has another owner, its segment has been merged
 * away, and the reader starts again.
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
	PAGE_ROW_MAP = 9,			/* for each row of a merge, its input */
	PAGE_SPARE = 10,			/* empty, where a chain continues */
} PageKind;

/* End of every page */
typedef struct PageTail
{
	uint64		owner;			/* segment_id, MERGE_OWNER(segment_id) or
								 * PENDING_OWNER(place) */
	BlockNumber next;			/* next page of the chain, or invalid */
	uint16		kind;			/* PageKind */
	uint16		page_id;		/* INDEX_PAGE_ID */
} PageTail;

#define PAGE_TAIL(page)		((PageTail *) PageGetSpecialPointer(page))

/*
 * Places of pending pages rise for ever, in the order in which the pages are
 * filled.
 */
#define PENDING_OWNER(place)	((place) | UINT64CONST(1) << 63)
#define META_OWNER				0
#define FIRST_SEGMENT			1

/* A row in a segment.  Its number is its position, from 0. */
typedef struct ForwardEntry
{
	uint32		order_high;		/* see IndexedRow */
	uint32		order_low;
	uint32		size;			/* number of features */
	ItemPointerData tid;
	uint16		spec;			/* spec_number(), or: */
} ForwardEntry;

#define SPEC_NULL			0xfffe	/* the row has no signature */
#define SPEC_DEAD			0xffff	/* the row is gone */

/*
 * Return 16 bits of a hash of a spec.  If two specs share the number, rows of
 * one are candidates for the other, and recheck refuses them.
 */
static inline uint16
spec_number(const SignatureSpec *spec)
{
	return spec_hash(spec) % SPEC_NULL;
}

StaticAssertDecl(sizeof(ForwardEntry) == 20, "ForwardEntry has padding");

/* Return the key by which rows of a segment are sorted: IndexedRow.order. */
static inline uint64
forward_order(const ForwardEntry *row)
{
	return (uint64) row->order_high << 32 | row->order_low;
}

/* A page, and the number of its first row or word, or its first key */
typedef struct DirectoryEntry
{
	uint32		key;
	BlockNumber block;
} DirectoryEntry;

#define PAGE_ROOM \
	(BLCKSZ - MAXALIGN(SizeOfPageHeaderData) - MAXALIGN(sizeof(PageTail)))
#define FORWARD_PER_PAGE	(PAGE_ROOM / sizeof(ForwardEntry))

/* A tree over pages; at height 0 the root is the only page. */
typedef struct Directory
{
	BlockNumber root;			/* invalid = no pages */
	uint32		height;
} Directory;

/* A segment, as the metapage lists it */
typedef struct SegmentInfo
{
	uint64		segment_id;		/* see IndexMeta.next_segment_id */
	uint64		oldest;			/* least id of the segments merged into it */
	uint64		npostings;
	uint32		nrows;			/* dead rows included */
	uint32		ndead;
	uint32		nkeys;
	uint32		npages;
	BlockNumber first;			/* first page of the chain */
	BlockNumber first_lists;	/* first page of lists, or invalid */
	BlockNumber last_lists;		/* last page of lists, or invalid */
	Directory	forward;
	Directory	postings;
	Directory	filter;
	uint32		filter_words;	/* 0 = no filter */
	uint32		merge;			/* slot + 1 of its merge in steps; 0 = no
								 * merge */
} SegmentInfo;

#define SEGMENT_MERGE(segment)	((int) (segment)->merge - 1)

#define MAX_SEGMENTS		48
#define MAX_PENDING_PAGES	512

/* A merge in steps: its output, and the block of its state */
typedef struct MergeSlot
{
	uint64		segment_id;		/* id of the output; 0 = no merge */
	BlockNumber block;
	uint32		unused;
} MergeSlot;

#define MAX_MERGES			8

/* Owner of pages that only the merge uses.  They become free when it ends. */
#define MERGE_OWNER(segment_id)	((segment_id) + 1)

/* Contents of the metapage */
typedef struct IndexMeta
{
	uint32		magic;
	uint32		version;
	uint64		next_segment_id;	/* skips a number when segments vanish */

	/*
	 * Pending pages first ... end - 1 hold rows.  Pages before `closed` are
	 * being flushed, and take no more rows.  Blocks of the places kept ...
	 * first - 1 are reused.
	 */
	uint64		pending_kept;
	uint64		pending_first;
	uint64		pending_closed;
	uint64		pending_end;
	uint32		nsegments;
	uint32		unused;
	BlockNumber pending[MAX_PENDING_PAGES]; /* block of a place, by place
											 * modulo size */
	SegmentInfo segments[MAX_SEGMENTS];
	MergeSlot	merges[MAX_MERGES];
} IndexMeta;

StaticAssertDecl(sizeof(IndexMeta) <= PAGE_ROOM,
				 "IndexMeta does not fit on a page");

#define META_OF(page)		((IndexMeta *) PageGetContents(page))

/* A chain of pages that is written in steps */
typedef struct PageChain
{
	BlockNumber first;
	BlockNumber next;			/* last page, which is written next */
	uint32		npages;			/* pages before `next` */
} PageChain;

#define MAX_DIRECTORY_HEIGHT	4
#define LEVEL_ENTRIES			64

/* Entries of a directory that are not on a page yet, by level, leaves first */
typedef struct DirectoryLevels
{
	uint32		n[MAX_DIRECTORY_HEIGHT];
	DirectoryEntry pages[MAX_DIRECTORY_HEIGHT][LEVEL_ENTRIES];
} DirectoryLevels;

/* A partly written segment */
typedef struct WriterState
{
	SegmentInfo info;			/* what has been written */
	PageChain	chain;
	uint32		next_word;		/* first word of the filter not written */
	DirectoryLevels forward;
	DirectoryLevels postings;
	DirectoryLevels filter;
} WriterState;

/* What the next step of a merge does */
typedef enum MergePhase
{
	MERGE_ROWS = 1,				/* copy rows, write the row map */
	MERGE_LISTS = 2,
	MERGE_FINISH = 3,
	MERGE_RELEASE = 4,			/* segment installed; free old pages */
} MergePhase;

/* Pages of a former segment, which become free one after another */
typedef struct OldChain
{
	uint64		owner;
	BlockNumber block;			/* first page left, or invalid */
	uint32		unused;
} OldChain;

#define MERGE_NO_KEY		PG_UINT64_MAX	/* greater than any key */

/* State of a merge in steps, on a page of its own */
typedef struct MergeState
{
	uint32		phase;			/* MergePhase */
	uint32		ninputs;
	uint64		next_key;		/* lists of smaller keys are written */
	uint64		nmapped;		/* rows in the row map */
	PageChain	row_map;
	WriterState writer;
	OldChain	old[MAX_SEGMENTS];
} MergeState;

StaticAssertDecl(sizeof(MergeState) <= PAGE_ROOM,
				 "MergeState does not fit on a page");

/* One bit for each 128th of the range of keys */
typedef struct KeysBitmap
{
	uint64		low;
	uint64		high;
} KeysBitmap;

/*
 * A row on a pending page has two parts.  Heads grow down from the end of the
 * page.  Most rows are excluded by their heads.
 */
typedef struct PendingHead
{
	KeysBitmap	bitmap;			/* see keys_bitmap() */
	uint32		size;
	uint16		spec;
	uint16		offset;			/* offset of the PendingRow on the page */
} PendingHead;

/*
 * The other parts are MAXALIGNed, and grow up from the beginning of the page.
 */
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
 * Where the pages of segments are: in an index, or in a temporary file during
 * a build
 */
typedef struct PageStore
{
	Relation	index;			/* index, or NULL */
	BufFile    *file;			/* used if index is NULL */
	BlockNumber nblocks;		/* number of blocks in the file */
	bool		building;		/* invisible to others; WAL is written at the
								 * end */
} PageStore;

/* Initialize an empty page in local memory. */
extern void page_init(char *page, PageKind kind, uint64 owner);

/* True if this access method wrote the page for that owner. */
extern bool page_is_of(Page page, uint64 owner);

/* Return the number of bytes from the header of a page to pd_lower. */
static inline uint32
page_contents_size(const char *page)
{
	Assert(((const PageHeaderData *) page)->pd_lower >=
		   MAXALIGN(SizeOfPageHeaderData));
	return ((const PageHeaderData *) page)->pd_lower -
		MAXALIGN(SizeOfPageHeaderData);
}

/* Pin a page.  Raises INDEX_CORRUPTED if the index has no such block. */
extern Buffer page_pin(Relation index, BlockNumber block);

/* Pin a page and take a share lock on it. */
extern Buffer page_lock(Relation index, BlockNumber block);

/*
 * Copy a page.  False if it has another owner, or is no page of this access
 * method.
 */
extern bool page_copy(PageStore *store, BlockNumber block, uint64 owner,
					  char *copy);

/* Copy a page.  Raises INDEX_CORRUPTED where page_copy() returns false. */
extern void page_require(PageStore *store, BlockNumber block, uint64 owner,
						 char *copy);

/*
 * Allocate a block for a page of a new segment.  The caller holds the merge
 * lock if others see the index.
 */
extern BlockNumber page_allocate(PageStore *store, uint64 owner);

/* Add an empty block at the end of the index. */
extern BlockNumber extend_index(Relation index);

/* Replace the page in a block. */
extern void page_write(PageStore *store, BlockNumber block, const char *page);

/* New bytes of a part of a page */
typedef struct PageChange
{
	uint16		offset;
	uint16		length;
	const void *bytes;
} PageChange;

/* Change a page in memory. */
extern void page_apply(Page page, const PageChange *changes, int n);

/*
 * Change a page that is locked exclusively, and write the change to the WAL.
 * Before and after it, bytes between pd_lower and pd_upper must be zero.
 */
extern void page_change(Relation index, Buffer buffer,
						const PageChange *changes, int n);

/*
 * True if nothing that the metapage names owns the page: it is new, or a
 * remainder of a segment that was merged or never finished.
 */
extern bool page_is_free(Page page, const IndexMeta *meta);

/*
 * Raise INDEX_CORRUPTED with the broken rule as the detail.  `index` is NULL
 * for a temporary file.
 */
compat_noreturn extern void index_corrupt(Relation index, BlockNumber block,
										  const char *rule);

/*
 * Raise INDEX_CORRUPTED if a row has an impossible place in the table: reading
 * InvalidBlockNumber would extend the table.
 */
static inline void
tid_require(Relation index, BlockNumber block, const ItemPointerData *tid)
{
	if (!ItemPointerIsValid(tid) ||
		!BlockNumberIsValid(ItemPointerGetBlockNumberNoCheck(tid)))
		index_corrupt(index, block, "A row has no place in the table.");
}

/*
 * Return the contents of the metapage.  Raises INDEX_CORRUPTED if they are
 * invalid, FEATURE_NOT_SUPPORTED for another version.
 */
extern IndexMeta *meta_of(Relation index, Page page);

/*
 * Copy the metapage, and check the copy.  meta_read() returns a palloc'd copy.
 */
extern void meta_copy(Relation index, IndexMeta *meta);
extern IndexMeta *meta_read(Relation index);

/* Initialize an empty metapage. */
extern void meta_init(char *page);

/*
 * Lock the metapage exclusively, and begin a change.  meta_finish_change()
 * writes it to the WAL, and unlocks the page.
 */
extern IndexMeta *meta_begin_change(Relation index, Buffer *buffer,
									GenericXLogState **xlog);
extern void meta_finish_change(Buffer buffer, GenericXLogState *xlog);

/*
 * The merge lock protects the lists of segments and of free pages.  It is a
 * heavyweight lock, which can be held for long and be waited for.
 */
static inline void
merge_lock(Relation index)
{
	LockPage(index, META_BLOCK, ExclusiveLock);
}

/* Release the merge lock. */
static inline void
merge_unlock(Relation index)
{
	UnlockPage(index, META_BLOCK, ExclusiveLock);
}

/* Return the segment of that id, or NULL. */
extern SegmentInfo *meta_segment(IndexMeta *meta, uint64 segment_id);

/*
 * Writes a chain of pages in steps.  The page at chain->next is empty or half
 * full, and the next step begins there.  An aborted step leaves pages after
 * it, which the next step uses first.
 */
typedef struct ChainWriter
{
	PageStore  *store;
	uint64		owner;
	PageChain  *chain;
	BlockNumber stale;			/* next page left by an aborted step, or
								 * invalid */
} ChainWriter;

/*
 * Allocate the first page.  It must be written before the merge lock is
 * released.
 */
extern void chain_create(PageStore *store, uint64 owner, PageChain *chain);

/* Begin a step. */
extern void chain_begin_step(ChainWriter *writer, PageStore *store,
							 uint64 owner,
							 PageChain *chain);

/* Write a complete page to chain->next.  Returns its block. */
extern BlockNumber chain_put(ChainWriter *writer, char *page);

/* End a step.  `page` is half full, or NULL. */
extern void chain_end_step(ChainWriter *writer, char *page);

/* End the chain with an empty page. */
extern void chain_end(ChainWriter *writer);

/*
 * Copy the first page of that kind from `block` on.  Returns its block, or
 * invalid if there is none.
 */
extern BlockNumber chain_find(PageStore *store, BlockNumber block,
							  uint64 owner,
							  PageKind kind, char *copy);

/*
 * Filters: each key sets four bits of a word.  Words are in the order of keys.
 */

#define FILTER_KEYS_PER_WORD	8
#define FILTER_WORDS_PER_PAGE	(PAGE_ROOM / sizeof(uint64))

/* Return the number of the word of a key. */
static inline uint32
filter_word(uint32 key, uint32 nwords)
{
	return (uint64) key * nwords >> 32;
}

/* Return the bits of a key. */
static inline uint64
filter_bits(uint32 key)
{
	uint64		hash = mix64(key);

	return UINT64CONST(1) << (hash & 63) | UINT64CONST(1) << (hash >> 6 & 63) |
		UINT64CONST(1) << (hash >> 12 & 63) |
		UINT64CONST(1) << (hash >> 18 & 63);
}

/* Return the further bits of a key whose list is long. */
static inline uint64
filter_long_bits(uint32 key)
{
	uint64		hash = mix64(key);

	return UINT64CONST(1) << (hash >> 24 & 63) |
		UINT64CONST(1) << (hash >> 30 & 63) |
		UINT64CONST(1) << (hash >> 36 & 63);
}

/* Pending pages */

/* Return the number of rows on a pending page. */
static inline int
pending_count(Page page)
{
	return (((PageHeader) page)->pd_special - ((PageHeader) page)->pd_upper) /
		sizeof(PendingHead);
}

/* Return the head of row i, counted from 0. */
static inline const PendingHead *
pending_head(Page page, int i)
{
	return (const PendingHead *) PAGE_TAIL(page) - 1 - i;
}

/*
 * Return the other part of a pending row.  Raises INDEX_CORRUPTED if it is not
 * on the page.
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
