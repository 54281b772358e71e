/*
 * segments.c
 *		The list of segments in the metapage: which are merged, and when.
 *
 * Insertions merge four segments of about the same size, so that a row is
 * copied about as often as its index has quadrupled.  Small ones are merged at
 * once.  Large ones are merged incrementally, a step with each flush, of at
 * most as many postings as a small merge has.  As a step merges sixteen times
 * the flushed postings, all merges end before the next ones are due.  VACUUM
 * does the rest.
 *
 * An incremental merge copies rows, then merges lists, then the new segment
 * takes the place of the old ones, and then the pages of these become free.  A
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

/* Segments of less weight are in one tier. */
#define MIN_TIER			65536
#define TIER_FACTOR			4

/*
 * A step merges STEP_TIMES the flushed postings, at least 1 / MIN_STEP of the
 * maximum.
 */
#define STEP_TIMES			16
#define MIN_STEP			8

/* A segment is rewritten when one row in DEAD_SHARE is dead. */
#define DEAD_SHARE			5

/* Cost of freeing a page, in postings */
#define POSTINGS_PER_PAGE	128

int			merge_step_postings = 2000000;

/* The list */

/* Reserve n numbers for segments; returns the first. */
static uint64
take_owners(Relation index, int n)
{
	Buffer		buffer;
	GenericXLogState *xlog;
	IndexMeta  *meta = meta_begin_change(index, &buffer, &xlog);
	uint64		owner = meta->next_owner;

	meta->next_owner += n;
	meta_finish_change(buffer, xlog);
	return owner;
}

static void
remove_segments(IndexMeta *meta, const SegmentInfo *old, uint32 n)
{
	for (uint32 i = 0; i < n; i++)
	{
		SegmentInfo *segment = meta_segment(meta, old[i].owner);

		if (segment == NULL)
			elog(ERROR, "segment %llu vanished",
				 (unsigned long long) old[i].owner);
		*segment = meta->segments[--meta->nsegments];
	}
}

static void
add_segment(IndexMeta *meta, const SegmentInfo *segment)
{
	if (segment->nrows == 0)
		return;
	Assert(meta->nsegments < MAX_SEGMENTS &&
		   segment->owner < meta->next_owner);
	Assert(meta_segment(meta, segment->owner) == NULL);
	meta->segments[meta->nsegments++] = *segment;
}

/* Free pages of a former segment; returns how many. */
static uint64
release_some(PageStore *store, OldChain *old, uint64 most)
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
	/* searches that have read the metapage notice that pages are gone */
	if (n > 0)
		meta->next_owner++;
	meta->pending_first = Max(meta->pending_first, pending_first);
	meta_finish_change(buffer, xlog);
	for (uint32 i = 0; i < n; i++)
	{
		OldChain	chain = {old[i].owner, old[i].first};

		(void) release_some(&store, &chain, PG_UINT64_MAX);
	}
	if (n > 0)
		IndexFreeSpaceMapVacuum(index);
}

/* The state of an incremental merge */

static void
put_state(char *page, const MergeState *state)
{
	page_init(page, PAGE_MERGE, MERGE_OWNER(state->writer.info.owner));
	memcpy(PageGetContents(page), state, sizeof(MergeState));
	((PageHeader) page)->pd_lower += sizeof(MergeState);
}

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

	if (slot->owner == 0)
		return false;
	page_require(&store, slot->block, MERGE_OWNER(slot->owner), page.data);
	memcpy(state, PageGetContents(page.data), sizeof(MergeState));
	if (PAGE_TAIL(page.data)->kind != PAGE_MERGE ||
		state->writer.info.owner != slot->owner)
		index_corrupt(index, slot->block, "It is not the state of a merge.");
	return true;
}

static int
compare_owner(const void *a, const void *b)
{
	uint64		x = ((const SegmentInfo *) a)->owner;
	uint64		y = ((const SegmentInfo *) b)->owner;

	return (x > y) - (x < y);
}

uint32
merge_segments(const IndexMeta *meta, int number, SegmentInfo *segments)
{
	uint32		n = 0;

	for (uint32 i = 0; i < meta->nsegments; i++)
		if (SEGMENT_MERGE(&meta->segments[i]) == number)
			segments[n++] = meta->segments[i];
	qsort(segments, n, sizeof(SegmentInfo), compare_owner);
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

/* Begin to merge segments, unless the number of merges is at its limit. */
static void
merge_begin(Relation index, const SegmentInfo *segments, uint32 n)
{
	PageStore	store = {.index = index};
	MergeState *state;
	int			number = 0;
	uint64		owner;
	BlockNumber block;
	Buffer		buffer;
	GenericXLogState *xlog;
	IndexMeta  *meta = meta_read(index);

	Assert(n > 0 && n <= MAX_SEGMENTS);
	while (number < MAX_MERGES && meta->merges[number].owner != 0)
		number++;
	pfree(meta);
	if (number == MAX_MERGES)
		return;
	state = palloc(sizeof(MergeState));
	owner = take_owners(index, 2);
	block = page_allocate(&store, MERGE_OWNER(owner));
	merge_create(&store, owner, segments, n, state);
	write_state(index, block, state);
	meta = meta_begin_change(index, &buffer, &xlog);
	Assert(meta->merges[number].owner == 0);
	meta->merges[number].owner = owner;
	meta->merges[number].block = block;
	for (uint32 i = 0; i < n; i++)
	{
		SegmentInfo *segment = meta_segment(meta, segments[i].owner);

		Assert(segment != NULL && segment->merge == 0);
		segment->merge = number + 1;
	}
	meta_finish_change(buffer, xlog);
	pfree(state);
}

/* Ending */

/*
 * Replace the old segments by the new one, and list the old ones for their
 * pages to become free, in one change.  A skipped number lets searches notice.
 */
static void
put_in_place(Relation index, int number, const SegmentInfo *segments, uint32 n,
			 const SegmentInfo *segment, MergeState *state)
{
	Buffer		buffer;
	Buffer		statebuffer;
	GenericXLogState *xlog;
	IndexMeta  *meta = meta_begin_change(index, &buffer, &xlog);

	Assert(meta->merges[number].owner == segment->owner);
	remove_segments(meta, segments, n);
	add_segment(meta, segment);
	meta->next_owner++;
	statebuffer = ReadBuffer(index, meta->merges[number].block);
	LockBuffer(statebuffer, BUFFER_LOCK_EXCLUSIVE);
	state->phase = MERGE_RELEASE;
	put_state(GenericXLogRegisterBuffer(xlog, statebuffer,
										GENERIC_XLOG_FULL_IMAGE), state);
	meta_finish_change(buffer, xlog);
	UnlockReleaseBuffer(statebuffer);
}

static void
finish(Relation index, int number, const SegmentInfo *segments, uint32 n,
	   MergeState *state)
{
	PageStore	store = {.index = index};
	SegmentInfo segment = segment_end(segment_resume(&store, &state->writer));

	for (uint32 i = 0; i < n; i++)
	{
		state->old[i].owner = segments[i].owner;
		state->old[i].block = segments[i].first;
	}
	pause_at(PAUSE_PUT_IN_PLACE);
	put_in_place(index, number, segments, n, &segment, state);
}

/* End the merge.  Pages that only it used become free. */
static void
end_merge(Relation index, int number, BlockNumber block,
		  const MergeState *state)
{
	PageStore	store = {.index = index};
	OldChain	row_map = {MERGE_OWNER(state->writer.info.owner),
	state->row_map.first};
	Buffer		buffer;
	GenericXLogState *xlog;
	IndexMeta  *meta = meta_begin_change(index, &buffer, &xlog);

	memset(&meta->merges[number], 0, sizeof(MergeSlot));
	meta_finish_change(buffer, xlog);
	(void) release_some(&store, &row_map, PG_UINT64_MAX);
	RecordFreeIndexPage(index, block);
}

static void
release(Relation index, int number, BlockNumber block, MergeState *state,
		uint64 most)
{
	PageStore	store = {.index = index};
	uint64		done = 0;
	bool		left = false;

	for (uint32 i = 0; i < state->ninputs; i++)
	{
		done += release_some(&store, &state->old[i], most - Min(done, most));
		left |= BlockNumberIsValid(state->old[i].block);
	}
	if (left)
		write_state(index, block, state);
	else
		end_merge(index, number, block, state);
	IndexFreeSpaceMapVacuum(index);
}

/* Steps */

static void
do_step(Relation index, const IndexMeta *meta, int number, uint64 most)
{
	PageStore	store = {.index = index};
	BlockNumber block = meta->merges[number].block;
	MergeState *state = palloc(sizeof(MergeState));
	SegmentInfo *segments = palloc(MAX_SEGMENTS * sizeof(SegmentInfo));
	uint32		n = merge_segments(meta, number, segments);

	(void) merge_state(index, meta, number, state);
	Assert(meta->merges[number].owner == state->writer.info.owner);
	if (state->phase != MERGE_RELEASE && n != state->ninputs)
		index_corrupt(index, block, "Segments of a merge are missing.");
	if (state->phase == MERGE_RELEASE)
		release(index, number, block, state, Max(most / POSTINGS_PER_PAGE, 1));
	else if (state->phase == MERGE_FINISH)
		finish(index, number, segments, n, state);
	else
	{
		merge_step(&store, segments, n, state, most);
		write_state(index, block, state);
	}
	pfree(segments);
	pfree(state);
}

/* Segments of one tier are of about the same size. */
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
 * The merge with the fewest postings; of the same magnitude the one that was
 * begun first; MAX_MERGES if there is none.
 */
static int
least_merge(const IndexMeta *meta)
{
	uint64		postings[MAX_MERGES] = {0};
	int			least = MAX_MERGES;

	for (uint32 i = 0; i < meta->nsegments; i++)
	{
		int			number = SEGMENT_MERGE(&meta->segments[i]);

		if (number >= MAX_MERGES)
			elog(ERROR, "segment %llu is in no merge",
				 (unsigned long long) meta->segments[i].owner);
		if (number >= 0)
			postings[number] += meta->segments[i].npostings;
	}
	for (int i = 0; i < MAX_MERGES; i++)
	{
		int			more = least == MAX_MERGES ? -1 :
		pg_leftmost_one_pos64(postings[i] | 1) -
		pg_leftmost_one_pos64(postings[least] | 1);

		if (meta->merges[i].owner != 0 &&
			(more < 0 ||
			 (more == 0 && meta->merges[i].owner < meta->merges[least].owner)))
			least = i;
	}
	return least;
}

bool
merge_do_step(Relation index, uint64 most_postings)
{
	IndexMeta  *meta = meta_read(index);
	int			number = least_merge(meta);

	if (number < MAX_MERGES)
		do_step(index, meta, number, most_postings);
	pfree(meta);
	return number < MAX_MERGES;
}

/* Choosing segments to merge */

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

static void
merge_at_once(Relation index, const SegmentInfo *segments, uint32 n)
{
	PageStore	store = {.index = index};
	SegmentInfo segment = segments_merge(&store, segments, n, &store,
										 take_owners(index, 1));

	pause_at(PAUSE_REPLACE);
	segments_replace(index, segments, n, &segment, 0);
}

/* True if that many rows can be numbered, and fit into memory in a step. */
static bool
rows_fit(uint64 nrows)
{
	return nrows < MERGE_DROPPED &&
		MERGE_STEP_MEMORY(nrows) <= (uint64) maintenance_work_mem * 1024;
}

/*
 * Number of sorted segments to merge at once: those up to the lowest tier that
 * has four; 0 for none.
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
 * Begin to merge four sorted segments of about the same size, the lightest
 * such ones.  Lighter segments stay, to be merged with later ones.
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
	(void) merge_do_step(index,
						 Min(Max(STEP_TIMES * added, most / MIN_STEP), most));
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
 * Steps are large enough for this not to be needed, but merges that do not fit
 * into memory may leave many segments.  Then a few of the lightest are merged
 * anyway.
 */
void
segments_make_room(Relation index)
{
	IndexMeta  *meta = meta_read(index);

	while (meta->nsegments == MAX_SEGMENTS)
	{
		if (!merge_do_step(index, merge_step_postings))
		{
			copy_sorted(index, meta);
			merge_or_begin(index, meta->segments,
						   Min(meta->nsegments, TIER_FACTOR));
		}
		meta_copy(index, meta);
	}
	pfree(meta);
}

static bool
many_dead(const SegmentInfo *segment)
{
	return segment->ndead > 0 &&
		(uint64) segment->ndead * DEAD_SHARE >= segment->nrows;
}

/* Number of sorted segments that VACUUM merges. */
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
