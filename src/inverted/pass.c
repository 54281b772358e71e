/*
 * pass.c
 *		One pass through an index of access method neardup.
 *
 * What the pages tell of a row is its size, and how many of the query's keys
 * it has.  The overlap is not greater than that, but for what follows.  A key
 * stands for 32 bits of a feature: others may have the same.  So there may be
 * less in common, never more, except that several features of the query can
 * fall on one key; how many they are is added.  The same goes for keys whose
 * lists were not read.  All measures rise with the overlap, so no row is lost
 * and no distance is greater than the true one.
 *
 * Of a vector they tell the sum of its weights, and what those of the query's
 * components that it has weigh there.  The smaller ones of two weights are not
 * more than that, so neither is their sum, from which the resemblance follows.
 * The cosine, by Cauchy and Schwarz, is not greater than the length of that
 * part of the query; nor than the sum of that part's weights where all of
 * the row's weigh as much as its heaviest.  All lists are read.
 *
 * A sketch is the set of what stands in its places; its method says how similar
 * two are at the most that agree in so many of them.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/inverted/pass.c
 */
#include "postgres.h"

#include <math.h>

#include "executor/instrument.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "utils/float.h"

#include "base/pause.h"
#include "inverted/counters.h"
#include "inverted/directory.h"
#include "inverted/filter.h"
#include "inverted/kept_rows.h"
#include "inverted/overlap.h"
#include "inverted/pass.h"
#include "inverted/pending.h"
#include "inverted/row.h"
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

/* So many rows of a page are taken at once, where sizes tell of others. */
#define ROWS_AT_ONCE		8

/* So few of them are told from others by their sizes first. */
#define LOOK_AT_ROWS		64

/* So many pending rows are looked at by their sizes, and then the others. */
#define KEPT_AT_ONCE		256

/* So many keys are looked up to find the query's own row. */
#define OWN_TRIED			3

/* No row has it. */
#define MAKING_NONE			0xfffd

typedef struct Search
{
	PageStore	store;
	const InvertedQuery *query;
	TakeRow		take;
	void	   *taker;
	InvertedCounters *counters; /* of the index */
	double		limit;			/* greatest distance of interest */
	uint16		own;			/* number of the query's making, if it has one */
	uint16		making;			/* of rows that the index can tell of */
	uint64		least;			/* overlap of a row that is wanted */
	uint64		slack;			/* overlap that cannot be seen */
	uint64		least_size;		/* of a set that is wanted */
	uint64		most_size;
	bool		equal;			/* no other set than an equal one is wanted, */
	uint64		order;			/* which has this order */
	KeysBitmap	bitmap;			/* of the query's keys */
	KeptIndex  *kept_index;
	uint32	   *keys;			/* room for those that a segment may have */

	/* The segment at hand */
	const SegmentInfo *segment;
	KeptSegment *kept;
	bool		foreign;		/* it has rows of other makings, or those that
								 * have none of the keys are wanted */
	uint64		unseen;			/* slack, and the keys that were not read */
	DirectoryPath path;
	Buffer		buffer;			/* a page of its rows, or invalid */
	uint32		page_first;		/* number of the first of them */
	uint32		page_end;		/* and behind the last */
} Search;

/* Measures */

/* What a page tells of a row */
typedef struct RowTraits
{
	uint32		size;
	double		peak;			/* of a vector, see row.h */
	const uint64 *value;		/* of a sketch that is one, if it is known */
} RowTraits;

/*
 * A measure of a vector whose components in common with the query have such
 * shares of that at the most: see row.h.  A little more than the formulas say,
 * as sums are rounded.
 */
static double
vector_value(const Search *search, Measure measure, const RowTraits *row,
			 uint32 shares)
{
	const InvertedQuery *query = search->query;
	double		part = Min(SHARE_OF_SUM(shares), 1.0) * query->sum;
	double		least;
	double		greatest;

	if (shares == 0)
		return 0;
	if (measure == MEASURE_COSINE)
		return Min(sqrt(SHARE_OF_SQUARES(shares)),
				   part / query->length * row->peak) * (1 + 1e-6);
	/* smaller weights by greater ones, which with the former make both sums */
	least = Min(part, vector_size_high(row->size));
	greatest = query->sum + vector_size_low(row->size) - least;
	return (greatest > least ? least / greatest : 1) * (1 + 1e-6);
}

/* The resemblance of a sketch. */
static double
sketch_value(const InvertedQuery *query, uint64 size, uint64 overlap)
{
	return method_info(query->making->method)->
		most_similar(query->making, size, query->size,
					 Min(overlap, Min(size, query->size)));
}

/*
 * The least overlap of a sketch that is wanted; one more than it has places if there is
 * none.
 */
static uint64
sketch_least_overlap(const InvertedQuery *query)
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

/* A measure of a row with such an overlap at the most. */
static double
value_at_most(const Search *search, Measure measure, const RowTraits *row,
			  uint64 overlap)
{
	const InvertedQuery *query = search->query;

	if (query->shares != NULL)
		return vector_value(search, measure, row, overlap);
	if (query->sketch && row->value != NULL && row->size > 0 && query->size > 0 &&
		method_info(query->making->method)->similar_values != NULL)
		return method_info(query->making->method)->similar_values(*row->value, query->value);
	if (query->sketch)
		return sketch_value(query, row->size, overlap);
	return measure_value(measure, row->size, query->size,
						 Min(overlap, Min(row->size, query->size)));
}

/* The same of the row of the best size: one that is a part of the query. */
static inline double
value_of_best(const Search *search, Measure measure, uint64 overlap)
{
	const InvertedQuery *query = search->query;
	double		share;

	if (query->shares != NULL)
		share = measure == MEASURE_COSINE ? SHARE_OF_SQUARES((uint32) overlap) :
			SHARE_OF_SUM((uint32) overlap) * (1 + 1e-6);
	else if (query->size == 0)
		return 1;
	else if (query->sketch)
		return sketch_value(query, Min(overlap, query->size), overlap);
	else
		share = (double) Min(overlap, query->size) / (double) query->size;
	return measure == MEASURE_COSINE ? sqrt(share) * (1 + 1e-6) : share;
}

/* Rows */

/* A row of the query's making that has so much in common with it at most. */
static void
take_set(Search *search, ItemPointer tid, uint32 size, uint64 order,
		 uint64 overlap)
{
	RowTraits	row = {size, VECTOR_PEAK(order), &order};
	const InvertedQuery *query = search->query;
	double		distance = 0;

	if (size < search->least_size || size > search->most_size ||
		(query->has_own && ItemPointerEquals(tid, unconstify(ItemPointerData *, &query->own))))
		return;
	if (query->filter &&
		value_at_most(search, query->measure, &row, overlap) < query->threshold)
		return;
	if (query->nearest)
		distance = 1 - value_at_most(search, query->order, &row, overlap);
	if (distance <= search->limit)
		search->limit = search->take(search->taker, tid, distance);
}

/* True if it is certain that rows of a making cannot be compared. */
static bool
is_foreign(const Search *search, uint16 making)
{
	return search->query->making != NULL && making != search->own &&
		(making != MAKING_OTHER || search->own != MAKING_NONE);
}

/* A row of which the index does not tell; false if it does. */
static bool
take_other(Search *search, ItemPointer tid, uint16 making)
{
	const InvertedQuery *query = search->query;

	if (making == MAKING_DEAD)
		return true;
	if (making == MAKING_NULL)
	{
		if (query->nulls && search->limit == get_float8_infinity())
			search->limit = search->take(search->taker, tid,
										 get_float8_infinity());
		return true;
	}
	if (making == search->making)
		return false;
	search->limit = search->take(search->taker, tid, !query->nearest ? 0 :
								 is_foreign(search, making) ? DISTANCE_NONE : -1);
	return true;
}

/* False if no set with that overlap at most can be wanted. */
static inline bool
may_be_wanted(const Search *search, uint64 overlap)
{
	const InvertedQuery *query = search->query;

	if (query->filter &&
		(overlap < search->least ||
		 (query->shares != NULL &&
		  value_of_best(search, query->measure, overlap) < query->threshold)))
		return false;
	return !query->nearest ||
		1 - value_of_best(search, query->order, overlap) <= search->limit;
}

/* The bit of the making of rows that the index can tell of, if there is one. */
static inline uint64
told_bit(const Search *search)
{
	return search->making < MAX_MAKINGS ? MAKING_BIT(search->making) : 0;
}

/* Segments */

static void
release_page(Search *search)
{
	if (BufferIsValid(search->buffer))
		ReleaseBuffer(search->buffer);
	search->buffer = InvalidBuffer;
}

/* Before the rows of a segment are looked at, and after. */
static void
open_rows(Search *search)
{
	search->buffer = InvalidBuffer;
	directory_open(&search->path, &search->store, search->segment->owner,
				   search->segment->forward, &search->kept->forward);
}

static void
close_rows(Search *search)
{
	release_page(search);
	directory_close(&search->path);
}

/* Pins and locks the page of a row; false if the segment is gone. */
static bool
lock_page(Search *search, uint32 row)
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
		inverted_corrupt(search->store.index,
						 BufferGetBlockNumber(search->buffer), "Rows are missing.");
	return true;
}

/* Rows of a stretch, all on the page at hand. */
static void
take_rows(Search *search, uint32 first, uint32 end, uint64 overlap)
{
	ForwardEntry *rows = (ForwardEntry *)
		PageGetContents(BufferGetPage(search->buffer));

	search->counters->candidates += end - first;
	for (uint32 row = first; row < end; row++)
	{
		ForwardEntry *entry = &rows[row - search->page_first];

		if (!take_other(search, &entry->tid, entry->making))
			take_set(search, &entry->tid, entry->size, forward_order(entry),
					 overlap);
	}
}

/*
 * The first row of a stretch, from `row` on, that may be wanted by its size, as
 * far as sizes are kept.
 */
static inline uint32
next_by_size(const Search *search, uint32 row, uint32 end, uint64 overlap)
{
	const InvertedQuery *query = search->query;
	const uint32 *sizes = search->kept->sizes;

	if (sizes == NULL || search->foreign || !query->filter ||
		query->shares != NULL)
		return row;
	for (; row < end; row++)
	{
		RowTraits	traits = {sizes[row], 1};

		if (sizes[row] >= search->least_size && sizes[row] <= search->most_size &&
			value_at_most(search, query->measure, &traits,
						  overlap) >= query->threshold)
			break;
	}
	return row;
}

/* False if the segment is gone. */
static bool
take_stretch(Search *search, const Stretch *stretch)
{
	uint64		overlap = stretch->count + search->unseen;
	uint32		row = stretch->first;

	if (!search->foreign && !may_be_wanted(search, overlap))
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
take_stretches(Search *search, const Stretch *stretches, size_t n,
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
near_count(const Search *search, const Stretch *stretches, size_t n)
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
spare_keys(const Search *search)
{
	const InvertedQuery *query = search->query;

	if (search->least <= search->slack)
		return 0;
	return Min(search->least - search->slack - 1, query->nkeys);
}

/*
 * Whether the rows of a stretch may be wanted, but have fewer of the keys that
 * were read than such a row has on the average, by a tenth.
 */
static inline bool
in_doubt(const Search *search, const Overlaps *overlaps, const Stretch *stretch)
{
	uint64		seen = overlaps->nkeys - overlaps_unread(overlaps);
	uint64		least = search->least - search->slack;

	return 10 * (uint64) stretch->count * overlaps->nkeys < 9 * least * seen &&
		may_be_wanted(search, stretch->count + search->unseen);
}

static double
count_row(void *taker, ItemPointer tid, double distance)
{
	++*(uint64 *) taker;
	return get_float8_infinity();
}

/* How many of these rows may be wanted by their sizes; false if they are gone. */
static bool
count_by_size(Search *search, const Overlaps *overlaps,
			  const Stretch *stretches, size_t n, uint64 *rows)
{
	Search		counting = *search;
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
many_in_doubt(Search *search, const Overlaps *overlaps,
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

/*
 * The stretches of rows after some keys were looked up: more are if that
 * leaves more than a few rows in doubt.  NULL if the segment is gone.
 */
static Stretch *
count_some(Search *search, Overlaps *overlaps, uint32 spare, size_t *n)
{
	uint32		unread = spare;

	for (uint32 more = MORE_KEYS;; more *= 2)
	{
		Stretch    *stretches;
		bool		many;

		if (!overlaps_look_up(overlaps, unread))
			return NULL;
		if (overlaps->next == overlaps->nkeys &&
			!overlaps_read_late(overlaps, spare))
			return NULL;
		search->unseen = search->slack + overlaps_unread(overlaps);
		stretches = overlaps_count(overlaps, search->foreign, n);
		if (overlaps->next == overlaps->nkeys)
			return stretches;
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
count_all(Search *search, Overlaps *overlaps, size_t *n)
{
	if (!overlaps_look_up(overlaps, 0) || !overlaps_read_late(overlaps, 0))
		return NULL;
	search->unseen = search->slack;
	return overlaps_count(overlaps, search->foreign || search->query->nearest, n);
}

/*
 * Rows that have many keys come first where the nearest are wanted: most of
 * the others then need not be looked at.
 */
static bool
take_segment(Search *search, const Stretch *stretches, size_t n)
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
look_up_single(Search *search, const uint32 *key, int64 *row)
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
is_own(Search *search, uint32 row, bool *there)
{
	const InvertedQuery *query = search->query;
	bool		own = false;

	open_rows(search);
	*there = lock_page(search, row);
	if (*there)
	{
		const ForwardEntry *entry = (const ForwardEntry *)
			PageGetContents(BufferGetPage(search->buffer)) + (row - search->page_first);

		own = entry->making == search->own && entry->size == query->size &&
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
drop_own_keys(Search *search, uint32 *nkeys)
{
	uint32		others = filter_single_last(search->segment, search->keys, *nkeys,
											search->kept);

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
find_order(const Search *search, uint32 *first, uint32 *end)
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
take_equal(Search *search)
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
has_few_values(const InvertedQuery *query)
{
	return query->sketch &&
		method_info(query->making->method)->place_values > 0;
}

static bool
search_segment(Search *search, const SegmentInfo *segment)
{
	const InvertedQuery *query = search->query;
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
	search->foreign = query->making == NULL || query->all || search->least == 0 ||
		(segment->makings & ~told_bit(search)) != 0;
	if (search->equal && !search->foreign && search->kept->orders != NULL)
		return take_equal(search);
	if (some)
	{
		if (nkeys > 0)			/* a making that is never held has no keys */
			memcpy(search->keys, query->keys, nkeys * sizeof(uint32));
		if (!filter_keys(&search->store, segment, search->keys, &nkeys, spare,
						 search->kept))
			return false;
		if (nkeys > spare && query->has_own && !drop_own_keys(search, &nkeys))
			return false;
		if (nkeys <= spare && !search->foreign)
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

/* Pending rows */

/* Bits that are set; without a call, which would take longer. */
static inline uint32
count_bits(uint64 bits)
{
	bits -= bits >> 1 & UINT64CONST(0x5555555555555555);
	bits = (bits & UINT64CONST(0x3333333333333333)) +
		(bits >> 2 & UINT64CONST(0x3333333333333333));
	bits = (bits + (bits >> 4)) & UINT64CONST(0x0f0f0f0f0f0f0f0f);
	return (bits * UINT64CONST(0x0101010101010101)) >> 56;
}

/* What it can have in common with the query, at most, by its bitmap. */
static inline uint64
most_overlap(const Search *search, const PendingHead *head)
{
	uint32		missing;

	if (search->query->shares != NULL)
		return SHARES_ALL;
	missing = count_bits(search->bitmap.low & ~head->bitmap.low) +
		count_bits(search->bitmap.high & ~head->bitmap.high);
	return Min(search->query->nkeys - missing + search->slack, head->size);
}

/* True if a pending row may be wanted by its size and its bitmap. */
static inline bool
is_likely(const Search *search, const PendingHead *head)
{
	const InvertedQuery *query = search->query;
	RowTraits	traits = {head->size, 1};
	uint64		most;

	if (head->making != search->making)
		return true;
	if (head->size < search->least_size || head->size > search->most_size)
		return false;
	most = most_overlap(search, head);
	return may_be_wanted(search, most) &&
		(!query->filter || value_at_most(search, query->measure, &traits,
										 most) >= query->threshold);
}

/* A pending row that is likely. */
static void
take_pending(Search *search, Page page, const PendingHead *head)
{
	const InvertedQuery *query = search->query;
	const PendingRow *row = pending_row(search->store.index, page, head);
	ItemPointerData tid = row->tid;
	uint64		overlap;

	if (take_other(search, &tid, head->making))
		return;
	overlap = query->shares == NULL ?
		keys_overlap(query->keys, query->nkeys, row->keys, row->nkeys) :
		keys_share(query->keys, query->shares, query->nkeys, row->keys, row->nkeys);
	take_set(search, &tid, head->size, row->order, overlap + search->slack);
}

/*
 * The rows of a page, or those of it that are given; false if it is gone.
 */
static bool
search_page(Search *search, const InvertedMeta *meta, uint64 place,
			const KeptRow *rows, int n)
{
	Buffer	   *seen = kept_pending(search->kept_index);
	uint32		slot = place % MAX_PENDING_PAGES;
	Buffer		buffer;
	Page		page;
	bool		ours;

	CHECK_FOR_INTERRUPTS();
	buffer = kept_lock_block(search->store.index, meta->pending[slot], &seen[slot]);
	page = BufferGetPage(buffer);
	ours = page_is_of(page, PENDING_OWNER(place));
	if (ours && rows == NULL)
		n = pending_count(page);
	for (int i = 0; i < n && ours; i++)
	{
		const PendingHead *head = rows != NULL ? &rows[i].head :
			pending_head(page, i);

		if (is_likely(search, head))
			take_pending(search, page, head);
	}
	if (rows == NULL)
		search->counters->candidates += n;
	UnlockReleaseBuffer(buffer);
	return ours;
}

/*
 * The rows that are kept.  Where all are of the query's making, most are left out
 * by their sizes, without a branch for each.
 */
static bool
search_kept(Search *search, const InvertedMeta *meta, const KeptRows *rows)
{
	bool		foreign = (rows->makings & ~told_bit(search)) != 0;
	uint64		least = foreign ? 0 : search->least_size;
	uint64		range = foreign ? PG_UINT64_MAX : search->most_size - least;
	uint32		some[KEPT_AT_ONCE];

	search->counters->candidates += rows->n;
	for (size_t begin = 0; begin < rows->n; begin += KEPT_AT_ONCE)
	{
		size_t		end = Min(begin + KEPT_AT_ONCE, rows->n);
		uint32		n = 0;

		for (size_t i = begin; i < end; i++)
		{
			some[n] = i;
			n += rows->sizes[i] - least <= range;
		}
		for (uint32 k = 0; k < n; k++)
		{
			const KeptRow *row = &rows->rows[some[k]];

			if (is_likely(search, &row->head) &&
				!search_page(search, meta, kept_place(rows, row), row, 1))
				return false;
		}
	}
	return true;
}

static bool
search_pending(Search *search, const InvertedMeta *meta)
{
	const KeptRows *rows = kept_rows(search->kept_index, search->store.index, meta);

	if (rows == NULL || !search_kept(search, meta, rows))
		return false;
	for (uint64 place = rows->end; place < meta->pending_end; place++)
		if (!search_page(search, meta, place, NULL, 0))
			return false;
	return true;
}

/* The whole */

static void
begin(Search *search, const InvertedMeta *meta)
{
	const InvertedQuery *query = search->query;

	search->limit = get_float8_infinity();
	search->most_size = PG_UINT64_MAX;
	search->own = search->making = MAKING_NONE;
	if (query->making == NULL)
		return;
	(void) making_number(meta, query->making, &search->own);
	if (search->own >= MAX_MAKINGS ||
		!making_equal(&meta->makings[search->own], query->making))
		search->own = MAKING_NONE;
	if (query->all)
		return;
	search->making = search->own;
	search->slack = query->shares != NULL ? 0 : query->size - query->nkeys;
	search->bitmap = keys_bitmap(query->keys, query->nkeys);
	search->least = 1;
	if (!query->filter || query->size == 0 || query->shares != NULL)
		return;
	if (query->sketch)
	{
		search->least = sketch_least_overlap(query);
		return;
	}
	search->least = measure_least_overlap(measure_commute(query->measure),
										  query->size, query->threshold);
	measure_sizes(measure_commute(query->measure), query->size,
				  query->threshold, &search->least_size, &search->most_size);
	search->equal = search->least == query->size &&
		search->least_size == query->size && search->most_size == query->size;
	if (search->equal)
		search->order = keys_order(query->keys, query->nkeys);
}

/* Pages that this session has taken from the server's buffers. */
static uint64
pages_read(void)
{
	return pgBufferUsage.shared_blks_hit + pgBufferUsage.shared_blks_read +
		pgBufferUsage.local_blks_hit + pgBufferUsage.local_blks_read;
}

/*
 * Raises INDEX_CORRUPTED if nothing was merged or used again since the metapage
 * was read: then something was not where it said.
 */
static void
require_change(Relation index, const InvertedMeta *before)
{
	InvertedMeta *now = palloc(sizeof(InvertedMeta));

	meta_copy(index, now);
	if (now->next_owner == before->next_owner &&
		now->nsegments == before->nsegments &&
		now->pending_kept == before->pending_kept)
		inverted_corrupt(index, META_BLOCK,
						 "A page that it names belongs to something else.");
	pfree(now);
}

bool
inverted_search(Relation index, const InvertedQuery *query, TakeRow take,
				void *taker)
{
	InvertedMeta *meta = palloc(sizeof(InvertedMeta));
	Search		search = {{.index = index}, query, take, taker,
	inverted_counters(RelationGetRelid(index))};
	uint64		before = pages_read();
	bool		complete;

	search.counters->passes++;
	meta_copy(index, meta);
	pause_at(PAUSE_SEARCH);
	begin(&search, meta);
	search.kept_index = kept_index(index, meta);
	search.keys = palloc_extended(Max(query->nkeys, 1) * sizeof(uint32),
								  MCXT_ALLOC_HUGE);
	complete = search_pending(&search, meta);
	for (uint32 i = 0; i < meta->nsegments && complete; i++)
		complete = search_segment(&search, &meta->segments[i]);
	search.counters->pages += pages_read() - before;
	if (!complete)
		require_change(index, meta);
	pfree(search.keys);
	pfree(meta);
	return complete;
}
