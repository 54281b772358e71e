/*
 * word_places.h
 *		Where the words of a text stand, in few bytes.
 */
#ifndef NEARDUP_WORD_PLACES_H
#define NEARDUP_WORD_PLACES_H

#include "text/words.h"

/* So many words follow each other without a mark. */
#define WORDS_PER_MARK	16

/* Where the next word is written down, and from where its place is counted. */
typedef struct PlaceMark
{
	uint32		text;			/* end of the word before */
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

/* None yet; in the current memory context. */
extern void word_places_init(WordPlaces *places);

/* Adds the next n words. */
extern void word_places_add(WordPlaces *places, const WordSpan *spans,
							size_t n);

/* Gives back what room is left. */
extern void word_places_finish(WordPlaces *places);

/* Where a word stands. */
extern WordSpan word_place(const WordPlaces *places, uint32 word);

/* Widens places in a text, *n of them, where they would cut a grapheme. */
extern void spans_to_graphemes(const char *utf8, size_t len, WordSpan *spans,
							   size_t n);

/* The characters that begin in a stretch of UTF-8, and those that the server counts. */
extern uint32 count_characters(const char *start, const char *stop);
extern uint32 count_server_characters(const char *start, const char *stop);

/*
 * Makes places in characters of places in bytes, as the server counts
 * characters.
 */
extern void spans_to_characters(const char *utf8, WordSpan *spans, size_t n);

#endif							/* NEARDUP_WORD_PLACES_H */
