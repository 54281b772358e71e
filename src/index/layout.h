/*
 * layout.h
 *		The pages of an index of access method neardup.
 *
 * Block 0 is the metapage.  It names all the rest: the segments, each written
 * once and never changed (but for marks on dead rows), and the pending pages,
 * to which new rows are appended.
 *
 * Every other page says to whom it belongs: to a segment, by a number that is
 * never used again, or to the pending pages, by a place in their sequence.  So
 * a reader needs no lock beyond the one on the page in its hands.  It copies
 * the metapage, and reads what that names; if it then meets a page that has
 * another owner, the segment has been merged away and its page is in use
 * again, and the reader begins anew.  That holds on a standby, too.
 *
 * A segment is one chain of pages: first the rows in the order of their
 * numbers (FORWARD), then the lists of the keys in the order of the keys
 * (POSTINGS), then the filter and the directories of them all.
 */
#ifndef NEARDUP_LAYOUT_H
#define NEARDUP_LAYOUT_H

#include "storage/bufpage.h"
#include "storage/itemptr.h"

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
	PAGE_FILTER = 7,			/* words of bits, see filter.h */
	PAGE_MERGE = 8,				/* MergeState */
	PAGE_SCRIPT = 9,			/* from which segment each row comes */
	PAGE_SPARE = 10,			/* empty, where a chain goes on */
	PAGE_LINK = 11,				/* empty, between chains that became one */
} PageKind;

/* At the end of every page. */
typedef struct PageTail
{
	uint64		owner;			/* segment, or PENDING_OWNER(place) */
	BlockNumber next;			/* in the segment's chain, or invalid */
	uint16		kind;			/* PageKind */
	uint16		page_id;		/* INDEX_PAGE_ID */
} PageTail;

#define PAGE_TAIL(page)		((PageTail *) PageGetSpecialPointer(page))

/* The pages in the order in which they are filled, numbered for ever. */
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

/* What only serves a merge belongs to another number, which goes with it. */
#define MERGE_OWNER(owner)	((owner) + 1)

typedef struct IndexMeta
{
	uint32		magic;
	uint32		version;
	uint64		next_owner;

	/*
	 * Pending pages first ... end - 1 hold rows; those before `closed` are
	 * being made a segment, no row is added to them.  Blocks of the places
	 * from `kept` on are ours; those before `first` wait to be used again.
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

/* Pages that are written in their order, now and then some. */
typedef struct PageChain
{
	BlockNumber first;
	BlockNumber next;			/* the last one, to be written to next */
	uint32		npages;			/* before that one */
} PageChain;

#define MAX_DIRECTORY_HEIGHT	4
#define LEVEL_ENTRIES			64

/* What is not yet on the pages of a directory, level by level, from below. */
typedef struct DirectoryLevels
{
	uint32		n[MAX_DIRECTORY_HEIGHT];
	DirectoryEntry pages[MAX_DIRECTORY_HEIGHT][LEVEL_ENTRIES];
} DirectoryLevels;

/* A segment that is half written. */
typedef struct WriterState
{
	SegmentInfo info;			/* so far */
	PageChain	pages;			/* of rows, then of lists */
	PageChain	directories;
	PageChain	words;			/* of the filter; the last page is begun */
	DirectoryLevels forward;
	DirectoryLevels postings;
	DirectoryLevels filter;
} WriterState;

typedef enum MergePhase
{
	MERGE_ROWS = 1,				/* rows are copied, and the script written */
	MERGE_LISTS = 2,
	MERGE_FINISH = 3,
	MERGE_RELEASE = 4,			/* in place; old pages become free */
} MergePhase;

/* Pages of a segment that is no more. */
typedef struct OldChain
{
	uint64		owner;
	BlockNumber block;			/* the first that is left, or invalid */
	uint32		unused;
} OldChain;

#define MERGE_NO_KEY		PG_UINT64_MAX	/* greater than any */

/* What a merge in steps goes on from: on a page of its own. */
typedef struct MergeState
{
	uint32		phase;			/* MergePhase */
	uint32		ninputs;
	uint64		next_key;		/* lists of lesser keys are written */
	uint64		nscript;		/* rows that the script tells of */
	PageChain	script;
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

#endif							/* NEARDUP_LAYOUT_H */
