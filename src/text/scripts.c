/*
 * scripts.c
 *		The scripts of words, as an analysis can ask for them.
 *
 * A word is of the script of its first letter: a Latin word with a Russian
 * ending is Latin, and so is "2nd".  Marks and numbers do not count, nor do
 * the letters that Unicode has as common to several scripts.
 */
#include "postgres.h"

#include <unicode/uscript.h>
#include <unicode/utf8.h>

#include "text/letters.h"
#include "text/scripts.h"

const char *const word_script_names[NUM_WORD_SCRIPTS] = {
	[WORDS_LATIN] = "latin",
	[WORDS_CYRILLIC] = "cyrillic",
	[WORDS_GREEK] = "greek",
	[WORDS_ARABIC] = "arabic",
	[WORDS_HEBREW] = "hebrew",
	[WORDS_ARMENIAN] = "armenian",
	[WORDS_GEORGIAN] = "georgian",
	[WORDS_DEVANAGARI] = "devanagari",
	[WORDS_BENGALI] = "bengali",
	[WORDS_GURMUKHI] = "gurmukhi",
	[WORDS_GUJARATI] = "gujarati",
	[WORDS_ORIYA] = "oriya",
	[WORDS_TAMIL] = "tamil",
	[WORDS_TELUGU] = "telugu",
	[WORDS_KANNADA] = "kannada",
	[WORDS_MALAYALAM] = "malayalam",
	[WORDS_SINHALA] = "sinhala",
	[WORDS_ETHIOPIC] = "ethiopic",
	[WORDS_THAI] = "thai",
	[WORDS_LAO] = "lao",
	[WORDS_KHMER] = "khmer",
	[WORDS_BURMESE] = "burmese",
	[WORDS_HANGUL] = "hangul",
	[WORDS_CJK] = "cjk",
};

static const UScriptCode codes[NUM_WORD_SCRIPTS] = {
	[WORDS_ANY] = USCRIPT_INVALID_CODE,
	[WORDS_LATIN] = USCRIPT_LATIN,
	[WORDS_CYRILLIC] = USCRIPT_CYRILLIC,
	[WORDS_GREEK] = USCRIPT_GREEK,
	[WORDS_ARABIC] = USCRIPT_ARABIC,
	[WORDS_HEBREW] = USCRIPT_HEBREW,
	[WORDS_ARMENIAN] = USCRIPT_ARMENIAN,
	[WORDS_GEORGIAN] = USCRIPT_GEORGIAN,
	[WORDS_DEVANAGARI] = USCRIPT_DEVANAGARI,
	[WORDS_BENGALI] = USCRIPT_BENGALI,
	[WORDS_GURMUKHI] = USCRIPT_GURMUKHI,
	[WORDS_GUJARATI] = USCRIPT_GUJARATI,
	[WORDS_ORIYA] = USCRIPT_ORIYA,
	[WORDS_TAMIL] = USCRIPT_TAMIL,
	[WORDS_TELUGU] = USCRIPT_TELUGU,
	[WORDS_KANNADA] = USCRIPT_KANNADA,
	[WORDS_MALAYALAM] = USCRIPT_MALAYALAM,
	[WORDS_SINHALA] = USCRIPT_SINHALA,
	[WORDS_ETHIOPIC] = USCRIPT_ETHIOPIC,
	[WORDS_THAI] = USCRIPT_THAI,
	[WORDS_LAO] = USCRIPT_LAO,
	[WORDS_KHMER] = USCRIPT_KHMER,
	[WORDS_BURMESE] = USCRIPT_MYANMAR,
	[WORDS_HANGUL] = USCRIPT_HANGUL,
	[WORDS_CJK] = USCRIPT_HAN,
};

/* The script of a code point; USCRIPT_COMMON if it does not belong to one. */
static UScriptCode
script_of(UChar32 c)
{
	UErrorCode	status = U_ZERO_ERROR;
	UScriptCode script;

	if (letter_is_mark(c) || letter_is_number(c))
		return USCRIPT_COMMON;
	script = uscript_getScript(c, &status);
	switch (script)
	{
		case USCRIPT_INHERITED:
			return USCRIPT_COMMON;
		case USCRIPT_HIRAGANA:
		case USCRIPT_KATAKANA:
			return USCRIPT_HAN;
		default:
			return script;
	}
}

bool
word_is_of_script(WordScript script, const char *word, size_t len)
{
	for (size_t i = 0; i < len;)
	{
		UChar32		c;
		UScriptCode found;

		U8_NEXT_UNSAFE(word, i, c);
		found = script_of(c);
		if (found != USCRIPT_COMMON)
			return found == codes[script];
	}
	return true;
}
