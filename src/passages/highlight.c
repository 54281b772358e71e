/*
 * highlight.c
 *		SQL function: a text with what it has in common with another marked.
 *
 * The options are those of ts_headline().  The whole text is shown unless
 * HighlightAll is off: then excerpts are, of the longest passages first, each
 * with its surroundings if it is shorter than MinWords.
 */
#include "postgres.h"

#include "commands/defrem.h"
#include "nodes/parsenodes.h"
#include "utils/builtins.h"

#include "base/call.h"
#include "base/interrupts.h"
#include "passages/evidence.h"
#include "passages/marked_text.h"
#include "document/doc_context.h"

PG_FUNCTION_INFO_V1(highlight);

typedef struct Headline
{
	uint32		max_words;
	uint32		min_words;
	uint32		short_word;
	uint32		max_fragments;
	bool		all;
	const char *start_sel;
	const char *stop_sel;
	const char *delimiter;
} Headline;

/* A stretch of a text: its words and its bytes. */
typedef struct Stretch
{
	uint32		first;			/* word */
	uint32		last;			/* word behind it */
	WordSpan	span;
} Stretch;

typedef struct Stretches
{
	Stretch    *stretches;
	size_t		n;
} Stretches;

/* Options */

static uint32
option_number(DefElem *option)
{
	return argument_whole(option->defname,
						  pg_strtoint32(defGetString(option)), 0,
						  PG_INT32_MAX);
}

/* Whether it is on: as ts_headline() has it. */
static bool
option_flag(DefElem *option)
{
	const char *value = defGetString(option);

	return pg_strcasecmp(value, "1") == 0 || pg_strcasecmp(value, "on") == 0 ||
		pg_strcasecmp(value, "true") == 0 || pg_strcasecmp(value, "t") == 0 ||
		pg_strcasecmp(value, "y") == 0 || pg_strcasecmp(value, "yes") == 0;
}

static void
set_option(Headline *headline, DefElem *option)
{
	const char *name = option->defname;

	if (pg_strcasecmp(name, "MaxWords") == 0)
		headline->max_words = option_number(option);
	else if (pg_strcasecmp(name, "MinWords") == 0)
		headline->min_words = option_number(option);
	else if (pg_strcasecmp(name, "ShortWord") == 0)
		headline->short_word = option_number(option);
	else if (pg_strcasecmp(name, "MaxFragments") == 0)
		headline->max_fragments = option_number(option);
	else if (pg_strcasecmp(name, "HighlightAll") == 0)
		headline->all = option_flag(option);
	else if (pg_strcasecmp(name, "StartSel") == 0)
		headline->start_sel = defGetString(option);
	else if (pg_strcasecmp(name, "StopSel") == 0)
		headline->stop_sel = defGetString(option);
	else if (pg_strcasecmp(name, "FragmentDelimiter") == 0)
		headline->delimiter = defGetString(option);
	else
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("unrecognized headline parameter: \"%s\"", name),
				 errhint("Known are StartSel, StopSel, HighlightAll, MaxWords, "
						 "MinWords, ShortWord, MaxFragments and "
						 "FragmentDelimiter.")));
}

static Headline
read_options(const text *options)
{
	Headline	headline = {35, 15, 3, 0, true, "<b>", "</b>", " ... "};
	size_t		len;
	const char *utf8 = text_as_utf8(options, &len);
	text	   *copy = cstring_to_text_with_len(utf8, len);
	ListCell   *cell;

	foreach(cell, deserialize_deflist(PointerGetDatum(copy)))
		set_option(&headline, (DefElem *) lfirst(cell));
	if (headline.min_words < 1 || headline.min_words >= headline.max_words)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("MinWords is out of range: %u", headline.min_words),
				 errdetail("It is at least 1 and less than MaxWords, which is %u.",
						   headline.max_words)));
	return headline;
}

/* Passages */

/* Those of the text a, as they stand; overlapping ones made one. */
static Stretches
stretches_of(const Evidence *evidence)
{
	size_t		n = evidence->npassages;
	Stretches	all = {palloc_extended((n + 1) * sizeof(Stretch),
									   MCXT_ALLOC_HUGE), 0};

	for (size_t i = 0; i < n; i++)
	{
		const Passage *passage = &evidence->passages[i];
		Stretch		stretch = {passage->a_start, passage->a_end,
		evidence->a_spans[i]};
		Stretch    *last;

		if (all.n == 0 ||
			all.stretches[all.n - 1].span.end < stretch.span.start)
		{
			all.stretches[all.n++] = stretch;
			continue;
		}
		last = &all.stretches[all.n - 1];
		last->last = Max(last->last, stretch.last);
		last->span.end = Max(last->span.end, stretch.span.end);
	}
	return all;
}

/*
 * Appends a part of the text, in which the passages are marked.  Of these,
 * *first is the first that may not end before the part; parts come as they
 * stand.
 */
static void
append_marked(StringInfo out, const Headline *headline, const ReadText *text,
			  const Stretches *marks, size_t *first, WordSpan part)
{
	uint32		at = part.start;

	while (*first < marks->n && marks->stretches[*first].span.end <= at)
		(*first)++;
	for (size_t i = *first; i < marks->n; i++)
	{
		WordSpan	mark = marks->stretches[i].span;

		CHECK_EVERY(i);
		if (mark.start >= part.end)
			break;
		mark.start = Max(mark.start, at);
		mark.end = Min(mark.end, part.end);
		append_escaped(out, text->utf8 + at, mark.start - at);
		appendStringInfoString(out, headline->start_sel);
		append_escaped(out, text->utf8 + mark.start, mark.end - mark.start);
		appendStringInfoString(out, headline->stop_sel);
		at = mark.end;
	}
	append_escaped(out, text->utf8 + at, part.end - at);
}

/* Excerpts */

static bool
is_short(const Headline *headline, const ReadText *text, uint32 word)
{
	WordSpan	span = word_place(&text->words, word);

	return count_characters(text->utf8 + span.start,
							text->utf8 + span.end) <= headline->short_word;
}

/* Words around a passage, or its beginning: not before `from`, nor from `to`. */
static Stretch
excerpt_of(const Headline *headline, const ReadText *text,
		   const Stretch *passage, uint32 from, uint32 to)
{
	Stretch		excerpt = *passage;
	uint32		wanted = headline->min_words;

	if (excerpt.last - excerpt.first > headline->max_words)
		excerpt.last = excerpt.first + headline->max_words;
	while (excerpt.last - excerpt.first < wanted &&
		   (excerpt.first > from || excerpt.last < to))
	{
		if (excerpt.last < to)
			excerpt.last++;
		if (excerpt.first > from && excerpt.last - excerpt.first < wanted)
			excerpt.first--;
	}
	while (excerpt.first < passage->first &&
		   is_short(headline, text, excerpt.first))
		excerpt.first++;
	while (excerpt.last > passage->last &&
		   is_short(headline, text, excerpt.last - 1))
		excerpt.last--;
	excerpt.span.start = Min(passage->span.start,
							 word_place(&text->words, excerpt.first).start);
	if (excerpt.last != passage->last)
		excerpt.span.end = word_place(&text->words, excerpt.last - 1).end;
	return excerpt;
}

/* A passage, by its length; its number is that of the stretch. */
typedef struct Length
{
	uint32		words;
	uint32		number;
} Length;

/* sort_lengths(array, n): the longest first, then as they stand */
#define ST_SORT sort_lengths
#define ST_ELEMENT_TYPE Length
#define ST_COMPARE(a, b) \
	((a)->words != (b)->words ? ((a)->words > (b)->words ? -1 : 1) : \
	 (a)->number < (b)->number ? -1 : (a)->number > (b)->number)
#define ST_SCOPE static
#define ST_CHECK_FOR_INTERRUPTS
#define ST_DEFINE
#include "lib/sort_template.h"

/* Chooses passages, the longest first, up to the number of excerpts. */
static bool *
choose(const Headline *headline, const Stretches *passages)
{
	bool	   *chosen = palloc_extended(passages->n + 1,
										 MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	Length	   *lengths = palloc_extended((passages->n + 1) * sizeof(Length),
										  MCXT_ALLOC_HUGE);
	size_t		wanted = Max(headline->max_fragments, 1);

	for (size_t i = 0; i < passages->n; i++)
	{
		const Stretch *passage = &passages->stretches[i];

		lengths[i] = (Length){passage->last - passage->first, i};
	}
	sort_lengths(lengths, passages->n);
	for (size_t i = 0; i < Min(wanted, passages->n); i++)
		chosen[lengths[i].number] = true;
	pfree(lengths);
	return chosen;
}

static void
append_excerpts(StringInfo out, const Headline *headline,
				const ReadText *text, const Stretches *passages)
{
	bool	   *chosen = choose(headline, passages);
	uint32		from = 0;		/* words before are in an excerpt */
	size_t		first = 0;

	for (size_t i = 0; i < passages->n; i++)
	{
		Stretch		excerpt;

		CHECK_EVERY(i);
		if (!chosen[i] || passages->stretches[i].first < from)
			continue;
		excerpt = excerpt_of(headline, text, &passages->stretches[i], from,
							 text->nwords);
		if (from > 0)
			appendStringInfoString(out, headline->delimiter);
		append_marked(out, headline, text, passages, &first, excerpt.span);
		from = excerpt.last;
	}
}

/* The beginning of a text without passages. */
static void
append_beginning(StringInfo out, const Headline *headline,
				 const ReadText *text)
{
	uint32		words = Min((uint32) headline->min_words, text->nwords);
	WordSpan	span;

	if (words == 0)
		return;
	span = text_span(text, 0, words);
	append_escaped(out, text->utf8 + span.start, span.end - span.start);
}

/*
 * highlight(a text, b text, analysis text, min_words int, max_gap int,
 * options text)
 */
Datum
highlight(PG_FUNCTION_ARGS)
{
	Evidence   *evidence = evidence_begin(fcinfo);
	Headline	headline = read_options(PG_GETARG_TEXT_PP(5));
	Stretches	passages = stretches_of(evidence);
	const ReadText *a = &evidence->a;
	size_t		first = 0;
	StringInfoData out;
	text	   *result;

	initStringInfo(&out);
	if (headline.all)
		append_marked(&out, &headline, a, &passages, &first,
					  (WordSpan){0, a->len});
	else if (passages.n > 0)
		append_excerpts(&out, &headline, a, &passages);
	else
		append_beginning(&out, &headline, a);
	MemoryContextSwitchTo(evidence->caller);
	result = text_from_utf8(&out);
	evidence_end(evidence);
	PG_RETURN_TEXT_P(result);
}
