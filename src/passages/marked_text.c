/*
 * marked_text.c
 *		SQL functions that return texts as HTML, with their passages marked.
 *
 * highlight() has the options of ts_headline().  It returns the whole text
 * unless HighlightAll is off.  Then it returns excerpts: the longest passages,
 * and words around a passage that is shorter than MinWords.
 *
 * The page of passages_html() loads nothing else.  A case is underlined.  A
 * passage has one colour and one number in both texts; the number links to the
 * other text.  Where passages overlap, the one that begins last is on top.
 * The page can be read without its script, which only scrolls: one text along
 * with the other, and to the next passage (n) and the previous one (p).  Text
 * has a contrast of at least 7 to 1 on all colours, in light and dark mode.
 * Colours recur, so passages have numbers, too.
 */
#include "postgres.h"

#include <unicode/uchar.h>
#include <unicode/utf8.h>

#include "commands/defrem.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "nodes/parsenodes.h"
#include "utils/builtins.h"

#include "base/call.h"
#include "base/interrupts.h"
#include "base/sort_uint64.h"
#include "document/doc_context.h"
#include "passages/evidence.h"
#include "text/languages.h"

/* HTML */

/* Return the escape sequence of a character in HTML; NULL if it needs none. */
static const char *
escape_of(char c)
{
	switch (c)
	{
		case '&':
			return "&amp;";
		case '<':
			return "&lt;";
		case '>':
			return "&gt;";
		case '"':
			return "&quot;";
		case '\'':
			return "&#39;";
		default:
			return NULL;
	}
}

/* Append UTF-8, escaped for HTML text and for quoted attributes. */
static void
append_escaped(StringInfo out, const char *str, size_t len)
{
	size_t		from = 0;

	for (size_t i = 0; i < len; i++)
	{
		const char *escape = escape_of(str[i]);

		CHECK_EVERY(i);
		if (escape == NULL)
			continue;
		appendBinaryStringInfo(out, str + from, i - from);
		appendStringInfoString(out, escape);
		from = i + 1;
	}
	appendBinaryStringInfo(out, str + from, len - from);
}

/* Excerpts and marks: highlight() */

PG_FUNCTION_INFO_V1(highlight);

/* Options of highlight(), named as for ts_headline() */
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

/* A range of a text: its words and its bytes */
typedef struct TextRange
{
	uint32		first;			/* first word */
	uint32		last;
	WordSpan	span;			/* word after the last one */
} TextRange;

/* Ranges of a text, in order */
typedef struct TextRanges
{
	TextRange  *ranges;
	size_t		n;
} TextRanges;

/* Options */

/* Return the value of an option that is a number. */
static uint32
option_number(DefElem *option)
{
	return argument_whole(option->defname,
						  pg_strtoint32(defGetString(option)), 0,
						  PG_INT32_MAX);
}

/*
 * True if an option is on.  As for ts_headline(), a value that is no boolean
 * means off.
 */
static bool
option_flag(DefElem *option)
{
	bool		on;

	return parse_bool(defGetString(option), &on) && on;
}

/* Set one option of highlight(). */
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

/* Read the options of highlight(), which are written as for ts_headline(). */
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

/*
 * Return the passages in the text a, in order; passages that overlap become
 * one.
 */
static TextRanges
ranges_of(const Evidence *evidence)
{
	size_t		n = evidence->npassages;
	TextRanges	all = {palloc_extended((n + 1) * sizeof(TextRange),
									   MCXT_ALLOC_HUGE), 0};

	for (size_t i = 0; i < n; i++)
	{
		const Passage *passage = &evidence->passages[i];
		TextRange	range = {passage->a_start, passage->a_end,
		evidence->a_spans[i]};
		TextRange  *last;

		if (all.n == 0 ||
			all.ranges[all.n - 1].span.end < range.span.start)
		{
			all.ranges[all.n++] = range;
			continue;
		}
		last = &all.ranges[all.n - 1];
		last->last = Max(last->last, range.last);
		last->span.end = Max(last->span.end, range.span.end);
	}
	return all;
}

/*
 * Append a part of the text with marks.  Parts are appended in order; *first
 * is the first mark that can reach into this part or a later one.
 */
static void
append_marked(StringInfo out, const Headline *headline, const ReadText *text,
			  const TextRanges *marks, size_t *first, WordSpan part)
{
	uint32		at = part.start;

	while (*first < marks->n && marks->ranges[*first].span.end <= at)
		(*first)++;
	for (size_t i = *first; i < marks->n; i++)
	{
		WordSpan	mark = marks->ranges[i].span;

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

/* True if a word is too short to begin or end an excerpt. */
static bool
is_short(const Headline *headline, const ReadText *text, uint32 word)
{
	WordSpan	span = word_place(&text->words, word);

	return count_characters(text->utf8 + span.start,
							text->utf8 + span.end) <= headline->short_word;
}

/*
 * Return an excerpt: a passage with words around it, all between `from` and
 * `to`, or the beginning of a long passage.
 */
static TextRange
excerpt_of(const Headline *headline, const ReadText *text,
		   const TextRange *passage, uint32 from, uint32 to)
{
	TextRange	excerpt = *passage;
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

/*
 * Choose the longest passages for excerpts; among equally long ones, the
 * first.  Returns a flag for each passage.
 */
static bool *
choose(const Headline *headline, const TextRanges *passages)
{
	bool	   *chosen = palloc_extended(passages->n + 1,
										 MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	uint64	   *lengths = palloc_extended((passages->n + 1) * sizeof(uint64),
										  MCXT_ALLOC_HUGE);
	size_t		wanted = Max(headline->max_fragments, 1);

	for (size_t i = 0; i < passages->n; i++)
	{
		const TextRange *passage = &passages->ranges[i];

		lengths[i] =
			(uint64) (PG_UINT32_MAX - (passage->last - passage->first)) << 32 |
			i;
	}
	sort_hashes(lengths, passages->n);
	for (size_t i = 0; i < Min(wanted, passages->n); i++)
		chosen[(uint32) lengths[i]] = true;
	pfree(lengths);
	return chosen;
}

/* Append excerpts around the longest passages. */
static void
append_excerpts(StringInfo out, const Headline *headline,
				const ReadText *text, const TextRanges *passages)
{
	bool	   *chosen = choose(headline, passages);
	uint32		from = 0;		/* the words before it are in an excerpt */
	size_t		first = 0;

	for (size_t i = 0; i < passages->n; i++)
	{
		TextRange	excerpt;

		CHECK_EVERY(i);
		if (!chosen[i] || passages->ranges[i].first < from)
			continue;
		excerpt = excerpt_of(headline, text, &passages->ranges[i], from,
							 text->nwords);
		if (from > 0)
			appendStringInfoString(out, headline->delimiter);
		append_marked(out, headline, text, passages, &first, excerpt.span);
		from = excerpt.last;
	}
}

/* Append the beginning of a text that has no passages. */
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
 * highlight(a text, b text, min_words int, max_gap int, options text,
 * analysis text)
 */
Datum
highlight(PG_FUNCTION_ARGS)
{
	Evidence   *evidence = evidence_of_passages(fcinfo, 5);
	Headline	headline = read_options(PG_GETARG_TEXT_PP(4));
	TextRanges	passages = ranges_of(evidence);
	const ReadText *a = &evidence->a;
	WordSpan	all = {0, a->len};
	size_t		first = 0;
	StringInfoData out;
	text	   *result;

	initStringInfo(&out);
	if (headline.all)
		append_marked(&out, &headline, a, &passages, &first, all);
	else if (passages.n > 0)
		append_excerpts(&out, &headline, a, &passages);
	else
		append_beginning(&out, &headline, a);
	MemoryContextSwitchTo(evidence->caller);
	result = text_from_utf8(&out);
	evidence_end(evidence);
	PG_RETURN_TEXT_P(result);
}

/* Style and script of a page */

/* Number of colours of passages, which are the classes c0, c1, ... */
#define PAGE_COLOURS	8

/* page_style and page_script, made by test/data/page_strings */
#include "passages/data/page.inc"

/* Page: passages_html() */

PG_FUNCTION_INFO_V1(passages_html);

/* A passage or a case in one of the texts */
typedef struct Place
{
	WordSpan	span;
	size_t		number;			/* number of the case or the passage, from 1 */
	bool		is_case;
} Place;

/*
 * Compare places by where they begin.  If they begin together, the longer one
 * comes first.
 */
static inline int
compare_places(const Place *a, const Place *b)
{
	if (a->span.start != b->span.start)
		return a->span.start < b->span.start ? -1 : 1;
	if (a->span.end != b->span.end)
		return a->span.end > b->span.end ? -1 : 1;
	if (a->is_case != b->is_case)
		return a->is_case ? -1 : 1;
	return a->number < b->number ? -1 : a->number > b->number;
}

#define ST_SORT sort_places
#define ST_ELEMENT_TYPE Place
#define ST_COMPARE(a, b) compare_places(a, b)
#define ST_SCOPE static
#define ST_CHECK_FOR_INTERRUPTS
#define ST_DEFINE
#include "lib/sort_template.h"

/* One of the texts on the page */
typedef struct Side
{
	char		name;			/* 'a' or 'b' */
	char		other;			/* name of the other text */
	const ReadText *text;
	const char *title;			/* title in UTF-8 */
	size_t		title_len;
	Place	   *places;			/* passages and cases, in order */
	size_t		n;
	double		covered;		/* share of the text's words in passages */
} Side;

/* Languages */

/* Return the tag of a language in HTML; NULL if it has none. */
static const char *
language_tag(uint8 language)
{
	static const char *const tags[] = {
		NULL, "ar", "hy", "eu", "ca", "da", "nl", "en", "fi", "fr", "de", "el",
		"hi", "hu", "id", "ga", "it", "lt", "ne", "no", "en", "pt", "ro", "ru",
		"sr", "es", "sv", "ta", "tr", "yi", "uk", "fa", "et", "eo", "nl", "pl",
		"cs", "st", "de", "nl", "en",
	};

	return language < lengthof(tags) ? tags[language] : NULL;
}

/*
 * True if most letters at the beginning of a text are read from right to left.
 */
static bool
is_right_to_left(const ReadText *text)
{
	int32		n = Min(text->len, 4096);
	int32		i = 0;
	int			right = 0;

	while (i < n)
	{
		UChar32		c;
		UCharDirection direction;

		U8_NEXT(text->utf8, i, (int32) Min(text->len, 4100), c);
		direction = c < 0 ? U_OTHER_NEUTRAL : u_charDirection(c);
		if (direction == U_RIGHT_TO_LEFT ||
			direction == U_RIGHT_TO_LEFT_ARABIC)
			right++;
		else if (direction == U_LEFT_TO_RIGHT)
			right--;
	}
	return right > 0;
}

/* Texts */

/* Append the link from a passage or case to its place in the other text. */
static void
append_link(StringInfo out, const Side *side, const Place *place)
{
	const char *prefix = place->is_case ? "case-" : "";

	appendStringInfo(out, "<a id=\"%s%c%zu\" href=\"#%s%c%zu\" aria-label="
					 "\"%s %zu, to the other text\">%zu</a>",
					 prefix, side->name, place->number, prefix, side->other,
					 place->number,
					 place->is_case ? "Case" :
					 "Passage", place->number, place->number);
}

/* Begin the mark of a passage or a case. */
static void
begin_mark(StringInfo out, const Place *place)
{
	if (place->is_case)
		appendStringInfoString(out, "<mark class=\"case\">");
	else
		appendStringInfo(out, "<mark class=\"c%zu\">",
						 (place->number - 1) % PAGE_COLOURS);
}

/* A stack of passages or cases; below the top, some may have ended */
typedef struct OpenPlaces
{
	const Place **places;
	size_t		n;
} OpenPlaces;

/*
 * Pop places that have ended from the top, and return the top, or NULL.  Ended
 * places below the top stay, since there can be thousands.
 */
static const Place *
top_place(OpenPlaces *open, uint32 at)
{
	while (open->n > 0 && open->places[open->n - 1]->span.end <= at)
		open->n--;
	return open->n > 0 ? open->places[open->n - 1] : NULL;
}

/*
 * Append text from `at` to `stop`, marked as the top passage or, without one,
 * as the top case.  Returns where it ends.
 */
static uint32
append_up_to(StringInfo out, const Side *side, OpenPlaces *passages,
			 OpenPlaces *cases,
			 uint32 at, uint32 stop)
{
	while (at < stop)
	{
		const Place *top = top_place(passages, at);
		uint32		end = stop;

		if (top == NULL)
			top = top_place(cases, at);
		if (top != NULL)
		{
			end = Min(end, top->span.end);
			begin_mark(out, top);
		}
		Assert(end > at && end <= side->text->len);
		append_escaped(out, side->text->utf8 + at, end - at);
		if (top != NULL)
			appendStringInfoString(out, "</mark>");
		at = end;
	}
	return at;
}

/*
 * Append a text with its passages and cases marked, and their numbers where
 * they begin.
 */
static void
append_text(StringInfo out, const Side *side)
{
	size_t		size = (side->n + 1) * sizeof(Place *);
	OpenPlaces	passages = {palloc_extended(size, MCXT_ALLOC_HUGE), 0};
	OpenPlaces	cases = {palloc_extended(size, MCXT_ALLOC_HUGE), 0};
	uint32		at = 0;

	for (size_t i = 0; i < side->n; i++)
	{
		const Place *place = &side->places[i];
		OpenPlaces *open = place->is_case ? &cases : &passages;

		CHECK_FOR_INTERRUPTS();
		at = append_up_to(out, side, &passages, &cases, at, place->span.start);
		top_place(open, at);
		begin_mark(out, place);
		append_link(out, side, place);
		appendStringInfoString(out, "</mark>");
		open->places[open->n++] = place;
	}
	append_up_to(out, side, &passages, &cases, at, side->text->len);
	pfree(passages.places);
	pfree(cases.places);
}

/* Append a text and its title. */
static void
append_side(StringInfo out, const Side *side, const char *language)
{
	appendStringInfo(out, "<div>\n<h2 id=\"t%c\" dir=\"auto\">", side->name);
	append_escaped(out, side->title, side->title_len);
	appendStringInfo(out,
					 "</h2>\n<div class=\"text\" id=\"%c\" tabindex=\"0\" "
					 "role=\"region\" aria-labelledby=\"t%c\" dir=\"%s\"",
					 side->name, side->name,
					 is_right_to_left(side->text) ? "rtl" : "ltr");
	if (language != NULL)
		appendStringInfo(out, " lang=\"%s\"", language);
	appendStringInfoString(out, ">");
	append_text(out, side);
	appendStringInfoString(out, "</div>\n</div>\n");
}

/* The page */

/* Append how much of a text is in passages. */
static void
append_share(StringInfo out, const Side *side)
{
	appendStringInfo(out, "%.1f&nbsp;%% of <q><bdi>", 100 * side->covered);
	append_escaped(out, side->title, side->title_len);
	appendStringInfoString(out, "</bdi></q>");
}

/*
 * Append how many cases and passages there are, and how much of the texts is
 * in passages.
 */
static void
append_summary(StringInfo out, const Side *a, const Side *b, size_t ncases)
{
	size_t		npassages = a->n - ncases;

	Assert(a->n == b->n && a->n >= ncases);
	if (ncases > 0)
		appendStringInfo(out, "%zu %s, ", ncases, ncases == 1 ? "case" :
						 "cases");
	if (npassages == 0)
	{
		appendStringInfo(out, "%s passage in common.", ncases > 0 ? "no" :
						 "No");
		return;
	}
	appendStringInfo(out, "%zu %s: ", npassages, npassages == 1 ? "passage" :
					 "passages");
	append_share(out, a);
	appendStringInfoString(out, ", ");
	append_share(out, b);
	appendStringInfoString(out, ".");
}

/* Append what precedes the lists and the texts. */
static void
append_head(StringInfo out, const Side *a, const Side *b, size_t ncases)
{
	appendStringInfoString(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n"
						   "<meta charset=\"utf-8\">\n<meta name=\"viewport\" "
						   "content=\"width=device-width, initial-scale=1\">\n"
						   "<title>Shared passages: ");
	append_escaped(out, a->title, a->title_len);
	appendStringInfoString(out, " &mdash; ");
	append_escaped(out, b->title, b->title_len);
	appendStringInfo(out, "</title>\n<style>\n%s</style>\n</head>\n<body>\n"
					 "<header>\n<a class=\"skip\" href=\"#a\">To the texts</a>\n"
					 "<h1>Shared passages</h1>\n", page_style);
	appendStringInfoString(out, "<p>");
	append_summary(out, a, b, ncases);
	appendStringInfoString(out,
						   "</p>\n<p class=\"controls\" hidden><label><input type=\"checkbox\""
						   " id=\"together\" checked> Scroll together</label>"
						   " &middot; keys, in a text: n next passage, p the one before</p>\n"
						   "</header>\n<main>\n");
}

/* Return the number of passages that overlap a case in both texts. */
static size_t
count_passages_within(const Evidence *evidence, const Passage *outer)
{
	size_t		n = 0;

	for (size_t i = 0; i < evidence->npassages; i++)
	{
		const Passage *passage = &evidence->passages[i];

		n += passage->a_start < outer->a_end &&
			passage->a_end > outer->a_start &&
			passage->b_start < outer->b_end && passage->b_end > outer->b_start;
	}
	return n;
}

/* Append the table of cases. */
static void
append_cases(StringInfo out, const Evidence *evidence, const Evidence *cases)
{
	if (cases->npassages == 0)
		return;
	appendStringInfoString(out,
						   "<table>\n<tr><th scope=\"col\">Case</th><th scope=\"col\">"
						   "Passages in it</th><th scope=\"col\">Similarity</th>"
						   "<th scope=\"col\">Coverage</th></tr>\n");
	for (size_t i = 0; i < cases->npassages; i++)
	{
		const Passage *one = &cases->passages[i];

		CHECK_FOR_INTERRUPTS();
		appendStringInfo(out,
						 "<tr><td><a href=\"#case-a%zu\">%zu</a></td><td>%zu</td>"
						 "<td>%.2f</td><td>%.2f</td></tr>\n", i + 1, i + 1,
						 count_passages_within(evidence, one),
						 passage_similarity(one), passage_coverage(one));
	}
	appendStringInfoString(out, "</table>\n");
}

/* Append the table of passages. */
static void
append_list(StringInfo out, const Evidence *evidence)
{
	if (evidence->npassages == 0)
		return;
	appendStringInfoString(out,
						   "<details>\n<summary>List of passages</summary>\n"
						   "<div class=\"list\" tabindex=\"0\" role=\"region\" "
						   "aria-label=\"List of passages\">\n<table>\n<tr>"
						   "<th scope=\"col\">Passage</th><th scope=\"col\">"
						   "Words in common</th><th scope=\"col\">Similarity</th>"
						   "</tr>\n");
	for (size_t i = 0; i < evidence->npassages; i++)
	{
		const Passage *passage = &evidence->passages[i];

		CHECK_FOR_INTERRUPTS();
		appendStringInfo(out,
						 "<tr><td><a href=\"#a%zu\">%zu</a></td><td>%u</td>"
						 "<td>%.2f</td></tr>\n", i + 1, i + 1,
						 passage->matched, passage_similarity(passage));
	}
	appendStringInfoString(out, "</table>\n</div>\n</details>\n");
}

/* Add n passages or cases to a text, and number them from 1. */
static void
add_places(Side *side, const WordSpan *spans, size_t n, bool are_cases)
{
	for (size_t i = 0; i < n; i++)
		side->places[side->n++] = (Place)
	{
		spans[i], i + 1, are_cases
	};
}

/*
 * Prepare one of the texts on the page, with room for `room` passages and
 * cases.
 */
static void
set_side(Side *side, char name, const ReadText *text, size_t room,
		 const struct varlena *title)
{
	side->name = name;
	side->other = name == 'a' ? 'b' : 'a';
	side->text = text;

	side->title = text_as_utf8(title, &side->title_len);
	side->n = 0;
	side->places = palloc_extended((room + 1) * sizeof(Place),
								   MCXT_ALLOC_HUGE);
}

/*
 * passages_html(a text, b text, min_words int, max_gap int, a_title text,
 * b_title text, preset text, analysis text)
 */
Datum
passages_html(PG_FUNCTION_ARGS)
{
	CasePreset	preset = preset_named(PG_GETARG_TEXT_PP(6));
	Evidence   *cases = evidence_of_cases(fcinfo, 7, &preset);
	Evidence   *evidence = evidence_of_passages(fcinfo, 7);
	size_t		room = evidence->npassages + cases->npassages;
	const char *language = language_tag(evidence->language);
	Side		a;
	Side		b;
	StringInfoData out;
	text	   *result;

	set_side(&a, 'a', &evidence->a, room, PG_GETARG_TEXT_PP(4));
	set_side(&b, 'b', &evidence->b, room, PG_GETARG_TEXT_PP(5));
	add_places(&a, cases->a_spans, cases->npassages, true);
	add_places(&b, cases->b_spans, cases->npassages, true);
	add_places(&a, evidence->a_spans, evidence->npassages, false);
	add_places(&b, evidence->b_spans, evidence->npassages, false);
	sort_places(a.places, a.n);
	sort_places(b.places, b.n);
	evidence_coverage(evidence, &a.covered, &b.covered);
	initStringInfo(&out);
	append_head(&out, &a, &b, cases->npassages);
	append_cases(&out, evidence, cases);
	append_list(&out, evidence);
	appendStringInfoString(&out, "<div class=\"texts\">\n");
	append_side(&out, &a, language);
	append_side(&out, &b, language);
	appendStringInfo(&out, "</div>\n</main>\n<script>\n%s</script>\n</body>\n"
					 "</html>\n", page_script);
	MemoryContextSwitchTo(cases->caller);
	result = text_from_utf8(&out);
	MemoryContextSwitchTo(evidence->caller);
	evidence_end(evidence);
	evidence_end(cases);
	PG_RETURN_TEXT_P(result);
}
