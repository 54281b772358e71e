/*
 * words.h
 *		Plain text to words, folded.
 */
#ifndef NEARDUP_WORDS_H
#define NEARDUP_WORDS_H

#include "text/letters.h"
#include "text/source.h"

/* Where a word stands: bytes of the document, the end being after it. */
typedef struct WordSpan
{
	uint32		start;
	uint32		end;
} WordSpan;

typedef struct WordScanner WordScanner;

/*
 * Give a scanner the next block of UTF-8, in which no character is cut; the
 * block stays in place until the next call.  False at the end.
 */
typedef bool (*MoreText) (void *arg, const char **text, size_t *len);

/*
 * WORDS_SEGMENT: ICU finds the words of scripts without spaces; without it a
 * run of them is one word.  WORDS_JOIN: a word that is divided at a line end
 * is one word.
 */
#define WORDS_SEGMENT	1
#define WORDS_JOIN		2

/* Make a scanner in the current memory context; flags are WORDS_... */
extern WordScanner *words_create(LetterRules rules, int flags);

/* Begin a text. */
extern void words_begin(WordScanner *scanner, MoreText more, void *arg);

/*
 * From the next text on, note where words stand in the source's document, of at most
 * 4 GB.  All text must come from the source as it gives it.
 */
extern void words_track(WordScanner *scanner, const TextSource *source);

/*
 * Where the word stands that words_next() has read last, with all that belongs
 * to its letters.  Words of one run without spaces or separators, as of
 * Chinese, are next to each other; those that are one letter when not folded
 * stand in the same place.
 */
extern WordSpan words_span(const WordScanner *scanner);

/*
 * The next word, folded, in UTF-8, valid until the next call; false at the
 * end.  A word has at least one letter or number.
 */
extern bool words_next(WordScanner *scanner, const char **word, size_t *len);

/*
 * The hashes (XXH3) of up to max further words, as long as they are ASCII;
 * returns how many there were.  At 0 words_next() must be asked.  spans, which
 * may be NULL, is set to where they stand, of a scanner that tracks them.
 */
extern size_t words_hash_ascii(WordScanner *scanner, uint64 *hashes,
							   WordSpan *spans, size_t max);

/*
 * Whether the word last read continues the one before it: a run of more than
 * WORD_MAX characters is cut.
 */
extern bool words_continues(const WordScanner *scanner);

#ifdef NEARDUP_TESTING
/* No tables and no short cuts, ICU folds all. */
extern void words_use_icu_only(WordScanner *scanner);
#endif

/* segment.c */
typedef struct Segmenter Segmenter;

extern Segmenter *segmenter_create(LetterRules rules);

/*
 * Copy a folded run of len bytes to dest, a space between any two words
 * that it holds; dest has room for 2 * len bytes.  Returns the length.
 */
extern size_t segmenter_split(Segmenter *segmenter, const char *run,
							  size_t len, char *dest);

#endif							/* NEARDUP_WORDS_H */
