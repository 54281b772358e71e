/*
 * languages.h
 *		The languages of analysis: their names, stemmers and stop words.
 */
#ifndef NEARDUP_LANGUAGES_H
#define NEARDUP_LANGUAGES_H

/*
 * Stored in headers: a number belongs to its language for ever.  Ukrainian and
 * Persian have no stemmer, only letter rules and stop words; languages from
 * Estonian on are only in versions of libstemmer older or newer than 2.2.
 */
#define LANGUAGE_LIST(X) \
	X(SIMPLE, 0, "simple") X(ARABIC, 1, "arabic") X(ARMENIAN, 2, "armenian") \
	X(BASQUE, 3, "basque") X(CATALAN, 4, "catalan") X(DANISH, 5, "danish") \
	X(DUTCH, 6, "dutch") X(ENGLISH, 7, "english") X(FINNISH, 8, "finnish") \
	X(FRENCH, 9, "french") X(GERMAN, 10, "german") X(GREEK, 11, "greek") \
	X(HINDI, 12, "hindi") X(HUNGARIAN, 13, "hungarian") X(INDONESIAN, 14, "indonesian") \
	X(IRISH, 15, "irish") X(ITALIAN, 16, "italian") X(LITHUANIAN, 17, "lithuanian") \
	X(NEPALI, 18, "nepali") X(NORWEGIAN, 19, "norwegian") X(PORTER, 20, "porter") \
	X(PORTUGUESE, 21, "portuguese") X(ROMANIAN, 22, "romanian") X(RUSSIAN, 23, "russian") \
	X(SERBIAN, 24, "serbian") X(SPANISH, 25, "spanish") X(SWEDISH, 26, "swedish") \
	X(TAMIL, 27, "tamil") X(TURKISH, 28, "turkish") X(YIDDISH, 29, "yiddish") \
	X(UKRAINIAN, 30, "ukrainian") X(PERSIAN, 31, "persian") X(ESTONIAN, 32, "estonian") \
	X(ESPERANTO, 33, "esperanto") X(DUTCH_PORTER, 34, "dutch_porter") X(POLISH, 35, "polish") \
	X(CZECH, 36, "czech") X(SESOTHO, 37, "sesotho") X(GERMAN2, 38, "german2") \
	X(KRAAIJ_POHLMANN, 39, "kraaij_pohlmann") X(LOVINS, 40, "lovins")

#define LANGUAGE_NUMBER(capitals, number, name) LANGUAGE_##capitals = (number),

typedef enum Language
{
	LANGUAGE_LIST(LANGUAGE_NUMBER)
} Language;

#define NUM_LANGUAGES	41

/* Find a language by its name in lower case; return false if there is none. */
extern bool language_by_name(const char *name, Language *language);

/* Return the name of a language by its stored number, or NULL. */
extern const char *language_name(uint8 language);

/*
 * Return the names, separated by commas, of the languages that are available
 * on this server; on request, only of languages with a list of stop words.
 */
extern char *language_list(bool with_stop_words);

/*
 * Return the available language whose name differs least from `name`, by two
 * letters at most, or NULL.
 */
extern const char *language_nearest(const char *name);

/* True if words of the language are stemmed. */
extern bool language_has_stemmer(Language language);

/* True if this server can stem the language, or need not. */
extern bool language_is_available(Language language);

/*
 * Return the stop words of a language, not folded, separated by white space;
 * NULL if it has no list.
 */
extern const char *language_stop_words(Language language);

#endif							/* NEARDUP_LANGUAGES_H */
