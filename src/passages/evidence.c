/*
 * evidence.c
 *		SQL functions that find the passages and cases of two texts, and their
 *		places.
 *
 * Words are read with their places, and compared by shingles, so that the
 * order of words counts as the analysis says.  The text with fewer words is
 * indexed; if both have equally many, it is always the same one.  So the
 * result does not depend on the order of the texts.
 */
#include "postgres.h"

#include "funcapi.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/tuplestore.h"

#include "base/call.h"
#include "base/interrupts.h"
#include "base/memory.h"
#include "base/sort_uint64.h"
#include "document/doc_context.h"
#include "document/shingler.h"
#include "passages/case_presets.h"
#include "passages/common_passages.h"
#include "passages/evidence.h"
#include "passages/sequence_index.h"

#define WORDS_MAX	(INDEXED_MAX - 1)	/* maximum number of words in a text */
#define GAP_MAX		100

/* Reading */

/* State of text_read() */
typedef struct TextBuilder
{
	ReadText   *read;
	Order		order;
	uint32		k;
	size_t		size;			/* number of shingles allocated */
	size_t		hashes_size;	/* number of hashes allocated */
	uint64	   *units;			/* k - 1 old units, then up to READ_AT_ONCE
								 * new ones */
	uint64	   *room;			/* memory for order_shingles() */
	WordSpan	spans[READ_AT_ONCE];
} TextBuilder;

/*
 * Make room for n elements.  Grows by an eighth, since doubling would waste
 * memory.
 */
static void *
reserve(void *array, size_t *size, size_t n, size_t width)
{
	if (n <= *size)
		return array;
	*size = n + n / 8;
	return repalloc_huge(array, *size * width);
}

/* Keep 32 bits of the hashes of the n words that are added next. */
static void
keep_hashes(TextBuilder *builder, const uint64 *units, size_t n)
{
	ReadText   *read = builder->read;

	read->hashes = reserve(read->hashes, &builder->hashes_size,
						   read->nwords + n,
						   sizeof(uint32));
	for (size_t i = 0; i < n; i++)
		read->hashes[read->nwords + i] = (uint32) units[i];
}

/* Read all words with their places, and make shingles of them. */
static void
read_words(TextBuilder *builder, Reader *reader)
{
	ReadText   *read = builder->read;
	uint32		k = builder->k;
	size_t		have = 0;		/* number of units that are held */
	size_t		got;

	while ((got = reader_read_spans(reader, builder->units + have,
									builder->spans, READ_AT_ONCE)) > 0)
	{
		if (read->hashes != NULL)
			keep_hashes(builder, builder->units + have, got);
		have += got;
		read->nwords += got;
		if (read->nwords > WORDS_MAX)
			ereport(ERROR,
					(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
					 errmsg("text has too many words for its passages to be found"),
					 errdetail("It may have at most %d.", WORDS_MAX),
					 errhint("Cut the text into parts.")));
		word_places_add(&read->words, builder->spans, got);
		if (have < k)
			continue;
		read->shingles = reserve(read->shingles, &builder->size,
								 read->nshingles + have,
								 sizeof(uint64));
		order_shingles(builder->order, builder->units, have, k, builder->room,
					   read->shingles + read->nshingles);
		read->nshingles += have - k + 1;
		memmove(builder->units, builder->units + have - (k - 1),
				(k - 1) * sizeof(uint64));
		have = k - 1;
	}
}

void
text_read(ReadText *read, DocContext *doccxt, const struct varlena *doc,
		  uint32 k,
		  bool hashes)
{
	Reader	   *reader = doc_context_reader(doccxt);
	TextBuilder builder = {
		.read = read,.order = doccxt->spec.order,.k = k,
		.size = READ_AT_ONCE,.hashes_size = READ_AT_ONCE,
		.units = palloc((k + READ_AT_ONCE) * sizeof(uint64)),
		.room = palloc(k * sizeof(uint64))
	};

	memset(read, 0, sizeof(ReadText));
	read->utf8 = text_as_utf8(doc, &read->len);
	read->shingles = palloc(READ_AT_ONCE * sizeof(uint64));
	if (hashes)
		read->hashes = palloc(READ_AT_ONCE * sizeof(uint32));
	reader_track(reader);
	reader_begin(reader, read->utf8, read->len);
	read_words(&builder, reader);
	Assert(read->nshingles == (read->nwords < k ? 0 : read->nwords - k + 1));
	pfree(builder.units);
	pfree(builder.room);
	LOOK_AT_MEMORY(CurrentMemoryContext);
	word_places_finish(&read->words);
	read->shingles = repalloc_huge(read->shingles,
								   Max(read->nshingles, 1) * sizeof(uint64));
	if (hashes)
		read->hashes = repalloc_huge(read->hashes,
									 Max(read->nwords, 1) * sizeof(uint32));
}

WordSpan *
text_spans_alloc(size_t n)
{
	return MemoryContextAllocHuge(CurrentMemoryContext,
								  (n + 1) * sizeof(WordSpan));
}

void
text_place_spans(const ReadText *text, WordSpan *spans, size_t n)
{
	for (size_t i = 0; i < n; i++)
	{
		CHECK_EVERY(i);
		spans[i] = text_span(text, spans[i].start, spans[i].end);
	}
	spans_to_graphemes(text->utf8, text->len, spans, n);
}

struct varlena *
text_from_utf8(StringInfo utf8)
{
	char	   *server = pg_any_to_server(utf8->data, utf8->len, PG_UTF8);
	struct varlena *result;

	if (server == utf8->data)
		result = cstring_to_text_with_len(utf8->data, utf8->len);
	else
		result = cstring_to_text(server);
	pfree(utf8->data);
	return result;
}

/* Comparing */

/*
 * True if a is the text that comes first in a search: the text with more
 * words.
 */
static bool
comes_first(const ReadText *a, const ReadText *b)
{
	if (a->nshingles != b->nshingles)
		return a->nshingles > b->nshingles;
	return memcmp(a->shingles, b->shingles,
				  a->nshingles * sizeof(uint64)) >= 0;
}

/* Exchange the texts, and the places of passages. */
static void
exchange(Evidence *evidence)
{
	ReadText text = evidence->a;

	evidence->a = evidence->b;
	evidence->b = text;

	for (size_t i = 0; i < evidence->npassages; i++)
	{
		Passage    *passage = &evidence->passages[i];

		*passage = (Passage)
		{
			passage->b_start, passage->b_end, passage->a_start, passage->a_end,
				passage->matched
		};
	}
}

/* Find the bytes of n passages in both texts. */
static void
place_passages(const Evidence *evidence, const Passage *passages, size_t n,
			   WordSpan *a_spans, WordSpan *b_spans)
{
	for (size_t i = 0; i < n; i++)
	{
		const Passage *passage = &passages[i];

		a_spans[i] = (WordSpan)
		{
			passage->a_start, passage->a_end
		};
		b_spans[i] = (WordSpan)
		{
			passage->b_start, passage->b_end
		};
	}
	text_place_spans(&evidence->a, a_spans, n);
	text_place_spans(&evidence->b, b_spans, n);
}

/*
 * Sort the passages that a search has found, and find their bytes.  The search
 * has freed the shingles.
 */
static void
settle(Evidence *evidence, bool exchanged)
{
	size_t		n = evidence->npassages;

	evidence->a.shingles = evidence->b.shingles = NULL;
	if (exchanged)
		exchange(evidence);
	passages_sort(evidence->passages, n);
	evidence->a_spans = text_spans_alloc(n);
	evidence->b_spans = text_spans_alloc(n);
	place_passages(evidence, evidence->passages, n, evidence->a_spans,
				   evidence->b_spans);
}

/* Cases */

/* True if a span has fewer characters than a case must have. */
static bool
is_short(const ReadText *text, const WordSpan *span, int min_length)
{
	return count_server_characters(text->utf8 + span->start,
								   text->utf8 + span->end) <
		(uint32) min_length;
}

/*
 * Drop cases that are too short in one of the texts; return how many are left.
 */
static size_t
drop_short_cases(const Evidence *evidence, Passage *cases, size_t n,
				 int min_length)
{
	WordSpan   *a_spans = text_spans_alloc(n);
	WordSpan   *b_spans = text_spans_alloc(n);
	size_t		kept = 0;

	place_passages(evidence, cases, n, a_spans, b_spans);
	for (size_t i = 0; i < n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (!is_short(&evidence->a, &a_spans[i], min_length) &&
			!is_short(&evidence->b, &b_spans[i], min_length))
			cases[kept++] = cases[i];
	}
	pfree(a_spans);
	pfree(b_spans);
	return kept;
}

/*
 * Create empty evidence in a memory context of its own, which becomes the
 * current one.
 */
static Evidence *
create_evidence(DocContext *doccxt)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext,
												  "neardup evidence",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext caller = MemoryContextSwitchTo(context);
	Evidence   *evidence = palloc0(sizeof(Evidence));

	evidence->context = context;
	evidence->caller = caller;
	evidence->language = doccxt->spec.language;
	return evidence;
}

/*
 * Read both texts, and exchange them if b comes first in a search; true if
 * they were exchanged.
 */
static bool
read_texts(Evidence *evidence, FunctionCallInfo fcinfo, DocContext *doccxt,
		   uint32 k,
		   bool hashes)
{
	text_read(&evidence->a, doccxt, PG_GETARG_TEXT_PP(0), k, hashes);
	text_read(&evidence->b, doccxt, PG_GETARG_TEXT_PP(1), k, hashes);
	if (comes_first(&evidence->a, &evidence->b))
		return false;
	exchange(evidence);
	return true;
}

/* Return the shingles of a text as the sequence that is searched. */
static WordSequence
words_of(const ReadText *read, const PassageRules *rules)
{
	return (WordSequence)
	{
		read->shingles, read->nshingles,
			short_runs_count(rules) ? read->hashes : NULL
	};
}

Evidence *
evidence_of_passages(FunctionCallInfo fcinfo, int analysis, bool hashes)
{
	DocContext *doccxt = doc_context_get(fcinfo, analysis);
	int			least = argument_whole("min_words", PG_GETARG_INT32(2), 1,
									   PG_INT32_MAX);
	int			gap = argument_whole("max_gap", PG_GETARG_INT32(3), 0,
									 GAP_MAX);
	PassageRules rules;
	Evidence   *evidence;
	WordSequence a;
	WordSequence b;
	bool		exchanged;

	doc_context_read(doccxt, fcinfo, READS_SHINGLES, 0);
	rules = (PassageRules)
	{
		Min(doccxt->spec.k, least), least, gap
	};
	evidence = create_evidence(doccxt);
	evidence->rules = rules;
	exchanged = read_texts(evidence, fcinfo, doccxt, rules.k,
						   hashes || short_runs_count(&rules));
	a = words_of(&evidence->a, &rules);
	b = words_of(&evidence->b, &rules);
	evidence->passages = common_passages(&a, &b, &rules, &evidence->npassages);
	settle(evidence, exchanged);
	return evidence;
}

CasePreset
preset_named(const text *name)
{
	char	   *wanted = text_to_cstring(name);
	const CasePreset *preset = case_preset(wanted);

	if (preset != NULL)
		return *preset;
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("unknown preset \"%s\"", wanted),
			 errhint("Presets are verbatim, edited and rewritten.")));
	pg_unreachable();
}

/* Find cases by one set of rules, and drop short ones. */
static CaseList
cases_by_rules(const Evidence *evidence, const NumberedWords *a,
			   const NumberedWords *b,
			   const CaseRules *rules)
{
	CaseList	list;

	list.cases = find_cases(a, b, rules, &list.n);
	list.n = drop_short_cases(evidence, list.cases, list.n, rules->min_length);
	return list;
}

/* Find the cases of a preset, and store them as passages. */
static void
find_by_preset(Evidence *evidence, const CasePreset *preset)
{
	NumberedWords a;
	NumberedWords b;
	CaseList	cases;

	case_words_number(&a, &b, evidence->a.shingles, evidence->a.nwords,
					  evidence->b.shingles, evidence->b.nwords);
	cases = cases_by_rules(evidence, &a, &b, &preset->rules);
	if (preset->use != NO_PARTS)
	{
		CaseList	parts = cases_by_rules(evidence, &a, &b, &preset->parts);
		CaseList	all = cases;

		cases = case_preset_choose(preset, &all, &parts, a.n, b.n);
		pfree(all.cases);
		pfree(parts.cases);
	}
	Assert(a.n == evidence->a.nwords && b.n == evidence->b.nwords);
	evidence->passages = cases.cases;
	evidence->npassages = cases.n;
	pfree(a.ids);
	pfree(b.ids);
}

Evidence *
evidence_of_cases(FunctionCallInfo fcinfo, int analysis,
				  const CasePreset *preset)
{
	DocContext *doccxt = doc_context_get(fcinfo, analysis);
	Evidence   *evidence;
	CasePreset	adapted = *preset;
	uint32		reach = preset->rules.reach;
	bool		exchanged;

	doc_context_read(doccxt, fcinfo, READS_SHINGLES, 0);
	evidence = create_evidence(doccxt);
	exchanged = read_texts(evidence, fcinfo, doccxt, 1, false);
	if (evidence->b.nwords >= INDEXED_MAX / reach)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("both texts have too many words for cases to be found"),
				 errdetail("One of them may have at most %d.",
						   INDEXED_MAX / reach - 1),
				 errhint("Cut a text into parts.")));
	case_preset_adapt(&adapted, evidence->b.nwords);
	find_by_preset(evidence, &adapted);
	settle(evidence, exchanged);
	return evidence;
}

void
evidence_end(Evidence *evidence)
{
	MemoryContextSwitchTo(evidence->caller);
	MemoryContextDelete(evidence->context);
}

/* Coverage */

PG_FUNCTION_INFO_V1(coverage);

/*
 * Return the share of n words that are in ranges, given as start << 32 | end;
 * 0 if n is 0.
 */
static double
share_covered(uint64 *ranges, size_t nranges, uint32 n)
{
	uint32		covered = 0;
	uint32		end = 0;

	sort_hashes(ranges, nranges);
	for (size_t i = 0; i < nranges; i++)
	{
		uint32		start = Max(ranges[i] >> 32, end);

		end = Max(end, (uint32) ranges[i]);
		covered += end - Min(start, end);
	}
	Assert(covered <= n && end <= n);
	return n == 0 ? 0 : (double) covered / n;
}

void
evidence_coverage(const Evidence *evidence, double *of_a, double *of_b)
{
	size_t		n = evidence->npassages;
	const Passage *passages = evidence->passages;
	uint64	   *ranges = MemoryContextAllocHuge(CurrentMemoryContext,
												(n + 1) * sizeof(uint64));

	for (size_t i = 0; i < n; i++)
		ranges[i] = (uint64) passages[i].a_start << 32 | passages[i].a_end;
	*of_a = share_covered(ranges, n, evidence->a.nwords);
	for (size_t i = 0; i < n; i++)
		ranges[i] = (uint64) passages[i].b_start << 32 | passages[i].b_end;
	*of_b = share_covered(ranges, n, evidence->b.nwords);
	pfree(ranges);
}

/* coverage(a text, b text, min_words int, max_gap int, analysis text) */
Datum
coverage(PG_FUNCTION_ARGS)
{
	TupleDesc	desc = call_row_type(fcinfo);
	Evidence   *evidence = evidence_of_passages(fcinfo, 4, false);
	double		of_a;
	double		of_b;
	Datum		values[2];
	bool		nulls[2] = {false, false};

	evidence_coverage(evidence, &of_a, &of_b);
	evidence_end(evidence);
	values[0] = Float8GetDatum(of_a);
	values[1] = Float8GetDatum(of_b);
	return call_row(desc, lengthof(values), values, nulls);
}

/* Passages and cases */

PG_FUNCTION_INFO_V1(shared_passages);
PG_FUNCTION_INFO_V1(copied_cases);

/*
 * Put a row into the result for each passage, and free the evidence.
 * Characters count from 1.  A function may have fewer columns.
 */
static void
put_rows(FunctionCallInfo fcinfo, Evidence *evidence)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	size_t		n = evidence->npassages;

	spans_to_characters(evidence->a.utf8, evidence->a_spans, n);
	spans_to_characters(evidence->b.utf8, evidence->b_spans, n);
	for (size_t i = 0; i < n; i++)
	{
		const WordSpan *a = &evidence->a_spans[i];
		const WordSpan *b = &evidence->b_spans[i];
		const Passage *passage = &evidence->passages[i];
		Datum		values[] = {
			Int32GetDatum(a->start + 1), Int32GetDatum(a->end - a->start),
			Int32GetDatum(b->start + 1), Int32GetDatum(b->end - b->start),
			Float8GetDatum(passage_similarity(passage)),
			Float8GetDatum(passage_coverage(passage))
		};
		bool		nulls[lengthof(values)] = {false};

		CHECK_FOR_INTERRUPTS();
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values,
							 nulls);
	}
	evidence_end(evidence);
}

/*
 * shared_passages(a text, b text, min_words int, max_gap int, analysis text)
 */
Datum
shared_passages(PG_FUNCTION_ARGS)
{
	InitMaterializedSRF(fcinfo, 0);
	put_rows(fcinfo, evidence_of_passages(fcinfo, 4, false));
	return (Datum) 0;
}

/*
 * copied_cases(a text, b text, preset text, min_length int, min_share double
 * precision, analysis text)
 *
 * If the length or the share is null, the preset's applies.
 */
Datum
copied_cases(PG_FUNCTION_ARGS)
{
	CasePreset	preset;

	InitMaterializedSRF(fcinfo, 0);
	if (PG_ARGISNULL(0) || PG_ARGISNULL(1) || PG_ARGISNULL(2) ||
		PG_ARGISNULL(5))
		return (Datum) 0;
	preset = preset_named(PG_GETARG_TEXT_PP(2));
	if (!PG_ARGISNULL(3))
		case_preset_set_length(&preset,
							   argument_whole("min_length", PG_GETARG_INT32(3),
											  0, PG_INT32_MAX));
	if (!PG_ARGISNULL(4))
		case_preset_set_share(&preset,
							  argument_real("min_share", PG_GETARG_FLOAT8(4),
											0, 1));
	put_rows(fcinfo, evidence_of_cases(fcinfo, 5, &preset));
	return (Datum) 0;
}

#ifdef NEARDUP_TESTING

size_t		memory_peak = 0;

/*
 * Return the peak memory of passages since the last call, in bytes, without
 * results.
 */
PG_FUNCTION_INFO_V1(neardup_memory_peak);
Datum
neardup_memory_peak(PG_FUNCTION_ARGS)
{
	size_t		peak = memory_peak;

	memory_peak = 0;
	PG_RETURN_INT64(peak);
}

#endif
