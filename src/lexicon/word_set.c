/*
 * word_set.c
 *		The building of a set of descriptive words.
 *
 * A document's bit for a word is set if the word's share of the document is
 * above the word's threshold.  A good threshold has few documents near it,
 * which a small change could carry across, and many above it.  Near is what
 * one word more or less in a document of average length amounts to.
 *
 * The set is built in rounds, as the source describes.  Each one, with ever
 * fewer words to be left, first chooses for every word the threshold with the
 * most documents above it whose instability is within what the round allows,
 * then, of those with nearly as many above, the most stable one; and then drops
 * the worst words, but not those without which a document would have none, as
 * long as others are left to drop.
 *
 * Source: Ilyinsky, Kuzmin, Melkov and Segalovich, "An efficient method to
 * detect duplicates of Web documents with the use of inverted index" (WWW
 * 2002).
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"
#include "utils/memutils.h"

#include "base/memory.h"
#include "lexicon/word_set.h"

#define MIN_DOCUMENTS	3		/* that have a word for it to be considered */
#define NEARLY			0.8		/* share of the best coverage that will do */

/* sort_occurrences(array, n): by word, then by falling share */
#define ST_SORT sort_occurrences
#define ST_ELEMENT_TYPE Occurrence
#define ST_COMPARE(a, b) \
	((a)->hash != (b)->hash ? ((a)->hash < (b)->hash ? -1 : 1) : \
	 (a)->share != (b)->share ? ((a)->share > (b)->share ? -1 : 1) : \
	 (a)->document < (b)->document ? -1 : (a)->document > (b)->document)
#define ST_SCOPE static
#define ST_CHECK_FOR_INTERRUPTS
#define ST_DEFINE
#include "lib/sort_template.h"

/* sort_worst_first(array, n): by falling instability, then by coverage */
#define ST_SORT sort_worst_first
#define ST_ELEMENT_TYPE DescriptiveWord
#define ST_COMPARE(a, b) \
	((a)->unstable != (b)->unstable ? \
	 ((a)->unstable > (b)->unstable ? -1 : 1) : \
	 (a)->above != (b)->above ? ((a)->above < (b)->above ? -1 : 1) : \
	 (a)->hash < (b)->hash ? -1 : (a)->hash > (b)->hash)
#define ST_SCOPE static
#define ST_CHECK_FOR_INTERRUPTS
#define ST_DEFINE
#include "lib/sort_template.h"

/* sort_by_hash(array, n) */
#define ST_SORT sort_by_hash
#define ST_ELEMENT_TYPE DescriptiveWord
#define ST_COMPARE(a, b) \
	((a)->hash < (b)->hash ? -1 : (a)->hash > (b)->hash)
#define ST_SCOPE static
#define ST_CHECK_FOR_INTERRUPTS
#define ST_DEFINE
#include "lib/sort_template.h"

typedef struct Builder
{
	const Occurrence *occurrences;	/* by word, then by falling share */
	size_t		documents;
	double		near;			/* what a small change amounts to */
	uint32	   *covers;			/* words that a document has, each */
	WordSet    *set;
} Builder;

/* Choosing thresholds */

/*
 * The instability of a threshold just below the i-th largest share of n.
 * *near_from and *near_to are the bounds, in the array, of the shares near it;
 * they only ever rise with i.
 */
static double
instability(const Occurrence *shares, size_t n, size_t i, double near,
			double threshold, size_t *from, size_t *to)
{
	while (*from < n && shares[*from].share > threshold + near)
		(*from)++;
	while (*to < n && shares[*to].share >= threshold - near)
		(*to)++;
	return (double) (*to - *from) / (i + 1);
}

/* The threshold between the i-th largest share and the next smaller one. */
static float
threshold_below(const Occurrence *shares, size_t n, size_t i)
{
	float		below = i + 1 < n ? shares[i + 1].share : 0;

	return (shares[i].share + below) / 2;
}

/*
 * Chooses a word's threshold: the most documents above it with an instability
 * of at most `allowed`, or, if least is given, the least instability with at
 * least that many above.  False if there is none.
 */
static bool
choose_threshold(const Builder *builder, DescriptiveWord *word,
				 double allowed, size_t least)
{
	const Occurrence *shares = &builder->occurrences[word->first];
	size_t		from = 0;
	size_t		to = 0;
	bool		found = false;
	double		best = allowed;

	for (size_t i = 0; i < word->n; i++)
	{
		float		threshold = threshold_below(shares, word->n, i);
		double		unstable;

		if (i + 1 < word->n && shares[i + 1].share == shares[i].share)
			continue;
		/* documents without the word are not to be near */
		if (threshold <= builder->near)
			break;
		unstable = instability(shares, word->n, i, builder->near, threshold,
							   &from, &to);
		if (i + 1 < least || unstable > best)
			continue;
		if (least > 0)
			best = unstable;
		word->threshold = threshold;
		word->unstable = unstable;
		word->above = i + 1;
		found = true;
	}
	return found;
}

/* Both steps, for all words; drops those that have no threshold. */
static void
choose_thresholds(Builder *builder, double allowed)
{
	WordSet    *set = builder->set;
	size_t		kept = 0;

	for (size_t i = 0; i < set->n; i++)
	{
		DescriptiveWord word = set->words[i];

		if (i % 1024 == 0)
			CHECK_FOR_INTERRUPTS();
		if (!choose_threshold(builder, &word, allowed, 0))
			continue;
		(void) choose_threshold(builder, &word, allowed,
								Max(1, (size_t) ceil(word.above * NEARLY)));
		if (word.above >= MIN_DOCUMENTS)
			set->words[kept++] = word;
	}
	set->n = kept;
}

/* Dropping words */

/* Adds a word's documents to the counts of covers, or takes them away. */
static void
cover(Builder *builder, const DescriptiveWord *word, int by)
{
	for (size_t i = 0; i < word->above; i++)
		builder->covers[builder->occurrences[word->first + i].document] += by;
}

/* Whether some document has no other word than this. */
static bool
is_needed(const Builder *builder, const DescriptiveWord *word)
{
	for (size_t i = 0; i < word->above; i++)
	{
		if (builder->covers[builder->occurrences[word->first + i].document] == 1)
			return true;
	}
	return false;
}

/*
 * Drops the worst words until `wanted` are left: first those that no document
 * needs, then others.
 */
static void
drop_worst(Builder *builder, size_t wanted)
{
	WordSet    *set = builder->set;

	sort_worst_first(set->words, set->n);
	for (int pass = 0; pass < 2 && set->n > wanted; pass++)
	{
		size_t		excess = set->n - wanted;
		size_t		kept = 0;

		for (size_t i = 0; i < set->n; i++)
		{
			if (i % 1024 == 0)
				CHECK_FOR_INTERRUPTS();
			if (excess > 0 &&
				(pass == 1 || !is_needed(builder, &set->words[i])))
			{
				cover(builder, &set->words[i], -1);
				excess--;
			}
			else
				set->words[kept++] = set->words[i];
		}
		set->n = kept;
	}
}

static void
record_round(Builder *builder)
{
	WordSet    *set = builder->set;
	WordSetRound *round = &set->rounds[set->nrounds++];
	size_t		covered = 0;
	double		unstable = 0;

	for (size_t i = 0; i < builder->documents; i++)
		covered += builder->covers[i] > 0;
	for (size_t i = 0; i < set->n; i++)
		unstable += set->words[i].unstable;
	round->words = set->n;
	round->covered = builder->documents == 0 ? 0 :
		(double) covered / builder->documents;
	round->unstable = set->n == 0 ? 0 : unstable / set->n;
}

static void
count_covers(Builder *builder)
{
	memset(builder->covers, 0, builder->documents * sizeof(uint32));
	for (size_t i = 0; i < builder->set->n; i++)
		cover(builder, &builder->set->words[i], 1);
}

/* The words that enough documents have. */
static void
collect_words(Builder *builder, size_t n)
{
	WordSet    *set = builder->set;
	size_t		room = 0;

	for (size_t first = 0, end; first < n; first = end)
	{
		DescriptiveWord word = {.hash = builder->occurrences[first].hash};

		for (end = first; end < n &&
			 builder->occurrences[end].hash == word.hash; end++)
			continue;
		word.first = first;
		word.n = end - first;
		if (word.n < MIN_DOCUMENTS)
			continue;
		set->words = growing_reserve(set->words, &room, set->n + 1,
									 sizeof(DescriptiveWord));
		set->words[set->n++] = word;
	}
}

/* The instability of the worst word that is left. */
static double
worst_instability(const WordSet *set)
{
	double		worst = 0;

	for (size_t i = 0; i < set->n; i++)
		worst = Max(worst, set->words[i].unstable);
	return worst;
}

WordSet *
word_set_build(Occurrence *occurrences, size_t n, size_t documents,
			   double length, size_t wanted)
{
	WordSet    *set = palloc0(sizeof(WordSet));
	Builder		builder = {.occurrences = occurrences, .set = set};
	double		allowed = HUGE_VAL;
	size_t		initial;

	sort_occurrences(occurrences, n);
	builder.documents = documents;
	builder.near = length > 0 ? 1 / length : 1;
	builder.covers = MemoryContextAllocExtended(CurrentMemoryContext,
												Max(documents, 1) * sizeof(uint32),
												MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	collect_words(&builder, n);
	choose_thresholds(&builder, allowed);
	count_covers(&builder);
	record_round(&builder);
	initial = set->n;
	for (int round = 1; round <= WORD_SET_ROUNDS && initial > wanted; round++)
	{
		double		share = (double) round / WORD_SET_ROUNDS;
		size_t		left = round == WORD_SET_ROUNDS ? wanted : (size_t)
			ceil(initial * pow((double) wanted / initial, share));

		drop_worst(&builder, left);
		allowed = worst_instability(set);
		choose_thresholds(&builder, allowed);
		count_covers(&builder);
		record_round(&builder);
	}
	sort_by_hash(set->words, set->n);
	pfree(builder.covers);
	return set;
}
