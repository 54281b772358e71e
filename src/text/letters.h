/*
 * letters.h
 *		Classes of code points, case folding, and scripts of words.
 */
#ifndef NEARDUP_LETTERS_H
#define NEARDUP_LETTERS_H

#include <unicode/utf8.h>
#include <unicode/utypes.h>

/* Letter rules of languages, and a flag that can be added to any of them */
typedef enum LetterRules
{
	RULES_COMMON = 0,			/* yeh and kaf in their Persian forms */
	RULES_ARABIC = 1,			/* yeh and kaf in their Arabic forms, for the
								 * Arabic stemmer */
	RULES_TURKISH = 2,			/* I is folded to dotless i */
	RULES_PLAIN = 4,			/* flag: letters lose their accents */
} LetterRules;

#define RULES_LANGUAGE(r)	((r) & 3)
#define NUM_RULES	8

/* How a code point is treated. */
typedef enum LetterClass
{
	LETTER_SEPARATOR,			/* ends a word */
	LETTER_NOTHING,				/* is removed: its neighbours are joined */
	LETTER_SIMPLE,				/* is replaced by one code point, whatever
								 * precedes it, or removed */
	LETTER_AA,					/* Thai and Lao aa, which combines with a
								 * preceding nikhahit to am, and am */
	LETTER_HARD,				/* must be folded with its neighbours */
	LETTER_FRACTION,			/* a separate run: 1/2 */
	LETTER_APOSTROPHE,			/* belongs to a word between two Cyrillic
								 * letters only */
} LetterClass;

/* Class, flags and the code point that replaces a simple letter (0 = none) */
typedef uint32 Letter;

#define LETTER_CODE(l)		((l) & 0x1fffff)
#define LETTER_CLASS(l)		((LetterClass) (((l) >> 21) & 7))
#define LETTER_IS_MARK		0x01000000	/* cannot begin a word */
#define LETTER_IS_CYRILLIC	0x02000000	/* a letter, not a mark */
#define LETTER_IS_BOUNDARY	0x04000000	/* never combines with preceding code
										 * points */
#define LETTER_SCRIPT(l)	(((l) >> 27) & 7)	/* LetterScript */
#define LETTER_IS_KNOWN		0x80000000	/* a filled table entry */

/* The bits of a class, a script and flags in a Letter */
#define LETTER_MASK(class, script, flags) \
	(((Letter) (class) << 21) | ((Letter) (script) << 27) | (flags))

/* Scripts without spaces between words, which ICU segments. */
typedef enum LetterScript
{
	SCRIPT_SPACED,				/* any other script */
	SCRIPT_CJK,					/* Han, Hiragana, Katakana */
	SCRIPT_THAI,
	SCRIPT_LAO,
	SCRIPT_KHMER,
	SCRIPT_BURMESE,
} LetterScript;

#define THAI_NIKHAHIT	0x0E4D
#define THAI_AA			0x0E32
#define THAI_AM			0x0E33
#define LAO_NIGGAHITA	0x0ECD
#define LAO_AA			0x0EB2
#define LAO_AM			0x0EB3

/* Code points from here on are not kept in the table. */
#define LETTER_TABLE_END	0x30000

/* The table: pages of 256 code points, each NULL until it is needed */
extern Letter *letter_pages[NUM_RULES][LETTER_TABLE_END >> 8];

/*
 * Load ICU's normalizers for the other functions.  Raises an error if ICU
 * cannot.
 */
extern void letters_init(void);

/* Classify a code point by ICU. */
extern Letter letter_classify(LetterRules rules, UChar32 c);

/* Classify a code point and keep the result for the life of the backend. */
extern Letter letter_remember(LetterRules rules, UChar32 c);

/*
 * Return the class of a code point, from the table if it has been classified.
 */
static inline Letter
letter_of(LetterRules rules, UChar32 c)
{
	if (c < LETTER_TABLE_END)
	{
		Letter	   *page = letter_pages[rules][c >> 8];

		if (page != NULL && (page[c & 0xff] & LETTER_IS_KNOWN))
			return page[c & 0xff];
	}
	return letter_remember(rules, c);
}

#define WORD_MAX	1024		/* code points of a word in the text, before
								 * folding; the rest is another word */

/*
 * Code points without a boundary before them that may follow the last of
 * WORD_MAX
 */
#define WORD_SLACK	64

/*
 * Code points in a segment.  In tests, a segment is a whole run with its
 * removed code points.
 */
#define SEGMENT_MAX		(2 * (WORD_MAX + WORD_SLACK))

/*
 * Bytes of a folded run: a code point of 3 bytes may become 33 (U+FDFA), no
 * other grows by more.
 */
#define RUN_BYTES	((WORD_MAX + WORD_SLACK) * 33)

/* A run, folded, in UTF-8: words with a space between any two. */
typedef struct FoldedText
{
	size_t		nbytes;
	size_t		word;			/* byte at which the last word begins */
	bool		split;			/* the run has a space, and so several words */
	char		bytes[RUN_BYTES + 4];
} FoldedText;

/* Append a code point. */
static inline void
folded_put(FoldedText *text, UChar32 c)
{
	size_t		n = text->nbytes;

	Assert(n + U8_MAX_LENGTH <= sizeof(text->bytes));
	U8_APPEND_UNSAFE(text->bytes, n, c);
	text	  ->nbytes = n;
}

/*
 * Append n <= SEGMENT_MAX code points, after NFKC case folding and the letter
 * rules, with a space between words.
 */
extern void letters_append(LetterRules rules, const UChar32 *source, int n,
						   FoldedText *text);

/* True if a code point is a letter, mark or number. */
extern bool letter_is_word(UChar32 c);

/* True if a code point is a mark. */
extern bool letter_is_mark(UChar32 c);

/* True if a code point is a number. */
extern bool letter_is_number(UChar32 c);

/*
 * The scripts of words that an analysis can select, and ICU's.  Stored in
 * headers: a number belongs to its script for ever.  CJK is Han, Hiragana and
 * Katakana.
 */
#define WORD_SCRIPT_LIST(X) \
	X(LATIN, 1, "latin", USCRIPT_LATIN) X(CYRILLIC, 2, "cyrillic", USCRIPT_CYRILLIC) \
	X(GREEK, 3, "greek", USCRIPT_GREEK) X(ARABIC, 4, "arabic", USCRIPT_ARABIC) \
	X(HEBREW, 5, "hebrew", USCRIPT_HEBREW) X(ARMENIAN, 6, "armenian", USCRIPT_ARMENIAN) \
	X(GEORGIAN, 7, "georgian", USCRIPT_GEORGIAN) X(DEVANAGARI, 8, "devanagari", USCRIPT_DEVANAGARI) \
	X(BENGALI, 9, "bengali", USCRIPT_BENGALI) X(GURMUKHI, 10, "gurmukhi", USCRIPT_GURMUKHI) \
	X(GUJARATI, 11, "gujarati", USCRIPT_GUJARATI) X(ORIYA, 12, "oriya", USCRIPT_ORIYA) \
	X(TAMIL, 13, "tamil", USCRIPT_TAMIL) X(TELUGU, 14, "telugu", USCRIPT_TELUGU) \
	X(KANNADA, 15, "kannada", USCRIPT_KANNADA) X(MALAYALAM, 16, "malayalam", USCRIPT_MALAYALAM) \
	X(SINHALA, 17, "sinhala", USCRIPT_SINHALA) X(ETHIOPIC, 18, "ethiopic", USCRIPT_ETHIOPIC) \
	X(THAI, 19, "thai", USCRIPT_THAI) X(LAO, 20, "lao", USCRIPT_LAO) \
	X(KHMER, 21, "khmer", USCRIPT_KHMER) X(BURMESE, 22, "burmese", USCRIPT_MYANMAR) \
	X(HANGUL, 23, "hangul", USCRIPT_HANGUL) X(CJK, 24, "cjk", USCRIPT_HAN)

#define WORD_SCRIPT_NUMBER(capitals, number, name, icu) WORDS_##capitals = (number),

typedef enum WordScript
{
	WORDS_ANY = 0,
	WORD_SCRIPT_LIST(WORD_SCRIPT_NUMBER)
} WordScript;

#define NUM_WORD_SCRIPTS	25

/* Names of scripts, by number; WORDS_ANY has no name. */
extern const char *const word_script_names[NUM_WORD_SCRIPTS];

/*
 * True if a folded word of len bytes of UTF-8 is of a script, by the first of
 * its letters that belongs to one.  A word without such a letter, such as a
 * number, is of every script.
 */
extern bool word_is_of_script(WordScript script, const char *word,
							  size_t len);

/* Raise EXTERNAL_ROUTINE_EXCEPTION if ICU failed. */
static inline void
icu_require(UErrorCode status, const char *what)
{
	if (unlikely(U_FAILURE(status)))
		ereport(ERROR,
				(errcode(ERRCODE_EXTERNAL_ROUTINE_EXCEPTION),
				 errmsg("ICU could not %s: %s", what, u_errorName(status))));
}

#endif							/* NEARDUP_LETTERS_H */
