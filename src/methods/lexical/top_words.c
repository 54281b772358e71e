/*
 * top_words.c
 *		TF, TF-IDF, BM25, TF-RIDF: the hash of a document's weightiest words.
 *
 * The n words that weigh most, six as a rule, stand for the document: what it
 * says most often, or says more often than others do.  Changes elsewhere leave
 * them as they are.  Of words that weigh the same, those of the smaller hash
 * are taken.  A document of fewer words is known by those that it has; one of
 * none has no signature.
 *
 * Source: Zelenkov and Segalovich, RCDL 2007, where words are put in
 * alphabetical order and hashed; here they are put in order of hashes, which
 * serves as well and needs no text.
 */
#include "postgres.h"

#include "utils/builtins.h"

#include "base/call.h"
#include "base/hash.h"
#include "base/sort_uint64.h"
#include "methods/lexical/coordinates.h"
#include "document/weigher.h"

PG_FUNCTION_INFO_V1(top_words);
PG_FUNCTION_INFO_V1(top_words_by_tf);

#define MAX_TOP_WORDS	1000	/* largest n */

const MethodInfo top_words_method = {
	.name = "top_words", .method = METHOD_TOP_WORDS, .width = 64,
	.analysed = ANALYSED_ALWAYS, .nparams = 2,
	.check = coordinate_check,
	COORDINATES_CALLBACKS
};

typedef struct TopWord
{
	double		weight;
	uint64		hash;
} TopWord;

/* Whether a comes before b. */
static inline bool
before(const TopWord *a, const TopWord *b)
{
	return a->weight > b->weight ||
		(a->weight == b->weight && a->hash < b->hash);
}

/* Takes a word among the first n of *have if it belongs there. */
static void
insert_word(TopWord *top, size_t *have, size_t n, TopWord word)
{
	size_t		i;

	if (*have == n && !before(&word, &top[n - 1]))
		return;
	if (*have < n)
		(*have)++;
	for (i = *have - 1; i > 0 && before(&word, &top[i - 1]); i--)
		top[i] = top[i - 1];
	top[i] = word;
}

/* The hashes of the n weightiest words of the bag; returns how many. */
static size_t
choose_words(const Weighed *weighed, LexiconView *view, uint64 *hashes,
			 size_t n)
{
	TopWord    *top = palloc(n * sizeof(TopWord));
	size_t		have = 0;

	for (size_t i = 0; i < weighed->bag->nwords; i++)
	{
		TopWord		word = {.hash = weighed->bag->words[i].hash};

		if (view != NULL)
			view_expect(view, weighed->bag, i);
		if (weighed_word(weighed, view, &weighed->bag->words[i],
						 &word.weight))
			insert_word(top, &have, n, word);
	}
	for (size_t i = 0; i < have; i++)
		hashes[i] = top[i].hash;
	pfree(top);
	return have;
}

/* The signature, or NULL, of a document; the document context is ready to read it. */
static Signature *
make_signature(DocContext *doccxt, LexiconView *view, const text *doc, int n,
			   const text *weight)
{
	Weighed    *weighed = weighed_get(doccxt, weight);
	Signature  *sig;
	uint64	   *hashes;
	size_t		have;

	argument_whole("number of words", n, 1, MAX_TOP_WORDS);
	doc_context_begin(doccxt, doc);
	bag_read(weighed->bag, doccxt->reader);
	hashes = palloc(n * sizeof(uint64));
	have = choose_words(weighed, view, hashes, n);
	if (have == 0)
		return NULL;
	sig = coordinates_alloc(doccxt, METHOD_TOP_WORDS, n,
							weighed_param(weighed, view), 1);
	sort_hashes(hashes, have);
	sig->values[0] = as_coordinate(hash_uint64s(hashes, have));
	sig->nfeatures = have;
	pfree(hashes);
	return sig;
}

static Datum
return_signature(FunctionCallInfo fcinfo, Signature *sig)
{
	if (sig == NULL)
		PG_RETURN_NULL();
	PG_RETURN_SIGNATURE(sig);
}

/* (doc text, lexicon, n int, weight text, analysis text) */
Datum
top_words(PG_FUNCTION_ARGS)
{
	DocContext	   *doccxt = doc_context_get(fcinfo, 4);
	LexiconView *view = doc_context_lexicon(doccxt, fcinfo, 1);

	doc_context_read_for_lexicon(doccxt, fcinfo, view->lexicon, READS_WORDS);
	return return_signature(fcinfo,
							make_signature(doccxt, view,
										   DOC_CONTEXT_GETARG_TEXT(doccxt, 0),
										   DOC_CONTEXT_GETARG_INT32(doccxt, 2),
										   DOC_CONTEXT_GETARG_TEXT(doccxt, 3)));
}

/* (doc text, n int, analysis text): by tf, without a lexicon */
Datum
top_words_by_tf(PG_FUNCTION_ARGS)
{
	DocContext	   *doccxt = doc_context_get(fcinfo, 2);

	doc_context_read(doccxt, fcinfo, READS_WORDS);
	return return_signature(fcinfo,
							make_signature(doccxt, NULL,
										   DOC_CONTEXT_GETARG_TEXT(doccxt, 0),
										   DOC_CONTEXT_GETARG_INT32(doccxt, 1),
										   cstring_to_text("tf")));
}
