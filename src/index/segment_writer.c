/*
 * segment_writer.c
 *		Writing a segment, at once or in steps.
 *
 * Pages of rows and lists are built in memory, and written when they are full.
 * Words of the filter and entries of directories stay in memory until the step
 * ends.  A step ends where the next key begins a page of the filter, so that
 * no such page is written twice.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "base/memory.h"
#include "index/directory.h"
#include "index/postings.h"
#include "index/segment_writer.h"

/* Most bytes of an entry besides its runs, with its restart */
#define ENTRY_OVERHEAD		(3 * MAX_NUMBER_BYTES + sizeof(Restart))

/* Runs of at most so many bytes are not split between pages. */
#define UNBROKEN_BYTES		1024

/* Least room on a page for a chunk of a list */
#define MIN_CHUNK			256

/* Radix sort of postings by key: number of passes, and bits sorted by each */
#define PASSES				3
#define PASS_BITS			11
#define BUCKETS				(1 << PASS_BITS)

/* Most rows and keys of a batch */
#define MAX_ROWS			(1 << 24)
#define MAX_TOTAL			(UINT64CONST(1) << 31)

/* Pages of one kind that this step has written, for their directory */
typedef struct PageList
{
	DirectoryEntry *pages;
	uint32		n;
	size_t		size;
} PageList;

struct SegmentWriter
{
	WriterState *state;
	SegmentInfo info;			/* info of the state, plus this step */
	ChainWriter chain;
	PageKind	kind;			/* kind of the page in memory; 0 = none */
	uint8	   *at;				/* place for the next entry on it */
	uint32		nrestarts;		/* restarts on it */
	uint32		entry;			/* entries since the first restart on it */
	uint32		last_key;
	PageList	forward;
	PageList	postings;
	uint64	   *words;			/* words of the filter from first_word */
	size_t		nwords;
	size_t		words_size;
	uint32		first_word;
	uint8	   *bytes;			/* encoded runs */
	size_t		bytes_size;
	PGAlignedBlock page;
};

void
segment_create(PageStore *store, uint64 segment_id, WriterState *state)
{
	memset(state, 0, sizeof(WriterState));
	chain_create(store, segment_id, &state->chain);
	state->info.segment_id = state->info.oldest = segment_id;
	state->info.first = state->chain.first;
	state->info.first_lists = state->info.last_lists = InvalidBlockNumber;
	state->info.forward.root = state->info.postings.root =
		state->info.filter.root = InvalidBlockNumber;
}

SegmentWriter *
writer_begin_step(PageStore *store, WriterState *state)
{
	SegmentWriter *writer = palloc0(sizeof(SegmentWriter));

	writer->state = state;
	writer->info = state->info;
	writer->first_word = state->next_word;
	writer->bytes_size = BLCKSZ;
	writer->bytes = palloc(writer->bytes_size);
	chain_begin_step(&writer->chain, store, state->info.segment_id,
					 &state->chain);
	return writer;
}

/* Pages */

/* Return the last restart on the page, or its tail. */
static Restart *
restarts_end(SegmentWriter *writer)
{
	return (Restart *) PAGE_TAIL(writer->page.data) - writer->nrestarts;
}

/* Return the bytes left on the page. */
static size_t
room(SegmentWriter *writer)
{
	return (uint8 *) restarts_end(writer) - writer->at;
}

/* Write the page in memory, if there is one. */
static void
finish_page(SegmentWriter *writer)
{
	PageHeader	header = (PageHeader) writer->page.data;
	BlockNumber block;

	if (writer->kind == 0)
		return;
	header->pd_lower = writer->at - (uint8 *) writer->page.data;
	header->pd_upper = (char *) restarts_end(writer) - writer->page.data;
	Assert(header->pd_lower <= header->pd_upper);
	block = chain_put(&writer->chain, writer->page.data);
	if (writer->kind != PAGE_FORWARD)
	{
		if (!BlockNumberIsValid(writer->info.first_lists))
			writer->info.first_lists = block;
		writer->info.last_lists = block;
	}
	writer->kind = 0;
}

/* Begin a page.  It will be written to writer_block(). */
static void
begin_page(SegmentWriter *writer, PageKind kind)
{
	CHECK_FOR_INTERRUPTS();
	finish_page(writer);
	page_init(writer->page.data, kind, writer->info.segment_id);
	writer->kind = kind;
	writer->at = (uint8 *) PageGetContents(writer->page.data);
	writer->nrestarts = 0;
	writer->entry = 0;
}

/* Return the block where the page in memory will be written. */
static inline BlockNumber
writer_block(const SegmentWriter *writer)
{
	return writer->state->chain.next;
}

/* List a page for its directory. */
static void
list_page(PageList *list, uint32 key, BlockNumber block)
{
	list->pages = growing_reserve(list->pages, &list->size,
								  (size_t) list->n + 1,
								  sizeof(DirectoryEntry));
	Assert(list->n == 0 || list->pages[list->n - 1].key <= key);
	list->pages[list->n++] = (DirectoryEntry)
	{
		key, block
	};
}

/* Rows */

void
writer_add_row(SegmentWriter *writer, const ForwardEntry *row)
{
	Assert(writer->info.nkeys == 0);
	if (writer->kind == 0 || room(writer) < sizeof(ForwardEntry))
	{
		begin_page(writer, PAGE_FORWARD);
		list_page(&writer->forward, writer->info.nrows, writer_block(writer));
	}
	memcpy(writer->at, row, sizeof(ForwardEntry));
	writer->at += sizeof(ForwardEntry);
	writer->info.nrows++;
}

bool
writer_rows_fill_page(const SegmentWriter *writer)
{
	return writer->info.nrows % FORWARD_PER_PAGE == 0;
}

/* Lists */

/*
 * Encode runs from i on in at most `most` bytes.  Returns the first run that
 * is left.
 */
static size_t
encode_runs(SegmentWriter *writer, const Runs *runs, size_t i, size_t most,
			size_t *nbytes)
{
	uint8	   *at = writer->bytes;
	uint32		end = 0;

	for (; i < runs->n; i++)
	{
		uint32		length = runs->end[i] - runs->first[i];
		uint64		gap = (uint64) (runs->first[i] - end) << 1 | (length > 1);

		if (at - writer->bytes + 2 * MAX_NUMBER_BYTES > most)
			break;
		at = number_put(at, gap);
		if (length > 1)
			at = number_put(at, length);
		end = runs->end[i];
	}
	*nbytes = at - writer->bytes;
	return i;
}

/*
 * Reserve room for encoded runs: a gap and a length take at most 5 bytes each.
 */
static void
reserve_bytes(SegmentWriter *writer, size_t nruns)
{
	size_t		most = (nruns + 2) * 10 + 2 * MAX_NUMBER_BYTES;

	if (most <= writer->bytes_size)
		return;
	pfree(writer->bytes);
	writer->bytes_size = Max(most, 2 * writer->bytes_size);
	writer->bytes = palloc_extended(writer->bytes_size, MCXT_ALLOC_HUGE);
}

/* Put the key of an entry, or a restart for it. */
static void
put_key(SegmentWriter *writer, uint32 key)
{
	if (writer->entry == 0)
		list_page(&writer->postings, key, writer_block(writer));
	if (writer->entry++ % RESTART_EVERY == 0)
	{
		Restart    *restart;

		writer->nrestarts++;
		restart = restarts_end(writer);
		restart->key = key;
		restart->offset = writer->at - (uint8 *) writer->page.data;
		restart->unused = 0;
	}
	else
		writer->at = number_put(writer->at, key - writer->last_key);
	writer->last_key = key;
}

/* Put the encoded runs. */
static void
put_bytes(SegmentWriter *writer, size_t nbytes)
{
	memcpy(writer->at, writer->bytes, nbytes);
	writer->at += nbytes;
}

/* Put a list that fits on the page. */
static void
put_list(SegmentWriter *writer, uint32 key, const Runs *runs, size_t nbytes)
{
	uint32		length = runs->end[0] - runs->first[0];

	put_key(writer, key);
	if (runs->n > 1)
	{
		writer->at = number_put(writer->at, (uint64) nbytes << 2 | LIST_BYTES);
		put_bytes(writer, nbytes);
	}
	else if (length == 1)
		writer->at = number_put(writer->at,
								(uint64) runs->first[0] << 2 | LIST_ROW);
	else
	{
		writer->at = number_put(writer->at,
								(uint64) runs->first[0] << 2 | LIST_RUN);
		writer->at = number_put(writer->at, length);
	}
}

/* Put a list as chunks on several pages. */
static void
put_chunks(SegmentWriter *writer, uint32 key, const Runs *runs, size_t total)
{
	size_t		i = 0;

	if (room(writer) < ENTRY_OVERHEAD + MIN_CHUNK)
		begin_page(writer, PAGE_POSTINGS);
	put_key(writer, key);
	for (;;)
	{
		size_t		nbytes;

		i = encode_runs(writer, runs, i, room(writer) - ENTRY_OVERHEAD,
						&nbytes);
		total -= Min(nbytes, total);
		writer->at = number_put(writer->at, (uint64) nbytes << 2 |
								(i < runs->n ? LIST_CHUNK : LIST_BYTES));
		if (i < runs->n)
			writer->at = number_put(writer->at, Min(total, PG_UINT32_MAX));
		put_bytes(writer, nbytes);
		if (i == runs->n)
			break;
		begin_page(writer, PAGE_CONTINUED);
	}
}

/* The filter */

void
writer_expect_keys(SegmentWriter *writer, uint64 keys)
{
	Assert(writer->info.nkeys == 0);
	writer->info.filter_words = keys == 0 ? 0 :
		Min(keys / FILTER_KEYS_PER_WORD + 1, PG_UINT32_MAX / 2);
}

bool
writer_begins_filter_page(const SegmentWriter *writer, uint32 key)
{
	return writer->info.filter_words == 0 ||
		filter_word(key, writer->info.filter_words) - writer->first_word >=
		(writer->nwords + FILTER_WORDS_PER_PAGE - 1) /
		FILTER_WORDS_PER_PAGE * FILTER_WORDS_PER_PAGE;
}

/* Extend the words in memory to n by zeros. */
static void
extend_words(SegmentWriter *writer, size_t n)
{
	if (n <= writer->nwords)
		return;
	if (n > writer->words_size)
		writer->words = growing_reserve(writer->words, &writer->words_size, n,
										sizeof(uint64));
	memset(writer->words + writer->nwords, 0,
		   (n - writer->nwords) * sizeof(uint64));
	writer->nwords = n;
}

/* Set the bits of a key in the filter, and count its list. */
static inline void
note_list(SegmentWriter *writer, uint32 key, uint64 bits, uint64 rows)
{
	if (writer->info.filter_words > 0)
	{
		uint32		word = filter_word(key, writer->info.filter_words);

		Assert(word >= writer->first_word);
		if (word - writer->first_word >= writer->nwords)
			extend_words(writer, word - writer->first_word + 1);
		writer->words[word - writer->first_word] |= filter_bits(key) | bits;
	}
	writer->info.nkeys++;
	writer->info.npostings += rows;
}

/* Write the words in memory.  A step ends with a full page of them. */
static void
write_words(SegmentWriter *writer, PageList *filter)
{
	for (size_t word = 0; word < writer->nwords; word += FILTER_WORDS_PER_PAGE)
	{
		size_t		n = Min(FILTER_WORDS_PER_PAGE, writer->nwords - word);
		PGAlignedBlock page;

		page_init(page.data, PAGE_FILTER, writer->info.segment_id);
		memcpy(PageGetContents(page.data), writer->words + word,
			   n * sizeof(uint64));
		((PageHeader) page.data)->pd_lower += n * sizeof(uint64);
		list_page(filter, writer->first_word + word,
				  chain_put(&writer->chain, page.data));
	}
	writer->first_word += writer->nwords;
	writer->nwords = 0;
}

/* Lists */

/* Begin a page of lists, unless there is one that has so much room. */
static inline void
require_room(SegmentWriter *writer, size_t bytes)
{
	if ((writer->kind != PAGE_POSTINGS && writer->kind != PAGE_CONTINUED) ||
		bytes > room(writer))
		begin_page(writer, PAGE_POSTINGS);
}

void
writer_add_single(SegmentWriter *writer, uint32 key, uint32 row)
{
	Assert(row < writer->info.nrows);
	require_room(writer, ENTRY_OVERHEAD);
	put_key(writer, key);
	writer->at = number_put(writer->at, (uint64) row << 2 | LIST_ROW);
	note_list(writer, key, 0, 1);
}

void
writer_add_list(SegmentWriter *writer, uint32 key, const Runs *runs)
{
	uint64		rows = 0;
	size_t		nbytes = 0;		/* one run is not encoded as runs */

	Assert(runs->n > 0 && runs->end[runs->n - 1] <= writer->info.nrows);
	for (size_t i = 0; i < runs->n; i++)
	{
		Assert(i == 0 || runs->first[i] > runs->end[i - 1]);
		rows += runs->end[i] - runs->first[i];
	}
	if (runs->n > 1)
	{
		reserve_bytes(writer, runs->n);
		(void) encode_runs(writer, runs, 0, writer->bytes_size, &nbytes);
	}
	require_room(writer, nbytes <= UNBROKEN_BYTES ? nbytes + ENTRY_OVERHEAD :
				 0);
	if (nbytes + ENTRY_OVERHEAD <= room(writer))
		put_list(writer, key, runs, nbytes);
	else
		put_chunks(writer, key, runs, nbytes);
	note_list(writer, key, nbytes > SHORT_BYTES ? filter_long_bits(key) :
			  0, rows);
}

/* The end of a step */

/* Add the pages that a step has written to their directory. */
static void
add_directory(SegmentWriter *writer, DirectoryLevels *levels, PageList *list)
{
	directory_add(&writer->chain, levels, list->pages, list->n);
	if (list->pages != NULL)
		pfree(list->pages);
	memset(list, 0, sizeof(PageList));
}

/* Write everything that is in memory. */
static void
finish_step(SegmentWriter *writer)
{
	WriterState *state = writer->state;
	PageList	filter = {0};

	finish_page(writer);
	write_words(writer, &filter);
	add_directory(writer, &state->forward, &writer->forward);
	add_directory(writer, &state->postings, &writer->postings);
	add_directory(writer, &state->filter, &filter);
}

/* Free the writer. */
static void
free_writer(SegmentWriter *writer)
{
	if (writer->words != NULL)
		pfree(writer->words);
	pfree(writer->bytes);
	pfree(writer);
}

void
writer_end_step(SegmentWriter *writer)
{
	WriterState *state = writer->state;

	/* other words of the page have no bits */
	if (writer->nwords % FILTER_WORDS_PER_PAGE != 0)
		extend_words(writer,
					 Min((writer->nwords / FILTER_WORDS_PER_PAGE +
						  1) * FILTER_WORDS_PER_PAGE,
						 writer->info.filter_words -
						 writer->first_word));
	finish_step(writer);
	chain_end_step(&writer->chain, NULL);
	state->next_word = writer->first_word;
	state->info = writer->info;
	state->info.npages = state->chain.npages;
	free_writer(writer);
}

SegmentInfo
writer_end_segment(SegmentWriter *writer)
{
	WriterState *state = writer->state;
	SegmentInfo info;

	if (writer->info.nkeys == 0)
		writer->info.filter_words = 0;
	else if (writer->info.filter_words > 0)
		extend_words(writer, writer->info.filter_words - writer->first_word);
	finish_step(writer);
	info = writer->info;
	info.forward = directory_end(&writer->chain, &state->forward);
	info.postings = directory_end(&writer->chain, &state->postings);
	info.filter = directory_end(&writer->chain, &state->filter);
	chain_end(&writer->chain);
	info.npages = state->chain.npages + 1;
	free_writer(writer);
	return info;
}

/* Batches */

#define ST_SORT sort_rows
#define ST_ELEMENT_TYPE RowOrder
#define ST_COMPARE(a, b) \
	((a)->order != (b)->order ? ((a)->order > (b)->order) - ((a)->order < (b)->order) : \
	 ((a)->row > (b)->row) - ((a)->row < (b)->row))
#define ST_SCOPE extern
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
	return batch;
}

void
batch_free(Batch *batch)
{
	MemoryContextDelete(batch->context);
}

/* Make room for a row with so many keys. */
static void
make_room(Batch *batch, uint32 nkeys)
{
	MemoryContext old = MemoryContextSwitchTo(batch->context);
	size_t		size = batch->rows_size;

	batch->places = growing_reserve(batch->places, &size,
									(size_t) batch->nrows + 1,
									sizeof(uint64));
	batch->rows = growing_reserve(batch->rows, &batch->rows_size,
								  (size_t) batch->nrows + 1,
								  sizeof(ForwardEntry));
	batch->keys = growing_reserve(batch->keys, &batch->keys_size,
								  batch->total + nkeys, sizeof(uint32));
	MemoryContextSwitchTo(old);
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
	batch->places[batch->nrows++] = batch->total;
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

/* Return the rows in the order of the segment, palloc'd. */
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
	sort_rows(order, batch->nrows);
	return order;
}

/*
 * Sort postings by their upper half, the key.  They are sorted by the lower
 * half before.  Returns the array that has the result.
 */
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

/* Write the lists of sorted postings. */
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
		writer_add_list(writer, key, &runs);
		if (i % 1024 == 0)
			CHECK_FOR_INTERRUPTS();
	}
}

/* Return the number of distinct keys of sorted postings. */
static uint64
count_keys(const uint64 *postings, uint64 n)
{
	uint64		count = n > 0;

	for (uint64 i = 1; i < n; i++)
		count += postings[i] >> 32 != postings[i - 1] >> 32;
	return count;
}

/* Collect all postings, in the order of rows. */
static void
list_postings(const Batch *batch, const RowOrder *order, uint64 *postings)
{
	uint64		n = 0;

	for (uint32 i = 0; i < batch->nrows; i++)
	{
		uint32		row = order[i].row;
		uint64		end = row + 1 < batch->nrows ? batch->places[row + 1] :
		batch->total;

		for (uint64 k = batch->places[row]; k < end; k++)
			postings[n++] = (uint64) batch->keys[k] << 32 | i;
	}
}

SegmentInfo
batch_write(Batch *batch, PageStore *store, uint64 segment_id)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext,
												  "neardup segment",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	WriterState *state = palloc(sizeof(WriterState));
	SegmentWriter *writer;
	Size		bytes = Max(batch->total, 1) * sizeof(uint64);
	uint64	   *postings = palloc_extended(bytes, MCXT_ALLOC_HUGE);
	uint64	   *other = palloc_extended(bytes, MCXT_ALLOC_HUGE);
	RowOrder   *order;
	SegmentInfo info;

	order = ordered(batch);
	list_postings(batch, order, postings);
	postings = sort_postings(postings, other, batch->total);
	segment_create(store, segment_id, state);
	writer = writer_begin_step(store, state);
	for (uint32 i = 0; i < batch->nrows; i++)
		writer_add_row(writer, &batch->rows[order[i].row]);
	/* a temporary file is read as a whole, and needs no filter */
	writer_expect_keys(writer, store->index == NULL ? 0 :
					   count_keys(postings, batch->total));
	write_lists(writer, postings, batch->total);
	info = writer_end_segment(writer);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
	batch->nrows = 0;
	batch->total = 0;
	return info;
}
