/*
 * joined_set.c
 *		The bitmap of a set, by which most candidates are discarded.
 *
 * Each element flips one bit of a bitmap of about two bits an element.  An element that
 * two sets share flips the same bit in both, so their bitmaps differ in at most as many
 * bits as the sets have elements that they do not share: the Hamming distance of the
 * bitmaps is a lower bound of that of the sets, which may be |A| + |B| - 2 need at most.
 * S. Wandelt et al., "Bitmap filter: speeding up exact set similarity joins with bitwise
 * operations", 2019.
 *
 * The number of words is a power of two.  A bit is found by the low bits of a hash, so a
 * bitmap of twice the length is folded by xor of its halves into one that can be compared.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "port/pg_bitutils.h"

#include "join/engine/joined_set.h"

#define BITS_PER_ELEMENT	2

/* Smaller sets are compared as fast as their bitmaps. */
#define MIN_ELEMENTS		16

#define BITMAP_MULTIPLIER	UINT64CONST(0xC2B2AE3D27D4EB4F)
#define IMAGE_MULTIPLIER	UINT64CONST(0x9FB21C651E98DF25)

/* Words that are compared before the result is checked. */
#define WORDS_AT_ONCE	32

static uint32
bitmap_words(uint32 size)
{
	uint32		words = 1;

	while ((uint64) words * 64 < (uint64) size * BITS_PER_ELEMENT)
		words *= 2;
	return words;
}

size_t
bitmap_bytes(uint32 size)
{
	return sizeof(uint64) * bitmap_words(size);
}

size_t
set_bytes(uint32 size)
{
	return sizeof(uint64) * ((size_t) bitmap_words(size) + size);
}

uint64 *
set_values(void *place, uint32 size)
{
	return (uint64 *) place + bitmap_words(size);
}

static inline const uint64 *
bitmap_of(const JoinSet *set)
{
	return set->values - bitmap_words(set->size);
}

void
bitmap_make(JoinSet *set)
{
	uint32		words = bitmap_words(set->size);
	uint64	   *bitmap = set->values - words;
	uint64		mask = (uint64) words * 64 - 1;

	memset(bitmap, 0, sizeof(uint64) * words);
	for (uint32 i = 0; i < set->nvalues; i++)
	{
		uint64		bit = (set->values[i] * BITMAP_MULTIPLIER) >> 32 & mask;

		CHECK_EVERY(i);
		bitmap[bit / 64] ^= UINT64CONST(1) << bit % 64;
	}
}

/* Fold word i of n out of a bitmap that is `fold` times as long. */
static inline uint64
folded_word(const uint64 *bitmap, uint32 i, uint32 n, uint32 fold)
{
	uint64		word = bitmap[i];

	for (uint32 part = 1; part < fold; part++)
		word ^= bitmap[i + (size_t) part * n];
	return word;
}

uint64
bitmap_image(const JoinSet *set)
{
	return folded_word(bitmap_of(set), 0, 1, bitmap_words(set->size));
}

uint64
values_image(const JoinSet *set)
{
	uint64		image = 0;

	for (uint32 i = 0; i < set->nvalues; i++)
	{
		CHECK_EVERY(i);
		image ^= UINT64CONST(1) << (set->values[i] * IMAGE_MULTIPLIER >> 58);
	}
	return image;
}

bool
bitmaps_allow(const JoinSet *a, const JoinSet *b, uint32 need)
{
	uint32		a_words = bitmap_words(a->size);
	uint32		b_words = bitmap_words(b->size);
	uint32		words = Min(a_words, b_words);
	int64		allowed = (int64) a->nvalues + b->nvalues - 2 * (int64) need;
	uint64		differing[WORDS_AT_ONCE];

	if (Min(a->nvalues, b->nvalues) < MIN_ELEMENTS ||
		allowed >= (int64) words * 32)
		return true;
	for (uint32 done = 0; done < words; done += WORDS_AT_ONCE)
	{
		uint32		n = Min(WORDS_AT_ONCE, words - done);

		for (uint32 i = 0; i < n; i++)
			differing[i] =
				folded_word(bitmap_of(a), done + i, words, a_words / words) ^
				folded_word(bitmap_of(b), done + i, words, b_words / words);
		allowed -= pg_popcount((const char *) differing, sizeof(uint64) * n);
		if (allowed < 0)
			return false;
	}
	return true;
}
