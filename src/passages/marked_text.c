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
 * other text.  Passages that begin at one place have one number there, since a
 * phrase may recur thousands of times in the other text.  Words that are in a
 * passage, but in none of the runs that the texts have in common, are marked.
 * Where passages overlap, the one that begins last is on top.  The page can be
 * read without its script, which only scrolls: one text along with the other,
 * to the next passage (n) and the previous one (p), and from a number that
 * stands for several places to each in turn.  Text has a contrast of at least
 * 7 to 1 on all colours, in light and dark mode.  Colours recur, so passages
 * have numbers, too.
 */
#include "postgres.h"

#include <unicode/uscript.h>
#include <unicode/utf8.h>

#include "commands/defrem.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "nodes/parsenodes.h"
#include "utils/builtins.h"

#include "base/call.h"
#include "base/interrupts.h"
#include "base/memory.h"
#include "base/sort_uint64.h"
#include "document/doc_context.h"
#include "passages/differing_words.h"
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
	uint32		last;			/* word after the last one */
	WordSpan	span;			/* bytes of the words */
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
	Evidence   *evidence = evidence_of_passages(fcinfo, 5, false);
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

/* Places of the page: passages, and cases */
typedef enum PlaceKind
{
	PLACE_CASE, PLACE_PASSAGE, PLACE_KINDS
} PlaceKind;

/* A passage or a case in one of the texts */
typedef struct Place
{
	WordSpan	span;
	size_t		number;			/* number of the case or the passage, from 1 */
	PlaceKind	kind;
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
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
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
	const struct Side *other;
	const ReadText *text;
	const char *title;			/* title in UTF-8 */
	size_t		title_len;
	Place	   *places;			/* passages and cases, in order */
	size_t		n;
	size_t	   *shown_as[PLACE_KINDS];	/* number that stands for each passage
										 * or case, by its number */
	WordSpan   *differing;		/* words that differ within passages */
	size_t		ndiffering;
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
 * Return the script of most characters at the beginning of a text, and
 * Hiragana for Japanese, which has Chinese characters, too.  Returns
 * USCRIPT_COMMON if there are none of a script.
 */
static UScriptCode
main_script(const ReadText *text)
{
	uint16		counts[USCRIPT_CODE_LIMIT] = {0};
	int32		n = Min(text->len, 4096);
	int32		i = 0;
	int			best = USCRIPT_COMMON;

	while (i < n)
	{
		UErrorCode	status = U_ZERO_ERROR;
		UChar32		c;
		int			script;

		U8_NEXT(text->utf8, i, (int32) Min(text->len, 4100), c);
		script = c < 0 ? USCRIPT_COMMON : uscript_getScript(c, &status);
		if (script > USCRIPT_INHERITED && script < USCRIPT_CODE_LIMIT)
			counts[script]++;
	}
	for (int script = 0; script < USCRIPT_CODE_LIMIT; script++)
		if (counts[script] > counts[best])
			best = script;
	if (best == USCRIPT_KATAKANA ||
		(best == USCRIPT_HAN && counts[USCRIPT_HIRAGANA] > counts[best] / 8))
		return USCRIPT_HIRAGANA;
	return (UScriptCode) best;
}

/* True if a language is written in a script. */
static bool
is_script_of(UScriptCode script, const char *language)
{
	UScriptCode scripts[8];
	UErrorCode	status = U_ZERO_ERROR;
	int			n = uscript_getCode(language, scripts, lengthof(scripts),
									&status);

	for (int i = 0; U_SUCCESS(status) && i < n; i++)
		if (scripts[i] == script)
			return true;
	return false;
}

/*
 * Append the language of a text: the language of the analysis if the text is in
 * its script, or the one that nearly all texts in the script have, or an
 * unknown one in this script.
 */
static void
append_language(StringInfo out, UScriptCode script, const char *language)
{
	static const char *const languages[] = {
		"zh", "ja", "ko", "th", "el", "he", "hy", "ka"
	};

	if (language != NULL && is_script_of(script, language))
	{
		appendStringInfoString(out, language);
		return;
	}
	for (size_t i = 0; i < lengthof(languages); i++)
		if (is_script_of(script, languages[i]))
		{
			appendStringInfoString(out, languages[i]);
			return;
		}
	appendStringInfoString(out, "und");
	if (script > USCRIPT_INHERITED)
		appendStringInfo(out, "-%s", uscript_getShortName(script));
}

/* Texts */

/* True if a passage or a case has a number of its own in a text. */
static inline bool
has_number(const Side *side, const Place *place)
{
	return side->shown_as[place->kind][place->number] == place->number;
}

/*
 * Return the next passage, or case, that begins where a place does and has its
 * number; NULL if there is none.
 */
static const Place *
next_together(const Side *side, const Place *place)
{
	const Place *end = side->places + side->n;

	for (const Place *next = place + 1;
		 next < end && next->span.start == place->span.start; next++)
		if (next->kind == place->kind)
			return next;
	return NULL;
}

/*
 * Append the number that a place has, and how many passages or cases it stands
 * for, if not for one.
 */
static void
append_number(StringInfo out, const Side *side, const Place *place)
{
	size_t		count = 0;

	appendStringInfo(out, "%zu", place->number);
	for (const Place *one = place; one != NULL; one = next_together(side, one))
		count++;
	if (count > 1)
		appendStringInfo(out, " &times;%zu", count);
}

/* Append the numbers of the other text that a number links to, if several. */
static void
append_targets(StringInfo out, const Side *side, const Place *place)
{
	const size_t *shown_as = side->other->shown_as[place->kind];

	if (next_together(side, place) == NULL)
		return;
	appendStringInfoString(out, " data-to=\"");
	for (const Place *one = place; one != NULL; one = next_together(side, one))
		appendStringInfo(out, "%s%zu", one == place ? "" : " ",
						 shown_as[one->number]);
	appendStringInfoString(out, "\"");
}

/*
 * Append the number of a place, a link to the other text.  If it stands for
 * several, the script goes to each in turn.
 */
static void
append_link(StringInfo out, const Side *side, const Place *place)
{
	const char *prefix = place->kind == PLACE_CASE ? "case-" : "";

	appendStringInfo(out, "<a id=\"%s%c%zu\" href=\"#%s%c%zu\"", prefix,
					 side->name, place->number, prefix, side->other->name,
					 side->other->shown_as[place->kind][place->number]);
	append_targets(out, side, place);
	appendStringInfo(out, " aria-label=\"%s ",
					 place->kind == PLACE_CASE ? "Case" : "Passage");
	append_number(out, side, place);
	appendStringInfoString(out, ", to the other text\">");
	append_number(out, side, place);
	appendStringInfoString(out, "</a>");
}

/* Begin the mark of a passage or a case. */
static void
begin_mark(StringInfo out, const Place *place)
{
	if (place->kind == PLACE_CASE)
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

/* Where a text is appended */
typedef struct TextWriter
{
	StringInfo	out;
	const Side *side;
	OpenPlaces	open[PLACE_KINDS];
	uint32		at;				/* the bytes before it have been appended */
	size_t		differing;		/* the first span of differing words that may
								 * reach behind `at` */
} TextWriter;

/* Append the text of a passage up to `end`, with the words that differ. */
static void
append_passage_text(TextWriter *writer, uint32 end)
{
	const Side *side = writer->side;
	const char *utf8 = side->text->utf8;

	while (writer->at < end)
	{
		const WordSpan *span = &side->differing[writer->differing];
		uint32		start = writer->differing < side->ndiffering ?
		Min(Max(span->start, writer->at), end) : end;

		append_escaped(writer->out, utf8 + writer->at, start - writer->at);
		writer->at = start;
		if (start == end)
			break;
		if (span->end > start)
		{
			writer->at = Min(span->end, end);
			appendStringInfoString(writer->out, "<u>");
			append_escaped(writer->out, utf8 + start, writer->at - start);
			appendStringInfoString(writer->out, "</u>");
		}
		writer->differing += span->end <= writer->at;
	}
}

/*
 * Append text up to `stop`, marked as the top passage or, without one, as the
 * top case.
 */
static void
append_up_to(TextWriter *writer, uint32 stop)
{
	while (writer->at < stop)
	{
		const Place *passage = top_place(&writer->open[PLACE_PASSAGE],
										 writer->at);
		const Place *top = passage != NULL ? passage :
		top_place(&writer->open[PLACE_CASE], writer->at);
		uint32		end = top != NULL ? Min(stop, top->span.end) : stop;

		Assert(end > writer->at && end <= writer->side->text->len);
		if (top != NULL)
			begin_mark(writer->out, top);
		if (passage != NULL)
			append_passage_text(writer, end);
		else
			append_escaped(writer->out, writer->side->text->utf8 + writer->at,
						   end - writer->at);
		if (top != NULL)
			appendStringInfoString(writer->out, "</mark>");
		writer->at = end;
	}
}

/*
 * Append a text with its passages and cases marked, and their numbers where
 * they begin.
 */
static void
append_text(StringInfo out, const Side *side)
{
	TextWriter	writer = {.out = out,.side = side};

	for (int kind = 0; kind < PLACE_KINDS; kind++)
		writer.open[kind].places = palloc_huge(side->n, sizeof(Place *));
	for (size_t i = 0; i < side->n; i++)
	{
		const Place *place = &side->places[i];
		OpenPlaces *open = &writer.open[place->kind];

		Assert(place->kind < PLACE_KINDS && open->places != NULL);
		CHECK_FOR_INTERRUPTS();
		append_up_to(&writer, place->span.start);
		top_place(open, writer.at);
		if (!has_number(side, place))
			continue;
		begin_mark(out, place);
		append_link(out, side, place);
		appendStringInfoString(out, "</mark>");
		open->places[open->n++] = place;
	}
	append_up_to(&writer, side->text->len);
	for (int kind = 0; kind < PLACE_KINDS; kind++)
		pfree(writer.open[kind].places);
}

/* Append a text and its title. */
static void
append_side(StringInfo out, const Side *side, const char *language)
{
	UScriptCode script = main_script(side->text);

	appendStringInfo(out, "<div>\n<h2 id=\"t%c\" dir=\"auto\">", side->name);
	append_escaped(out, side->title, side->title_len);
	appendStringInfo(out,
					 "</h2>\n<div class=\"text\" id=\"%c\" tabindex=\"0\" "
					 "role=\"region\" aria-labelledby=\"t%c\" dir=\"%s\" lang=\"",
					 side->name, side->name,
					 uscript_isRightToLeft(script) ? "rtl" : "ltr");
	append_language(out, script, language);
	appendStringInfoString(out, "\">");
	append_text(out, side);
	appendStringInfoString(out, "</div>\n</div>\n");
}

/* The page */

/* Append the title of a text. */
static void
append_title(StringInfo out, const Side *side)
{
	appendStringInfoString(out, "<q><bdi>");
	append_escaped(out, side->title, side->title_len);
	appendStringInfoString(out, "</bdi></q>");
}

/* Append how much of a text is in passages. */
static void
append_share(StringInfo out, const Side *side)
{
	appendStringInfo(out, "%.1f&nbsp;%% of ", 100 * side->covered);
	append_title(out, side);
}

/*
 * Append, in sentences, how many cases and passages there are, and how much of
 * the texts is in passages.
 */
static void
append_summary(StringInfo out, const Side *a, const Side *b, size_t ncases,
			   size_t npassages)
{
	append_title(out, a);
	appendStringInfoString(out, " and ");
	append_title(out, b);
	if (npassages > 0)
		appendStringInfo(out, " have %zu %s in common: ", npassages,
						 npassages == 1 ? "passage" : "passages");
	else
		appendStringInfoString(out, " have no passage in common");
	if (npassages > 0)
	{
		append_share(out, a);
		appendStringInfoString(out, ", ");
		append_share(out, b);
	}
	appendStringInfoString(out, ".");
	if (ncases > 0)
		appendStringInfo(out, " %zu %s found.", ncases, ncases == 1 ?
						 "case was" : "cases were");
}

/* Append what precedes the lists and the texts. */
static void
append_head(StringInfo out, const Side *a, const Side *b, size_t ncases,
			size_t npassages)
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
	append_summary(out, a, b, ncases, npassages);
	appendStringInfoString(out,
						   "</p>\n<p class=\"controls\" hidden><label><input type=\"checkbox\""
						   " id=\"together\" checked> Scroll together</label>"
						   " &middot; keys, in a text: n next passage, p the one before");
	if (npassages > 0)
		appendStringInfoString(out, " &middot; <mark class=\"c0\"><u>words that "
							   "differ</u></mark>");
	appendStringInfoString(out, "</p>\n</header>\n<main>\n");
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
						   "<p id=\"cases\">A case, with dots below, is copied text "
						   "and what was changed in it. Similarity: the share of "
						   "its words that both texts have; coverage: the same in "
						   "the text where it is shorter.</p>\n"
						   "<table aria-describedby=\"cases\">\n"
						   "<tr><th scope=\"col\">Case</th><th scope=\"col\">"
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

/* Append the table of passages: a row for each place of the first text. */
static void
append_list(StringInfo out, const Evidence *evidence, const Side *a)
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
	for (size_t i = 0; i < a->n; i++)
	{
		const Place *place = &a->places[i];
		const Passage *passage = &evidence->passages[place->number - 1];

		CHECK_FOR_INTERRUPTS();
		if (place->kind != PLACE_PASSAGE || !has_number(a, place))
			continue;
		appendStringInfo(out, "<tr><td><a href=\"#a%zu\">", place->number);
		append_number(out, a, place);
		appendStringInfo(out, "</a></td><td>%u</td><td>%.2f</td></tr>\n",
						 passage->matched, passage_similarity(passage));
	}
	appendStringInfoString(out, "</table>\n</div>\n</details>\n");
}

/* Places */

/* Add n passages or cases, numbered from 1, to a text. */
static void
add_places(Side *side, const WordSpan *spans, size_t n, PlaceKind kind)
{
	for (size_t i = 0; i < n; i++)
		side->places[side->n++] = (Place)
	{
		spans[i], i + 1, kind
	};
	side->shown_as[kind] = palloc_huge(n + 1, sizeof(size_t));
}

/*
 * Sort the places of a text, and number them: the first of one kind that begin
 * together stands for all, and is the longest.
 */
static void
settle_places(Side *side)
{
	const Place *first[PLACE_KINDS] = {NULL, NULL};

	sort_places(side->places, side->n);
	for (size_t i = 0; i < side->n; i++)
	{
		const Place *place = &side->places[i];

		CHECK_EVERY(i);
		if (first[place->kind] == NULL ||
			first[place->kind]->span.start != place->span.start)
			first[place->kind] = place;
		side->shown_as[place->kind][place->number] =
			first[place->kind]->number;
	}
}

/* Prepare one of the texts on the page. */
static void
set_side(Side *side, char name, const Side *other, const ReadText *text,
		 const struct varlena *title)
{
	memset(side, 0, sizeof(Side));
	side->name = name;
	side->other = other;
	side->text = text;

	side->title = text_as_utf8(title, &side->title_len);
}

/* Add the passages and the cases of a text. */
static void
set_places(Side *side, const WordSpan *passages, size_t npassages,
		   const WordSpan *cases, size_t ncases)
{
	side->places = palloc_huge(npassages + ncases, sizeof(Place));
	add_places(side, cases, ncases, PLACE_CASE);
	add_places(side, passages, npassages, PLACE_PASSAGE);
	settle_places(side);
}

/* Set the words of a text that differ within passages, by their marks. */
static void
set_differing(Side *side, const uint8 *marks)
{
	size_t		room = 0;

	for (uint32 i = 0; i < side->text->nwords; i++)
	{
		CHECK_EVERY(i);
		if (marks[i] != WORD_DIFFERS)
			continue;
		if (i > 0 && marks[i - 1] == WORD_DIFFERS)
		{
			side->differing[side->ndiffering - 1].end = i + 1;
			continue;
		}
		side->differing = growing_reserve(side->differing, &room,
										  side->ndiffering + 1,
										  sizeof(WordSpan));
		side->differing[side->ndiffering++] = (WordSpan)
		{
			i, i + 1
		};
	}
	text_place_spans(side->text, side->differing, side->ndiffering);
}

/* Find the words of both texts that differ within passages. */
static void
find_differing(Side *a, Side *b, const Evidence *evidence)
{
	uint8	   *a_marks = palloc_extended(a->text->nwords + 1,
										  MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	uint8	   *b_marks = palloc_extended(b->text->nwords + 1,
										  MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);

	for (size_t i = 0; i < evidence->npassages; i++)
	{
		CHECK_FOR_INTERRUPTS();
		mark_passage_words(a->text->hashes, b->text->hashes,
						   &evidence->passages[i], &evidence->rules, a_marks,
						   b_marks);
	}
	set_differing(a, a_marks);
	set_differing(b, b_marks);
	pfree(a_marks);
	pfree(b_marks);
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
	Evidence   *evidence = evidence_of_passages(fcinfo, 7, true);
	const char *language = language_tag(evidence->language);
	Side		a;
	Side		b;
	StringInfoData out;
	text	   *result;

	set_side(&a, 'a', &b, &evidence->a, PG_GETARG_TEXT_PP(4));
	set_side(&b, 'b', &a, &evidence->b, PG_GETARG_TEXT_PP(5));
	set_places(&a, evidence->a_spans, evidence->npassages, cases->a_spans,
			   cases->npassages);
	set_places(&b, evidence->b_spans, evidence->npassages, cases->b_spans,
			   cases->npassages);
	find_differing(&a, &b, evidence);
	evidence_coverage(evidence, &a.covered, &b.covered);
	initStringInfo(&out);
	append_head(&out, &a, &b, cases->npassages, evidence->npassages);
	append_cases(&out, evidence, cases);
	append_list(&out, evidence, &a);
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
