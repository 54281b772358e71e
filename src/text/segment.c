/*
 * segment.c
 *		Words of Chinese, Japanese, Thai, Lao, Khmer and Burmese text.
 *
 * These scripts have no spaces between words; ICU finds the words by
 * dictionaries.  A run is cut where such a script begins or ends, and ICU gets
 * each stretch of one script separately, so the words of a stretch do not
 * depend on its neighbours.
 */
#include "postgres.h"

#include <unicode/ubrk.h>
#include <unicode/utf16.h>
#include <unicode/utf8.h>

#include "text/component_use.h"
#include "text/letters.h"
#include "text/words.h"

/* A segmenter: ICU's iterator and the buffer of a stretch */
struct Segmenter
{
	LetterRules rules;
	UBreakIterator *breaks;		/* ICU's iterator; freed with the memory
								 * context */
	UChar	   *stretch;		/* the current stretch in UTF-16; room for
								 * RUN_BYTES units */
	MemoryContextCallback callback;
};

/* Free what ICU has allocated, when the memory context is reset. */
static void
segmenter_free(void *arg)
{
	Segmenter  *segmenter = arg;

	if (segmenter->breaks != NULL)
		ubrk_close(segmenter->breaks);
}

Segmenter *
segmenter_create(LetterRules rules)
{
	Segmenter  *segmenter = palloc0(sizeof(Segmenter));
	UErrorCode	status = U_ZERO_ERROR;

	segmenter->rules = rules;
	segmenter->stretch = palloc(RUN_BYTES * sizeof(UChar));
	segmenter->callback.func = segmenter_free;
	segmenter->callback.arg = segmenter;
	MemoryContextRegisterResetCallback(CurrentMemoryContext,
									   &segmenter->callback);
	/* the root locale: words do not depend on where the server runs */
	segmenter->breaks = ubrk_open(UBRK_WORD, "", NULL, 0, &status);
	if (U_FAILURE(status))
		segmenter->breaks = NULL;
	icu_require(status, "load its word break rules");
	return segmenter;
}

/*
 * Return the script of a folded code point that follows one of script
 * `before`. A mark has the script of its letter.
 */
static LetterScript
script_after(Segmenter *segmenter, UChar32 c, LetterScript before)
{
	Letter		letter;

	if (c == ' ' || c == '\'')
		return SCRIPT_SPACED;
	letter = letter_of(segmenter->rules, c);
	return (letter & LETTER_IS_MARK) ? before : LETTER_SCRIPT(letter);
}

/*
 * Return the end of the stretch of one script, *script, that begins at byte
 * start.
 */
static size_t
find_stretch(Segmenter *segmenter, const char *run, size_t start, size_t len,
			 LetterScript *script)
{
	size_t		i = start;
	size_t		next = start;
	UChar32		c;

	U8_NEXT_UNSAFE(run, next, c);
	*script = script_after(segmenter, c, SCRIPT_SPACED);
	for (i = next; i < len; i = next)
	{
		U8_NEXT_UNSAFE(run, next, c);
		if (script_after(segmenter, c, *script) != *script)
			break;
	}
	return i;
}

/*
 * Copy a stretch of one script, of len bytes, with a space after each word;
 * return the length.
 */
static size_t
split_stretch(Segmenter *segmenter, const char *str, size_t len, char *dest)
{
	UErrorCode	status = U_ZERO_ERROR;
	int32		n = 0;
	int32		units = 0;
	size_t		from = 0;
	size_t		out = 0;

	for (size_t i = 0; i < len;)
	{
		UChar32		c;

		U8_NEXT_UNSAFE(str, i, c);
		U16_APPEND_UNSAFE(segmenter->stretch, n, c);
	}
	Assert(n <= RUN_BYTES);
	ubrk_setText(segmenter->breaks, segmenter->stretch, n, &status);
	icu_require(status, "break text into words");
	for (;;)
	{
		int32		stop = ubrk_next(segmenter->breaks);
		size_t		to = from;

		if (stop == UBRK_DONE)
			break;
		while (units < stop)
		{
			UChar32		c;

			U8_NEXT_UNSAFE(str, to, c);
			units += U16_LENGTH(c);
		}
		memcpy(dest + out, str + from, to - from);
		out += to - from;
		dest[out++] = ' ';
		from = to;
	}
	return out;
}

size_t
segmenter_split(Segmenter *segmenter, const char *run, size_t len, char *dest)
{
	size_t		out = 0;

	for (size_t start = 0, stop; start < len; start = stop)
	{
		LetterScript script;

		stop = find_stretch(segmenter, run, start, len, &script);
		Assert(stop > start && stop <= len && out <= 2 * start);
		if (script != SCRIPT_SPACED)
		{
			component_use(COMPONENT_CJK + (script - SCRIPT_CJK));
			out += split_stretch(segmenter, run + start, stop - start,
								 dest + out);
			continue;
		}
		memcpy(dest + out, run + start, stop - start);
		out += stop - start;
		dest[out++] = ' ';
	}
	return out;
}
