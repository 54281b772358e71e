/*
 * heavy_sentences.c
 *		Heavy Sent: the hash of a document's weightiest sentences.
 *
 * A sentence weighs what its words weigh together, each time they occur in it.
 * The two weightiest stand for the document; in which order does not matter.
 * A document none of whose words is in the lexicon has no signature.
 *
 * Source: Zelenkov and Segalovich, RCDL 2007, where the two are put in
 * alphabetical order; here they are put in order of hashes.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/methods/lexical/heavy_sentences.c
 */
#include "postgres.h"

#include <math.h>

#include "base/hash.h"
#include "base/sort_uint64.h"
#include "methods/lexical/chosen_sentences.h"
#include "methods/lexical/coordinates.h"
#include "document/weigher.h"

PG_FUNCTION_INFO_V1(heavy_sentences);

const MethodInfo heavy_sentences_method = {
	.name = "heavy_sentences", .method = METHOD_HEAVY_SENTENCES, .width = 64,
	.analysed = ANALYSED_ALWAYS, .nparams = 2,
	.check = coordinate_check,
	COORDINATES_CALLBACKS
};

/* Counts the words of the whole document. */
static void
count_words(Weighed *weighed, DocContext *doccxt, const text *doc)
{
	Bag		   *bag = weighed->bag;
	uint64		hashes[1024];
	size_t		n;

	bag_clear(bag);
	doc_context_begin(doccxt, doc);
	while (reader_next_sentence(doccxt->reader))
		while ((n = reader_read_words(doccxt->reader, hashes,
									  lengthof(hashes))) > 0)
			bag_add(bag, hashes, n);
}

/*
 * What the current sentence weighs, in whole numbers, so that the order in
 * which its words are added up does not matter.  *any is set if the lexicon has
 * one of them.
 */
static int64
weigh_sentence(const Weighed *weighed, LexiconView *view,
			   const Sentence *sentence, bool *any)
{
	int64		sum = 0;
	double		weight;

	for (size_t i = 0; i < sentence->nwords; i++)
	{
		if (weighed_word(weighed, view,
						 bag_find(weighed->bag, sentence->words[i]), &weight))
		{
			*any = true;
			sum += (int64) floor(weight * (1 << 24));
		}
	}
	return sum;
}

static Datum
make_signature(FunctionCallInfo fcinfo, DocContext *doccxt, LexiconView *view,
			   const text *doc, const text *weight, int n)
{
	ChosenSentences *sentences = sentences_choose(doccxt, n);
	Weighed    *weighed = weighed_get(doccxt, weight);
	uint64		hashes[MAX_SENTENCES];
	bool		any = false;
	Signature  *sig;

	count_words(weighed, doccxt, doc);
	sentences->with_text = false;
	doc_context_begin(doccxt, doc);
	while (sentences_read(sentences, doccxt))
	{
		sentences->current.rank = weigh_sentence(weighed, view,
												 &sentences->current, &any);
		sentences_consider(sentences);
	}
	if (!any)
		PG_RETURN_NULL();
	for (int i = 0; i < sentences->n; i++)
		hashes[i] = sentences->chosen[i].hash;
	sort_hashes(hashes, sentences->n);
	sig = coordinates_alloc(doccxt, METHOD_HEAVY_SENTENCES, n,
							weighed_param(weighed, view), 1);
	sig->values[0] = as_coordinate(hash_uint64s(hashes, sentences->n));
	sig->nfeatures = sentences->n;
	PG_RETURN_SIGNATURE(sig);
}

/* (doc text, lexicon, weight text, analysis text, n int) */
Datum
heavy_sentences(PG_FUNCTION_ARGS)
{
	DocContext	   *doccxt = doc_context_get(fcinfo, 3);
	LexiconView *view = doc_context_lexicon(doccxt, fcinfo, 1);

	doc_context_read_for_lexicon(doccxt, fcinfo, view->lexicon,
						  READS_ORDERED_SENTENCES);
	return make_signature(fcinfo, doccxt, view, DOC_CONTEXT_GETARG_TEXT(doccxt, 0),
						  DOC_CONTEXT_GETARG_TEXT(doccxt, 2),
						  DOC_CONTEXT_GETARG_INT32(doccxt, 4));
}
