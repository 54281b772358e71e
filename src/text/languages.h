/*
 * languages.h
 *		The languages of analysis: their names, stemmers and stop words.
 */
#ifndef NEARDUP_LANGUAGES_H
#define NEARDUP_LANGUAGES_H

#include "lib/stringinfo.h"

/* Stored in headers: a number, once given, belongs to its language for ever. */
typedef enum Language
{
	LANGUAGE_SIMPLE = 0,
	LANGUAGE_ARABIC = 1,
	LANGUAGE_ARMENIAN = 2,
	LANGUAGE_BASQUE = 3,
	LANGUAGE_CATALAN = 4,
	LANGUAGE_DANISH = 5,
	LANGUAGE_DUTCH = 6,
	LANGUAGE_ENGLISH = 7,
	LANGUAGE_FINNISH = 8,
	LANGUAGE_FRENCH = 9,
	LANGUAGE_GERMAN = 10,
	LANGUAGE_GREEK = 11,
	LANGUAGE_HINDI = 12,
	LANGUAGE_HUNGARIAN = 13,
	LANGUAGE_INDONESIAN = 14,
	LANGUAGE_IRISH = 15,
	LANGUAGE_ITALIAN = 16,
	LANGUAGE_LITHUANIAN = 17,
	LANGUAGE_NEPALI = 18,
	LANGUAGE_NORWEGIAN = 19,
	LANGUAGE_PORTER = 20,
	LANGUAGE_PORTUGUESE = 21,
	LANGUAGE_ROMANIAN = 22,
	LANGUAGE_RUSSIAN = 23,
	LANGUAGE_SERBIAN = 24,
	LANGUAGE_SPANISH = 25,
	LANGUAGE_SWEDISH = 26,
	LANGUAGE_TAMIL = 27,
	LANGUAGE_TURKISH = 28,
	LANGUAGE_YIDDISH = 29,
	LANGUAGE_UKRAINIAN = 30,	/* no stemmer, letter rules only */
	LANGUAGE_PERSIAN = 31,		/* no stemmer, letter rules only */
	/* in libstemmer older or newer than 2.2 */
	LANGUAGE_ESTONIAN = 32,
	LANGUAGE_ESPERANTO = 33,
	LANGUAGE_DUTCH_PORTER = 34,
	LANGUAGE_POLISH = 35,
	LANGUAGE_CZECH = 36,
	LANGUAGE_SESOTHO = 37,
	LANGUAGE_GERMAN2 = 38,
	LANGUAGE_KRAAIJ_POHLMANN = 39,
	LANGUAGE_LOVINS = 40,
} Language;

#define NUM_LANGUAGES	41

/* By name, in lower case; false if there is none of that name. */
extern bool language_by_name(const char *name, size_t len, Language *language);

/*
 * Appends, separated by commas, the names of the languages that can be used
 * with the libstemmer of this server.
 */
extern void language_list(StringInfo out);

/*
 * The one of these whose name differs least from what somebody has written, in two letters
 * at the most; NULL if none is like it.
 */
extern const char *language_nearest(const char *name);

/* Whether words of the language are stemmed. */
extern bool language_has_stemmer(Language language);

/* Whether this server's libstemmer can stem the language. */
extern bool language_is_available(Language language);

/*
 * The stop words of a language, separated by white space, as their authors
 * wrote them (not folded); NULL if it has no list.
 */
extern const char *language_stop_words(Language language);

#endif							/* NEARDUP_LANGUAGES_H */
