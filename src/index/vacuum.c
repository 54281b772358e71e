/*
 * vacuum.c
 *		VACUUM of an index of access method neardup.
 *
 * Rows to be deleted have been in the index since before VACUUM began.  So
 * they are in a segment after a first flush, and in whatever that is merged
 * into.  Segments are gone through under the merge lock, some pages at a time: in between
 * others are let at the index, as insertions that wait for longer than deadlock_timeout
 * would have the server cancel an autovacuum.  A segment that is merged meanwhile is gone
 * through anew, as part of what it is merged into.
 */
#include "postgres.h"

#include "access/generic_xlog.h"
#include "commands/vacuum.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "storage/indexfsm.h"
#include "storage/lmgr.h"

#include "index/access.h"
#include "index/pending.h"
#include "index/segments.h"
#include "index/steps.h"

typedef struct Deletion
{
	Relation	index;
	PageStore	store;
	IndexBulkDeleteCallback callback;
	void	   *state;
	IndexBulkDeleteResult *stats;
	uint64		watched;		/* segment that is gone through, or one of its merge: */
	int			merge;			/* that number, or -1 */
} Deletion;

/* So many pages of a segment are gone through before others are let at the index. */
#define PAGES_AT_ONCE		128

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
	return row->spec != SPEC_DEAD &&
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
			rows[i].spec = SPEC_DEAD;
	GenericXLogFinish(state);
	UnlockReleaseBuffer(buffer);
}

/*
 * Goes through a copy of a page; returns how many of its rows are to go.  *gone
 * rises by these, and by those that are gone already.
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
		dead[i] = is_deleted(deletion, &rows[i]);
		n += dead[i];
		*gone += dead[i] || rows[i].spec == SPEC_DEAD;
	}
	if (n > 0)
		mark_page(deletion, block, dead);
	return n;
}

/*
 * Tells the metapage how many rows of a segment are dead, with those that a VACUUM
 * has marked which did not come to its end.
 */
static void
count_dead(Relation index, uint64 owner, uint32 ndead)
{
	Buffer		metabuffer = ReadBuffer(index, META_BLOCK);
	GenericXLogState *state;

	LockBuffer(metabuffer, BUFFER_LOCK_EXCLUSIVE);
	state = GenericXLogStart(index);
	meta_segment(META_OF(GenericXLogRegisterBuffer(state, metabuffer, 0)),
				 owner)->ndead = ndead;
	GenericXLogFinish(state);
	UnlockReleaseBuffer(metabuffer);
}

/* True if there still is a segment of that owner, in that merge or in none. */
static bool
is_there(Relation index, uint64 owner, int merge)
{
	IndexMeta *meta = palloc(sizeof(IndexMeta));
	bool		there = false;

	meta_copy(index, meta);
	for (uint32 i = 0; i < meta->nsegments && !there; i++)
		there = meta->segments[i].owner == owner &&
			SEGMENT_MERGE(&meta->segments[i]) == merge;
	pfree(meta);
	return there;
}

/* Lets others at the index, who may merge the segment: then it is false. */
static bool
give_way(Deletion *deletion)
{
	merge_unlock(deletion->index);
	vacuum_delay_point_compat(false);
	merge_lock(deletion->index);
	return is_there(deletion->index, deletion->watched, deletion->merge);
}

/* Marks a segment's rows; *gone is how many are gone in all.  False if it was merged meanwhile. */
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
		page_require(&deletion->store, block, segment->owner, page);
		if (PAGE_TAIL(page)->kind != PAGE_FORWARD)
			index_corrupt(deletion->index, block, "Rows are missing.");
		deletion->stats->tuples_removed += delete_on_page(deletion, block, page, gone);
		seen += rows_on(page);
		block = PAGE_TAIL(page)->next;
		if (i % PAGES_AT_ONCE == 0)
			there = give_way(deletion);
	}
	pfree(page);
	return there;
}

/* Also tells the metapage. */
static bool
delete_and_count(Deletion *deletion, const SegmentInfo *segment)
{
	uint32		gone;

	deletion->watched = segment->owner;
	deletion->merge = SEGMENT_MERGE(segment);
	if (!delete_in_segment(deletion, segment, &gone))
		return false;
	if (gone != segment->ndead)
		count_dead(deletion->index, segment->owner, gone);
	return true;
}

/*
 * All segments of a merge, and then the rows that it has copied already: others will
 * be copied as they are then.  Adds the segments to those done, unless the merge came to its
 * end meanwhile.
 */
static void
delete_in_merge(Deletion *deletion, const IndexMeta *meta, int number,
				uint64 *done, uint32 *ndone)
{
	SegmentInfo *segments = palloc(MAX_SEGMENTS * sizeof(SegmentInfo));
	uint32		n = steps_segments(meta, number, segments);
	MergeState *state = palloc(sizeof(MergeState));
	IndexMeta *now = palloc(sizeof(IndexMeta));
	bool		whole = true;
	double		removed;
	uint32		gone;

	for (uint32 i = 0; i < n && whole; i++)
		whole = delete_and_count(deletion, &segments[i]);
	meta_copy(deletion->index, now);
	removed = deletion->stats->tuples_removed;
	if (whole && steps_state(deletion->index, now, number, state))
	{
		whole = delete_in_segment(deletion, &state->writer.info, &gone);
		if (whole)
			steps_count_dead(deletion->index, now, number, gone);
	}
	/* rows that were copied have been counted where they were copied from */
	deletion->stats->tuples_removed = removed;
	for (uint32 i = 0; i < n && whole; i++)
		done[(*ndone)++] = segments[i].owner;
	pfree(now);
	pfree(state);
	pfree(segments);
}

/*
 * One segment that is old enough and not among those done, which have room for
 * MAX_SEGMENTS more; false if none is.
 */
static bool
delete_in_next(Deletion *deletion, uint64 before, uint64 *done, uint32 *ndone)
{
	IndexMeta *meta = palloc(sizeof(IndexMeta));
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
	if (next != NULL && SEGMENT_MERGE(next) >= 0)
		delete_in_merge(deletion, meta, SEGMENT_MERGE(next), done, ndone);
	else if (next != NULL && delete_and_count(deletion, next))
		done[(*ndone)++] = next->owner;
	merge_unlock(deletion->index);
	pfree(meta);
	return next != NULL;
}

/* Makes a segment of the pending rows; later ones have numbers from that on. */
static uint64
flush_all(Relation index)
{
	IndexMeta *meta = palloc(sizeof(IndexMeta));
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
		vacuum_delay_point_compat(false);
		if (ndone + MAX_SEGMENTS > size)
			done = repalloc(done, (size *= 2) * sizeof(uint64));
	}
	pfree(done);
	return stats;
}

/* So many blocks are looked at before others are let at the index. */
#define BLOCKS_AT_ONCE		4096

/* Notes the blocks from `block` to before `end` that nothing owns. */
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
 * The same of all blocks.  A new page is not yet anybody's, so the merge lock is
 * held; but not all the time.
 */
static void
find_free_blocks(Relation index, IndexBulkDeleteResult *stats)
{
	BlockNumber nblocks = RelationGetNumberOfBlocks(index);
	IndexMeta *meta = palloc(sizeof(IndexMeta));

	stats->num_pages = nblocks;
	stats->pages_free = 0;
	for (BlockNumber block = META_BLOCK + 1; block < nblocks;
		 block += BLOCKS_AT_ONCE)
	{
		vacuum_delay_point_compat(false);
		merge_lock(index);
		meta_copy(index, meta);
		find_free_some(index, meta, block,
					   block + Min(nblocks - block, BLOCKS_AT_ONCE), stats);
		merge_unlock(index);
	}
	pfree(meta);
	IndexFreeSpaceMapVacuum(index);
}

/* How much there is in all segments. */
static uint64
weight_of_all(Relation index)
{
	IndexMeta *meta = palloc(sizeof(IndexMeta));
	uint64		weight = 0;

	meta_copy(index, meta);
	for (uint32 i = 0; i < meta->nsegments; i++)
		weight += segment_weight(&meta->segments[i]);
	pfree(meta);
	return weight;
}

/*
 * Steps until no merge is left.  Insertions go on between them.  As they may begin
 * others all the time, it is enough when all could have been merged twice.
 */
static void
finish_steps(Relation index)
{
	uint64		most = merge_step_postings;
	uint64		steps = 2 * weight_of_all(index) / most + 100;
	bool		left = true;

	while (left && steps-- > 0)
	{
		vacuum_delay_point_compat(false);
		merge_lock(index);
		pending_relieve(index);
		left = steps_do(index, most);
		merge_unlock(index);
	}
}

/* Merges what is worth it. */
static void
merge_all(Relation index)
{
	finish_steps(index);
	merge_lock(index);
	segments_merge_all(index);
	merge_unlock(index);
	finish_steps(index);
}

IndexBulkDeleteResult *
am_cleanup(IndexVacuumInfo *info, IndexBulkDeleteResult *stats)
{
	IndexMeta *meta;

	if (info->analyze_only)
		return stats;
	if (stats == NULL)
		stats = palloc0(sizeof(IndexBulkDeleteResult));
	(void) flush_all(info->index);
	merge_all(info->index);
	find_free_blocks(info->index, stats);
	meta = palloc(sizeof(IndexMeta));
	meta_copy(info->index, meta);
	stats->num_index_tuples = 0;
	for (uint32 i = 0; i < meta->nsegments; i++)
		stats->num_index_tuples += meta->segments[i].nrows -
			meta->segments[i].ndead;
	stats->estimated_count = false;
	pfree(meta);
	return stats;
}
