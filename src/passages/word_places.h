/*
 * word_places.h
 *		Where the words of a text stand, in few bytes.
 */
#ifndef NEARDUP_WORD_PLACES_H
#define NEARDUP_WORD_PLACES_H

#include "text/words.h"

/* Number of words from one mark to the next. */
#define WORDS_PER_MARK	16

/* Where the next word's numbers are, and the place that it is counted from. */
typedef struct PlaceMark
{
	uint32 text;				/* end of the word before */
	uint32		bytes;
} PlaceMark;

/*
 * Of each word its distance from the end of the one before, and its length:
 * as a rule a byte each.
 */
typedef struct WordPlaces
{
	uint8	   *bytes;
	size_t		used;
	size_t		size;
	PlaceMark  *marks;
	size_t		marks_size;
	uint32		n;				/* words */
	uint32		end;			/* of the last one */
} WordPlaces;

/* Add the next n words, in the current memory context; all of it zero has no words. */
extern void word_places_add(WordPlaces *places, const WordSpan *spans,
							size_t n);

/* Free unused room. */
extern void word_places_finish(WordPlaces *places);

/* Where a word stands. */
extern WordSpan word_place(const WordPlaces *places, uint32 word);

/* Widen n places in a text where they would cut a grapheme. */
extern void spans_to_graphemes(const char *utf8, size_t len, WordSpan *spans,
							   size_t n);

/* The characters that begin in a stretch of UTF-8, and those that the server counts. */
extern uint32 count_characters(const char *start, const char *stop);
extern uint32 count_server_characters(const char *start, const char *stop);

/*
 * Convert places in bytes to places in characters, as the server counts them.
 */
extern void spans_to_characters(const char *utf8, WordSpan *spans, size_t n);

#endif							/* NEARDUP_WORD_PLACES_H */
