/*
 * word_statistics.c
 *		What a lexicon knows of a word, and of the words of a document.
 */
#include "postgres.h"

#include "funcapi.h"
#include "miscadmin.h"
#include "utils/builtins.h"

#include "base/compat.h"
#include "base/memory.h"
#include "lexicon/weights.h"
#include "document/doc_context.h"

PG_FUNCTION_INFO_V1(lexicon_df);
PG_FUNCTION_INFO_V1(lexicon_cf);
PG_FUNCTION_INFO_V1(lexicon_word_idf);
PG_FUNCTION_INFO_V1(lexicon_word_ridf);
PG_FUNCTION_INFO_V1(word_statistics);

/* The one word, or shingle, that a text is; how many of them it has, up to 2. */
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
 * The entry of the word that is argument 1 in the lexicon that is argument 0,
 * or NULL; false if analysis leaves the word out.  Raises an error if the text
 * is more than one word.
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
				 errhint("word_statistics() tells of all words of a text.")));
	*lexicon = view->lexicon;
	*entry = n == 0 ? NULL : view_find(view, hash);
	return n == 1;
}

/* df(lexicon, word): documents that have it */
Datum
lexicon_df(PG_FUNCTION_ARGS)
{
	const Lexicon *lexicon;
	const LexiconEntry *entry;

	if (!find_word(fcinfo, &lexicon, &entry))
		PG_RETURN_NULL();
	PG_RETURN_INT64(entry == NULL ? 0 : entry->df);
}

/* cf(lexicon, word): its occurrences */
Datum
lexicon_cf(PG_FUNCTION_ARGS)
{
	const Lexicon *lexicon;
	const LexiconEntry *entry;

	if (!find_word(fcinfo, &lexicon, &entry))
		PG_RETURN_NULL();
	PG_RETURN_INT64(entry == NULL ? 0 : entry->cf);
}

/* idf(lexicon, word): NULL if the lexicon does not have it */
Datum
lexicon_word_idf(PG_FUNCTION_ARGS)
{
	const Lexicon *lexicon;
	const LexiconEntry *entry;

	if (!find_word(fcinfo, &lexicon, &entry) || entry == NULL)
		PG_RETURN_NULL();
	PG_RETURN_FLOAT8(lexicon_idf(lexicon, entry->df));
}

/* ridf(lexicon, word): NULL if the lexicon does not have it */
Datum
lexicon_word_ridf(PG_FUNCTION_ARGS)
{
	const Lexicon *lexicon;
	const LexiconEntry *entry;

	if (!find_word(fcinfo, &lexicon, &entry) || entry == NULL)
		PG_RETURN_NULL();
	PG_RETURN_FLOAT8(lexicon_ridf(lexicon, entry->df, entry->cf));
}

/* The words of a document */

typedef struct DocumentWord
{
	uint64		hash;
	size_t		place;			/* of its first occurrence among the words */
	char	   *word;			/* its text there, in UTF-8 */
	size_t		len;
	uint32		tf;
} DocumentWord;

/* sort_by_hash(array, n), then by place; and sort_by_place(array, n) */
#define ST_SORT sort_by_hash
#define ST_ELEMENT_TYPE DocumentWord
#define ST_COMPARE(a, b) \
	((a)->hash != (b)->hash ? ((a)->hash < (b)->hash ? -1 : 1) : \
	 (a)->place < (b)->place ? -1 : (a)->place > (b)->place)
#define ST_SCOPE static
#define ST_CHECK_FOR_INTERRUPTS
#define ST_DEFINE
#include "lib/sort_template.h"

#define ST_SORT sort_by_place
#define ST_ELEMENT_TYPE DocumentWord
#define ST_COMPARE(a, b) \
	((a)->place < (b)->place ? -1 : (a)->place > (b)->place)
#define ST_SCOPE static
#define ST_CHECK_FOR_INTERRUPTS
#define ST_DEFINE
#include "lib/sort_template.h"

/* Puts what is one word together; how many are left, in the order of their hashes. */
static size_t
unite_words(DocumentWord *words, size_t n)
{
	size_t		distinct = 0;

	sort_by_hash(words, n);
	for (size_t i = 0; i < n; i++)
	{
		if (i > 0 && words[i].hash == words[distinct - 1].hash)
		{
			words[distinct - 1].tf += words[i].tf;
			pfree(words[i].word);
		}
		else
			words[distinct++] = words[i];
	}
	return distinct;
}

/*
 * Makes room for another word of n: by putting what is one word together, and by
 * more room where that leaves less than half of it; how many words are left.
 */
static size_t
make_room(DocumentWord **words, size_t n, size_t *room)
{
	LOOK_AT_MEMORY(CurrentMemoryContext);
	n = unite_words(*words, n);
	if (n >= *room / 2)
		*words = growing_reserve(*words, room, *room + 1, sizeof(DocumentWord));
	return n;
}

/* The distinct words of the document that the reader has begun. */
static DocumentWord *
read_words(Reader *reader, size_t *nwords)
{
	size_t		room = 0;
	DocumentWord *words = NULL;
	DocumentWord word = {.tf = 1};
	const char *bytes;
	size_t		n = 0;

	while (reader_read_word(reader, &bytes, &word.len, &word.hash))
	{
		if (n == room)
			n = make_room(&words, n, &room);
		word.word = pnstrdup(bytes, word.len);
		words[n++] = word;
		word.place++;
	}
	n = unite_words(words, n);
	sort_by_place(words, n);
	*nwords = n;
	return words;
}

/* One row: word, tf, and df, cf, idf, ridf where the lexicon has it. */
static void
put_word(ReturnSetInfo *rsinfo, const LexiconView *view,
		 const DocumentWord *word)
{
	const LexiconEntry *entry = view_find(view, word->hash);
	Datum		values[6] = {0};
	bool		nulls[6] = {0};

	values[0] = PointerGetDatum(server_word(word->word, word->len));
	values[1] = Int32GetDatum(word->tf);
	values[2] = Int64GetDatum(entry == NULL ? 0 : entry->df);
	values[3] = Int64GetDatum(entry == NULL ? 0 : entry->cf);
	nulls[4] = nulls[5] = entry == NULL;
	if (entry != NULL)
	{
		values[4] = Float8GetDatum(lexicon_idf(view->lexicon, entry->df));
		values[5] = Float8GetDatum(lexicon_ridf(view->lexicon, entry->df,
												entry->cf));
	}
	tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
}

/*
 * word_statistics(doc text, lexicon, analysis text): its words in order of
 * first occurrence
 */
Datum
word_statistics(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo;
	DocContext *doccxt;
	LexiconView *view;
	DocumentWord *words;
	size_t		n;

	InitMaterializedSRF(fcinfo, 0);
	rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	doccxt = doc_context_get(fcinfo, 2);
	view = doc_context_lexicon(doccxt, fcinfo, 1);
	doc_context_read_for_lexicon(doccxt, fcinfo, view->lexicon, READS_WORDS);
	doc_context_begin(doccxt, PG_GETARG_TEXT_PP(0));
	words = read_words(doccxt->reader, &n);
	for (size_t i = 0; i < n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		put_word(rsinfo, view, &words[i]);
	}
	return (Datum) 0;
}
