/*
 * ascii.c
 *		Index of the words in ASCII text.
 *
 * 64 bytes at a time are put into lower case and turned into two 64-bit maps:
 * bytes that belong to words, and bytes that are not ASCII, which the scanner
 * reads.  A run begins or ends where the first map changes from one bit to the
 * next, so time is in proportion to the number of words, not of bytes.
 */
#include "postgres.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "port/pg_bitutils.h"

#include "text/ascii.h"

/* Bit maps of 64 bytes of text, with SSE2 and without. */
#ifdef __SSE2__

/*
 * Return 255 for each byte of at least `from` and less than from + count, and
 * 0 for the others.
 */
static inline __m128i
in_range(__m128i bytes, char from, char count)
{
	__m128i		above = _mm_sub_epi8(bytes, _mm_set1_epi8(from));

	return _mm_cmpeq_epi8(above, _mm_min_epu8(above,
											  _mm_set1_epi8(count - 1)));
}

/* Return the highest bit of each byte. */
static inline uint64
bits_of(__m128i bytes)
{
	return (uint16) _mm_movemask_epi8(bytes);
}

/* Return a map of the bytes that are c. */
static inline uint64
map_byte(const unsigned char *str, char c)
{
	uint64		map = 0;

	for (int i = 0; i < 64; i += 16)
	{
		__m128i		bytes = _mm_loadu_si128((const __m128i *) (str + i));

		map |= bits_of(_mm_cmpeq_epi8(bytes, _mm_set1_epi8(c))) << i;
	}
	return map;
}

/*
 * Write 64 bytes in lower case to folded, and map the bytes that belong to
 * words and the bytes that are not ASCII.
 */
static inline void
map_bytes(const unsigned char *str, char *folded, uint64 *word,
		  uint64 *other)
{
	const		__m128i case_bit = _mm_set1_epi8(0x20);

	*word = *other = 0;
	for (int i = 0; i < 64; i += 16)
	{
		__m128i		bytes = _mm_loadu_si128((const __m128i *) (str + i));
		__m128i		letters = in_range(_mm_or_si128(bytes, case_bit), 'a', 26);
		__m128i		digits = in_range(bytes, '0', 10);
		uint64		high = bits_of(bytes);

		_mm_storeu_si128((__m128i *) (folded + i),
						 _mm_or_si128(bytes,
									  _mm_and_si128(letters, case_bit)));
		*word |= (high | bits_of(_mm_or_si128(letters, digits))) << i;
		*other |= high << i;
	}
}

#else

/* Return a map of the bytes that are c. */
static inline uint64
map_byte(const unsigned char *text, char c)
{
	uint64		map = 0;

	for (int i = 0; i < 64; i++)
		map |= (uint64) (text[i] == c) <<i;
	return map;
}

/*
 * Write 64 bytes in lower case to folded, and map the bytes that belong to
 * words and the bytes that are not ASCII.
 */
static inline void
map_bytes(const unsigned char *text, char *folded, uint64 *word,
		  uint64 *other)
{
	*word = *other = 0;
	for (int i = 0; i < 64; i++)
	{
		unsigned char c = text[i];
		uint64		is_letter = (unsigned char) ((c | 0x20) - 'a') < 26;
		uint64		is_digit = (unsigned char) (c - '0') < 10;
		uint64		high = c >> 7;

		folded[i] = c | (is_letter << 5);
		*word |= (is_letter | is_digit | high) << i;
		*other |= high << i;
	}
}

#endif

/*
 * Mark the letter before each hyphen that is followed by white space or the
 * end of the chunk as not ASCII.  `hyphens` has a bit for each hyphen after a
 * word among the 64 bytes at `at`.  A hyphen that begins the chunk needs no
 * mark: the run before it ends with its chunk, so the scanner reads it.
 */
static void
mark_divided(AsciiIndex *index, const unsigned char *str, int at,
			 uint64 hyphens)
{
	for (; hyphens != 0; hyphens &= hyphens - 1)
	{
		int			letter = at + pg_rightmost_one_pos64(hyphens) - 1;
		const unsigned char *next = str + letter + 2;

		Assert(letter >= 0 && str[letter + 1] == '-');
		if (letter + 2 < index->length &&
			*next != ' ' && !(*next >= '\t' && *next <= '\r'))
			continue;
		index->other[letter / 64] |= UINT64CONST(1) << (letter % 64);
		index->any_other = true;
	}
}

void
ascii_index(AsciiIndex *index, const unsigned char *str, size_t len,
			bool dotless, bool divided)
{
	uint64		any_other = 0;
	uint64		before = 0;		/* 1 if the last byte belonged to a run */
	int			nbounds = 0;

	Assert(len > 0);
	index->length = Min(len, ASCII_CHUNK);
	index->any_other = false;
	for (int at = 0; at < index->length; at += 64)
	{
		unsigned char rest[64];
		const unsigned char *bytes = str + at;
		int			left = index->length - at;
		uint64		word;
		uint64		other;
		uint64		changes;

		if (left < 64)
		{
			memset(rest, 0, sizeof(rest));
			memcpy(rest, bytes, left);
			bytes = rest;
		}
		map_bytes(bytes, index->folded + at, &word, &other);
		if (dotless)
			other |= map_byte(bytes, 'I');
		any_other |= other;
		index->other[at / 64] = other;
		changes = word ^ (word << 1 | before);
		if (divided)
			mark_divided(index, str, at, changes & map_byte(bytes, '-'));
		before = word >> 63;
		for (; changes != 0; changes &= changes - 1)
			index->bounds[nbounds++] = at + pg_rightmost_one_pos64(changes);
	}
	Assert(nbounds <= ASCII_CHUNK);
	if (nbounds % 2 != 0)
		index->bounds[nbounds++] = index->length;
	index->nruns = nbounds / 2;
	index->any_other |= any_other != 0;
}
