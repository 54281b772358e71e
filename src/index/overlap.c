/*
 * overlap.c
 *		How many of the keys of a query the rows of a segment have.
 *
 * Lists are runs of rows.  Where few were read, their beginnings and their
 * ends are sorted, and one walk through both tells how many runs each row is
 * in.  Where many were, or keys have shares, the same is told by an array of
 * differences, so that memory is bounded by the number of rows.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "utils/memutils.h"

#include "base/memory.h"
#include "index/codec.h"
#include "index/directory.h"
#include "index/overlap.h"

/* The array of differences is used from one run in so many rows, and some. */
#define DENSE				100
#define MIN_DENSE			1024

/* Lists */

static void
damaged(Overlaps *overlaps, BlockNumber block)
{
	index_corrupt(overlaps->store.index, block, "A list cannot be read.");
}

/*
 * What follows the entry at `at`, from its head on; NULL if it is none.  Here, most
 * of the time of a look-up is spent.
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
 * How many restarts have no greater key; they stand before end_restart, the
 * first one last.  Keys are spread evenly, so it is near where it would be
 * then, and few lines of the processor's cache are touched.
 */
static inline int
first_restart_after(const Restart *end_restart, int n, uint32 key)
{
	uint32		first;
	uint32		last;
	int			at;

	if (n == 0 || key < (first = end_restart[-1].key))
		return 0;
	last = end_restart[-n].key;
	if (key >= last)
		return n;
	at = (uint64) (key - first) * (n - 1) / (last - first);
	while (at > 0 && end_restart[-1 - at].key > key)
		at--;
	while (at < n && end_restart[-1 - at].key <= key)
		at++;
	return at;
}

/*
 * The head of the list of a key on a page, and its place; NULL if it is not
 * there.
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
	int			lo = first_restart_after(end_restart, n, key);
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

/* Sees to it that runs go to the array. */
static void
make_dense(Overlaps *overlaps)
{
	if (overlaps->change == NULL)
		overlaps->change =
			palloc_extended(((Size) overlaps->segment->nrows + 1) * sizeof(uint32),
							MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
}

/* Reads the runs of an entry; false if they are damaged. */
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

/* Takes the runs of a list, or more of them, to the array if that is used. */
static void
take_runs(Overlaps *overlaps, uint32 share)
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

/* Looks a key up; reads its list if it is short, else notes where it is. */
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
			take_runs(overlaps, share);
		}
		else
		{
			LongList   *late = &overlaps->late[overlaps->nlate++];

			late->bytes = (uint64) head.nbytes + head.rest;
			late->block = block;
			late->share = share;
			late->offset = at - (uint8 *) page;
		}
	}
	UnlockReleaseBuffer(buffer);
	return true;
}

/* Reads a long list, which may go on on further pages. */
static bool
read_late(Overlaps *overlaps, const LongList *late)
{
	BlockNumber block = late->block;
	uint32		offset = late->offset;
	ListHead	head;

	do
	{
		Buffer		buffer;
		Page		page;

		CHECK_FOR_INTERRUPTS();
		buffer = page_lock(overlaps->store.index, block);
		page = BufferGetPage(buffer);
		if (!page_is_of(page, overlaps->segment->owner))
		{
			UnlockReleaseBuffer(buffer);
			return false;
		}
		if (posting_head((uint8 *) page + offset,
					  (uint8 *) page + ((PageHeader) page)->pd_lower,
					  &head) == NULL ||
			!read_runs(overlaps, &head))
			damaged(overlaps, block);
		take_runs(overlaps, late->share);
		block = PAGE_TAIL(page)->next;
		UnlockReleaseBuffer(buffer);
		offset = MAXALIGN(SizeOfPageHeaderData);
	} while (head.form == LIST_CHUNK);
	return true;
}

static int
compare_bytes(const void *a, const void *b)
{
	uint64		x = ((const LongList *) a)->bytes;
	uint64		y = ((const LongList *) b)->bytes;

	return (x > y) - (x < y);
}

bool
overlaps_read_late(Overlaps *overlaps, uint32 unread, uint64 most)
{
	uint64		optional = 0;
	uint32		i;

	qsort(overlaps->late, overlaps->nlate, sizeof(LongList), compare_bytes);
	for (i = 0; i < overlaps->nlate; i++)
	{
		if (overlaps->nlate - i <= unread)
		{
			optional += overlaps->late[i].bytes;
			if (optional > most)
				break;
		}
		if (!read_late(overlaps, &overlaps->late[i]))
			return false;
	}
	overlaps->nlate -= i;
	memmove(overlaps->late, overlaps->late + i,
			overlaps->nlate * sizeof(LongList));
	return true;
}

bool
overlaps_look_up(Overlaps *overlaps, uint32 unread)
{
	while (overlaps->next < overlaps->nkeys && overlaps_unread(overlaps) > unread)
	{
		uint32		i = overlaps->next++;

		if (directory_expects_none(&overlaps->path))
			directory_expect(&overlaps->path, overlaps->keys + i,
							 Min(overlaps->nkeys - i,
								 overlaps_unread(overlaps) + 1 - unread));
		if (!look_up(overlaps, overlaps->keys[i],
					 overlaps->shares == NULL ? 1 : overlaps->shares[i]))
			return false;
	}
	return true;
}

void
overlaps_open(Overlaps *overlaps, Relation index, const SegmentInfo *segment,
			  KeptSegment *kept, const uint32 *keys, const uint32 *shares, uint32 nkeys)
{
	memset(overlaps, 0, sizeof(Overlaps));
	overlaps->store.index = index;
	overlaps->segment = segment;
	overlaps->keys = keys;
	overlaps->shares = shares;
	if (shares != NULL)
		make_dense(overlaps);
	/* a segment without lists has none of them: nothing is left unread */
	overlaps->nkeys =
		segment->postings.root == InvalidBlockNumber ? 0 : nkeys;
	overlaps->late = palloc_extended(Max(nkeys, 1) * sizeof(LongList),
									 MCXT_ALLOC_HUGE);
	directory_open(&overlaps->path, &overlaps->store, segment->owner,
				   segment->postings, kept != NULL ? &kept->postings : NULL);
}

void
overlaps_close(Overlaps *overlaps)
{
	directory_close(&overlaps->path);
	pfree(overlaps->late);
	if (overlaps->runs.first != NULL)
	{
		pfree(overlaps->runs.first);
		pfree(overlaps->runs.end);
	}
	if (overlaps->change != NULL)
		pfree(overlaps->change);
}

/* Sweeps */

/* Merges two rising lists. */
static void
merge_two(const uint32 *a, size_t na, const uint32 *b, size_t nb, uint32 *to)
{
	const uint32 *end_a = a + na;
	const uint32 *end_b = b + nb;

	while (a < end_a && b < end_b)
	{
		uint32		x = *a;
		uint32		y = *b;

		*to++ = x <= y ? x : y;
		a += x <= y;
		b += x > y;
	}
	memcpy(to, a, (end_a - a) * sizeof(uint32));
	memcpy(to + (end_a - a), b, (end_b - b) * sizeof(uint32));
}

/* Where the rising parts begin of which a list consists; returns how many. */
static size_t
rising_parts(const uint32 *list, size_t n, size_t *begins)
{
	size_t		parts = n > 0;

	begins[0] = 0;
	for (size_t i = 1; i < n; i++)
	{
		begins[parts] = i;
		parts += list[i] < list[i - 1];
	}
	begins[parts] = n;
	return parts;
}

/*
 * Sorts what consists of rising parts, by merging two of them at a time.  There is
 * room for as many in space, and one more in begins.
 */
static void
sort_parts(uint32 *list, size_t n, uint32 *space, size_t *begins)
{
	uint32	   *from = list;
	size_t		parts = rising_parts(list, n, begins);

	while (parts > 1)
	{
		uint32	   *swap = from;
		size_t		done = 0;

		CHECK_FOR_INTERRUPTS();
		for (size_t i = 0; i < parts; i += 2)
		{
			size_t		begin = begins[i];
			size_t		middle = begins[i + 1];
			size_t		end = i + 2 <= parts ? begins[i + 2] : middle;

			merge_two(from + begin, middle - begin, from + middle, end - middle,
					  space + begin);
			begins[done++] = begin;
		}
		begins[done] = n;
		parts = done;
		from = space;
		space = swap;
	}
	if (from != list)
		memcpy(list, from, n * sizeof(uint32));
}

/* Both ends of the runs, each rising: as many have begun, and ended. */
static void
sort_runs(Runs *runs)
{
	uint32	   *space = palloc_extended(Max(runs->n, 1) * sizeof(uint32),
										MCXT_ALLOC_HUGE);
	size_t	   *begins = palloc_extended((runs->n + 2) * sizeof(size_t),
										 MCXT_ALLOC_HUGE);

	sort_parts(runs->first, runs->n, space, begins);
	sort_parts(runs->end, runs->n, space, begins);
	pfree(space);
	pfree(begins);
}

typedef struct Stretches
{
	Stretch    *list;
	size_t		n;
	size_t		size;
	bool		all;			/* those without a key, too */
} Stretches;

static inline void
add_stretch(Stretches *stretches, uint32 first, uint32 end, uint32 count)
{
	Stretch    *stretch;

	if (first == end || (count == 0 && !stretches->all))
		return;
	if (unlikely(stretches->n == stretches->size))
		stretches->list = growing_reserve(stretches->list, &stretches->size,
										  stretches->n + 1, sizeof(Stretch));
	stretch = &stretches->list[stretches->n++];
	stretch->first = first;
	stretch->end = end;
	stretch->count = count;
}

static void
sweep_sparse(Runs *runs, uint32 nrows, Stretches *stretches)
{
	size_t		i = 0;
	size_t		j = 0;
	uint32		at = 0;
	uint32		count = 0;

	sort_runs(runs);
	while (j < runs->n)
	{
		uint32		next = runs->end[j];

		if (i < runs->n)
			next = Min(next, runs->first[i]);
		add_stretch(stretches, at, next, count);
		at = next;
		for (; i < runs->n && runs->first[i] == at; i++)
			count++;
		for (; j < runs->n && runs->end[j] == at; j++)
			count--;
	}
	add_stretch(stretches, at, nrows, 0);
}

static void
sweep_dense(const uint32 *change, uint32 nrows, Stretches *stretches)
{
	uint32		at = 0;
	uint32		count = 0;

	for (uint32 row = 0; row < nrows; row++)
	{
		if (change[row] == 0)
			continue;
		add_stretch(stretches, at, row, count);
		at = row;
		count += change[row];
	}
	add_stretch(stretches, at, nrows, count);
}

Stretch *
overlaps_count(Overlaps *overlaps, bool all, size_t *n)
{
	uint32		nrows = overlaps->segment->nrows;
	Stretches	stretches = {palloc(64 * sizeof(Stretch)), 0, 64, all};

	CHECK_FOR_INTERRUPTS();
	if (overlaps->change == NULL)
		sweep_sparse(&overlaps->runs, nrows, &stretches);
	else
	{
		take_runs(overlaps, 1);
		sweep_dense(overlaps->change, nrows, &stretches);
	}
	*n = stretches.n;
	return stretches.list;
}
