/*
 * pending.c
 *		Pending rows: the pages to which new rows are appended, and the
 *		segment that they become.
 *
 * The pages are a ring.  Appending takes a share lock on the metapage, so that
 * no row is added after a flush has read its page, and an exclusive lock on
 * the page.  A flush closes the pages: no row is added to them any more.  Then
 * it reads them and writes the segment.  In one change of the metapage it
 * removes the pages from the ring and adds the segment.
 */
#include "postgres.h"

#include "access/generic_xlog.h"
#include "storage/bufmgr.h"
#include "storage/indexfsm.h"
#include "storage/lmgr.h"
#include "utils/memutils.h"

#include "index/segment_writer.h"
#include "index/segments.h"

/* Pages */

/* True if a row fits on a page. */
static bool
fits(Page page, const IndexedRow *row)
{
	PageHeader	header = (PageHeader) page;

	return header->pd_lower + PENDING_BYTES(row->nkeys) <= header->pd_upper;
}

/* What appending a row changes on a page */
typedef struct Appended
{
	LocationIndex ends[2];		/* pd_lower, pd_upper */
	PendingHead head;
	PageChange	changes[4];
	int			n;
	PendingRow	row;			/* without its keys, which vary in number */
} Appended;

StaticAssertDecl(offsetof(PageHeaderData, pd_upper) ==
				 offsetof(PageHeaderData, pd_lower) + sizeof(LocationIndex),
				 "the ends of a page's room are apart");

/* Add a change. */
static void
add_change(Appended *appended, Size offset, const void *bytes, Size length)
{
	PageChange *change = &appended->changes[appended->n++];

	change->offset = offset;
	change->length = length;
	change->bytes = bytes;
}

/* Compute what appending a row, which fits, changes on a page. */
static void
append_to(Page page, const IndexedRow *row, Appended *appended)
{
	PageHeader	header = (PageHeader) page;
	LocationIndex lower = header->pd_lower;
	LocationIndex upper = header->pd_upper - sizeof(PendingHead);

	Assert(fits(page, row) && lower == MAXALIGN(lower));
	memset(appended, 0, sizeof(Appended));
	appended->ends[0] = lower + PENDING_ROW_BYTES(row->nkeys);
	appended->ends[1] = upper;
	appended->head.bitmap = keys_bitmap(row->keys, row->nkeys);
	appended->head.size = row->size;
	appended->head.spec = row->spec;
	appended->head.offset = lower;
	appended->row.order = row->order;
	appended->row.nkeys = row->nkeys;
	appended->row.tid = row->tid;
	add_change(appended, offsetof(PageHeaderData, pd_lower), appended->ends,
			   sizeof(appended->ends));
	add_change(appended, lower, &appended->row, offsetof(PendingRow, keys));
	if (row->nkeys > 0)
		add_change(appended, lower + offsetof(PendingRow, keys), row->keys,
				   row->nkeys * sizeof(uint32));
	add_change(appended, upper, &appended->head, sizeof(PendingHead));
}

/*
 * Append a row to the last page.  False if it does not fit.  The caller holds
 * a lock on the metapage.
 */
static bool
append_to_last(Relation index, const IndexMeta *meta, const IndexedRow *row)
{
	uint64		place = meta->pending_end - 1;
	Buffer		buffer;
	bool		done;

	if (meta->pending_end == meta->pending_closed)
		return false;
	buffer = page_pin(index, meta->pending[place % MAX_PENDING_PAGES]);
	LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
	done = fits(BufferGetPage(buffer), row);
	if (done)
	{
		Appended	appended;

		append_to(BufferGetPage(buffer), row, &appended);
		page_change(index, buffer, appended.changes, appended.n);
	}
	UnlockReleaseBuffer(buffer);
	return done;
}

/*
 * Append a row to a new page.  The caller holds an exclusive lock on the
 * metapage.
 */
static void
append_to_new(Relation index, Buffer metabuffer, const IndexedRow *row)
{
	IndexMeta  *meta = META_OF(BufferGetPage(metabuffer));
	bool		reused = meta->pending_kept < meta->pending_first;
	Buffer		buffer;
	GenericXLogState *state = GenericXLogStart(index);
	Page		page;
	Appended	appended;

	buffer = reused ?
		page_pin(index,
				 meta->pending[meta->pending_kept % MAX_PENDING_PAGES]) :
		ReadBuffer(index, extend_index(index));
	LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
	meta = META_OF(GenericXLogRegisterBuffer(state, metabuffer, 0));
	page = GenericXLogRegisterBuffer(state, buffer, GENERIC_XLOG_FULL_IMAGE);
	page_init(page, PAGE_PENDING, PENDING_OWNER(meta->pending_end));
	append_to(page, row, &appended);
	page_apply(page, appended.changes, appended.n);
	meta->pending_kept += reused;
	Assert(meta->pending_end - meta->pending_kept < MAX_PENDING_PAGES);
	meta->pending[meta->pending_end++ % MAX_PENDING_PAGES] =
		BufferGetBlockNumber(buffer);
	GenericXLogFinish(state);
	UnlockReleaseBuffer(buffer);
}

/*
 * Append a row, perhaps to a new page, and set *used to the pages in the ring,
 * or to 0 if the last page had room.  False if the ring is full.
 */
static bool
insert_exclusive(Relation index, Buffer metabuffer, const IndexedRow *row,
				 uint64 *used)
{
	const IndexMeta *meta;
	bool		done = true;

	LockBuffer(metabuffer, BUFFER_LOCK_EXCLUSIVE);
	meta = meta_of(index, BufferGetPage(metabuffer));
	*used = meta->pending_end - meta->pending_first;
	if (append_to_last(index, meta, row))
		*used = 0;
	else if (*used < MAX_PENDING_PAGES)
		append_to_new(index, metabuffer, row);
	else
		done = false;
	LockBuffer(metabuffer, BUFFER_LOCK_UNLOCK);
	return done;
}

/* Flushing */

/* Add the rows of the closed pages to a batch. */
static void
collect_rows(Relation index, const IndexMeta *meta, Batch *batch)
{
	PageStore	store = {.index = index};
	char	   *page = palloc(BLCKSZ);

	for (uint64 place = meta->pending_first; place < meta->pending_closed;
		 place++)
	{
		page_require(&store, meta->pending[place % MAX_PENDING_PAGES],
					 PENDING_OWNER(place), page);
		for (int i = 0; i < pending_count((Page) page); i++)
		{
			const PendingHead *head = pending_head((Page) page, i);
			const PendingRow *pending = pending_row(index, (Page) page, head);
			IndexedRow	row = {
				.order = pending->order,.size = head->size,
				.nkeys = pending->nkeys,.keys = pending->keys,
				.tid = pending->tid,.spec = head->spec
			};

			batch_add(batch, &row);
		}
	}
	pfree(page);
}

/*
 * Make a segment of the pending rows, and of `extra` unless it is NULL.
 * Returns its weight.  The caller holds the merge lock.
 */
static uint64
flush(Relation index, const IndexedRow *extra)
{
	PageStore	store = {.index = index};
	Buffer		buffer;
	GenericXLogState *xlog;
	IndexMeta  *meta;
	SegmentInfo segment = {0};
	Batch	   *batch;
	uint64		segment_id;
	uint64		weight = 0;

	segments_make_room(index);
	meta = meta_begin_change(index, &buffer, &xlog);
	segment_id = meta->next_segment_id++;
	meta->pending_closed = meta->pending_end;
	meta_finish_change(buffer, xlog);
	meta = meta_read(index);
	Assert(segment_id < meta->next_segment_id &&
		   meta->pending_first <= meta->pending_closed);
	batch = batch_create();
	collect_rows(index, meta, batch);
	if (extra != NULL)
		batch_add(batch, extra);
	if (batch->nrows > 0)
	{
		segment = batch_write(batch, &store, segment_id);
		weight = segment_weight(&segment);
	}
	segments_replace(index, NULL, 0, &segment, meta->pending_closed);
	batch_free(batch);
	pfree(meta);
	return weight;
}

/* Return the number of pages in the ring. */
static uint64
pages_in_use(Relation index)
{
	IndexMeta  *meta = meta_read(index);
	uint64		used;

	used = meta->pending_end - meta->pending_first;
	pfree(meta);
	return used;
}

void
pending_flush(Relation index, uint64 least)
{
	if (pages_in_use(index) >= least)
		(void) flush(index, NULL);
}

/*
 * Flush the pending pages if they are many.  Unless the ring is full, do
 * nothing while another process is merging.
 */
static void
relieve(Relation index, bool full)
{
	if (full)
		merge_lock(index);
	else if (!ConditionalLockPage(index, META_BLOCK, ExclusiveLock))
		return;
	if (pages_in_use(index) >= FLUSH_PAGES)
		segments_merge_some(index, flush(index, NULL));
	merge_unlock(index);
}

void
pending_insert(Relation index, const IndexedRow *row)
{
	Buffer		metabuffer;
	uint64		used = 0;
	bool		done;

	Assert(ItemPointerIsValid(&row->tid));
	if (PENDING_BYTES(row->nkeys) > PAGE_ROOM)
	{
		/* It fits on no page: flush it together with the pending rows. */
		merge_lock(index);
		segments_merge_some(index, flush(index, row));
		merge_unlock(index);
		return;
	}
	metabuffer = ReadBuffer(index, META_BLOCK);
	LockBuffer(metabuffer, BUFFER_LOCK_SHARE);
	done = append_to_last(index, meta_of(index, BufferGetPage(metabuffer)),
						  row);
	LockBuffer(metabuffer, BUFFER_LOCK_UNLOCK);
	while (!done)
	{
		done = insert_exclusive(index, metabuffer, row, &used);
		if (!done)
			relieve(index, true);
	}
	ReleaseBuffer(metabuffer);
	if (used >= FLUSH_PAGES)
		relieve(index, false);
}
