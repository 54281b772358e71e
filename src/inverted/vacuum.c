/*
 * vacuum.c
 *		VACUUM of an index of access method neardup.
 *
 * Rows to be deleted have been in the index since before VACUUM began.  So
 * they are in a segment after a first flush, and in whatever that is merged
 * into.  Each segment is gone through under the merge lock, which is released
 * in between: insertions need not wait for long.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/inverted/vacuum.c
 */
#include "postgres.h"

#include "access/generic_xlog.h"
#include "commands/vacuum.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "storage/indexfsm.h"
#include "storage/lmgr.h"

#include "inverted/access.h"
#include "inverted/pending.h"
#include "inverted/segments.h"

typedef struct Deletion
{
	Relation	index;
	PageStore	store;
	IndexBulkDeleteCallback callback;
	void	   *state;
	IndexBulkDeleteResult *stats;
} Deletion;

static inline uint32
rows_on(const char *page)
{
	return (((PageHeader) page)->pd_lower - MAXALIGN(SizeOfPageHeaderData)) /
		sizeof(ForwardEntry);
}

/* True if the row is to go. */
static bool
is_deleted(Deletion *deletion, ForwardEntry *row)
{
	return row->making != MAKING_DEAD &&
		deletion->callback(&row->tid, deletion->state);
}

/* Marks those of `dead` on a page; nobody else changes it meanwhile. */
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
			rows[i].making = MAKING_DEAD;
	GenericXLogFinish(state);
	UnlockReleaseBuffer(buffer);
}

/* Goes through a copy of a page; returns how many of its rows are to go. */
static uint32
delete_on_page(Deletion *deletion, BlockNumber block, char *page)
{
	ForwardEntry *rows = (ForwardEntry *) PageGetContents(page);
	bool		dead[FORWARD_PER_PAGE] = {false};
	uint32		n = 0;

	for (uint32 i = 0; i < rows_on(page); i++)
	{
		dead[i] = is_deleted(deletion, &rows[i]);
		n += dead[i];
	}
	if (n > 0)
		mark_page(deletion, block, dead);
	return n;
}

static void
count_dead(Relation index, uint64 owner, uint32 more)
{
	Buffer		metabuffer = ReadBuffer(index, META_BLOCK);
	GenericXLogState *state;

	LockBuffer(metabuffer, BUFFER_LOCK_EXCLUSIVE);
	state = GenericXLogStart(index);
	meta_segment(META_OF(GenericXLogRegisterBuffer(state, metabuffer, 0)),
				 owner)->ndead += more;
	GenericXLogFinish(state);
	UnlockReleaseBuffer(metabuffer);
}

static void
delete_in_segment(Deletion *deletion, const SegmentInfo *segment)
{
	char	   *page = palloc(BLCKSZ);
	BlockNumber block = segment->first;
	uint32		seen = 0;
	uint32		n = 0;

	while (seen < segment->nrows)
	{
		page_require(&deletion->store, block, segment->owner, page);
		if (PAGE_TAIL(page)->kind != PAGE_FORWARD)
			inverted_corrupt(deletion->index, block, "Rows are missing.");
		n += delete_on_page(deletion, block, page);
		seen += rows_on(page);
		block = PAGE_TAIL(page)->next;
	}
	if (n > 0)
		count_dead(deletion->index, segment->owner, n);
	deletion->stats->tuples_removed += n;
	pfree(page);
}

/* One segment that is old enough and not among those done; false if none is. */
static bool
delete_in_next(Deletion *deletion, uint64 before, uint64 *done, uint32 *ndone)
{
	InvertedMeta *meta = palloc(sizeof(InvertedMeta));
	const SegmentInfo *next = NULL;

	merge_lock(deletion->index);
	meta_copy(deletion->index, meta);
	for (uint32 i = 0; i < meta->nsegments && next == NULL; i++)
	{
		bool		known = meta->segments[i].oldest >= before;

		for (uint32 k = 0; k < *ndone; k++)
			known = known || done[k] == meta->segments[i].owner;
		if (!known)
			next = &meta->segments[i];
	}
	if (next != NULL)
	{
		delete_in_segment(deletion, next);
		done[(*ndone)++] = next->owner;
	}
	merge_unlock(deletion->index);
	pfree(meta);
	return next != NULL;
}

/* Makes a segment of the pending rows; later ones have numbers from that on. */
static uint64
flush_all(Relation index)
{
	InvertedMeta *meta = palloc(sizeof(InvertedMeta));
	uint64		next_owner;

	merge_lock(index);
	pending_flush(index);
	meta_copy(index, meta);
	merge_unlock(index);
	next_owner = meta->next_owner;
	pfree(meta);
	return next_owner;
}

IndexBulkDeleteResult *
inverted_bulk_delete(IndexVacuumInfo *info, IndexBulkDeleteResult *stats,
					 IndexBulkDeleteCallback callback, void *state)
{
	Deletion	deletion = {info->index, {.index = info->index}, callback, state};
	uint32		ndone = 0;
	uint32		size = 256;
	uint64	   *done = palloc(size * sizeof(uint64));
	uint64		before = flush_all(info->index);

	if (stats == NULL)
		stats = palloc0(sizeof(IndexBulkDeleteResult));
	deletion.stats = stats;
	while (delete_in_next(&deletion, before, done, &ndone))
	{
		vacuum_delay_point_compat(false);
		if (ndone == size)
			done = repalloc(done, (size *= 2) * sizeof(uint64));
	}
	pfree(done);
	return stats;
}

/* Notes the blocks that nothing owns, under the merge lock. */
static void
find_free_blocks(Relation index, const InvertedMeta *meta,
				 IndexBulkDeleteResult *stats)
{
	BlockNumber nblocks = RelationGetNumberOfBlocks(index);

	stats->num_pages = nblocks;
	stats->pages_free = 0;
	for (BlockNumber block = META_BLOCK + 1; block < nblocks; block++)
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
	IndexFreeSpaceMapVacuum(index);
}

IndexBulkDeleteResult *
inverted_cleanup(IndexVacuumInfo *info, IndexBulkDeleteResult *stats)
{
	InvertedMeta *meta;

	if (info->analyze_only)
		return stats;
	if (stats == NULL)
		stats = palloc0(sizeof(IndexBulkDeleteResult));
	meta = palloc(sizeof(InvertedMeta));
	merge_lock(info->index);
	pending_flush(info->index);
	segments_merge_all(info->index);
	meta_copy(info->index, meta);
	find_free_blocks(info->index, meta, stats);
	merge_unlock(info->index);
	stats->num_index_tuples = 0;
	for (uint32 i = 0; i < meta->nsegments; i++)
		stats->num_index_tuples += meta->segments[i].nrows -
			meta->segments[i].ndead;
	stats->estimated_count = false;
	pfree(meta);
	return stats;
}
