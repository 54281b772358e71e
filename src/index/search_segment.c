/*
 * search_segment.c
 *		Candidates: bounds of their similarity, and those of a segment.
 *
 * The index has the size of a row, and the number of the query's keys in it.
 * A key has 32 bits of a feature, so other features may share it: the true
 * overlap is not greater than the number of keys, plus the features of the
 * query that fall on one key, plus keys whose lists were not read.  All
 * measures rise with the overlap, so no row is lost and no distance is too
 * great.
 *
 * Of a vector it has the sum of its weights, and the weight in the query of
 * the query's components that the vector has.  The smaller of two weights is
 * not more than that, so neither is their sum, from which the resemblance
 * follows.  The cosine, by Cauchy and Schwarz, is not greater than the length
 * of that part of the query; nor than the sum of that part's weights where all
 * of the row's weigh as much as its heaviest.  All lists are read.
 *
 * A sketch is the set of the values in its places.  Its method bounds the
 * similarity of two that agree in a number of places.
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

/* Number of top rows fetched first, and classes of overlap to find them by */
#define TOP_ROWS			128
#define OVERLAP_CLASSES		1024

/*
 * Number of further keys looked up at first, and doubled then, while more rows
 * than half that number are in doubt: fetching a few rows costs less.
 */
#define MORE_KEYS			8

/* Bytes of long lists read although the threshold does not require them */
#define OPTIONAL_BYTES		512

/* Further bytes for each candidate if there are MANY_ROWS or more */
#define MANY_ROWS			1024
#define ROW_BYTES			8

/* Number of rows of a page taken at once if sizes are cached */
#define ROWS_AT_ONCE		8

/* Bounds */

/*
 * Upper bound of a measure of a vector, by the shares of the query's
 * components that it has: see row.h.  Slightly above the formulas, as sums are
 * rounded.
 */
static double
vector_value(const IndexQuery *query, Measure measure, const RowTraits *row,
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
	/* the sum of the smaller weights by that of the greater ones */
	least = Min(part, vector_size_low(row->size + 1));
	greatest = query->sum + vector_size_low(row->size) - least;
	return (greatest > least ? least / greatest : 1) * (1 + 1e-6);
}

/* The resemblance of a sketch. */
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
bounds_value(const IndexQuery *query, Measure measure, const RowTraits *row,
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
	RowTraits	row = {size, VECTOR_PEAK(order), &order};
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

static void
release_page(IndexSearch *search)
{
	if (BufferIsValid(search->buffer))
		ReleaseBuffer(search->buffer);
	search->buffer = InvalidBuffer;
}

/* Pin and lock the page of a row; false if the segment is gone. */
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
						  search->segment->owner);
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

/* Take rows of a stretch that are on the locked page. */
static void
take_rows(IndexSearch *search, uint32 first, uint32 end, uint64 overlap)
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
 * The first row of a stretch, from `row` on, that may be wanted by its cached
 * size.
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
		RowTraits	traits = {sizes[row], 1};

		if (sizes[row] >= search->least_size &&
			sizes[row] <= search->most_size &&
			bounds_value(query, query->measure, &traits,
						 overlap) >= query->threshold)
			break;
	}
	return row;
}

/* Take a stretch; false if the segment is gone. */
static bool
take_stretch(IndexSearch *search, const Stretch *stretch)
{
	uint64		overlap = stretch->count + search->unseen;
	uint32		row = stretch->first;

	if (!search->every_row && !search_wants(search, overlap))
		return true;
	while ((row = next_by_size(search, row, stretch->end, overlap)) <
		   stretch->end)
	{
		bool		there = lock_page(search, row);
		uint32		end = Min(stretch->end, search->page_end);

		if (search->cached->sizes != NULL)
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

/* Take the stretches with at least that count, or with less. */
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

/* A count that about TOP_ROWS rows reach. */
static uint32
top_count(const Stretch *stretches, size_t n)
{
	uint32		most = 0;
	int			shift = 0;
	uint64	   *rows = palloc0(OVERLAP_CLASSES * sizeof(uint64));
	uint64		sum = 0;

	for (size_t i = 0; i < n; i++)
		most = Max(most, stretches[i].count);
	while (most >> shift >= OVERLAP_CLASSES)
		shift++;
	for (size_t i = 0; i < n; i++)
		rows[stretches[i].count >> shift] += stretches[i].end -
			stretches[i].first;
	most >>= shift;
	while (most > 0 && (sum += rows[most]) < TOP_ROWS)
		most--;
	pfree(rows);
	return most << shift;
}

/*
 * Take all stretches; the nearest rows first, so that they exclude most
 * others.
 */
static bool
take_all(IndexSearch *search, const Stretch *stretches, size_t n)
{
	uint32		count = 0;
	bool		there;

	search->buffer = InvalidBuffer;
	directory_open(&search->path, &search->store, search->segment->owner,
				   search->segment->forward, &search->cached->forward);
	if (search->query->nearest)
		count = top_count(stretches, n);
	there = take_stretches(search, stretches, n, count, false) &&
		(count == 0 || take_stretches(search, stretches, n, count, true));
	directory_close(&search->path);
	return there;
}

/* Keys */

/* Number of the query's keys that need not be looked up in a segment. */
static uint32
spare_keys(const IndexSearch *search)
{
	const IndexQuery *query = search->query;

	if (search->least <= search->slack)
		return 0;
	Assert(query->shares == NULL);
	return Min(search->least - search->slack - 1, query->nkeys);
}

/*
 * True if more than `most` rows may be wanted, but have a tenth fewer of the
 * keys that were read than a wanted row has on the average.
 */
static bool
many_in_doubt(const IndexSearch *search, const Overlaps *overlaps,
			  const Stretch *stretches, size_t n, uint64 most)
{
	uint64		read = overlaps->nkeys - overlaps_unread(overlaps);
	uint64		least = search->least - search->slack;
	uint64		rows = 0;

	for (size_t i = 0; i < n; i++)
	{
		const Stretch *stretch = &stretches[i];

		if (10 * (uint64) stretch->count * overlaps->nkeys <
			9 * least * read &&
			search_wants(search, stretch->count + search->unseen))
			rows += stretch->end - stretch->first;
	}
	return rows > most;
}

/* Number of rows that may be wanted, by what has been read. */
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
 * Read more of the long lists, as long as these cost less than the rows that
 * they may exclude.  Returns the new stretches, or NULL if the segment is
 * gone.
 */
static Stretch *
read_optional(IndexSearch *search, Overlaps *overlaps, Stretch *stretches,
			  size_t *n)
{
	uint32		unread = overlaps_unread(overlaps);
	uint64		rows;

	while (unread > 0 &&
		   (rows = wanted_rows(search, stretches, *n)) >= MANY_ROWS)
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
 * Look up as few keys as possible, more while many rows are in doubt.  Returns
 * the stretches, or NULL if the segment is gone.
 */
static Stretch *
count_some(IndexSearch *search, Overlaps *overlaps, uint32 spare, size_t *n)
{
	uint32		unread = spare;

	for (uint32 more = MORE_KEYS;; more *= 2)
	{
		Stretch    *stretches;

		if (!overlaps_look_up(overlaps, unread))
			return NULL;
		if (overlaps->next == overlaps->nkeys &&
			!overlaps_read_late(overlaps, spare, OPTIONAL_BYTES))
			return NULL;
		search->unseen = search->slack + overlaps_unread(overlaps);
		stretches = overlaps_count(overlaps, search->every_row, n);
		if (overlaps->next == overlaps->nkeys)
			return read_optional(search, overlaps, stretches, n);
		if (!many_in_doubt(search, overlaps, stretches, *n, more / 2))
			return stretches;
		pfree(stretches);
		unread -= Min(unread, more);
	}
}

/*
 * Look up all keys.  Returns the stretches, of all rows where the nearest are
 * wanted.
 */
static Stretch *
count_all(IndexSearch *search, Overlaps *overlaps, size_t *n)
{
	if (!overlaps_look_up(overlaps, 0) || !overlaps_read_late(overlaps, 0, 0))
		return NULL;
	search->unseen = search->slack;
	return overlaps_count(overlaps, search->every_row ||
						  search->query->nearest, n);
}

/*
 * True if some of the keys suffice.  Vectors need all shares.  If the places
 * of a sketch have few values, all lists are long, and most must be read to
 * exclude any row.
 */
static inline bool
some_keys_do(const IndexQuery *query)
{
	return query->filter && !query->nearest && query->shares == NULL &&
		!(query->sketch && method_info(query->spec->method)->place_values > 0);
}

bool
search_segment(IndexSearch *search, const SegmentInfo *segment)
{
	const IndexQuery *query = search->query;
	bool		some = some_keys_do(query);
	uint32		spare = some ? spare_keys(search) : 0;
	uint32		nkeys = query->nkeys;
	Overlaps	overlaps;
	Stretch    *stretches;
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
						 &nkeys, spare))
			return false;
		if (nkeys <= spare && !search->every_row)
			return true;
	}
	overlaps_open(&overlaps, search->store.index, segment, search->cached,
				  some ? search->keys : query->keys, query->shares, nkeys);
	stretches = some ? count_some(search, &overlaps, spare, &n) :
		count_all(search, &overlaps, &n);
	search->counters->keys += overlaps.next;
	search->counters->postings += overlaps.npostings;
	there = stretches != NULL && take_all(search, stretches, n);
	overlaps_close(&overlaps);
	if (stretches != NULL)
		pfree(stretches);
	return there;
}
