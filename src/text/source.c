/*
 * source.c
 *		A document as a sequence of blocks of plain text, with HTML and XML
 *		markup stripped on request; and its lines or sentences.
 *
 * Without markup the blocks are pieces of the document.  With markup they are
 * the stretches between tags, and the characters of entities, which alone are
 * copied.  A tag that only formats characters (<b>, <a>, <span>) leaves no
 * trace, so a word may continue after it. <br> leaves a line end.  Any other
 * tag leaves an empty line, which ends word, line and sentence.
 *
 * The rules are a part of browsers' rules: < begins a tag only before a
 * letter, /, ! or ?; a quoted attribute value may contain >; what is not
 * closed extends to the end of the document.  Any input has a meaning, and is
 * read in linear time.
 */
#include "postgres.h"

#include <unicode/ubrk.h>
#include <unicode/utext.h>

#include "mb/pg_wchar.h"
#include "miscadmin.h"

#include "text/component_use.h"
#include "text/letters.h"
#include "text/source.h"

#define TAG_NAME_MAX	15		/* bytes; no known tag has a longer name */
#define ENTITY_NAME_MAX 32		/* bytes; no entity has a longer name */
#define BARE_NAME_MAX	6		/* bytes; no entity that may stand without a
								 * semicolon has a longer name */

/* True if a byte is a letter of ASCII. */
static bool
is_alpha(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* True if a byte is a digit of ASCII. */
static bool
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Return a byte in lower case if it is a letter of ASCII. */
static char
lower(char c)
{
	return (c >= 'A' && c <= 'Z') ? c + ('a' - 'A') : c;
}

const char *
utf8_cut(const char *str, const char *limit)
{
	const char *cut = limit;

	Assert(limit > str);
	/* a character has at most three continuation bytes */
	while (cut > str + 1 && limit - cut < 3 &&
		   ((unsigned char) *cut & 0xC0) == 0x80)
		cut--;
	return cut;
}

void
source_begin(TextSource *source, const char *doc, size_t len, bool markup)
{
	source->doc = source->at = source->from = source->section_end = doc;
	source->end = doc + len;
	source->markup = markup;
}

/* Tags */

/* Tags, in order of their names, that do not separate words. */
static const char *const inline_tags[] = {
	"a", "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "code", "data",
	"del", "dfn", "em", "font", "i", "ins", "kbd", "label", "mark", "nobr",
	"q", "s", "samp", "small", "span", "strike", "strong", "sub", "sup",
	"time", "tt", "u", "var", "wbr",
};

/* Compare a name with an element of a list of names. */
static int
compare_names(const void *a, const void *b)
{
	return strcmp((const char *) a, *(const char *const *) b);
}

/* Return the text that replaces a tag, or NULL. */
static const char *
trace_of_tag(const char *name)
{
	if (strcmp(name, "br") == 0)
		return "\n";
	if (bsearch(name, inline_tags, lengthof(inline_tags),
				sizeof(inline_tags[0]), compare_names) != NULL)
		return NULL;
	return "\n\n";
}

/* Return the place after the next occurrence of c, or the end. */
static const char *
place_after(const char *p, const char *end, char c)
{
	p = memchr(p, c, end - p);
	return p == NULL ? end : p + 1;
}

/* Return the place after the comment that begins at p, with <!--. */
static const char *
skip_comment(const char *p, const char *end)
{
	const char *content = p + 4;

	/* search from the first hyphens on: <!--> is a complete comment */
	for (p += 2; p < end; p++)
	{
		CHECK_FOR_INTERRUPTS();
		p = memchr(p, '>', end - p);
		if (p == NULL)
			return end;
		if (p[-1] == '-' && p[-2] == '-')
			return p + 1;
		/* --!> is a common error, which browsers accept */
		if (p - content >= 3 && memcmp(p - 3, "--!", 3) == 0)
			return p + 1;
	}
	return end;
}

/*
 * Return the place after the tag whose attributes begin at p.  A quote counts
 * only where a value begins, after an equals sign.
 */
static const char *
skip_attributes(const char *p, const char *end)
{
	while (p < end && *p != '>')
	{
		if (*p++ != '=')
			continue;
		while (p < end && is_space(*p))
			p++;
		if (p < end && (*p == '"' || *p == '\''))
		{
			CHECK_FOR_INTERRUPTS();
			p = place_after(p + 1, end, *p);
		}
		else
			while (p < end && *p != '>' && !is_space(*p))
				p++;
	}
	return p < end ? p + 1 : end;
}

/*
 * Return the place of the end tag </name that closes a script or style whose
 * content is at p.
 */
static const char *
find_end_tag(const char *p, const char *end, const char *name)
{
	size_t		len = strlen(name);

	for (; (p = memchr(p, '<', end - p)) != NULL; p++)
	{
		size_t		i = 0;

		CHECK_FOR_INTERRUPTS();
		if ((size_t) (end - p) < len + 2 || p[1] != '/')
			continue;
		while (i < len && lower(p[2 + i]) == name[i])
			i++;
		if (i == len && (p + 2 + len == end || !is_alpha(p[2 + len])))
			return p;
	}
	return end;
}

/*
 * Return the place after the start or end tag at p, whose name begins at name.
 */
static const char *
skip_tag(const char *p, const char *name, const char *end, const char **trace)
{
	char		buf[TAG_NAME_MAX + 1];
	size_t		len = 0;
	const char *after;

	while (name < end && !is_space(*name) && *name != '/' && *name != '>')
	{
		if (len < TAG_NAME_MAX)
			buf[len] = lower(*name);
		len++;
		name++;
	}
	buf[Min(len, TAG_NAME_MAX)] = '\0';
	*trace = trace_of_tag(buf);
	after = skip_attributes(name, end);
	if (p[1] != '/' && after[-2] != '/' &&
		(strcmp(buf, "script") == 0 || strcmp(buf, "style") == 0))
		after = find_end_tag(after, end, buf);
	return after;
}

/*
 * Return the place after the markup at p, which is a <, or NULL if that < is
 * text.  Set *trace to the text that replaces the markup, or NULL.
 */
static const char *
skip_markup(const char *p, const char *end, const char **trace)
{
	size_t		left = end - p;

	*trace = NULL;
	if (left < 2)
		return NULL;
	if (is_alpha(p[1]))
		return skip_tag(p, p + 1, end, trace);
	if (p[1] == '/' && left > 2 && is_alpha(p[2]))
		return skip_tag(p, p + 2, end, trace);
	if (left >= 4 && memcmp(p, "<!--", 4) == 0)
		return skip_comment(p, end);
	if (p[1] != '/' && p[1] != '!' && p[1] != '?')
		return NULL;
	*trace = "\n\n";
	return place_after(p + 2, end, '>');
}

/* Return the end of the CDATA section whose content is at p. */
static const char *
find_section_end(const char *p, const char *end)
{
	for (; (p = memchr(p, ']', end - p)) != NULL; p++)
	{
		CHECK_FOR_INTERRUPTS();
		if (end - p >= 3 && memcmp(p, "]]>", 3) == 0)
			return p;
	}
	return end;
}

/*
 * Return the place after the opening of a CDATA section if the source is at
 * one, or NULL. Sections are not nested.
 */
static const char *
open_section(TextSource *source)
{
	static const char opening[] = "<![CDATA[";
	size_t		len = sizeof(opening) - 1;

	if ((size_t) (source->end - source->at) < len ||
		memcmp(source->at, opening, len) != 0)
		return NULL;
	if (source->at >= source->section_end)
		source->section_end = find_section_end(source->at + len, source->end);
	return source->at + len;
}

/*
 * Return the place after the markup at which the source is, as skip_markup()
 * does.
 */
static const char *
source_skip_markup(TextSource *source, const char **trace)
{
	const char *content = open_section(source);

	*trace = NULL;
	if (content != NULL)
		return content;
	return skip_markup(source->at, source->at < source->section_end ?
					   source->section_end : source->end, trace);
}

/* Entities */

#define BARE	0x80000000		/* may stand without a semicolon */

/* An entity of HTML and its character */
typedef struct Entity
{
	const char *name;
	uint32		code;			/* code point, with BARE */
} Entity;

/*
 * The names of the HTML standard, in the order of their bytes, all but one
 * (fjlig, two letters).  An entity of two code points, which is always a
 * symbol with a variant, has the first.
 */
static const Entity entities[] = {
#include "text/data/entities.inc"
};

/* A name that is looked up; no null byte follows it */
typedef struct EntityName
{
	const char *name;
	size_t		len;
} EntityName;

/* Compare the name of an EntityName with an entity. */
static int
compare_entity(const void *key, const void *element)
{
	const EntityName *name = key;
	const Entity *entity = element;
	int			cmp = strncmp(name->name, entity->name, name->len);

	return cmp == 0 && entity->name[name->len] != '\0' ? -1 : cmp;
}

/*
 * Return the code point of an entity by name, or 0. bare: no semicolon
 * follows, which only some entities allow.
 */
static uint32
entity_by_name(const char *name, size_t len, bool bare)
{
	EntityName	key = {name, len};
	const Entity *entity = bsearch(&key, entities, lengthof(entities),
								   sizeof(Entity), compare_entity);

	return entity == NULL || (bare && !(entity->code & BARE)) ? 0 :
		entity->code & ~BARE;
}

/*
 * Return the code point of a numeric reference.  As in HTML, 128 to 159 are
 * the characters of Windows code page 1252.
 */
static uint32
numeric_entity(uint32 code)
{
	static const uint16 cp1252[32] = {
		0x20AC, 0x81, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021,
		0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0x8D, 0x017D, 0x8F,
		0x90, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014,
		0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0x9D, 0x017E, 0x0178,
	};

	if (code >= 0x80 && code <= 0x9F)
		return cp1252[code - 0x80];
	if (code == 0 || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF))
		return 0xFFFD;
	return code;
}

/* Return the value of a digit, or -1. */
static int
digit_value(char c, int base)
{
	if (is_digit(c))
		return c - '0';
	c = lower(c);
	if (base == 16 && c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return -1;
}

/*
 * Return the place after the numeric reference at p, with &#, or NULL if it is
 * none.
 */
static const char *
skip_numeric(const char *p, const char *end, uint32 *code)
{
	int			base = 10;
	uint32		value = 0;
	const char *digits;

	p += 2;
	if (p < end && lower(*p) == 'x')
	{
		base = 16;
		p++;
	}
	for (digits = p; p < end && digit_value(*p, base) >= 0; p++)
	{
		/* once too large, it stays so */
		if (value <= 0x10FFFF)
			value = value * base + digit_value(*p, base);
	}
	if (p == digits)
		return NULL;
	*code = numeric_entity(value);
	return (p < end && *p == ';') ? p + 1 : p;
}

/*
 * Return the place after the entity at p, which is an &, or NULL if that & is
 * text.  Without a semicolon, the longest name that needs none and with which
 * the letters begin is meant.
 */
static const char *
skip_entity(const char *p, const char *end, uint32 *code)
{
	const char *name = p + 1;

	if (end - p >= 2 && p[1] == '#')
		return skip_numeric(p, end, code);
	for (p = name; p < end && p - name < ENTITY_NAME_MAX &&
		 (is_alpha(*p) || is_digit(*p)); p++)
		continue;
	if (p < end && *p == ';' &&
		(*code = entity_by_name(name, p - name, false)) != 0)
		return p + 1;
	for (p = Min(p, name + BARE_NAME_MAX); p > name; p--)
	{
		*code = entity_by_name(name, p - name, true);
		if (*code != 0)
			return p;
	}
	return NULL;
}

/* Blocks */

/* Return the next block of a document without markup. */
static void
plain_block(TextSource *source, const char **text, size_t *len)
{
	const char *start = source->at;
	const char *stop = source->end;

	if (stop - start > SOURCE_BLOCK)
		stop = utf8_cut(start, start + SOURCE_BLOCK);
	*text = start;
	*len = stop - start;
	Assert(*len >= 1 && *len <= SOURCE_BLOCK);
	source->at = stop;
}

/* True if the < or & at p, before end, may begin markup or an entity. */
static bool
may_begin(const char *p, const char *end)
{
	char		next = p + 1 < end ? p[1] : ' ';

	if (*p == '<')
		return is_alpha(next) || next == '/' || next == '!' || next == '?';
	return is_alpha(next) || next == '#';
}

/*
 * Return the text up to the next markup or entity.  The first character is
 * known to be text.
 */
static void
span_block(TextSource *source, const char **text, size_t *len)
{
	const char *start = source->at;
	const char *limit = source->end;
	const char *p = start + 1;

	if (limit - start > SOURCE_BLOCK)
		limit = utf8_cut(start, start + SOURCE_BLOCK);
	while (p < limit &&
		   ((*p != '<' && *p != '&') || !may_begin(p, source->end)))
		p++;
	*text = start;
	*len = p - start;
	Assert(*len >= 1 && *len <= SOURCE_BLOCK);
	source->at = p;
}

bool
source_next(void *arg, const char **text, size_t *len)
{
	TextSource *source = arg;

	while (source->at < source->end)
	{
		const char *after;
		const char *trace;
		uint32		code;

		CHECK_FOR_INTERRUPTS();
		source->from = source->at;
		if (!source->markup)
		{
			plain_block(source, text, len);
			return true;
		}
		if (*source->at == '<' &&
			(after = source_skip_markup(source, &trace)) != NULL)
		{
			Assert(after > source->at && after <= source->end);
			source->at = after;
			if (trace == NULL)
				continue;
			*text = trace;
			*len = strlen(trace);
			return true;
		}
		if (*source->at == '&' &&
			(after = skip_entity(source->at, source->end, &code)) != NULL)
		{
			source->at = after;
			unicode_to_utf8(code, (unsigned char *) source->decoded);
			*text = source->decoded;
			*len = pg_utf_mblen((unsigned char *) source->decoded);
			return true;
		}
		span_block(source, text, len);
		return true;
	}
	return false;
}

/*
 * Lines and sentences
 *
 * A line ends at a newline.  Sentences end by ICU's rules (Unicode standard,
 * annex 29), with one exception: these rules end a sentence at every newline,
 * but most plain text is broken into lines of 70 or 80 characters.  So a
 * newline is a space here, and only an empty line ends a sentence.  That space
 * is a vertical tab, by which the scanner of words recognises the line end
 * that divides a word.
 *
 * Sentences are found in a window, whose text is gathered from the source.
 * The end of a sentence can depend on the text after it ("etc. 12 more"), but
 * never on the text after the next sentence.  So a sentence is certain if the
 * next one ends in the window, too; otherwise the window is moved.  A sentence
 * that is longer than the window is cut.
 */

#define WINDOW	SOURCE_BLOCK	/* bytes of the window */

/* A splitter: of lines, or of sentences in a window */
struct Sentences
{
	TextSource *source;
	bool		lines;

	/* the rest of a block of the source */
	const char *at;
	const char *end;

	/* lines */
	bool		in_line;		/* the newline of the current line has not
								 * been read */

	/* sentences */
	char	   *window;			/* WINDOW bytes */
	size_t		length;			/* bytes in the window */
	size_t		stop;			/* end of the current sentence in the window */
	size_t		given;			/* end of the part of the sentence that has
								 * been read */
	int32		ahead;			/* end of the next sentence, or UBRK_DONE */
	bool		exhausted;		/* nothing is left in the source */
	bool		empty_line;		/* only white space since the last newline */
	UBreakIterator *breaks;		/* ICU's iterator; like text, freed with the
								 * context */
	UText	   *text;
	MemoryContextCallback callback;
};

/* Free what ICU has allocated, when the memory context is reset. */
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

/* Get a further block if the last one is used up; return false at the end. */
static bool
sentences_refill(Sentences *sentences)
{
	const char *str;
	size_t		len;

	if (sentences->at < sentences->end)
		return true;
	if (!source_next(sentences->source, &str, &len))
		return false;
	sentences->at = str;
	sentences->end = str + len;
	return true;
}

/* Lines */

/* Return the next block of the line; return false at its end. */
static bool
line_text(Sentences *sentences, const char **text, size_t *len)
{
	const char *newline;

	if (!sentences->in_line || !sentences_refill(sentences))
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

/* Move to the next line; return false if there is none. */
static bool
next_line(Sentences *sentences)
{
	const char *text;
	size_t		len;

	/* skip the unread rest of the line */
	while (line_text(sentences, &text, &len))
		continue;
	sentences->in_line = sentences_refill(sentences);
	return sentences->in_line;
}

/* Sentences */

/*
 * Copy n bytes into the window.  Only the newline of an empty line stays;
 * other line ends become white space that ends no sentence.
 */
static void
gather(Sentences *sentences, const char *text, size_t n)
{
	char	   *dest = sentences->window + sentences->length;

	Assert(sentences->length + n <= WINDOW);
	for (size_t i = 0; i < n; i++)
	{
		char		c = text[i];

		if (c == '\n')
		{
			if (!sentences->empty_line)
				c = '\v';
			sentences->empty_line = true;
		}
		else if (c == '\r')
			c = '\v';
		else if (c != ' ' && c != '\t')
			sentences->empty_line = false;
		dest[i] = c;
	}
	sentences->length += n;
}

/* Drop the text that has been read from the window, and fill the window. */
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

		if (!sentences_refill(sentences))
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
 * Move to the sentence that ends at `ahead`.  Return false if the sentence
 * might end elsewhere in a fuller window; with final there is no fuller
 * window.
 */
static bool
take_sentence(Sentences *sentences, bool final)
{
	int32		stop = sentences->ahead;

	if (stop == UBRK_DONE)
		return false;
	Assert((size_t) stop > sentences->stop &&
		   (size_t) stop <= sentences->length);
	sentences->ahead = ubrk_next(sentences->breaks);
	if (!final && (sentences->ahead == UBRK_DONE ||
				   (size_t) sentences->ahead == sentences->length))
		return false;
	sentences->given = sentences->stop;
	sentences->stop = stop;
	return true;
}

/* Move to the next sentence; return false if there is none. */
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
	Assert(sentences->given < sentences->stop);
	*text = sentences->window + sentences->given;
	*len = sentences->stop - sentences->given;
	sentences->given = sentences->stop;
	return true;
}
