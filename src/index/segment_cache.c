/*
 * segment_cache.c
 *		Per-backend cache of segment directories, filters and pending rows.
 *
 * Without it a look-up copies pages of each directory, searches the server's
 * buffer table for each page, and reads the pages of each filter.
 *
 * Memory is bounded for all indexes together.  If one index needs room, the
 * others are evicted.  Data that still does not fit is read from pages.  A
 * segment is loaded when the number of its searches reaches a quarter of the
 * pages to read.
 */
#include "postgres.h"

#include "executor/nodeHash.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "utils/hsearch.h"
#include "utils/inval.h"
#include "utils/memutils.h"

#include "base/compat.h"
#include "base/memory.h"
#include "index/directory.h"
#include "index/segment_cache.h"

int			segment_cache_memory = 8192;

/* 1 / RESERVE_SHARE of the memory is not used for filters and sizes. */
#define RESERVE_SHARE		8

/* Upper bound of the rows of a pending page */
#define MAX_ON_PAGE			(PAGE_ROOM / PENDING_BYTES(0))

static HTAB *caches = NULL;
static MemoryContext cache_context = NULL;

/* Indexes */

/* Free the cache of an index. */
static void
forget_index(SegmentCache *cache)
{
	if (cache->context != NULL)
		MemoryContextDelete(cache->context);
	(void) hash_search(caches, &cache->relid, HASH_REMOVE, NULL);
}

/*
 * Invalidation callback.  A search may be using the cache, so nothing is freed
 * here.
 */
static void
index_changed(Datum arg, Oid relid)
{
	HASH_SEQ_STATUS status;
	SegmentCache *cache;

	hash_seq_init(&status, caches);
	while ((cache = hash_seq_search(&status)) != NULL)
		if (!OidIsValid(relid) || cache->relid == relid)
			cache->stale = true;
}

/* Create the hash table of caches. */
static void
create_caches(void)
{
	HASHCTL		control = {
		.keysize = sizeof(Oid),.entrysize = sizeof(SegmentCache)
	};

	cache_context = AllocSetContextCreate(TopMemoryContext,
										  "neardup segment cache",
										  ALLOCSET_DEFAULT_SIZES);
	control.hcxt = cache_context;
	caches = hash_create("neardup segment caches", 16, &control,
						 HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	CacheRegisterRelcacheCallback(index_changed, (Datum) 0);
}

/* Free the cached data of a segment. */
static void
forget_segment(SegmentCache *cache, uint32 i)
{
	if (cache->segments[i]->context != NULL)
		MemoryContextDelete(cache->segments[i]->context);
	pfree(cache->segments[i]);
	cache->segments[i] = cache->segments[--cache->nsegments];
}

SegmentCache *
segment_cache(Relation index, const IndexMeta *meta)
{
	Oid			relid = RelationGetRelid(index);
	SegmentCache *cache;
	bool		found;

	if (caches == NULL)
		create_caches();
	Assert(meta->nsegments <= MAX_SEGMENTS);
	cache = hash_search(caches, &relid, HASH_ENTER, &found);
	if (found && cache->stale)
	{
		forget_index(cache);
		cache = hash_search(caches, &relid, HASH_ENTER, &found);
	}
	if (!found)
	{
		memset(cache, 0, sizeof(SegmentCache));
		cache->relid = relid;
		cache->context = AllocSetContextCreate(cache_context, "neardup index",
											   ALLOCSET_SMALL_SIZES);
	}
	Assert(cache->next_segment_id <= meta->next_segment_id);
	if (cache->next_segment_id != meta->next_segment_id)
		for (uint32 i = cache->nsegments; i-- > 0;)
			if (meta_segment(unconstify(IndexMeta *, meta),
							 cache->segments[i]->segment_id) == NULL)
				forget_segment(cache, i);
	cache->next_segment_id = meta->next_segment_id;
	return cache;
}

/* Memory */

/* Return the bytes that all caches together may take. */
static Size
memory_limit(void)
{
	return Max(get_hash_memory_limit(), (Size) segment_cache_memory * 1024);
}

/*
 * Return the bytes left of the limit, after evicting other indexes if
 * necessary.
 */
static Size
memory_left(const SegmentCache *mine, Size wanted, Size limit)
{
	Size		used = MemoryContextMemAllocated(cache_context, true);
	HASH_SEQ_STATUS status;
	SegmentCache *cache;

	if (used + wanted > limit && wanted <= limit)
	{
		hash_seq_init(&status, caches);
		while ((cache = hash_seq_search(&status)) != NULL)
			if (cache != mine)
				forget_index(cache);
		used = MemoryContextMemAllocated(cache_context, true);
	}
	return limit - Min(used, limit);
}

/* Loading a segment */

/*
 * Append the pages below a page of a directory.  False if the segment is gone.
 */
static bool
load_directory(PageStore *store, const SegmentInfo *segment, BlockNumber block,
			   uint32 height, CachedPages *pages)
{
	const DirectoryEntry *entries;
	char	   *page = palloc(BLCKSZ);
	bool		there;

	CHECK_FOR_INTERRUPTS();
	there = page_copy(store, block, segment->segment_id, page) &&
		PAGE_TAIL(page)->kind == PAGE_DIRECTORY;
	entries = (const DirectoryEntry *) PageGetContents(page);
	for (uint32 i = 0;
		 there && i < page_contents_size(page) / sizeof(DirectoryEntry); i++)
	{
		if (height > 1)
			there = load_directory(store, segment, entries[i].block,
								   height - 1, pages);
		else if (pages->n == segment->npages)
			there = false;
		else
			pages->entries[pages->n++] = entries[i];
	}
	pfree(page);
	return there;
}

/* Load the list of pages of a directory.  False if the segment is gone. */
static bool
load_pages(PageStore *store, const SegmentInfo *segment, Directory tree,
		   CachedPages *pages)
{
	if (tree.root == InvalidBlockNumber)
		return true;
	pages->entries = palloc(segment->npages * sizeof(DirectoryEntry));
	if (tree.height == 0)
	{
		pages->entries[0] = (DirectoryEntry)
		{
			0, tree.root
		};
		pages->n = 1;
	}
	else if (!load_directory(store, segment, tree.root, tree.height, pages))
		return false;
	pages->entries = repalloc(pages->entries,
							  pages->n * sizeof(DirectoryEntry));
	pages->buffers = palloc0(pages->n * sizeof(Buffer));
	return true;
}

/* Load the first words of the filter.  False if the segment is gone. */
static bool
load_words(PageStore *store, const SegmentInfo *segment, CachedSegment *cached)
{
	uint32		done = 0;
	char	   *page = palloc(BLCKSZ);

	cached->words = palloc_extended(Max(cached->nwords, 1) * sizeof(uint64),
									MCXT_ALLOC_HUGE);
	for (uint32 i = 0; i < cached->filter.n && done < cached->nwords; i++)
	{
		uint32		n = Min(cached->nwords - done, FILTER_WORDS_PER_PAGE);

		CHECK_FOR_INTERRUPTS();
		if (!page_copy(store, cached->filter.entries[i].block,
					   segment->segment_id,
					   page) ||
			PAGE_TAIL(page)->kind != PAGE_FILTER)
			break;
		memcpy(cached->words + done, PageGetContents(page),
			   n * sizeof(uint64));
		done += n;
	}
	pfree(page);
	return done == cached->nwords;
}

/*
 * Load the sizes of rows, if there is room for them.  False if the segment is
 * gone.
 */
static bool
load_sizes(PageStore *store, const SegmentInfo *segment, CachedSegment *cached)
{
	uint32		done = 0;
	char	   *page = palloc(BLCKSZ);

	for (uint32 i = 0; cached->sizes != NULL && i < cached->forward.n; i++)
	{
		const ForwardEntry *rows =
		(const ForwardEntry *) PageGetContents(page);
		uint32		n = Min(segment->nrows - done, FORWARD_PER_PAGE);

		CHECK_FOR_INTERRUPTS();
		if (!page_copy(store, cached->forward.entries[i].block,
					   segment->segment_id,
					   page) ||
			PAGE_TAIL(page)->kind != PAGE_FORWARD)
			break;
		for (uint32 row = 0; row < n; row++)
			cached->sizes[done + row] = rows[row].size;
		done += n;
	}
	pfree(page);
	return cached->sizes == NULL || done == segment->nrows;
}

/* Load a segment, if memory has room for its directories at least. */
static void
load_segment(SegmentCache *cache, Relation index, const SegmentInfo *segment,
			 CachedSegment *cached)
{
	PageStore	store = {.index = index};
	CachedSegment loaded = *cached;
	Size		pages = ALLOCSET_SMALL_INITSIZE + (Size) segment->npages *
	(sizeof(DirectoryEntry) + sizeof(Buffer));
	Size		words = (Size) segment->filter_words * sizeof(uint64);
	Size		sizes = (Size) segment->nrows * sizeof(uint32);
	Size		limit = memory_limit();
	Size		left;
	MemoryContext old;

	Assert(cached->context == NULL &&
		   cached->segment_id == segment->segment_id);
	if (memory_left(cache, pages, limit) < pages)
		return;
	left = memory_left(cache, pages + words + sizes,
					   limit - limit / RESERVE_SHARE);
	left -= Min(left, pages);
	loaded.nwords = Min(left, words) / sizeof(uint64);
	loaded.context = AllocSetContextCreate(CurrentMemoryContext,
										   "neardup segment",
										   ALLOCSET_SMALL_SIZES);
	old = MemoryContextSwitchTo(loaded.context);
	if (words + sizes <= left)
		loaded.sizes = palloc_extended(Max(sizes, 1), MCXT_ALLOC_HUGE);
	if (load_pages(&store, segment, segment->forward, &loaded.forward) &&
		load_pages(&store, segment, segment->postings, &loaded.postings) &&
		load_pages(&store, segment, segment->filter, &loaded.filter) &&
		load_words(&store, segment, &loaded) &&
		load_sizes(&store, segment, &loaded))
	{
		MemoryContextSetParent(loaded.context, cache->context);
		*cached = loaded;
	}
	MemoryContextSwitchTo(old);
	if (cached->context == NULL)
		MemoryContextDelete(loaded.context);
}

/* Return the entry of a segment, which is added if it is missing. */
static CachedSegment *
find_segment(SegmentCache *cache, uint64 segment_id)
{
	CachedSegment *segment;

	for (uint32 i = 0; i < cache->nsegments; i++)
		if (cache->segments[i]->segment_id == segment_id)
			return cache->segments[i];
	if (cache->nsegments == MAX_SEGMENTS)
		forget_segment(cache, 0);
	segment = MemoryContextAllocZero(cache->context, sizeof(CachedSegment));
	segment->segment_id = segment_id;
	cache->segments[cache->nsegments++] = segment;
	return segment;
}

CachedSegment *
cached_segment(SegmentCache *cache, Relation index, const SegmentInfo *segment)
{
	CachedSegment *cached = find_segment(cache, segment->segment_id);
	uint64		pages = segment->filter_words / FILTER_WORDS_PER_PAGE +
	segment->npages / (PAGE_ROOM / sizeof(DirectoryEntry)) +
	segment->nrows / FORWARD_PER_PAGE;

	if (cached->context == NULL && cached->searches++ * 4 >= pages &&
		!RelationUsesLocalBuffers(index))
		load_segment(cache, index, segment, cached);
	return cached;
}

/* Pending rows */

/* Append the rows of the next page.  False if its block has been reused. */
static bool
load_pending_page(SegmentCache *cache, Relation index, BlockNumber block)
{
	uint32		slot = cache->end % MAX_PENDING_PAGES;
	Buffer		buffer = cached_lock(index, block, &cache->pending[slot]);
	Page		page = BufferGetPage(buffer);
	bool		ours = page_is_of(page, PENDING_OWNER(cache->end));
	int			n = ours ? pending_count(page) : 0;

	if (n > MAX_ON_PAGE)
		index_corrupt(index, block, "It has too many rows.");
	for (int i = 0; i < n; i++)
		cache->rows[cache->nrows++] = (CachedRow)
	{
		*pending_head(page, i), slot
	};
	UnlockReleaseBuffer(buffer);
	cache->end += ours;
	return ours;
}

/*
 * Make room for the rows of another page.  False if the memory limit does not
 * allow it.
 */
static bool
reserve_rows(SegmentCache *cache)
{
	MemoryContext old;
	Size		more = 2 * (cache->room + MAX_ON_PAGE) * sizeof(CachedRow);

	if (cache->nrows + MAX_ON_PAGE <= cache->room)
		return true;
	if (memory_left(cache, more, memory_limit()) < more)
		return false;
	old = MemoryContextSwitchTo(cache->context);
	cache->rows = growing_reserve(cache->rows, &cache->room,
								  cache->nrows + MAX_ON_PAGE,
								  sizeof(CachedRow));
	MemoryContextSwitchTo(old);
	return true;
}

/*
 * A row is appended only to the last page, under a lock on the metapage that
 * keeps another page from becoming the last.  So the pages before the last one
 * that a metapage names do not change, and their places in the sequence are
 * never used twice.
 */
bool
cache_pending_rows(SegmentCache *cache, Relation index, const IndexMeta *meta)
{
	Assert(meta->pending_first <= meta->pending_end);
	if (cache->first != meta->pending_first)
	{
		cache->first = cache->end = meta->pending_first;
		cache->nrows = 0;
	}
	while (cache->end + 1 < meta->pending_end && reserve_rows(cache))
	{
		CHECK_FOR_INTERRUPTS();
		if (!load_pending_page(cache, index,
							   meta->pending[cache->end % MAX_PENDING_PAGES]))
			return false;
	}
	return true;
}
