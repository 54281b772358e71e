/*
 * merge.c
 *		Several segments become one.
 *
 * Rows keep the order that they have in each segment, which is that of
 * IndexedRow.order in all.  So the new number of a row rises with the old
 * one, and the lists of a key need only be renumbered and merged.
 *
 * In steps, each row's new number is told by a script, which the rows' merge
 * writes: rows that die meanwhile keep theirs.  Lists go on from a key.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "base/interrupts.h"
#include "base/memory.h"
#include "index/directory.h"
#include "index/merge.h"

/* A step with rows takes one in so many of the postings that it may take. */
#define POSTINGS_PER_ROW	8

/* Keys are counted in so many parts of their range, each of one in so many of it. */
#define COUNTED_PARTS		16
#define COUNTED_SHARE		64

/* Of one segment */
typedef struct MergeInput
{
	PageStore  *store;			/* where it is */
	const SegmentInfo *segment;
	char	   *page;			/* of rows */
	BlockNumber next;			/* block after it */
	uint32		on_page;		/* rows there */
	uint32		place;			/* of the row at hand there */
	uint32		row;			/* number of the row at hand */
	uint32	   *numbers;		/* new numbers */
	ListStream	lists;
} MergeInput;

/* Row numbers of one list */
typedef struct Numbers
{
	uint32	   *rows;
	size_t		n;
	size_t		size;
} Numbers;

uint64
merge_memory(uint64 nrows)
{
	/* new numbers, two arrays of a list's, runs of it in two forms, a filter */
	return nrows * (sizeof(uint32) * 3 + 20 + 16);
}

uint64
merge_steps_memory(uint64 nrows)
{
	return nrows * sizeof(uint32);
}

/* Rows */

/* Reads pages until the row at hand is on the page, or there is none. */
static void
load_row(MergeInput *input)
{
	while (input->place >= input->on_page &&
		   input->row < input->segment->nrows)
	{
		page_require(input->store, input->next, input->segment->owner, input->page);
		if (PAGE_TAIL(input->page)->kind != PAGE_FORWARD)
			index_corrupt(input->store->index, input->next, "Rows are missing.");
		input->on_page = (((PageHeader) input->page)->pd_lower -
						  MAXALIGN(SizeOfPageHeaderData)) / sizeof(ForwardEntry);
		input->next = PAGE_TAIL(input->page)->next;
		input->place = 0;
	}
}

static void
open_input(PageStore *store, const SegmentInfo *segment, MergeInput *input)
{
	memset(input, 0, sizeof(MergeInput));
	input->store = store;
	input->segment = segment;
	input->page = palloc(BLCKSZ);
	input->next = segment->first;
	load_row(input);
}

/* Room for the new numbers of each segment's rows. */
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

static inline ForwardEntry *
row_at_hand(const MergeInput *input)
{
	return (ForwardEntry *) PageGetContents(input->page) + input->place;
}

static inline uint64
order_at_hand(const MergeInput *input)
{
	return forward_order(row_at_hand(input));
}

/* The input whose row comes next, or NULL at the end. */
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
		order = order_at_hand(&inputs[i]);
		if (next == NULL || order < least)
		{
			next = &inputs[i];
			least = order;
		}
	}
	return next;
}

/* Goes on to the input's next row. */
static inline void
pass_row(MergeInput *input)
{
	input->row++;
	input->place++;
	load_row(input);
}

static uint32
merge_rows(MergeInput *inputs, uint32 n, SegmentWriter *writer)
{
	uint32		nrows = 0;
	MergeInput *input;

	while ((input = next_input(inputs, n)) != NULL)
	{
		ForwardEntry *row = row_at_hand(input);

		if (row->spec == SPEC_DEAD)
			input->numbers[input->row] = MERGE_DROPPED;
		else
		{
			input->numbers[input->row] = nrows++;
			segment_add_row(writer, row);
		}
		pass_row(input);
	}
	return nrows;
}

/* Lists */

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

/* Merges two rising halves, which begin at 0 and at `middle`. */
static void
merge_halves(Numbers *numbers, size_t middle, Numbers *space)
{
	size_t		i = 0;
	size_t		j = middle;
	size_t		n = 0;
	Numbers		swap;

	if (middle == 0 || middle == numbers->n ||
		numbers->rows[middle - 1] < numbers->rows[middle])
		return;
	space->rows = growing_reserve(space->rows, &space->size, numbers->n,
								  sizeof(uint32));
	while (i < middle && j < numbers->n)
		space->rows[n++] = numbers->rows[i] < numbers->rows[j] ?
			numbers->rows[i++] : numbers->rows[j++];
	while (i < middle)
		space->rows[n++] = numbers->rows[i++];
	while (j < numbers->n)
		space->rows[n++] = numbers->rows[j++];
	space->n = n;
	swap = *numbers;
	*numbers = *space;
	*space = swap;
}

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
 * The inputs that have lists left, as a heap: the one with the least key is the
 * first.  An element is the key and, in the lower half, the number of the input.
 */
typedef struct KeyHeap
{
	uint64	   *elements;
	uint32		n;
	MergeInput *inputs;
} KeyHeap;

static inline uint32
heap_key(uint64 element)
{
	return element >> 32;
}

/* Puts an element into a place that is free, or lower down. */
static inline void
heap_sink(KeyHeap *heap, uint32 place, uint64 element)
{
	uint64	   *elements = heap->elements;
	uint32		child;

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

/* True if the first input has the least key alone. */
static inline bool
heap_is_single(const KeyHeap *heap)
{
	uint32		key = heap_key(heap->elements[0]);

	return (heap->n < 2 || heap_key(heap->elements[1]) != key) &&
		(heap->n < 3 || heap_key(heap->elements[2]) != key);
}

/*
 * Goes on to the next list of the first input.  Its row's new number is fetched into
 * the processor's cache until the list's turn comes: rows are anywhere.
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

/* What is written to, and room that is used again */
typedef struct MergedLists
{
	SegmentWriter *writer;
	uint64		work;			/* postings read */
	uint64		least;			/* no lesser key may come */
	Numbers		numbers;
	Numbers		space;
	Runs		runs;
} MergedLists;

/* Keys rise, but for those of a damaged segment: then nothing is made of them. */
static inline void
pass_key(const KeyHeap *heap, MergedLists *merged)
{
	uint32		key = heap_key(heap->elements[0]);

	if (key < merged->least)
	{
		const ListStream *lists = &heap->inputs[(uint32) heap->elements[0]].lists;

		index_corrupt(lists->store->index, lists->block,
						 "Keys are out of order.");
	}
	merged->least = (uint64) key + 1;
}

/*
 * The list of a key that one row has, as most have; false if it is another.
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
		segment_add_single(merged->writer, key, row);
	return true;
}

/* The lists of the least key, of all inputs that have it. */
static void
merge_key(KeyHeap *heap, MergedLists *merged)
{
	uint32		key = heap_key(heap->elements[0]);

	merged->numbers.n = 0;
	while (heap->n > 0 && heap_key(heap->elements[0]) == key)
	{
		const MergeInput *input = &heap->inputs[(uint32) heap->elements[0]];
		size_t		middle = merged->numbers.n;

		add_numbers(&merged->numbers, &input->lists.runs, input->numbers);
		merged->work += merged->numbers.n - middle + 1;
		merge_halves(&merged->numbers, middle, &merged->space);
		heap_next(heap);
	}
	to_runs(&merged->numbers, &merged->runs);
	if (merged->runs.n > 0)
		segment_add_list(merged->writer, key, &merged->runs);
}

/*
 * Lists, until about so many postings have been read; returns the key from which on
 * lists are left, or MERGE_NO_KEY.
 */
static uint64
merge_lists(MergeInput *inputs, uint32 n, SegmentWriter *writer, uint64 most)
{
	MergedLists merged = {writer};
	KeyHeap		heap;

	heap_open(&heap, inputs, n);
	while (heap.n > 0 && merged.work < most)
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

SegmentInfo
segments_merge(PageStore *const *from, const SegmentInfo *segments, uint32 n,
			   PageStore *to, uint64 owner)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext,
												  "neardup merge",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	MergeInput *inputs = palloc(n * sizeof(MergeInput));
	SegmentWriter *writer;
	SegmentInfo info;
	uint64		oldest = owner;
	uint64		keys = 0;
	uint32	  **numbers = alloc_numbers(segments, n);

	for (uint32 i = 0; i < n; i++)
	{
		open_input(from[i], &segments[i], &inputs[i]);
		inputs[i].numbers = numbers[i];
		oldest = Min(oldest, segments[i].oldest);
		keys += segments[i].nkeys;
	}
	writer = segment_begin(to, owner, keys);
	if (merge_rows(inputs, n, writer) > 0)
	{
		for (uint32 i = 0; i < n; i++)
			lists_open(&inputs[i].lists, from[i], &segments[i]);
		(void) merge_lists(inputs, n, writer, PG_UINT64_MAX);
	}
	info = segment_end(writer);
	info.oldest = oldest;
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
	return info;
}

/* Steps */

static MemoryContext
begin_step(void)
{
	return MemoryContextSwitchTo(AllocSetContextCreate(CurrentMemoryContext,
													   "neardup merge",
													   ALLOCSET_DEFAULT_SIZES));
}

static void
end_step(MemoryContext old)
{
	MemoryContext context = MemoryContextSwitchTo(old);

	MemoryContextDelete(context);
}

static void
broken_script(PageStore *store)
{
	index_corrupt(store->index, META_BLOCK,
					 "A merge has other rows than its segments.");
}

/* How many rows of each input have been passed, from the script. */
static void
count_passed(PageStore *store, const MergeState *state, MergeInput *inputs)
{
	ScriptReader script;
	const uint8 *bytes;
	uint32		n;

	script_open(&script, store, MERGE_OWNER(state->writer.info.owner),
				&state->script, state->nscript);
	while ((n = script_next(&script, &bytes)) > 0)
	{
		for (uint32 i = 0; i < n; i++)
		{
			uint32		input = bytes[i] & ~SCRIPT_DROPPED;

			if (input >= state->ninputs ||
				inputs[input].row++ >= inputs[input].segment->nrows)
				broken_script(store);
		}
	}
}

/* Opens the page of the first row that has not been passed. */
static void
open_rows(MergeInput *input)
{
	const SegmentInfo *segment = input->segment;
	DirectoryPath path;

	if (input->row == segment->nrows)
		return;
	directory_open(&path, input->store, segment->owner, segment->forward, NULL);
	if (!directory_find(&path, input->row, &input->next))
		index_corrupt(input->store->index, META_BLOCK,
						 "A page of a directory is missing.");
	directory_close(&path);
	load_row(input);
	input->place = input->row % FORWARD_PER_PAGE;
	load_row(input);
}

/* The inputs, of which nothing is opened. */
static MergeInput *
step_inputs(PageStore *store, const SegmentInfo *segments, uint32 n)
{
	MergeInput *inputs = palloc0(n * sizeof(MergeInput));

	for (uint32 i = 0; i < n; i++)
	{
		inputs[i].store = store;
		inputs[i].segment = &segments[i];
		inputs[i].page = palloc(BLCKSZ);
	}
	return inputs;
}

/* Rows, at least so many, until a page of them is full. */
static bool
copy_rows(MergeInput *inputs, uint32 n, SegmentWriter *writer,
		  ScriptWriter *script, uint64 most)
{
	for (uint64 done = 0;
		 done < most || segment_rows(writer) % FORWARD_PER_PAGE != 0; done++)
	{
		MergeInput *input = next_input(inputs, n);
		ForwardEntry *row;

		CHECK_EVERY(done);
		if (input == NULL)
			return true;
		row = row_at_hand(input);
		script_put(script, (input - inputs) |
				   (row->spec == SPEC_DEAD ? SCRIPT_DROPPED : 0));
		if (row->spec != SPEC_DEAD)
			segment_add_row(writer, row);
		pass_row(input);
	}
	return next_input(inputs, n) == NULL;
}

bool
merge_some_rows(PageStore *store, const SegmentInfo *segments, uint32 n,
				MergeState *state, uint64 most)
{
	MemoryContext old = begin_step();
	MergeInput *inputs = step_inputs(store, segments, n);
	ScriptWriter *script = palloc(sizeof(ScriptWriter));
	SegmentWriter *writer;
	bool		done;

	count_passed(store, state, inputs);
	for (uint32 i = 0; i < n; i++)
		open_rows(&inputs[i]);
	script_resume(script, store, MERGE_OWNER(state->writer.info.owner),
				  &state->script, &state->nscript);
	writer = segment_resume(store, &state->writer);
	done = copy_rows(inputs, n, writer, script,
					 Max(most / POSTINGS_PER_ROW, 1));
	script_pause(script);
	segment_pause(writer);
	end_step(old);
	return done;
}

uint32 **
merge_new_numbers(PageStore *store, const SegmentInfo *segments,
				  const MergeState *state, uint32 *passed)
{
	uint32	  **numbers = alloc_numbers(segments, state->ninputs);
	ScriptReader script;
	const uint8 *bytes;
	uint32		nrows = 0;
	uint32		n;

	script_open(&script, store, MERGE_OWNER(state->writer.info.owner),
				&state->script, state->nscript);
	while ((n = script_next(&script, &bytes)) > 0)
	{
		for (uint32 i = 0; i < n; i++)
		{
			uint32		from = bytes[i] & ~SCRIPT_DROPPED;

			if (from >= state->ninputs || passed[from] == segments[from].nrows)
				broken_script(store);
			numbers[from][passed[from]++] =
				(bytes[i] & SCRIPT_DROPPED) != 0 ? MERGE_DROPPED : nrows++;
		}
	}
	if (nrows != state->writer.info.nrows)
		broken_script(store);
	return numbers;
}

/* Each row's new number: all rows have been passed. */
static void
tell_numbers(PageStore *store, const SegmentInfo *segments,
			 const MergeState *state, MergeInput *inputs)
{
	uint32		passed[MAX_SEGMENTS] = {0};
	uint32	  **numbers = merge_new_numbers(store, segments, state, passed);

	for (uint32 i = 0; i < state->ninputs; i++)
	{
		if (passed[i] != segments[i].nrows)
			broken_script(store);
		inputs[i].numbers = numbers[i];
	}
}

bool
merge_some_lists(PageStore *store, const SegmentInfo *segments, uint32 n,
				 MergeState *state, uint64 most)
{
	MemoryContext old = begin_step();
	MergeInput *inputs = step_inputs(store, segments, n);
	SegmentWriter *writer;

	tell_numbers(store, segments, state, inputs);
	for (uint32 i = 0; i < n; i++)
		lists_open_at(&inputs[i].lists, store, &segments[i], state->next_key);
	writer = segment_resume(store, &state->writer);
	state->next_key = merge_lists(inputs, n, writer, most);
	segment_pause(writer);
	end_step(old);
	return state->next_key == MERGE_NO_KEY;
}

/* In a part of the range of keys: how many there are, and in each segment by itself. */
static void
count_part(MergeInput *inputs, uint32 n, uint64 begin, uint64 end,
		   uint64 *keys, uint64 *all)
{
	KeyHeap		heap;

	for (uint32 i = 0; i < n; i++)
		lists_open_at(&inputs[i].lists, inputs[i].store, inputs[i].segment, begin);
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

uint64
merge_count_keys(PageStore *store, const SegmentInfo *segments, uint32 n)
{
	MemoryContext old = begin_step();
	MergeInput *inputs = step_inputs(store, segments, n);
	uint32		number = 0;
	uint64		most = 0;
	uint64		keys = 0;
	uint64		all = 0;

	for (uint32 i = 0; i < n; i++)
	{
		inputs[i].numbers = &number;	/* only a place to look ahead to */
		most += segments[i].nkeys;
	}
	for (uint64 i = 0; i < COUNTED_PARTS; i++)
	{
		uint64		part = (UINT64CONST(1) << 32) / COUNTED_PARTS;

		count_part(inputs, n, i * part, i * part + part / COUNTED_SHARE,
				   &keys, &all);
	}
	end_step(old);
	return all == 0 ? most : (double) most * keys / all;
}
