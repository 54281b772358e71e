/*
 * graphemes.c
 *		Places in a text, in bytes, widened to whole graphemes and told in
 *		characters.
 *
 * A word ends behind what belongs to its letters, but what a reader sees as one
 * character may begin or go on outside of words.  ICU tells, but where both
 * neighbours of a place are plain ASCII.
 */
#include "postgres.h"

#include <unicode/ubrk.h>
#include <unicode/utext.h>

#include "mb/pg_wchar.h"
#include "miscadmin.h"

#include "passages/evidence.h"
#include "text/icu_status.h"

/* ICU's, of a text; opened when first needed. */
typedef struct Graphemes
{
	const char *utf8;
	size_t		len;
	UText	   *text;
	UBreakIterator *breaks;
	MemoryContextCallback callback;
} Graphemes;

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

/* Whether a text can be cut at a place without asking. */
static bool
is_plain(const Graphemes *graphemes, uint32 place)
{
	const unsigned char *p = (const unsigned char *) graphemes->utf8 + place;

	return place == 0 || place == graphemes->len ||
		(p[-1] < 0x80 && p[0] < 0x80 && p[-1] != '\r');
}

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

/* What is sorted is pointers to places. */
typedef uint32 *PlaceAt;

static inline int
compare_places(const PlaceAt *a, const PlaceAt *b)
{
	return **a < **b ? -1 : **a > **b;
}

#define ST_SORT sort_places
#define ST_ELEMENT_TYPE PlaceAt
#define ST_COMPARE(a, b) compare_places(a, b)
#define ST_SCOPE static
#define ST_CHECK_FOR_INTERRUPTS
#define ST_DEFINE
#include "lib/sort_template.h"

uint32
count_characters(const char *start, const char *stop)
{
	uint32		n = 0;

	for (const char *p = start; p < stop; p++)
		n += (*p & 0xC0) != 0x80;
	return n;
}

/*
 * Characters as the server counts them.  One encoding has single ones for what
 * is a letter and a mark in Unicode.
 */
static uint32
count_server_characters(const char *start, const char *stop)
{
	char	   *server;
	uint32		n;

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
	PlaceAt    *places;
	uint32		at = 0;
	uint32		characters = 0;

	/* where bytes are all that the server knows */
	if (GetDatabaseEncoding() == PG_SQL_ASCII || n == 0)
		return;
	places = MemoryContextAllocHuge(CurrentMemoryContext,
									2 * n * sizeof(PlaceAt));
	for (size_t i = 0; i < n; i++)
	{
		places[2 * i] = &spans[i].start;
		places[2 * i + 1] = &spans[i].end;
	}
	sort_places(places, 2 * n);
	for (size_t i = 0; i < 2 * n; i++)
	{
		uint32		place = *places[i];

		characters += count_server_characters(utf8 + at, utf8 + place);
		at = place;
		*places[i] = characters;
	}
	pfree(places);
}
