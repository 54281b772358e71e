/*
 * kept_rows.c
 *		Pending rows that a session keeps from search to search.
 *
 * A row is appended to the last pending page only, under a lock on the metapage
 * that keeps another page from becoming the last.  So the pages before the last
 * one that a metapage names do not change any more, and where a session has read one,
 * it need not again: pages have places in a sequence, which are never used twice.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/bufmgr.h"

#include "index/kept_rows.h"
#include "index/pending.h"

/* No page has more rows. */
#define MAX_ON_PAGE		(PAGE_ROOM / PENDING_BYTES(0))

/* Leaves out pages that have become a segment. */
static void
drop_pages(KeptRows *rows, uint64 first)
{
	size_t		dropped = 0;

	while (rows->first < Min(first, rows->end))
		dropped += rows->counts[rows->first++ % MAX_PENDING_PAGES];
	rows->n -= dropped;
	if (rows->n > 0 && dropped > 0)
	{
		memmove(rows->rows, rows->rows + dropped, rows->n * sizeof(KeptRow));
		memmove(rows->sizes, rows->sizes + dropped, rows->n * sizeof(uint32));
	}
	if (rows->first < first)
		rows->first = rows->end = first;
}

/* Takes the rows of a page; false if it is another one now. */
static bool
read_page(KeptIndex *kept, Relation index, BlockNumber block, KeptRows *rows)
{
	uint32		slot = rows->end % MAX_PENDING_PAGES;
	Buffer		buffer = kept_lock_block(index, block, &kept_pending(kept)[slot]);
	Page		page = BufferGetPage(buffer);
	bool		ours = page_is_of(page, PENDING_OWNER(rows->end));
	int			n = ours ? pending_count(page) : 0;

	if (n > MAX_ON_PAGE)
		index_corrupt(index, block, "It has too many rows.");
	for (int i = 0; i < n; i++)
	{
		const PendingHead *head = pending_head(page, i);
		KeptRow    *row = &rows->rows[rows->n + i];

		row->head = *head;
		row->tid = pending_row(index, page, head)->tid;
		row->slot = slot;
		rows->sizes[rows->n + i] = head->size;
	}
	UnlockReleaseBuffer(buffer);
	if (!ours)
		return false;
	rows->counts[slot] = n;
	rows->n += n;
	rows->end++;
	return true;
}

const KeptRows *
kept_rows(KeptIndex *kept, Relation index, const IndexMeta *meta)
{
	KeptRows   *rows = kept_index_rows(kept);

	drop_pages(rows, meta->pending_first);
	while (rows->end + 1 < meta->pending_end &&
		   kept_rows_reserve(kept, rows->n + MAX_ON_PAGE))
	{
		CHECK_FOR_INTERRUPTS();
		if (!read_page(kept, index, meta->pending[rows->end % MAX_PENDING_PAGES],
					   rows))
			return NULL;
	}
	return rows;
}
