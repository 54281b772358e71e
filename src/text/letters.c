/*
 * letters.c
 *		Classes of code points, case folding, and scripts of words.
 *
 * Words are runs of letters, marks and numbers of the text (general categories
 * L, M and N: the characters of Python's str.isalnum(), and marks), folded by
 * ICU's NFKC case folding and then by the letter rules below.  Each code point
 * is classified by ICU once and kept in a table.
 *
 * Most code points fold to one code point, whatever precedes them.  A
 * combining mark after them can still change the result.  So a code point
 * without a normalisation boundary before it is never simple: the caller folds
 * it together with the text from the last boundary on.
 */
#include "postgres.h"

#include <unicode/uchar.h>
#include <unicode/unorm2.h>
#include <unicode/uscript.h>
#include <unicode/ustring.h>
#include <unicode/utf16.h>
#include <unicode/utf8.h>

#include "utils/memutils.h"

#include "text/letters.h"

/* No single code point folds to more UTF-16 units than this (U+FDFA: 18). */
#define MAX_FOLDING		32

#define DOTLESS_I		0x0131
#define DOT_ABOVE		0x0307

Letter	   *letter_pages[NUM_RULES][LETTER_TABLE_END >> 8];

/* owned by ICU, which never frees them */
static const UNormalizer2 *folding;
static const UNormalizer2 *composition;

void
letters_init(void)
{
	UErrorCode	status = U_ZERO_ERROR;

	if (folding != NULL)
		return;
	composition = unorm2_getNFCInstance(&status);
	folding = unorm2_getNFKCCasefoldInstance(&status);
	if (U_FAILURE(status))
		folding = NULL;
	icu_require(status, "load its case folding");
}

bool
letter_is_mark(UChar32 c)
{
	return (U_GET_GC_MASK(c) & U_GC_M_MASK) != 0;
}

bool
letter_is_number(UChar32 c)
{
	return (U_GET_GC_MASK(c) & U_GC_N_MASK) != 0;
}

bool
letter_is_word(UChar32 c)
{
	return (U_GET_GC_MASK(c) & (U_GC_L_MASK | U_GC_M_MASK | U_GC_N_MASK)) != 0;
}

/*
 * True if a code point is removed before folding: the default ignorables, and
 * the commonest Arabic marks.  These marks never prevent a composition: their
 * combining classes (27 to 35) are lower than the classes (220, 230) of marks
 * that compose with Arabic letters.  A zero-width space is not removed: Khmer
 * and Thai writers end words with it.
 */
static bool
vanishes(UChar32 c)
{
	return (c >= 0x064B && c <= 0x0652) || c == 0x0670 ||
		(c != 0x200B &&
		 u_hasBinaryProperty(c, UCHAR_DEFAULT_IGNORABLE_CODE_POINT));
}

/*
 * Append c to the n units of dest by the rules of Turkish: I is the capital of
 * dotless i, and dotted capital I, which may be written as I and a dot above,
 * is the capital of i.  Returns the number of units.
 */
static int32
put_turkish(UChar32 c, UChar *dest, int32 n)
{
	if (c == 'I')
		c = DOTLESS_I;
	else if (c == 0x0130)
		c = 'i';
	else if (c == DOT_ABOVE && n > 0 && dest[n - 1] == DOTLESS_I)
	{
		dest[n - 1] = 'i';
		return n;
	}
	U16_APPEND_UNSAFE(dest, n, c);
	return n;
}

/*
 * Append the units of a letter and its marks by the rules of Turkish.  Returns
 * the number of units.  An I is composed with its marks first: I with a
 * circumflex is another letter, not a dotless one, however it is written.
 */
static int32
put_turkish_letter(const UChar *letter, int32 length, UChar *dest, int32 n)
{
	UErrorCode	status = U_ZERO_ERROR;
	UChar	   *composed = NULL;

	if (letter[0] == 'I')
	{
		/* some marks are two in any normal form */
		composed = palloc(2 * length * sizeof(UChar));
		length = unorm2_normalize(composition, letter, length, composed,
								  2 * length, &status);
		icu_require(status, "compose letters");
		letter = composed;
	}
	for (int32 i = 0; i < length;)
	{
		UChar32		c;

		U16_NEXT_UNSAFE(letter, i, c);
		n = put_turkish(c, dest, n);
	}
	if (composed != NULL)
		pfree(composed);
	return n;
}

/*
 * Write n code points by the rules of Turkish, without removed ones, to dest;
 * return the number of units.
 */
static int32
put_turkish_text(const UChar32 *source, int n, UChar *dest)
{
	UChar	   *letter = palloc(2 * n * sizeof(UChar));
	int32		length = 0;
	int32		result = 0;

	for (int i = 0; i < n; i++)
	{
		if (vanishes(source[i]))
			continue;
		if (length > 0 && unorm2_hasBoundaryBefore(folding, source[i]))
		{
			result = put_turkish_letter(letter, length, dest, result);
			length = 0;
		}
		U16_APPEND_UNSAFE(letter, length, source[i]);
	}
	if (length > 0)
		result = put_turkish_letter(letter, length, dest, result);
	pfree(letter);
	return result;
}

/*
 * NFKC case folding of n <= SEGMENT_MAX code points into dest, which has room
 * for MAX_FOLDING units for each.  Returns the number of units.
 */
static int32
fold(LetterRules rules, const UChar32 *source, int n, UChar *dest)
{
	static UChar scratch[2 * SEGMENT_MAX];
	UErrorCode	status = U_ZERO_ERROR;
	int32		length = 0;

	Assert(folding != NULL && n >= 1);
	if (RULES_LANGUAGE(rules) != RULES_TURKISH)
	{
		for (int i = 0; i < n; i++)
			U16_APPEND_UNSAFE(scratch, length, source[i]);
	}
	else if (n == 1)
		length = put_turkish(source[0], scratch, 0);
	else
		length = put_turkish_text(source, n, scratch);
	length = unorm2_normalize(folding, scratch, length, dest, n * MAX_FOLDING,
							  &status);
	icu_require(status, "fold case");
	return length;
}

/*
 * True if a code point is a mark above or below Arabic letters; most texts
 * leave these marks out.
 */
static bool
is_arabic_mark(UChar32 c)
{
	return ((c >= 0x0600 && c <= 0x06FF) || (c >= 0x0870 && c <= 0x08FF) ||
			(c >= 0x10EC0 && c <= 0x10EFF)) &&
		letter_is_mark(c);
}

/*
 * True if a code point is a mark of letters of any script.  The marks of one
 * script, such as vowel signs or the sound marks of Kana, are more than
 * accents.
 */
static bool
is_accent(UChar32 c)
{
	switch (ublock_getCode(c))
	{
		case UBLOCK_COMBINING_DIACRITICAL_MARKS:
		case UBLOCK_COMBINING_DIACRITICAL_MARKS_EXTENDED:
		case UBLOCK_COMBINING_DIACRITICAL_MARKS_SUPPLEMENT:
		case UBLOCK_COMBINING_HALF_MARKS:
			return letter_is_mark(c);
		default:
			return false;
	}
}

/*
 * Return the base of a letter with a stroke, which Unicode does not decompose;
 * any other letter as it is.
 */
static UChar32
without_stroke(UChar32 c)
{
	static const uint16 strokes[] = {0x00F8, 0x0111, 0x0127, 0x0142, 0x0167};

	for (int i = 0; i < lengthof(strokes); i++)
		if (c == strokes[i])
			return "odhlt"[i];
	return c;
}

/*
 * Return the base of a composed letter without its accents; 0 for an accent by
 * itself.  Composed Cyrillic letters (short i, yi, short u, gje, kje) are
 * letters of their alphabets and stay; only stress marks are removed.
 */
static UChar32
without_accents(UChar32 c)
{
	UErrorCode	status = U_ZERO_ERROR;
	UChar		parts[8];
	UChar32		base;
	UChar32		mark;
	int32		n;

	if (c < 0x80)
		return c;
	if (is_accent(c))
		return 0;
	if (uscript_getScript(c, &status) == USCRIPT_CYRILLIC)
		return c;
	while ((n = unorm2_getRawDecomposition(composition, c, parts,
										   lengthof(parts), &status)) > 0)
	{
		int32		i = 0;

		icu_require(status, "take a letter apart");
		U16_NEXT_UNSAFE(parts, i, base);
		if (i == n)
			break;
		U16_NEXT_UNSAFE(parts, i, mark);
		if (!is_accent(mark))
			break;
		c = base;
	}
	return without_stroke(c);
}

/*
 * Apply the letter rules after folding: return the code point that replaces c,
 * or 0 to remove it.
 */
static UChar32
after_folding(LetterRules rules, UChar32 c)
{
	bool		arabic = RULES_LANGUAGE(rules) == RULES_ARABIC;

	if (rules & RULES_PLAIN)
		c = without_accents(c);
	switch (c)
	{
		case 0x0451:			/* Cyrillic io */
			return 0x0435;
		case 0x0640:			/* tatweel */
			return 0;
		case 0x0643:			/* Arabic kaf */
			return arabic ? c : 0x06A9;
		case 0x06A9:			/* Persian keheh */
			return arabic ? 0x0643 : c;
		case 0x0649:			/* alef maksura */
		case 0x064A:			/* Arabic yeh */
			return arabic ? c : 0x06CC;
		case 0x06CC:			/* Persian yeh */
			return arabic ? 0x064A : c;
		case 0x06C0:			/* heh with yeh above, whose mark may be a
								 * code point of its own */
			return 0x0647;
		default:
			return is_arabic_mark(c) ? 0 : c;
	}
}

/*
 * If the text ends with nikhahit, replace it by the letter am, which also
 * stands for c, an aa; return false if it does not.
 */
static bool
join_aa(FoldedText *text, UChar32 c)
{
	UChar32		last;
	size_t		i = text->nbytes;

	if (text->nbytes < text->word + 3)
		return false;
	U8_PREV_UNSAFE(text->bytes, i, last);
	if (last != (c == THAI_AA ? THAI_NIKHAHIT : LAO_NIGGAHITA))
		return false;
	text	  ->nbytes = i;

	folded_put(text, c == THAI_AA ? THAI_AM : LAO_AM);
	return true;
}

void
letters_append(LetterRules rules, const UChar32 *source, int n,
			   FoldedText *text)
{
	static UChar folded[SEGMENT_MAX * MAX_FOLDING];
	int32		length = fold(rules, source, n, folded);

	for (int32 i = 0; i < length;)
	{
		bool		first = text->nbytes == text->word;
		UChar32		c;

		U16_NEXT_UNSAFE(folded, i, c);
		c = after_folding(rules, c);
		if (c == 0 || (first && letter_is_mark(c)) ||
			((c == THAI_AA || c == LAO_AA) && join_aa(text, c)))
			continue;
		/* see RUN_BYTES */
		if (text->nbytes > RUN_BYTES)
			elog(ERROR, "folded word is too long");
		/* an apostrophe is passed only where it belongs to the word */
		if (c == '\'' || (letter_is_word(c) && c != 0x02BC))
			folded_put(text, c);
		else if (!first)
		{
			text	  ->bytes[text->nbytes++] = ' ';
			text	  ->word = text->nbytes;
			text	  ->split = true;
		}
	}
}

/*
 * True if a code point is an apostrophe.  U+02BC and U+02B9 are letters by
 * category.  U+FF07 is the wide form of U+0027, and normal forms replace the
 * Greek U+0374, 1FEF and 1FFD by U+02B9, 0060 and 00B4.
 */
static bool
is_apostrophe(UChar32 c)
{
	static const uint16 apostrophes[] = {
		0x0027, 0x0060, 0x00B4, 0x02B9, 0x02BC, 0x0374, 0x055A, 0x1FEF, 0x1FFD,
		0x2018, 0x2019, 0x201B, 0x2032, 0xFF07
	};

	for (int i = 0; i < lengthof(apostrophes); i++)
		if (c == apostrophes[i])
			return true;
	return false;
}

/*
 * Return the script of a code point, as far as it decides how words are cut.
 */
static LetterScript
script_of(UChar32 c)
{
	UErrorCode	status = U_ZERO_ERROR;

	switch (uscript_getScript(c, &status))
	{
		case USCRIPT_THAI:
			return SCRIPT_THAI;
		case USCRIPT_LAO:
			return SCRIPT_LAO;
		case USCRIPT_KHMER:
			return SCRIPT_KHMER;
		case USCRIPT_MYANMAR:
			return SCRIPT_BURMESE;
		default:
			break;
	}

	/* by extension: the sound mark of Katakana is common to two scripts */
	if (uscript_hasScript(c, USCRIPT_HAN) ||
		uscript_hasScript(c, USCRIPT_HIRAGANA) ||
		uscript_hasScript(c, USCRIPT_KATAKANA))
		return SCRIPT_CJK;
	return SCRIPT_SPACED;
}

/* Return a filled table entry. */
static Letter
pack(LetterClass class, UChar32 code, uint32 flags)
{
	Assert((code & ~0x1fffff) == 0);
	return LETTER_IS_KNOWN | flags | ((uint32) class << 21) | (uint32) code;
}

/* Classify a letter, mark or number that folds to the n units of folded. */
static Letter
classify_word(LetterRules rules, UChar32 c, const UChar *folded, int32 n)
{
	UErrorCode	status = U_ZERO_ERROR;
	UChar32		code;
	int32		i = 0;
	uint32		flags = 0;

	/*
	 * only default ignorables fold to nothing, and vanishes() is true for
	 * them
	 */
	if (n == 0)
		elog(ERROR, "code point %X folds to nothing", (unsigned int) c);

	if (letter_is_mark(c))
		flags |= LETTER_IS_MARK;
	else
	{
		flags |= (uint32) script_of(c) << 27;
		if (uscript_getScript(c, &status) == USCRIPT_CYRILLIC)
			flags |= LETTER_IS_CYRILLIC;
	}
	if (!unorm2_hasBoundaryBefore(folding, c))
		return pack(LETTER_HARD, 0, flags);
	flags |= LETTER_IS_BOUNDARY;
	if (c == THAI_AA || c == LAO_AA || c == THAI_AM || c == LAO_AM)
		return pack(LETTER_AA, c, flags);
	U16_NEXT_UNSAFE(folded, i, code);
	if (i < n || !letter_is_word(code) ||
		letter_is_mark(code) != letter_is_mark(c))
		return pack(LETTER_HARD, 0, flags);
	return pack(LETTER_SIMPLE, after_folding(rules, code), flags);
}

Letter
letter_classify(LetterRules rules, UChar32 c)
{
	UChar		folded[MAX_FOLDING];
	int32		n;

	Assert(c >= 0 && c <= UCHAR_MAX_VALUE);
	if (is_apostrophe(c))
		return pack(LETTER_APOSTROPHE, c, 0);
	if (U_IS_SURROGATE(c))
		return pack(LETTER_SEPARATOR, 0, 0);
	if (vanishes(c))
		return pack(LETTER_NOTHING, 0, 0);
	if (!letter_is_word(c))
		return pack(LETTER_SEPARATOR, 0, 0);
	n = fold(rules, &c, 1, folded);
	if (letter_is_number(c) && u_memchr(folded, 0x2044, n) != NULL)
		return pack(LETTER_FRACTION, 0, 0);
	return classify_word(rules, c, folded, n);
}

Letter
letter_remember(LetterRules rules, UChar32 c)
{
	Letter	  **page;

	if (c >= LETTER_TABLE_END)
		return letter_classify(rules, c);
	page = &letter_pages[rules][c >> 8];
	if (*page == NULL)
		*page = MemoryContextAllocZero(TopMemoryContext,
									   256 * sizeof(Letter));
	(*page)[c & 0xff] = letter_classify(rules, c);
	return (*page)[c & 0xff];
}

/*
 * The scripts of words that an analysis can select
 *
 * A word is of the script of its first letter: a Latin word with a Russian
 * ending is Latin, and so is "2nd".  Marks and numbers do not count, nor do
 * letters common to several scripts.
 */

#define WORD_SCRIPT_NAME(capitals, number, name, icu) [number] = (name),
#define WORD_SCRIPT_CODE(capitals, number, name, icu) [number] = (icu),

const char *const word_script_names[NUM_WORD_SCRIPTS] = {
	WORD_SCRIPT_LIST(WORD_SCRIPT_NAME)
};

static const UScriptCode codes[NUM_WORD_SCRIPTS] = {
	[WORDS_ANY] = USCRIPT_INVALID_CODE,
	WORD_SCRIPT_LIST(WORD_SCRIPT_CODE)
};

/* Return the script of a code point; USCRIPT_COMMON if it belongs to none. */
static UScriptCode
word_script(UChar32 c)
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
	Assert(script > WORDS_ANY && script < NUM_WORD_SCRIPTS);
	for (size_t i = 0; i < len;)
	{
		UChar32		c;
		UScriptCode found;

		U8_NEXT_UNSAFE(word, i, c);
		found = word_script(c);
		if (found != USCRIPT_COMMON)
			return found == codes[script];
	}
	return true;
}
