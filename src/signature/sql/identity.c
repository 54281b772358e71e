/*
 * identity.c
 *		The identity measures of Hoad and Zobel.
 *
 * Two documents of one origin share words, rare ones and misspelt ones above
 * all, and use them about equally often.  So a shared word counts the more,
 * the rarer it is in the collection and the closer its frequencies in both
 * documents are.  The sum is divided by a term that grows with the difference
 * of the documents' lengths.  With fa the number of words of document a, fat
 * the frequency of word t in it, N the number of documents in the collection,
 * and df the number of documents that have the word:
 *
 *		1	1 / (1 + |fa - fb|)           sum log(N/df)     / (1 + |fat - fbt|)
 *		2	1 / (1 + log(1 + |fa - fb|))  sum log(1 + N/df) / (1 + |fat - fbt|)
 *		3	1 / (1 + log(1 + |fa - fb|))  sum log(1 + N/df) (fat + fbt) /
 *														   (1 + |fat - fbt|)
 *		4	1 / (1 + log(1 + |fa - fb|))  sum log(N/df)     / (1 + |fat - fbt|)
 *		5	1 / (1 + log(1 + |fa - fb|))  sum N/df          / (1 + |fat - fbt|)
 *
 * The measures are scores for ranking, without an upper bound.  No document of
 * at most the same frequency of each word has a higher score with a document
 * than the document itself.
 *
 * Source: Hoad and Zobel, "Methods for identifying versioned and plagiarised
 * documents" (JASIST 54(3), 2003), where the fifth was best.
 */
#include "postgres.h"

#include <math.h>

#include "utils/memutils.h"

#include "base/call.h"
#include "base/memory.h"
#include "base/sort_uint64.h"
#include "lexicon/weights.h"
#include "document/doc_context.h"

PG_FUNCTION_INFO_V1(identity_measure);

#define NUM_VARIANTS	5

/* State of a call site: the bags of both documents */
typedef struct Identity
{
	Bag		   *a;
	Bag		   *b;
} Identity;

/* Return the state of a call site, made by the first call. */
static Identity *
get_identity(DocContext *doccxt)
{
	MemoryContext old;
	Identity   *identity;

	if (doccxt->extra != NULL)
		return doccxt->extra;
	old = MemoryContextSwitchTo(GetMemoryChunkContext(doccxt));
	identity = palloc(sizeof(Identity));
	identity->a = bag_create();
	identity->b = bag_create();
	MemoryContextSwitchTo(old);
	doccxt->extra = identity;
	return identity;
}

/*
 * Return the factor for a word's rarity, which is greatest for a missing word.
 */
static double
rarity(const LexiconView *view, uint64 hash, int variant)
{
	const LexiconEntry *entry = view_find(view, hash);
	double		ratio = (double) view->lexicon->documents /
	(entry == NULL ? 1 : entry->df);

	if (ratio == 0)				/* a lexicon of no documents */
		return 0;
	switch (variant)
	{
		case 1:
		case 4:
			return log(ratio);
		case 2:
		case 3:
			return log(1 + ratio);
		default:
			return ratio;
	}
}

/* Return the term of a shared word. */
static double
word_term(const LexiconView *view, const BagWord *a, const BagWord *b,
		  int variant)
{
	double		tf = a->tf;
	double		other = b->tf;
	double		term = rarity(view, a->hash, variant) / (1 + fabs(tf - other));

	return variant == 3 ? term * (tf + other) : term;
}

/*
 * Return the sum over common words, in the order of their hashes, so that it
 * is the same for both orders of the documents.
 */
static double
shared_words(const LexiconView *view, const Bag *a, const Bag *b, int variant)
{
	uint64	   *shared = palloc_huge(a->nwords, sizeof(uint64));
	size_t		n = 0;
	double		sum = 0;

	for (size_t i = 0; i < a->nwords; i++)
	{
		if (bag_find(b, a->words[i].hash) != NULL)
			shared[n++] = a->words[i].hash;
	}
	sort_hashes(shared, n);
	for (size_t i = 0; i < n; i++)
		sum += word_term(view, bag_find(a, shared[i]),
						 bag_find(b, shared[i]), variant);
	pfree(shared);
	return sum;
}

/* Return the measure of two bags by a variant. */
static double
measure(const LexiconView *view, const Bag *a, const Bag *b, int variant)
{
	double		difference = fabs((double) a->stats.length -
								  (double) b->stats.length);

	if (variant != 1)
		difference = log(1 + difference);
	return shared_words(view, a, b, variant) / (1 + difference);
}

/* Read both texts into the bags, and return the measure as a Datum. */
static Datum
measure_texts(FunctionCallInfo fcinfo, DocContext *doccxt,
			  const LexiconView *view,
			  int variant)
{
	Identity   *identity = get_identity(doccxt);

	argument_whole("variant", variant, 1, NUM_VARIANTS);
	doc_context_begin(doccxt, DOC_CONTEXT_GETARG_TEXT(doccxt, 0));
	bag_read(identity->a, doccxt->reader);
	doc_context_begin(doccxt, DOC_CONTEXT_GETARG_TEXT(doccxt, 1));
	bag_read(identity->b, doccxt->reader);
	PG_RETURN_FLOAT8(measure(view, identity->a, identity->b, variant));
}

/* (a text, b text, lexicon, variant int, analysis text) */
Datum
identity_measure(PG_FUNCTION_ARGS)
{
	DocContext *doccxt = doc_context_get(fcinfo, 4);
	LexiconView *view = doc_context_lexicon(doccxt, fcinfo, 2);

	doc_context_read_for_lexicon(doccxt, fcinfo, view->lexicon, READS_WORDS);
	return measure_texts(fcinfo, doccxt, view,
						 DOC_CONTEXT_GETARG_INT32(doccxt, 3));
}
