/*
 * kept.c
 *		What a session keeps of segments from search to search.
 *
 * Without it, most of the time of a look-up was spent on finding pages: a copy
 * of each directory, and the server's table of buffers for each page; and a look-up
 * that finds nothing asked some pages of each segment's filter.
 *
 * Memory is bounded for all indexes together.  If there is no room for what an
 * index wants, the others lose theirs; what does not fit then is read from its
 * pages.  A segment has to be searched some times before anything is kept, the
 * more often the more there is to read.
 */
#include "postgres.h"

#include "executor/nodeHash.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/buf_internals.h"
#include "utils/hsearch.h"
#include "utils/inval.h"
#include "utils/memutils.h"

#include "base/compat.h"
#include "base/interrupts.h"
#include "index/filter.h"
#include "index/kept.h"

/* Kilobytes of what is kept of segments, unless hash tables may have more. */
int			segment_cache_memory = 8192;

/* Of that, one in so many bytes is left by the sizes of rows, and by filters. */
#define SIZES_RESERVE		4
#define FILTERS_RESERVE		16

/* Indexes of which something is kept. */
#define MAX_INDEXES			256

/* Once in so many times a page is looked for as any, and so counted as used. */
#define USUAL_WAY			16

struct KeptIndex
{
	Oid			relid;			/* the key */
	bool		stale;			/* the index may be another one now */
	uint64		next_owner;		/* of the metapage that was seen last */
	uint32		nsegments;
	KeptSegment *segments[MAX_SEGMENTS];
	Buffer		pending[MAX_PENDING_PAGES];
	KeptRows	rows;
};

static HTAB *indexes = NULL;
static MemoryContext keeper = NULL;
static Size kept_bytes = 0;
static bool any_stale = false;

/* Forgetting */

static void
forget_pages(KeptSegment *segment)
{
	if (segment->context != NULL)
		MemoryContextDelete(segment->context);
	kept_bytes -= segment->bytes;
	segment->context = NULL;
	segment->bytes = 0;
	memset(&segment->forward, 0, sizeof(KeptPages));
	memset(&segment->postings, 0, sizeof(KeptPages));
	memset(&segment->filter, 0, sizeof(KeptPages));
	memset(&segment->words, 0, sizeof(KeptFilter));
	segment->sizes = NULL;
	segment->orders = NULL;
}

static void
forget_segment(KeptIndex *kept, uint32 i)
{
	forget_pages(kept->segments[i]);
	pfree(kept->segments[i]);
	kept->segments[i] = kept->segments[--kept->nsegments];
}

static void
forget_rows(KeptRows *rows)
{
	kept_bytes -= rows->room * KEPT_ROW_BYTES;
	if (rows->rows != NULL)
		pfree(rows->rows);
	memset(rows, 0, sizeof(KeptRows));
}

static void
forget_index(KeptIndex *kept)
{
	forget_rows(&kept->rows);
	while (kept->nsegments > 0)
		forget_segment(kept, kept->nsegments - 1);
	(void) hash_search(indexes, &kept->relid, HASH_REMOVE, NULL);
}

static void
forget_stale(void)
{
	HASH_SEQ_STATUS status;
	KeptIndex  *kept;

	any_stale = false;
	hash_seq_init(&status, indexes);
	while ((kept = hash_seq_search(&status)) != NULL)
		if (kept->stale)
			forget_index(kept);
}

/* Makes room at the expense of other indexes. */
static void
forget_others(const KeptIndex *mine)
{
	HASH_SEQ_STATUS status;
	KeptIndex  *kept;

	hash_seq_init(&status, indexes);
	while ((kept = hash_seq_search(&status)) != NULL)
		if (kept != mine)
			forget_index(kept);
}

/* A message may come at any time: nothing is freed here. */
static void
index_changed(Datum arg, Oid relid)
{
	HASH_SEQ_STATUS status;
	KeptIndex  *kept;

	if (OidIsValid(relid))
	{
		kept = hash_search(indexes, &relid, HASH_FIND, NULL);
		if (kept != NULL)
			kept->stale = any_stale = true;
		return;
	}
	hash_seq_init(&status, indexes);
	while ((kept = hash_seq_search(&status)) != NULL)
		kept->stale = any_stale = true;
}

/* Indexes */

static void
create_indexes(void)
{
	HASHCTL		control = {
		.keysize = sizeof(Oid), .entrysize = sizeof(KeptIndex)
	};

	keeper = AllocSetContextCreate(TopMemoryContext, "neardup segments",
								   ALLOCSET_DEFAULT_SIZES);
	control.hcxt = keeper;
	indexes = hash_create("neardup segments", 16, &control,
						  HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	CacheRegisterRelcacheCallback(index_changed, (Datum) 0);
}

KeptIndex *
kept_index(Relation index, const IndexMeta *meta)
{
	Oid			relid = RelationGetRelid(index);
	KeptIndex  *kept;
	bool		found;

	if (indexes == NULL)
		create_indexes();
	if (any_stale)
		forget_stale();
	kept = hash_search(indexes, &relid, HASH_ENTER, &found);
	if (!found)
	{
		memset(kept, 0, sizeof(KeptIndex));
		kept->relid = relid;
		if (hash_get_num_entries(indexes) > MAX_INDEXES)
			forget_others(kept);
	}
	if (kept->next_owner == meta->next_owner)
		return kept;
	for (uint32 i = kept->nsegments; i-- > 0;)
		if (meta_segment(unconstify(IndexMeta *, meta),
						 kept->segments[i]->owner) == NULL)
			forget_segment(kept, i);
	kept->next_owner = meta->next_owner;
	return kept;
}

Buffer *
kept_pending(KeptIndex *kept)
{
	return kept->pending;
}

KeptRows *
kept_index_rows(KeptIndex *kept)
{
	return &kept->rows;
}

/* Reading what is to be kept */

/*
 * Appends the pages below a page of a directory; false if the segment is gone,
 * or has more of them than expected.
 */
static bool
read_directory(PageStore *store, const SegmentInfo *segment,
			   BlockNumber block, uint32 height, KeptPages *pages)
{
	const DirectoryEntry *entries;
	char	   *page = palloc(BLCKSZ);
	uint32		n;
	bool		there;

	CHECK_FOR_INTERRUPTS();
	there = page_copy(store, block, segment->owner, page) &&
		PAGE_TAIL(page)->kind == PAGE_DIRECTORY;
	entries = (const DirectoryEntry *) PageGetContents(page);
	n = there ? (((PageHeader) page)->pd_lower -
				 MAXALIGN(SizeOfPageHeaderData)) / sizeof(DirectoryEntry) : 0;
	for (uint32 i = 0; i < n && there; i++)
	{
		if (height > 1)
			there = read_directory(store, segment, entries[i].block,
								   height - 1, pages);
		else if (pages->n == segment->npages)
			there = false;
		else
			pages->entries[pages->n++] = entries[i];
	}
	pfree(page);
	return there;
}

/* A directory, whose pages are fewer than those of the segment. */
static bool
keep_directory(PageStore *store, const SegmentInfo *segment, Directory tree,
			   KeptPages *pages)
{
	if (tree.root == InvalidBlockNumber)
		return true;
	pages->entries = palloc(segment->npages * sizeof(DirectoryEntry));
	if (tree.height == 0)
	{
		pages->entries[0].key = 0;
		pages->entries[0].block = tree.root;
		pages->n = 1;
	}
	else if (!read_directory(store, segment, tree.root, tree.height, pages))
		return false;
	pages->entries = repalloc(pages->entries,
							  pages->n * sizeof(DirectoryEntry));
	pages->buffers = palloc0(pages->n * sizeof(Buffer));
	return true;
}

/* The words of the filter, at the level at which they are to be kept. */
static bool
keep_words(PageStore *store, const SegmentInfo *segment, KeptSegment *kept)
{
	KeptFilter *filter = &kept->words;
	Size		size = kept_filter_size(filter->nwords, filter->level);
	uint32		done = 0;
	char	   *page;
	bool		there = true;

	if (size == 0)
		return true;
	page = palloc(BLCKSZ);
	filter->words = palloc_extended(size * sizeof(uint64),
									MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	for (uint32 i = 0; i < kept->filter.n && done < filter->nwords && there; i++)
	{
		const uint64 *words = (const uint64 *) PageGetContents(page);
		uint32		n = Min(filter->nwords - done, FILTER_WORDS_PER_PAGE);

		CHECK_FOR_INTERRUPTS();
		there = page_copy(store, kept->filter.entries[i].block,
						  segment->owner, page) &&
			PAGE_TAIL(page)->kind == PAGE_FILTER;
		for (uint32 word = 0; word < n; word++)
			kept_filter_put(filter, done + word, words[word]);
		done += n;
	}
	pfree(page);
	return there && done == filter->nwords;
}

/* Of each row its size, if they are wanted, and of each page the first order. */
static bool
keep_rows(PageStore *store, const SegmentInfo *segment, bool sizes,
		  KeptSegment *kept)
{
	uint32		done = 0;
	char	   *page = palloc(BLCKSZ);
	bool		there = true;

	kept->orders = palloc(Max(kept->forward.n, 1) * sizeof(uint64));
	if (sizes)
	{
		kept->nsizes = segment->nrows;
		kept->sizes = palloc_extended(segment->nrows * sizeof(uint32),
									  MCXT_ALLOC_HUGE);
	}
	for (uint32 i = 0; i < kept->forward.n && there; i++)
	{
		const ForwardEntry *rows = (const ForwardEntry *) PageGetContents(page);
		uint32		n = Min(segment->nrows - done, FORWARD_PER_PAGE);

		CHECK_FOR_INTERRUPTS();
		there = page_copy(store, kept->forward.entries[i].block,
						  segment->owner, page) &&
			PAGE_TAIL(page)->kind == PAGE_FORWARD;
		kept->orders[i] = forward_order(rows);
		for (uint32 row = 0; row < n && sizes; row++)
			kept->sizes[done + row] = rows[row].size;
		done += n;
	}
	pfree(page);
	return there && done == segment->nrows;
}

/* Bytes of memory that it takes to keep them. */
static Size
pages_bytes(const SegmentInfo *segment)
{
	return ALLOCSET_SMALL_INITSIZE + (Size) segment->npages *
		(sizeof(DirectoryEntry) + sizeof(Buffer)) +
		(segment->nrows / FORWARD_PER_PAGE + 1) * sizeof(uint64);
}

static Size
most_bytes(void)
{
	return Max(get_hash_memory_limit(), (Size) segment_cache_memory * 1024);
}

/* True if there is room for them, and as many are left as that. */
static bool
fits(const KeptIndex *kept, Size bytes, Size left)
{
	Size		most = most_bytes() - left;

	if (bytes <= most && kept_bytes + bytes > most)
		forget_others(kept);
	return kept_bytes + bytes <= most;
}

/* Makes a filter that is kept half as large. */
static void
shrink_filter(KeptFilter *filter, MemoryContext context)
{
	KeptFilter	half = {.nwords = filter->nwords, .level = filter->level + 1};
	Size		size = kept_filter_size(half.nwords, half.level);
	uint32		step = filter->level == KEPT_FILTER_WHOLE ? 1 : 2;

	if (size > 0)
		half.words = MemoryContextAllocExtended(context, size * sizeof(uint64),
												MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	for (uint32 word = 0; size > 0 && word < half.nwords; word += step)
	{
		CHECK_EVERY(word / step);
		kept_filter_put(&half, word, kept_filter_word(filter, word));
	}
	pfree(filter->words);
	*filter = half;
}

static Size
filter_bytes(const KeptSegment *segment)
{
	return kept_filter_size(segment->words.nwords, segment->words.level) *
		sizeof(uint64);
}

/* Has what is kept of a segment take less memory: the sizes of its rows go, too. */
static void
shrink_segment(KeptSegment *segment)
{
	Size		before = filter_bytes(segment);
	Size		given;

	shrink_filter(&segment->words, segment->context);
	given = before - filter_bytes(segment);
	if (segment->sizes != NULL)
	{
		given += segment->nsizes * sizeof(uint32);
		pfree(segment->sizes);
		segment->sizes = NULL;
	}
	segment->bytes -= given;
	kept_bytes -= given;
}

/*
 * Makes the largest of an index's filters smaller, until there is room for so many
 * bytes and the filter of `mine`, which is not kept yet.
 */
static void
make_room(KeptIndex *kept, KeptSegment *mine, Size bytes)
{
	while (!fits(kept, bytes + filter_bytes(mine),
				 most_bytes() / FILTERS_RESERVE))
	{
		KeptSegment *largest = mine;

		for (uint32 i = 0; i < kept->nsegments; i++)
			if (filter_bytes(kept->segments[i]) > filter_bytes(largest) &&
				kept->segments[i]->context != NULL)
				largest = kept->segments[i];
		CHECK_FOR_INTERRUPTS();
		if (largest != mine)
			shrink_segment(largest);
		else if (mine->words.level < KEPT_FILTER_NONE)
			mine->words.level++;
		else
			break;
	}
}

/* Reads it; into memory that an error gives back. */
static bool
read_segment(Relation index, const SegmentInfo *segment, bool sizes,
			 KeptSegment *mine)
{
	PageStore	store = {.index = index};

	return keep_directory(&store, segment, segment->forward, &mine->forward) &&
		keep_directory(&store, segment, segment->postings, &mine->postings) &&
		keep_directory(&store, segment, segment->filter, &mine->filter) &&
		keep_words(&store, segment, mine) &&
		keep_rows(&store, segment, sizes, mine);
}

bool
kept_rows_reserve(KeptIndex *kept, size_t room)
{
	KeptRows   *rows = &kept->rows;
	KeptRow    *more;
	Size		bytes;

	if (room <= rows->room)
		return true;
	room = Max(room, 2 * rows->room);
	bytes = (room - rows->room) * KEPT_ROW_BYTES;
	if (!fits(kept, bytes, 0))
		return false;
	more = MemoryContextAlloc(keeper, room * KEPT_ROW_BYTES);
	if (rows->n > 0)
	{
		memcpy(more, rows->rows, rows->n * sizeof(KeptRow));
		memcpy(more + room, rows->sizes, rows->n * sizeof(uint32));
	}
	if (rows->rows != NULL)
		pfree(rows->rows);
	rows->rows = more;
	rows->sizes = (uint32 *) (more + room);
	rows->room = room;
	kept_bytes += bytes;
	return true;
}

static void
keep(KeptIndex *kept, Relation index, const SegmentInfo *segment,
	 KeptSegment *mine)
{
	KeptSegment read = *mine;
	MemoryContext old;
	bool		sizes;
	bool		there;

	read.bytes = pages_bytes(segment);
	if (!fits(kept, read.bytes, 0))
		return;
	read.words.nwords = segment->filter_words;
	make_room(kept, &read, read.bytes);
	read.bytes += filter_bytes(&read);
	sizes = read.words.level == KEPT_FILTER_WHOLE &&
		fits(kept, read.bytes + segment->nrows * sizeof(uint32),
			 most_bytes() / SIZES_RESERVE);
	if (sizes)
		read.bytes += segment->nrows * sizeof(uint32);
	read.context = AllocSetContextCreate(CurrentMemoryContext, "neardup segment",
										 ALLOCSET_SMALL_SIZES);
	old = MemoryContextSwitchTo(read.context);
	there = read_segment(index, segment, sizes, &read);
	MemoryContextSwitchTo(old);
	if (!there)
	{
		MemoryContextDelete(read.context);
		return;
	}
	MemoryContextSetParent(read.context, keeper);
	kept_bytes += read.bytes;
	*mine = read;
}

/* Segments */

static KeptSegment *
find_segment(KeptIndex *kept, uint64 owner)
{
	KeptSegment *segment;

	for (uint32 i = 0; i < kept->nsegments; i++)
		if (kept->segments[i]->owner == owner)
			return kept->segments[i];
	if (kept->nsegments == MAX_SEGMENTS)
		forget_segment(kept, 0);
	segment = MemoryContextAllocZero(keeper, sizeof(KeptSegment));
	segment->owner = owner;
	kept->segments[kept->nsegments++] = segment;
	return segment;
}

KeptSegment *
kept_segment(KeptIndex *kept, Relation index, const SegmentInfo *segment)
{
	KeptSegment *mine = find_segment(kept, segment->owner);

	if (mine->context == NULL)
	{
		uint64		pages = segment->filter_words / FILTER_WORDS_PER_PAGE +
			segment->npages / (PAGE_ROOM / sizeof(DirectoryEntry)) +
			segment->nrows / FORWARD_PER_PAGE;

		if (mine->searches++ * 4 >= pages && !RelationUsesLocalBuffers(index))
			keep(kept, index, segment, mine);
	}
	return mine;
}

int64
kept_find(const KeptPages *pages, uint32 number)
{
	const DirectoryEntry *entries = pages->entries;
	uint32		lo = 0;
	uint32		n = pages->n;

	if (n == 0 || number < entries[0].key)
		return -1;
	/* the answer is in lo ... lo + n - 1 */
	while (n > 1)
	{
		uint32		half = n / 2;

		lo += entries[lo + half].key <= number ? half : 0;
		n -= half;
	}
	return lo;
}

uint32
kept_find_order(const KeptSegment *segment, uint64 order)
{
	uint32		lo = 0;
	uint32		n = segment->forward.n;

	/* the answer is in lo ... lo + n - 1 */
	while (n > 1)
	{
		uint32		half = n / 2;

		lo += segment->orders[lo + half] < order ? half : 0;
		n -= half;
	}
	return lo;
}

/* Pages */

Buffer
kept_lock_block(Relation index, BlockNumber block, Buffer *buffer)
{
	static uint32 turns = 0;

	if (BlockNumberIsValid(block) && *buffer > 0 && ++turns % USUAL_WAY != 0 &&
		ReadRecentBuffer(compat_file(index), MAIN_FORKNUM, block, *buffer))
	{
		pgstat_count_buffer_read(index);
		pgstat_count_buffer_hit(index);
		LockBuffer(*buffer, BUFFER_LOCK_SHARE);
	}
	else
		*buffer = page_lock(index, block);
	return *buffer;
}

Buffer
kept_lock(KeptPages *pages, Relation index, uint32 place)
{
	return kept_lock_block(index, pages->entries[place].block,
						   &pages->buffers[place]);
}

void
kept_prefetch(const KeptPages *pages, uint32 place, uint32 offset)
{
	Buffer		buffer = pages->buffers[place];
	const char *page;

	if (buffer <= 0)
		return;
	page = BufferGetPage(buffer);
	__builtin_prefetch(GetBufferDescriptor(buffer - 1), 1);
	__builtin_prefetch(page);
	__builtin_prefetch(page + BLCKSZ - sizeof(PageTail));
	__builtin_prefetch(page + offset);
}
