/*
 * passages_html.c
 *		SQL function: a page that shows two texts and what they have in common.
 *
 * The page needs nothing but itself.  A passage is marked in both texts with
 * one colour and one number, which is a link to its place in the other text.
 * Where passages overlap, the one that begins last is on top.
 */
#include "postgres.h"

#include <unicode/uchar.h>
#include <unicode/utf8.h>

#include "miscadmin.h"

#include "base/interrupts.h"
#include "passages/evidence.h"
#include "passages/marked_text.h"
#include "passages/page_parts.h"
#include "document/doc_context.h"
#include "text/languages.h"

PG_FUNCTION_INFO_V1(passages_html);

/* A passage in one of the texts. */
typedef struct Place
{
	WordSpan	span;
	size_t		number;			/* from 1 */
} Place;

static inline int
compare_places(const Place *a, const Place *b)
{
	if (a->span.start != b->span.start)
		return a->span.start < b->span.start ? -1 : 1;
	if (a->span.end != b->span.end)
		return a->span.end > b->span.end ? -1 : 1;
	return a->number < b->number ? -1 : a->number > b->number;
}

#define ST_SORT sort_places
#define ST_ELEMENT_TYPE Place
#define ST_COMPARE(a, b) compare_places(a, b)
#define ST_SCOPE static
#define ST_CHECK_FOR_INTERRUPTS
#define ST_DEFINE
#include "lib/sort_template.h"

/* One of the texts on the page. */
typedef struct Side
{
	char		name;			/* a or b */
	char		other;
	const ReadText *text;
	const char *title;			/* in UTF-8 */
	size_t		title_len;
	Place	   *places;			/* as they stand */
	size_t		n;
	double		covered;
} Side;

/* Languages */

/* As HTML names it, or NULL. */
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

/* Whether a text is read from right to left: most of its beginning is. */
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

/* The link of a passage to the other text, at its beginning. */
static void
append_link(StringInfo out, const Side *side, size_t number)
{
	appendStringInfo(out, "<a id=\"%c%zu\" href=\"#%c%zu\" aria-label="
					 "\"Passage %zu, to the other text\">%zu</a>",
					 side->name, number, side->other, number, number, number);
}

static void
begin_mark(StringInfo out, size_t number)
{
	appendStringInfo(out, "<mark class=\"c%zu\">",
					 (number - 1) % PAGE_COLOURS);
}

/*
 * The passages at a point of the text, that which began last at the end; below
 * it there may be some that have ended.
 */
typedef struct OpenPlaces
{
	const Place **places;
	size_t		n;
} OpenPlaces;

/*
 * Forgets those that have ended, down to the first that has not: it is on top,
 * and thousands can be below it.
 */
static void
close_places(OpenPlaces *open, uint32 at)
{
	while (open->n > 0 && open->places[open->n - 1]->span.end <= at)
		open->n--;
}

/* Text up to a point, on which that passage is which is on top. */
static uint32
append_up_to(StringInfo out, const Side *side, OpenPlaces *open, uint32 at,
			 uint32 stop)
{
	while (at < stop)
	{
		uint32		end = stop;

		close_places(open, at);
		if (open->n > 0)
			end = Min(end, open->places[open->n - 1]->span.end);
		if (open->n > 0)
			begin_mark(out, open->places[open->n - 1]->number);
		append_escaped(out, side->text->utf8 + at, end - at);
		if (open->n > 0)
			appendStringInfoString(out, "</mark>");
		at = end;
	}
	return at;
}

static void
append_text(StringInfo out, const Side *side)
{
	OpenPlaces	open = {palloc_extended((side->n + 1) * sizeof(Place *),
										MCXT_ALLOC_HUGE), 0};
	uint32		at = 0;

	for (size_t i = 0; i < side->n; i++)
	{
		const Place *place = &side->places[i];

		CHECK_FOR_INTERRUPTS();
		at = append_up_to(out, side, &open, at, place->span.start);
		close_places(&open, at);
		begin_mark(out, place->number);
		append_link(out, side, place->number);
		appendStringInfoString(out, "</mark>");
		open.places[open.n++] = place;
	}
	append_up_to(out, side, &open, at, side->text->len);
	pfree(open.places);
}

static void
append_side(StringInfo out, const Side *side, const char *language)
{
	appendStringInfo(out, "<div>\n<h2 id=\"t%c\" dir=\"auto\">", side->name);
	append_escaped(out, side->title, side->title_len);
	appendStringInfo(out, "</h2>\n<div class=\"text\" id=\"%c\" tabindex=\"0\" "
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

static void
append_share(StringInfo out, const Side *side)
{
	appendStringInfo(out, "%.1f&nbsp;%% of <q><bdi>", 100 * side->covered);
	append_escaped(out, side->title, side->title_len);
	appendStringInfoString(out, "</bdi></q>");
}

static void
append_head(StringInfo out, const Side *a, const Side *b)
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
	appendStringInfo(out, "<p>%zu %s: ", a->n,
					 a->n == 1 ? "passage" : "passages");
	append_share(out, a);
	appendStringInfoString(out, ", ");
	append_share(out, b);
	appendStringInfoString(out, ".</p>\n<p hidden><label><input type=\"checkbox\""
						   " id=\"together\" checked> Scroll together</label>"
						   " &middot; keys: n next passage, p the one before</p>\n"
						   "</header>\n<main>\n");
}

static void
append_list(StringInfo out, const Evidence *evidence)
{
	if (evidence->npassages == 0)
		return;
	appendStringInfoString(out, "<details>\n<summary>List of passages</summary>\n"
						   "<div class=\"list\" tabindex=\"0\" role=\"region\" "
						   "aria-label=\"List of passages\">\n<table>\n<tr>"
						   "<th scope=\"col\">Passage</th><th scope=\"col\">"
						   "Words in common</th><th scope=\"col\">Similarity</th>"
						   "</tr>\n");
	for (size_t i = 0; i < evidence->npassages; i++)
	{
		const Passage *passage = &evidence->passages[i];

		CHECK_FOR_INTERRUPTS();
		appendStringInfo(out, "<tr><td><a href=\"#a%zu\">%zu</a></td><td>%u</td>"
						 "<td>%.2f</td></tr>\n", i + 1, i + 1,
						 passage->matched, passage_similarity(passage));
	}
	appendStringInfoString(out, "</table>\n</div>\n</details>\n");
}

static void
set_side(Side *side, char name, const ReadText *text, const WordSpan *spans,
		 size_t n, const struct varlena *title)
{
	side->name = name;
	side->other = name == 'a' ? 'b' : 'a';
	side->text = text;
	side->title = text_as_utf8(title, &side->title_len);
	side->n = n;
	side->places = palloc_extended((n + 1) * sizeof(Place), MCXT_ALLOC_HUGE);
	for (size_t i = 0; i < n; i++)
		side->places[i] = (Place){spans[i], i + 1};
	sort_places(side->places, n);
}

/*
 * passages_html(a text, b text, analysis text, min_words int, max_gap int,
 * a_title text, b_title text)
 */
Datum
passages_html(PG_FUNCTION_ARGS)
{
	Evidence   *evidence = evidence_begin(fcinfo);
	const char *language = language_tag(evidence->language);
	Side		a;
	Side		b;
	StringInfoData out;
	text	   *result;

	set_side(&a, 'a', &evidence->a, evidence->a_spans, evidence->npassages,
			 PG_GETARG_TEXT_PP(5));
	set_side(&b, 'b', &evidence->b, evidence->b_spans, evidence->npassages,
			 PG_GETARG_TEXT_PP(6));
	evidence_coverage(evidence, &a.covered, &b.covered);
	initStringInfo(&out);
	append_head(&out, &a, &b);
	append_list(&out, evidence);
	appendStringInfoString(&out, "<div class=\"texts\">\n");
	append_side(&out, &a, language);
	append_side(&out, &b, language);
	appendStringInfo(&out, "</div>\n</main>\n<script>\n%s</script>\n</body>\n"
					 "</html>\n", page_script);
	MemoryContextSwitchTo(evidence->caller);
	result = text_from_utf8(&out);
	evidence_end(evidence);
	PG_RETURN_TEXT_P(result);
}
