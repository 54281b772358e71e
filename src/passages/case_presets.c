/*
 * case_presets.c
 *		Presets: named rules by which cases of copying are found.
 *
 * Two presets find a second list of cases.  `edited` finds text that was
 * copied as it is, by strict rules: it returns these strict cases in place of
 * a case that consists of them, since their ends are more exact.  `rewritten`
 * finds cases whose words are close together in one text and far apart in the
 * other, as in a summary and its source.  Such a case counts if its lengths
 * differ as much as a summary and its source do.  Narrow cases are returned,
 * too.
 */
#include "postgres.h"

#include "base/interrupts.h"
#include "base/memory.h"
#include "passages/case_presets.h"

/*
 * Strict cases replace a case if they have at least this share of its matched
 * words.
 */
#define STRICT_SHARE	0.6

/* The source of a summary has at least SUMMARY_RATIO times as many words. */
#define SUMMARY_RATIO	2

/*
 * A source that has at least 1 / WHOLE_TEXT of its text's words is widened to
 * the whole text.
 */
#define WHOLE_TEXT		5

/*
 * Rules apply unchanged to texts of at least ADAPTED words.  For each word
 * less, the least share rises by 1 / SHARE_STEP, but not above SHORT_SHARE.
 * The least length falls in proportion.
 */
#define ADAPTED			180
#define ADAPTED_SHARE	0.3
#define SHARE_STEP		400
#define SHORT_SHARE		0.7

static const CasePreset presets[] = {
	{"verbatim", NO_PARTS, false, false,
		{.reach = 1,.near = 4,.least = 4,.pair_often = 4,.rarity = 200,
		.gap = 10,.far = 10,.min_length = 150,.min_share = 0.2},
	},
	{"edited", STRICT_PARTS, false, false,
		{.reach = 3,.near = 20,.least = 7,.pair_often = 2,.rarity = 400,
		.gap = 50,.far = 100,.min_length = 150,.min_share = 0.3},
		{.reach = 1,.near = 4,.least = 4,.pair_often = 4,.rarity = 200,
		.gap = 10,.far = 10,.min_length = 150,.min_share = 0.9}
	},
	{"rewritten", NARROW_PARTS, false, false,
		{.reach = 6,.near = 12,.least = 5,.pair_often = 4,.rarity = 200,
		.gap = 60,.far = 960,.min_length = 250,.min_share = 0.2},
		{.reach = 6,.near = 12,.least = 5,.pair_often = 4,.rarity = 200,
		.gap = 20,.far = 320,.min_length = 400,.min_share = 0.15}
	}
};

const CasePreset *
case_preset(const char *name)
{
	for (int i = 0; i < lengthof(presets); i++)
		if (pg_strcasecmp(presets[i].name, name) == 0)
			return &presets[i];
	return NULL;
}

void
case_preset_set_length(CasePreset *preset, int min_length)
{
	preset->has_length = true;
	preset->rules.min_length = preset->parts.min_length = min_length;
}

void
case_preset_set_share(CasePreset *preset, double min_share)
{
	preset->has_share = true;
	preset->rules.min_share = min_share;
	preset->parts.min_share = preset->use == STRICT_PARTS ?
		Max(preset->parts.min_share, min_share) : min_share;
}

/* Adapt rules to texts of n words, fewer than ADAPTED. */
static void
adapt_rules(CaseRules *rules, uint32 n, bool has_length, bool has_share)
{
	double		share = ADAPTED_SHARE + ((double) ADAPTED - n) / SHARE_STEP;

	Assert(n < ADAPTED);
	if (!has_share)
		rules->min_share = Max(rules->min_share, Min(share, SHORT_SHARE));
	if (!has_length)
		rules->min_length = rules->min_length * (int) n / ADAPTED;
}

void
case_preset_adapt(CasePreset *preset, uint32 n)
{
	if (n >= ADAPTED)
		return;
	adapt_rules(&preset->rules, n, preset->has_length, preset->has_share);
	adapt_rules(&preset->parts, n, preset->has_length, preset->has_share);
}

/* Choosing */

/* Return the number of words of a case in the first text. */
static inline uint32
a_words(const Passage *passage)
{
	Assert(passage->a_end > passage->a_start);
	return passage->a_end - passage->a_start;
}

/* Return the number of words of a case in the second text. */
static inline uint32
b_words(const Passage *passage)
{
	Assert(passage->b_end > passage->b_start);
	return passage->b_end - passage->b_start;
}

/* True if `part` is within `passage` in both texts. */
static inline bool
is_within(const Passage *part, const Passage *passage)
{
	return part->a_start >= passage->a_start &&
		part->a_end <= passage->a_end &&
		part->b_start >= passage->b_start && part->b_end <= passage->b_end;
}

/*
 * Return the index of the first case in a list that begins at or after a place
 * in the first text.
 */
static size_t
first_from(const CaseList *list, uint32 a)
{
	size_t		low = 0;
	size_t		high = list->n;

	while (low < high)
	{
		size_t		middle = low + (high - low) / 2;

		if (list->cases[middle].a_start < a)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/*
 * True if the strict cases within a case have most of its matched words; then
 * marks them as chosen.
 */
static bool
choose_strict(const Passage *passage, const CaseList *strict, bool *chosen)
{
	size_t		first = first_from(strict, passage->a_start);
	size_t		end = first;
	uint64		matched = 0;

	for (; end < strict->n && strict->cases[end].a_start < passage->a_end;
		 end++)
		if (is_within(&strict->cases[end], passage))
			matched += strict->cases[end].matched;
	CHECK_FOR_INTERRUPTS();
	if (matched < STRICT_SHARE * passage->matched)
		return false;
	for (size_t i = first; i < end; i++)
		if (is_within(&strict->cases[i], passage))
			chosen[i] = true;
	return true;
}

/*
 * Take each case, or the strict cases of which it consists; return their
 * number.
 */
static size_t
take_strict(Passage *taken, const CaseList *cases, const CaseList *strict)
{
	bool	   *chosen = palloc_extended(strict->n + 1,
										 MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	size_t		n = 0;

	for (size_t i = 0; i < cases->n; i++)
		if (!choose_strict(&cases->cases[i], strict, chosen))
			taken[n++] = cases->cases[i];
	for (size_t i = 0; i < strict->n; i++)
		if (chosen[i])
			taken[n++] = strict->cases[i];
	pfree(chosen);
	return n;
}

/*
 * Widen a range of words to its whole text, of n words, if it has a good part
 * of them.
 */
static inline void
widen_to_text(uint32 *start, uint32 *end, uint32 n)
{
	Assert(*end <= n);
	if ((uint64) (*end - *start) * WHOLE_TEXT < n)
		return;
	*start = 0;
	*end = n;
}

/*
 * Take the narrow cases, and each wide case that is a summary and its source;
 * return their number.
 */
static size_t
take_summaries(Passage *taken, const CaseList *cases, const CaseList *narrow,
			   uint32 na,
			   uint32 nb)
{
	size_t		n = 0;

	for (size_t i = 0; i < cases->n; i++)
	{
		Passage		wide = cases->cases[i];

		if ((uint64) b_words(&wide) * SUMMARY_RATIO <= a_words(&wide))
			widen_to_text(&wide.a_start, &wide.a_end, na);
		else if ((uint64) a_words(&wide) * SUMMARY_RATIO <= b_words(&wide))
			widen_to_text(&wide.b_start, &wide.b_end, nb);
		else
			continue;
		taken[n++] = wide;
	}
	for (size_t i = 0; i < narrow->n; i++)
		taken[n++] = narrow->cases[i];
	return n;
}

CaseList
case_preset_choose(const CasePreset *preset, const CaseList *cases,
				   const CaseList *parts,
				   uint32 na, uint32 nb)
{
	size_t		most = cases->n + parts->n;
	CaseList	taken;

	Assert(preset->use != NO_PARTS);
	taken.cases = MemoryContextAllocHuge(CurrentMemoryContext,
										 (most + 1) * sizeof(Passage));
	taken.n = preset->use == STRICT_PARTS ?
		take_strict(taken.cases, cases, parts) :
		take_summaries(taken.cases, cases, parts, na, nb);
	Assert(taken.n <= most);
	taken.n = passages_drop_inner(taken.cases, taken.n);
	return taken;
}
