/*
 * search_segment.c
 *		The rows of a segment that may meet a query's condition.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "utils/float.h"

#include "index/counters.h"
#include "index/filter.h"
#include "index/overlap.h"
#include "index/index_search.h"
#include "methods/method.h"

/* So many rows with the greatest overlap are taken first. */
#define NEAR_ROWS			128
#define NEAR_COUNTS			1024

/*
 * So many further keys are looked up, and then twice as many, while there are
 * more than half as many rows that are hardly wanted, but may be: it costs less
 * to look at a few rows.
 */
#define MORE_KEYS			8

/* Bytes of long lists that are read although they could be left out. */
#define OPTIONAL_BYTES	512

/*
 * Where so many rows may be wanted, more of them are read: so many bytes for each row,
 * which costs as much to look at, and some of them to fetch.
 */
#define MANY_ROWS		1024
#define ROW_BYTES		8

/* So many rows of a page are taken at once, where sizes tell of others. */
#define ROWS_AT_ONCE		8

/* So few of them are told from others by their sizes first. */
#define LOOK_AT_ROWS		64

/* So many keys are looked up to find the query's own row. */
#define OWN_TRIED			3

static void
release_page(IndexSearch *search)
{
	if (BufferIsValid(search->buffer))
		ReleaseBuffer(search->buffer);
	search->buffer = InvalidBuffer;
}

/* Before the rows of a segment are looked at, and after. */
static void
open_rows(IndexSearch *search)
{
	search->buffer = InvalidBuffer;
	directory_open(&search->path, &search->store, search->segment->owner,
				   search->segment->forward, &search->kept->forward);
}

static void
close_rows(IndexSearch *search)
{
	release_page(search);
	directory_close(&search->path);
}

/* Pins and locks the page of a row; false if the segment is gone. */
static bool
lock_page(IndexSearch *search, uint32 row)
{
	const PageHeaderData *header;

	if (BufferIsValid(search->buffer) && row < search->page_end)
	{
		LockBuffer(search->buffer, BUFFER_LOCK_SHARE);
		return page_is_of(BufferGetPage(search->buffer), search->segment->owner);
	}
	release_page(search);
	CHECK_FOR_INTERRUPTS();
	if (!directory_lock(&search->path, row, &search->buffer) ||
		!BufferIsValid(search->buffer))
		return false;
	header = (PageHeader) BufferGetPage(search->buffer);
	search->page_first = row - row % FORWARD_PER_PAGE;
	search->page_end = search->page_first +
		(header->pd_lower - MAXALIGN(SizeOfPageHeaderData)) / sizeof(ForwardEntry);
	if (PAGE_TAIL((Page) header)->kind != PAGE_FORWARD || row >= search->page_end)
		index_corrupt(search->store.index,
						 BufferGetBlockNumber(search->buffer), "Rows are missing.");
	return true;
}

/* Rows of a stretch, all on the page at hand. */
static void
take_rows(IndexSearch *search, uint32 first, uint32 end, uint64 overlap)
{
	ForwardEntry *rows = (ForwardEntry *)
		PageGetContents(BufferGetPage(search->buffer));

	search->counters->candidates += end - first;
	for (uint32 row = first; row < end; row++)
	{
		ForwardEntry *entry = &rows[row - search->page_first];

		if (!search_take_other(search, &entry->tid, entry->spec))
			search_take(search, &entry->tid, entry->size, forward_order(entry),
					 overlap);
	}
}

/*
 * The first row of a stretch, from `row` on, that may be wanted by its size, as
 * far as sizes are kept.
 */
static inline uint32
next_by_size(const IndexSearch *search, uint32 row, uint32 end, uint64 overlap)
{
	const IndexQuery *query = search->query;
	const uint32 *sizes = search->kept->sizes;

	if (sizes == NULL || search->every_row || !query->filter ||
		query->shares != NULL)
		return row;
	for (; row < end; row++)
	{
		RowTraits	traits = {sizes[row], 1};

		if (sizes[row] >= search->least_size && sizes[row] <= search->most_size &&
			bounds_value(query, query->measure, &traits,
						  overlap) >= query->threshold)
			break;
	}
	return row;
}

/* False if the segment is gone. */
static bool
take_stretch(IndexSearch *search, const Stretch *stretch)
{
	uint64		overlap = stretch->count + search->unseen;
	uint32		row = stretch->first;

	if (!search->every_row && !search_wants(search, overlap))
		return true;
	while ((row = next_by_size(search, row, stretch->end, overlap)) < stretch->end)
	{
		bool		there = lock_page(search, row);
		uint32		end = Min(stretch->end, search->page_end);

		if (search->kept->sizes != NULL)
			end = Min(end, row + ROWS_AT_ONCE);
		if (there)
			take_rows(search, row, end, overlap);
		if (BufferIsValid(search->buffer))
			LockBuffer(search->buffer, BUFFER_LOCK_UNLOCK);
		if (!there)
			return false;
		row = end;
	}
	return true;
}

/* The stretches with at least, or with less than, that count. */
static bool
take_stretches(IndexSearch *search, const Stretch *stretches, size_t n,
			   uint32 count, bool less)
{
	bool		there = true;

	for (size_t i = 0; i < n && there; i++)
		if ((stretches[i].count < count) == less)
			there = take_stretch(search, &stretches[i]);
	release_page(search);
	return there;
}

/*
 * A count that so many rows have at least that they are likely to be all that
 * are wanted.
 */
static uint32
near_count(const IndexSearch *search, const Stretch *stretches, size_t n)
{
	uint32		most = 0;
	int			shift = 0;
	uint64	   *rows = palloc0(NEAR_COUNTS * sizeof(uint64));
	uint64		sum = 0;

	for (size_t i = 0; i < n; i++)
		most = Max(most, stretches[i].count);
	while (most >> shift >= NEAR_COUNTS)
		shift++;
	for (size_t i = 0; i < n; i++)
		rows[stretches[i].count >> shift] += stretches[i].end - stretches[i].first;
	most >>= shift;
	while (most > 0 && (sum += rows[most]) < NEAR_ROWS)
		most--;
	pfree(rows);
	return most << shift;
}

/* How many keys of the query need not be looked at in a segment. */
static uint32
spare_keys(const IndexSearch *search)
{
	const IndexQuery *query = search->query;

	if (search->least <= search->slack)
		return 0;
	return Min(search->least - search->slack - 1, query->nkeys);
}

/*
 * Whether the rows of a stretch may be wanted, but have fewer of the keys that
 * were read than such a row has on the average, by a tenth.
 */
static inline bool
in_doubt(const IndexSearch *search, const Overlaps *overlaps, const Stretch *stretch)
{
	uint64		seen = overlaps->nkeys - overlaps_unread(overlaps);
	uint64		least = search->least - search->slack;

	return 10 * (uint64) stretch->count * overlaps->nkeys < 9 * least * seen &&
		search_wants(search, stretch->count + search->unseen);
}

static double
count_row(void *taker, ItemPointer tid, double distance)
{
	++*(uint64 *) taker;
	return get_float8_infinity();
}

/* How many of these rows may be wanted by their sizes; false if they are gone. */
static bool
count_by_size(IndexSearch *search, const Overlaps *overlaps,
			  const Stretch *stretches, size_t n, uint64 *rows)
{
	IndexSearch		counting = *search;
	bool		there = true;

	*rows = 0;
	counting.take = count_row;
	counting.taker = rows;
	open_rows(&counting);
	for (size_t i = 0; i < n && there; i++)
		if (in_doubt(search, overlaps, &stretches[i]))
			there = take_stretch(&counting, &stretches[i]);
	close_rows(&counting);
	return there;
}

/* Whether there are more than so many rows in doubt; false if they are gone. */
static bool
many_in_doubt(IndexSearch *search, const Overlaps *overlaps,
			  const Stretch *stretches, size_t n, uint64 most, bool *many)
{
	uint64		rows = 0;

	for (size_t i = 0; i < n; i++)
		if (in_doubt(search, overlaps, &stretches[i]))
			rows += stretches[i].end - stretches[i].first;
	if (rows > most && rows <= LOOK_AT_ROWS &&
		!count_by_size(search, overlaps, stretches, n, &rows))
		return false;
	*many = rows > most;
	return true;
}

/* How many rows may be wanted, by what has been read. */
static uint64
wanted_rows(const IndexSearch *search, const Stretch *stretches, size_t n)
{
	uint64		rows = 0;

	for (size_t i = 0; i < n; i++)
		if (search_wants(search, stretches[i].count + search->unseen))
			rows += stretches[i].end - stretches[i].first;
	return rows;
}

/*
 * The same stretches after more of the long lists, as long as these cost less than the
 * rows that they may turn away.  NULL if the segment is gone.
 */
static Stretch *
read_optional(IndexSearch *search, Overlaps *overlaps, Stretch *stretches, size_t *n)
{
	uint32		unread = overlaps_unread(overlaps);
	uint64		rows;

	while (unread > 0 && (rows = wanted_rows(search, stretches, *n)) >= MANY_ROWS)
	{
		if (!overlaps_read_late(overlaps, unread, rows * ROW_BYTES))
			return NULL;
		if (overlaps_unread(overlaps) == unread)
			break;
		unread = overlaps_unread(overlaps);
		pfree(stretches);
		search->unseen = search->slack + unread;
		stretches = overlaps_count(overlaps, search->every_row, n);
	}
	return stretches;
}

/*
 * The stretches of rows after some keys were looked up: more are if that
 * leaves more than a few rows in doubt.  NULL if the segment is gone.
 */
static Stretch *
count_some(IndexSearch *search, Overlaps *overlaps, uint32 spare, size_t *n)
{
	uint32		unread = spare;

	for (uint32 more = MORE_KEYS;; more *= 2)
	{
		Stretch    *stretches;
		bool		many;

		if (!overlaps_look_up(overlaps, unread))
			return NULL;
		if (overlaps->next == overlaps->nkeys &&
			!overlaps_read_late(overlaps, spare, OPTIONAL_BYTES))
			return NULL;
		search->unseen = search->slack + overlaps_unread(overlaps);
		stretches = overlaps_count(overlaps, search->every_row, n);
		if (overlaps->next == overlaps->nkeys)
			return read_optional(search, overlaps, stretches, n);
		if (!many_in_doubt(search, overlaps, stretches, *n, more / 2, &many))
			return NULL;
		if (!many)
			return stretches;
		pfree(stretches);
		unread -= Min(unread, more);
	}
}

/* The stretches of rows by all keys, of all rows where the nearest are wanted. */
static Stretch *
count_all(IndexSearch *search, Overlaps *overlaps, size_t *n)
{
	if (!overlaps_look_up(overlaps, 0) || !overlaps_read_late(overlaps, 0, 0))
		return NULL;
	search->unseen = search->slack;
	return overlaps_count(overlaps, search->every_row || search->query->nearest, n);
}

/*
 * Rows that have many keys come first where the nearest are wanted: most of
 * the others then need not be looked at.
 */
static bool
take_segment(IndexSearch *search, const Stretch *stretches, size_t n)
{
	uint32		count = 0;
	bool		there;

	open_rows(search);
	if (search->query->nearest)
		count = near_count(search, stretches, n);
	there = take_stretches(search, stretches, n, count, false) &&
		(count == 0 || take_stretches(search, stretches, n, count, true));
	close_rows(search);
	return there;
}

/* The row that a key's list has, if it is one; false if the segment is gone. */
static bool
look_up_single(IndexSearch *search, const uint32 *key, int64 *row)
{
	Overlaps	overlaps;
	bool		there;

	overlaps_open(&overlaps, search->store.index, search->segment, search->kept,
				  key, NULL, 1);
	there = overlaps_look_up(&overlaps, 0);
	*row = -1;
	if (overlaps.runs.n == 1 && overlaps.npostings == 1)
		*row = overlaps.runs.first[0];
	search->counters->keys++;
	search->counters->postings += overlaps.npostings;
	overlaps_close(&overlaps);
	return there;
}

/* True if it is the query's own row; *there is false if the segment is gone. */
static bool
is_own(IndexSearch *search, uint32 row, bool *there)
{
	const IndexQuery *query = search->query;
	bool		own = false;

	open_rows(search);
	*there = lock_page(search, row);
	if (*there)
	{
		const ForwardEntry *entry = (const ForwardEntry *)
			PageGetContents(BufferGetPage(search->buffer)) + (row - search->page_first);

		own = entry->spec == search->spec && entry->size == query->size &&
			ItemPointerEquals(unconstify(ItemPointerData *, &entry->tid),
							  unconstify(ItemPointerData *, &query->own));
	}
	if (BufferIsValid(search->buffer))
		LockBuffer(search->buffer, BUFFER_LOCK_UNLOCK);
	close_rows(search);
	return own;
}

/*
 * The query's own row has all of its keys in one segment.  Once it has been found there,
 * keys that only one row has lead to no other, and mostly few keys are left.
 */
static bool
drop_own_keys(IndexSearch *search, uint32 *nkeys)
{
	uint32		others = filter_single_last(search->keys, *nkeys, search->kept);

	for (uint32 i = others; i < Min(*nkeys, others + OWN_TRIED); i++)
	{
		int64		row;
		bool		there;

		if (!look_up_single(search, &search->keys[i], &row))
			return false;
		if (row < 0)
			continue;			/* the filter let pass what is not there */
		if (is_own(search, row, &there))
			*nkeys = others;
		return there;
	}
	return true;
}

/* Rows of the page at hand that have the order wanted: first ... end - 1. */
static void
find_order(const IndexSearch *search, uint32 *first, uint32 *end)
{
	const ForwardEntry *rows = (const ForwardEntry *)
		PageGetContents(BufferGetPage(search->buffer));
	uint32		n = search->page_end - search->page_first;
	uint32		lo = 0;
	uint32		hi = n;

	while (lo < hi)
	{
		uint32		mid = (lo + hi) / 2;

		if (forward_order(&rows[mid]) < search->order)
			lo = mid + 1;
		else
			hi = mid;
	}
	*first = *end = search->page_first + lo;
	while (lo < n && forward_order(&rows[lo++]) == search->order)
		++*end;
}

/*
 * Rows stand by their order, which equal sets have in common, and hardly any others:
 * so where no other set is wanted, no list is read.  False if the segment is gone.
 */
static bool
take_equal(IndexSearch *search)
{
	const KeptSegment *kept = search->kept;
	uint32		place = kept_find_order(kept, search->order);
	bool		there = true;
	bool		more = true;

	open_rows(search);
	for (; more && place < kept->forward.n; place++)
	{
		uint32		first;
		uint32		end;

		there = lock_page(search, place * FORWARD_PER_PAGE);
		if (!there)
			break;
		find_order(search, &first, &end);
		take_rows(search, first, end, search->query->size);
		more = end == search->page_end && place + 1 < kept->forward.n &&
			kept->orders[place + 1] <= search->order;
		LockBuffer(search->buffer, BUFFER_LOCK_UNLOCK);
	}
	close_rows(search);
	return there;
}

/*
 * True of a sketch whose places have few values: many rows have any of them, so all
 * lists are long, and no row can be told from others before most of them were read.
 */
static inline bool
has_few_values(const IndexQuery *query)
{
	return query->sketch &&
		method_info(query->spec->method)->place_values > 0;
}

bool
search_segment(IndexSearch *search, const SegmentInfo *segment)
{
	const IndexQuery *query = search->query;
	bool		some = query->filter && !query->nearest &&
		query->shares == NULL && !has_few_values(query);
	uint32		spare = some ? spare_keys(search) : 0;
	uint32		nkeys = query->nkeys;
	Overlaps	overlaps;
	Stretch    *stretches;
	size_t		n;
	bool		there;

	search->segment = segment;
	search->kept = kept_segment(search->kept_index, search->store.index, segment);
	if (search->equal && search->kept->orders != NULL)
		return take_equal(search);
	if (some)
	{
		if (nkeys > 0)			/* a spec that is never held has no keys */
			memcpy(search->keys, query->keys, nkeys * sizeof(uint32));
		if (!filter_keys(&search->store, segment, search->keys, &nkeys, spare,
						 search->kept))
			return false;
		if (nkeys > spare && query->has_own && !drop_own_keys(search, &nkeys))
			return false;
		if (nkeys <= spare && !search->every_row)
			return true;
	}
	overlaps_open(&overlaps, search->store.index, segment, search->kept,
				  some ? search->keys : query->keys, query->shares, nkeys);
	stretches = some ? count_some(search, &overlaps, spare, &n) :
		count_all(search, &overlaps, &n);
	search->counters->keys += overlaps.next;
	search->counters->postings += overlaps.npostings;
	there = stretches != NULL && take_segment(search, stretches, n);
	overlaps_close(&overlaps);
	if (stretches != NULL)
		pfree(stretches);
	return there;
}
