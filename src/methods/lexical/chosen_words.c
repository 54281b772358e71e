/*
 * chosen_words.c
 *		Methods that hash words chosen by a lexicon: top words and I-Match.
 */
#include "postgres.h"

#include "utils/builtins.h"
#include "utils/memutils.h"

#include "base/call.h"
#include "base/hash.h"
#include "base/sort_uint64.h"
#include "document/weigher.h"
#include "lexicon/weights.h"
#include "methods/lexical/coordinates.h"

/*
 * TF, TF-IDF, BM25, TF-RIDF: the hash of a document's weightiest words
 *
 * The n weightiest words, usually six, represent the document: its most
 * frequent words, or words more frequent than in other documents.  Changes of
 * other words do not matter.  If weights are equal, the word with the smaller
 * hash is chosen.  A document of fewer words is represented by all of them; a
 * document without words has no signature.
 *
 * Source: Zelenkov and Segalovich, RCDL 2007, where words are hashed in
 * alphabetical order; here they are in order of hashes, which needs no text.
 */

PG_FUNCTION_INFO_V1(top_words);
PG_FUNCTION_INFO_V1(top_words_by_tf);

#define MAX_TOP_WORDS	1000	/* largest number of words */

const MethodInfo top_words_method = {
	.name = "top_words",.method = METHOD_TOP_WORDS,.width = 64,
	.analysed = ANALYSED_ALWAYS,.nparams = 2,
	.check = coordinate_check,
	COORDINATES_CALLBACKS
};

typedef struct TopWord
{
	double		weight;
	uint64		hash;
} TopWord;

/* True if a comes before b. */
static inline bool
before(const TopWord *a, const TopWord *b)
{
	return a->weight > b->weight ||
		(a->weight == b->weight && a->hash < b->hash);
}

/* Insert a word into the *have <= n best words if it is good enough. */
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

/*
 * Write the hashes of the n weightiest words of the bag; return their number.
 */
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

/*
 * Return the signature of a document that the context is ready to read, or
 * NULL.
 */
static Signature *
make_top_words(DocContext *doccxt, LexiconView *view, const text *doc, int n,
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

/* Return a signature as a Datum, or NULL in SQL if there is none. */
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
	DocContext *doccxt = doc_context_get(fcinfo, 4);
	LexiconView *view = doc_context_lexicon(doccxt, fcinfo, 1);

	doc_context_read_for_lexicon(doccxt, fcinfo, view->lexicon, READS_WORDS);
	return return_signature(fcinfo,
							make_top_words(doccxt, view,
										   DOC_CONTEXT_GETARG_TEXT(doccxt, 0),
										   DOC_CONTEXT_GETARG_INT32(doccxt, 2),
										   DOC_CONTEXT_GETARG_TEXT(doccxt,
																   3)));
}

/* (doc text, n int, analysis text): by tf, without a lexicon */
Datum
top_words_by_tf(PG_FUNCTION_ARGS)
{
	DocContext *doccxt = doc_context_get(fcinfo, 2);

	doc_context_read(doccxt, fcinfo, READS_WORDS, 0);
	return return_signature(fcinfo,
							make_top_words(doccxt, NULL,
										   DOC_CONTEXT_GETARG_TEXT(doccxt, 0),
										   DOC_CONTEXT_GETARG_INT32(doccxt, 1),
										   cstring_to_text("tf")));
}

/*
 * I-Match: the hash of a document's words of middling rarity
 *
 * Words of nearly all documents distinguish nothing, and words of few
 * documents are often misspelt.  The set of the others hardly differs between
 * near-duplicates, and equal sets have equal hashes.  For robustness there are
 * further lexicons, each without a random part of the words, and the signature
 * is the vector of the hashes by all lexicons.  A change of a few words leaves
 * some hash unchanged, and documents are near-duplicates if one coordinate
 * agrees.
 *
 * Rarity is the idf of a word divided by the greatest possible, log N: from 0
 * (in all documents) to 1 (in one).  The random lexicons are not stored:
 * whether a word is in one follows from its hash, the number of the lexicon
 * and the seed.
 *
 * A coordinate is missing if its lexicon leaves fewer than `minimum` words; a
 * document whose first coordinate is missing has no signature.
 *
 * Sources: Chowdhury, Frieder, Grossman and McCabe, "Collection statistics for
 * fast duplicate document detection" (TOIS 2002); Kolcz, Chowdhury and
 * Alspector, "Improved robustness of signature-based near-replica detection
 * via lexicon randomization" (KDD 2004).
 */

PG_FUNCTION_INFO_V1(imatch);

#define MAX_LEXICONS	100		/* greatest number of further lexicons */
#define MAX_MINIMUM		10000

/* The arguments about lexicons, compared with memcmp */
typedef struct Arguments
{
	int64		lexicons;		/* number of further lexicons */
	int64		minimum;		/* least number of words for a coordinate */
	double		low;			/* least and largest rarity of a word */
	double		high;
	double		removed;		/* share of words that further lexicons lack */
	int64		seed;
} Arguments;

/* State of a call site */
typedef struct IMatch
{
	Arguments	arguments;
	uint64		id;				/* id of the lexicon argument */
	uint32		least_df;		/* least df of a word of middling rarity */
	uint32		largest_df;
	uint32		param;			/* parameter of the spec: hash of lexicon and
								 * arguments */
	uint64		seeds[MAX_LEXICONS];	/* seeds of the further lexicons */
	uint64		keep;			/* a further lexicon has the words whose
								 * random number is below */
	Bag		   *bag;			/* words of the document */
} IMatch;

/* MethodInfo.check: one value for each lexicon, and the first not missing. */
static const char *
imatch_check(const Signature *sig)
{
	if (sig->spec.param[0] > MAX_LEXICONS)
		return "The number of its lexicons is out of range.";
	if (SIGNATURE_NVALUES(sig) != sig->spec.param[0] + 1)
		return "The number of its values differs from the number of its lexicons.";
	if (sig->values[0] == NO_COORDINATE)
		return "It has no first coordinate.";
	return NULL;
}

const MethodInfo imatch_method = {
	.name = "imatch",.method = METHOD_IMATCH,.width = 64,
	.analysed = ANALYSED_ALWAYS,.nparams = 2,
	.check = imatch_check,
	COORDINATES_CALLBACKS
};

/* Return arguments n to n + 5: lexicons, minimum, low, high, removed, seed. */
static Arguments
get_arguments(FunctionCallInfo fcinfo, int n)
{
	Arguments	arguments;

	arguments.lexicons = PG_GETARG_INT32(n);
	arguments.minimum = PG_GETARG_INT32(n + 1);
	/* no negative zeros */
	arguments.low = PG_GETARG_FLOAT8(n + 2) + 0.0;
	arguments.high = PG_GETARG_FLOAT8(n + 3) + 0.0;
	arguments.removed = PG_GETARG_FLOAT8(n + 4) + 0.0;
	arguments.seed = PG_GETARG_INT64(n + 5);
	return arguments;
}

/* Raise INVALID_PARAMETER_VALUE unless the arguments are in range. */
static void
check_arguments(const Arguments *arguments)
{
	argument_whole("number of lexicons", arguments->lexicons, 0, MAX_LEXICONS);
	argument_whole("minimum", arguments->minimum, 1, MAX_MINIMUM);
	argument_real("least rarity", arguments->low, 0, 1);
	argument_real("largest rarity", arguments->high, arguments->low, 1);
	argument_real("removed share", arguments->removed, 0, 0.99);
}

/*
 * Return the smallest df, from 1 to N + 1, whose rarity is less than a bound,
 * or at most the bound if or_equal.
 */
static uint32
df_below(const Lexicon *lexicon, double bound, bool or_equal)
{
	uint64		low = 1;
	uint64		high = Min(lexicon->documents, PG_UINT32_MAX - 1) + 1;
	double		all = portable_log((double) lexicon->documents);

	while (low < high)
	{
		uint64		df = low + (high - low) / 2;
		double		rarity = lexicon_idf(lexicon, df) / all;

		if (rarity < bound || (or_equal && rarity == bound))
			high = df;
		else
			low = df + 1;
	}
	return low;
}

/* Compute the state for a lexicon and arguments. */
static void
prepare(IMatch *imatch, const LexiconView *view, const Arguments *arguments)
{
	uint64		what[7];

	check_arguments(arguments);
	imatch->id = view->id;
	imatch->arguments = *arguments;
	/* in a lexicon of one document all words are in all documents */
	imatch->least_df = imatch->largest_df = 0;
	if (view->lexicon->documents > 1)
	{
		imatch->least_df = df_below(view->lexicon, arguments->high, true);
		imatch->largest_df = df_below(view->lexicon, arguments->low, false) -
			1;
	}
	what[0] = view->id;
	memcpy(&what[1], arguments, sizeof(Arguments));
	imatch->param = (uint32) hash_uint64s(what, lengthof(what));
	for (int i = 0; i < arguments->lexicons; i++)
		imatch->seeds[i] = mix64((uint64) arguments->seed +
								 mix64((uint64) i + 1));
	imatch->keep = (uint64) ((1 - arguments->removed) * 4294967296.0);
}

/*
 * Return the state of a call site, prepared anew for another lexicon or other
 * arguments.
 */
static IMatch *
get_imatch(DocContext *doccxt, const LexiconView *view, Arguments arguments)
{
	IMatch	   *imatch = doccxt->extra;
	MemoryContext old;

	StaticAssertStmt(sizeof(Arguments) == 6 * sizeof(uint64),
					 "Arguments has padding");
	if (imatch == NULL)
	{
		old = MemoryContextSwitchTo(GetMemoryChunkContext(doccxt));
		imatch = palloc0(sizeof(IMatch));
		imatch->bag = bag_create();
		MemoryContextSwitchTo(old);
		prepare(imatch, view, &arguments);
		doccxt->extra = imatch;
	}
	else if (imatch->id != view->id ||
			 memcmp(&imatch->arguments, &arguments, sizeof(Arguments)) != 0)
		prepare(imatch, view, &arguments);
	return imatch;
}

/*
 * Add a word to the sums of the lexicons that have it.  A sum of hashes does
 * not depend on the order of words.
 */
static inline void
add_word(const IMatch *imatch, uint64 hash, uint64 *sums, uint32 *counts)
{
	uint64		mixed = mix64(hash);

	sums[0] += mixed;
	counts[0]++;
	for (int i = 0; i < imatch->arguments.lexicons; i++)
	{
		if ((mix64(hash ^ imatch->seeds[i]) >> 32) < imatch->keep)
		{
			sums[i + 1] += mixed;
			counts[i + 1]++;
		}
	}
}

/*
 * Return the signature of a document; NULL in SQL if its first coordinate is
 * missing.
 */
static Datum
make_imatch(FunctionCallInfo fcinfo, DocContext *doccxt,
			const LexiconView *view,
			const text *doc, Arguments arguments)
{
	IMatch	   *imatch = get_imatch(doccxt, view, arguments);
	const Bag  *bag = imatch->bag;
	uint64		sums[MAX_LEXICONS + 1] = {0};
	uint32		counts[MAX_LEXICONS + 1] = {0};
	Signature  *sig;

	doc_context_begin(doccxt, doc);
	bag_read(imatch->bag, doccxt->reader);
	for (size_t i = 0; i < bag->nwords; i++)
	{
		const LexiconEntry *entry;

		view_expect(view, bag, i);
		entry = view_find(view, bag->words[i].hash);
		if (entry != NULL && entry->df >= imatch->least_df &&
			entry->df <= imatch->largest_df)
			add_word(imatch, entry->hash, sums, counts);
	}
	if (counts[0] < arguments.minimum)
		PG_RETURN_NULL();
	sig = coordinates_alloc(doccxt, METHOD_IMATCH, arguments.lexicons,
							imatch->param, arguments.lexicons + 1);
	for (int i = 0; i <= arguments.lexicons; i++)
		sig->values[i] = counts[i] < arguments.minimum ? NO_COORDINATE :
			as_coordinate(mix64(sums[i] + counts[i]));
	sig->nfeatures = counts[0];
	PG_RETURN_SIGNATURE(sig);
}

/*
 * (doc text, lexicon, lexicons int, minimum int, low float8, high float8,
 * removed float8, seed bigint, analysis text)
 */
Datum
imatch(PG_FUNCTION_ARGS)
{
	DocContext *doccxt = doc_context_get(fcinfo, 8);
	LexiconView *view = doc_context_lexicon(doccxt, fcinfo, 1);

	doc_context_read_for_lexicon(doccxt, fcinfo, view->lexicon, READS_WORDS);
	return make_imatch(fcinfo, doccxt, view,
					   DOC_CONTEXT_GETARG_TEXT(doccxt, 0),
					   get_arguments(fcinfo, doc_context_argument(doccxt, 2)));
}
