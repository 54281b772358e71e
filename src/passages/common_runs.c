/*
 * common_runs.c
 *		Finds maximal runs of shingles that two sequences have in common.
 *
 * Shingles that occur often in both sequences belong to common phrases and to
 * repeated text.  They have too many pairs of places for each to be extended,
 * but windows, which are as long as the shortest passage, mostly have few.  A
 * window that also occurs often, such as a line repeated a thousand times, is
 * not extended from each pair either.  For each of its places that is in no
 * run yet, one run is chosen: the longest run from a few of its places in the
 * other sequence.  So the number of runs, and the time to find them, grows
 * linearly with the sequences.
 *
 * Short runs have no shingle.  Where a copied passage was edited close to its
 * end, the rest is shorter than a shingle.  It is rarely chance if two or more
 * words in a row agree, and are at most their number of words away from a run.
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "base/hash.h"
#include "base/interrupts.h"
#include "base/memory.h"
#include "passages/common_runs.h"

/* Runs */

void
pair_forget_runs(SequencePair *pair)
{
	size_t		size = ((size_t) pair->na + pair->nb - 1) * sizeof(uint32);

	if (pair->reached == NULL)
		pair->reached = MemoryContextAllocHuge(pair->context, size);
	memset(pair->reached, 0, size);
}

CommonRun
pair_extend(const SequencePair *pair, uint32 a, uint32 b, uint32 length)
{
	CommonRun	run = {a, b, length};

	Assert(a + length <= pair->na && b + length <= pair->nb);
	while (run.a > 0 && run.b > 0 && pair->a[run.a - 1] == pair->b[run.b - 1])
	{
		run.a--;
		run.b--;
		run.length++;
	}
	while (run.a + run.length < pair->na && run.b + run.length < pair->nb &&
		   pair->a[run.a + run.length] == pair->b[run.b + run.length])
		run.length++;
	return run;
}

/* Runs of frequent shingles */

/* The windows of a sequence: their hashes, and where they begin */
typedef struct Windows
{
	uint64	   *hashes;
	uint32	   *places;
	size_t		n;
	uint32	   *ids;			/* numbers in the index, in the memory of the
								 * hashes */
} Windows;

/* State of repeated_runs() */
typedef struct RepeatedRuns
{
	SequencePair *pair;
	uint32		window;			/* number of shingles in a window */
	Windows		a;
	Windows		b;
	SequenceIndex index;		/* index of the windows of b */
	bool	   *covered;		/* true for each shingle of b whose window,
								 * which begins there, is in a run */
	CommonRun  *runs;
	size_t		n;
	size_t		size;
} RepeatedRuns;

/* Windows */

/* Return the hash of two pieces, side by side or overlapping. */
static inline uint64
combine(uint64 left, uint64 right)
{
	return mix64(mix64(left) + right);
}

/*
 * Replace the hashes of n shingles by the hashes of the windows that begin
 * with them.  Two windows of m shingles make one of 2m; the last two windows
 * overlap.
 */
static void
hash_windows(uint64 *hashes, size_t n, size_t window)
{
	size_t		m;

	for (m = 1; 2 * m <= window; m *= 2)
	{
		CHECK_FOR_INTERRUPTS();
		for (size_t i = 0; i + 2 * m <= n; i++)
			hashes[i] = combine(hashes[i], hashes[i + m]);
	}
	for (size_t i = 0; m < window && i + window <= n; i++)
		hashes[i] = combine(hashes[i], hashes[i + window - m]);
}

/*
 * Add the windows of a stretch of frequent shingles.  Shingles are counted
 * from 1: since mix64(0) is 0, windows with a shingle 0 would have equal
 * hashes in any order.
 */
static void
add_stretch(Windows *windows, const uint32 *shingles, uint32 start,
			uint32 stop, uint32 window)
{
	uint64	   *hashes = windows->hashes + windows->n;

	for (uint32 i = start; i < stop; i++)
	{
		hashes[i - start] = (uint64) shingles[i] + 1;
		windows->places[windows->n + (i - start)] = i;
	}
	hash_windows(hashes, stop - start, window);
	Assert(stop - start >= window);
	windows->n += stop - start - window + 1;
}

/*
 * Find the next stretch of at least `window` frequent shingles, from *stop on.
 * Sets *start and *stop; *start is n if there is none.
 */
static void
next_stretch(const SequencePair *pair, const uint32 *shingles, uint32 n,
			 uint32 window, uint32 *start, uint32 *stop)
{
	uint32		i = *stop;

	for (*start = i; i < n; i++)
	{
		CHECK_EVERY(i);
		if (shingles[i] != NOWHERE && pair->index.found[shingles[i]] > 0 &&
			sequence_index_exceeds(&pair->index, shingles[i], OFTEN))
			continue;
		if (i - *start >= window)
			break;
		*start = i + 1;
	}
	*stop = i;
	if (i - *start < window)
		*start = n;
}

/*
 * Return the number of shingles in stretches of at least `window` frequent
 * shingles.
 */
static size_t
count_often(const SequencePair *pair, const uint32 *shingles, uint32 n,
			uint32 window)
{
	size_t		count = 0;
	uint32		start;
	uint32		stop = 0;

	for (;;)
	{
		next_stretch(pair, shingles, n, window, &start, &stop);
		if (start == n)
			return count;
		count += stop - start;
	}
}

/*
 * Find the windows of a sequence's n shingles that consist of frequent
 * shingles.
 */
static void
find_windows(Windows *windows, const SequencePair *pair,
			 const uint32 *shingles, uint32 n, uint32 window)
{
	size_t		room = Max(count_often(pair, shingles, n, window), 1);
	uint32		start;
	uint32		stop = 0;

	windows->n = 0;
	windows->hashes = MemoryContextAllocHuge(CurrentMemoryContext,
											 room * sizeof(uint64));
	windows->places = MemoryContextAllocHuge(CurrentMemoryContext,
											 room * sizeof(uint32));
	for (;;)
	{
		next_stretch(pair, shingles, n, window, &start, &stop);
		if (start == n)
			break;
		add_stretch(windows, shingles, start, stop, window);
	}
	/* a stretch has fewer windows than shingles */
	room = Max(windows->n, 1);
	windows->hashes = repalloc_huge(windows->hashes, room * sizeof(uint64));
	windows->places = repalloc_huge(windows->places, room * sizeof(uint32));
}

/* Runs of windows */

/* Add a run, and note that it covers its windows of b and its diagonal. */
static void
add_run(RepeatedRuns *all, const CommonRun *run)
{
	all->runs = growing_reserve(all->runs, &all->size, all->n + 1,
								sizeof(CommonRun));
	all->runs[all->n++] = *run;
	*reached_on_diagonal(all->pair, run->a, run->b) = run->a + run->length;
	memset(all->covered + run->b, true, run->length - all->window + 1);
}

/*
 * Add all runs that contain the window at place a, which is not frequent;
 * `first` is its first place in b.
 */
static void
add_all_runs(RepeatedRuns *all, uint32 a, uint32 first)
{
	for (uint32 i = first; i != NOWHERE; i = all->index.next[i])
	{
		uint32		b = all->b.places[i];
		CommonRun	run;

		if (*reached_on_diagonal(all->pair, a, b) > a)
			continue;
		run = pair_extend(all->pair, a, b, all->window);
		add_run(all, &run);
	}
}

/*
 * Add the longest run that contains the window at place a, trying a few of its
 * places in b.  Returns the start of the last window of a in the run.
 */
static uint32
add_longest_run(RepeatedRuns *all, uint32 a, uint32 first)
{
	CommonRun	best = {0, 0, 0};
	uint32		i = first;

	for (int tries = 0; tries < OFTEN && i != NOWHERE; tries++)
	{
		CommonRun	run = pair_extend(all->pair, a, all->b.places[i],
									  all->window);

		if (run.a + run.length > best.a + best.length)
			best = run;
		i = all->index.next[i];
	}
	Assert(best.length >= all->window && best.a <= a);
	add_run(all, &best);
	return best.a + best.length - all->window;
}

/*
 * Add runs for the windows of a.  Sets seen[id] to a place in a, for each
 * window of b that is in a.
 */
static void
cover_a(RepeatedRuns *all, uint32 *seen)
{
	uint32		covered = 0;	/* windows that begin before this place are in
								 * a run */

	for (size_t i = 0; i < all->a.n; i++)
	{
		uint32		a = all->a.places[i];
		uint32		id = all->a.ids[i];

		CHECK_EVERY(i);
		if (id == NOWHERE)
			continue;
		seen[id] = a;
		if (!sequence_index_exceeds(&all->index, id, OFTEN))
			add_all_runs(all, a, id);
		else if (a >= covered)
			covered = add_longest_run(all, a, id) + 1;
	}
}

/* Add runs for the windows of b that are in no run yet. */
static void
cover_b(RepeatedRuns *all, const uint32 *seen)
{
	for (size_t i = 0; i < all->b.n; i++)
	{
		uint32		b = all->b.places[i];
		uint32		id = all->b.ids[i];
		CommonRun	run;

		CHECK_EVERY(i);
		if (all->index.found[id] == 0 || all->covered[b])
			continue;
		run = pair_extend(all->pair, seen[id], b, all->window);
		add_run(all, &run);
	}
}

/* Compare runs by their place in the first text, then in the second. */
static inline int
compare_runs(const CommonRun *a, const CommonRun *b)
{
	if (a->a != b->a)
		return a->a < b->a ? -1 : 1;
	return a->b < b->b ? -1 : a->b > b->b;
}

#define ST_SORT sort_runs
#define ST_ELEMENT_TYPE CommonRun
#define ST_COMPARE(a, b) compare_runs(a, b)
#define ST_SCOPE static
#define ST_CHECK_FOR_INTERRUPTS
#define ST_DEFINE
#include "lib/sort_template.h"

/*
 * Find all runs, unsorted.  Only the runs survive the current memory context.
 */
static void
find_runs(RepeatedRuns *all)
{
	SequencePair *pair = all->pair;
	uint32	   *seen;

	find_windows(&all->a, pair, pair->a, pair->na, all->window);
	find_windows(&all->b, pair, pair->b, pair->nb, all->window);
	LOOK_AT_MEMORY(CurrentMemoryContext->parent->parent);
	if (all->a.n == 0 || all->b.n == 0)
		return;
	sequences_number(&all->index, all->a.hashes, all->a.n, all->b.hashes,
					 all->b.n,
					 CurrentMemoryContext->parent->parent);
	all->a.ids = ids_shrink(all->a.hashes, all->a.n);
	all->b.ids = ids_shrink(all->b.hashes, all->b.n);
	pair_forget_runs(pair);
	all->covered = MemoryContextAllocExtended(CurrentMemoryContext, pair->nb,
											  MCXT_ALLOC_HUGE |
											  MCXT_ALLOC_ZERO);
	seen = MemoryContextAllocHuge(CurrentMemoryContext,
								  all->b.n * sizeof(uint32));
	LOOK_AT_MEMORY(CurrentMemoryContext->parent->parent);
	cover_a(all, seen);
	cover_b(all, seen);
}

CommonRun *
repeated_runs(SequencePair *pair, uint32 window, size_t *n)
{
	RepeatedRuns all = {pair, window};
	MemoryContext work = AllocSetContextCreate(CurrentMemoryContext,
											   "neardup windows",
											   ALLOCSET_DEFAULT_SIZES);
	MemoryContext caller = MemoryContextSwitchTo(work);

	all.size = 256;
	all.runs = MemoryContextAlloc(caller, all.size * sizeof(CommonRun));
	find_runs(&all);
	MemoryContextSwitchTo(caller);
	MemoryContextDelete(work);
	sort_runs(all.runs, all.n);
	*n = all.n;
	return all.runs;
}

/* Short runs */

#define SHORT_LEAST		2		/* words in a short run */
#define SKIPPED_MAX		8		/* words between two runs */

/* The words on one side of a place, the nearest first */
typedef struct NearbyRun
{
	const uint32 *nearest;
	uint32		n;				/* number of words on that side */
	int			step;			/* step to the next word: 1 or -1 */
} NearbyRun;

/* Return the i-th word on that side, from 0 on. */
static inline uint32
aside_word(const NearbyRun *aside, uint32 i)
{
	return aside->nearest[(ptrdiff_t) aside->step * i];
}

/* Skip the next `words` words. */
static inline void
advance(NearbyRun *aside, uint32 words)
{
	Assert(words <= aside->n);
	aside->nearest += (ptrdiff_t) aside->step * words;
	aside->n -= words;
}

/*
 * Return how many words agree, at most k, after skip_a and skip_b skipped
 * words.
 */
static inline uint32
agreement(const NearbyRun *a, uint32 skip_a, const NearbyRun *b, uint32 skip_b,
		  uint32 k)
{
	uint32		n = 0;

	while (n < k && skip_a + n < a->n && skip_b + n < b->n &&
		   aside_word(a, skip_a + n) == aside_word(b, skip_b + n))
		n++;
	return n;
}

/*
 * Advance to the next short run, and return its length.  Returns 0 if there is
 * none, or if a run with a shingle comes first.
 */
static uint32
next_short_run(NearbyRun *a, NearbyRun *b, uint32 gap, uint32 k)
{
	uint32		most = Min(Min(gap, k - 1), SKIPPED_MAX);

	for (uint32 skip = 1; skip <= most; skip++)
	{
		for (uint32 less = 0; less <= skip; less++)
		{
			for (int side = 0; side < (less == 0 ? 1 : 2); side++)
			{
				uint32		skip_a = side == 0 ? skip : skip - less;
				uint32		skip_b = side == 0 ? skip - less : skip;
				uint32		n = agreement(a, skip_a, b, skip_b, k);

				if (n == k)
					return 0;
				if (n < Max(skip, SHORT_LEAST))
					continue;
				advance(a, skip_a);
				advance(b, skip_b);
				return n;
			}
		}
	}
	return 0;
}

/*
 * Find short runs on one side of a run; return their number.  Before the run,
 * the first word of a short run is the farthest.
 */
static int
short_runs(const SequencePair *pair, NearbyRun a, NearbyRun b, uint32 gap,
		   CommonRun *found)
{
	int			n = 0;
	uint32		words;

	while (n < SHORT_RUNS_MAX &&
		   (words = next_short_run(&a, &b, gap, pair->k)) > 0)
	{
		uint32		first = a.step > 0 ? 0 : words - 1;

		found[n++] = (CommonRun)
		{
			a.nearest - pair->a_words - first,
				b.nearest - pair->b_words - first, words
		};
		advance(&a, words);
		advance(&b, words);
	}
	return n;
}

int
short_runs_after(const SequencePair *pair, const CommonRun *run, uint32 gap,
				 CommonRun *found)
{
	uint32		a_end = run->a + run->length;
	uint32		b_end = run->b + run->length;
	NearbyRun	a = {pair->a_words + a_end, pair->na + pair->k - 1 - a_end, 1};
	NearbyRun	b = {pair->b_words + b_end, pair->nb + pair->k - 1 - b_end, 1};

	return short_runs(pair, a, b, gap, found);
}

int
short_runs_before(const SequencePair *pair, const CommonRun *run, uint32 gap,
				  CommonRun *found)
{
	NearbyRun	a = {pair->a_words + run->a - 1, run->a, -1};
	NearbyRun	b = {pair->b_words + run->b - 1, run->b, -1};

	return short_runs(pair, a, b, gap, found);
}
