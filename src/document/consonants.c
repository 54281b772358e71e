/*
 * consonants.c
 *		The consonants of a document, one after the other.
 *
 * Texts that were read by a machine have their errors in vowels, case, spaces
 * and signs more often than in consonants (Heintze, "Scalable document
 * fingerprinting", 1996).  What is left of a text here is the sequence of its
 * consonants: letters that are not vowels of the Latin, Greek or Cyrillic
 * script, marks apart.  Scripts that write no vowels, or know no such thing,
 * keep all their letters.
 */
#include "postgres.h"

#include <unicode/uchar.h>
#include <unicode/unorm2.h>

#include "mb/pg_wchar.h"

#include "base/memory.h"
#include "document/consonants.h"

/* Vowels without marks, in lower case, as words are folded to. */
static const uint16 vowels[] = {
	'a', 'e', 'i', 'o', 'u', 'y',
	0x00e6, 0x00f8, 0x0153,		/* ae, o with a stroke, oe */
	0x0131, 0x0259,				/* dotless i, schwa */
	0x03b1, 0x03b5, 0x03b7, 0x03b9, 0x03bf, 0x03c5, 0x03c9, /* Greek */
	0x0430, 0x0435, 0x0438, 0x043e, 0x0443, 0x044b, 0x044d, /* Cyrillic */
	0x044e, 0x044f, 0x0454, 0x0456,
	0x04af, 0x04b1, 0x04d9, 0x04e9	/* of Turkic languages */
};

/* Cyrillic short i and short u: not vowels, whatever they are composed of. */
#define SHORT_I		0x0439
#define SHORT_U		0x045e

/* A letter without the marks that it is composed with. */
static UChar32
without_marks(UChar32 letter)
{
	UErrorCode	error = U_ZERO_ERROR;
	const UNormalizer2 *nfd = unorm2_getNFDInstance(&error);
	UChar		decomposed[32];
	int32_t		length;
	UChar32		base = letter;

	if (U_FAILURE(error))
		return letter;
	length = unorm2_getDecomposition(nfd, letter, decomposed,
									 lengthof(decomposed), &error);
	if (length > 0 && U_SUCCESS(error))
		U16_GET(decomposed, 0, 0, length, base);
	return base;
}

static bool
is_consonant(UChar32 letter)
{
	UChar32		base;

	if (!u_isalpha(letter))
		return false;
	if (letter == SHORT_I || letter == SHORT_U)
		return true;
	base = letter < 128 ? letter : without_marks(letter);
	for (size_t i = 0; i < lengthof(vowels); i++)
		if (base == vowels[i])
			return false;
	return true;
}

uint64 *
consonants_read(Reader *reader, size_t *n)
{
	size_t		room = 0;
	uint64	   *letters = NULL;
	const char *word;
	size_t		len;
	uint64		hash;

	*n = 0;
	while (reader_read_word(reader, &word, &len, &hash))
	{
		const unsigned char *at = (const unsigned char *) word;
		const unsigned char *end = at + len;

		for (; at < end; at += pg_utf_mblen(at))
		{
			UChar32		letter = utf8_to_unicode(at);

			if (!is_consonant(letter))
				continue;
			letters = growing_reserve(letters, &room, *n + 1, sizeof(uint64));
			letters[(*n)++] = letter;
		}
	}
	return letters;
}
