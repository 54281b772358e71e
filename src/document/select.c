/*
 * select.c
 *		Selection of features: a few of a document's shingles.
 *
 * All shingles of a long document take much room.  These functions choose some
 * by local rules, so that in a passage copied into another document the same
 * shingles are chosen (except by every_nth, which an inserted word shifts).
 */
#include "postgres.h"

#include <unicode/uchar.h>
#include <unicode/unorm2.h>

#include "mb/pg_wchar.h"

#include "base/hash.h"
#include "base/interrupts.h"
#include "base/memory.h"
#include "base/sort_uint64.h"
#include "document/select.h"

/*
 * The queue has positions whose hashes rise: each has the smallest hash,
 * rightmost among equals, after its predecessor.  The front has the smallest
 * hash of the window.
 */
size_t
select_winnow(const uint64 *hashes, size_t n, size_t window, uint64 *chosen)
{
	size_t	   *queue;
	size_t		front = 0;		/* place in the queue, which is a ring */
	size_t		length = 0;
	size_t		last = n;		/* position chosen last, or n */
	size_t		nchosen = 0;

	Assert(window >= 1);
	window = Min(window, n);
	queue = palloc_huge(window, sizeof(size_t));
	for (size_t i = 0; i < n; i++)
	{
		if (length > 0 && queue[front] + window <= i)
		{
			front = (front + 1) % window;
			length--;
		}
		while (length > 0 &&
			   hashes[queue[(front + length - 1) % window]] >= hashes[i])
			length--;
		queue[(front + length++) % window] = i;
		if (i + 1 >= window && queue[front] != last)
		{
			last = queue[front];
			chosen[nchosen++] = hashes[last];
		}
		CHECK_EVERY(i);
	}
	pfree(queue);
	return nchosen;
}

size_t
select_every(const uint64 *hashes, size_t n, size_t m, uint64 *chosen)
{
	size_t		nchosen = 0;

	Assert(m >= 1);
	for (size_t i = 0; i < n; i += m)
	{
		CHECK_EVERY(nchosen);
		chosen[nchosen++] = hashes[i];
	}
	return nchosen;
}

/* Anchors */

/* An anchor: units from `begin` on */
typedef struct Anchor
{
	uint64		first;			/* first unit of the anchor */
	size_t		begin;
	size_t		length;
} Anchor;

/* Anchors, whose units lie one after another in one array */
struct Anchors
{
	Anchor	   *anchors;		/* sorted by first unit, then by falling
								 * length, after anchors_finish() */
	size_t		n;
	size_t		size;
	uint64	   *units;			/* units of all anchors */
	size_t		nunits;
	size_t		units_size;
};

Anchors *
anchors_create(void)
{
	return palloc0(sizeof(Anchors));
}

void
anchors_add(Anchors *anchors, const uint64 *units, size_t n)
{
	Anchor	   *anchor;

	anchors->anchors = growing_reserve(anchors->anchors, &anchors->size,
									   anchors->n + 1, sizeof(Anchor));
	anchors->units = growing_reserve(anchors->units, &anchors->units_size,
									 anchors->nunits + n, sizeof(uint64));
	Assert(n >= 1);
	anchor = &anchors->anchors[anchors->n++];
	anchor->first = units[0];
	anchor->begin = anchors->nunits;
	anchor->length = n;
	memcpy(anchors->units + anchors->nunits, units, n * sizeof(uint64));
	anchors->nunits += n;
}

/* sort_anchors(array, n): by first unit, then by falling length */
#define ST_SORT sort_anchors
#define ST_ELEMENT_TYPE Anchor
#define ST_COMPARE(a, b) \
	((a)->first != (b)->first ? ((a)->first < (b)->first ? -1 : 1) : \
	 ((a)->length < (b)->length) - ((a)->length > (b)->length))
#define ST_SCOPE static
#define ST_CHECK_FOR_INTERRUPTS
#define ST_DEFINE
#include "lib/sort_template.h"

uint64
anchors_finish(Anchors *anchors)
{
	uint64	   *hashes = palloc_huge(anchors->n, sizeof(uint64));
	uint64		hash;
	size_t		n;

	for (size_t i = 0; i < anchors->n; i++)
	{
		CHECK_EVERY(i);
		hashes[i] = hash_uint64s(anchors->units + anchors->anchors[i].begin,
								 anchors->anchors[i].length);
	}
	n = sort_distinct_hashes(hashes, anchors->n);
	hash = hash_uint64s(hashes, n);
	pfree(hashes);
	sort_anchors(anchors->anchors, anchors->n);
	return hash;
}

/* Return the first anchor whose first unit is not smaller than `unit`. */
static size_t
find_anchor(const Anchors *anchors, uint64 unit)
{
	size_t		lo = 0;
	size_t		hi = anchors->n;

	while (lo < hi)
	{
		size_t		mid = lo + (hi - lo) / 2;

		if (anchors->anchors[mid].first < unit)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/*
 * Return the number of units of the longest anchor that begins at unit `at`,
 * or 0.
 */
static size_t
match_anchor(const Anchors *anchors, const Sequence *sequence, size_t at)
{
	const uint64 *units = sequence->units + at;
	size_t		left = sequence->nunits - at;

	Assert(at < sequence->nunits);

	for (size_t i = find_anchor(anchors, *units);
		 i < anchors->n && anchors->anchors[i].first == *units; i++)
	{
		const Anchor *anchor = &anchors->anchors[i];

		/* there may be many long anchors with the same first unit */
		CHECK_FOR_INTERRUPTS();
		if (anchor->length <= left &&
			memcmp(anchors->units + anchor->begin, units,
				   anchor->length * sizeof(uint64)) == 0)
			return anchor->length;
	}
	return 0;
}

size_t
select_by_anchor(const Sequence *sequence, const Anchors *anchors,
				 bool following, uint64 *chosen)
{
	size_t		nchosen = 0;

	for (size_t at = 0; at < sequence->nunits; at++)
	{
		size_t		length = match_anchor(anchors, sequence, at);
		size_t		begin = following ? at + length : at;

		if (length > 0 && begin < sequence->nshingles)
			chosen[nchosen++] = sequence->shingles[begin];
		CHECK_EVERY(at);
	}
	return nchosen;
}

/* Rare begins */

/* A shingle and its begin */
typedef struct Begun
{
	uint64		begin;			/* begin of the shingle; later the frequency
								 * of this begin */
	uint64		hash;
} Begun;

/* sort_begun(array, n): by begin, then by hash */
#define ST_SORT sort_begun
#define ST_ELEMENT_TYPE Begun
#define ST_COMPARE(a, b) \
	((a)->begin != (b)->begin ? ((a)->begin < (b)->begin ? -1 : 1) : \
	 ((a)->hash > (b)->hash) - ((a)->hash < (b)->hash))
#define ST_SCOPE static
#define ST_CHECK_FOR_INTERRUPTS
#define ST_DEFINE
#include "lib/sort_template.h"

size_t
select_rarest(const uint64 *hashes, const uint64 *begins, size_t n,
			  size_t count, uint64 *chosen)
{
	Begun	   *begun = palloc_huge(n, sizeof(Begun));
	size_t		nchosen = 0;

	for (size_t i = 0; i < n; i++)
	{
		begun[i].begin = begins[i];
		begun[i].hash = hashes[i];
	}
	sort_begun(begun, n);
	for (size_t first = 0, end; first < n; first = end)
	{
		CHECK_FOR_INTERRUPTS();
		for (end = first + 1;
			 end < n && begun[end].begin == begun[first].begin; end++)
			continue;
		for (size_t i = first; i < end; i++)
			begun[i].begin = end - first;
	}
	sort_begun(begun, n);
	for (size_t i = 0; i < n && nchosen < count; i++)
	{
		CHECK_EVERY(i);
		if (nchosen == 0 || chosen[nchosen - 1] != begun[i].hash)
			chosen[nchosen++] = begun[i].hash;
	}
	pfree(begun);
	return nchosen;
}

/*
 * Consonants
 *
 * Texts read by OCR have more errors in vowels, case, spaces and punctuation
 * than in consonants (Heintze, "Scalable document fingerprinting", 1996).  So
 * a text is reduced to the sequence of its consonants: letters, without marks,
 * that are not vowels of the Latin, Greek or Cyrillic script.  All letters of
 * other scripts are kept.
 */

/* Vowels without marks, in lower case, as words are folded to. */
static const uint16 vowels[] = {
	'a', 'e', 'i', 'o', 'u', 'y',
	0x00e6, 0x00f8, 0x0153,		/* ae, o with a stroke, oe */
	0x0131, 0x0259,				/* dotless i, schwa */
	0x03b1, 0x03b5, 0x03b7, 0x03b9, 0x03bf, 0x03c5, 0x03c9, /* Greek */
	0x0430, 0x0435, 0x0438, 0x043e, 0x0443, 0x044b, 0x044d, /* Cyrillic */
	0x044e, 0x044f, 0x0454, 0x0456,
	0x04af, 0x04b1, 0x04d9, 0x04e9	/* Turkic languages */
};

/*
 * Cyrillic short i and short u are not vowels, although their base letters are
 */
#define SHORT_I		0x0439
#define SHORT_U		0x045e

/* Return a letter without the marks that it is composed with. */
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

/* True if a letter is not a vowel of the Latin, Greek or Cyrillic script. */
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
