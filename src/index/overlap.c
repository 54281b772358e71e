/*
 * overlap.c
 *		Counts, for each row of a segment, how many of a query's keys it has.
 *
 * Lists are runs of rows.  If runs are few, sort their starts and ends and
 * sweep once.  If they are many, or if keys have shares, use an array of
 * differences, whose size is bounded by the number of rows.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "utils/memutils.h"

#include "base/memory.h"
#include "index/directory.h"
#include "index/postings.h"
#include "index/index_search.h"

/*
 * The array is used from MIN_DENSE runs on, plus one run for each DENSE rows.
 */
#define DENSE				100
#define MIN_DENSE			1024

/* Number of keys whose pages are prefetched at once */
#define KEYS_AHEAD			16

/* Lists */

/* Raise INDEX_CORRUPTED for a list. */
static void
damaged(Overlaps *overlaps, BlockNumber block)
{
	index_corrupt(overlaps->store.index, block, "A list cannot be read.");
}

/*
 * Return the end of an entry, given its head, or NULL if it is damaged.
 * Look-ups spend most time here.
 */
static inline const uint8 *
skip_list(const uint8 *at, const uint8 *end)
{
	uint64		head;
	uint64		more;

	if (at >= end)
		return NULL;
	at = number_get_ahead(at, &head);
	if (at != NULL && (head & 3) != LIST_ROW && (head & 3) != LIST_BYTES)
		at = at < end ? number_get_ahead(at, &more) : NULL;
	if (at == NULL || at > end)
		return NULL;
	if ((head & 3) == LIST_ROW || (head & 3) == LIST_RUN)
		return at;
	return head >> 2 <= end - at ? at + (head >> 2) : NULL;
}

/*
 * Return the number of restarts whose key is not greater.  They stand before
 * `end`, the first one last.  Keys are spread evenly, so the search begins
 * where the key would then be.
 */
static inline int
restarts_before(const Restart *end, int n, uint32 key)
{
	uint32		first;
	uint32		last;
	int			at;

	if (n == 0 || key < (first = end[-1].key))
		return 0;
	last = end[-n].key;
	if (key >= last)
		return n;
	at = (uint64) (key - first) * (n - 1) / (last - first);
	while (at > 0 && end[-1 - at].key > key)
		at--;
	while (at < n && end[-1 - at].key <= key)
		at++;
	return at;
}

/*
 * Return the head of the list of a key on a page, or NULL if the page has no
 * such list.
 */
static const uint8 *
find_list(Overlaps *overlaps, BlockNumber block, const char *page, uint32 key)
{
	const Restart *end_restart = (const Restart *)
	PAGE_TAIL((Page) unconstify(char *, page));
	const uint8 *end = (const uint8 *) page + ((PageHeader) page)->pd_lower;
	const uint8 *at;
	int			n = end_restart -
	(const Restart *) (page + ((PageHeader) page)->pd_upper);
	int			lo = restarts_before(end_restart, n, key);
	uint32		here;

	if (lo == 0)
		return NULL;
	here = end_restart[-lo].key;
	at = (const uint8 *) page + end_restart[-lo].offset;
	for (int entry = 0; here != key; entry++)
	{
		uint64		delta;

		at = skip_list(at, end);
		if (at == NULL)
			damaged(overlaps, block);
		if (at == end || entry == RESTART_EVERY - 1)
			return NULL;
		at = number_get_ahead(at, &delta);
		if (at == NULL || at >= end)
			damaged(overlaps, block);
		here += delta;
		if (here > key)
			return NULL;
	}
	return at;
}

/* Create the array of differences. */
static void
make_dense(Overlaps *overlaps)
{
	if (overlaps->change == NULL)
		overlaps->change =
			palloc_extended(((Size) overlaps->segment->nrows +
							 1) * sizeof(uint32),
							MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
}

/*
 * Append the runs of an entry, and count its postings.  False if they are
 * damaged.
 */
static bool
read_runs(Overlaps *overlaps, const ListHead *head)
{
	Runs	   *runs = &overlaps->runs;
	size_t		before = runs->n;

	if (!posting_runs(head, overlaps->segment->nrows, runs))
		return false;
	for (size_t i = before; i < runs->n; i++)
		overlaps->npostings += runs->end[i] - runs->first[i];
	return true;
}

/*
 * If the runs are many, move them to the array of differences, where each
 * counts as `share`.
 */
static void
move_many_runs(Overlaps *overlaps, uint32 share)
{
	const Runs *runs = &overlaps->runs;

	if (overlaps->change == NULL)
	{
		if (runs->n < overlaps->segment->nrows / DENSE + MIN_DENSE)
			return;
		make_dense(overlaps);
	}
	for (size_t i = 0; i < runs->n; i++)
	{
		overlaps->change[runs->first[i]] += share;
		overlaps->change[runs->end[i]] -= share;
	}
	overlaps->runs.n = 0;
}

/*
 * Look up a key.  Read its list if it is short, else defer it.  False if the
 * segment is gone.
 */
static bool
look_up(Overlaps *overlaps, uint32 key, uint32 share)
{
	Buffer		buffer;
	BlockNumber block;
	char	   *page;
	const uint8 *at;

	if (!directory_lock(&overlaps->path, key, &buffer))
		return false;
	if (!BufferIsValid(buffer))
		return true;
	block = BufferGetBlockNumber(buffer);
	page = BufferGetPage(buffer);
	at = find_list(overlaps, block, page, key);
	if (at != NULL)
	{
		ListHead	head;

		if (posting_head(at, (uint8 *) page + ((PageHeader) page)->pd_lower,
						 &head) == NULL)
			damaged(overlaps, block);
		if (head.nbytes <= SHORT_BYTES && head.form != LIST_CHUNK)
		{
			if (!read_runs(overlaps, &head))
				damaged(overlaps, block);
			move_many_runs(overlaps, share);
		}
		else
		{
			DeferredList *deferred =
			&overlaps->deferred[overlaps->ndeferred++];

			Assert(overlaps->ndeferred <= overlaps->nkeys);
			deferred->bytes = (uint64) head.nbytes + head.rest;
			deferred->block = block;
			deferred->share = share;
			deferred->offset = at - (uint8 *) page;
		}
	}
	UnlockReleaseBuffer(buffer);
	return true;
}

/*
 * Read a deferred list, which may continue on further pages.  False if the
 * segment is gone.
 */
static bool
read_deferred(Overlaps *overlaps, const DeferredList *deferred)
{
	BlockNumber block = deferred->block;
	uint32		offset = deferred->offset;
	ListHead	head;

	do
	{
		Buffer		buffer;
		Page		page;

		CHECK_FOR_INTERRUPTS();
		buffer = page_lock(overlaps->store.index, block);
		page = BufferGetPage(buffer);
		if (!page_is_of(page, overlaps->segment->segment_id))
		{
			UnlockReleaseBuffer(buffer);
			return false;
		}
		if (posting_head((uint8 *) page + offset,
						 (uint8 *) page + ((PageHeader) page)->pd_lower,
						 &head) == NULL || !read_runs(overlaps, &head))
			damaged(overlaps, block);
		move_many_runs(overlaps, deferred->share);
		block = PAGE_TAIL(page)->next;
		UnlockReleaseBuffer(buffer);
		offset = MAXALIGN(SizeOfPageHeaderData);
	} while (head.form == LIST_CHUNK);
	return true;
}

/* Compare two deferred lists by their length. */
static int
compare_bytes(const void *a, const void *b)
{
	uint64		x = ((const DeferredList *) a)->bytes;
	uint64		y = ((const DeferredList *) b)->bytes;

	return (x > y) - (x < y);
}

bool
overlaps_read_deferred(Overlaps *overlaps, uint32 unread, uint64 most)
{
	uint64		optional = 0;
	uint32		i;

	qsort(overlaps->deferred, overlaps->ndeferred, sizeof(DeferredList),
		  compare_bytes);
	for (i = 0; i < overlaps->ndeferred; i++)
	{
		if (overlaps->ndeferred - i <= unread)
		{
			optional += overlaps->deferred[i].bytes;
			if (optional > most)
				break;
		}
		if (!read_deferred(overlaps, &overlaps->deferred[i]))
			return false;
	}
	overlaps->ndeferred -= i;
	memmove(overlaps->deferred, overlaps->deferred + i,
			overlaps->ndeferred * sizeof(DeferredList));
	return true;
}

bool
overlaps_look_up(Overlaps *overlaps, uint32 unread)
{
	uint32		ahead = overlaps->next;

	while (overlaps->next < overlaps->nkeys &&
		   overlaps_unread(overlaps) > unread)
	{
		uint32		i = overlaps->next++;

		Assert(i == 0 || overlaps->shares == NULL ||
			   overlaps->keys[i] > overlaps->keys[i - 1]);

		/*
		 * Prefetch no more pages than are needed: the processor waits for all
		 * of them.
		 */
		if (i == ahead)
			for (;
				 ahead < i +
				 Min(overlaps_unread(overlaps) + 1 - unread, KEYS_AHEAD) &&
				 ahead < overlaps->nkeys; ahead++)
				directory_prefetch(&overlaps->path, overlaps->keys[ahead]);
		if (!look_up(overlaps, overlaps->keys[i],
					 overlaps->shares == NULL ? 1 : overlaps->shares[i]))
			return false;
	}
	return true;
}

void
overlaps_open(Overlaps *overlaps, Relation index, const SegmentInfo *segment,
			  CachedSegment *cached, const uint32 *keys, const uint32 *shares,
			  uint32 nkeys)
{
	memset(overlaps, 0, sizeof(Overlaps));
	overlaps->store.index = index;
	overlaps->segment = segment;
	overlaps->keys = keys;
	overlaps->shares = shares;
	if (shares != NULL)
		make_dense(overlaps);
	/* a segment without lists has none of the keys */
	overlaps->nkeys = segment->postings.root == InvalidBlockNumber ? 0 : nkeys;
	overlaps->deferred = palloc_extended(Max(nkeys, 1) * sizeof(DeferredList),
										 MCXT_ALLOC_HUGE);
	directory_open(&overlaps->path, &overlaps->store, segment->segment_id,
				   segment->postings, &cached->postings);
}

void
overlaps_close(Overlaps *overlaps)
{
	directory_close(&overlaps->path);
	pfree(overlaps->deferred);
	runs_free(&overlaps->runs);
	if (overlaps->change != NULL)
		pfree(overlaps->change);
}

/* Sweeps */

/* The result of a sweep, so far */
typedef struct RowRanges
{
	RowRange   *list;
	size_t		n;
	size_t		size;
	bool		all;			/* include rows without a key */
} RowRanges;

/*
 * Append rows first ... end - 1, unless there are none, or they have no key
 * and are not wanted.
 */
static inline void
add_range(RowRanges *ranges, uint32 first, uint32 end, uint32 count)
{
	RowRange   *range;

	if (first == end || (count == 0 && !ranges->all))
		return;
	Assert(first < end &&
		   (ranges->n == 0 ||
			ranges->list[ranges->n - 1].end <= first));
	if (unlikely(ranges->n == ranges->size))
		ranges->list = growing_reserve(ranges->list, &ranges->size,
									   ranges->n + 1, sizeof(RowRange));
	range = &ranges->list[ranges->n++];
	range->first = first;
	range->end = end;
	range->count = count;
}

/* Find the ranges from few runs, which it sorts. */
static void
sweep_sparse(Runs *runs, uint32 nrows, RowRanges *ranges)
{
	size_t		i = 0;
	size_t		j = 0;
	uint32		at = 0;
	uint32		count = 0;
	uint32	   *space;

	/* Sort starts and ends separately: only how many there are matters. */
	space = palloc_extended((2 * runs->n + 2) * sizeof(uint32),
							MCXT_ALLOC_HUGE);
	sort_rising(runs->first, runs->n, space);
	sort_rising(runs->end, runs->n, space);
	pfree(space);
	while (j < runs->n)
	{
		uint32		next = runs->end[j];

		if (i < runs->n)
			next = Min(next, runs->first[i]);
		add_range(ranges, at, next, count);
		at = next;
		for (; i < runs->n && runs->first[i] == at; i++)
			count++;
		for (; j < runs->n && runs->end[j] == at; j++)
			count--;
	}
	Assert(i == runs->n && count == 0);
	add_range(ranges, at, nrows, 0);
}

/* Find the ranges from the array of differences. */
static void
sweep_dense(const uint32 *change, uint32 nrows, RowRanges *ranges)
{
	uint32		at = 0;
	uint32		count = 0;

	for (uint32 row = 0; row < nrows; row++)
	{
		if (change[row] == 0)
			continue;
		add_range(ranges, at, row, count);
		at = row;
		count += change[row];
	}
	add_range(ranges, at, nrows, count);
}

RowRange *
overlaps_count(Overlaps *overlaps, bool all, size_t *n)
{
	uint32		nrows = overlaps->segment->nrows;
	RowRanges	ranges = {palloc(64 * sizeof(RowRange)), 0, 64, all};

	CHECK_FOR_INTERRUPTS();
	if (overlaps->change == NULL)
		sweep_sparse(&overlaps->runs, nrows, &ranges);
	else
	{
		move_many_runs(overlaps, 1);
		sweep_dense(overlaps->change, nrows, &ranges);
	}
	*n = ranges.n;
	return ranges.list;
}
