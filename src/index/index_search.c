/*
 * index_search.c
 *		A search in an index of access method neardup: pending rows, then
 *		segments.
 */
#include "postgres.h"

#include "executor/instrument.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "utils/float.h"

#include "base/settings.h"
#include "index/row.h"
#include "index/index_search.h"
#include "index/segments.h"

/* Pending rows */

/* Number of cached rows that are filtered by size at once, without branches */
#define ROWS_BY_SIZE		256

/*
 * Return the number of bits set in two words.  pg_popcount64() would be a call
 * through a pointer.
 */
static inline uint32
count_bits(uint64 a, uint64 b)
{
	const uint64 twos = UINT64CONST(0x3333333333333333);
	const uint64 fours = UINT64CONST(0x0f0f0f0f0f0f0f0f);

	a -= a >> 1 & UINT64CONST(0x5555555555555555);
	b -= b >> 1 & UINT64CONST(0x5555555555555555);
	a = (a & twos) + (a >> 2 & twos) + (b & twos) + (b >> 2 & twos);
	return (((a & fours) +
			 (a >> 4 & fours)) * UINT64CONST(0x0101010101010101)) >> 56;
}

/*
 * Return an upper bound of the overlap of a pending row and the query, by
 * their bitmaps.
 */
static inline uint64
most_overlap(const IndexSearch *search, const PendingHead *head)
{
	uint32		missing;

	if (search->query->shares != NULL)
		return SHARES_ALL;
	missing = count_bits(search->bitmap.low & ~head->bitmap.low,
						 search->bitmap.high & ~head->bitmap.high);
	return Min(search->query->nkeys - missing + search->collisions,
			   head->size);
}

/* True if a pending row may match, by its spec, its size and its bitmap. */
static pg_attribute_always_inline bool
is_likely(const IndexSearch *search, const PendingHead *head)
{
	const IndexQuery *query = search->query;
	RowBounds	bounds = {head->size, 1};
	uint64		most;

	if (query->spec == NULL || query->all)
		return true;
	if (head->spec != search->spec)
		return query->nulls;
	if (head->size < search->least_size || head->size > search->most_size)
		return false;
	most = most_overlap(search, head);
	return search_wants(search, most) &&
		(!query->filter || bounds_value(query, query->measure, &bounds,
										most) >= query->threshold);
}

/* Report a pending row, unless its keys exclude it. */
static void
search_row(IndexSearch *search, Page page, const PendingHead *head)
{
	const IndexQuery *query = search->query;
	const PendingRow *row = pending_row(search->store.index, page, head);
	ItemPointerData tid = row->tid;
	uint64		overlap;

	if (candidate_without_bound(search, &tid, head->spec))
		return;
	overlap = keys_overlap(query->keys, query->shares, query->nkeys, row->keys,
						   row->nkeys);
	candidate_row(search, &tid, head->size, row->order,
				  overlap + search->collisions);
}

/* Lock the pending page of a place.  False if the page has been reused. */
static bool
lock_pending(IndexSearch *search, const IndexMeta *meta, uint64 place,
			 Buffer *buffer)
{
	uint32		slot = place % MAX_PENDING_PAGES;

	CHECK_FOR_INTERRUPTS();
	*buffer = cached_lock(search->store.index, meta->pending[slot],
						  &search->cache->pending[slot]);
	if (page_is_of(BufferGetPage(*buffer), PENDING_OWNER(place)))
		return true;
	UnlockReleaseBuffer(*buffer);
	return false;
}

/*
 * Search ROWS_BY_SIZE cached rows, and read only pages of likely ones.  *place
 * advances to the page of the last row read.  False if a page has been reused.
 */
static bool
search_cached_rows(IndexSearch *search, const IndexMeta *meta, size_t begin,
				   uint64 *place)
{
	const CachedRow *rows = search->cache->rows;
	size_t		end = Min(begin + ROWS_BY_SIZE, search->cache->nrows);
	uint64		sizes = search->most_size - search->least_size;
	uint32		chosen[ROWS_BY_SIZE];
	uint32		n = 0;

	for (size_t i = begin; i < end; i++)
	{
		chosen[n] = i;
		n += rows[i].head.size - search->least_size <= sizes;
	}
	for (uint32 i = 0; i < n; i++)
	{
		const CachedRow *row = &rows[chosen[i]];
		Buffer		buffer;

		if (!is_likely(search, &row->head))
			continue;
		while (*place % MAX_PENDING_PAGES != row->slot)
			*place += 1;
		Assert(*place < search->cache->end);
		if (!lock_pending(search, meta, *place, &buffer))
			return false;
		search_row(search, BufferGetPage(buffer), &row->head);
		UnlockReleaseBuffer(buffer);
	}
	return true;
}

/* Search a page that is not cached.  False if it has been reused. */
static bool
search_pending_page(IndexSearch *search, const IndexMeta *meta, uint64 place)
{
	Buffer		buffer;
	Page		page;
	int			n;

	if (!lock_pending(search, meta, place, &buffer))
		return false;
	page = BufferGetPage(buffer);
	n = pending_count(page);
	search->counters->candidates += n;
	for (int i = 0; i < n; i++)
		if (is_likely(search, pending_head(page, i)))
			search_row(search, page, pending_head(page, i));
	UnlockReleaseBuffer(buffer);
	return true;
}

/* Search the pending rows.  False if some have been flushed. */
static bool
search_pending(IndexSearch *search, const IndexMeta *meta)
{
	uint64		place;

	if (!cache_pending_rows(search->cache, search->store.index, meta))
		return false;
	search->counters->candidates += search->cache->nrows;
	place = search->cache->first;
	for (size_t begin = 0; begin < search->cache->nrows; begin += ROWS_BY_SIZE)
		if (!search_cached_rows(search, meta, begin, &place))
			return false;
	for (place = search->cache->end; place < meta->pending_end; place++)
		if (!search_pending_page(search, meta, place))
			return false;
	return true;
}

/* The search */

/* Compute what a matching row must have, before anything is read. */
static void
begin_search(IndexSearch *search)
{
	const IndexQuery *query = search->query;

	search->limit = get_float8_infinity();
	search->most_size = PG_UINT64_MAX;
	search->every_row = query->spec == NULL || query->all;
	if (query->spec != NULL)
		search->spec = spec_number(query->spec);
	if (search->every_row)
		return;
	Assert(query->nkeys <= query->size || query->shares != NULL);
	search->collisions = query->shares != NULL ? 0 :
		query->size - query->nkeys;
	search->bitmap = keys_bitmap(query->keys, query->nkeys);
	search->least = 1;
	if (!query->filter || query->size == 0 || query->shares != NULL)
		return;
	if (query->sketch)
	{
		search->least = bounds_sketch_overlap(query);
		search->every_row = search->least == 0;
		return;
	}
	search->least = measure_least_overlap(measure_commute(query->measure),
										  query->size, query->threshold);
	measure_sizes(measure_commute(query->measure), query->size,
				  query->threshold, &search->least_size, &search->most_size);
}

/* Return the number of buffer accesses of this session. */
static uint64
pages_read(void)
{
	return pgBufferUsage.shared_blks_hit + pgBufferUsage.shared_blks_read +
		pgBufferUsage.local_blks_hit + pgBufferUsage.local_blks_read;
}

/*
 * Raise INDEX_CORRUPTED if nothing was merged or reused since the metapage was
 * read: then only damage explains a page of an unexpected owner.
 */
static void
require_change(Relation index, const IndexMeta *before)
{
	IndexMeta  *now = meta_read(index);

	if (now->next_segment_id == before->next_segment_id &&
		now->nsegments == before->nsegments &&
		now->pending_kept == before->pending_kept)
		index_corrupt(index, META_BLOCK,
					  "A page that it names belongs to something else.");
	pfree(now);
}

bool
index_search(Relation index, const IndexQuery *query, SearchCallback callback,
			 void *state)
{
	IndexMeta  *meta = palloc(sizeof(IndexMeta));
	IndexSearch search = {
		.store = {.index = index},.query = query,
		.callback = callback,.state = state,
		.counters = search_counters(RelationGetRelid(index))
	};
	uint64		before = pages_read();
	bool		complete;

	search.counters->passes++;
	meta_copy(index, meta);
	segments_sort(meta);
	pause_at(PAUSE_SEARCH);
	begin_search(&search);
	search.cache = segment_cache(index, meta);
	search.keys = palloc_extended(Max(query->nkeys, 1) * sizeof(uint32),
								  MCXT_ALLOC_HUGE);
	complete = search_pending(&search, meta);
	for (uint32 i = 0; i < meta->nsegments && complete; i++)
		complete = search_segment(&search, &meta->segments[i]);
	search.counters->pages += pages_read() - before;
	if (!complete)
		require_change(index, meta);
	pfree(search.keys);
	pfree(meta);
	return complete;
}
