/*
 * evidence.c
 *		What two texts have in common, and where it stands in both.
 *
 * Words are read with their places.  What is compared is shingles of them, so
 * that the order of words counts as the analysis says.  The text of fewer words
 * is the one that is indexed, and of two texts that differ the same one is, in
 * whatever order they come: what is found does not depend on that order.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "base/call.h"
#include "base/interrupts.h"
#include "base/memory.h"
#include "document/shingle_hashes.h"
#include "passages/common_passages.h"
#include "passages/evidence.h"
#include "passages/sequence_index.h"
#include "document/doc_context.h"

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
	n += text->nshingles;
	if (n <= builder->size)
		return;
	/* an eighth more, as most of the memory is here */
	builder->size = n + n / 8;
	text->shingles = repalloc_huge(text->shingles,
								   builder->size * sizeof(uint64));
}

/* Keeps a part of the hashes of n more words. */
static void
keep_hashes(TextBuilder *builder, const uint64 *units, size_t n)
{
	ReadText   *text = builder->text;
	size_t		need = text->nwords + n;
	uint32	   *hashes;

	if (need > builder->hashes_size)
	{
		builder->hashes_size = need + need / 8;
		text->hashes = repalloc_huge(text->hashes,
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
		text->nwords += got;
		word_places_add(&text->words, builder->spans, got);
		make_room(builder, have);
		if (have < k)
			continue;
		order_shingles(builder->order, builder->units, have, k, builder->room,
					   text->shingles + text->nshingles);
		text->nshingles += have - k + 1;
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

	text->utf8 = text_as_utf8(doc, &text->len);
	reader_track(reader);
	reader_begin(reader, text->utf8, text->len);
	text->nwords = text->nshingles = 0;
	word_places_init(&text->words);
	text->shingles = palloc(READ_AT_ONCE * sizeof(uint64));
	text->hashes = hashes ? palloc(READ_AT_ONCE * sizeof(uint32)) : NULL;
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
	text->shingles = repalloc_huge(text->shingles,
								   Max(text->nshingles, 1) * sizeof(uint64));
	if (hashes)
		text->hashes = repalloc_huge(text->hashes,
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
	text->hashes = NULL;
}

static void
compare_texts(Evidence *evidence, const PassageRules *rules)
{
	ReadText   *a = &evidence->a;
	ReadText   *b = &evidence->b;
	bool		first = comes_first(a, b);

	if (!first)
	{
		a = &evidence->b;
		b = &evidence->a;
	}
	evidence->passages = common_passages(a->shingles, a->hashes,
										 a->nshingles, b->shingles,
										 b->hashes, b->nshingles, rules, &evidence->npassages);
	a->shingles = b->shingles = NULL;
	forget_hashes(a);
	forget_hashes(b);
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

static PassageRules
check_rules(int least, int gap, uint32 k)
{
	argument_whole("min_words", least, 1, PG_INT32_MAX);
	argument_whole("max_gap", gap, 0, GAP_MAX);
	return (PassageRules){Min(k, least), least, gap};
}

Evidence *
evidence_begin(FunctionCallInfo fcinfo)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext,
												  "neardup evidence",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext caller = MemoryContextSwitchTo(context);
	Evidence   *evidence = palloc0(sizeof(Evidence));
	DocContext	   *doccxt = doc_context_get(fcinfo, 2);
	text	   *a = PG_GETARG_TEXT_PP(0);
	text	   *b = PG_GETARG_TEXT_PP(1);
	PassageRules rules;
	bool		hashes;

	doc_context_read(doccxt, fcinfo, READS_SHINGLES);
	rules = check_rules(PG_GETARG_INT32(3), PG_GETARG_INT32(4),
						doccxt->spec.k);
	evidence->context = context;
	evidence->caller = caller;
	evidence->language = doccxt->spec.language;
	hashes = short_runs_count(&rules);
	text_read(&evidence->a, doccxt, a, rules.k, hashes);
	text_read(&evidence->b, doccxt, b, rules.k, hashes);
	compare_texts(evidence, &rules);
	find_spans(evidence);
	return evidence;
}

void
evidence_end(Evidence *evidence)
{
	MemoryContextSwitchTo(evidence->caller);
	MemoryContextDelete(evidence->context);
}
