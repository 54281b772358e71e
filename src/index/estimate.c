/*
 * estimate.c
 *		The aggregates that tell beforehand how large an index will be.
 *
 * What the list of a key takes does not depend on the other keys.  So a share
 * of the keys tells what all take, if it is taken from all rows.  A share of the
 * rows does not: most keys are in few rows, and what a row takes is decided by
 * how many others have the same.
 *
 * What long lists take is in proportion to their postings, and it is chance which
 * of them are in the sample.  As the number of all postings is known, those that
 * are missing, or too many, count as much as the ones of long lists do.
 */
#include "postgres.h"

#include <math.h>

#include "access/gin_private.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "base/call.h"
#include "base/compat.h"
#include "base/hash.h"
#include "base/interrupts.h"
#include "base/memory.h"
#include "base/sort_uint64.h"
#include "gin/gin.h"
#include "index/codec.h"
#include "index/filter.h"
#include "index/postings.h"
#include "index/row.h"

/* Postings in the sample, and rows that are looked at */
#define MAX_SAMPLE			(4 << 20)
#define MAX_ROWS			(16 << 20)

/* Lists of so many rows are long. */
#define LONG_LIST			256

/* Of a row in the table, beside its signature */
#define ROW_BYTES			48

/*
 * How full pages of entries get in GIN: half where keys come in order, all in one
 * go; then that is filled up; and about so much where they come in many.  And
 * those of its posting trees.
 */
#define GIN_FILL_ORDERED	0.5
#define GIN_FILL_RANDOM		0.71
#define GIN_TREE_FILL		0.75

/* What GIN has in memory for a key of so many rows while it builds. */
#define GIN_KEY_MEMORY		112
#define GIN_KEY_ROOM		5	/* rows; twice as many, when it is full */

typedef struct Estimate
{
	MemoryContext context;
	MemoryContext row;			/* reset for each row */
	bool		gin;
	GinSignatureOptions options;
	uint64		nrows;
	uint64		taken;			/* those that were looked at */
	uint64		npostings;		/* of these */
	uint64		width;			/* and their bytes in the table */
	uint64	   *orders;			/* see IndexedRow; not for GIN */
	size_t		orders_size;
	uint64	   *sample;			/* postings of one key in 2^shift: the key, and
								 * the number of the row */
	size_t		n;
	size_t		sample_size;
	int			shift;
	double		pages;			/* the result, once it has been asked for */
} Estimate;

#define POSTING_KEY(posting)	((uint32) ((posting) >> 32))
#define POSTING_ROW(posting)	((uint32) (posting))

PG_FUNCTION_INFO_V1(neardup_estimate_add);
PG_FUNCTION_INFO_V1(neardup_estimate_final);

/* The sample */

static inline bool
is_in_sample(const Estimate *estimate, uint32 key)
{
	return (mix64(key) & ((UINT64CONST(1) << estimate->shift) - 1)) == 0;
}

/* Leaves out every other key. */
static void
thin_out(Estimate *estimate)
{
	size_t		n = 0;

	estimate->shift++;
	for (size_t i = 0; i < estimate->n; i++)
	{
		CHECK_EVERY(i);
		if (is_in_sample(estimate, POSTING_KEY(estimate->sample[i])))
			estimate->sample[n++] = estimate->sample[i];
	}
	estimate->n = n;
}

static void
add_posting(Estimate *estimate, uint32 key)
{
	if (!is_in_sample(estimate, key))
		return;
	estimate->sample = growing_reserve(estimate->sample, &estimate->sample_size,
									   estimate->n + 1, sizeof(uint64));
	estimate->sample[estimate->n++] = (uint64) key << 32 | estimate->taken;
	if (estimate->n == MAX_SAMPLE)
		thin_out(estimate);
}

/* The keys of a row in GIN; the one that stands for its spec is little. */
static uint32
gin_keys(const Estimate *estimate, const Signature *sig, const uint32 **keys)
{
	uint64		n;
	const uint64 *elements = gin_row_elements(sig, &estimate->options, &n);
	uint32	   *result = palloc_extended(Max(n, 1) * sizeof(uint32),
										 MCXT_ALLOC_HUGE);

	for (uint64 i = 0; i < n; i++)
		result[i] = elements[i] >> 32;
	*keys = result;
	return n;
}

static void
add_row(Estimate *estimate, const Signature *sig)
{
	MemoryContext old = MemoryContextSwitchTo(estimate->row);
	const uint32 *keys = NULL;
	uint32		nkeys = 0;
	IndexedRow row = {0};

	if (!estimate->gin)
	{
		indexed_row_set(&row, sig);
		keys = row.keys;
		nkeys = row.nkeys;
	}
	else if (sig != NULL)
		nkeys = gin_keys(estimate, sig, &keys);
	MemoryContextSwitchTo(estimate->context);
	for (uint32 i = 0; i < nkeys; i++)
	{
		CHECK_EVERY(i);
		add_posting(estimate, keys[i]);
	}
	if (!estimate->gin)
	{
		estimate->orders = growing_reserve(estimate->orders,
										   &estimate->orders_size,
										   estimate->taken + 1, sizeof(uint64));
		estimate->orders[estimate->taken] = row.order;
	}
	estimate->npostings += nkeys;
	estimate->width += ROW_BYTES + (sig == NULL ? 0 : VARSIZE(sig));
	estimate->taken++;
	MemoryContextSwitchTo(old);
	MemoryContextReset(estimate->row);
}

static Estimate *
create_estimate(FunctionCallInfo fcinfo)
{
	MemoryContext context = call_aggregate_context(fcinfo);
	Estimate   *estimate = MemoryContextAllocZero(context, sizeof(Estimate));
	double		threshold;

	estimate->context = context;
	estimate->row = AllocSetContextCreate(context, "neardup row",
										  ALLOCSET_DEFAULT_SIZES);
	if (PG_NARGS() == 2)
		return estimate;
	threshold = PG_ARGISNULL(2) ? -1 :
		argument_real("threshold of an index", PG_GETARG_FLOAT8(2), 0, 1);
	if (threshold < 0)
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("threshold of an index must not be null")));
	estimate->gin = true;
	estimate->options = gin_signature_options(NULL);
	estimate->options.threshold = threshold;
	if (threshold < GIN_LEAST_THRESHOLD)
		estimate->options.measure = MEASURE_CONTAINMENT;
	return estimate;
}

/* (state internal, sig signature [, threshold float8]) */
Datum
neardup_estimate_add(PG_FUNCTION_ARGS)
{
	Estimate   *estimate = PG_ARGISNULL(0) ? create_estimate(fcinfo) :
		(Estimate *) PG_GETARG_POINTER(0);

	if (estimate->taken < MAX_ROWS)
		add_row(estimate, PG_ARGISNULL(1) ? NULL : PG_GETARG_SIGNATURE(1));
	estimate->nrows++;
	PG_RETURN_POINTER(estimate);
}

/* Sums */

/* What the lists in the sample take, and how much of it long ones do. */
typedef struct Sums
{
	double		bytes;
	double		long_bytes;
	double		long_postings;
	double		keys;
} Sums;

/*
 * What the lists of all keys take: those in the sample, and what postings are
 * more than these stand for, or less.
 */
static double
all_bytes(const Estimate *estimate, const Sums *sums)
{
	double		times = (double) (UINT64CONST(1) << estimate->shift);
	double		missing = estimate->npostings - times * estimate->n;

	if (sums->long_postings == 0)
		return times * sums->bytes;
	return times * sums->bytes + missing * sums->long_bytes / sums->long_postings;
}

static void
add_list(Sums *sums, size_t postings, double bytes)
{
	sums->keys++;
	sums->bytes += bytes;
	if (postings < LONG_LIST)
		return;
	sums->long_postings += postings;
	sums->long_bytes += bytes;
}

/* Postings of the key at i in the sample, which is sorted. */
static size_t
list_length_at(const Estimate *estimate, size_t i)
{
	size_t		n = 1;

	while (i + n < estimate->n &&
		   POSTING_KEY(estimate->sample[i + n]) == POSTING_KEY(estimate->sample[i]))
		n++;
	return n;
}

/* Access method neardup */

typedef struct Place
{
	uint64		order;
	uint32		row;
} Place;

#define ST_SORT sort_places
#define ST_ELEMENT_TYPE Place
#define ST_COMPARE(a, b) \
	((a)->order != (b)->order ? ((a)->order > (b)->order) - ((a)->order < (b)->order) : \
	 ((a)->row > (b)->row) - ((a)->row < (b)->row))
#define ST_SCOPE static
#define ST_CHECK_FOR_INTERRUPTS
#define ST_DEFINE
#include "lib/sort_template.h"

/* Gives rows the numbers that they have in the index. */
static void
number_rows(Estimate *estimate)
{
	uint64		n = estimate->taken;
	Place	   *places = palloc_extended(Max(n, 1) * sizeof(Place), MCXT_ALLOC_HUGE);
	uint32	   *numbers = palloc_extended(Max(n, 1) * sizeof(uint32), MCXT_ALLOC_HUGE);

	for (uint64 i = 0; i < n; i++)
		places[i] = (Place) {estimate->orders[i], i};
	sort_places(places, n);
	for (uint64 i = 0; i < n; i++)
		numbers[places[i].row] = i;
	for (size_t i = 0; i < estimate->n; i++)
		estimate->sample[i] = (estimate->sample[i] & ~UINT64CONST(0xffffffff)) |
			numbers[POSTING_ROW(estimate->sample[i])];
	pfree(numbers);
	pfree(places);
}

/* What the runs of a list take; see postings.h. */
static double
list_bytes(const uint64 *postings, size_t n)
{
	uint32		first = POSTING_ROW(postings[0]);
	size_t		length = 0;
	size_t		bytes = 0;
	uint32		end = 0;
	int			nruns = 0;

	for (size_t i = 0; i < n; i += length)
	{
		uint32		row = POSTING_ROW(postings[i]);

		CHECK_EVERY(i);
		for (length = 1; i + length < n &&
			 POSTING_ROW(postings[i + length]) == row + length; length++)
			 /* count */ ;
		bytes += number_bytes((uint64) (row - end) << 1) +
			(length > 1 ? number_bytes(length) : 0);
		end = row + length;
		nruns++;
	}
	if (nruns > 1)
		return number_bytes(bytes << 2) + bytes;
	return number_bytes((uint64) first << 2) +
		(length > 1 ? number_bytes(length) : 0);
}

/* Its key: mostly what it is more than the one before. */
static double
key_bytes(uint32 more)
{
	return (number_bytes(more) * (RESTART_EVERY - 1) + (double) sizeof(Restart)) /
		RESTART_EVERY;
}

/* Pages for so many bytes, with their directory. */
static double
pages_for(double bytes)
{
	double		pages = ceil(bytes / PAGE_ROOM);

	return pages <= 1 ? pages :
		pages + ceil(pages * sizeof(DirectoryEntry) / PAGE_ROOM);
}

static double
index_pages(Estimate *estimate, double times)
{
	Sums		sums = {0};
	uint32		last = 0;
	size_t		n;

	number_rows(estimate);
	sort_hashes(estimate->sample, estimate->n);
	for (size_t i = 0; i < estimate->n; i += n)
	{
		uint32		key = POSTING_KEY(estimate->sample[i]);

		n = list_length_at(estimate, i);
		add_list(&sums, n, list_bytes(estimate->sample + i, n) +
				 key_bytes((key - last) >> estimate->shift));
		last = key;
	}
	return 1 + pages_for(times * estimate->taken * sizeof(ForwardEntry)) +
		pages_for(times * all_bytes(estimate, &sums)) +
		pages_for(times * ldexp(sums.keys, estimate->shift) /
				  FILTER_KEYS_PER_WORD * sizeof(uint64));
}

/* GIN */

static double
entry_memory(size_t n)
{
	size_t		room = GIN_KEY_ROOM;

	while (room < n)
		room *= 2;
	return GIN_KEY_MEMORY + (room - GIN_KEY_ROOM) * sizeof(ItemPointerData);
}

/* How full pages get, with the memory that there is. */
static double
gin_fill(double memory)
{
	double		goes = memory / (maintenance_work_mem * 1024.0);

	return Min(GIN_FILL_ORDERED * Max(goes, 1), GIN_FILL_RANDOM);
}

/* What an entry takes on pages of entries, and *tree elsewhere; see gin_private.h. */
static double
entry_bytes(const uint64 *postings, size_t n, double rows_per_page,
			double *tree)
{
	uint64		before = 0;
	Size		bytes = offsetof(GinPostingList, bytes);
	Size		head = MAXALIGN(sizeof(IndexTupleData) + sizeof(int32));

	for (size_t i = 0; i < n; i++)
	{
		uint32		row = POSTING_ROW(postings[i]);
		uint64		block = (uint64) (row / rows_per_page);
		uint64		tid = block << 11 | (row - (uint64) (block * rows_per_page) + 1);

		CHECK_EVERY(i);
		if (i > 0)
			bytes += number_bytes(tid - before);
		before = tid;
	}
	if (head + bytes <= GinMaxItemSize)
		return MAXALIGN(head + bytes) + sizeof(ItemIdData);
	*tree += ceil(bytes / GIN_TREE_FILL / GinDataPageMaxDataSize) * BLCKSZ;
	return head + sizeof(ItemIdData);
}

static double
gin_pages(Estimate *estimate, double times)
{
	double		rows_per_page = Max(1, (double) BLCKSZ * estimate->taken / estimate->width);
	Sums		entries = {0};
	Sums		trees = {0};
	double		memory = 0;
	size_t		n;

	sort_hashes(estimate->sample, estimate->n);
	for (size_t i = 0; i < estimate->n; i += n)
	{
		double		tree = 0;

		n = list_length_at(estimate, i);
		add_list(&entries, n, entry_bytes(estimate->sample + i, n,
										  rows_per_page, &tree));
		add_list(&trees, n, tree);
		memory += entry_memory(n);
	}
	memory = times * ldexp(memory, estimate->shift);
	return 2 + ceil(times * all_bytes(estimate, &entries) / gin_fill(memory) /
					PAGE_ROOM) +
		times * all_bytes(estimate, &trees) / BLCKSZ;
}

/*
 * What the index takes, in bytes.  The sample is no longer what it was when it
 * has been counted, and a hash table that is read again asks again.
 */
Datum
neardup_estimate_final(PG_FUNCTION_ARGS)
{
	Estimate   *estimate;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	estimate = (Estimate *) PG_GETARG_POINTER(0);
	if (estimate->pages == 0)
	{
		double		times = (double) estimate->nrows / estimate->taken;

		estimate->pages = estimate->gin ? gin_pages(estimate, times) :
			index_pages(estimate, times);
	}
	PG_RETURN_INT64((int64) (estimate->pages * BLCKSZ));
}
