/*
 * repeated_runs.c
 *		Common runs of shingles all of which stand often.
 *
 * Such are the phrases of a language, and repeated text.  Their shingles have
 * too many pairs of places to look at each, but windows, as long as the
 * shortest passage, mostly have few.  A window that still stands often, such as
 * a line said a thousand times, is not looked at in pairs: for each of its
 * places that is in no run yet one run is chosen, the longest of those that
 * begin at a few places of the other sequence.  So their number, and the time
 * to find them, grows with the length of the sequences.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/passages/repeated_runs.c
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "base/growing.h"
#include "base/hash.h"
#include "base/interrupts.h"
#include "passages/common_runs.h"

/* The windows of a sequence: their hashes, and where they begin. */
typedef struct Windows
{
	uint64	   *hashes;
	uint32	   *places;
	size_t		n;
	size_t		size;
	uint32	   *ids;			/* as the index has them */
} Windows;

typedef struct RepeatedRuns
{
	SequencePair *pair;
	uint32		window;			/* shingles */
	Windows		a;
	Windows		b;
	SequenceIndex index;		/* of the windows of b */
	bool	   *covered;		/* per shingle of b: a window that begins there
								 * is in a run */
	CommonRun  *runs;
	size_t		n;
	size_t		size;
} RepeatedRuns;

/* Windows */

static void
make_room(Windows *windows, size_t n)
{
	if (windows->n + n <= windows->size)
		return;
	windows->size = Max(2 * windows->size, windows->n + n);
	windows->hashes = repalloc_huge(windows->hashes,
									windows->size * sizeof(uint64));
	windows->places = repalloc_huge(windows->places,
									windows->size * sizeof(uint32));
}

/* The hash of what has two others, side by side or overlapping. */
static inline uint64
combine(uint64 left, uint64 right)
{
	return mix64(mix64(left) + right);
}

/*
 * Makes the hashes of n shingles those of the windows that begin with them.
 * From those of m shingles come those of 2m; the last two overlap.
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

/* Adds the windows of a stretch of shingles that all stand often. */
static void
add_stretch(Windows *windows, const uint32 *shingles, uint32 start,
			uint32 stop, uint32 window)
{
	uint64	   *hashes;

	if (stop - start < window)
		return;
	make_room(windows, stop - start);
	hashes = windows->hashes + windows->n;
	for (uint32 i = start; i < stop; i++)
	{
		hashes[i - start] = shingles[i];
		windows->places[windows->n + (i - start)] = i;
	}
	hash_windows(hashes, stop - start, window);
	windows->n += stop - start - window + 1;
}

static void
find_windows(Windows *windows, const SequencePair *pair,
			 const uint32 *shingles, uint32 n, uint32 window)
{
	uint32		start = 0;		/* of the stretch */

	windows->n = 0;
	windows->size = 1024;
	windows->hashes = palloc(windows->size * sizeof(uint64));
	windows->places = palloc(windows->size * sizeof(uint32));
	for (uint32 i = 0; i < n; i++)
	{
		CHECK_EVERY(i);
		if (shingles[i] != NOWHERE && pair_is_often(pair, shingles[i]))
			continue;
		add_stretch(windows, shingles, start, i, window);
		start = i + 1;
	}
	add_stretch(windows, shingles, start, n, window);
	windows->ids = MemoryContextAllocHuge(CurrentMemoryContext,
										  Max(windows->n, 1) * sizeof(uint32));
}

/* Runs */

static void
add_run(RepeatedRuns *all, const CommonRun *run)
{
	all->runs = growing_reserve(all->runs, &all->size, all->n + 1,
								sizeof(CommonRun));
	all->runs[all->n++] = *run;
	*reached_on_diagonal(all->pair, run->a, run->b) = run->a + run->length;
	memset(all->covered + run->b, true, run->length - all->window + 1);
}

/* All runs that have a window of a, which has few places in b. */
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
 * The longest run from a window of a, of those at its first places in b;
 * returns the last place of a that is the start of a window in it.
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
	add_run(all, &best);
	return best.a + best.length - all->window;
}

/* Runs for the windows of a; for each one of b, *seen is a place in a. */
static void
cover_a(RepeatedRuns *all, uint32 *seen)
{
	uint32		covered = 0;	/* windows that begin before are in a run */

	for (size_t i = 0; i < all->a.n; i++)
	{
		uint32		a = all->a.places[i];
		uint32		id = all->a.ids[i];
		const IndexedHash *slot = &all->index.slots[id];

		CHECK_EVERY(i);
		if (id == NOWHERE)
			continue;
		seen[slot->first] = a;
		if (slot->count <= OFTEN && slot->found <= OFTEN)
			add_all_runs(all, a, slot->first);
		else if (a >= covered)
			covered = add_longest_run(all, a, slot->first) + 1;
	}
}

/* Runs for those windows of b that none of these has. */
static void
cover_b(RepeatedRuns *all, const uint32 *seen)
{
	for (size_t i = 0; i < all->b.n; i++)
	{
		uint32		b = all->b.places[i];
		const IndexedHash *slot = &all->index.slots[all->b.ids[i]];
		CommonRun	run;

		CHECK_EVERY(i);
		if (slot->found == 0 || all->covered[b])
			continue;
		run = pair_extend(all->pair, seen[slot->first], b, all->window);
		add_run(all, &run);
	}
}

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

CommonRun *
repeated_runs(SequencePair *pair, uint32 window, size_t *n)
{
	RepeatedRuns all = {pair, window};
	uint32	   *seen;

	all.size = 256;
	all.runs = palloc(all.size * sizeof(CommonRun));
	find_windows(&all.a, pair, pair->a, pair->na, window);
	find_windows(&all.b, pair, pair->b, pair->nb, window);
	*n = 0;
	if (all.a.n == 0 || all.b.n == 0)
		return all.runs;
	sequence_index_build(&all.index, all.b.hashes, all.b.n, all.b.ids);
	sequence_index_find(&all.index, all.a.hashes, all.a.n, all.a.ids);
	all.covered = MemoryContextAllocExtended(CurrentMemoryContext, pair->nb,
											 MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	seen = MemoryContextAllocHuge(CurrentMemoryContext,
								  all.b.n * sizeof(uint32));
	cover_a(&all, seen);
	cover_b(&all, seen);
	pair_forget_runs(pair);
	sort_runs(all.runs, all.n);
	*n = all.n;
	return all.runs;
}
