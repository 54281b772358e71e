/*
 * common_passages.c
 *		Finds the passages that two sequences of words have in common.
 *
 * A shingle that both sequences have, and neither has often, is extended to a
 * run from each pair of its places, to both sides, as far as the sequences
 * agree.  Pairs at the same distance are on one diagonal, and are extended
 * once.  Runs without any such shingle come from common_runs.c.
 *
 * Runs become chains.  A chain is one run, or a chain and a run that begins,
 * in both texts, close after its end.  A run continues the chain with the most
 * words in common.  The shorter chain stays, since a later run may continue it
 * better.  A chain that no run continues is a passage, if its long runs have
 * enough words in common.
 *
 * Chains are looked up by where they end in the second text.  For each of its
 * words there is at most one chain, the longest that a run may still continue.
 * Closed chains are removed when the array is full, so that it stays small.
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "base/interrupts.h"
#include "base/memory.h"
#include "base/sort_uint64.h"
#include "passages/common_passages.h"
#include "passages/common_runs.h"

/* Chains */

#define CHAINS_SIZE		1024	/* initial number of chains */

/* A chain of runs */
typedef struct Chain
{
	Passage		passage;		/* first run of the chain to its last */
	uint32		counted;		/* words in common in long runs */
	bool		goes_on;		/* true if a longer chain begins with this one */
} Chain;

/* All chains that a run may continue, and the passages found */
typedef struct Chains
{
	PassageRules rules;
	uint32		overlap;		/* number of words that consecutive runs may
								 * share */
	uint32		nb;				/* words of the second text */
	Chain	   *chains;
	uint32		n;
	uint32		size;
	uint32	   *by_end;			/* chain that ends before each word of the
								 * second text, or NOWHERE; nb + 1 of them */
	Passage    *done;			/* passages found */
	size_t		ndone;
	size_t		done_size;
} Chains;

/*
 * Create an empty set of chains over a second text of nb words, with 4 bytes
 * for each of its words.
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
											((size_t) nb +
											 1) * sizeof(uint32));
	memset(chains->by_end, 0xFF, ((size_t) nb + 1) * sizeof(uint32));
	chains->done_size = CHAINS_SIZE;
	chains->done = palloc(CHAINS_SIZE * sizeof(Passage));
	return chains;
}

/*
 * True if a run that begins at word `now` of the first text may continue a
 * chain.
 */
static inline bool
is_open(const Chains *chains, const Chain *chain, uint32 now)
{
	return chain->passage.a_end + chains->rules.gap >= now;
}

/*
 * Remove the chains that are not open, and add the passages among them to
 * `done`.
 */
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
		else if (!chain->goes_on && chain->counted >= chains->rules.least)
		{
			chains->done = growing_reserve(chains->done, &chains->done_size,
										   chains->ndone + 1, sizeof(Passage));
			chains->done[chains->ndone++] = chain->passage;
		}
	}
	chains->n = kept;
}

/*
 * Make room for a chain; if needed, close chains that no run from word `now`
 * on can continue.
 */
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

/*
 * Return the number of a run's words that the chain before it already has; it
 * may exceed the run's length.
 */
static inline uint32
words_shared(const Passage *before, const Passage *run)
{
	uint32		a = before->a_end > run->a_start ?
	before->a_end - run->a_start : 0;
	uint32		b = before->b_end > run->b_start ?
	before->b_end - run->b_start : 0;

	return Max(a, b);
}

/*
 * True if a run may continue a chain that ends close to it in the second text.
 */
static inline bool
goes_on_from(const Chains *chains, const Passage *before, const Passage *run)
{
	return before->a_end + chains->rules.gap >= run->a_start &&
		before->a_end <= run->a_start + chains->overlap &&
		before->a_start <= run->a_start && before->b_start <= run->b_start &&
		before->a_end < run->a_end && before->b_end < run->b_end;
}

/*
 * Return the number of words between a chain and a run, in both texts
 * together.
 */
static inline uint32
distance(const Passage *before, const Passage *run)
{
	return abs((int32) (run->a_start - before->a_end)) +
		abs((int32) (run->b_start - before->b_end));
}

/*
 * Return the best chain for a run to continue.  NULL if the run alone has more
 * words in common than with any chain.
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
 * Add a run of common words.  Runs come roughly in the order of their starts
 * in the first text.  Only runs that count can make a passage; other runs
 * belong to the passages around them.
 */
static void
chains_add(Chains *chains, uint32 a_start, uint32 b_start, uint32 words,
		   bool counts)
{
	uint32		counted = counts ? words : 0;
	Passage		run = {a_start, a_start + words, b_start, b_start + words,
	words};
	Chain	   *before;
	uint32	   *by_end = &chains->by_end[run.b_end];

	Assert(words > 0 && run.b_end <= chains->nb);
	make_room(chains, a_start);
	before = find_before(chains, &run);
	if (before != NULL)
	{
		uint32		shared = words_shared(&before->passage, &run);

		Assert(shared < before->passage.matched + words);

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

/* Passages within others */

/*
 * Compare passages by their place in the first text.  If they begin together,
 * the longer one comes first.
 */
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

/* True if a passage is within another in both texts. */
static inline bool
is_within(const Passage *inner, const Passage *outer)
{
	return inner->a_start >= outer->a_start && inner->a_end <= outer->a_end &&
		inner->b_start >= outer->b_start && inner->b_end <= outer->b_end;
}

/*
 * True if a passage is within an open one.  Closes open passages that end
 * before it starts.
 */
static bool
is_within_open(const Passage *passages, const Passage *passage, uint32 *open,
			   size_t *nopen)
{
	bool		within = false;
	size_t		still_open = 0;

	for (size_t i = 0; i < *nopen; i++)
	{
		const Passage *outer = &passages[open[i]];

		if (outer->a_end <= passage->a_start)
			continue;
		open[still_open++] = open[i];
		within |= is_within(passage, outer);
	}
	*nopen = still_open;
	return within;
}

size_t
passages_drop_inner(Passage *passages, size_t n)
{
	uint32	   *open = MemoryContextAllocHuge(CurrentMemoryContext,
											  (n + 1) * sizeof(uint32));
	size_t		nopen = 0;
	size_t		kept = 0;

	passages_sort(passages, n);
	for (size_t i = 0; i < n; i++)
	{
		CHECK_EVERY(i);
		if (is_within_open(passages, &passages[i], open, &nopen))
			continue;
		open[nopen++] = kept;
		passages[kept++] = passages[i];
	}
	pfree(open);
	return kept;
}

/* Passages */

/* Add a run of words, and the short runs on both sides. */
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

/* Add a run of shingles, and the short runs beside it. */
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

/* Add all runs that contain the shingle at place a of the first text. */
static void
follow_shingle(SequencePair *pair, Chains *chains, uint32 a,
			   const PassageRules *rules)
{
	uint32		first = pair->a[a];

	Assert(first != NOWHERE);
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

/*
 * Chain all runs, in the order of the first text.  `repeated` are runs of
 * frequent shingles.
 */
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

/* Find passages, in the current memory context, which is temporary. */
static Passage *
find_passages(WordSequence *a, WordSequence *b, const PassageRules *rules,
			  size_t *n)
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

	sequences_number(&pair.index, a->shingles, a->n, b->shingles, b->n,
					 CurrentMemoryContext->parent);
	pair.a = a_ids = ids_shrink(a->shingles, a->n);
	pair.b = b_ids = ids_shrink(b->shingles, b->n);
	repeated = repeated_runs(&pair, rules->least - rules->k + 1, &nrepeated);
	pair_forget_runs(&pair);
	chains = chains_create(rules, b->n + rules->k - 1);
	chain_runs(&pair, chains, repeated, nrepeated, rules);
	close_chains(chains, PG_UINT32_MAX);
	*n = passages_drop_inner(chains->done, chains->ndone);
	LOOK_AT_MEMORY(CurrentMemoryContext->parent);
	pfree(a_ids);
	pfree(b_ids);
	return chains->done;
}

Passage *
common_passages(WordSequence *a, WordSequence *b, const PassageRules *rules,
				size_t *n)
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
