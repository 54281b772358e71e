/*
 * checked_merge.c
 *		A merge in steps that is checked.
 *
 * Rows and lists are compared by sums of hashes, of each row with its new
 * number, and of each key with each of its rows' new numbers.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "base/hash.h"
#include "base/interrupts.h"
#include "index/checked_merge.h"
#include "index/merge.h"
#include "index/steps.h"

typedef struct CheckedMerge
{
	PageStore	store;
	const MergeState *state;
	const SegmentInfo *segments;
	uint32		n;
	uint32	  **numbers;		/* new ones, of each segment's rows */
	uint32	   *passed;			/* rows of each that have one */
	PGAlignedBlock page;
} CheckedMerge;

static void
broken(const CheckedMerge *merge, BlockNumber block, const char *rule)
{
	index_corrupt(merge->store.index, block, rule);
}

/* That a chain has its pages; returns the first one of that kind. */
static BlockNumber
check_chain(CheckedMerge *merge, const PageChain *chain, uint64 owner,
			PageKind kind)
{
	BlockNumber block = chain->first;
	BlockNumber found = InvalidBlockNumber;

	for (uint32 i = 0; i <= chain->npages; i++)
	{
		if (block == chain->next && i < chain->npages)
			broken(merge, block, "A chain of pages of a merge is too short.");
		page_require(&merge->store, block, owner, merge->page.data);
		if (i < chain->npages && !BlockNumberIsValid(found) &&
			PAGE_TAIL(merge->page.data)->kind == kind)
			found = block;
		if (i == chain->npages && block != chain->next)
			broken(merge, block, "A chain of pages of a merge is too long.");
		block = PAGE_TAIL(merge->page.data)->next;
	}
	return found;
}

/* Rows: from the segments by their new numbers, or from the new one. */

static inline uint64
row_sum(const ForwardEntry *row, uint32 number)
{
	ForwardEntry same = *row;
	uint64		words[3] = {0};

	same.spec = 0;			/* VACUUM marks one before the other */
	memcpy(words, &same, sizeof(ForwardEntry));
	return mix64(mix64(mix64(words[0]) + words[1]) + words[2] + ((uint64) number << 32));
}

/* The first n rows of a segment; `numbers` may be NULL. */
static uint64
sum_rows(CheckedMerge *merge, const SegmentInfo *segment, uint32 n,
		 const uint32 *numbers)
{
	BlockNumber block = segment->first;
	uint64		sum = 0;

	for (uint32 row = 0; row < n;)
	{
		const ForwardEntry *rows;
		uint32		end = row + Min(n - row, FORWARD_PER_PAGE);

		page_require(&merge->store, block, segment->owner, merge->page.data);
		if (PAGE_TAIL(merge->page.data)->kind != PAGE_FORWARD)
			broken(merge, block, "Rows of a merge are missing.");
		rows = (const ForwardEntry *) PageGetContents(merge->page.data);
		for (; row < end; row++, rows++)
			if (numbers == NULL)
				sum += row_sum(rows, row);
			else if (numbers[row] != MERGE_DROPPED)
				sum += row_sum(rows, numbers[row]);
		block = PAGE_TAIL(merge->page.data)->next;
	}
	return sum;
}

static void
check_rows(CheckedMerge *merge)
{
	const SegmentInfo *output = &merge->state->writer.info;
	uint64		sum = 0;

	for (uint32 i = 0; i < merge->n; i++)
		sum += sum_rows(merge, &merge->segments[i], merge->passed[i],
						merge->numbers[i]);
	if (sum != sum_rows(merge, output, output->nrows, NULL))
		broken(merge, output->first, "A merge has other rows than its segments.");
}

/* Lists */

static uint64
sum_list(const ListStream *lists, const uint32 *numbers, uint64 *npostings)
{
	uint64		sum = 0;

	for (size_t i = 0; i < lists->runs.n; i++)
		for (uint32 row = lists->runs.first[i]; row < lists->runs.end[i]; row++)
		{
			uint32		number = numbers != NULL ? numbers[row] : row;

			CHECK_EVERY(row);
			if (number == MERGE_DROPPED)
				continue;
			sum += mix64((uint64) lists->key << 32 | number);
			++*npostings;
		}
	return sum;
}

/* The lists of lesser keys than the next one, of all segments. */
static uint64
sum_inputs(CheckedMerge *merge)
{
	uint64		npostings = 0;
	uint64		sum = 0;

	for (uint32 i = 0; i < merge->n; i++)
	{
		ListStream	lists;

		for (lists_open(&lists, &merge->store, &merge->segments[i]);
			 !lists.done && lists.key < merge->state->next_key;
			 lists_next(&lists))
			sum += sum_list(&lists, merge->numbers[i], &npostings);
		lists_close(&lists);
	}
	return sum;
}

static void
check_lists(CheckedMerge *merge, BlockNumber first)
{
	const WriterState *writer = &merge->state->writer;
	ListStream	lists;
	uint64		nkeys = 0;
	uint64		npostings = 0;
	uint64		sum = 0;
	uint32		before = 0;

	for (lists_open_pages(&lists, &merge->store, &writer->info, first,
						  writer->pages.next);
		 !lists.done; lists_next(&lists))
	{
		if ((nkeys++ > 0 && lists.key <= before) ||
			lists.key >= merge->state->next_key)
			broken(merge, lists.block, "Keys of a merge are out of order.");
		before = lists.key;
		sum += sum_list(&lists, NULL, &npostings);
	}
	lists_close(&lists);
	if (nkeys != writer->info.nkeys || npostings != writer->info.npostings)
		broken(merge, first, "A merge miscounts keys or postings.");
	if (sum != sum_inputs(merge))
		broken(merge, first, "A merge has other lists than its segments.");
}

/* The whole */

/* What can be told without reading rows. */
static void
check_state(CheckedMerge *merge, BlockNumber block)
{
	const MergeState *state = merge->state;
	uint64		rows = 0;

	for (uint32 i = 0; i < merge->n; i++)
		rows += merge->segments[i].nrows;
	if (state->phase < MERGE_ROWS || state->phase > MERGE_RELEASE ||
		(state->phase == MERGE_RELEASE ? merge->n != 0 :
		 merge->n != state->ninputs || state->nscript > rows) ||
		(state->phase == MERGE_FINISH && state->next_key != MERGE_NO_KEY &&
		 state->writer.info.nkeys > 0))
		broken(merge, block, "The state of a merge is damaged.");
}

static void
check_written(CheckedMerge *merge)
{
	const WriterState *writer = &merge->state->writer;
	uint64		owner = writer->info.owner;
	BlockNumber first = check_chain(merge, &writer->pages, owner, PAGE_POSTINGS);

	(void) check_chain(merge, &writer->directories, owner, PAGE_DIRECTORY);
	(void) check_chain(merge, &writer->words, owner, PAGE_FILTER);
	(void) check_chain(merge, &merge->state->script, MERGE_OWNER(owner), PAGE_SCRIPT);
	merge->passed = palloc0(Max(merge->n, 1) * sizeof(uint32));
	merge->numbers = merge_new_numbers(&merge->store, merge->segments,
									   merge->state, merge->passed);
	check_rows(merge);
	if (merge->state->phase != MERGE_ROWS)
		check_lists(merge, first);
}

void
checked_merge(Relation index, const IndexMeta *meta, int number)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext,
												  "neardup checked merge",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	CheckedMerge *merge = palloc0(sizeof(CheckedMerge));
	MergeState *state = palloc(sizeof(MergeState));
	SegmentInfo *segments = palloc(MAX_SEGMENTS * sizeof(SegmentInfo));

	merge->store.index = index;
	merge->state = state;
	merge->segments = segments;
	merge->n = steps_segments(meta, number, segments);
	if (steps_state(index, meta, number, state))
	{
		check_state(merge, meta->merges[number].block);
		if (state->phase != MERGE_RELEASE)
			check_written(merge);
	}
	else if (merge->n > 0)
		broken(merge, META_BLOCK, "A segment is in a merge that is not there.");
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
}
