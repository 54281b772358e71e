/*
 * word_statistics.c
 *		The numbers of a lexicon about a collection, a word, and the words of
 *		a document.
 */
#include "postgres.h"

#include "funcapi.h"
#include "miscadmin.h"
#include "utils/builtins.h"

#include "base/compat.h"
#include "base/memory.h"
#include "lexicon/weights.h"
#include "document/doc_context.h"

PG_FUNCTION_INFO_V1(lexicon_describe);
PG_FUNCTION_INFO_V1(lexicon_word);
PG_FUNCTION_INFO_V1(lexicon_words);
PG_FUNCTION_INFO_V1(word_statistics);

/* Return the tuple descriptor of a function's OUT parameters. */
static TupleDesc
result_descriptor(FunctionCallInfo fcinfo)
{
	TupleDesc	desc;

	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	return BlessTupleDesc(desc);
}

/*
 * lexicon_describe(lexicon): the name of its analysis, and the numbers of its
 * header.  The entries are not read.
 */
Datum
lexicon_describe(PG_FUNCTION_ARGS)
{
	const Lexicon *lexicon = lexicon_header(PG_GETARG_DATUM(0));
	SignatureSpec spec = lexicon_spec(lexicon);
	int64		numbers[] = {lexicon->documents, LEXICON_NWORDS(lexicon),
	lexicon->length, lexicon->df_error, lexicon->cf_error};
	Datum		values[1 + lengthof(numbers)];
	bool		nulls[1 + lengthof(numbers)] = {0};

	values[0] = CStringGetTextDatum(words_name(&spec, lexicon->reading));
	for (int i = 0; i < lengthof(numbers); i++)
		values[1 + i] = Int64GetDatumFast(numbers[i]);
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(result_descriptor(fcinfo),
													  values, nulls)));
}

/* The numbers of a word in a collection, as SQL shows them */
typedef struct WordNumbers
{
	int64		df;
	int64		cf;
	double		idf;
	double		ridf;
} WordNumbers;

#define WORD_NUMBERS	4

/*
 * Set the columns df, cf, idf and ridf from an entry, which is NULL if the
 * lexicon does not have the word: then df and cf are 0, the others null.  On
 * 32 bits the values point into *numbers.
 */
static void
set_numbers(const Lexicon *lexicon, const LexiconEntry *entry,
			WordNumbers *numbers, Datum *values, bool *nulls)
{
	memset(numbers, 0, sizeof(*numbers));
	if (entry != NULL)
	{
		numbers->df = entry->df;
		numbers->cf = entry->cf;
		numbers->idf = lexicon_idf(lexicon, entry->df);
		numbers->ridf = lexicon_ridf(lexicon, entry->df, entry->cf);
	}
	values[0] = Int64GetDatumFast(numbers->df);
	values[1] = Int64GetDatumFast(numbers->cf);
	values[2] = Float8GetDatumFast(numbers->idf);
	values[3] = Float8GetDatumFast(numbers->ridf);
	nulls[0] = nulls[1] = false;
	nulls[2] = nulls[3] = entry == NULL;
}

/*
 * Put a row: the nword columns that identify a word, then the numbers of its
 * entry.
 */
static void
put_row(ReturnSetInfo *rsinfo, const Lexicon *lexicon,
		const LexiconEntry *entry, const Datum *word, int nword)
{
	WordNumbers numbers;
	Datum		values[2 + WORD_NUMBERS];
	bool		nulls[2 + WORD_NUMBERS] = {0};

	Assert(nword <= 2);
	memcpy(values, word, nword * sizeof(Datum));
	set_numbers(lexicon, entry, &numbers, values + nword, nulls + nword);
	tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
}

/* lexicon_words(lexicon): its words by hash, and their numbers */
Datum
lexicon_words(PG_FUNCTION_ARGS)
{
	Lexicon    *lexicon = PG_GETARG_LEXICON(0);
	size_t		n = LEXICON_NWORDS(lexicon);

	InitMaterializedSRF(fcinfo, 0);
	for (size_t i = 0; i < n; i++)
	{
		int64		hash = (int64) lexicon->entries[i].hash;
		Datum		word = Int64GetDatumFast(hash);

		CHECK_FOR_INTERRUPTS();
		put_row((ReturnSetInfo *) fcinfo->resultinfo, lexicon,
				&lexicon->entries[i], &word, 1);
	}
	return (Datum) 0;
}

/* The numbers of a word */

/*
 * Read the word or shingle of a text, which should have one; return how many
 * it has, at most 2.
 */
static size_t
read_term(DocContext *doccxt, const text *doc, uint64 *hash)
{
	uint64		hashes[2] = {0};
	Sequence	sequence;
	size_t		n;

	if (doccxt->of_shingles)
	{
		sequence = doc_context_sequence(doccxt, doc);
		n = Min(sequence.nshingles, 2);
		memcpy(hashes, sequence.shingles, n * sizeof(uint64));
	}
	else
	{
		doc_context_begin(doccxt, doc);
		n = reader_read(doccxt->reader, hashes, 2);
	}
	*hash = hashes[0];
	return n;
}

/*
 * Find the entry, or NULL, of argument 1, a word, in argument 0, a lexicon.
 * False if analysis leaves the word out; raises an error if the text is more
 * than one word.
 */
static bool
find_word(FunctionCallInfo fcinfo, const Lexicon **lexicon,
		  const LexiconEntry **entry)
{
	DocContext *doccxt = doc_context_get(fcinfo, 2);
	LexiconView *view = doc_context_lexicon(doccxt, fcinfo, 0);
	text	   *word = PG_GETARG_TEXT_PP(1);
	uint64		hash;
	size_t		n;

	doc_context_read_as_lexicon(doccxt, view->lexicon, READS_TERMS);
	n = read_term(doccxt, word, &hash);
	if (n > 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("\"%s\" is more than one %s", text_to_cstring(word),
						doccxt->of_shingles ? "shingle" : "word"),
				 doccxt->of_shingles ? 0 :
				 errhint("word_statistics() shows all words of a text.")));
	*lexicon = view->lexicon;
	*entry = n == 0 ? NULL : view_find(view, hash);
	return n == 1;
}

/*
 * lexicon_word(lexicon, word): its numbers; NULL if analysis leaves the word
 * out
 */
Datum
lexicon_word(PG_FUNCTION_ARGS)
{
	const Lexicon *lexicon;
	const LexiconEntry *entry;
	WordNumbers numbers;
	Datum		values[WORD_NUMBERS];
	bool		nulls[WORD_NUMBERS];

	if (!find_word(fcinfo, &lexicon, &entry))
		PG_RETURN_NULL();
	set_numbers(lexicon, entry, &numbers, values, nulls);
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(result_descriptor(fcinfo),
													  values, nulls)));
}

/* The words of a document */

/*
 * Fill the bag with the words of the document that the reader has begun, and
 * return each as a text of its first occurrence.
 */
static struct varlena **
read_words(Reader *reader, Bag *bag)
{
	struct varlena **texts = NULL;
	size_t		room = 0;
	const char *word;
	size_t		len;
	uint64		hash;

	while (reader_read_word(reader, &word, &len, &hash))
	{
		size_t		n = bag->nwords;

		bag_add(bag, &hash, 1);
		if (bag->nwords == n)
			continue;
		texts = growing_reserve(texts, &room, n + 1, sizeof(*texts));
		texts[n] = server_word(word, len);
	}
	LOOK_AT_MEMORY(CurrentMemoryContext);
	return texts;
}

/*
 * word_statistics(doc text, lexicon, analysis text): the document's words in
 * order of first occurrence
 */
Datum
word_statistics(PG_FUNCTION_ARGS)
{
	DocContext *doccxt;
	LexiconView *view;
	Bag		   *bag = bag_create();
	struct varlena **texts;

	InitMaterializedSRF(fcinfo, 0);
	doccxt = doc_context_get(fcinfo, 2);
	view = doc_context_lexicon(doccxt, fcinfo, 1);
	doc_context_read_for_lexicon(doccxt, fcinfo, view->lexicon, READS_WORDS);
	doc_context_begin(doccxt, PG_GETARG_TEXT_PP(0));
	texts = read_words(doccxt->reader, bag);
	for (size_t i = 0; i < bag->nwords; i++)
	{
		Datum		word[2];

		CHECK_FOR_INTERRUPTS();
		word[0] = PointerGetDatum(texts[i]);
		word[1] = Int32GetDatum(bag->words[i].tf);
		put_row((ReturnSetInfo *) fcinfo->resultinfo, view->lexicon,
				view_find(view, bag->words[i].hash), word, 2);
	}
	return (Datum) 0;
}
