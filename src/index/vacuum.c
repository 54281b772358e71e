/*
 * vacuum.c
 *		VACUUM of an index of access method neardup.
 *
 * Rows to be deleted were in the index before VACUUM began.  So after a first
 * flush they are in a segment, or in one into which it was merged.  Segments
 * are read under the merge lock, some pages at a time: if an insertion waits
 * for longer than deadlock_timeout, the server cancels an autovacuum.  A
 * segment that is merged meanwhile is read again, as a part of its successor.
 */
#include "postgres.h"

#include "access/generic_xlog.h"
#include "commands/vacuum.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "storage/indexfsm.h"
#include "storage/lmgr.h"

#include "index/access.h"
#include "index/segments.h"

/* State of the deletion of rows */
typedef struct Deletion
{
	Relation	index;
	PageStore	store;
	IndexBulkDeleteCallback callback;
	void	   *state;
	IndexBulkDeleteResult *stats;
	uint64		watched;		/* id of the segment being read */
	int			merge;			/* slot of its merge, or -1 */
} Deletion;

/*
 * Number of pages of a segment, or of blocks, read while the merge lock is
 * held
 */
#define PAGES_AT_ONCE		128
#define BLOCKS_AT_ONCE		4096

/* Return the number of rows on a page. */
static inline uint32
rows_on(const char *page)
{
	return page_contents_size(page) / sizeof(ForwardEntry);
}

/*
 * Mark rows of a page as dead.  While the merge lock is held, no other process
 * changes the page.
 */
static void
mark_page(Deletion *deletion, BlockNumber block, const bool *dead)
{
	Buffer		buffer = ReadBuffer(deletion->index, block);
	GenericXLogState *state;
	char	   *page;
	ForwardEntry *rows;

	LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
	state = GenericXLogStart(deletion->index);
	page = GenericXLogRegisterBuffer(state, buffer, 0);
	rows = (ForwardEntry *) PageGetContents(page);
	for (uint32 i = 0; i < rows_on(page); i++)
		if (dead[i])
			rows[i].spec = SPEC_DEAD;
	GenericXLogFinish(state);
	UnlockReleaseBuffer(buffer);
}

/*
 * Delete rows of a page, of which `page` is a copy.  Adds the number of its
 * dead rows to *gone.  Returns the number of rows deleted now.
 */
static uint32
delete_on_page(Deletion *deletion, BlockNumber block, char *page, uint32 *gone)
{
	ForwardEntry *rows = (ForwardEntry *) PageGetContents(page);
	bool		dead[FORWARD_PER_PAGE] = {false};
	uint32		n = 0;

	for (uint32 i = 0; i < rows_on(page); i++)
	{
		tid_require(deletion->index, block, &rows[i].tid);
		dead[i] = rows[i].spec != SPEC_DEAD &&
			deletion->callback(&rows[i].tid, deletion->state);
		n += dead[i];
		*gone += dead[i] || rows[i].spec == SPEC_DEAD;
	}
	if (n > 0)
		mark_page(deletion, block, dead);
	return n;
}

/*
 * Set the number of dead rows of a segment, which includes rows that an
 * interrupted VACUUM has marked.
 */
static void
count_dead(Relation index, uint64 segment_id, uint32 ndead)
{
	Buffer		buffer;
	GenericXLogState *xlog;
	SegmentInfo *segment =
	meta_segment(meta_begin_change(index, &buffer, &xlog), segment_id);

	Assert(segment != NULL && ndead <= segment->nrows);
	segment->ndead = ndead;
	meta_finish_change(buffer, xlog);
}

/*
 * Release the merge lock for a moment.  False if the segment was merged
 * meanwhile.
 */
static bool
yield_lock(Deletion *deletion)
{
	IndexMeta  *meta;
	SegmentInfo *segment;
	bool		there;

	merge_unlock(deletion->index);
	compat_vacuum_delay_point(false);
	merge_lock(deletion->index);
	meta = meta_read(deletion->index);
	segment = meta_segment(meta, deletion->watched);
	there = segment != NULL && SEGMENT_MERGE(segment) == deletion->merge;
	pfree(meta);
	return there;
}

/*
 * Delete rows of a segment, and set *gone to the number of its dead rows.
 * False if it was merged meanwhile.
 */
static bool
delete_in_segment(Deletion *deletion, const SegmentInfo *segment, uint32 *gone)
{
	char	   *page = palloc(BLCKSZ);
	BlockNumber block = segment->first;
	uint32		seen = 0;
	bool		there = true;

	*gone = 0;
	for (uint32 i = 1; there && seen < segment->nrows; i++)
	{
		block = chain_find(&deletion->store, block, segment->segment_id,
						   PAGE_FORWARD, page);
		if (!BlockNumberIsValid(block))
			index_corrupt(deletion->index, segment->first,
						  "Rows are missing.");
		deletion->stats->tuples_removed += delete_on_page(deletion, block,
														  page, gone);
		seen += rows_on(page);
		Assert(*gone <= seen);
		block = PAGE_TAIL(page)->next;
		if (i % PAGES_AT_ONCE == 0)
			there = yield_lock(deletion);
	}
	pfree(page);
	return there;
}

/*
 * Delete rows of a segment, and record in the metapage how many are dead.
 * False if it was merged meanwhile.
 */
static bool
delete_and_count(Deletion *deletion, const SegmentInfo *segment)
{
	uint32		gone;

	deletion->watched = segment->segment_id;
	deletion->merge = SEGMENT_MERGE(segment);
	if (!delete_in_segment(deletion, segment, &gone))
		return false;
	if (gone != segment->ndead)
		count_dead(deletion->index, segment->segment_id, gone);
	return true;
}

/*
 * Delete rows of all segments of a merge, and then the copies that the merge
 * has made of rows.  Adds the segments to done[], unless the merge ended
 * meanwhile.
 */
static void
delete_in_merge(Deletion *deletion, const IndexMeta *meta, int number,
				uint64 *done, uint32 *ndone)
{
	SegmentInfo *segments = palloc(MAX_SEGMENTS * sizeof(SegmentInfo));
	uint32		n = merge_segments(meta, number, segments);
	MergeState *state = palloc(sizeof(MergeState));
	IndexMeta  *now;
	bool		whole = true;
	double		removed;
	uint32		gone;

	for (uint32 i = 0; i < n && whole; i++)
		whole = delete_and_count(deletion, &segments[i]);
	now = meta_read(deletion->index);
	removed = deletion->stats->tuples_removed;
	if (whole && merge_state(deletion->index, now, number, state))
	{
		whole = delete_in_segment(deletion, &state->writer.info, &gone);
		if (whole)
			merge_count_dead(deletion->index, now, number, gone);
	}
	/* copies of deleted rows are not counted again */
	deletion->stats->tuples_removed = removed;
	for (uint32 i = 0; i < n && whole; i++)
		done[(*ndone)++] = segments[i].segment_id;
	pfree(now);
	pfree(state);
	pfree(segments);
}

/*
 * Delete rows of a segment that is old enough and not in done[].  False if
 * there is no such segment.  done[] has room for MAX_SEGMENTS more.
 */
static bool
delete_in_next(Deletion *deletion, uint64 before, uint64 *done, uint32 *ndone)
{
	IndexMeta  *meta;
	const SegmentInfo *next = NULL;

	merge_lock(deletion->index);
	meta = meta_read(deletion->index);
	for (uint32 i = 0; i < meta->nsegments && next == NULL; i++)
	{
		bool		known = meta->segments[i].oldest >= before;

		for (uint32 k = 0; k < *ndone; k++)
			known = known || done[k] == meta->segments[i].segment_id;
		if (!known)
			next = &meta->segments[i];
	}
	if (next != NULL && SEGMENT_MERGE(next) >= 0)
		delete_in_merge(deletion, meta, SEGMENT_MERGE(next), done, ndone);
	else if (next != NULL && delete_and_count(deletion, next))
		done[(*ndone)++] = next->segment_id;
	merge_unlock(deletion->index);
	pfree(meta);
	return next != NULL;
}

/* Make a segment of the pending rows.  Returns the id of the next segment. */
static uint64
flush_all(Relation index)
{
	IndexMeta  *meta;
	uint64		next_segment_id;

	merge_lock(index);
	pending_flush(index, 1);
	meta = meta_read(index);
	merge_unlock(index);
	next_segment_id = meta->next_segment_id;
	pfree(meta);
	return next_segment_id;
}

IndexBulkDeleteResult *
am_bulk_delete(IndexVacuumInfo *info, IndexBulkDeleteResult *stats,
			   IndexBulkDeleteCallback callback, void *state)
{
	Deletion	deletion = {
		.index = info->index,
		.store = {.index = info->index},
		.callback = callback,
		.state = state
	};
	uint32		ndone = 0;
	uint32		size = 256;
	uint64	   *done = palloc(size * sizeof(uint64));
	uint64		before = flush_all(info->index);

	if (stats == NULL)
		stats = palloc0(sizeof(IndexBulkDeleteResult));
	deletion.stats = stats;
	while (delete_in_next(&deletion, before, done, &ndone))
	{
		compat_vacuum_delay_point(false);
		if (ndone + MAX_SEGMENTS > size)
			done = repalloc(done, (size *= 2) * sizeof(uint64));
	}
	pfree(done);
	return stats;
}

/* Record free blocks, from `block` to `end` - 1. */
static void
find_free_some(Relation index, const IndexMeta *meta, BlockNumber block,
			   BlockNumber end, IndexBulkDeleteResult *stats)
{
	for (; block < end; block++)
	{
		Buffer		buffer = ReadBuffer(index, block);
		bool		free;

		CHECK_FOR_INTERRUPTS();
		LockBuffer(buffer, BUFFER_LOCK_SHARE);
		free = page_is_free(BufferGetPage(buffer), meta);
		UnlockReleaseBuffer(buffer);
		if (free)
		{
			RecordFreeIndexPage(index, block);
			stats->pages_free++;
		}
	}
}

/*
 * Record all free blocks.  The merge lock protects new pages, which look free.
 */
static void
find_free_blocks(Relation index, IndexBulkDeleteResult *stats)
{
	BlockNumber nblocks = RelationGetNumberOfBlocks(index);
	IndexMeta  *meta = palloc(sizeof(IndexMeta));

	stats->num_pages = nblocks;
	stats->pages_free = 0;
	for (BlockNumber block = META_BLOCK + 1; block < nblocks;
		 block += BLOCKS_AT_ONCE)
	{
		compat_vacuum_delay_point(false);
		merge_lock(index);
		meta_copy(index, meta);
		find_free_some(index, meta, block,
					   block + Min(nblocks - block, BLOCKS_AT_ONCE), stats);
		merge_unlock(index);
	}
	pfree(meta);
	IndexFreeSpaceMapVacuum(index);
}

/*
 * Do steps until no merge is left.  Insertions may begin further merges
 * meanwhile, so stop when all segments could have been merged twice.
 */
static void
finish_steps(Relation index)
{
	IndexMeta  *meta = meta_read(index);
	uint64		most = merge_step_postings;
	uint64		weight = 0;
	uint64		steps;
	bool		left = true;

	for (uint32 i = 0; i < meta->nsegments; i++)
		weight += segment_weight(&meta->segments[i]);
	pfree(meta);
	steps = 2 * weight / most + 100;
	while (left && steps-- > 0)
	{
		compat_vacuum_delay_point(false);
		merge_lock(index);
		pending_flush(index, FLUSH_PAGES);
		left = merge_run_smallest_step(index, most);
		merge_unlock(index);
	}
}

IndexBulkDeleteResult *
am_cleanup(IndexVacuumInfo *info, IndexBulkDeleteResult *stats)
{
	IndexMeta  *meta;

	if (info->analyze_only)
		return stats;
	if (stats == NULL)
		stats = palloc0(sizeof(IndexBulkDeleteResult));
	(void) flush_all(info->index);
	finish_steps(info->index);
	merge_lock(info->index);
	segments_merge_all(info->index);
	merge_unlock(info->index);
	finish_steps(info->index);
	find_free_blocks(info->index, stats);
	meta = meta_read(info->index);
	stats->num_index_tuples = 0;
	for (uint32 i = 0; i < meta->nsegments; i++)
		stats->num_index_tuples += meta->segments[i].nrows -
			meta->segments[i].ndead;
	stats->estimated_count = false;
	pfree(meta);
	return stats;
}
