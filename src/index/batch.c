/*
 * batch.c
 *		Rows in memory, from which a segment is written.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "index/batch.h"

/* Passes of the sort by key, and bits of each. */
#define PASSES				3
#define PASS_BITS			11
#define BUCKETS				(1 << PASS_BITS)

#define MAX_ROWS			(1 << 24)
#define MAX_TOTAL			(UINT64CONST(1) << 31)

/* Of a row in the order in which it is stored. */
typedef struct RowOrder
{
	uint64		order;
	uint32		row;
} RowOrder;

static inline int
compare_order(const RowOrder *a, const RowOrder *b)
{
	if (a->order != b->order)
		return a->order < b->order ? -1 : 1;
	return (a->row > b->row) - (a->row < b->row);
}

#define ST_SORT sort_order
#define ST_ELEMENT_TYPE RowOrder
#define ST_COMPARE(a, b) compare_order(a, b)
#define ST_SCOPE static
#define ST_CHECK_FOR_INTERRUPTS
#define ST_DEFINE
#include "lib/sort_template.h"

Batch *
batch_create(void)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext,
												  "neardup batch",
												  ALLOCSET_DEFAULT_SIZES);
	Batch	   *batch = MemoryContextAllocZero(context, sizeof(Batch));

	batch->context = context;
	batch->rows_size = 64;
	batch->keys_size = 1024;
	batch->rows = MemoryContextAlloc(context, batch->rows_size * sizeof(ForwardEntry));
	batch->places = MemoryContextAlloc(context, batch->rows_size * sizeof(uint64));
	batch->nkeys = MemoryContextAlloc(context, batch->rows_size * sizeof(uint32));
	batch->keys = MemoryContextAlloc(context, batch->keys_size * sizeof(uint32));
	return batch;
}

void
batch_free(Batch *batch)
{
	MemoryContextDelete(batch->context);
}

static void
make_room(Batch *batch, uint32 nkeys)
{
	if (batch->nrows == batch->rows_size)
	{
		batch->rows_size *= 2;
		batch->rows = repalloc_huge(batch->rows,
									batch->rows_size * sizeof(ForwardEntry));
		batch->places = repalloc_huge(batch->places,
									  batch->rows_size * sizeof(uint64));
		batch->nkeys = repalloc_huge(batch->nkeys,
									 batch->rows_size * sizeof(uint32));
	}
	if (batch->total + nkeys > batch->keys_size)
	{
		batch->keys_size = Max(batch->total + nkeys,
							   batch->keys_size + batch->keys_size / 2);
		batch->keys = repalloc_huge(batch->keys,
									batch->keys_size * sizeof(uint32));
	}
}

void
batch_add(Batch *batch, const IndexedRow *row)
{
	ForwardEntry *entry;

	make_room(batch, row->nkeys);
	entry = &batch->rows[batch->nrows];
	entry->order_high = row->order >> 32;
	entry->order_low = (uint32) row->order;
	entry->size = row->size;
	entry->tid = row->tid;
	entry->spec = row->spec;
	batch->places[batch->nrows] = batch->total;
	batch->nkeys[batch->nrows++] = row->nkeys;
	if (row->nkeys > 0)
		memcpy(batch->keys + batch->total, row->keys,
			   row->nkeys * sizeof(uint32));
	batch->total += row->nkeys;
}

uint64
batch_memory(const Batch *batch)
{
	return batch->nrows * (sizeof(ForwardEntry) + sizeof(RowOrder) + 12) +
		batch->keys_size * sizeof(uint32) + batch->total * 2 * sizeof(uint64);
}

bool
batch_full(const Batch *batch)
{
	return batch->nrows >= MAX_ROWS || batch->total >= MAX_TOTAL;
}

/* The rows in their order. */
static RowOrder *
ordered(const Batch *batch)
{
	RowOrder   *order = palloc_extended(batch->nrows * sizeof(RowOrder),
										MCXT_ALLOC_HUGE);

	for (uint32 i = 0; i < batch->nrows; i++)
	{
		order[i].order = forward_order(&batch->rows[i]);
		order[i].row = i;
	}
	sort_order(order, batch->nrows);
	return order;
}

/* Sorts postings, key in the upper half, that are sorted by the lower half. */
static uint64 *
sort_postings(uint64 *from, uint64 *to, uint64 n)
{
	for (int pass = 0; pass < PASSES; pass++)
	{
		int			shift = 32 + pass * PASS_BITS;
		uint64		starts[BUCKETS] = {0};
		uint64		sum = 0;
		uint64	   *swap = from;

		CHECK_FOR_INTERRUPTS();
		for (uint64 i = 0; i < n; i++)
			starts[from[i] >> shift & (BUCKETS - 1)]++;
		for (int b = 0; b < BUCKETS; b++)
		{
			uint64		count = starts[b];

			starts[b] = sum;
			sum += count;
		}
		for (uint64 i = 0; i < n; i++)
			to[starts[from[i] >> shift & (BUCKETS - 1)]++] = from[i];
		from = to;
		to = swap;
	}
	return from;
}

static void
write_lists(SegmentWriter *writer, const uint64 *postings, uint64 n)
{
	Runs		runs = {0};

	for (uint64 i = 0; i < n;)
	{
		uint32		key = postings[i] >> 32;

		runs.n = 0;
		for (; i < n && postings[i] >> 32 == key; i++)
		{
			uint32		row = (uint32) postings[i];

			if (runs.n > 0 && runs.end[runs.n - 1] == row)
				runs.end[runs.n - 1]++;
			else
				runs_add(&runs, row, row + 1);
		}
		segment_add_list(writer, key, &runs);
		if (i % 1024 == 0)
			CHECK_FOR_INTERRUPTS();
	}
}

/* How many keys there are in sorted postings. */
static uint64
count_keys(const uint64 *postings, uint64 n)
{
	uint64		count = n > 0;

	for (uint64 i = 1; i < n; i++)
		count += postings[i] >> 32 != postings[i - 1] >> 32;
	return count;
}

/* All postings, in the order of rows. */
static void
list_postings(const Batch *batch, const RowOrder *order, uint64 *postings)
{
	uint64		n = 0;

	for (uint32 i = 0; i < batch->nrows; i++)
	{
		uint32		row = order[i].row;
		const uint32 *keys = batch->keys + batch->places[row];

		for (uint32 k = 0; k < batch->nkeys[row]; k++)
			postings[n++] = (uint64) keys[k] << 32 | i;
	}
}

SegmentInfo
batch_write(Batch *batch, PageStore *store, uint64 owner)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext,
												  "neardup segment",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	SegmentWriter *writer = NULL;
	Size		bytes = Max(batch->total, 1) * sizeof(uint64);
	uint64	   *postings = palloc_extended(bytes, MCXT_ALLOC_HUGE);
	uint64	   *other = palloc_extended(bytes, MCXT_ALLOC_HUGE);
	RowOrder   *order;
	SegmentInfo info;

	order = ordered(batch);
	list_postings(batch, order, postings);
	postings = sort_postings(postings, other, batch->total);
	writer = segment_begin(store, owner, count_keys(postings, batch->total));
	for (uint32 i = 0; i < batch->nrows; i++)
		segment_add_row(writer, &batch->rows[order[i].row]);
	write_lists(writer, postings, batch->total);
	info = segment_end(writer);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
	batch->nrows = 0;
	batch->total = 0;
	return info;
}
