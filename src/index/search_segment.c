/*
 * search_segment.c
 *		Bounds of the similarity of candidates, and the search in a segment.
 *
 * The index stores the size of a row and finds how many of the query's keys
 * the row has.  A key is 32 bits of a hash, so two features may share it.  The
 * overlap is at most the number of keys found, plus the features of the query
 * that share a key (`collisions`), plus the keys whose lists were not read;
 * `uncounted` is the sum of the last two.  All measures rise with the overlap,
 * so no row is lost and no distance is too great.
 *
 * For a vector the index stores the sum of its weights, and finds the weight
 * that the query gives to the components that the row has.  The sum of the
 * smaller of two weights is at most that weight, and the resemblance follows
 * from it.  By Cauchy and Schwarz the cosine is at most the length of that
 * part of the query.  It is also at most the sum of that part's weights if all
 * components of the row weighed as much as its heaviest.  All lists are read.
 *
 * A sketch is stored as the set of the values in its places.  Its method
 * bounds the similarity of two sketches that agree in a number of places.
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "utils/float.h"

#include "index/directory.h"
#include "index/filter.h"
#include "index/index_search.h"
#include "index/row.h"
#include "methods/method.h"

/*
 * Number of top rows that are fetched first, and of classes of overlap by
 * which they are found
 */
#define TOP_ROWS			128
#define OVERLAP_CLASSES		1024

/*
 * While more rows than half this number are undecided, so many further keys
 * are looked up, and twice as many the next time.  A few rows are cheaper to
 * fetch.
 */
#define MORE_KEYS			8

/*
 * Bytes of deferred lists that are read although the threshold does not
 * require it
 */
#define OPTIONAL_BYTES		512

/* Further bytes for each candidate if there are at least MANY_ROWS */
#define MANY_ROWS			1024
#define ROW_BYTES			8

/* Number of rows of a page that are scanned at once if sizes are cached */
#define ROWS_AT_ONCE		8

/* Bounds */

/*
 * Return an upper bound of a measure of a vector, by the shares of the query's
 * components that it has (see row.h).  It is slightly above the formulas, as
 * sums are rounded.
 */
static double
vector_value(const IndexQuery *query, Measure measure, const RowBounds *row,
			 uint32 shares)
{
	double		part = Min(SHARE_OF_SUM(shares), 1.0) * query->sum;
	double		least;
	double		greatest;

	if (shares == 0)
		return 0;
	Assert(query->shares != NULL);
	if (measure == MEASURE_COSINE)
		return Min(sqrt(SHARE_OF_SQUARES(shares)),
				   part / query->length * row->peak) * (1 + 1e-6);
	/* sum of the smaller weights, divided by the sum of the greater ones */
	least = Min(part, vector_size_low(row->size + 1));
	greatest = query->sum + vector_size_low(row->size) - least;
	return (greatest > least ? least / greatest : 1) * (1 + 1e-6);
}

/* Return an upper bound of the resemblance of a sketch. */
static double
sketch_value(const IndexQuery *query, uint64 size, uint64 overlap)
{
	return method_info(query->spec->method)->
		most_similar(query->spec, size, query->size,
					 Min(overlap, Min(size, query->size)));
}

uint64
bounds_sketch_overlap(const IndexQuery *query)
{
	uint64		lo = 0;
	uint64		hi = query->size + 1;

	while (lo < hi)
	{
		uint64		mid = (lo + hi) / 2;

		if (sketch_value(query, mid, mid) < query->threshold)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

double
bounds_value(const IndexQuery *query, Measure measure, const RowBounds *row,
			 uint64 overlap)
{
	if (query->shares != NULL)
		return vector_value(query, measure, row, overlap);
	if (query->sketch && row->value != NULL && row->size > 0 &&
		query->size > 0 &&
		method_info(query->spec->method)->similar_values != NULL)
		return method_info(query->spec->method)->similar_values(*row->value,
																query->value);
	if (query->sketch)
		return sketch_value(query, row->size, overlap);
	return measure_value(measure, row->size, query->size,
						 Min(overlap, Min(row->size, query->size)));
}

double
bounds_best(const IndexQuery *query, Measure measure, uint64 overlap)
{
	double		share;

	if (query->shares != NULL)
		share = measure == MEASURE_COSINE ?
			SHARE_OF_SQUARES((uint32) overlap) :
			SHARE_OF_SUM((uint32) overlap) * (1 + 1e-6);
	else if (query->size == 0)
		return 1;
	else if (query->sketch)
		return sketch_value(query, Min(overlap, query->size), overlap);
	else
		share = (double) Min(overlap, query->size) / (double) query->size;
	return measure == MEASURE_COSINE ? sqrt(share) * (1 + 1e-6) : share;
}

/* Candidates */

/* Report a row, and learn which distances are still of interest. */
static void
emit_row(IndexSearch *search, ItemPointer tid, double distance)
{
	tid_require(search->store.index, META_BLOCK, tid);
	Assert(distance >= -1);
	search->limit = search->callback(search->state, tid, distance);
}

void
candidate_row(IndexSearch *search, ItemPointer tid, uint32 size, uint64 order,
			  uint64 overlap)
{
	RowBounds	row = {size, VECTOR_PEAK(order), &order};
	const IndexQuery *query = search->query;
	double		distance = 0;

	Assert(query->spec != NULL && !query->all);
	if (size < search->least_size || size > search->most_size)
		return;
	if (query->filter &&
		bounds_value(query, query->measure, &row, overlap) < query->threshold)
		return;
	if (query->nearest)
		distance = 1 - bounds_value(query, query->order, &row, overlap);
	if (distance <= search->limit)
		emit_row(search, tid, distance);
}

bool
candidate_without_bound(IndexSearch *search, ItemPointer tid, uint16 spec)
{
	const IndexQuery *query = search->query;

	if (spec == SPEC_DEAD)
		return true;
	if (spec == SPEC_NULL || (query->spec != NULL && spec != search->spec))
	{
		/* no near-duplicate, and no distance: last in order */
		if (query->nulls && search->limit == get_float8_infinity())
			emit_row(search, tid, get_float8_infinity());
		return true;
	}
	if (query->spec != NULL && !query->all)
		return false;
	emit_row(search, tid, query->nearest ? -1 : 0);
	return true;
}

/* Rows */

/* Release the pinned page of rows, if there is one. */
static void
release_page(IndexSearch *search)
{
	if (BufferIsValid(search->buffer))
		ReleaseBuffer(search->buffer);
	search->buffer = InvalidBuffer;
}

/* Pin and lock the page of a row.  False if the segment is gone. */
static bool
lock_page(IndexSearch *search, uint32 row)
{
	const char *page;

	Assert(row < search->segment->nrows);
	if (BufferIsValid(search->buffer) && row < search->page_end)
	{
		Assert(row >= search->page_first);
		LockBuffer(search->buffer, BUFFER_LOCK_SHARE);
		return page_is_of(BufferGetPage(search->buffer),
						  search->segment->segment_id);
	}
	release_page(search);
	CHECK_FOR_INTERRUPTS();
	if (!directory_lock(&search->path, row, &search->buffer) ||
		!BufferIsValid(search->buffer))
		return false;
	page = BufferGetPage(search->buffer);
	search->page_first = row - row % FORWARD_PER_PAGE;
	search->page_end = search->page_first + page_contents_size(page) /
		sizeof(ForwardEntry);
	if (PAGE_TAIL((Page) page)->kind != PAGE_FORWARD ||
		row >= search->page_end)
		index_corrupt(search->store.index,
					  BufferGetBlockNumber(search->buffer),
					  "Rows are missing.");
	return true;
}

/* Report the rows first ... end - 1, which are on the locked page. */
static void
scan_rows(IndexSearch *search, uint32 first, uint32 end, uint64 overlap)
{
	ForwardEntry *rows = (ForwardEntry *)
	PageGetContents(BufferGetPage(search->buffer));

	Assert(first >= search->page_first && end <= search->page_end);
	search->counters->candidates += end - first;
	for (uint32 row = first; row < end; row++)
	{
		ForwardEntry *entry = &rows[row - search->page_first];

		if (!candidate_without_bound(search, &entry->tid, entry->spec))
			candidate_row(search, &entry->tid, entry->size,
						  forward_order(entry),
						  overlap);
	}
}

/*
 * Return the first row from `row` on that may match by its cached size, or
 * `end`.
 */
static inline uint32
next_by_size(const IndexSearch *search, uint32 row, uint32 end, uint64 overlap)
{
	const IndexQuery *query = search->query;
	const uint32 *sizes = search->cached->sizes;

	if (sizes == NULL || search->every_row || !query->filter ||
		query->shares != NULL)
		return row;
	for (; row < end; row++)
	{
		RowBounds	bounds = {sizes[row], 1};

		if (sizes[row] >= search->least_size &&
			sizes[row] <= search->most_size &&
			bounds_value(query, query->measure, &bounds,
						 overlap) >= query->threshold)
			break;
	}
	return row;
}

/* Report the rows of a range that may match.  False if the segment is gone. */
static bool
scan_range(IndexSearch *search, const RowRange *range)
{
	uint64		overlap = range->count + search->uncounted;
	uint32		row = range->first;

	if (!search->every_row && !search_wants(search, overlap))
		return true;
	while ((row = next_by_size(search, row, range->end, overlap)) <
		   range->end)
	{
		bool		there = lock_page(search, row);
		uint32		end = Min(range->end, search->page_end);

		if (search->cached->sizes != NULL)
			end = Min(end, row + ROWS_AT_ONCE);
		if (there)
			scan_rows(search, row, end, overlap);
		if (BufferIsValid(search->buffer))
			LockBuffer(search->buffer, BUFFER_LOCK_UNLOCK);
		if (!there)
			return false;
		row = end;
	}
	return true;
}

/*
 * Scan the ranges whose count is at least `count`, or is less if `less`.
 * False if the segment is gone.
 */
static bool
scan_ranges(IndexSearch *search, const RowRange *ranges, size_t n,
			uint32 count, bool less)
{
	bool		there = true;

	for (size_t i = 0; i < n && there; i++)
		if ((ranges[i].count < count) == less)
			there = scan_range(search, &ranges[i]);
	release_page(search);
	return there;
}

/* Return a count that about TOP_ROWS rows reach. */
static uint32
top_count(const RowRange *ranges, size_t n)
{
	uint32		most = 0;
	int			shift = 0;
	uint64	   *rows = palloc0(OVERLAP_CLASSES * sizeof(uint64));
	uint64		sum = 0;

	for (size_t i = 0; i < n; i++)
		most = Max(most, ranges[i].count);
	while (most >> shift >= OVERLAP_CLASSES)
		shift++;
	for (size_t i = 0; i < n; i++)
		rows[ranges[i].count >> shift] += ranges[i].end -
			ranges[i].first;
	most >>= shift;
	while (most > 0 && (sum += rows[most]) < TOP_ROWS)
		most--;
	pfree(rows);
	return most << shift;
}

/*
 * Scan all ranges, the nearest rows first, so that they exclude most others.
 * False if the segment is gone.
 */
static bool
scan_all(IndexSearch *search, const RowRange *ranges, size_t n)
{
	uint32		count = 0;
	bool		there;

	search->buffer = InvalidBuffer;
	directory_open(&search->path, &search->store, search->segment->segment_id,
				   search->segment->forward, &search->cached->forward);
	if (search->query->nearest)
		count = top_count(ranges, n);
	there = scan_ranges(search, ranges, n, count, false) &&
		(count == 0 || scan_ranges(search, ranges, n, count, true));
	directory_close(&search->path);
	return there;
}

/* Keys */

/*
 * Return the number of the query's keys that need not be looked up in a
 * segment, as every match has at least one of the others.
 */
static uint32
skippable_keys(const IndexSearch *search)
{
	const IndexQuery *query = search->query;

	if (search->least <= search->collisions)
		return 0;
	Assert(query->shares == NULL);
	return Min(search->least - search->collisions - 1, query->nkeys);
}

/*
 * True if more than `most` rows may still match although they have 10 % fewer
 * of the keys read than an average match.
 */
static bool
many_undecided(const IndexSearch *search, const Overlaps *overlaps,
			   const RowRange *ranges, size_t n, uint64 most)
{
	uint64		read = overlaps->nkeys - overlaps_unread(overlaps);
	uint64		least = search->least - search->collisions;
	uint64		rows = 0;

	for (size_t i = 0; i < n; i++)
	{
		const RowRange *range = &ranges[i];

		if (10 * (uint64) range->count * overlaps->nkeys <
			9 * least * read &&
			search_wants(search, range->count + search->uncounted))
			rows += range->end - range->first;
	}
	return rows > most;
}

/* Return the number of rows that may match, by the lists read so far. */
static uint64
wanted_rows(const IndexSearch *search, const RowRange *ranges, size_t n)
{
	uint64		rows = 0;

	for (size_t i = 0; i < n; i++)
		if (search_wants(search, ranges[i].count + search->uncounted))
			rows += ranges[i].end - ranges[i].first;
	return rows;
}

/*
 * Read further deferred lists, as long as they cost less than the rows that
 * they may exclude.  Returns the new ranges, or NULL if the segment is gone.
 */
static RowRange *
read_optional_lists(IndexSearch *search, Overlaps *overlaps, RowRange *ranges,
					size_t *n)
{
	uint32		unread = overlaps_unread(overlaps);
	uint64		rows;

	while (unread > 0 &&
		   (rows = wanted_rows(search, ranges, *n)) >= MANY_ROWS)
	{
		if (!overlaps_read_deferred(overlaps, unread, rows * ROW_BYTES))
			return NULL;
		if (overlaps_unread(overlaps) == unread)
			break;
		unread = overlaps_unread(overlaps);
		pfree(ranges);
		search->uncounted = search->collisions + unread;
		ranges = overlaps_count(overlaps, search->every_row, n);
	}
	return ranges;
}

/*
 * Look up as few keys as possible, and more while many rows are undecided.
 * Returns the ranges, or NULL if the segment is gone.
 */
static RowRange *
count_some(IndexSearch *search, Overlaps *overlaps, uint32 skippable,
		   size_t *n)
{
	uint32		unread = skippable;

	for (uint32 more = MORE_KEYS;; more *= 2)
	{
		RowRange   *ranges;

		if (!overlaps_look_up(overlaps, unread))
			return NULL;
		if (overlaps->next == overlaps->nkeys &&
			!overlaps_read_deferred(overlaps, skippable, OPTIONAL_BYTES))
			return NULL;
		search->uncounted = search->collisions + overlaps_unread(overlaps);
		ranges = overlaps_count(overlaps, search->every_row, n);
		if (overlaps->next == overlaps->nkeys)
			return read_optional_lists(search, overlaps, ranges, n);
		if (!many_undecided(search, overlaps, ranges, *n, more / 2))
			return ranges;
		pfree(ranges);
		unread -= Min(unread, more);
	}
}

/*
 * Look up all keys.  Returns the ranges, which cover all rows if the nearest
 * are wanted, or NULL if the segment is gone.
 */
static RowRange *
count_all(IndexSearch *search, Overlaps *overlaps, size_t *n)
{
	if (!overlaps_look_up(overlaps, 0) ||
		!overlaps_read_deferred(overlaps, 0, 0))
		return NULL;
	search->uncounted = search->collisions;
	return overlaps_count(overlaps, search->every_row ||
						  search->query->nearest, n);
}

/*
 * True if some of the keys suffice.  A vector needs all shares.  If the places
 * of a sketch have few values, all lists are long, and most must be read to
 * exclude any row.
 */
static inline bool
allows_partial_lookup(const IndexQuery *query)
{
	return query->filter && !query->nearest && query->shares == NULL &&
		!(query->sketch && method_info(query->spec->method)->place_values > 0);
}

bool
search_segment(IndexSearch *search, const SegmentInfo *segment)
{
	const IndexQuery *query = search->query;
	bool		some = allows_partial_lookup(query);
	uint32		skippable = some ? skippable_keys(search) : 0;
	uint32		nkeys = query->nkeys;
	Overlaps	overlaps;
	RowRange   *ranges;
	size_t		n;
	bool		there;

	search->segment = segment;
	search->cached = cached_segment(search->cache, search->store.index,
									segment);
	if (some)
	{
		if (nkeys > 0)			/* a spec that cannot be indexed has no keys */
			memcpy(search->keys, query->keys, nkeys * sizeof(uint32));
		if (!filter_keys(&search->store, segment, search->cached, search->keys,
						 &nkeys, skippable))
			return false;
		if (nkeys <= skippable && !search->every_row)
			return true;
	}
	overlaps_open(&overlaps, search->store.index, segment, search->cached,
				  some ? search->keys : query->keys, query->shares, nkeys);
	ranges = some ? count_some(search, &overlaps, skippable, &n) :
		count_all(search, &overlaps, &n);
	search->counters->keys += overlaps.next;
	search->counters->postings += overlaps.npostings;
	there = ranges != NULL && scan_all(search, ranges, n);
	overlaps_close(&overlaps);
	if (ranges != NULL)
		pfree(ranges);
	return there;
}
