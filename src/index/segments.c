/*
 * segments.c
 *		The list of segments in the metapage: which are merged, and when.
 *
 * Insertions merge four segments of about the same size, so that a row is
 * copied about as often as its index has quadrupled.  Small ones are merged at
 * once.  Large ones are merged in steps (steps.c), one with each flush, of as many
 * postings as a small merge has at the most.  As a step takes sixteen times of what was
 * flushed, all merges together are done before the next ones are due.  VACUUM does
 * what is left, in steps, too, and lets others at the index between them.
 */
#include "postgres.h"

#include "access/generic_xlog.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "storage/indexfsm.h"

#include "base/settings.h"
#include "index/merge.h"
#include "index/segments.h"
#include "index/steps.h"

/* Segments of a weight below that are all of about the same size. */
#define MIN_TIER			65536
#define TIER_FACTOR			4

/* A step takes so many times of what was flushed, but one in so many at the least. */
#define STEP_TIMES			16
#define MIN_STEP			8

/* One in so many rows is dead: the segment is rewritten. */
#define DEAD_SHARE			5

int			merge_step_postings = 2000000;

static int
tier_of(uint64 weight)
{
	int			result = 0;

	for (; weight >= MIN_TIER; weight /= TIER_FACTOR)
		result++;
	return result;
}

static int
tier(const SegmentInfo *segment)
{
	return tier_of(segment_weight(segment));
}

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
	qsort(meta->segments, meta->nsegments, sizeof(SegmentInfo), compare_weight);
}

/* The metapage's segments that are in no merge, lightest first. */
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

void
segments_replace(Relation index, const SegmentInfo *old, uint32 n,
				 const SegmentInfo *segment, uint64 pending_first)
{
	PageStore	store = {.index = index};
	Buffer		metabuffer = ReadBuffer(index, META_BLOCK);
	GenericXLogState *state;
	IndexMeta *meta;

	LockBuffer(metabuffer, BUFFER_LOCK_EXCLUSIVE);
	state = GenericXLogStart(index);
	meta = META_OF(GenericXLogRegisterBuffer(state, metabuffer, 0));
	remove_segments(meta, old, n);
	if (segment->nrows > 0)
		meta->segments[meta->nsegments++] = *segment;
	/* tells who has read the metapage since the owner was taken that pages went */
	if (n > 0)
		meta->next_owner++;
	meta->pending_first = Max(meta->pending_first, pending_first);
	GenericXLogFinish(state);
	UnlockReleaseBuffer(metabuffer);
	for (uint32 i = 0; i < n; i++)
		pages_release(&store, &old[i]);
	if (n > 0)
		IndexFreeSpaceMapVacuum(index);
}

static uint64
take_owner(Relation index)
{
	Buffer		metabuffer = ReadBuffer(index, META_BLOCK);
	GenericXLogState *state;
	uint64		owner;

	LockBuffer(metabuffer, BUFFER_LOCK_EXCLUSIVE);
	state = GenericXLogStart(index);
	owner = META_OF(GenericXLogRegisterBuffer(state, metabuffer, 0))->next_owner++;
	GenericXLogFinish(state);
	UnlockReleaseBuffer(metabuffer);
	return owner;
}

static void
merge(Relation index, const SegmentInfo *segments, uint32 n)
{
	PageStore	store = {.index = index};
	PageStore  *from[MAX_SEGMENTS];
	SegmentInfo segment;

	for (uint32 i = 0; i < n; i++)
		from[i] = &store;
	segment = segments_merge(from, segments, n, &store, take_owner(index));
	pause_at(PAUSE_REPLACE);
	segments_replace(index, segments, n, &segment, 0);
}

/* Whether so many rows can be numbered, and a step with them has room in memory. */
static bool
rows_fit(uint64 nrows)
{
	return nrows < MERGE_DROPPED && merge_steps_memory(nrows) <= (uint64) maintenance_work_mem * 1024;
}

/*
 * What the first n segments become may be the fourth of its tier, and so on:
 * then all are merged at once, so that nothing is written for a moment only.
 */
static uint32
filled_in_turn(const IndexMeta *meta, uint32 n, uint64 most_postings)
{
	uint64		merged = 0;
	uint64		postings = 0;
	uint64		rows = 0;
	uint32		end = 0;

	for (;;)
	{
		for (; end < n; end++)
		{
			merged += segment_weight(&meta->segments[end]);
			postings += meta->segments[end].npostings;
			rows += meta->segments[end].nrows;
		}
		for (; end < meta->nsegments && tier(&meta->segments[end]) <= tier_of(merged); end++)
		{
			postings += meta->segments[end].npostings;
			rows += meta->segments[end].nrows;
		}
		if (end - n + 1 < TIER_FACTOR || postings > most_postings || !rows_fit(rows))
			return n;
		for (; n < end; n++)
			merged += segment_weight(&meta->segments[n]);
	}
}

/*
 * How many of the segments, which are sorted, to merge: those up to the
 * lowest tier that has four; 0 for none.
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
			return filled_in_turn(meta, i + 1, most_postings);
	}
	return 0;
}

/*
 * Begins to merge the least of segments, which are sorted, of about the same
 * size of which there are four.  Lighter ones stay, to be merged with those to come.
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
			(void) steps_begin(index, &meta->segments[begin], i + 1 - begin);
			return;
		}
	}
}

void
segments_merge_some(Relation index, uint64 added)
{
	uint64		most = merge_step_postings;
	IndexMeta *meta = palloc(sizeof(IndexMeta));
	uint32		n;

	for (;;)
	{
		CHECK_FOR_INTERRUPTS();
		copy_sorted(index, meta);
		n = full_tier(meta, most);
		if (n == 0)
			break;
		merge(index, meta->segments, n);
	}
	begin_large(index, meta);
	(void) steps_do(index, Min(Max(STEP_TIMES * added, most / MIN_STEP), most));
	pfree(meta);
}

/* At once if there are few postings, or begins to. */
static void
merge_or_begin(Relation index, const SegmentInfo *segments, uint32 n)
{
	uint64		postings = 0;

	for (uint32 i = 0; i < n; i++)
		postings += segments[i].npostings;
	if (postings <= merge_step_postings)
		merge(index, segments, n);
	else
		(void) steps_begin(index, segments, n);
}

/* How many segments there are. */
static uint32
count_segments(Relation index)
{
	IndexMeta *meta = palloc(sizeof(IndexMeta));
	uint32		n;

	meta_copy(index, meta);
	n = meta->nsegments;
	pfree(meta);
	return n;
}

/*
 * Steps are made large enough for this not to happen; but many segments may be left
 * of merges that did not fit into memory.  Then a few of the lightest are merged nevertheless.
 */
void
segments_make_room(Relation index)
{
	IndexMeta *meta;

	while (count_segments(index) == MAX_SEGMENTS)
	{
		if (steps_do(index, merge_step_postings))
			continue;
		meta = palloc(sizeof(IndexMeta));
		copy_sorted(index, meta);
		merge_or_begin(index, meta->segments, Min(meta->nsegments, TIER_FACTOR));
		pfree(meta);
	}
}

static bool
many_dead(const SegmentInfo *segment)
{
	return segment->ndead > 0 &&
		(uint64) segment->ndead * DEAD_SHARE >= segment->nrows;
}

/* How many of the segments, which are sorted, VACUUM merges. */
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
	IndexMeta *meta = palloc(sizeof(IndexMeta));
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
