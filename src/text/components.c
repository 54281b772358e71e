/*
 * components.c
 *		The parts of ICU and libstemmer that decide which words and sentences a
 *		text has, each identified by a hash of its results.
 *
 * A new version of ICU changes the words of hardly any text, and libstemmer
 * has no version at run time.  So each component is identified by a hash of
 * its results for a sample.  A stemmer's sample has words formed of all
 * endings in its tables (data/stemmer_endings.inc) with pseudorandom letters
 * before and between them, so a change of any rule changes the hash.
 */
#include "postgres.h"

#include <libstemmer.h>
#include <unicode/uchar.h>
#include <unicode/uversion.h>

#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"
#include "utils/memutils.h"

#include "base/hash.h"
#include "text/components.h"
#include "text/languages.h"
#include "text/source.h"
#include "text/words.h"

static const char *const names[COMPONENT_STEMMER] = {
	[COMPONENT_LETTERS] = "letters",
	[COMPONENT_SENTENCES] = "sentences",
	[COMPONENT_CJK] = "words of Chinese and Japanese",
	[COMPONENT_THAI] = "words of Thai",
	[COMPONENT_LAO] = "words of Lao",
	[COMPONENT_KHMER] = "words of Khmer",
	[COMPONENT_BURMESE] = "words of Burmese",
};

static const char *const samples[COMPONENT_STEMMER] = {
#include "text/data/samples.inc"
};

/*
 * Endings in the stemmers' tables, separated by spaces (see
 * test/data/stemmer_endings)
 */
static const char *const stemmer_endings[NUM_LANGUAGES] = {
#include "text/data/stemmer_endings.inc"
};

const char *
component_name(int id)
{
	Language	language = (Language) (id - COMPONENT_STEMMER);

	if (id < COMPONENT_STEMMER)
		return names[id];
	if (!language_has_stemmer(language) || !language_is_available(language))
		return NULL;
	return psprintf("stems of %s", language_name(language));
}

char *
icu_version(void)
{
	UVersionInfo version;
	char text[	U_MAX_VERSION_STRING_LENGTH];

	u_getVersion(version);
	u_versionToString(version, text);
	return pstrdup(text);
}

/* Add bytes to a running hash. */
static inline void
add_hash(uint64 *hash, const void *bytes, size_t len)
{
	*hash = mix64(*hash + XXH3_64bits(bytes, len));
}

/*
 * Hash the classes of all characters below U+3100 and of the compatibility
 * blocks, as of Unicode 15.0.  Newer characters are new scripts and symbols,
 * which no older text has.
 */
static uint64
hash_letters(void)
{
	uint64		hash = 0;

	letters_init();
	for (UChar32 c = 0; c < 0x10000; c = c == 0x30FF ? 0xF900 : c + 1)
	{
		UVersionInfo age;
		Letter		letter[2];

		u_charAge(c, age);
		if (age[0] == 0 || age[0] > 15 || (age[0] == 15 && age[1] > 0))
			continue;
		letter[0] = letter_classify(RULES_COMMON, c);
		letter[1] = letter_classify(RULES_PLAIN, c);
		add_hash(&hash, letter, sizeof(letter));
	}
	return hash;
}

/* Hash the sentences into which ICU cuts a sample. */
static uint64
hash_sentences(void)
{
	const char *sample = samples[COMPONENT_SENTENCES];
	Sentences  *sentences = sentences_create(false);
	TextSource	source;
	uint64		hash = 0;

	source_begin(&source, sample, strlen(sample), false);
	sentences_begin(sentences, &source);
	while (sentences_next(sentences))
	{
		const char *text;
		size_t		len;

		while (sentence_text(sentences, &text, &len))
			add_hash(&hash, text, len);
	}
	return hash;
}

/* Hash the words into which ICU cuts a sample in a script without spaces. */
static uint64
hash_words(const char *sample)
{
	Segmenter  *segmenter;
	size_t		len = strlen(sample);
	char	   *words = palloc(2 * len);
	uint64		hash = 0;

	letters_init();
	segmenter = segmenter_create(RULES_COMMON);
	add_hash(&hash, words, segmenter_split(segmenter, sample, len, words));
	return hash;
}

/* The endings of a language, and the letters in them. */
typedef struct Endings
{
	const char **ending;		/* each ends at a space or at the end of the
								 * text */
	int			nendings;
	const char *letters[512];
	int			nletters;
	uint64		random;			/* state of the generator */
} Endings;

/* Return a pseudorandom number from 0 to n - 1. */
static int
pick(Endings *endings, int n)
{
	endings->random = endings->random * UINT64CONST(6364136223846793005) +
		UINT64CONST(1442695040888963407);
	return (endings->random >> 33) % n;
}

/* Add the first letter of a text in UTF-8, unless it is there. */
static void
add_letter(Endings *endings, const char *letter)
{
	int			len = pg_utf_mblen((const unsigned char *) letter);

	for (int i = 0; i < endings->nletters; i++)
		if (strncmp(endings->letters[i], letter, len) == 0)
			return;
	if (endings->nletters < (int) lengthof(endings->letters))
		endings->letters[endings->nletters++] = letter;
}

/*
 * Split a text into endings, separated by spaces, and gather their letters.
 * If the first letter is ASCII, add the other letters from a to z.
 */
static Endings *
read_endings(const char *str)
{
	Endings    *endings = palloc0(sizeof(Endings));
	size_t		len = strlen(str);

	endings->ending = palloc((len / 2 + 1) * sizeof(char *));
	for (size_t i = 0; i < len;
		 i += pg_utf_mblen((const unsigned char *) str + i))
	{
		if (i == 0 || str[i - 1] == ' ')
			endings->ending[endings->nendings++] = str + i;
		if (str[i] != ' ')
			add_letter(endings, str + i);
	}
	for (const char *c = "abcdefghijklmnopqrstuvwxyz";
		 !IS_HIGHBIT_SET(*endings->letters[0]) && *c != '\0'; c++)
		add_letter(endings, c);
	return endings;
}

/* Append an ending to a word. */
static void
put_ending(StringInfo word, const char *ending)
{
	appendBinaryStringInfo(word, ending, strcspn(ending, " "));
}

/* Append n pseudorandom letters to a word. */
static void
put_letters(StringInfo word, Endings *endings, int n)
{
	while (n-- > 0)
	{
		const char *letter =
		endings->letters[pick(endings, endings->nletters)];

		appendBinaryStringInfo(word, letter,
							   pg_utf_mblen((const unsigned char *) letter));
	}
}

#define SAMPLE_WORDS	2000	/* approximate, in a stemmer's sample */

/*
 * Form word `number` of an ending: alone, after another ending, or after
 * letters.
 */
static void
form_word(StringInfo word, Endings *endings, const char *ending, int number)
{
	const char *other = endings->ending[pick(endings, endings->nendings)];

	resetStringInfo(word);
	if (number == 1 || (number > 1 && number % 4 == 1))
		put_ending(word, other);
	if (number > 1)
		put_letters(word, endings, 1 + pick(endings, number % 4 == 1 ? 3 : 6));
	put_ending(word, ending);
	if (number > 1 && number % 4 == 0)
		put_ending(word, other);
}

/* Hash the stems of words formed of a language's endings. */
static uint64
hash_stems(Language language)
{
	struct sb_stemmer *stemmer = sb_stemmer_new(language_name(language),
												"UTF_8");
	Endings    *endings = read_endings(stemmer_endings[language]);
	int			forms = 3 + SAMPLE_WORDS / endings->nendings;
	StringInfoData word;
	uint64		hash = 0;

	Assert(endings->nendings > 0);
	if (stemmer == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_OUT_OF_MEMORY), errmsg("out of memory")));
	initStringInfo(&word);
	for (int i = 0; i < endings->nendings * forms; i++)
	{
		const sb_symbol *stem;

		form_word(&word, endings, endings->ending[i / forms], i % forms);
		stem = sb_stemmer_stem(stemmer, (const sb_symbol *) word.data,
							   word.len);
		if (stem != NULL)
			add_hash(&hash, stem, sb_stemmer_length(stemmer));
	}
	sb_stemmer_delete(stemmer);
	return hash;
}

char *
component_version(int id)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext,
												  "neardup component",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	uint64		hash;

	Assert(id >= 0 && id < NUM_COMPONENTS);
	if (id == COMPONENT_LETTERS)
		hash = hash_letters();
	else if (id == COMPONENT_SENTENCES)
		hash = hash_sentences();
	else if (id < COMPONENT_STEMMER)
		hash = hash_words(samples[id]);
	else
		hash = hash_stems((Language) (id - COMPONENT_STEMMER));
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
	return psprintf("%08x", (uint32) hash);
}
