/*
 * short_runs.c
 *		Runs of words too short to have a shingle, beside those that have one.
 *
 * Where a copied passage was edited close to its end, what stands between is
 * shorter than a shingle.  Two words in a row that agree, and are no farther
 * from a run than they are many, are hardly there by chance.
 */
#include "postgres.h"

#include "passages/common_runs.h"

#define SHORT_LEAST		2		/* words */
#define SKIPPED_MAX		8		/* words between two runs */

/* What stands on one side of a place, the nearest first. */
typedef struct Aside
{
	const uint32 *nearest;
	uint32		n;				/* words on that side */
	int			step;			/* to the next one */
} Aside;

static inline uint32
aside_word(const Aside *aside, uint32 i)
{
	return aside->nearest[(ptrdiff_t) aside->step * i];
}

static inline void
go_on(Aside *aside, uint32 words)
{
	aside->nearest += (ptrdiff_t) aside->step * words;
	aside->n -= words;
}

/* The words that both have in common behind so many, but not more than k. */
static inline uint32
agreement(const Aside *a, uint32 skip_a, const Aside *b, uint32 skip_b,
		  uint32 k)
{
	uint32		n = 0;

	while (n < k && skip_a + n < a->n && skip_b + n < b->n &&
		   aside_word(a, skip_a + n) == aside_word(b, skip_b + n))
		n++;
	return n;
}

/*
 * Goes on to the next short run, and returns its length; 0 if there is none, or
 * one that has a shingle comes first.
 */
static uint32
next_short_run(Aside *a, Aside *b, uint32 gap, uint32 k)
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
				go_on(a, skip_a);
				go_on(b, skip_b);
				return n;
			}
		}
	}
	return 0;
}

int
short_runs_behind(const SequencePair *pair, const CommonRun *run, uint32 gap,
				  CommonRun *found)
{
	uint32		a_end = run->a + run->length;
	uint32		b_end = run->b + run->length;
	Aside		a = {pair->a_words + a_end, pair->na + pair->k - 1 - a_end, 1};
	Aside		b = {pair->b_words + b_end, pair->nb + pair->k - 1 - b_end, 1};
	int			n = 0;
	uint32		words;

	while (n < SHORT_RUNS_MAX &&
		   (words = next_short_run(&a, &b, gap, pair->k)) > 0)
	{
		found[n++] = (CommonRun){a.nearest - pair->a_words,
		b.nearest - pair->b_words, words};
		go_on(&a, words);
		go_on(&b, words);
	}
	return n;
}

int
short_runs_before(const SequencePair *pair, const CommonRun *run, uint32 gap,
				  CommonRun *found)
{
	Aside		a = {pair->a_words + run->a - 1, run->a, -1};
	Aside		b = {pair->b_words + run->b - 1, run->b, -1};
	int			n = 0;
	uint32		words;

	while (n < SHORT_RUNS_MAX &&
		   (words = next_short_run(&a, &b, gap, pair->k)) > 0)
	{
		go_on(&a, words);
		go_on(&b, words);
		found[n++] = (CommonRun){a.nearest + 1 - pair->a_words,
		b.nearest + 1 - pair->b_words, words};
	}
	return n;
}
