/*
 * show_words.c
 *		SQL functions that show the words of a text.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "funcapi.h"
#include "utils/array.h"

#include "base/compat.h"
#include "document/doc_context.h"
#include "text/analysis.h"
#include "text/reader.h"

PG_FUNCTION_INFO_V1(neardup_words);

/*
 * Return the words of a document as an array of text, by a reader that
 * `prepare`, if it is not NULL, has changed.
 */
static Datum
words_of(text *doc, text *analysis_arg, void (*prepare) (Reader *reader))
{
	Analysis   *analysis = analysis_parse(VARDATA_ANY(analysis_arg),
										  VARSIZE_ANY_EXHDR(analysis_arg),
										  NULL);
	ArrayBuildState *state = initArrayResult(TEXTOID, CurrentMemoryContext,
											 false);
	Reader	   *reader;
	const char *utf8;
	const char *word;
	size_t		len;
	uint64		hash;

	analysis->spec.unit = UNIT_WORD;
	reader = reader_create(analysis);
	if (prepare != NULL)
		prepare(reader);
	utf8 = text_as_utf8(doc, &len);
	reader_begin(reader, utf8, len);
	while (reader_read_word(reader, &word, &len, &hash))
		accumArrayResult(state, PointerGetDatum(server_word(word, len)), false,
						 TEXTOID, CurrentMemoryContext);
	return makeArrayResult(state, CurrentMemoryContext);
}

/* neardup_words(doc text, analysis text): unit, order and k do not matter */
Datum
neardup_words(PG_FUNCTION_ARGS)
{
	return words_of(PG_GETARG_TEXT_PP(0), PG_GETARG_TEXT_PP(1), NULL);
}

/* Functions for tests, in a module built for them; the tests declare them. */
#ifdef NEARDUP_TESTING

/* Return the same as neardup_words(), without tables and short cuts. */
PG_FUNCTION_INFO_V1(neardup_words_by_icu);
Datum
neardup_words_by_icu(PG_FUNCTION_ARGS)
{
	return words_of(PG_GETARG_TEXT_PP(0), PG_GETARG_TEXT_PP(1),
					reader_use_icu_only);
}

/*
 * Return the places of the words of a document: for each the first byte in
 * UTF-8, from 0, and the number of bytes.
 */
PG_FUNCTION_INFO_V1(neardup_word_places);
Datum
neardup_word_places(PG_FUNCTION_ARGS)
{
	DocContext *doccxt = doc_context_get(fcinfo, 1);
	ReturnSetInfo *rsinfo;
	const char *utf8;
	size_t		len;
	uint64		hash;
	WordSpan	span;

	InitMaterializedSRF(fcinfo, 0);
	rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	doc_context_read(doccxt, fcinfo, READS_SHINGLES, 0);
	utf8 = text_as_utf8(PG_GETARG_TEXT_PP(0), &len);
	reader_track(doc_context_reader(doccxt));
	reader_begin(doc_context_reader(doccxt), utf8, len);
	while (reader_read_spans(doc_context_reader(doccxt), &hash, &span, 1) > 0)
	{
		Datum		values[2];
		bool		nulls[2] = {false, false};

		values[0] = Int32GetDatum(span.start);
		values[1] = Int32GetDatum(span.end - span.start);
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values,
							 nulls);
	}
	return (Datum) 0;
}

#endif
