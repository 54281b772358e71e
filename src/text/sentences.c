/*
 * sentences.c
 *		A document cut into lines or sentences.
 *
 * A line ends at a newline.  Sentences end where ICU's rules (those of the
 * Unicode standard, annex 29) say, but for one thing: these rules end a
 * sentence at every newline, and most plain text is broken into lines of 70
 * or 80 characters.  A newline is a space here, and only an empty line ends a
 * sentence.
 *
 * Sentences are found in a window, whose text is gathered from the source.
 * Where a sentence ends can depend on what follows ("etc. 12 more"), but never
 * on what follows the end of the next sentence.  So a sentence is certain as
 * soon as the one behind it has an end in the window, too, and the window is
 * moved on when that is not so.  A sentence that is longer than the window is
 * cut.
 */
#include "postgres.h"

#include <unicode/ubrk.h>
#include <unicode/utext.h>

#include "text/components.h"
#include "text/icu_status.h"
#include "text/sentences.h"

#define WINDOW	SOURCE_BLOCK	/* bytes of the window */

struct Sentences
{
	TextSource *source;
	bool		lines;

	/* a block of the source, and what is left of it */
	const char *at;
	const char *end;

	/* lines */
	bool		in_line;		/* the newline has not been met */

	/* sentences */
	char	   *window;			/* WINDOW bytes */
	size_t		length;			/* bytes in it */
	size_t		stop;			/* end of the sentence */
	size_t		given;			/* of it has been handed out up to here */
	int32		ahead;			/* end of the next one, or UBRK_DONE */
	bool		exhausted;		/* nothing is left in the source */
	bool		empty_line;		/* only white space since the last newline */
	UBreakIterator *breaks;		/* ICU's, both freed with the context */
	UText	   *text;
	MemoryContextCallback callback;
};

static void
sentences_free(void *arg)
{
	Sentences  *sentences = arg;

	if (sentences->breaks != NULL)
		ubrk_close(sentences->breaks);
	utext_close(sentences->text);	/* NULL is allowed */
}

Sentences *
sentences_create(bool lines)
{
	Sentences  *sentences = palloc0(sizeof(Sentences));
	UErrorCode	status = U_ZERO_ERROR;

	sentences->lines = lines;
	if (lines)
		return sentences;
	component_use(COMPONENT_SENTENCES);
	sentences->window = palloc(WINDOW);
	sentences->callback.func = sentences_free;
	sentences->callback.arg = sentences;
	MemoryContextRegisterResetCallback(CurrentMemoryContext,
									   &sentences->callback);
	/* the root locale: sentences do not depend on where the server runs */
	sentences->breaks = ubrk_open(UBRK_SENTENCE, "", NULL, 0, &status);
	if (U_FAILURE(status))
		sentences->breaks = NULL;
	icu_require(status, "load its sentence break rules");
	return sentences;
}

void
sentences_begin(Sentences *sentences, TextSource *source)
{
	sentences->source = source;
	sentences->at = sentences->end = NULL;
	sentences->in_line = false;
	sentences->length = sentences->stop = 0;
	sentences->given = 0;
	sentences->ahead = UBRK_DONE;
	sentences->exhausted = false;
	sentences->empty_line = false;
}

/* Makes sure that at least a byte of the source is at hand. */
static bool
refill(Sentences *sentences)
{
	const char *text;
	size_t		len;

	if (sentences->at < sentences->end)
		return true;
	if (!source_next(sentences->source, &text, &len))
		return false;
	sentences->at = text;
	sentences->end = text + len;
	return true;
}

/* Lines */

static bool
line_text(Sentences *sentences, const char **text, size_t *len)
{
	const char *newline;

	if (!sentences->in_line || !refill(sentences))
		return false;
	*text = sentences->at;
	newline = memchr(sentences->at, '\n', sentences->end - sentences->at);
	if (newline == NULL)
		sentences->at = sentences->end;
	else
	{
		sentences->in_line = false;
		sentences->at = newline + 1;
	}
	*len = sentences->at - *text;
	return true;
}

static bool
next_line(Sentences *sentences)
{
	const char *text;
	size_t		len;

	/* what the reader left of the line */
	while (line_text(sentences, &text, &len))
		continue;
	sentences->in_line = refill(sentences);
	return sentences->in_line;
}

/* Sentences */

/* Copies n bytes into the window, all but the newline of empty lines spaces. */
static void
gather(Sentences *sentences, const char *text, size_t n)
{
	char	   *dest = sentences->window + sentences->length;

	for (size_t i = 0; i < n; i++)
	{
		char		c = text[i];

		if (c == '\n')
		{
			if (!sentences->empty_line)
				c = ' ';
			sentences->empty_line = true;
		}
		else if (c == '\r')
			c = ' ';
		else if (c != ' ' && c != '\t')
			sentences->empty_line = false;
		dest[i] = c;
	}
	sentences->length += n;
}

/* Drops what has been read from the window and fills it up. */
static void
move_window(Sentences *sentences)
{
	UErrorCode	status = U_ZERO_ERROR;

	sentences->length -= sentences->stop;
	memmove(sentences->window, sentences->window + sentences->stop,
			sentences->length);
	sentences->stop = 0;
	while (sentences->length < WINDOW)
	{
		const char *limit;

		if (!refill(sentences))
		{
			sentences->exhausted = true;
			break;
		}
		limit = sentences->end;
		if ((size_t) (limit - sentences->at) > WINDOW - sentences->length)
		{
			limit = utf8_cut(sentences->at,
							 sentences->at + WINDOW - sentences->length);
			/* less than a character fits */
			if (((unsigned char) *limit & 0xC0) == 0x80)
				break;
		}
		gather(sentences, sentences->at, limit - sentences->at);
		sentences->at = limit;
		if (limit < sentences->end)
			break;
	}
	sentences->text = utext_openUTF8(sentences->text, sentences->window,
									 sentences->length, &status);
	icu_require(status, "open a text");
	ubrk_setUText(sentences->breaks, sentences->text, &status);
	icu_require(status, "break a text into sentences");
	sentences->ahead = ubrk_next(sentences->breaks);
}

/*
 * Takes the sentence that ends at ahead.  False if that end is not certain and
 * a fuller window might tell; final says that there is none.
 */
static bool
take_sentence(Sentences *sentences, bool final)
{
	int32		stop = sentences->ahead;

	if (stop == UBRK_DONE)
		return false;
	sentences->ahead = ubrk_next(sentences->breaks);
	if (!final && (sentences->ahead == UBRK_DONE ||
				   (size_t) sentences->ahead == sentences->length))
		return false;
	sentences->given = sentences->stop;
	sentences->stop = stop;
	return true;
}

static bool
next_sentence(Sentences *sentences)
{
	if (take_sentence(sentences, sentences->exhausted))
		return true;
	if (sentences->exhausted)
		return false;
	move_window(sentences);
	return take_sentence(sentences, true);
}

bool
sentences_next(Sentences *sentences)
{
	return sentences->lines ? next_line(sentences) : next_sentence(sentences);
}

bool
sentence_text(void *arg, const char **text, size_t *len)
{
	Sentences  *sentences = arg;

	if (sentences->lines)
		return line_text(sentences, text, len);
	if (sentences->given == sentences->stop)
		return false;
	*text = sentences->window + sentences->given;
	*len = sentences->stop - sentences->given;
	sentences->given = sentences->stop;
	return true;
}
