/*
 * segments.c
 *		Keeps the list of segments in the metapage, and decides which are
 *		merged, and when.
 *
 * Insertions merge four segments of about the same size, so that a row is
 * copied about as often as its index has quadrupled.  Small segments are
 * merged at once.  Large ones are merged incrementally, a step with each
 * flush, which handles at most as many postings as a small merge.  As a step
 * merges sixteen times the flushed postings, all merges end before the next
 * ones are due.  VACUUM does the rest.
 *
 * An incremental merge first copies rows, then merges lists.  Then the new
 * segment takes the place of the old ones, whose pages become free at last.  A
 * step writes pages that no search reads, and at its end the state.  If it is
 * aborted, the next step repeats it, into the same pages.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "storage/bufmgr.h"
#include "storage/indexfsm.h"

#include "base/settings.h"
#include "index/segment_writer.h"
#include "index/segments.h"

/*
 * Segments of less weight are in the lowest tier.  Each further tier spans a
 * factor of TIER_FACTOR.
 */
#define MIN_TIER			65536
#define TIER_FACTOR			4

/*
 * A step merges STEP_TIMES the flushed postings, but at least 1 / MIN_STEP of
 * the maximum.
 */
#define STEP_TIMES			16
#define MIN_STEP			8

/* A segment is rewritten when one row in DEAD_SHARE is dead. */
#define DEAD_SHARE			5

/* Cost of freeing a page, in postings */
#define POSTINGS_PER_PAGE	128

int			merge_step_postings = 2000000;

/* The list */

/* Reserve n ids for segments.  Returns the first. */
static uint64
allocate_segment_ids(Relation index, int n)
{
	Buffer		buffer;
	GenericXLogState *xlog;
	IndexMeta  *meta = meta_begin_change(index, &buffer, &xlog);
	uint64		segment_id = meta->next_segment_id;

	meta->next_segment_id += n;
	meta_finish_change(buffer, xlog);
	return segment_id;
}

/* Remove segments from the metapage. */
static void
remove_segments(IndexMeta *meta, const SegmentInfo *old, uint32 n)
{
	for (uint32 i = 0; i < n; i++)
	{
		SegmentInfo *segment = meta_segment(meta, old[i].segment_id);

		if (segment == NULL)
			elog(ERROR, "segment %llu vanished",
				 (unsigned long long) old[i].segment_id);
		*segment = meta->segments[--meta->nsegments];
	}
}

/* Add a segment to the metapage, unless it has no rows. */
static void
add_segment(IndexMeta *meta, const SegmentInfo *segment)
{
	if (segment->nrows == 0)
		return;
	Assert(meta->nsegments < MAX_SEGMENTS &&
		   segment->segment_id < meta->next_segment_id);
	Assert(meta_segment(meta, segment->segment_id) == NULL);
	meta->segments[meta->nsegments++] = *segment;
}

/* Free at most `most` pages of a former segment.  Returns how many. */
static uint64
free_some_pages(PageStore *store, OldChain *old, uint64 most)
{
	PGAlignedBlock page;
	uint64		done = 0;

	for (; done < most && BlockNumberIsValid(old->block); done++)
	{
		CHECK_FOR_INTERRUPTS();
		if (!page_copy(store, old->block, old->owner, page.data))
		{
			old->block = InvalidBlockNumber;	/* freed by VACUUM */
			break;
		}
		RecordFreeIndexPage(store->index, old->block);
		old->block = PAGE_TAIL(page.data)->next;
	}
	return done;
}

void
segments_replace(Relation index, const SegmentInfo *old, uint32 n,
				 const SegmentInfo *segment, uint64 pending_first)
{
	PageStore	store = {.index = index};
	Buffer		buffer;
	GenericXLogState *xlog;
	IndexMeta  *meta = meta_begin_change(index, &buffer, &xlog);

	remove_segments(meta, old, n);
	add_segment(meta, segment);

	/*
	 * lets searches that read the metapage before notice that pages are gone
	 */
	if (n > 0)
		meta->next_segment_id++;
	meta->pending_first = Max(meta->pending_first, pending_first);
	meta_finish_change(buffer, xlog);
	for (uint32 i = 0; i < n; i++)
	{
		OldChain	chain = {old[i].segment_id, old[i].first};

		(void) free_some_pages(&store, &chain, PG_UINT64_MAX);
	}
	if (n > 0)
		IndexFreeSpaceMapVacuum(index);
}

/* The state of an incremental merge */

/* Make a page with the state of a merge. */
static void
put_state(char *page, const MergeState *state)
{
	page_init(page, PAGE_MERGE, MERGE_OWNER(state->writer.info.segment_id));
	memcpy(PageGetContents(page), state, sizeof(MergeState));
	((PageHeader) page)->pd_lower += sizeof(MergeState);
}

/* Write the state of a merge to its block. */
static void
write_state(Relation index, BlockNumber block, const MergeState *state)
{
	PageStore	store = {.index = index};
	PGAlignedBlock page;

	put_state(page.data, state);
	page_write(&store, block, page.data);
}

bool
merge_state(Relation index, const IndexMeta *meta, int number,
			MergeState *state)
{
	const MergeSlot *slot = &meta->merges[number];
	PageStore	store = {.index = index};
	PGAlignedBlock page;

	if (slot->segment_id == 0)
		return false;
	page_require(&store, slot->block, MERGE_OWNER(slot->segment_id),
				 page.data);
	memcpy(state, PageGetContents(page.data), sizeof(MergeState));
	if (PAGE_TAIL(page.data)->kind != PAGE_MERGE ||
		state->writer.info.segment_id != slot->segment_id)
		index_corrupt(index, slot->block, "It is not the state of a merge.");
	return true;
}

/* Compare two segments by their ids. */
static int
compare_segment_ids(const void *a, const void *b)
{
	uint64		x = ((const SegmentInfo *) a)->segment_id;
	uint64		y = ((const SegmentInfo *) b)->segment_id;

	return (x > y) - (x < y);
}

uint32
merge_segments(const IndexMeta *meta, int number, SegmentInfo *segments)
{
	uint32		n = 0;

	for (uint32 i = 0; i < meta->nsegments; i++)
		if (SEGMENT_MERGE(&meta->segments[i]) == number)
			segments[n++] = meta->segments[i];
	qsort(segments, n, sizeof(SegmentInfo), compare_segment_ids);
	return n;
}

void
merge_count_dead(Relation index, const IndexMeta *meta, int number,
				 uint32 ndead)
{
	MergeState *state = palloc(sizeof(MergeState));

	if (merge_state(index, meta, number, state) &&
		state->writer.info.ndead != ndead)
	{
		state->writer.info.ndead = ndead;
		write_state(index, meta->merges[number].block, state);
	}
	pfree(state);
}

/* Beginning */

/* Begin a merge in steps, unless the number of merges is at its limit. */
static void
merge_begin(Relation index, const SegmentInfo *segments, uint32 n)
{
	PageStore	store = {.index = index};
	MergeState *state;
	int			number = 0;
	uint64		segment_id;
	BlockNumber block;
	Buffer		buffer;
	GenericXLogState *xlog;
	IndexMeta  *meta = meta_read(index);

	Assert(n > 0 && n <= MAX_SEGMENTS);
	while (number < MAX_MERGES && meta->merges[number].segment_id != 0)
		number++;
	pfree(meta);
	if (number == MAX_MERGES)
		return;
	state = palloc(sizeof(MergeState));
	segment_id = allocate_segment_ids(index, 2);
	block = page_allocate(&store, MERGE_OWNER(segment_id));
	merge_create(&store, segment_id, segments, n, state);
	write_state(index, block, state);
	meta = meta_begin_change(index, &buffer, &xlog);
	Assert(meta->merges[number].segment_id == 0);
	meta->merges[number].segment_id = segment_id;
	meta->merges[number].block = block;
	for (uint32 i = 0; i < n; i++)
	{
		SegmentInfo *segment = meta_segment(meta, segments[i].segment_id);

		Assert(segment != NULL && segment->merge == 0);
		segment->merge = number + 1;
	}
	meta_finish_change(buffer, xlog);
	pfree(state);
}

/* Ending */

/*
 * Replace the old segments by the new one, and list the old ones so that their
 * pages become free, in one change.  A skipped id lets searches notice.
 */
static void
install_segment(Relation index, int number, const SegmentInfo *segments,
				uint32 n,
				const SegmentInfo *segment, MergeState *state)
{
	Buffer		buffer;
	Buffer		statebuffer;
	GenericXLogState *xlog;
	IndexMeta  *meta = meta_begin_change(index, &buffer, &xlog);

	Assert(meta->merges[number].segment_id == segment->segment_id);
	remove_segments(meta, segments, n);
	add_segment(meta, segment);
	meta->next_segment_id++;
	statebuffer = ReadBuffer(index, meta->merges[number].block);
	LockBuffer(statebuffer, BUFFER_LOCK_EXCLUSIVE);
	state->phase = MERGE_RELEASE;
	put_state(GenericXLogRegisterBuffer(xlog, statebuffer,
										GENERIC_XLOG_FULL_IMAGE), state);
	meta_finish_change(buffer, xlog);
	UnlockReleaseBuffer(statebuffer);
}

/*
 * Write the end of the new segment, and put it in the place of the old ones.
 */
static void
merge_install_output(Relation index, int number, const SegmentInfo *segments,
					 uint32 n,
					 MergeState *state)
{
	PageStore	store = {.index = index};
	SegmentInfo segment =
	writer_end_segment(writer_begin_step(&store, &state->writer));

	for (uint32 i = 0; i < n; i++)
	{
		state->old[i].owner = segments[i].segment_id;
		state->old[i].block = segments[i].first;
	}
	pause_at(PAUSE_INSTALL);
	install_segment(index, number, segments, n, &segment, state);
}

/* Remove a merge from the metapage.  Pages that only it used become free. */
static void
merge_remove_slot(Relation index, int number, BlockNumber block,
				  const MergeState *state)
{
	PageStore	store = {.index = index};
	OldChain	row_map = {MERGE_OWNER(state->writer.info.segment_id),
	state->row_map.first};
	Buffer		buffer;
	GenericXLogState *xlog;
	IndexMeta  *meta = meta_begin_change(index, &buffer, &xlog);

	memset(&meta->merges[number], 0, sizeof(MergeSlot));
	meta_finish_change(buffer, xlog);
	(void) free_some_pages(&store, &row_map, PG_UINT64_MAX);
	RecordFreeIndexPage(index, block);
}

/*
 * Free at most `most` pages of the old segments.  Ends the merge when none is
 * left.
 */
static void
merge_free_inputs(Relation index, int number, BlockNumber block,
				  MergeState *state,
				  uint64 most)
{
	PageStore	store = {.index = index};
	uint64		done = 0;
	bool		left = false;

	for (uint32 i = 0; i < state->ninputs; i++)
	{
		done += free_some_pages(&store, &state->old[i],
								most - Min(done, most));
		left |= BlockNumberIsValid(state->old[i].block);
	}
	if (left)
		write_state(index, block, state);
	else
		merge_remove_slot(index, number, block, state);
	IndexFreeSpaceMapVacuum(index);
}

/* Steps */

/* Do the next step of a merge, of about `most` postings. */
static void
merge_run_step(Relation index, const IndexMeta *meta, int number, uint64 most)
{
	PageStore	store = {.index = index};
	BlockNumber block = meta->merges[number].block;
	MergeState *state = palloc(sizeof(MergeState));
	SegmentInfo *segments = palloc(MAX_SEGMENTS * sizeof(SegmentInfo));
	uint32		n = merge_segments(meta, number, segments);

	(void) merge_state(index, meta, number, state);
	Assert(meta->merges[number].segment_id == state->writer.info.segment_id);
	if (state->phase != MERGE_RELEASE && n != state->ninputs)
		index_corrupt(index, block, "Segments of a merge are missing.");
	if (state->phase == MERGE_RELEASE)
		merge_free_inputs(index, number, block, state,
						  Max(most / POSTINGS_PER_PAGE, 1));
	else if (state->phase == MERGE_FINISH)
		merge_install_output(index, number, segments, n, state);
	else
	{
		merge_write_step(&store, segments, n, state, most);
		write_state(index, block, state);
	}
	pfree(segments);
	pfree(state);
}

/*
 * Return the tier of a segment.  All segments of a tier are of about the same
 * size.
 */
static int
tier(const SegmentInfo *segment)
{
	uint64		weight = segment_weight(segment);
	int			result = 0;

	for (; weight >= MIN_TIER; weight /= TIER_FACTOR)
		result++;
	return result;
}

/*
 * Return the merge with the fewest postings, or MAX_MERGES if there is none.
 * Among merges of the same magnitude, the oldest comes first.
 */
static int
smallest_merge(const IndexMeta *meta)
{
	uint64		postings[MAX_MERGES] = {0};
	int			least = MAX_MERGES;

	for (uint32 i = 0; i < meta->nsegments; i++)
	{
		int			number = SEGMENT_MERGE(&meta->segments[i]);

		if (number >= MAX_MERGES)
			elog(ERROR, "segment %llu is in no merge",
				 (unsigned long long) meta->segments[i].segment_id);
		if (number >= 0)
			postings[number] += meta->segments[i].npostings;
	}
	for (int i = 0; i < MAX_MERGES; i++)
	{
		int			more = least == MAX_MERGES ? -1 :
		pg_leftmost_one_pos64(postings[i] | 1) -
		pg_leftmost_one_pos64(postings[least] | 1);

		if (meta->merges[i].segment_id != 0 &&
			(more < 0 ||
			 (more == 0 &&
			  meta->merges[i].segment_id < meta->merges[least].segment_id)))
			least = i;
	}
	return least;
}

bool
merge_run_smallest_step(Relation index, uint64 most_postings)
{
	IndexMeta  *meta = meta_read(index);
	int			number = smallest_merge(meta);

	if (number < MAX_MERGES)
		merge_run_step(index, meta, number, most_postings);
	pfree(meta);
	return number < MAX_MERGES;
}

/* Choosing segments to merge */

/* Compare two segments by their weights. */
static int
compare_weight(const void *a, const void *b)
{
	uint64		x = segment_weight((const SegmentInfo *) a);
	uint64		y = segment_weight((const SegmentInfo *) b);

	return (x > y) - (x < y);
}

void
segments_sort(IndexMeta *meta)
{
	qsort(meta->segments, meta->nsegments, sizeof(SegmentInfo),
		  compare_weight);
}

/*
 * Copy the metapage, with the segments that are in no merge, lightest first.
 */
static void
copy_sorted(Relation index, IndexMeta *meta)
{
	meta_copy(index, meta);
	for (uint32 i = meta->nsegments; i-- > 0;)
		if (SEGMENT_MERGE(&meta->segments[i]) >= 0)
			meta->segments[i] = meta->segments[--meta->nsegments];
	segments_sort(meta);
}

/* Merge segments at once, and replace them. */
static void
merge_at_once(Relation index, const SegmentInfo *segments, uint32 n)
{
	PageStore	store = {.index = index};
	SegmentInfo segment = segments_merge(&store, segments, n, &store,
										 allocate_segment_ids(index, 1));

	pause_at(PAUSE_REPLACE);
	segments_replace(index, segments, n, &segment, 0);
}

/* True if so many rows can be numbered, and fit into the memory of a step. */
static bool
rows_fit(uint64 nrows)
{
	return nrows < MERGE_DROPPED &&
		MERGE_STEP_MEMORY(nrows) <= (uint64) maintenance_work_mem * 1024;
}

/*
 * Return the number of sorted segments to merge at once: all up to the end of
 * the lowest tier that has four, or 0.
 */
static uint32
full_tier(const IndexMeta *meta, uint64 most_postings)
{
	uint64		postings = 0;
	uint64		rows = 0;
	uint32		begin = 0;

	for (uint32 i = 0; i < meta->nsegments; i++)
	{
		int			here = tier(&meta->segments[i]);

		postings += meta->segments[i].npostings;
		rows += meta->segments[i].nrows;
		if (tier(&meta->segments[begin]) != here)
			begin = i;
		if (i + 1 < meta->nsegments && tier(&meta->segments[i + 1]) == here)
			continue;
		/* rows without features have no postings */
		if (postings > most_postings || !rows_fit(rows))
			return 0;
		if (i + 1 - begin >= TIER_FACTOR)
			return i + 1;
	}
	return 0;
}

/*
 * Begin to merge four sorted segments of one tier, the lowest such tier.
 * Lighter segments stay, to be merged with later ones.
 */
static void
begin_large(Relation index, const IndexMeta *meta)
{
	uint64		rows = 0;
	uint32		begin = 0;

	for (uint32 i = 0; i < meta->nsegments; i++)
	{
		if (tier(&meta->segments[begin]) != tier(&meta->segments[i]))
		{
			begin = i;
			rows = 0;
		}
		rows += meta->segments[i].nrows;
		if (i + 1 - begin >= TIER_FACTOR && rows_fit(rows))
		{
			merge_begin(index, &meta->segments[begin], i + 1 - begin);
			return;
		}
	}
}

void
segments_merge_some(Relation index, uint64 added)
{
	uint64		most = merge_step_postings;
	IndexMeta  *meta = palloc(sizeof(IndexMeta));
	uint32		n;

	for (;;)
	{
		CHECK_FOR_INTERRUPTS();
		copy_sorted(index, meta);
		n = full_tier(meta, most);
		if (n == 0)
			break;
		merge_at_once(index, meta->segments, n);
	}
	begin_large(index, meta);
	(void) merge_run_smallest_step(index,
								   Min(Max(STEP_TIMES * added,
										   most / MIN_STEP), most));
	pfree(meta);
}

/* Merge segments at once if they have few postings, or begin to merge them. */
static void
merge_or_begin(Relation index, const SegmentInfo *segments, uint32 n)
{
	uint64		postings = 0;

	for (uint32 i = 0; i < n; i++)
		postings += segments[i].npostings;
	if (postings <= merge_step_postings)
		merge_at_once(index, segments, n);
	else
		merge_begin(index, segments, n);
}

/*
 * Steps are large enough that this is not needed, unless merges that do not
 * fit into memory leave many segments.  Then a few of the lightest are merged
 * anyway.
 */
void
segments_make_room(Relation index)
{
	IndexMeta  *meta = meta_read(index);

	while (meta->nsegments == MAX_SEGMENTS)
	{
		if (!merge_run_smallest_step(index, merge_step_postings))
		{
			copy_sorted(index, meta);
			merge_or_begin(index, meta->segments,
						   Min(meta->nsegments, TIER_FACTOR));
		}
		meta_copy(index, meta);
	}
	pfree(meta);
}

/* True if a segment has enough dead rows to be rewritten. */
static bool
many_dead(const SegmentInfo *segment)
{
	return segment->ndead > 0 &&
		(uint64) segment->ndead * DEAD_SHARE >= segment->nrows;
}

/* Return the number of sorted segments that VACUUM merges. */
static uint32
worth_merging(const IndexMeta *meta)
{
	uint64		lighter = 0;
	uint64		rows = 0;
	uint32		n = 0;

	for (uint32 i = 0; i < meta->nsegments; i++)
	{
		const SegmentInfo *segment = &meta->segments[i];

		rows += segment->nrows;
		if (!rows_fit(rows))
			break;
		if (i > 0 && segment_weight(segment) <= TIER_FACTOR * lighter)
			n = i + 1;
		lighter += segment_weight(segment);
	}
	return n;
}

void
segments_merge_all(Relation index)
{
	IndexMeta  *meta = palloc(sizeof(IndexMeta));
	uint32		n;

	copy_sorted(index, meta);
	n = worth_merging(meta);
	if (n > 0)
		merge_or_begin(index, meta->segments, n);
	copy_sorted(index, meta);
	for (uint32 i = 0; i < meta->nsegments; i++)
		if (many_dead(&meta->segments[i]))
			merge_or_begin(index, &meta->segments[i], 1);
	pfree(meta);
}
