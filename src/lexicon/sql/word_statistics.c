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

/* Define an SQL function that returns a number of a lexicon's header. */
#define HEADER_FUNCTION(function, number) \
PG_FUNCTION_INFO_V1(function); \
Datum \
function(PG_FUNCTION_ARGS) \
{ \
	const Lexicon *lexicon = lexicon_header(PG_GETARG_DATUM(0)); \
\
	PG_RETURN_INT64((int64) (number)); \
}

HEADER_FUNCTION(lexicon_documents, lexicon->documents)
HEADER_FUNCTION(lexicon_nwords, LEXICON_NWORDS(lexicon))
HEADER_FUNCTION(lexicon_length, lexicon->length)
HEADER_FUNCTION(lexicon_df_error, lexicon->df_error)
HEADER_FUNCTION(lexicon_cf_error, lexicon->cf_error)

PG_FUNCTION_INFO_V1(lexicon_describe);
PG_FUNCTION_INFO_V1(lexicon_words);
PG_FUNCTION_INFO_V1(word_statistics);

/* lexicon_describe(lexicon): its content in words */
Datum
lexicon_describe(PG_FUNCTION_ARGS)
{
	const Lexicon *lexicon = lexicon_header(PG_GETARG_DATUM(0));
	SignatureSpec spec = lexicon_spec(lexicon);
	StringInfoData out;

	initStringInfo(&out);
	appendStringInfo(&out, "lexicon[%s]: " UINT64_FORMAT " documents, "
					 UINT64_FORMAT " %s, %zu of them distinct",
					 words_name(&spec, lexicon->reading),
					 lexicon->documents, lexicon->length,
					 spec_is_of_words(&spec) ? "words" : "shingles",
					 (size_t) LEXICON_NWORDS(lexicon));
	if (lexicon->df_error == 0 && lexicon->cf_error == 0)
		appendStringInfoString(&out, ", exact");
	else
		appendStringInfo(&out, ", df off by " UINT64_FORMAT
						 " at most, cf by " UINT64_FORMAT,
						 lexicon->df_error, lexicon->cf_error);
	PG_RETURN_TEXT_P(cstring_to_text_with_len(out.data, out.len));
}

/*
 * Put a row of a word: the nword columns that identify it, then df, cf, idf and ridf of
 * its entry, which is NULL if the lexicon does not have the word.
 */
static void
put_row(ReturnSetInfo *rsinfo, const Lexicon *lexicon,
		const LexiconEntry *entry, const Datum *word, int nword)
{
	Datum		values[6];
	bool		nulls[6] = {0};
	int64		df = entry == NULL ? 0 : entry->df;
	int64		cf = entry == NULL ? 0 : entry->cf;
	double		idf = entry == NULL ? 0 : lexicon_idf(lexicon, entry->df);
	double		ridf = entry == NULL ? 0 :
	lexicon_ridf(lexicon, entry->df, entry->cf);

	memcpy(values, word, nword * sizeof(Datum));
	/* on 32 bits these are pointers to the variables above */
	values[nword] = Int64GetDatumFast(df);
	values[nword + 1] = Int64GetDatumFast(cf);
	values[nword + 2] = Float8GetDatumFast(idf);
	values[nword + 3] = Float8GetDatumFast(ridf);
	nulls[nword + 2] = nulls[nword + 3] = entry == NULL;
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

/* Read the one word or shingle of a text; return the number of them, at most 2. */
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
 * Find the entry, or NULL, of argument 1, a word, in argument 0, a lexicon.  Return
 * false if analysis leaves the word out; raise an error if the text is more than one
 * word.
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
 * Define an SQL function (lexicon, word) of a word's entry, which is NULL if the
 * lexicon does not have the word; the result is NULL if the condition is false.
 */
#define WORD_FUNCTION(function, condition, result) \
PG_FUNCTION_INFO_V1(function); \
Datum \
function(PG_FUNCTION_ARGS) \
{ \
	const Lexicon *lexicon; \
	const LexiconEntry *entry; \
\
	if (!find_word(fcinfo, &lexicon, &entry) || !(condition)) \
		PG_RETURN_NULL(); \
	result; \
}

WORD_FUNCTION(lexicon_df, true,
			  PG_RETURN_INT64(entry == NULL ? 0 : entry->df))
WORD_FUNCTION(lexicon_cf, true,
			  PG_RETURN_INT64(entry == NULL ? 0 : entry->cf))
WORD_FUNCTION(lexicon_word_idf, entry != NULL,
			  PG_RETURN_FLOAT8(lexicon_idf(lexicon, entry->df)))
WORD_FUNCTION(lexicon_word_ridf, entry != NULL,
			  PG_RETURN_FLOAT8(lexicon_ridf(lexicon, entry->df, entry->cf)))

/* The words of a document */

/*
 * Fill the bag with the words of the document that the reader has begun, and return each
 * as a text of its first occurrence.
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

/* word_statistics(doc text, lexicon, analysis text): by first occurrence */
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
