/*
 * search_pending.c
 *		The pending rows that may meet a query's condition.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/bufmgr.h"

#include "index/counters.h"
#include "index/kept_rows.h"
#include "index/pending.h"
#include "index/index_search.h"

/* So many pending rows are looked at by their sizes, and then the others. */
#define KEPT_AT_ONCE		256

/* Bits that are set; without a call, which would take longer. */
static inline uint32
count_bits(uint64 bits)
{
	bits -= bits >> 1 & UINT64CONST(0x5555555555555555);
	bits = (bits & UINT64CONST(0x3333333333333333)) +
		(bits >> 2 & UINT64CONST(0x3333333333333333));
	bits = (bits + (bits >> 4)) & UINT64CONST(0x0f0f0f0f0f0f0f0f);
	return (bits * UINT64CONST(0x0101010101010101)) >> 56;
}

/* What it can have in common with the query, at most, by its bitmap. */
static inline uint64
most_overlap(const IndexSearch *search, const PendingHead *head)
{
	uint32		missing;

	if (search->query->shares != NULL)
		return SHARES_ALL;
	missing = count_bits(search->bitmap.low & ~head->bitmap.low) +
		count_bits(search->bitmap.high & ~head->bitmap.high);
	return Min(search->query->nkeys - missing + search->slack, head->size);
}

/* True if a pending row may be wanted by its size and its bitmap. */
static inline bool
is_likely(const IndexSearch *search, const PendingHead *head)
{
	const IndexQuery *query = search->query;
	RowTraits	traits = {head->size, 1};
	uint64		most;

	if (query->spec == NULL || query->all)
		return true;
	if (head->spec != search->spec)
		return query->nulls;
	if (head->size < search->least_size || head->size > search->most_size)
		return false;
	most = most_overlap(search, head);
	return search_wants(search, most) &&
		(!query->filter || bounds_value(query, query->measure, &traits,
										 most) >= query->threshold);
}

/* A pending row that is likely. */
static void
take_pending(IndexSearch *search, Page page, const PendingHead *head)
{
	const IndexQuery *query = search->query;
	const PendingRow *row = pending_row(search->store.index, page, head);
	ItemPointerData tid = row->tid;
	uint64		overlap;

	if (search_take_other(search, &tid, head->spec))
		return;
	overlap = query->shares == NULL ?
		keys_overlap(query->keys, query->nkeys, row->keys, row->nkeys) :
		keys_share(query->keys, query->shares, query->nkeys, row->keys, row->nkeys);
	search_take(search, &tid, head->size, row->order, overlap + search->slack);
}

/*
 * The rows of a page, or those of it that are given; false if it is gone.
 */
static bool
search_page(IndexSearch *search, const IndexMeta *meta, uint64 place,
			const KeptRow *rows, int n)
{
	Buffer	   *seen = kept_pending(search->kept_index);
	uint32		slot = place % MAX_PENDING_PAGES;
	Buffer		buffer;
	Page		page;
	bool		ours;

	CHECK_FOR_INTERRUPTS();
	buffer = kept_lock_block(search->store.index, meta->pending[slot], &seen[slot]);
	page = BufferGetPage(buffer);
	ours = page_is_of(page, PENDING_OWNER(place));
	if (ours && rows == NULL)
		n = pending_count(page);
	for (int i = 0; i < n && ours; i++)
	{
		const PendingHead *head = rows != NULL ? &rows[i].head :
			pending_head(page, i);

		if (is_likely(search, head))
			take_pending(search, page, head);
	}
	if (rows == NULL)
		search->counters->candidates += n;
	UnlockReleaseBuffer(buffer);
	return ours;
}

/* The rows that are kept.  Most are left out by their sizes, without a branch for each. */
static bool
search_kept(IndexSearch *search, const IndexMeta *meta, const KeptRows *rows)
{
	uint64		least = search->least_size;
	uint64		range = search->most_size - least;
	uint32		some[KEPT_AT_ONCE];

	search->counters->candidates += rows->n;
	for (size_t begin = 0; begin < rows->n; begin += KEPT_AT_ONCE)
	{
		size_t		end = Min(begin + KEPT_AT_ONCE, rows->n);
		uint32		n = 0;

		for (size_t i = begin; i < end; i++)
		{
			some[n] = i;
			n += rows->sizes[i] - least <= range;
		}
		for (uint32 k = 0; k < n; k++)
		{
			const KeptRow *row = &rows->rows[some[k]];

			if (is_likely(search, &row->head) &&
				!search_page(search, meta, kept_place(rows, row), row, 1))
				return false;
		}
	}
	return true;
}

bool
search_pending(IndexSearch *search, const IndexMeta *meta)
{
	const KeptRows *rows = kept_rows(search->kept_index, search->store.index, meta);

	if (rows == NULL || !search_kept(search, meta, rows))
		return false;
	for (uint64 place = rows->end; place < meta->pending_end; place++)
		if (!search_page(search, meta, place, NULL, 0))
			return false;
	return true;
}
