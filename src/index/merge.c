/*
 * merge.c
 *		Merging segments into one, at once or in steps.
 *
 * Rows keep their order: all segments are sorted by IndexedRow.order.  So the
 * new number of a row rises with the old one, and the lists of a key need only
 * be renumbered and merged.
 *
 * A merge in steps has a row map: the input of each row, in the order of rows.
 * It determines the new numbers in all steps, so rows that are deleted
 * meanwhile keep theirs.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "base/interrupts.h"
#include "base/memory.h"
#include "index/directory.h"
#include "index/segment_writer.h"

/* Cost of copying a row, in postings */
#define POSTINGS_PER_ROW	8

/*
 * Unless keys are few, they are counted in 1 / COUNTED_SHARE of each of
 * COUNTED_PARTS parts of their range.
 */
#define COUNTED_PARTS		4
#define COUNTED_SHARE		32
#define MIN_COUNTED			4096

/* A segment that is merged */
typedef struct MergeInput
{
	PageStore  *store;			/* store of the segment */
	const SegmentInfo *segment;
	char	   *page;			/* current page of rows */
	BlockNumber next;			/* block after that page */
	uint32		on_page;		/* rows on the page */
	uint32		place;			/* position of the current row on it */
	uint32		row;			/* number of the current row */
	uint32	   *numbers;		/* new number of each row */
	ListStream	lists;
} MergeInput;

/* New row numbers of one list */
typedef struct Numbers
{
	uint32	   *rows;
	size_t		n;
	size_t		size;
} Numbers;

/* Rows */

/* Read pages until the current row is on the page, or no row is left. */
static void
load_row(MergeInput *input)
{
	while (input->place >= input->on_page &&
		   input->row < input->segment->nrows)
	{
		if (!BlockNumberIsValid(chain_find(input->store, input->next,
										   input->segment->segment_id,
										   PAGE_FORWARD,
										   input->page)))
			index_corrupt(input->store->index, input->segment->first,
						  "Rows are missing.");
		input->on_page = page_contents_size(input->page) /
			sizeof(ForwardEntry);
		input->next = PAGE_TAIL(input->page)->next;
		input->place = 0;
	}
}

/* Allocate arrays for the new numbers of each segment's rows. */
static uint32 **
alloc_numbers(const SegmentInfo *segments, uint32 n)
{
	uint32	  **numbers = palloc(Max(n, 1) * sizeof(uint32 *));
	uint32	   *next;
	Size		rows = 0;

	for (uint32 i = 0; i < n; i++)
		rows += segments[i].nrows;
	next = palloc_extended(Max(rows * sizeof(uint32), 1), MCXT_ALLOC_HUGE);
	for (uint32 i = 0; i < n; i++)
	{
		numbers[i] = next;
		next += segments[i].nrows;
	}
	return numbers;
}

/* Return the current row of an input. */
static inline ForwardEntry *
current_row(const MergeInput *input)
{
	return (ForwardEntry *) PageGetContents(input->page) + input->place;
}

/* Return the input whose row comes next, or NULL at the end. */
static MergeInput *
next_input(MergeInput *inputs, uint32 n)
{
	MergeInput *next = NULL;
	uint64		least = 0;

	for (uint32 i = 0; i < n; i++)
	{
		uint64		order;

		if (inputs[i].row == inputs[i].segment->nrows)
			continue;
		order = forward_order(current_row(&inputs[i]));
		if (next == NULL || order < least)
		{
			next = &inputs[i];
			least = order;
		}
	}
	return next;
}

/* Advance an input to its next row. */
static inline void
pass_row(MergeInput *input)
{
	input->row++;
	input->place++;
	Assert(input->row <= input->segment->nrows);
	load_row(input);
}

/* Lists */

/* Append the new numbers of the rows of a list. */
static void
add_numbers(Numbers *numbers, const Runs *runs, const uint32 *new_numbers)
{
	for (size_t i = 0; i < runs->n; i++)
	{
		size_t		length = runs->end[i] - runs->first[i];

		numbers->rows = growing_reserve(numbers->rows, &numbers->size,
										numbers->n + length, sizeof(uint32));
		for (uint32 row = runs->first[i]; row < runs->end[i]; row++)
			if (new_numbers[row] != MERGE_DROPPED)
				numbers->rows[numbers->n++] = new_numbers[row];
	}
}

/* Turn sorted numbers into runs. */
static void
to_runs(const Numbers *numbers, Runs *runs)
{
	runs->n = 0;
	for (size_t i = 0; i < numbers->n; i++)
	{
		uint32		row = numbers->rows[i];

		if (runs->n > 0 && runs->end[runs->n - 1] == row)
			runs->end[runs->n - 1]++;
		else
			runs_add(runs, row, row + 1);
	}
}

/*
 * The inputs that have lists left, as a heap by the key of the current list.
 * An element is the key and, in the lower half, the number of the input.
 */
typedef struct KeyHeap
{
	uint64	   *elements;
	uint32		n;
	MergeInput *inputs;
} KeyHeap;

/* Return the key of an element. */
static inline uint32
heap_key(uint64 element)
{
	return element >> 32;
}

/* Put an element into a free place or below it, and move smaller ones up. */
static inline void
heap_sink(KeyHeap *heap, uint32 place, uint64 element)
{
	uint64	   *elements = heap->elements;
	uint32		child;

	Assert(place < heap->n);
	while ((child = 2 * place + 1) < heap->n)
	{
		child += child + 1 < heap->n && elements[child + 1] < elements[child];
		if (elements[child] >= element)
			break;
		elements[place] = elements[child];
		place = child;
	}
	elements[place] = element;
}

/* True if no other input has the least key. */
static inline bool
heap_is_single(const KeyHeap *heap)
{
	uint32		key = heap_key(heap->elements[0]);

	return (heap->n < 2 || heap_key(heap->elements[1]) != key) &&
		(heap->n < 3 || heap_key(heap->elements[2]) != key);
}

/*
 * Advance the first input to its next list, and prefetch its row's new number,
 * which may be anywhere in memory.
 */
static inline void
heap_next(KeyHeap *heap)
{
	uint32		i = (uint32) heap->elements[0];
	ListStream *lists = &heap->inputs[i].lists;

	lists_next(lists);
	if (lists->runs.n > 0)
		__builtin_prefetch(&heap->inputs[i].numbers[lists->runs.first[0]]);
	if (!lists->done)
		heap_sink(heap, 0, (uint64) lists->key << 32 | i);
	else if (--heap->n > 0)
		heap_sink(heap, 0, heap->elements[heap->n]);
}

/* Make a heap of the inputs. */
static void
heap_open(KeyHeap *heap, MergeInput *inputs, uint32 n)
{
	heap->elements = palloc(n * sizeof(uint64));
	heap->inputs = inputs;
	heap->n = 0;
	for (uint32 i = 0; i < n; i++)
		if (!inputs[i].lists.done)
			heap->elements[heap->n++] = (uint64) inputs[i].lists.key << 32 | i;
	for (uint32 place = heap->n / 2; place-- > 0;)
		heap_sink(heap, place, heap->elements[place]);
}

/* The output, and arrays that are reused */
typedef struct MergedLists
{
	SegmentWriter *writer;
	uint64		work;			/* postings read */
	uint64		least;			/* least valid next key */
	Numbers		numbers;
	uint32	   *space;
	size_t		space_size;
	Runs		runs;
} MergedLists;

/* Raise INDEX_CORRUPTED if the least key is not greater than the last one. */
static inline void
pass_key(const KeyHeap *heap, MergedLists *merged)
{
	uint32		key = heap_key(heap->elements[0]);

	if (key < merged->least)
	{
		const ListStream *lists =
		&heap->inputs[(uint32) heap->elements[0]].lists;

		index_corrupt(lists->store->index, lists->block,
					  "Keys are out of order.");
	}
	merged->least = (uint64) key + 1;
}

/*
 * Copy a list of one row, the most frequent kind.  False if it has more rows.
 */
static bool
merge_single(const MergeInput *input, uint32 key, MergedLists *merged)
{
	const Runs *old = &input->lists.runs;
	uint32		row;

	if (old->n != 1 || old->end[0] - old->first[0] != 1)
		return false;
	row = input->numbers[old->first[0]];
	merged->work++;
	if (row != MERGE_DROPPED)
		writer_add_single(merged->writer, key, row);
	return true;
}

/* Merge the lists of the least key from all inputs that have it. */
static void
merge_key(KeyHeap *heap, MergedLists *merged)
{
	uint32		key = heap_key(heap->elements[0]);

	merged->numbers.n = 0;
	while (heap->n > 0 && heap_key(heap->elements[0]) == key)
	{
		const MergeInput *input = &heap->inputs[(uint32) heap->elements[0]];
		size_t		before = merged->numbers.n;

		add_numbers(&merged->numbers, &input->lists.runs, input->numbers);
		merged->work += merged->numbers.n - before + 1;
		heap_next(heap);
	}
	merged->space = growing_reserve(merged->space, &merged->space_size,
									2 * merged->numbers.n + 2, sizeof(uint32));
	sort_rising(merged->numbers.rows, merged->numbers.n, merged->space);
	to_runs(&merged->numbers, &merged->runs);
	if (merged->runs.n > 0)
		writer_add_list(merged->writer, key, &merged->runs);
}

/*
 * Merge lists of about `most` postings, until a page of the filter begins.
 * Returns the first key that is left, or MERGE_NO_KEY.
 */
static uint64
merge_lists(MergeInput *inputs, uint32 n, SegmentWriter *writer, uint64 most)
{
	MergedLists merged = {writer};
	KeyHeap		heap;

	heap_open(&heap, inputs, n);
	while (heap.n > 0 && (merged.work < most ||
						  !writer_begins_filter_page(writer,
													 heap_key(heap.elements[0]))))
	{
		pass_key(&heap, &merged);
		if (heap_is_single(&heap) &&
			merge_single(&inputs[(uint32) heap.elements[0]],
						 heap_key(heap.elements[0]), &merged))
			heap_next(&heap);
		else
			merge_key(&heap, &merged);
	}
	return heap.n > 0 ? heap_key(heap.elements[0]) : MERGE_NO_KEY;
}

/* The row map */

/* Appends to a row map in a step */
typedef struct RowMapWriter
{
	ChainWriter chain;
	MergeState *state;
	uint32		on_page;
	PGAlignedBlock page;
} RowMapWriter;

/* Begin an empty page. */
static void
row_map_begin_page(RowMapWriter *map)
{
	page_init(map->page.data, PAGE_ROW_MAP, map->chain.owner);
	map->on_page = 0;
}

/* Begin a step, with the rows that the last page already has. */
static RowMapWriter *
row_map_begin_step(PageStore *store, MergeState *state)
{
	RowMapWriter *map = palloc(sizeof(RowMapWriter));

	chain_begin_step(&map->chain, store,
					 MERGE_OWNER(state->writer.info.segment_id),
					 &state->row_map);
	map->state = state;
	row_map_begin_page(map);
	map->on_page = state->nmapped % ROW_MAP_PER_PAGE;
	if (map->on_page > 0)
	{
		PGAlignedBlock page;

		page_require(store, state->row_map.next, map->chain.owner, page.data);
		memcpy(PageGetContents(map->page.data), PageGetContents(page.data),
			   map->on_page);
	}
	return map;
}

/* Append the input of a row. */
static void
row_map_put(RowMapWriter *map, uint8 input)
{
	PageHeader	header = (PageHeader) map->page.data;

	Assert((input & ~ROW_MAP_DROPPED) < map->state->ninputs);
	PageGetContents(map->page.data)[map->on_page++] = input;
	header->pd_lower = MAXALIGN(SizeOfPageHeaderData) + map->on_page;
	map->state->nmapped++;
	if (map->on_page == ROW_MAP_PER_PAGE)
	{
		(void) chain_put(&map->chain, map->page.data);
		row_map_begin_page(map);
	}
}

/* Raise INDEX_CORRUPTED for a row map. */
static void
broken_row_map(PageStore *store)
{
	index_corrupt(store->index, META_BLOCK,
				  "A merge has other rows than its segments.");
}

uint32	  **
merge_new_numbers(PageStore *store, const SegmentInfo *segments,
				  const MergeState *state, uint32 *passed)
{
	uint32	  **numbers = alloc_numbers(segments, state->ninputs);
	uint64		owner = MERGE_OWNER(state->writer.info.segment_id);
	BlockNumber block = state->row_map.first;
	uint64		left = state->nmapped;
	uint32		nrows = 0;
	PGAlignedBlock page;

	while (left > 0)
	{
		const uint8 *inputs = (const uint8 *) PageGetContents(page.data);
		uint32		n = Min(left, ROW_MAP_PER_PAGE);

		page_require(store, block, owner, page.data);
		if (PAGE_TAIL(page.data)->kind != PAGE_ROW_MAP ||
			page_contents_size(page.data) < n)
			index_corrupt(store->index, block,
						  "A page of a merge is missing.");
		for (uint32 i = 0; i < n; i++)
		{
			uint32		from = inputs[i] & ~ROW_MAP_DROPPED;

			if (from >= state->ninputs || passed[from] == segments[from].nrows)
				broken_row_map(store);
			numbers[from][passed[from]++] =
				(inputs[i] & ROW_MAP_DROPPED) != 0 ? MERGE_DROPPED : nrows++;
		}
		block = PAGE_TAIL(page.data)->next;
		left -= n;
	}
	if (nrows != state->writer.info.nrows)
		broken_row_map(store);
	return numbers;
}

/* Merging rows, at once or in a step */

/* Create an input for each segment. */
static MergeInput *
create_inputs(PageStore *store, const SegmentInfo *segments, uint32 n,
			  uint32 **numbers)
{
	MergeInput *inputs = palloc0(n * sizeof(MergeInput));

	for (uint32 i = 0; i < n; i++)
	{
		inputs[i].store = store;
		inputs[i].segment = &segments[i];
		inputs[i].numbers = numbers[i];
		inputs[i].page = palloc(BLCKSZ);
		inputs[i].next = segments[i].first;
	}
	return inputs;
}

/* Go to a row of an input, by the directory unless it is the first row. */
static void
open_rows(MergeInput *input, uint32 row)
{
	const SegmentInfo *segment = input->segment;
	DirectoryPath path;

	Assert(row <= segment->nrows);
	input->row = row;
	if (row == segment->nrows)
		return;
	if (row > 0)
	{
		directory_open(&path, input->store, segment->segment_id,
					   segment->forward,
					   NULL);
		if (!directory_find(&path, row, &input->next))
			index_corrupt(input->store->index, META_BLOCK,
						  "A page of a directory is missing.");
		directory_close(&path);
	}
	load_row(input);
	input->place = row % FORWARD_PER_PAGE;
	load_row(input);
}

/* Copy at least `most` rows, until a page is full.  True if no row is left. */
static bool
copy_rows(MergeInput *inputs, uint32 n, SegmentWriter *writer,
		  RowMapWriter *map, uint64 most)
{
	uint32		nrows = 0;
	MergeInput *input;

	for (uint64 done = 0; (input = next_input(inputs, n)) != NULL; done++)
	{
		ForwardEntry *row = current_row(input);
		bool		dropped = row->spec == SPEC_DEAD;

		CHECK_EVERY(done);
		if (done >= most && writer_rows_fill_page(writer))
			return false;
		if (map != NULL)
			row_map_put(map,
						(input - inputs) | (dropped ? ROW_MAP_DROPPED : 0));
		else
			input->numbers[input->row] = dropped ? MERGE_DROPPED : nrows++;
		if (!dropped)
			writer_add_row(writer, row);
		pass_row(input);
	}
	return true;
}

/* The size of the filter: inputs have many keys in common. */

/*
 * Count the distinct keys in a part of their range in *keys, and the keys of
 * all inputs together in *all.
 */
static void
count_part(MergeInput *inputs, uint32 n, uint64 begin, uint64 end,
		   uint64 *keys, uint64 *all)
{
	KeyHeap		heap;

	for (uint32 i = 0; i < n; i++)
		lists_open(&inputs[i].lists, inputs[i].store, inputs[i].segment,
				   begin);
	heap_open(&heap, inputs, n);
	while (heap.n > 0 && heap_key(heap.elements[0]) < end)
	{
		uint32		key = heap_key(heap.elements[0]);

		for (++*keys; heap.n > 0 && heap_key(heap.elements[0]) == key; ++*all)
			heap_next(&heap);
		CHECK_EVERY(*keys);
	}
	for (uint32 i = 0; i < n; i++)
		lists_close(&inputs[i].lists);
}

/*
 * Estimate the number of distinct keys, from a share of each part of their
 * range.
 */
static uint64
count_keys(MergeInput *inputs, uint32 n)
{
	const uint64 part = (UINT64CONST(1) << 32) / COUNTED_PARTS;
	uint64		sum = 0;
	uint64		keys = 0;
	uint64		all = 0;

	for (uint32 i = 0; i < n; i++)
		sum += inputs[i].segment->nkeys;
	for (uint64 i = 0; i < COUNTED_PARTS && sum >= MIN_COUNTED; i++)
		count_part(inputs, n, i * part, i * part + part / COUNTED_SHARE, &keys,
				   &all);
	return all == 0 ? sum : (double) sum * keys / all;
}

/* Merging at once */

SegmentInfo
segments_merge(PageStore *from, const SegmentInfo *segments, uint32 n,
			   PageStore *to, uint64 segment_id)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext,
												  "neardup merge",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	MergeInput *inputs = create_inputs(from, segments, n,
									   alloc_numbers(segments, n));
	WriterState *state = palloc(sizeof(WriterState));
	SegmentWriter *writer;
	SegmentInfo info;

	segment_create(to, segment_id, state);
	writer = writer_begin_step(to, state);
	for (uint32 i = 0; i < n; i++)
		open_rows(&inputs[i], 0);
	(void) copy_rows(inputs, n, writer, NULL, PG_UINT64_MAX);
	writer_expect_keys(writer, count_keys(inputs, n));
	for (uint32 i = 0; i < n; i++)
		lists_open(&inputs[i].lists, from, &segments[i], 0);
	(void) merge_lists(inputs, n, writer, PG_UINT64_MAX);
	info = writer_end_segment(writer);
	for (uint32 i = 0; i < n; i++)
		info.oldest = Min(info.oldest, segments[i].oldest);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
	return info;
}

/* Merging in steps */

/*
 * Create the inputs of a step, and set passed[] to the number of rows of each
 * that have been merged.
 */
static MergeInput *
create_step_inputs(PageStore *store, const SegmentInfo *segments, uint32 n,
				   const MergeState *state, uint32 *passed)
{
	Assert(n == state->ninputs);
	return create_inputs(store, segments, n,
						 merge_new_numbers(store, segments, state, passed));
}

/* Do a step that copies rows. */
static void
merge_some_rows(PageStore *store, const SegmentInfo *segments, uint32 n,
				MergeState *state, uint64 most)
{
	uint32		passed[MAX_SEGMENTS] = {0};
	MergeInput *inputs = create_step_inputs(store, segments, n, state, passed);
	RowMapWriter *map = row_map_begin_step(store, state);
	SegmentWriter *writer = writer_begin_step(store, &state->writer);

	for (uint32 i = 0; i < n; i++)
		open_rows(&inputs[i], passed[i]);
	if (copy_rows(inputs, n, writer, map, Max(most / POSTINGS_PER_ROW, 1)))
	{
		uint64		keys = count_keys(inputs, n);

		writer_expect_keys(writer, keys);
		state->phase = keys > 0 ? MERGE_LISTS : MERGE_FINISH;
	}
	chain_end_step(&map->chain, map->page.data);
	writer_end_step(writer);
}

/* Do a step that merges lists. */
static void
merge_some_lists(PageStore *store, const SegmentInfo *segments, uint32 n,
				 MergeState *state, uint64 most)
{
	uint32		passed[MAX_SEGMENTS] = {0};
	MergeInput *inputs = create_step_inputs(store, segments, n, state, passed);
	SegmentWriter *writer = writer_begin_step(store, &state->writer);

	for (uint32 i = 0; i < n; i++)
	{
		if (passed[i] != segments[i].nrows)
			broken_row_map(store);
		lists_open(&inputs[i].lists, store, &segments[i], state->next_key);
	}
	state->next_key = merge_lists(inputs, n, writer, most);
	writer_end_step(writer);
	if (state->next_key == MERGE_NO_KEY)
		state->phase = MERGE_FINISH;
}

void
merge_create(PageStore *store, uint64 segment_id, const SegmentInfo *segments,
			 uint32 n, MergeState *state)
{
	ChainWriter map;

	memset(state, 0, sizeof(MergeState));
	state->phase = MERGE_ROWS;
	state->ninputs = n;
	segment_create(store, segment_id, &state->writer);
	writer_end_step(writer_begin_step(store, &state->writer));
	chain_create(store, MERGE_OWNER(segment_id), &state->row_map);
	chain_begin_step(&map, store, MERGE_OWNER(segment_id), &state->row_map);
	chain_end_step(&map, NULL);
	for (uint32 i = 0; i < n; i++)
		state->writer.info.oldest = Min(state->writer.info.oldest,
										segments[i].oldest);
}

void
merge_write_step(PageStore *store, const SegmentInfo *segments, uint32 n,
				 MergeState *state, uint64 most)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext,
												  "neardup merge",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);

	Assert(state->phase == MERGE_ROWS || state->phase == MERGE_LISTS);
	if (state->phase == MERGE_ROWS)
		merge_some_rows(store, segments, n, state, most);
	else
		merge_some_lists(store, segments, n, state, most);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
}
