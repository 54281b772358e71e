/*
 * differing_words.c
 *		Finds the words of a passage that its two texts have in common.
 */
#include "postgres.h"

#include "base/interrupts.h"
#include "passages/differing_words.h"

/* A part of a text's words */
typedef struct WordRange
{
	const uint32 *words;		/* hashes */
	uint8	   *marks;
	uint32		n;				/* number of words */
} WordRange;

/* Drop the first n words of a range. */
static inline void
skip_words(WordRange *range, uint32 n)
{
	Assert(n <= range->n);
	range->words += n;
	range->marks += n;
	range->n -= n;
}

/* Mark a word, unless it has a mark that prevails. */
static inline void
mark_word(uint8 *place, WordMark mark)
{
	if (*place < mark)
		*place = mark;
}

/* Mark the first n words of a range, by whether they are among other words. */
static void
mark_among(WordRange *range, uint32 n, const uint32 *others, uint32 nothers)
{
	for (uint32 i = 0; i < n; i++)
	{
		uint32		j = 0;

		while (j < nothers && others[j] != range->words[i])
			j++;
		mark_word(&range->marks[i], j < nothers ? WORD_MATCHES : WORD_DIFFERS);
	}
}

/*
 * True if two ranges agree in two words, after so many; or in one, if that is
 * the last one of either.
 */
static inline bool
agree_at(const WordRange *a, uint32 skip_a, const WordRange *b, uint32 skip_b)
{
	if (a->words[skip_a] != b->words[skip_b])
		return false;
	return skip_a + 1 == a->n || skip_b + 1 == b->n ||
		a->words[skip_a + 1] == b->words[skip_b + 1];
}

/*
 * Find the nearest words, fewer than `reach` away in either range, at which
 * they agree again.  If there are none, they are the ends of the ranges.
 */
static void
find_agreement(const WordRange *a, const WordRange *b, uint32 reach,
			   uint32 *skip_a, uint32 *skip_b)
{
	uint32		na = Min(a->n, reach);
	uint32		nb = Min(b->n, reach);

	for (uint32 both = 1; both + 1 < na + nb; both++)
		for (uint32 i = both < nb ? 0 : both - nb + 1; i < na && i <= both; i++)
			if (agree_at(a, i, b, both - i))
			{
				*skip_a = i;
				*skip_b = both - i;
				return;
			}
	*skip_a = a->n;
	*skip_b = b->n;
}

void
mark_passage_words(const uint32 *a, const uint32 *b, const Passage *passage,
				   const PassageRules *rules, uint8 *a_marks, uint8 *b_marks)
{
	WordRange	one = {
		a + passage->a_start, a_marks + passage->a_start,
		passage->a_end - passage->a_start
	};
	WordRange	other = {
		b + passage->b_start, b_marks + passage->b_start,
		passage->b_end - passage->b_start
	};

	/* two runs may overlap, so that more words than a gap are skipped */
	uint32		reach = rules->gap + Max(rules->gap, rules->k) + 1;

	for (uint32 steps = 0; one.n > 0 || other.n > 0; steps++)
	{
		uint32		skip_one = 1;
		uint32		skip_other = 1;

		CHECK_EVERY(steps);
		if (one.n == 0 || other.n == 0 || one.words[0] != other.words[0])
			find_agreement(&one, &other, reach, &skip_one, &skip_other);
		mark_among(&one, skip_one, other.words, skip_other);
		mark_among(&other, skip_other, one.words, skip_one);
		skip_words(&one, skip_one);
		skip_words(&other, skip_other);
	}
}
