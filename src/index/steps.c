/*
 * steps.c
 *		Large merges, a step at a time.
 *
 * First rows are copied, then lists are merged, then the new segment takes the
 * place of the old ones, and then the pages of these become free.  A step writes
 * pages that nobody reads, and at its end the state.  If it is broken off, the
 * next one does the same once more, into the same pages.
 */
#include "postgres.h"

#include "access/generic_xlog.h"
#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "storage/bufmgr.h"
#include "storage/indexfsm.h"

#include "base/settings.h"
#include "index/merge.h"
#include "index/steps.h"

/* A page is made free in about the time of so many postings. */
#define POSTINGS_PER_PAGE	128

/* The metapage, locked, in a change that finish_change() ends. */
static IndexMeta *
begin_change(Relation index, Buffer *buffer, GenericXLogState **xlog)
{
	*buffer = ReadBuffer(index, META_BLOCK);
	LockBuffer(*buffer, BUFFER_LOCK_EXCLUSIVE);
	*xlog = GenericXLogStart(index);
	return META_OF(GenericXLogRegisterBuffer(*xlog, *buffer, 0));
}

static void
finish_change(Buffer buffer, GenericXLogState *xlog)
{
	GenericXLogFinish(xlog);
	UnlockReleaseBuffer(buffer);
}

/* The state */

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
steps_state(Relation index, const IndexMeta *meta, int number,
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
steps_segments(const IndexMeta *meta, int number, SegmentInfo *segments)
{
	uint32		n = 0;

	for (uint32 i = 0; i < meta->nsegments; i++)
		if (SEGMENT_MERGE(&meta->segments[i]) == number)
			segments[n++] = meta->segments[i];
	qsort(segments, n, sizeof(SegmentInfo), compare_owner);
	return n;
}

void
steps_count_dead(Relation index, const IndexMeta *meta, int number,
				 uint32 ndead)
{
	MergeState *state = palloc(sizeof(MergeState));

	if (steps_state(index, meta, number, state) &&
		state->writer.info.ndead != ndead)
	{
		state->writer.info.ndead = ndead;
		write_state(index, meta->merges[number].block, state);
	}
	pfree(state);
}

/* The beginning */

static uint64
take_owners(Relation index)
{
	Buffer		buffer;
	GenericXLogState *xlog;
	IndexMeta *meta = begin_change(index, &buffer, &xlog);
	uint64		owner = meta->next_owner;

	meta->next_owner = MERGE_OWNER(owner) + 1;
	finish_change(buffer, xlog);
	return owner;
}

static int
free_slot(Relation index)
{
	IndexMeta *meta = palloc(sizeof(IndexMeta));
	int			number = 0;

	meta_copy(index, meta);
	while (number < MAX_MERGES && meta->merges[number].owner != 0)
		number++;
	pfree(meta);
	return number;
}

/* Writes its first state; until the metapage tells of it, nothing has begun. */
static BlockNumber
create_state(Relation index, uint64 owner, const SegmentInfo *segments,
			 uint32 n)
{
	PageStore	store = {.index = index};
	MergeState *state = palloc0(sizeof(MergeState));
	BlockNumber block = page_allocate(&store, MERGE_OWNER(owner));

	state->phase = MERGE_ROWS;
	state->ninputs = n;
	segment_create(&store, owner, &state->writer);
	chain_create(&store, MERGE_OWNER(owner), &state->script);
	for (uint32 i = 0; i < n; i++)
		state->writer.info.oldest = Min(state->writer.info.oldest,
										segments[i].oldest);
	write_state(index, block, state);
	pfree(state);
	return block;
}

bool
steps_begin(Relation index, const SegmentInfo *segments, uint32 n)
{
	int			number = free_slot(index);
	uint64		owner;
	BlockNumber block;
	Buffer		buffer;
	GenericXLogState *xlog;
	IndexMeta *meta;

	if (number == MAX_MERGES)
		return false;
	owner = take_owners(index);
	block = create_state(index, owner, segments, n);
	meta = begin_change(index, &buffer, &xlog);
	meta->merges[number].owner = owner;
	meta->merges[number].block = block;
	for (uint32 i = 0; i < n; i++)
		meta_segment(meta, segments[i].owner)->merge = number + 1;
	finish_change(buffer, xlog);
	return true;
}

/* The end */

static void
remove_segments(IndexMeta *meta, int number)
{
	for (uint32 i = meta->nsegments; i-- > 0;)
		if (SEGMENT_MERGE(&meta->segments[i]) == number)
			meta->segments[i] = meta->segments[--meta->nsegments];
}

/*
 * Puts the new segment in the place of the old ones, and lists these for their pages to
 * become free: all in one.  The number that is passed over tells searches that
 * something changed.
 */
static void
put_in_place(Relation index, int number, const SegmentInfo *segment,
			 MergeState *state)
{
	Buffer		buffer;
	Buffer		statebuffer;
	GenericXLogState *xlog;
	IndexMeta *meta = begin_change(index, &buffer, &xlog);

	remove_segments(meta, number);
	if (segment->nrows > 0)
		meta->segments[meta->nsegments++] = *segment;
	meta->next_owner++;
	statebuffer = ReadBuffer(index, meta->merges[number].block);
	LockBuffer(statebuffer, BUFFER_LOCK_EXCLUSIVE);
	state->phase = MERGE_RELEASE;
	put_state(GenericXLogRegisterBuffer(xlog, statebuffer,
										GENERIC_XLOG_FULL_IMAGE), state);
	finish_change(buffer, xlog);
	UnlockReleaseBuffer(statebuffer);
}

static void
finish(Relation index, int number, const SegmentInfo *segments, uint32 n,
	   MergeState *state)
{
	PageStore	store = {.index = index};
	SegmentInfo segment = segment_finish(&store, &state->writer);

	for (uint32 i = 0; i < n; i++)
	{
		state->old[i].owner = segments[i].owner;
		state->old[i].block = segments[i].first;
	}
	pause_at(PAUSE_PUT_IN_PLACE);
	put_in_place(index, number, &segment, state);
}

/* Makes pages free that were a segment's; how many. */
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
			old->block = InvalidBlockNumber;	/* VACUUM has been there */
			break;
		}
		RecordFreeIndexPage(store->index, old->block);
		old->block = PAGE_TAIL(page.data)->next;
	}
	return done;
}

/* The merge is over.  What was its own becomes free with it. */
static void
end(Relation index, int number, BlockNumber block, const MergeState *state)
{
	PageStore	store = {.index = index};
	OldChain	script = {MERGE_OWNER(state->writer.info.owner), state->script.first};
	Buffer		buffer;
	GenericXLogState *xlog;
	IndexMeta *meta = begin_change(index, &buffer, &xlog);

	memset(&meta->merges[number], 0, sizeof(MergeSlot));
	finish_change(buffer, xlog);
	(void) release_some(&store, &script, PG_UINT64_MAX);
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
		end(index, number, block, state);
	IndexFreeSpaceMapVacuum(index);
}

/* Steps */

/* After the rows: how large the filter is to be is told by the keys to expect. */
static void
begin_lists(PageStore *store, const SegmentInfo *segments, uint32 n,
			MergeState *state)
{
	uint64		keys = merge_count_keys(store, segments, n);

	state->phase = keys > 0 ? MERGE_LISTS : MERGE_FINISH;
	if (keys > 0)
		segment_expect_keys(&state->writer, keys);
}

/* A step with rows or lists. */
static void
copy(Relation index, BlockNumber block, const SegmentInfo *segments, uint32 n,
	 MergeState *state, uint64 most)
{
	PageStore	store = {.index = index};

	if (state->phase == MERGE_ROWS)
	{
		if (merge_some_rows(&store, segments, n, state, most))
			begin_lists(&store, segments, n, state);
	}
	else if (merge_some_lists(&store, segments, n, state, most))
		state->phase = MERGE_FINISH;
	write_state(index, block, state);
}

static void
do_step(Relation index, const IndexMeta *meta, int number, uint64 most)
{
	BlockNumber block = meta->merges[number].block;
	MergeState *state = palloc(sizeof(MergeState));
	SegmentInfo *segments = palloc(MAX_SEGMENTS * sizeof(SegmentInfo));
	uint32		n = steps_segments(meta, number, segments);

	(void) steps_state(index, meta, number, state);
	if (state->phase != MERGE_RELEASE && n != state->ninputs)
		index_corrupt(index, block, "Segments of a merge are missing.");
	if (state->phase == MERGE_RELEASE)
		release(index, number, block, state, Max(most / POSTINGS_PER_PAGE, 1));
	else if (state->phase == MERGE_FINISH)
		finish(index, number, segments, n, state);
	else
		copy(index, block, segments, n, state, most);
	pfree(segments);
	pfree(state);
}

/* How many postings each merge has. */
static void
count_postings(const IndexMeta *meta, uint64 *postings)
{
	memset(postings, 0, MAX_MERGES * sizeof(uint64));
	for (uint32 i = 0; i < meta->nsegments; i++)
	{
		int			number = SEGMENT_MERGE(&meta->segments[i]);

		if (number >= MAX_MERGES)
			elog(ERROR, "segment %llu is in no merge",
				 (unsigned long long) meta->segments[i].owner);
		if (number >= 0)
			postings[number] += meta->segments[i].npostings;
	}
}

/* About as many come down to the same. */
static inline int
magnitude(uint64 postings)
{
	return pg_leftmost_one_pos64(postings | 1);
}

/*
 * The one with the fewest postings, of about the same size the one that was begun
 * first; or MAX_MERGES.
 */
static int
least_merge(const IndexMeta *meta)
{
	uint64		postings[MAX_MERGES];
	int			least = MAX_MERGES;

	count_postings(meta, postings);
	for (int i = 0; i < MAX_MERGES; i++)
	{
		int			more;

		if (meta->merges[i].owner == 0)
			continue;
		more = least == MAX_MERGES ? -1 :
			magnitude(postings[i]) - magnitude(postings[least]);
		if (more < 0 ||
			(more == 0 && meta->merges[i].owner < meta->merges[least].owner))
			least = i;
	}
	return least;
}

bool
steps_do(Relation index, uint64 most_postings)
{
	IndexMeta *meta = palloc(sizeof(IndexMeta));
	int			number;

	meta_copy(index, meta);
	number = least_merge(meta);
	if (number < MAX_MERGES)
		do_step(index, meta, number, most_postings);
	pfree(meta);
	return number < MAX_MERGES;
}
