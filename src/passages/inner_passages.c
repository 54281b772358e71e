/*
 * inner_passages.c
 *		Passages that lie within others.
 *
 * Passages are gone through by where they begin in the first text, and compared with
 * those that have not ended there.  These are few.  In texts of few words in ever new
 * order they may be many; then only the last ones are compared in this way, and what is left
 * is divided into halves, by the order in which passages begin.  Each half is looked through by
 * itself; and of the second half, those that lie within passages of the first are found by
 * where they end: for each of them, the first half's that end there or later in the first text
 * have been noted by where they begin in the second text, with the farthest end there of all that
 * begin up to a place (a binary indexed tree: P. M. Fenwick, "A new data structure for cumulative
 * frequency tables", 1994).
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "base/interrupts.h"
#include "base/memory.h"
#include "base/sort_uint64.h"
#include "passages/inner_passages.h"

/* Of passages that have not ended so many are compared one by one. */
#define OPEN_MAX	64

/* By place in the first text; of those that begin together, the longest first. */
static inline int
compare_passages(const Passage *a, const Passage *b)
{
	if (a->a_start != b->a_start)
		return a->a_start < b->a_start ? -1 : 1;
	if (a->a_end != b->a_end)
		return a->a_end > b->a_end ? -1 : 1;
	if (a->b_start != b->b_start)
		return a->b_start < b->b_start ? -1 : 1;
	if (a->b_end != b->b_end)
		return a->b_end > b->b_end ? -1 : 1;
	return a->matched > b->matched ? -1 : a->matched < b->matched;
}

#define ST_SORT sort_passages
#define ST_ELEMENT_TYPE Passage
#define ST_COMPARE(a, b) compare_passages(a, b)
#define ST_SCOPE static
#define ST_CHECK_FOR_INTERRUPTS
#define ST_DEFINE
#include "lib/sort_template.h"

static inline bool
is_within(const Passage *inner, const Passage *outer)
{
	return inner->a_start >= outer->a_start && inner->a_end <= outer->a_end &&
		inner->b_start >= outer->b_start && inner->b_end <= outer->b_end;
}

/* One by one */

/* Passages that may have later ones within them. */
typedef struct OpenPassages
{
	Passage		passages[OPEN_MAX];
	int			n;
	bool		complete;		/* none has been forgotten before its end */
} OpenPassages;

static void
forget_closed(OpenPassages *open, uint32 a_start)
{
	int			kept = 0;

	for (int i = 0; i < open->n; i++)
	{
		if (open->passages[i].a_end > a_start)
			open->passages[kept++] = open->passages[i];
	}
	open->n = kept;
}

/* Takes one in; if there are too many, that which ends first gives way. */
static void
remember_open(OpenPassages *open, const Passage *passage)
{
	int			first = 0;

	if (open->n < OPEN_MAX)
	{
		open->passages[open->n++] = *passage;
		return;
	}
	open->complete = false;
	for (int i = 1; i < OPEN_MAX; i++)
	{
		if (open->passages[i].a_end < open->passages[first].a_end)
			first = i;
	}
	if (open->passages[first].a_end < passage->a_end)
		open->passages[first] = *passage;
}

static bool
is_within_any(const Passage *passage, const OpenPassages *open)
{
	for (int i = 0; i < open->n; i++)
	{
		if (is_within(passage, &open->passages[i]))
			return true;
	}
	return false;
}

/* Drops passages that are found to be within others; *complete: these are all. */
static size_t
drop_one_by_one(Passage *passages, size_t n, bool *complete)
{
	OpenPassages open = {.n = 0,.complete = true};
	size_t		kept = 0;

	for (size_t i = 0; i < n; i++)
	{
		Passage		passage = passages[i];

		CHECK_EVERY(i);
		forget_closed(&open, passage.a_start);
		if (is_within_any(&passage, &open))
			continue;
		remember_open(&open, &passage);
		passages[kept++] = passage;
	}
	*complete = open.complete;
	return kept;
}

/* In halves */

typedef struct Halves
{
	const Passage *passages;
	uint32		n;
	uint32	   *by_end;			/* numbers of passages; of a part that has been looked
								 * through, those that end last in the first text
								 * come first */
	uint32	   *merged;			/* room for a part of these */
	uint32	   *rank;			/* from 1, by where they begin in the second text */
	uint32	   *farthest;		/* by rank: the tree */
	bool	   *inner;			/* within another one */
} Halves;

/* Notes a passage; those that begin where it does, or later, know of its end. */
static void
note(Halves *halves, uint32 number)
{
	uint32		end = halves->passages[number].b_end;

	for (uint64 i = halves->rank[number]; i <= halves->n; i += i & -i)
		halves->farthest[i] = Max(halves->farthest[i], end);
}

static void
forget(Halves *halves, uint32 number)
{
	for (uint64 i = halves->rank[number]; i <= halves->n; i += i & -i)
		halves->farthest[i] = 0;
}

/* The farthest end of those noted that begin where this one does, or before. */
static uint32
farthest_end(const Halves *halves, uint32 number)
{
	uint32		end = 0;

	for (uint32 i = halves->rank[number]; i > 0; i -= i & -i)
		end = Max(end, halves->farthest[i]);
	return end;
}

/* Finds those of a second half that are within passages of the first one. */
static void
compare_halves(Halves *halves, uint32 from, uint32 middle, uint32 to)
{
	const Passage *passages = halves->passages;
	uint32		next = from;

	for (uint32 i = middle; i < to; i++)
	{
		uint32		number = halves->by_end[i];

		CHECK_EVERY(i);
		while (next < middle &&
			   passages[halves->by_end[next]].a_end >= passages[number].a_end)
			note(halves, halves->by_end[next++]);
		if (farthest_end(halves, number) >= passages[number].b_end)
			halves->inner[number] = true;
	}
	while (next > from)
		forget(halves, halves->by_end[--next]);
}

/* Puts the halves together, in order of their ends. */
static void
merge_halves(Halves *halves, uint32 from, uint32 middle, uint32 to)
{
	uint32		first = from;
	uint32		second = middle;

	for (uint32 i = from; i < to; i++)
	{
		bool		take_first = second == to ||
			(first < middle &&
			 halves->passages[halves->by_end[first]].a_end >=
			 halves->passages[halves->by_end[second]].a_end);

		halves->merged[i] = halves->by_end[take_first ? first++ : second++];
	}
	memcpy(halves->by_end + from, halves->merged + from, sizeof(uint32) * (to - from));
}

static void
look_through(Halves *halves, uint32 from, uint32 to)
{
	uint32		middle = from + (to - from) / 2;

	CHECK_FOR_INTERRUPTS();
	if (to - from < 2)
		return;
	look_through(halves, from, middle);
	look_through(halves, middle, to);
	compare_halves(halves, from, middle, to);
	merge_halves(halves, from, middle, to);
}

/* Ranks passages by where they begin in the second text. */
static void
rank_passages(Halves *halves)
{
	uint64	   *begins = MemoryContextAllocHuge(CurrentMemoryContext,
												sizeof(uint64) * halves->n);

	for (uint32 i = 0; i < halves->n; i++)
		begins[i] = (uint64) halves->passages[i].b_start << 32 | i;
	sort_hashes(begins, halves->n);
	for (uint32 i = 0, rank = 0; i < halves->n; i++)
	{
		/* those that begin together have one rank, as each may have the others within */
		if (i == 0 || begins[i] >> 32 != begins[i - 1] >> 32)
			rank = i + 1;
		halves->rank[(uint32) begins[i]] = rank;
	}
	LOOK_AT_MEMORY(CurrentMemoryContext->parent);
	pfree(begins);
}

/* Drops all passages that are within others. */
static size_t
drop_by_halves(Passage *passages, size_t n)
{
	MemoryContext context = CurrentMemoryContext;
	size_t		size = sizeof(uint32) * (n + 1);
	size_t		kept = 0;
	Halves		halves = {
		.passages = passages,
		.n = n,
		.by_end = MemoryContextAllocHuge(context, size),
		.merged = MemoryContextAllocHuge(context, size),
		.rank = MemoryContextAllocHuge(context, size),
		.farthest = MemoryContextAllocExtended(context, size, MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO),
		.inner = MemoryContextAllocExtended(context, n, MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO)
	};

	rank_passages(&halves);
	for (uint32 i = 0; i < n; i++)
		halves.by_end[i] = i;
	look_through(&halves, 0, n);
	for (size_t i = 0; i < n; i++)
		if (!halves.inner[i])
			passages[kept++] = passages[i];
	pfree(halves.by_end);
	pfree(halves.merged);
	pfree(halves.rank);
	pfree(halves.farthest);
	pfree(halves.inner);
	return kept;
}

size_t
passages_drop_inner(Passage *passages, size_t n)
{
	bool		complete;

	sort_passages(passages, n);
	n = drop_one_by_one(passages, n, &complete);
	return complete ? n : drop_by_halves(passages, n);
}
