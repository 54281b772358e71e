/*
 * evidence.c
 *		SQL functions: what two texts have in common, and where.
 *
 * Words are read with their places.  What is compared is shingles of them, so that the order
 * of words counts as the analysis says.  The text of fewer words is the one that is indexed,
 * and of two texts that differ the same one is, in whatever order they come: the result does
 * not depend on that order.
 */
#include "postgres.h"

#include "funcapi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/tuplestore.h"

#include "base/call.h"
#include "base/interrupts.h"
#include "base/memory.h"
#include "document/doc_context.h"
#include "document/shingler.h"
#include "passages/case_search.h"
#include "passages/common_passages.h"
#include "passages/evidence.h"
#include "passages/sequence_index.h"

#define WORDS_MAX	(INDEXED_MAX - 1)	/* of a text */
#define GAP_MAX		100

/* Reading */

typedef struct TextBuilder
{
	ReadText   *text;
	Order		order;
	uint32		k;
	size_t		size;			/* shingles that there is room for */
	size_t		hashes_size;	/* words that there is room for */
	uint64	   *units;			/* k - 1 of before and READ_AT_ONCE new ones */
	uint64	   *room;
	WordSpan	spans[READ_AT_ONCE];
} TextBuilder;

/* Room for n more shingles. */
static void
make_room(TextBuilder *builder, size_t n)
{
	ReadText   *text = builder->text;

	if (text->nwords > WORDS_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("text has too many words for its passages to be found"),
				 errdetail("It may have at most %d.", WORDS_MAX),
				 errhint("Cut the text into parts.")));
	n += text ->nshingles;

	if (n <= builder->size)
		return;
	/* an eighth more only, as most of the memory is here */
	builder->size = n + n / 8;
	text	  ->shingles = repalloc_huge(text->shingles,
										 builder->size * sizeof(uint64));
}

/* Keep a part of the hashes of n more words. */
static void
keep_hashes(TextBuilder *builder, const uint64 *units, size_t n)
{
	ReadText   *text = builder->text;
	size_t		need = text->nwords + n;
	uint32	   *hashes;

	if (need > builder->hashes_size)
	{
		builder->hashes_size = need + need / 8;
		text	  ->hashes = repalloc_huge(text->hashes,
										   builder->hashes_size * sizeof(uint32));
	}
	hashes = text->hashes + text->nwords;

	for (size_t i = 0; i < n; i++)
		hashes[i] = (uint32) units[i];
}

static void
read_words(TextBuilder *builder, Reader *reader)
{
	ReadText   *text = builder->text;
	uint32		k = builder->k;
	size_t		have = 0;		/* units */
	size_t		got;

	while ((got = reader_read_spans(reader, builder->units + have,
									builder->spans, READ_AT_ONCE)) > 0)
	{
		if (text->hashes != NULL)
			keep_hashes(builder, builder->units + have, got);
		have += got;
		text	  ->nwords += got;

		word_places_add(&text->words, builder->spans, got);
		make_room(builder, have);
		if (have < k)
			continue;
		order_shingles(builder->order, builder->units, have, k, builder->room,
					   text->shingles + text->nshingles);
		text	  ->nshingles += have - k + 1;

		memmove(builder->units, builder->units + have - (k - 1),
				(k - 1) * sizeof(uint64));
		have = k - 1;
	}
}

void
text_read(ReadText *text, DocContext *doccxt, const struct varlena *doc, uint32 k,
		  bool hashes)
{
	TextBuilder builder;
	Reader	   *reader = doc_context_reader(doccxt);

	text	  ->utf8 = text_as_utf8(doc, &text->len);

	reader_track(reader);
	reader_begin(reader, text->utf8, text->len);
	text	  ->nwords = text->nshingles = 0;

	word_places_init(&text->words);
	text	  ->shingles = palloc(READ_AT_ONCE * sizeof(uint64));
	text	  ->hashes = hashes ? palloc(READ_AT_ONCE * sizeof(uint32)) : NULL;
	builder.text = text;

	builder.order = doccxt->spec.order;
	builder.k = k;
	builder.size = READ_AT_ONCE;
	builder.hashes_size = READ_AT_ONCE;
	builder.units = palloc((k + READ_AT_ONCE) * sizeof(uint64));
	builder.room = palloc(k * sizeof(uint64));
	read_words(&builder, reader);
	pfree(builder.units);
	pfree(builder.room);
	LOOK_AT_MEMORY(CurrentMemoryContext);
	word_places_finish(&text->words);
	text	  ->shingles = repalloc_huge(text->shingles,
										 Max(text->nshingles, 1) * sizeof(uint64));

	if (hashes)
		text	  ->hashes = repalloc_huge(text->hashes,
										   Max(text->nwords, 1) * sizeof(uint32));
}

/* Comparing */

static void
exchange(Passage *passages, size_t n)
{
	for (size_t i = 0; i < n; i++)
	{
		Passage		passage = passages[i];

		passages[i].a_start = passage.b_start;
		passages[i].a_end = passage.b_end;
		passages[i].b_start = passage.a_start;
		passages[i].b_end = passage.a_end;
	}
}

/* By place in a, then in b; no two are at the same places. */
static inline int
compare_places(const Passage *a, const Passage *b)
{
	if (a->a_start != b->a_start)
		return a->a_start < b->a_start ? -1 : 1;
	if (a->b_start != b->b_start)
		return a->b_start < b->b_start ? -1 : 1;
	if (a->a_end != b->a_end)
		return a->a_end < b->a_end ? -1 : 1;
	return a->b_end < b->b_end ? -1 : a->b_end > b->b_end;
}

#define ST_SORT sort_by_place
#define ST_ELEMENT_TYPE Passage
#define ST_COMPARE(a, b) compare_places(a, b)
#define ST_SCOPE static
#define ST_CHECK_FOR_INTERRUPTS
#define ST_DEFINE
#include "lib/sort_template.h"

/* Whether a comes first when both are compared: it has more words. */
static bool
comes_first(const ReadText *a, const ReadText *b)
{
	if (a->nshingles != b->nshingles)
		return a->nshingles > b->nshingles;
	return memcmp(a->shingles, b->shingles,
				  a->nshingles * sizeof(uint64)) >= 0;
}

static void
forget_hashes(ReadText *text)
{
	if (text->hashes != NULL)
		pfree(text->hashes);
	text	  ->hashes = NULL;
}

static void
compare_texts(Evidence *evidence, const PassageRules *rules)
{
	ReadText   *a = &evidence->a;
	ReadText   *b = &evidence->b;
	bool		first = comes_first(a, b);
	WordSequence words_a;
	WordSequence words_b;

	if (!first)
	{
		a = &evidence->b;
		b = &evidence->a;
	}
	words_a = (WordSequence)
	{
		a->shingles, a->nshingles, a->hashes
	};
	words_b = (WordSequence)
	{
		b->shingles, b->nshingles, b->hashes
	};
	evidence->passages = common_passages(&words_a, &words_b, rules, &evidence->npassages);
	a->shingles = b->shingles = NULL;
	forget_hashes(a);
	forget_hashes(b);
	if (!first)
		exchange(evidence->passages, evidence->npassages);
	sort_by_place(evidence->passages, evidence->npassages);
}

static void
compare_words(Evidence *evidence, const CaseRules *rules)
{
	ReadText   *a = &evidence->a;
	ReadText   *b = &evidence->b;
	bool		first = comes_first(a, b);

	if (!first)
	{
		a = &evidence->b;
		b = &evidence->a;
	}
	if (b->nwords >= INDEXED_MAX / CASE_REACH_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("both texts have too many words for cases to be found"),
				 errdetail("One of them may have at most %d.", INDEXED_MAX / CASE_REACH_MAX - 1),
				 errhint("Cut a text into parts.")));
	evidence->passages = find_cases(a->shingles, a->nwords, b->shingles, b->nwords, rules,
									&evidence->npassages);
	a->shingles = b->shingles = NULL;
	if (!first)
		exchange(evidence->passages, evidence->npassages);
	sort_by_place(evidence->passages, evidence->npassages);
}

static void
find_spans(Evidence *evidence)
{
	size_t		n = evidence->npassages;

	evidence->a_spans = MemoryContextAllocHuge(CurrentMemoryContext,
											   (n + 1) * sizeof(WordSpan));
	evidence->b_spans = MemoryContextAllocHuge(CurrentMemoryContext,
											   (n + 1) * sizeof(WordSpan));
	for (size_t i = 0; i < n; i++)
	{
		const Passage *passage = &evidence->passages[i];

		CHECK_EVERY(i);
		evidence->a_spans[i] = text_span(&evidence->a, passage->a_start,
										 passage->a_end);
		evidence->b_spans[i] = text_span(&evidence->b, passage->b_start,
										 passage->b_end);
	}
	spans_to_graphemes(evidence->a.utf8, evidence->a.len, evidence->a_spans, n);
	spans_to_graphemes(evidence->b.utf8, evidence->b.len, evidence->b_spans, n);
}

typedef struct Preset
{
	const char *name;
	CaseRules	rules;
} Preset;

static const Preset presets[] = {
	{"verbatim", {1, 4, 4, 10, 10, 150, 0.2}},
	{"edited", {3, 12, 4, 30, 30, 150, 0.2}},
	{"rewritten", {3, 12, 4, 30, 240, 150, 0.2}},
};

CaseRules
preset_rules(const text *name)
{
	char	   *wanted = text_to_cstring(name);

	for (int i = 0; i < lengthof(presets); i++)
		if (pg_strcasecmp(presets[i].name, wanted) == 0)
			return presets[i].rules;
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("unknown preset \"%s\"", wanted),
			 errhint("Presets are verbatim, edited and rewritten.")));
}

static bool
is_short(const ReadText *text, const WordSpan *span, int min_length)
{
	return count_server_characters(text->utf8 + span->start, text->utf8 + span->end) <
		(uint32) min_length;
}

static void
drop_short_cases(Evidence *evidence, int min_length)
{
	size_t		kept = 0;

	for (size_t i = 0; i < evidence->npassages; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (is_short(&evidence->a, &evidence->a_spans[i], min_length) ||
			is_short(&evidence->b, &evidence->b_spans[i], min_length))
			continue;
		evidence->passages[kept] = evidence->passages[i];
		evidence->a_spans[kept] = evidence->a_spans[i];
		evidence->b_spans[kept] = evidence->b_spans[i];
		kept++;
	}
	evidence->npassages = kept;
}

/* Empty evidence in a memory context of its own, which becomes the current one. */
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

static void
read_texts(Evidence *evidence, FunctionCallInfo fcinfo, DocContext *doccxt, uint32 k,
		   bool hashes)
{
	text_read(&evidence->a, doccxt, PG_GETARG_TEXT_PP(0), k, hashes);
	text_read(&evidence->b, doccxt, PG_GETARG_TEXT_PP(1), k, hashes);
}

static PassageRules
check_rules(int least, int gap, uint32 k)
{
	argument_whole("min_words", least, 1, PG_INT32_MAX);
	argument_whole("max_gap", gap, 0, GAP_MAX);
	return (PassageRules)
	{
		Min(k, least), least, gap
	};
}

Evidence *
evidence_of_passages(FunctionCallInfo fcinfo, int analysis)
{
	DocContext *doccxt = doc_context_get(fcinfo, analysis);
	PassageRules rules;
	Evidence   *evidence;

	doc_context_read(doccxt, fcinfo, READS_SHINGLES, 0);
	rules = check_rules(PG_GETARG_INT32(2), PG_GETARG_INT32(3), doccxt->spec.k);
	evidence = create_evidence(doccxt);
	read_texts(evidence, fcinfo, doccxt, rules.k, short_runs_count(&rules));
	compare_texts(evidence, &rules);
	find_spans(evidence);
	return evidence;
}

Evidence *
evidence_of_cases(FunctionCallInfo fcinfo, int analysis, const CaseRules *rules)
{
	DocContext *doccxt = doc_context_get(fcinfo, analysis);
	Evidence   *evidence;

	doc_context_read(doccxt, fcinfo, READS_SHINGLES, 0);
	evidence = create_evidence(doccxt);
	read_texts(evidence, fcinfo, doccxt, 1, false);
	compare_words(evidence, rules);
	find_spans(evidence);
	drop_short_cases(evidence, rules->min_length);
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

/* From one word up to another. */
typedef struct WordRange
{
	uint32		start;
	uint32		end;
} WordRange;

static inline int
compare_ranges(const WordRange *a, const WordRange *b)
{
	return a->start < b->start ? -1 : a->start > b->start;
}

#define ST_SORT sort_ranges
#define ST_ELEMENT_TYPE WordRange
#define ST_COMPARE(a, b) compare_ranges(a, b)
#define ST_SCOPE static
#define ST_CHECK_FOR_INTERRUPTS
#define ST_DEFINE
#include "lib/sort_template.h"

/* The share of n words that are in an interval; of no words, 0. */
static double
share_covered(WordRange *ranges, size_t nranges, uint32 n)
{
	uint32		covered = 0;
	uint32		end = 0;

	sort_ranges(ranges, nranges);
	for (size_t i = 0; i < nranges; i++)
	{
		if (ranges[i].end <= end)
			continue;
		covered += ranges[i].end - Max(ranges[i].start, end);
		end = ranges[i].end;
	}
	return n == 0 ? 0 : (double) covered / n;
}

void
evidence_coverage(const Evidence *evidence, double *of_a, double *of_b)
{
	size_t		n = evidence->npassages;
	const Passage *passages = evidence->passages;
	WordRange  *ranges = MemoryContextAllocHuge(CurrentMemoryContext,
												(n + 1) * sizeof(WordRange));

	for (size_t i = 0; i < n; i++)
		ranges[i] = (WordRange)
	{
		passages[i].a_start, passages[i].a_end
	};
	*of_a = share_covered(ranges, n, evidence->a.nwords);
	for (size_t i = 0; i < n; i++)
		ranges[i] = (WordRange)
	{
		passages[i].b_start, passages[i].b_end
	};
	*of_b = share_covered(ranges, n, evidence->b.nwords);
	pfree(ranges);
}

/* coverage(a text, b text, min_words int, max_gap int, analysis text) */
Datum
coverage(PG_FUNCTION_ARGS)
{
	TupleDesc	desc = call_row_type(fcinfo);
	Evidence   *evidence = evidence_of_passages(fcinfo, 4);
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

/* One row; the first character of a text is 1. */
static void
put_passage(ReturnSetInfo *rsinfo, const WordSpan *a, const WordSpan *b,
			double similarity)
{
	Datum		values[5];
	bool		nulls[5] = {false};

	values[0] = Int32GetDatum(a->start + 1);
	values[1] = Int32GetDatum(a->end - a->start);
	values[2] = Int32GetDatum(b->start + 1);
	values[3] = Int32GetDatum(b->end - b->start);
	values[4] = Float8GetDatum(similarity);
	tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
}

/* shared_passages(a text, b text, min_words int, max_gap int, analysis text) */
Datum
shared_passages(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo;
	Evidence   *evidence;

	InitMaterializedSRF(fcinfo, 0);
	rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	evidence = evidence_of_passages(fcinfo, 4);
	spans_to_characters(evidence->a.utf8, evidence->a_spans,
						evidence->npassages);
	spans_to_characters(evidence->b.utf8, evidence->b_spans,
						evidence->npassages);
	for (size_t i = 0; i < evidence->npassages; i++)
	{
		CHECK_FOR_INTERRUPTS();
		put_passage(rsinfo, &evidence->a_spans[i], &evidence->b_spans[i],
					passage_similarity(&evidence->passages[i]));
	}
	evidence_end(evidence);
	return (Datum) 0;
}

#ifdef NEARDUP_TESTING

size_t		memory_peak = 0;

/*
 * Return the most memory, in bytes, that passages took since the last call, beside the
 * server's memory for the result.
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

PG_FUNCTION_INFO_V1(copied_cases);

/* One row; the first character of a text is 1. */
static void
put_case(ReturnSetInfo *rsinfo, const WordSpan *a, const WordSpan *b, const Passage *passage)
{
	Datum		values[6];
	bool		nulls[6] = {false};

	values[0] = Int32GetDatum(a->start + 1);
	values[1] = Int32GetDatum(a->end - a->start);
	values[2] = Int32GetDatum(b->start + 1);
	values[3] = Int32GetDatum(b->end - b->start);
	values[4] = Float8GetDatum(passage_similarity(passage));
	values[5] = Float8GetDatum(passage_coverage(passage));
	tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
}

/*
 * copied_cases(a text, b text, preset text, min_length int, min_share double precision,
 * analysis text)
 */
Datum
copied_cases(PG_FUNCTION_ARGS)
{
	CaseRules	rules = preset_rules(PG_GETARG_TEXT_PP(2));
	ReturnSetInfo *rsinfo;
	Evidence   *evidence;

	rules.min_length = argument_whole("min_length", PG_GETARG_INT32(3), 0, PG_INT32_MAX);
	rules.min_share = argument_real("min_share", PG_GETARG_FLOAT8(4), 0, 1);
	InitMaterializedSRF(fcinfo, 0);
	rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	evidence = evidence_of_cases(fcinfo, 5, &rules);
	spans_to_characters(evidence->a.utf8, evidence->a_spans, evidence->npassages);
	spans_to_characters(evidence->b.utf8, evidence->b_spans, evidence->npassages);
	for (size_t i = 0; i < evidence->npassages; i++)
		put_case(rsinfo, &evidence->a_spans[i], &evidence->b_spans[i], &evidence->passages[i]);
	evidence_end(evidence);
	return (Datum) 0;
}
