/*
 * boilerplate.c
 *		SQL functions that find the passages of a text that occur in many
 *		documents, or leave them out.
 *
 * A lexicon of shingles knows in how many documents each run of k words is.  A
 * passage is a stretch of words all of whose shingles are in enough documents.
 */
#include "postgres.h"

#include "funcapi.h"
#include "miscadmin.h"

#include "base/call.h"
#include "base/interrupts.h"
#include "base/memory.h"
#include "passages/evidence.h"

PG_FUNCTION_INFO_V1(boilerplate);
PG_FUNCTION_INFO_V1(without_boilerplate);
PG_FUNCTION_INFO_V1(frequent_shingles);

/* A passage */
typedef struct FrequentPassage
{
	uint32		start;			/* first word */
	uint32		end;			/* word after the last one */
	uint32		documents;		/* the least number of documents that a
								 * shingle of the passage is in */
} FrequentPassage;

/* A text and its passages */
typedef struct FrequentPassages
{
	ReadText text;
	FrequentPassage *passages;
	WordSpan   *spans;			/* bytes of the passages */
	size_t		n;
} FrequentPassages;

/*
 * Return the context of the call, prepared to read shingles as the lexicon
 * does.
 */
static DocContext *
ready_doc_context(FunctionCallInfo fcinfo, int lexicon_at, LexiconView **view)
{
	DocContext *doccxt = doc_context_get(fcinfo, lexicon_at + 2);

	*view = doc_context_lexicon(doccxt, fcinfo, lexicon_at);
	doc_context_read_as_lexicon(doccxt, (*view)->lexicon, READS_SHINGLES);
	if (doccxt->spec.unit != UNIT_WORD)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("lexicon is not of shingles of words"),
				 errhint("Make one with shingle_lexicon_agg() and an analysis without \"unit=\".")));
	return doccxt;
}

/*
 * Return argument `at`, the least number of documents; raise an error if it is
 * less than 1.
 */
static uint32
least_documents(FunctionCallInfo fcinfo, int at)
{
	return argument_whole("min_documents", PG_GETARG_INT32(at), 1,
						  PG_INT32_MAX);
}

/*
 * Return the number of documents that a shingle is in; 0 if it is less than
 * `least`.
 */
static uint32
documents_of(const LexiconView *view, uint64 hash, uint32 least)
{
	const LexiconEntry *entry = view_find(view, hash);

	return entry == NULL || entry->df < least ? 0 : entry->df;
}

/* Find runs of shingles that are all in at least `least` documents. */
static void
find_passages(FrequentPassages *found, const LexiconView *view, uint32 least,
			  uint32 k)
{
	size_t		room = 0;
	bool		within = false;

	for (uint32 i = 0; i < found->text.nshingles; i++)
	{
		uint32		documents = documents_of(view, found->text.shingles[i],
											 least);
		FrequentPassage *last;

		CHECK_EVERY(i);
		if (documents > 0 && !within)
		{
			found->passages = growing_reserve(found->passages, &room,
											  found->n + 1, sizeof(FrequentPassage));
			found->passages[found->n++] = (FrequentPassage)
			{
				i, i + k, documents
			};
		}
		within = documents > 0;
		if (!within)
			continue;
		last = &found->passages[found->n - 1];
		Assert(last->end >= i && last->start <= i);
		last->end = i + k;
		last->documents = Min(last->documents, documents);
	}
}

/*
 * Find the passages for the arguments (doc text, lexicon, min_documents int)
 * of a function.
 */
static FrequentPassages *
find_boilerplate(FunctionCallInfo fcinfo)
{
	LexiconView *view;
	DocContext *doccxt = ready_doc_context(fcinfo, 1, &view);
	uint32		least = least_documents(fcinfo, 2);
	FrequentPassages *found = palloc0(sizeof(FrequentPassages));

	text_read(&found->text, doccxt, PG_GETARG_TEXT_PP(0), doccxt->spec.k,
			  false);
	find_passages(found, view, least, doccxt->spec.k);
	found->spans = text_spans_alloc(found->n);
	for (size_t i = 0; i < found->n; i++)
		found->spans[i] = (WordSpan)
	{
		found->passages[i].start, found->passages[i].end
	};
	text_place_spans(&found->text, found->spans, found->n);
	return found;
}

/* boilerplate(doc text, lexicon, min_documents int) */
Datum
boilerplate(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo;
	FrequentPassages *found;

	InitMaterializedSRF(fcinfo, 0);
	rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	found = find_boilerplate(fcinfo);
	spans_to_characters(found->text.utf8, found->spans, found->n);
	for (size_t i = 0; i < found->n; i++)
	{
		const FrequentPassage *passage = &found->passages[i];
		const WordSpan *span = &found->spans[i];
		Datum		values[] = {
			Int32GetDatum(span->start + 1),
			Int32GetDatum(span->end - span->start),
			Int32GetDatum(passage->end - passage->start),
			Int64GetDatum(passage->documents)
		};
		bool		nulls[lengthof(values)] = {false};

		CHECK_FOR_INTERRUPTS();
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values,
							 nulls);
	}
	return (Datum) 0;
}

/* Append the text without its passages, which may overlap. */
static void
append_rest(StringInfo out, const FrequentPassages *found)
{
	const char *utf8 = found->text.utf8;
	uint32		from = 0;

	for (size_t i = 0; i < found->n; i++)
	{
		const WordSpan *span = &found->spans[i];

		if (span->start >= from)
		{
			/* a blank separates the words on both sides */
			appendBinaryStringInfo(out, utf8 + from, span->start - from);
			appendStringInfoChar(out, ' ');
		}
		from = Max(from, span->end);
	}
	appendBinaryStringInfo(out, utf8 + from, found->text.len - from);
}

/* True if the passages cover all words of a text. */
static bool
is_boilerplate_as_a_whole(const FrequentPassages *found, uint32 k)
{
	uint32		covered = 0;

	for (size_t i = 0; i < found->n; i++)
	{
		if (found->passages[i].start > covered)
			return false;
		covered = found->passages[i].end;
	}
	return found->n > 0 && covered == found->text.nshingles + k - 1;
}

/*
 * Warn, once for each call site, if nothing is left of a text.  Its copies
 * made it frequent, and without its words they are not found as
 * near-duplicates.
 */
static void
warn_of_whole_text(DocContext *doccxt, const FrequentPassages *found)
{
	if (doccxt->extra != NULL ||
		!is_boilerplate_as_a_whole(found, doccxt->spec.k))
		return;
	doccxt->extra = doccxt;
	ereport(WARNING,
			(errmsg("a document consists of boilerplate only"),
			 errdetail("Each run of %d words of it is in many documents of the lexicon.",
					   doccxt->spec.k),
			 errhint("Make the lexicon from one document of each group of near-duplicates.")));
}

/* without_boilerplate(doc text, lexicon, min_documents int) */
Datum
without_boilerplate(PG_FUNCTION_ARGS)
{
	StringInfoData rest;
	FrequentPassages *found = find_boilerplate(fcinfo);

	warn_of_whole_text(fcinfo->flinfo->fn_extra, found);
	initStringInfo(&rest);
	append_rest(&rest, found);
	PG_RETURN_TEXT_P(text_from_utf8(&rest));
}

/* frequent_shingles(lexicon, min_documents int) */
Datum
frequent_shingles(PG_FUNCTION_ARGS)
{
	LexiconView *view;
	DocContext *doccxt = ready_doc_context(fcinfo, 0, &view);
	uint32		least = least_documents(fcinfo, 1);
	size_t		nwords = LEXICON_NWORDS(view->lexicon);
	Signature  *result = signature_alloc(&doccxt->spec, nwords);
	size_t		n = 0;

	/* entries are in the order of their hashes, as signatures need it */
	for (size_t i = 0; i < nwords; i++)
	{
		CHECK_EVERY(i);
		if (view->lexicon->entries[i].df >= least)
			result->values[n++] = view->lexicon->entries[i].hash;
	}
	result->nfeatures = n;
	SET_VARSIZE(result, SIGNATURE_HEADER + n * sizeof(uint64));
	PG_RETURN_SIGNATURE(result);
}
