/*
 * word_places.c
 *		Stores the places of a text's words, compressed.
 *
 * A number is written in groups of 7 bits, the lowest first; in all bytes but
 * the last the highest bit is set.  Distances have a sign, in their lowest
 * bit, since a word may begin before the end of the word before it: one
 * ligature can stand for two words.  Each 16th word has a mark, from which the
 * others are decoded.
 *
 * A grapheme, which a reader sees as one character, may extend beyond a word.
 * ICU finds graphemes, unless both neighbours of a place are plain ASCII.
 */
#include "postgres.h"

#include <unicode/ubrk.h>
#include <unicode/utext.h>

#include "mb/pg_wchar.h"
#include "miscadmin.h"

#include "base/memory.h"
#include "base/sort_uint64.h"
#include "passages/word_places.h"
#include "text/letters.h"

#define BYTES_MAX	10			/* maximum bytes of a word, which has two
								 * numbers */

/*
 * Write a number, seven bits a byte, the lowest first; return the place behind
 * it.
 */
static inline uint8 *
put_number(uint8 *at, uint32 number)
{
	for (; number >= 0x80; number >>= 7)
		*at++ = number | 0x80;
	*at++ = number;
	return at;
}

/* Read a number that put_number() wrote; return the place behind it. */
static inline const uint8 *
get_number(const uint8 *at, uint32 *number)
{
	*number = *at & 0x7F;
	for (int shift = 7; *at++ & 0x80; shift += 7)
		*number |= (uint32) (*at & 0x7F) << shift;
	return at;
}

/*
 * Return a signed distance as a number: 0, -1, 1, -2, ... become 0, 1, 2, 3,
 * ...
 */
static inline uint32
from_signed(uint32 distance)
{
	return (distance << 1) ^ -(distance >> 31);
}

/* Undo from_signed(). */
static inline uint32
to_signed(uint32 number)
{
	return (number >> 1) ^ -(number & 1);
}

/* Add a mark at the next word. */
static void
add_mark(WordPlaces *places)
{
	uint32		mark = places->n / WORDS_PER_MARK;

	places->marks = growing_reserve(places->marks, &places->marks_size,
									mark + 1, sizeof(PlaceMark));
	places->marks[mark] = (PlaceMark)
	{
		places->end, places->used
	};
}

void
word_places_add(WordPlaces *places, const WordSpan *spans, size_t n)
{
	uint8	   *at;

	places->bytes = growing_reserve(places->bytes, &places->size,
									places->used + n * BYTES_MAX, 1);
	for (size_t i = 0; i < n; i++)
	{
		if (places->n % WORDS_PER_MARK == 0)
			add_mark(places);
		at = places->bytes + places->used;
		at = put_number(at, from_signed(spans[i].start - places->end));
		at = put_number(at, spans[i].end - spans[i].start);
		places->used = at - places->bytes;
		places->end = spans[i].end;
		places->n++;
	}
}

void
word_places_finish(WordPlaces *places)
{
	size_t		marks = (places->n + WORDS_PER_MARK - 1) / WORDS_PER_MARK;

	if (places->n == 0)
		return;
	places->bytes = repalloc_huge(places->bytes, places->used);
	places->marks = repalloc_huge(places->marks, marks * sizeof(PlaceMark));
	places->size = places->used;
	places->marks_size = marks;
}

WordSpan
word_place(const WordPlaces *places, uint32 word)
{
	const PlaceMark *mark = &places->marks[word / WORDS_PER_MARK];
	const uint8 *at = places->bytes + mark->bytes;
	WordSpan	span = {0, mark->text};

	Assert(word < places->n);
	for (uint32 i = word / WORDS_PER_MARK * WORDS_PER_MARK; i <= word; i++)
	{
		uint32		distance;
		uint32		length;

		at = get_number(get_number(at, &distance), &length);
		span.start = span.end + to_signed(distance);
		span.end = span.start + length;
	}
	return span;
}

/* Graphemes */

/* ICU's iterator over the graphemes of a text, opened when it is first used */
typedef struct Graphemes
{
	const char *utf8;
	size_t		len;
	UText	   *text;
	UBreakIterator *breaks;
	MemoryContextCallback callback;
} Graphemes;

/* Memory context callback: free what ICU holds. */
static void
graphemes_close(void *arg)
{
	Graphemes  *graphemes = arg;

	if (graphemes->breaks != NULL)
		ubrk_close(graphemes->breaks);
	utext_close(graphemes->text);	/* NULL is allowed */
	graphemes->breaks = NULL;
	graphemes->text = NULL;
}

/* Open the iterator over the graphemes of the text. */
static void
open_breaks(Graphemes *graphemes)
{
	UErrorCode	status = U_ZERO_ERROR;

	graphemes->text = utext_openUTF8(NULL, graphemes->utf8, graphemes->len,
									 &status);
	icu_require(status, "break text into characters");
	graphemes->breaks = ubrk_open(UBRK_CHARACTER, "", NULL, 0, &status);
	if (U_FAILURE(status))
		graphemes->breaks = NULL;
	icu_require(status, "break text into characters");
	ubrk_setUText(graphemes->breaks, graphemes->text, &status);
	icu_require(status, "break text into characters");
}

/* True if a place is certainly between two graphemes. */
static bool
is_plain(const Graphemes *graphemes, uint32 place)
{
	const unsigned char *p = (const unsigned char *) graphemes->utf8 + place;

	return place == 0 || place == graphemes->len ||
		(p[-1] < 0x80 && p[0] < 0x80 && p[-1] != '\r');
}

/* True if a place is within a grapheme. */
static bool
cuts(Graphemes *graphemes, uint32 place)
{
	if (is_plain(graphemes, place))
		return false;
	if (graphemes->breaks == NULL)
		open_breaks(graphemes);
	return !ubrk_isBoundary(graphemes->breaks, place);
}

void
spans_to_graphemes(const char *utf8, size_t len, WordSpan *spans, size_t n)
{
	Graphemes  *graphemes = palloc0(sizeof(Graphemes));

	graphemes->utf8 = utf8;
	graphemes->len = len;
	graphemes->callback.func = graphemes_close;
	graphemes->callback.arg = graphemes;
	MemoryContextRegisterResetCallback(CurrentMemoryContext,
									   &graphemes->callback);
	for (size_t i = 0; i < n; i++)
	{
		if (i % 1024 == 0)
			CHECK_FOR_INTERRUPTS();
		if (cuts(graphemes, spans[i].start))
			spans[i].start = ubrk_preceding(graphemes->breaks, spans[i].start);
		if (cuts(graphemes, spans[i].end))
			spans[i].end = ubrk_following(graphemes->breaks, spans[i].end);
	}
	graphemes_close(graphemes);
}

/* Characters */

uint32
count_characters(const char *start, const char *stop)
{
	uint32		n = 0;

	for (const char *p = start; p < stop; p++)
		n += (*p & 0xC0) != 0x80;
	return n;
}

/*
 * In EUC_JIS_2004 some single characters are a letter and a mark in Unicode.
 */
uint32
count_server_characters(const char *start, const char *stop)
{
	char	   *server;
	uint32		n;

	if (GetDatabaseEncoding() == PG_SQL_ASCII)
		return stop - start;
	if (GetDatabaseEncoding() != PG_EUC_JIS_2004 || start == stop)
		return count_characters(start, stop);
	server = pg_any_to_server(start, stop - start, PG_UTF8);
	n = pg_mbstrlen(server);
	pfree(server);
	return n;
}

void
spans_to_characters(const char *utf8, WordSpan *spans, size_t n)
{
	uint64	   *places;			/* place << 32 | number of the start or end */
	uint32		at = 0;
	uint32		characters = 0;

	/* the characters of SQL_ASCII are bytes */
	if (GetDatabaseEncoding() == PG_SQL_ASCII || n == 0)
		return;
	places = MemoryContextAllocHuge(CurrentMemoryContext,
									2 * n * sizeof(uint64));
	for (size_t i = 0; i < n; i++)
	{
		places[2 * i] = (uint64) spans[i].start << 32 | (2 * i);
		places[2 * i + 1] = (uint64) spans[i].end << 32 | (2 * i + 1);
	}
	sort_hashes(places, 2 * n);
	for (size_t i = 0; i < 2 * n; i++)
	{
		WordSpan   *span = &spans[(uint32) places[i] / 2];
		uint32		place = places[i] >> 32;

		characters += count_server_characters(utf8 + at, utf8 + place);
		at = place;
		*((uint32) places[i] % 2 == 0 ? &span->start :
		  &span->end) = characters;
	}
	pfree(places);
}
