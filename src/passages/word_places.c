/*
 * word_places.c
 *		Where the words of a text stand, in few bytes.
 *
 * A number is written in groups of 7 bits, the lowest first, of which all but
 * the last have the highest bit set.  A word may begin before the one before
 * ends, as those do that a ligature stands for: so distances have a sign, in
 * their lowest bit.  Each 16th word has a mark, from which the others are
 * counted.
 */
#include "postgres.h"

#include "base/memory.h"
#include "passages/word_places.h"

#define BYTES_MAX	10			/* of a word: two numbers of 32 bits */

void
word_places_init(WordPlaces *places)
{
	memset(places, 0, sizeof(WordPlaces));
}

static inline uint8 *
put_number(uint8 *at, uint32 number)
{
	for (; number >= 0x80; number >>= 7)
		*at++ = number | 0x80;
	*at++ = number;
	return at;
}

static inline const uint8 *
get_number(const uint8 *at, uint32 *number)
{
	*number = *at & 0x7F;
	for (int shift = 7; *at++ & 0x80; shift += 7)
		*number |= (uint32) (*at & 0x7F) << shift;
	return at;
}

/* Distances of both signs as numbers: 0, -1, 1, -2, ... */
static inline uint32
from_signed(uint32 distance)
{
	return (distance << 1) ^ -(distance >> 31);
}

static inline uint32
to_signed(uint32 number)
{
	return (number >> 1) ^ -(number & 1);
}

static void
add_mark(WordPlaces *places)
{
	uint32		mark = places->n / WORDS_PER_MARK;

	places->marks = growing_reserve(places->marks, &places->marks_size,
									mark + 1, sizeof(PlaceMark));
	places->marks[mark] = (PlaceMark){places->end, places->used};
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
