/*
 * word_places.h
 *		Stores the places of a text's words, compressed.
 */
#ifndef NEARDUP_WORD_PLACES_H
#define NEARDUP_WORD_PLACES_H

#include "text/words.h"

/* Number of words from one mark to the next */
#define WORDS_PER_MARK	16

/* Where decoding can begin: the state before every WORDS_PER_MARK-th word */
typedef struct PlaceMark
{
	uint32 text;				/* end of the previous word */
	uint32		bytes;			/* offset of the word's numbers in the bytes */
} PlaceMark;

/*
 * The distance of each word from the end of the previous one, and its length;
 * mostly in a byte each
 */
typedef struct WordPlaces
{
	uint8	   *bytes;
	size_t		used;
	size_t		size;
	PlaceMark  *marks;
	size_t		marks_size;
	uint32		n;				/* number of words */
	uint32		end;			/* end of the last word */
} WordPlaces;

/*
 * Add the next n words, in the current memory context.  A zeroed WordPlaces
 * has no words.
 */
extern void word_places_add(WordPlaces *places, const WordSpan *spans,
							size_t n);

/* Free memory that is allocated and not used. */
extern void word_places_finish(WordPlaces *places);

/* Return the bytes of a word. */
extern WordSpan word_place(const WordPlaces *places, uint32 word);

/* Widen n spans of a text so that they cut no grapheme. */
extern void spans_to_graphemes(const char *utf8, size_t len, WordSpan *spans,
							   size_t n);

/* Return the number of Unicode characters in UTF-8. */
extern uint32 count_characters(const char *start, const char *stop);

/* Return the number of characters that UTF-8 has in the server's encoding. */
extern uint32 count_server_characters(const char *start, const char *stop);

/* Convert n spans from bytes to characters in the server's encoding. */
extern void spans_to_characters(const char *utf8, WordSpan *spans, size_t n);

#endif							/* NEARDUP_WORD_PLACES_H */
