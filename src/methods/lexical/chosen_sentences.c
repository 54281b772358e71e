/*
 * chosen_sentences.c
 *		Methods of one hash: chosen sentences, and all words.
 */
#include "postgres.h"

#include <math.h>

#include "lib/stringinfo.h"

#include "base/call.h"
#include "base/hash.h"
#include "base/sort_uint64.h"
#include "document/doc_context.h"
#include "document/weigher.h"
#include "methods/lexical/coordinates.h"
#include "text/reader.h"

/* Hashes of chosen sentences: the longest, or the weightiest */

#define MAX_SENTENCES	100		/* greatest number of chosen sentences */

/* A longer sentence is cut; its rest is the next sentence. */
#define MAX_SENTENCE_WORDS	65536

/* A sentence, its words and its rank */
typedef struct Sentence
{
	uint64		hash;			/* hash of its words, by the analysis's word
								 * order */
	int64		rank;			/* set by the caller; sentences of greater
								 * rank are better */
	StringInfoData text;		/* words with spaces between them; empty
								 * unless with_text */
	uint64	   *words;			/* hashes of the words */
	size_t		nwords;
} Sentence;

/* The best sentences so far, and the current one */
typedef struct ChosenSentences
{
	bool		with_text;		/* the text decides between sentences of equal
								 * rank */
	int			wanted;
	int			n;				/* number of chosen sentences, best first */
	Sentence	chosen[MAX_SENTENCES];
	Sentence	current;
	bool		in_sentence;	/* the current sentence was cut, and more of
								 * it follows */
} ChosenSentences;

/*
 * The few sentences by which a document is compared
 *
 * Among sentences of the same rank, the alphabetically first one (by code
 * points) is chosen.  If the order of words does not count, or with a
 * configuration, it is the one with the smallest hash.
 */

/*
 * Begin a choice of `wanted` sentences in the current memory context.  Raises
 * INVALID_PARAMETER_VALUE unless 1 <= wanted <= MAX_SENTENCES.
 */
static ChosenSentences *
sentences_choose(const DocContext *doccxt, int wanted)
{
	ChosenSentences *sentences;

	argument_whole("number of sentences", wanted, 1, MAX_SENTENCES);
	sentences = palloc0(sizeof(ChosenSentences));
	sentences->wanted = wanted;
	sentences->with_text = !OidIsValid(doccxt->config) &&
		doccxt->analysis->spec.order == ORDER_KEEP;
	for (int i = 0; i <= wanted; i++)
	{
		Sentence   *sentence = i < wanted ? &sentences->chosen[i] :
		&sentences->current;

		initStringInfo(&sentence->text);
	}
	sentences->current.words = palloc(MAX_SENTENCE_WORDS * sizeof(uint64));
	return sentences;
}

/* Read the words of the current sentence, with their text. */
static void
read_text(Sentence *sentence, Reader *reader)
{
	const char *word;
	size_t		len;

	while (sentence->nwords < MAX_SENTENCE_WORDS &&
		   reader_read_word(reader, &word, &len,
							&sentence->words[sentence->nwords]))
	{
		if (sentence->nwords++ > 0)
			appendStringInfoCharMacro(&sentence->text, ' ');
		appendBinaryStringInfo(&sentence->text, word, len);
	}
}

/* Read the hashes of the words of the current sentence, without its text. */
static void
read_hashes(Sentence *sentence, Reader *reader)
{
	size_t		n;

	while (sentence->nwords < MAX_SENTENCE_WORDS &&
		   (n = reader_read_words(reader, sentence->words + sentence->nwords,
								  MAX_SENTENCE_WORDS - sentence->nwords)) > 0)
		sentence->nwords += n;
}

/*
 * Read the next sentence that has words into `current`, without its rank;
 * false at the end of the document.
 */
static bool
sentences_read(ChosenSentences *sentences, const DocContext *doccxt)
{
	Sentence   *sentence = &sentences->current;

	do
	{
		if (!sentences->in_sentence && !reader_next_sentence(doccxt->reader))
			return false;
		resetStringInfo(&sentence->text);
		sentence->nwords = 0;
		if (sentences->with_text)
			read_text(sentence, doccxt->reader);
		else
			read_hashes(sentence, doccxt->reader);
		/* the rest of a cut sentence is the next one */
		sentences->in_sentence = sentence->nwords == MAX_SENTENCE_WORDS;
	} while (sentence->nwords == 0);
	sentence->hash = order_combine(doccxt->analysis->spec.order,
								   sentence->words, sentence->nwords);
	return true;
}

/* True if sentence a is better than b. */
static bool
is_better(const Sentence *a, const Sentence *b)
{
	int			order;

	if (a->rank != b->rank)
		return a->rank > b->rank;
	order = memcmp(a->text.data, b->text.data, Min(a->text.len, b->text.len));
	if (order != 0)
		return order < 0;
	if (a->text.len != b->text.len)
		return a->text.len < b->text.len;
	return a->hash < b->hash;
}

/* Insert the current sentence into the chosen ones if it is good enough. */
static void
sentences_consider(ChosenSentences *sentences)
{
	Sentence   *current = &sentences->current;
	Sentence	last;
	int			i;

	if (sentences->n == sentences->wanted &&
		!is_better(current, &sentences->chosen[sentences->n - 1]))
		return;
	if (sentences->n < sentences->wanted)
		sentences->n++;
	/* the text buffer of the dropped sentence is reused for the next one */
	last = sentences->chosen[sentences->n - 1];
	for (i = sentences->n - 1;
		 i > 0 && is_better(current, &sentences->chosen[i - 1]); i--)
		sentences->chosen[i] = sentences->chosen[i - 1];
	sentences->chosen[i] = *current;
	current->text = last.text;
}

/*
 * Long Sent: the hash of a document's longest sentences.
 *
 * The document is compared by its two sentences of most words, the longest
 * first.  Changes of other sentences do not matter.
 *
 * Source: Zelenkov and Segalovich, RCDL 2007.
 */

PG_FUNCTION_INFO_V1(long_sentences);

const MethodInfo long_sentences_method = {
	.name = "long_sentences",.method = METHOD_LONG_SENTENCES,.width = 64,
	.analysed = ANALYSED_ALWAYS,.nparams = 1,
	.check = coordinate_check,
	COORDINATES_CALLBACKS
};

/*
 * Return the signature of the document's n longest sentences; NULL in SQL for
 * a document without words.
 */
static Datum
long_signature(FunctionCallInfo fcinfo, DocContext *doccxt, const text *doc,
			   int n)
{
	ChosenSentences *sentences = sentences_choose(doccxt, n);
	uint64		hashes[MAX_SENTENCES];
	Signature  *sig;

	doc_context_begin(doccxt, doc);
	while (sentences_read(sentences, doccxt))
	{
		sentences->current.rank = sentences->current.nwords;
		sentences_consider(sentences);
	}
	if (sentences->n == 0)
		PG_RETURN_NULL();
	Assert(sentences->n > 0 && sentences->n <= n);
	for (int i = 0; i < sentences->n; i++)
		hashes[i] = sentences->chosen[i].hash;
	sig = coordinates_alloc(doccxt, METHOD_LONG_SENTENCES, n, 0, 1);
	sig->values[0] = as_coordinate(hash_uint64s(hashes, sentences->n));
	sig->nfeatures = sentences->n;
	PG_RETURN_SIGNATURE(sig);
}

/* (doc text, n int, analysis text) */
Datum
long_sentences(PG_FUNCTION_ARGS)
{
	DocContext *doccxt = doc_context_get(fcinfo, 2);

	doc_context_read(doccxt, fcinfo, READS_ORDERED_SENTENCES, 0);
	return long_signature(fcinfo, doccxt, DOC_CONTEXT_GETARG_TEXT(doccxt, 0),
						  DOC_CONTEXT_GETARG_INT32(doccxt, 1));
}

/*
 * Heavy Sent: the hash of a document's weightiest sentences.
 *
 * The weight of a sentence is the sum of the weights of its words, with
 * repetitions.  The document is compared by the two weightiest, in any order.
 * A document without words of the lexicon has no signature.
 *
 * Source: Zelenkov and Segalovich, RCDL 2007, where the two are in
 * alphabetical order; here they are in order of hashes.
 */

PG_FUNCTION_INFO_V1(heavy_sentences);

const MethodInfo heavy_sentences_method = {
	.name = "heavy_sentences",.method = METHOD_HEAVY_SENTENCES,.width = 64,
	.analysed = ANALYSED_ALWAYS,.nparams = 2,
	.check = coordinate_check,
	COORDINATES_CALLBACKS
};

/* Count the words of the whole document. */
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
 * Return the weight of a sentence, a sum of integers, so that the order of its
 * words does not matter.  Set *any if the lexicon has one of them.
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

/*
 * Return the signature of the document's n weightiest sentences; NULL in SQL
 * for a document without words of the lexicon.
 */
static Datum
heavy_signature(FunctionCallInfo fcinfo, DocContext *doccxt, LexiconView *view,
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

/* (doc text, lexicon, n int, weight text, analysis text) */
Datum
heavy_sentences(PG_FUNCTION_ARGS)
{
	DocContext *doccxt = doc_context_get(fcinfo, 4);
	LexiconView *view = doc_context_lexicon(doccxt, fcinfo, 1);

	doc_context_read_for_lexicon(doccxt, fcinfo, view->lexicon,
								 READS_ORDERED_SENTENCES);
	return heavy_signature(fcinfo, doccxt, view,
						   DOC_CONTEXT_GETARG_TEXT(doccxt, 0),
						   DOC_CONTEXT_GETARG_TEXT(doccxt, 3),
						   DOC_CONTEXT_GETARG_INT32(doccxt, 2));
}

/*
 * The hash of the canonical text, which finds exact duplicates only, as a
 * baseline
 *
 * The canonical text is the sequence of the document's words; punctuation and
 * white space do not matter, nor, with such an analysis, markup and endings.
 */

PG_FUNCTION_INFO_V1(text_hash);

const MethodInfo text_hash_method = {
	.name = "text_hash",.method = METHOD_TEXT_HASH,.width = 64,
	.analysed = ANALYSED_ALWAYS,
	.check = coordinate_check,
	COORDINATES_CALLBACKS
};

/*
 * Return the hash of the words of a document by blocks: each step hashes the
 * last hash and a block.  Set *total to the number of words.
 */
static uint64
hash_words(Reader *reader, uint64 *total)
{
	uint64		block[READ_AT_ONCE + 1];
	uint64		hash = 0;
	size_t		n = 0;
	size_t		got;

	*total = 0;
	do
	{
		/* fill blocks, whatever number of words a call reads */
		got = reader_read_words(reader, block + 1 + n, READ_AT_ONCE - n);
		n += got;
		*total += got;
		if (n == READ_AT_ONCE || got == 0)
		{
			block[0] = hash;
			hash = hash_uint64s(block, n + 1);
			n = 0;
		}
	} while (got > 0);
	return hash;
}

/*
 * Return the hash of a document as a signature; NULL in SQL for a document
 * without words.
 */
static Datum
make_signature(FunctionCallInfo fcinfo, DocContext *doccxt, const text *doc)
{
	Signature  *sig;
	uint64		hash;
	uint64		total;

	doc_context_begin(doccxt, doc);
	hash = hash_words(doccxt->reader, &total);
	if (total == 0)
		PG_RETURN_NULL();
	sig = coordinates_alloc(doccxt, METHOD_TEXT_HASH, 0, 0, 1);
	sig->values[0] = as_coordinate(hash);
	sig->nfeatures = Min(total, PG_UINT32_MAX);
	PG_RETURN_SIGNATURE(sig);
}

/* (doc text, analysis text) */
Datum
text_hash(PG_FUNCTION_ARGS)
{
	DocContext *doccxt = doc_context_get(fcinfo, 1);

	doc_context_read(doccxt, fcinfo, READS_WORDS, 0);
	return make_signature(fcinfo, doccxt, DOC_CONTEXT_GETARG_TEXT(doccxt, 0));
}
