/*
 * common_passages.c
 *		The passages that two sequences of words have in common.
 *
 * Each shingle of one sequence that the other has, too, and that neither has
 * often, is looked at in all pairs of its places, and followed to both sides as
 * far as the sequences agree.  Pairs on one diagonal, that is at the same
 * distance, are followed once.  Runs without any such shingle come from
 * repeated_runs.c, and chains.c makes passages of all of them.
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "base/interrupts.h"
#include "base/memory.h"
#include "passages/common_passages.h"
#include "passages/common_runs.h"
#include "passages/inner_passages.h"

/* Runs */

static size_t
diagonals(const SequencePair *pair)
{
	return (size_t) pair->na + pair->nb - 1;
}

void
pair_forget_runs(SequencePair *pair)
{
	size_t		size = diagonals(pair) * sizeof(uint32);

	if (pair->reached == NULL)
		pair->reached = MemoryContextAllocHuge(pair->context, size);
	memset(pair->reached, 0, size);
}

CommonRun
pair_extend(const SequencePair *pair, uint32 a, uint32 b, uint32 length)
{
	CommonRun	run = {a, b, length};

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

/* Adds a run of words between the short ones beside it. */
static void
add_among_short(const SequencePair *pair, Chains *chains, const CommonRun *run,
				uint32 gap)
{
	CommonRun	found[SHORT_RUNS_MAX];
	int			n = short_runs_before(pair, run, gap, found);

	while (n-- > 0)
		chains_add(chains, found[n].a, found[n].b, found[n].length, false);
	chains_add(chains, run->a, run->b, run->length, true);
	n = short_runs_behind(pair, run, gap, found);
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

/* Gives back the half of the memory of n hashes that their numbers leave. */
static uint32 *
as_ids(uint64 *hashes, uint32 n)
{
	return repalloc_huge(hashes, n * sizeof(uint32));
}

/* In the current memory context, which is a temporary one. */
static Passage *
find_passages(uint64 *a, const uint32 *a_words, uint32 na,
			  uint64 *b, const uint32 *b_words, uint32 nb,
			  const PassageRules *rules, size_t *n)
{
	SequencePair pair = {NULL, NULL, na, nb, a_words, b_words, rules->k};
	uint32	   *a_ids;
	uint32	   *b_ids;
	CommonRun  *repeated;
	size_t		nrepeated;
	Chains	   *chains;
	Passage    *passages;

	pair.context = CurrentMemoryContext;
	sequence_index_build(&pair.index, b, nb);
	sequence_index_find(&pair.index, a, na, (uint32 *) a);
	LOOK_AT_MEMORY(CurrentMemoryContext->parent);
	pair.a = a_ids = as_ids(a, na);
	sequence_index_finish(&pair.index, (uint32 *) b);
	pair.b = b_ids = as_ids(b, nb);
	repeated = repeated_runs(&pair, rules->least - rules->k + 1, &nrepeated);
	pair_forget_runs(&pair);
	chains = chains_create(rules, nb + rules->k - 1);
	chain_runs(&pair, chains, repeated, nrepeated, rules);
	passages = chains_finish(chains, n);
	*n = passages_drop_inner(passages, *n);
	LOOK_AT_MEMORY(CurrentMemoryContext->parent);
	pfree(a_ids);
	pfree(b_ids);
	return passages;
}

Passage *
common_passages(uint64 *a, const uint32 *a_words, uint32 na,
				uint64 *b, const uint32 *b_words, uint32 nb,
				const PassageRules *rules, size_t *n)
{
	MemoryContext caller = CurrentMemoryContext;
	MemoryContext work;
	Passage    *found;
	Passage    *passages;

	*n = 0;
	if (na == 0 || nb == 0)
	{
		pfree(a);
		pfree(b);
		return NULL;
	}
	work = AllocSetContextCreate(caller, "neardup passages",
								 ALLOCSET_DEFAULT_SIZES);
	MemoryContextSwitchTo(work);
	found = find_passages(a, a_words, na, b, b_words, nb, rules, n);
	passages = MemoryContextAllocHuge(caller, Max(*n, 1) * sizeof(Passage));
	memcpy(passages, found, *n * sizeof(Passage));
	LOOK_AT_MEMORY(caller);
	MemoryContextSwitchTo(caller);
	MemoryContextDelete(work);
	return passages;
}
