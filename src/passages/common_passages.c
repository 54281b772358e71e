/*
 * common_passages.c
 *		The passages that two sequences of words have in common.
 *
 * Each shingle of one sequence that the other has, too, and that neither has often, is
 * looked at in all pairs of its places, and followed to both sides as far as the sequences
 * agree.  Pairs on one diagonal, that is at the same distance, are followed once.  Runs
 * without any such shingle come from common_runs.c.
 *
 * Runs become chains.  A chain is one run, or a chain and a run that begins, in both texts,
 * close after its end.  Of the chains that a run could continue it takes that with the
 * most words in common.  The shorter chain stays: another run may be what really continues
 * it.  A chain that nothing continues is a passage, if its long runs have enough words in
 * common.  Chains are found by where they end in the second text: for each of its words
 * there is one, the longest that a run may still continue.  Closed chains are removed
 * whenever the array is full, so that there are never many.
 *
 * A passage within another is dropped.  Passages, in the order of where they begin in the
 * first text, are divided into halves.  Each half is searched by itself.  Those of the second
 * half that lie within passages of the first are found by where they end: for each, those of
 * the first half that end there or later in the first text are noted by where they begin in
 * the second text, with the farthest end there of all that begin up to a place (a binary
 * indexed tree: P. M. Fenwick, "A new data structure for cumulative frequency tables", 1994).
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "base/interrupts.h"
#include "base/memory.h"
#include "base/sort_uint64.h"
#include "passages/common_passages.h"
#include "passages/common_runs.h"

/* Chains */

#define CHAINS_SIZE		1024	/* at first */

typedef struct Chain
{
	Passage		passage;		/* what it would be */
	uint32		counted;		/* of its words in common, those of long runs */
	bool		goes_on;		/* a longer one has it as its beginning */
} Chain;

typedef struct Chains
{
	PassageRules rules;
	uint32		overlap;		/* words that neighbouring runs may share */
	uint32		nb;
	Chain	   *chains;
	uint32		n;
	uint32		size;
	uint32	   *by_end;			/* per number of words of the second text: the
								 * chain that ends after them, or NOWHERE */
	Passage    *done;
	size_t		ndone;
	size_t		done_size;
} Chains;

/*
 * Create an empty set of chains, in the current memory context, over a second text of nb
 * words: 4 bytes for each of them.
 */
static Chains *
chains_create(const PassageRules *rules, uint32 nb)
{
	Chains	   *chains = palloc0(sizeof(Chains));

	chains->rules = *rules;
	chains->overlap = Max(rules->k, rules->gap);
	chains->nb = nb;
	chains->size = CHAINS_SIZE;
	chains->chains = palloc(CHAINS_SIZE * sizeof(Chain));
	chains->by_end = MemoryContextAllocHuge(CurrentMemoryContext,
											((size_t) nb + 1) * sizeof(uint32));
	memset(chains->by_end, 0xFF, ((size_t) nb + 1) * sizeof(uint32));
	chains->done_size = CHAINS_SIZE;
	chains->done = palloc(CHAINS_SIZE * sizeof(Passage));
	return chains;
}

static void
add_done(Chains *chains, const Passage *passage)
{
	chains->done = growing_reserve(chains->done, &chains->done_size,
								   chains->ndone + 1, sizeof(Passage));
	chains->done[chains->ndone++] = *passage;
}

/* Whether a run that begins at word `now` of the first text may go on from it. */
static inline bool
is_open(const Chains *chains, const Chain *chain, uint32 now)
{
	return chain->passage.a_end + chains->rules.gap >= now;
}

/* Remove chains that are not open, and add those that are passages to the result. */
static void
close_chains(Chains *chains, uint32 now)
{
	uint32		kept = 0;

	for (uint32 i = 0; i < chains->n; i++)
	{
		Chain	   *chain = &chains->chains[i];
		uint32	   *by_end = &chains->by_end[chain->passage.b_end];
		bool		open = is_open(chains, chain, now);

		if (*by_end == i)
			*by_end = open ? kept : NOWHERE;
		if (open)
			chains->chains[kept++] = *chain;
		else if (!chain->goes_on &&
				 chain->counted >= chains->rules.least)
			add_done(chains, &chain->passage);
	}
	chains->n = kept;
}

static void
make_room(Chains *chains, uint32 now)
{
	if (chains->n < chains->size)
		return;
	close_chains(chains, now);
	if (chains->n <= chains->size / 2)
		return;
	chains->size *= 2;
	chains->chains = repalloc_huge(chains->chains,
								   (size_t) chains->size * sizeof(Chain));
}

/* Words of a run that a chain has already; they may be more than the run's. */
static inline uint32
words_shared(const Passage *before, const Passage *run)
{
	uint32		a = before->a_end > run->a_start ?
	before->a_end - run->a_start : 0;
	uint32		b = before->b_end > run->b_start ?
	before->b_end - run->b_start : 0;

	return Max(a, b);
}

/* Whether a run may go on from a chain which ends near it in the second text. */
static inline bool
goes_on_from(const Chains *chains, const Passage *before, const Passage *run)
{
	return before->a_end + chains->rules.gap >= run->a_start &&
		before->a_end <= run->a_start + chains->overlap &&
		before->a_start <= run->a_start && before->b_start <= run->b_start &&
		before->a_end < run->a_end && before->b_end < run->b_end;
}

/* Words between the two, in both texts. */
static inline uint32
distance(const Passage *before, const Passage *run)
{
	return abs((int32) (run->a_start - before->a_end)) +
		abs((int32) (run->b_start - before->b_end));
}

/*
 * The best chain for a run to go on from, or NULL.  None is so good that the run
 * would have fewer words in common with it than alone.
 */
static Chain *
find_before(const Chains *chains, const Passage *run)
{
	uint32		least = run->b_start - Min(chains->rules.gap, run->b_start);
	uint32		last = Min(run->b_start + chains->overlap, chains->nb);
	Chain	   *best = NULL;
	uint32		best_matched = run->matched;

	if (chains->rules.gap == 0)
		return NULL;
	for (uint32 end = least; end <= last; end++)
	{
		Chain	   *chain;
		uint32		matched;

		if (chains->by_end[end] == NOWHERE)
			continue;
		chain = &chains->chains[chains->by_end[end]];
		if (!goes_on_from(chains, &chain->passage, run))
			continue;
		matched = chain->passage.matched + run->matched -
			words_shared(&chain->passage, run);
		if (matched < best_matched ||
			(best != NULL && matched == best_matched &&
			 distance(&chain->passage, run) >= distance(&best->passage, run)))
			continue;
		best = chain;
		best_matched = matched;
	}
	return best;
}

/*
 * Add a run of words that both texts have in common.  Runs come in about the order of
 * their starts in the first text.  The words of one that counts make a passage; those of
 * others only go with it.
 */
static void
chains_add(Chains *chains, uint32 a_start, uint32 b_start, uint32 words,
		   bool counts)
{
	uint32		counted = counts ? words : 0;
	Passage		run = {a_start, a_start + words, b_start, b_start + words, words};
	Chain	   *before;
	uint32	   *by_end = &chains->by_end[run.b_end];

	make_room(chains, a_start);
	before = find_before(chains, &run);
	if (before != NULL)
	{
		uint32		shared = words_shared(&before->passage, &run);

		counted += before->counted;
		if (counts)
			counted = Max(counted, words + shared) - shared;
		run.matched += before->passage.matched - shared;
		run.a_start = before->passage.a_start;
		run.b_start = before->passage.b_start;
		before->goes_on = true;
	}
	chains->chains[chains->n] = (Chain)
	{
		run, counted, false
	};
	if (*by_end == NOWHERE ||
		!is_open(chains, &chains->chains[*by_end], a_start) ||
		chains->chains[*by_end].passage.matched <= run.matched)
		*by_end = chains->n;
	chains->n++;
}

static Passage *
chains_finish(Chains *chains, size_t *n)
{
	close_chains(chains, PG_UINT32_MAX);
	*n = chains->ndone;
	return chains->done;
}

/* Passages within others */

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

#define ST_SORT passages_sort
#define ST_ELEMENT_TYPE Passage
#define ST_COMPARE(a, b) compare_passages(a, b)
#define ST_SCOPE extern
#define ST_CHECK_FOR_INTERRUPTS
#define ST_DEFINE
#include "lib/sort_template.h"

typedef struct Halves
{
	const Passage *passages;
	uint32		n;
	uint32	   *by_end;			/* numbers of passages; of a part that has
								 * been looked through, those that end last in
								 * the first text come first */
	uint32	   *merged;			/* room for a part of these */
	uint32	   *rank;			/* from 1, by where they begin in the second
								 * text */
	uint32	   *farthest;		/* by rank: the tree */
	bool	   *inner;			/* within another one */
} Halves;

/* Note the end of a passage for those that begin where it does, or later. */
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

/* Find the passages of a second half that are within those of the first one. */
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

/* Merge the halves, in order of their ends. */
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
	/* none of the second half can be within one that ends before it */
	if (halves->passages[halves->by_end[from]].a_end > halves->passages[middle].a_start)
		compare_halves(halves, from, middle, to);
	merge_halves(halves, from, middle, to);
}

/* Rank passages by where they begin in the second text. */
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
		/*
		 * those that begin together have one rank, as each may have the
		 * others within
		 */
		if (i == 0 || begins[i] >> 32 != begins[i - 1] >> 32)
			rank = i + 1;
		halves->rank[(uint32) begins[i]] = rank;
	}
	LOOK_AT_MEMORY(CurrentMemoryContext->parent);
	pfree(begins);
}

size_t
passages_drop_inner(Passage *passages, size_t n)
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
		.inner = MemoryContextAllocExtended(context, n + 1, MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO)
	};

	passages_sort(passages, n);
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

/* Passages */

/* Add a run of words between the short ones beside it. */
static void
add_among_short(const SequencePair *pair, Chains *chains, const CommonRun *run,
				uint32 gap)
{
	CommonRun	found[SHORT_RUNS_MAX];
	int			n = short_runs_before(pair, run, gap, found);

	while (n-- > 0)
		chains_add(chains, found[n].a, found[n].b, found[n].length, false);
	chains_add(chains, run->a, run->b, run->length, true);
	n = short_runs_after(pair, run, gap, found);
	for (int i = 0; i < n; i++)
		chains_add(chains, found[i].a, found[i].b, found[i].length, false);
}

static void
add_run(SequencePair *pair, Chains *chains, const CommonRun *run,
		const PassageRules *rules)
{
	CommonRun	words = {run->a, run->b, run->length + rules->k - 1};

	*reached_on_diagonal(pair, run->a, run->b) = run->a + run->length;
	if (pair->a_words != NULL)
		add_among_short(pair, chains, &words, rules->gap);
	else
		chains_add(chains, words.a, words.b, words.length, true);
}

/* All runs through the shingle at a. */
static void
follow_shingle(SequencePair *pair, Chains *chains, uint32 a,
			   const PassageRules *rules)
{
	uint32		first = pair->a[a];

	if (sequence_index_exceeds(&pair->index, first, OFTEN))
		return;
	for (uint32 b = first; b != NOWHERE; b = pair->index.next[b])
	{
		CommonRun	run;

		if (*reached_on_diagonal(pair, a, b) > a)
			continue;
		run = pair_extend(pair, a, b, 1);
		add_run(pair, chains, &run, rules);
	}
}

static void
chain_runs(SequencePair *pair, Chains *chains, const CommonRun *repeated,
		   size_t nrepeated, const PassageRules *rules)
{
	size_t		next = 0;

	for (uint32 a = 0; a < pair->na; a++)
	{
		CHECK_EVERY(a);
		for (; next < nrepeated && repeated[next].a <= a; next++)
		{
			const CommonRun *run = &repeated[next];

			if (*reached_on_diagonal(pair, run->a, run->b) <= run->a)
				add_run(pair, chains, run, rules);
		}
		if (pair->a[a] != NOWHERE)
			follow_shingle(pair, chains, a, rules);
	}
}

/* In the current memory context, which is a temporary one. */
static Passage *
find_passages(WordSequence *a, WordSequence *b, const PassageRules *rules, size_t *n)
{
	SequencePair pair = {
		.na = a->n,.nb = b->n,.a_words = a->words,.b_words = b->words,
		.k = rules->k,.context = CurrentMemoryContext
	};
	uint32	   *a_ids;
	uint32	   *b_ids;
	CommonRun  *repeated;
	size_t		nrepeated;
	Chains	   *chains;
	Passage    *passages;

	sequences_number(&pair.index, a->shingles, a->n, b->shingles, b->n,
					 CurrentMemoryContext->parent);
	pair.a = a_ids = ids_shrink(a->shingles, a->n);
	pair.b = b_ids = ids_shrink(b->shingles, b->n);
	repeated = repeated_runs(&pair, rules->least - rules->k + 1, &nrepeated);
	pair_forget_runs(&pair);
	chains = chains_create(rules, b->n + rules->k - 1);
	chain_runs(&pair, chains, repeated, nrepeated, rules);
	passages = chains_finish(chains, n);
	*n = passages_drop_inner(passages, *n);
	LOOK_AT_MEMORY(CurrentMemoryContext->parent);
	pfree(a_ids);
	pfree(b_ids);
	return passages;
}

Passage *
common_passages(WordSequence *a, WordSequence *b, const PassageRules *rules, size_t *n)
{
	MemoryContext caller = CurrentMemoryContext;
	MemoryContext work;
	Passage    *found;
	Passage    *passages;

	*n = 0;
	if (a->n == 0 || b->n == 0)
	{
		pfree(a->shingles);
		pfree(b->shingles);
		return NULL;
	}
	work = AllocSetContextCreate(caller, "neardup passages",
								 ALLOCSET_DEFAULT_SIZES);
	MemoryContextSwitchTo(work);
	found = find_passages(a, b, rules, n);
	passages = MemoryContextAllocHuge(caller, Max(*n, 1) * sizeof(Passage));
	memcpy(passages, found, *n * sizeof(Passage));
	LOOK_AT_MEMORY(caller);
	MemoryContextSwitchTo(caller);
	MemoryContextDelete(work);
	return passages;
}
