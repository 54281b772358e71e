/*
 * chains.c
 *		Common runs of words put together to passages.
 *
 * A chain is one run, or a chain and a run that begins, in both texts, not far
 * behind its end.  Of the chains that a run could go on from it takes that with
 * the most words in common.  The shorter chain stays: another run may be what
 * really goes on from it.  A chain from which nothing goes on is a passage, if
 * its long runs have enough words in common.
 *
 * Chains are found by where they end in the second text: for each of its words
 * there is one, the longest that a run may still go on from.  Those from which
 * none may are forgotten whenever their array is full, so that there are never
 * many.
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "base/memory.h"
#include "passages/chains.h"
#include "passages/sequence_index.h"

#define CHAINS_SIZE		1024	/* at first */

typedef struct Chain
{
	Passage		passage;		/* what it would be */
	uint32		counted;		/* of its words in common, those of long runs */
	bool		goes_on;		/* a longer one has it as its beginning */
} Chain;

struct Chains
{
	PassageRules rules;
	uint32		overlap;		/* words that neighbouring runs may share */
	uint32		nb;
	Chain	   *chains;
	uint32		n;
	uint32		size;
	uint32	   *by_end;			/* number of the chain that ends behind so many
								 * words of the second text, or NOWHERE */
	Passage    *done;
	size_t		ndone;
	size_t		done_size;
};

Chains *
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

/* Forgets the chains that are not open, and gives out those that are passages. */
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

void
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
	chains->chains[chains->n] = (Chain){run, counted, false};
	if (*by_end == NOWHERE ||
		!is_open(chains, &chains->chains[*by_end], a_start) ||
		chains->chains[*by_end].passage.matched <= run.matched)
		*by_end = chains->n;
	chains->n++;
}

Passage *
chains_finish(Chains *chains, size_t *n)
{
	close_chains(chains, PG_UINT32_MAX);
	*n = chains->ndone;
	return chains->done;
}
