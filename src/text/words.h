/*
 * words.h
 *		Plain text to words, folded.
 */
#ifndef NEARDUP_WORDS_H
#define NEARDUP_WORDS_H

#include "text/letters.h"
#include "text/source.h"

/*
 * The place of a word in the document: its first byte, and the byte after its
 * last
 */
typedef struct WordSpan
{
	uint32		start;
	uint32		end;
} WordSpan;

typedef struct WordScanner WordScanner;

/*
 * Return the next block of UTF-8, of whole characters, in place until the next
 * call; return false at the end.
 */
typedef bool (*MoreText) (void *arg, const char **text, size_t *len);

/*
 * WORDS_SEGMENT: ICU finds the words of scripts without spaces; without it a
 * run of such a script is one word.  WORDS_JOIN: a word that is divided at a
 * line end is one word.
 */
#define WORDS_SEGMENT	1
#define WORDS_JOIN		2

/* Make a scanner in the current memory context; flags are WORDS_... */
extern WordScanner *words_create(LetterRules rules, int flags);

/* Begin a text. */
extern void words_begin(WordScanner *scanner, MoreText more, void *arg);

/*
 * From the next text on, track the places of words in the source's document,
 * of at most 4 GB. The text must be what source_next() returns.
 */
extern void words_track(WordScanner *scanner, const TextSource *source);

/*
 * Return the place of the word that words_next() has read last, with removed
 * characters between its letters.  Words of one run without spaces or
 * separators, such as Chinese ones, are next to each other; words that are one
 * letter before folding have the same place.
 */
extern WordSpan words_span(const WordScanner *scanner);

/*
 * Read the next word, folded, in UTF-8, valid until the next call; return
 * false at the end.  A word has at least one letter or number.
 */
extern bool words_next(WordScanner *scanner, const char **word, size_t *len);

/*
 * Compute the hashes (XXH3) of up to max further words, as long as they are
 * ASCII, and return their number; after 0 the caller must use words_next().  A
 * scanner that tracks places also sets spans, which may be NULL.
 */
extern size_t words_hash_ascii(WordScanner *scanner, uint64 *hashes,
							   WordSpan *spans, size_t max);

/*
 * True if the word last read continues the one before it: a run of more than
 * WORD_MAX characters is cut.
 */
extern bool words_continues(const WordScanner *scanner);

#ifdef NEARDUP_TESTING
/* Have ICU fold all words, without tables and short cuts. */
extern void words_use_icu_only(WordScanner *scanner);
#endif

/* segment.c */
typedef struct Segmenter Segmenter;

/*
 * Make a segmenter in the current memory context, which on reset frees what
 * ICU has allocated.
 */
extern Segmenter *segmenter_create(LetterRules rules);

/*
 * Copy a folded run of len bytes to dest, which has room for 2 * len bytes,
 * with a space between its words; return the length.
 */
extern size_t segmenter_split(Segmenter *segmenter, const char *run,
							  size_t len, char *dest);

#endif							/* NEARDUP_WORDS_H */
