/*
 * estimate.c
 *		neardup_estimate() and neardup_estimate_gin(): estimate the size of an
 *		index from a sample of keys.
 *
 * The size of a list does not depend on other keys, so a sample of the keys,
 * with all of their rows, is representative.  A sample of the rows is not:
 * most keys are in few rows, and the size of a row depends on how many others
 * have the same keys.
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
#include "index/directory.h"
#include "index/postings.h"
#include "index/segment_writer.h"

/* Most postings in the sample */
#define MAX_SAMPLE			(4 << 20)

/* Bytes of a row in the table besides its signature */
#define ROW_BYTES			48

/*
 * Fill of pages in GIN.  Pages of entries are filled better with each ordered
 * batch of keys, up to the fill of random order.  Posting trees have their
 * own.
 */
#define GIN_FILL_ORDERED	0.5
#define GIN_FILL_RANDOM		0.71
#define GIN_TREE_FILL		0.75

/*
 * Memory of a key and of a row in its list, while GIN builds; arrays double in
 * size
 */
#define GIN_KEY_MEMORY		112
#define GIN_ROW_MEMORY		(1.5 * sizeof(ItemPointerData))

/* State of the aggregate */
typedef struct Estimate
{
	MemoryContext context;
	MemoryContext row;			/* reset for each row */
	bool		gin;
	GinSignatureOptions options;
	uint32		nrows;
	uint64		width;			/* bytes of the rows in the table */
	uint64	   *orders;			/* sort keys of the rows; NULL for GIN */
	size_t		orders_size;
	uint64	   *sample;			/* postings of one key in 2^shift: key, row */
	size_t		n;
	size_t		sample_size;
	int			shift;
	double		pages;			/* the result, once computed */
} Estimate;

#define POSTING_KEY(posting)	((uint32) ((posting) >> 32))
#define POSTING_ROW(posting)	((uint32) (posting))

PG_FUNCTION_INFO_V1(neardup_estimate_add);
PG_FUNCTION_INFO_V1(neardup_estimate_final);

/* The sample */

/* True if the sample has the postings of a key. */
static inline bool
is_in_sample(const Estimate *estimate, uint32 key)
{
	return (mix64(key) & ((UINT64CONST(1) << estimate->shift) - 1)) == 0;
}

/* Drop every other key. */
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

/* Add the current row to the list of a key. */
static void
add_posting(Estimate *estimate, uint32 key)
{
	if (!is_in_sample(estimate, key))
		return;
	estimate->sample = growing_reserve(estimate->sample,
									   &estimate->sample_size,
									   estimate->n + 1, sizeof(uint64));
	estimate->sample[estimate->n++] = (uint64) key << 32 | estimate->nrows;
	if (estimate->n == MAX_SAMPLE)
		thin_out(estimate);
}

/* Return the keys of a row in GIN, without the key of its spec. */
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

/* Add a row's keys.  NULL is a row without a signature. */
static void
add_row(Estimate *estimate, const Signature *sig)
{
	MemoryContext old = MemoryContextSwitchTo(estimate->row);
	const uint32 *keys = NULL;
	uint32		nkeys = 0;
	IndexedRow	row = {0};

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
										   (size_t) estimate->nrows + 1,
										   sizeof(uint64));
		estimate->orders[estimate->nrows] = row.order;
	}
	estimate->width += ROW_BYTES + (sig == NULL ? 0 : VARSIZE(sig));
	estimate->nrows++;
	MemoryContextSwitchTo(old);
	MemoryContextReset(estimate->row);
}

/* Begin an estimate for the kind of index that the aggregate is about. */
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
	if (threshold < GIN_LEAST_THRESHOLD)
		estimate->options.measure = MEASURE_CONTAINMENT;
	else
		estimate->options.threshold = threshold;
	return estimate;
}

/* (state internal, sig signature [, threshold float8]) */
Datum
neardup_estimate_add(PG_FUNCTION_ARGS)
{
	Estimate   *estimate = PG_ARGISNULL(0) ? create_estimate(fcinfo) :
	(Estimate *) PG_GETARG_POINTER(0);

	if (estimate->nrows == PG_UINT32_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("too many rows to estimate the size of an index")));
	add_row(estimate, PG_ARGISNULL(1) ? NULL : PG_GETARG_SIGNATURE(1));
	PG_RETURN_POINTER(estimate);
}

/*
 * Return the number of postings of the key at i in the sample, which is
 * sorted.
 */
static size_t
list_length_at(const Estimate *estimate, size_t i)
{
	size_t		n = 1;

	while (i + n < estimate->n &&
		   POSTING_KEY(estimate->sample[i + n]) ==
		   POSTING_KEY(estimate->sample[i]))
		n++;
	return n;
}

/* Access method neardup */

/* Replace rows in the sample by the numbers that they have in the index. */
static void
number_rows(Estimate *estimate)
{
	uint32		n = estimate->nrows;
	RowOrder   *order = palloc_extended(Max(n, 1) * sizeof(RowOrder),
										MCXT_ALLOC_HUGE);
	uint32	   *numbers = palloc_extended(Max(n, 1) * sizeof(uint32),
										  MCXT_ALLOC_HUGE);

	for (uint32 i = 0; i < n; i++)
	{
		CHECK_EVERY(i);
		order[i] = (RowOrder)
		{
			estimate->orders[i], i
		};
	}
	sort_rows(order, n);
	for (uint32 i = 0; i < n; i++)
	{
		CHECK_EVERY(i);
		numbers[order[i].row] = i;
	}
	for (size_t i = 0; i < estimate->n; i++)
	{
		CHECK_EVERY(i);
		estimate->sample[i] =
			(estimate->sample[i] & ~UINT64CONST(0xffffffff)) |
			numbers[POSTING_ROW(estimate->sample[i])];
	}
	pfree(numbers);
	pfree(order);
}

/* Return the bytes of a list, see postings.h. */
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

/* Return the number of pages, with their directory. */
static double
pages_for(double bytes)
{
	double		pages = ceil(bytes / PAGE_ROOM);

	return pages <= 1 ? pages :
		pages + ceil(pages * sizeof(DirectoryEntry) / PAGE_ROOM);
}

/* Return the number of pages of an index of access method neardup. */
static double
index_pages(Estimate *estimate)
{
	double		times = ldexp(1, estimate->shift);
	double		bytes = 0;
	double		keys = 0;
	uint32		last = 0;
	size_t		n;

	number_rows(estimate);
	sort_hashes(estimate->sample, estimate->n);
	for (size_t i = 0; i < estimate->n; i += n, keys++)
	{
		uint32		key = POSTING_KEY(estimate->sample[i]);

		n = list_length_at(estimate, i);

		/*
		 * One key in RESTART_EVERY is in a restart, the others are
		 * differences.
		 */
		bytes += list_bytes(estimate->sample + i, n) +
			(number_bytes((key - last) >> estimate->shift) * (RESTART_EVERY -
															  1) +
			 (double) sizeof(Restart)) / RESTART_EVERY;
		last = key;
	}
	return 1 + pages_for((double) estimate->nrows * sizeof(ForwardEntry)) +
		pages_for(times * bytes) +
		pages_for(times * keys / FILTER_KEYS_PER_WORD * sizeof(uint64));
}

/* GIN */

/* Return the fill of pages of entries, with maintenance_work_mem. */
static double
gin_fill(double memory)
{
	double		goes = memory / (maintenance_work_mem * 1024.0);

	return Min(GIN_FILL_ORDERED * Max(goes, 1), GIN_FILL_RANDOM);
}

/*
 * Return the bytes of an entry, and add the bytes of its posting tree to
 * *tree.  See gin_private.h.
 */
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
		uint64		tid = block << 11 |
		(row - (uint64) (block * rows_per_page) + 1);

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

/* Return the number of pages of a GIN index. */
static double
gin_pages(Estimate *estimate)
{
	double		times = ldexp(1, estimate->shift);
	double		rows_per_page = Max(1,
									(double) BLCKSZ * estimate->nrows /
									estimate->width);
	double		entries = 0;
	double		trees = 0;
	double		keys = 0;
	double		memory;
	size_t		n;

	sort_hashes(estimate->sample, estimate->n);
	for (size_t i = 0; i < estimate->n; i += n, keys++)
	{
		n = list_length_at(estimate, i);
		entries += entry_bytes(estimate->sample + i, n, rows_per_page, &trees);
	}
	memory = keys * GIN_KEY_MEMORY + estimate->n * GIN_ROW_MEMORY;
	return 2 + ceil(times * entries / gin_fill(times * memory) / PAGE_ROOM) +
		times * trees / BLCKSZ;
}

/*
 * Return the bytes of the index.  The result is kept: a hash table that is
 * rescanned calls this again, with a changed sample.
 */
Datum
neardup_estimate_final(PG_FUNCTION_ARGS)
{
	Estimate   *estimate;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	estimate = (Estimate *) PG_GETARG_POINTER(0);
	if (estimate->pages == 0)
		estimate->pages = estimate->gin ? gin_pages(estimate) :
			index_pages(estimate);
	PG_RETURN_INT64((int64) (estimate->pages * BLCKSZ));
}
