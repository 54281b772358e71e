/*
 * scripts.h
 *		The scripts of words, as an analysis can ask for them.
 */
#ifndef NEARDUP_SCRIPTS_H
#define NEARDUP_SCRIPTS_H

/* Stored in headers: a number, once given, belongs to its script for ever. */
typedef enum WordScript
{
	WORDS_ANY = 0,
	WORDS_LATIN = 1,
	WORDS_CYRILLIC = 2,
	WORDS_GREEK = 3,
	WORDS_ARABIC = 4,
	WORDS_HEBREW = 5,
	WORDS_ARMENIAN = 6,
	WORDS_GEORGIAN = 7,
	WORDS_DEVANAGARI = 8,
	WORDS_BENGALI = 9,
	WORDS_GURMUKHI = 10,
	WORDS_GUJARATI = 11,
	WORDS_ORIYA = 12,
	WORDS_TAMIL = 13,
	WORDS_TELUGU = 14,
	WORDS_KANNADA = 15,
	WORDS_MALAYALAM = 16,
	WORDS_SINHALA = 17,
	WORDS_ETHIOPIC = 18,
	WORDS_THAI = 19,
	WORDS_LAO = 20,
	WORDS_KHMER = 21,
	WORDS_BURMESE = 22,
	WORDS_HANGUL = 23,
	WORDS_CJK = 24,	/* Han, Hiragana, Katakana */
} WordScript;

#define NUM_WORD_SCRIPTS	25

/* By number; WORDS_ANY has no name. */
extern const char *const word_script_names[NUM_WORD_SCRIPTS];

/*
 * Whether a folded word of len bytes of UTF-8 is of a script, by the first of
 * its letters that belong to one.  A word without such a letter, such as a
 * number, is of any.
 */
extern bool word_is_of_script(WordScript script, const char *word,
							  size_t len);

#endif							/* NEARDUP_SCRIPTS_H */
