/*
 * word_places.h
 *		The places of a text's words, compressed.
 */
#ifndef NEARDUP_WORD_PLACES_H
#define NEARDUP_WORD_PLACES_H

#include "text/words.h"

/* Words from one mark to the next */
#define WORDS_PER_MARK	16

/* The state before the next word. */
typedef struct PlaceMark
{
	uint32 text;				/* end of the word before */
	uint32		bytes;			/* offset of the next word's numbers */
} PlaceMark;

/*
 * For each word its distance from the end of the one before, and its length,
 * mostly in a byte each.
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

/*
 * Add the next n words, in the current memory context.  Zeros are an empty
 * WordPlaces.
 */
extern void word_places_add(WordPlaces *places, const WordSpan *spans,
							size_t n);

/* Free unused room. */
extern void word_places_finish(WordPlaces *places);

/* The bytes of a word. */
extern WordSpan word_place(const WordPlaces *places, uint32 word);

/* Widen n spans of a text so that none cuts a grapheme. */
extern void spans_to_graphemes(const char *utf8, size_t len, WordSpan *spans,
							   size_t n);

/*
 * Count the characters of a stretch of UTF-8: of Unicode, and of the server's
 * encoding.
 */
extern uint32 count_characters(const char *start, const char *stop);
extern uint32 count_server_characters(const char *start, const char *stop);

/* Convert n spans from bytes to characters of the server's encoding. */
extern void spans_to_characters(const char *utf8, WordSpan *spans, size_t n);

#endif							/* NEARDUP_WORD_PLACES_H */
