/*
 * reader.c
 *		The sequence of a document's units as hashes.
 *
 * Words come from the scanner (words.c) and become terms (terms.c), or both
 * from a text-search configuration.  With unit=char the units are the
 * characters of the terms, with single spaces between terms; unit=letter has
 * no spaces.  The hash of a line or sentence combines the hashes of its terms
 * by the word order of shingles; with order=sum it is their plain sum.
 */
#include "postgres.h"

#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "tsearch/ts_type.h"
#include "tsearch/ts_utils.h"
#include "utils/memutils.h"

#include "base/hash.h"
#include "base/sort_uint64.h"
#include "text/reader.h"
#include "text/source.h"
#include "text/terms.h"
#include "text/words.h"

/*
 * Words by a text-search configuration
 *
 * The configuration's parser and dictionaries give words, each in one or more
 * base forms; a word's hash is the sum of the hashes of its base forms.  Stop
 * words of the dictionaries are left out.
 *
 * PostgreSQL parses a whole document at once, and all words after the first
 * 16,383 get the same position.  Here a document is parsed in blocks that end
 * at white space.  That cuts no word, unless it is longer than a block, but
 * may cut a phrase of a thesaurus or a tag of markup.
 */

/* A reader of words by a text-search configuration */
typedef struct ConfigReader
{
	Oid			config;
	const char *at;				/* the rest of the document */
	const char *end;
	MemoryContext block;		/* memory of the words of a block, until the
								 * next one */
	uint64	   *hashes;			/* one per word of the block; in context
								 * `block` */
	uint8	   *initials;		/* initials of these words, as in
								 * reader_read_initials() */
	size_t		nhashes;
	size_t		next;			/* first word that has not been read */
} ConfigReader;

/* Begin a text of len bytes of UTF-8, which the caller keeps in place. */
static void
config_reader_begin(ConfigReader *configured, const char *doc, size_t len)
{
	configured->at = doc;
	configured->end = doc + len;
	configured->nhashes = configured->next = 0;
}

/*
 * Return the length of the next block, at most max: up to white space, if
 * possible.
 */
static size_t
block_length(const ConfigReader *configured, size_t max)
{
	const char *start = configured->at;
	const char *p;

	if ((size_t) (configured->end - start) <= max)
		return configured->end - start;
	for (p = start + max; p > start + max / 2; p--)
		if (is_space(*p))
			return p - start;
	return utf8_cut(start, start + max) - start;
}

/*
 * Parse len bytes of the document; return false if they have more words than
 * there are positions.
 */
static bool
parse(ConfigReader *configured, size_t len, ParsedText *parsed)
{
	char	   *text = pg_any_to_server(pnstrdup(configured->at, len), len,
										PG_UTF8);

	parsed->lenwords = Max(len / 6, 16);
	parsed->curwords = 0;
	parsed->pos = 0;
	parsed->words = palloc(sizeof(ParsedWord) * parsed->lenwords);
	parsetext(configured->config, parsed, text, strlen(text));
	return parsed->pos < MAXENTRYPOS - 1;
}

/* Return the hash of a base form, in UTF-8, and its initial. */
static uint64
form_hash(const ParsedWord *form, uint8 *initial)
{
	char	   *utf8 = pg_server_to_any(form->word, form->len, PG_UTF8);

	*initial = form->len == 0 ? 0 : utf8_initial(utf8);
	return XXH3_64bits(utf8, utf8 == form->word ? form->len : strlen(utf8));
}

/* Compute one hash per word: base forms of one word have the same position. */
static void
sum_forms(ConfigReader *configured, const ParsedText *parsed)
{
	int			last = 0;

	configured->hashes = palloc(sizeof(uint64) * (parsed->curwords + 1));
	configured->initials = palloc(parsed->curwords + 1);
	for (int i = 0; i < parsed->curwords; i++)
	{
		const ParsedWord *form = &parsed->words[i];
		uint8		initial;
		uint64		hash = form_hash(form, &initial);

		if (i == 0 || form->pos.pos != last)
		{
			configured->initials[configured->nhashes] = initial;
			configured->hashes[configured->nhashes++] = hash;
		}
		else
			configured->hashes[configured->nhashes - 1] += hash;
		last = form->pos.pos;
	}
}

/*
 * Read the words of the next block; return false at the end of the document.
 */
static bool
parse_block(ConfigReader *configured)
{
	MemoryContext old;
	ParsedText	parsed;
	size_t		max = SOURCE_BLOCK;
	size_t		len;

	configured->nhashes = configured->next = 0;
	if (configured->at == configured->end)
		return false;
	for (;;)
	{
		CHECK_FOR_INTERRUPTS();
		MemoryContextReset(configured->block);
		old = MemoryContextSwitchTo(configured->block);
		len = block_length(configured, max);
		if (parse(configured, len, &parsed) || max <= MAXENTRYPOS / 4)
			break;
		MemoryContextSwitchTo(old);
		max /= 2;
	}
	sum_forms(configured, &parsed);
	MemoryContextSwitchTo(old);
	configured->at += len;
	return true;
}

/*
 * Read words as reader_read_initials() does, where a word has the initial of
 * its first base form; initials may be NULL.
 */
static size_t
config_reader_read(ConfigReader *configured, uint64 *hashes, uint8 *initials,
				   size_t max)
{
	size_t		n;

	while (configured->next == configured->nhashes)
	{
		if (!parse_block(configured))
			return 0;
	}
	Assert(configured->next < configured->nhashes);
	n = Min(max, configured->nhashes - configured->next);
	memcpy(hashes, configured->hashes + configured->next, n * sizeof(uint64));
	if (initials != NULL)
		memcpy(initials, configured->initials + configured->next, n);
	configured->next += n;
	return n;
}

/* Readers */

/* Most words of a line or sentence; a longer one is cut */
#define SENTENCE_MAX	65536

/* A reader; the parts that its unit does not need stay NULL */
struct Reader
{
	Unit		unit;
	Order		order;
	uint8		reading;		/* READING_... */
	TextSource	source;
	WordScanner *scanner;
	Terms	   *terms;
	ConfigReader *configured;	/* replaces scanner and terms; NULL = no
								 * configuration */

	/* unit=char, unit=letter: the rest of the current word */
	const char *chars;
	size_t		nchars;			/* bytes */
	bool		first;			/* no word has been read yet */
	bool		dropped;		/* a word before the current one was left out */
	uint64		ascii[128];		/* hashes of the ASCII characters */

	/* unit=sentence and unit=line */
	Sentences  *sentences;
	bool		in_sentence;	/* the sentence was cut, and more of it
								 * follows */
	uint64	   *hashes;			/* hashes of its words, up to SENTENCE_MAX */
};

/* True if the units are characters. */
static bool
of_chars(Unit unit)
{
	return unit == UNIT_CHAR || unit == UNIT_LETTER;
}

Reader *
reader_create(const Analysis *analysis)
{
	Reader	   *reader = palloc0(sizeof(Reader));

	reader->unit = analysis->spec.unit;
	reader->order = analysis->spec.order;
	reader->reading = analysis->reading;
	if (reader->unit == UNIT_SENTENCE || reader->unit == UNIT_LINE)
	{
		reader->sentences = sentences_create(reader->unit == UNIT_LINE);
		reader->hashes = palloc(SENTENCE_MAX * sizeof(uint64));
	}
	if (OidIsValid(analysis->config))
	{
		reader->configured = palloc0(sizeof(ConfigReader));
		reader->configured->config = analysis->config;
		reader->configured->block = AllocSetContextCreate(CurrentMemoryContext,
														  "neardup words",
														  ALLOCSET_DEFAULT_SIZES);
		return reader;
	}
	reader->scanner =
		words_create(rules_of_spec(&analysis->spec),
					 (of_chars(reader->unit) ? 0 : WORDS_SEGMENT) |
					 (analysis->reading & READING_JOINED ? WORDS_JOIN : 0));
	reader->terms = terms_create(&analysis->spec);
	if (of_chars(reader->unit))
	{
		for (int c = 0; c < 128; c++)
		{
			char		byte = c;

			reader->ascii[c] = XXH3_64bits(&byte, 1);
		}
	}
	return reader;
}

#ifdef NEARDUP_TESTING
void
reader_use_icu_only(Reader *reader)
{
	words_use_icu_only(reader->scanner);
}
#endif

void
reader_begin(Reader *reader, const char *doc, size_t len)
{
	source_begin(&reader->source, doc, len,
				 (reader->reading & READING_MARKUP) != 0);
	if (reader->sentences != NULL)
	{
		sentences_begin(reader->sentences, &reader->source);
		reader->in_sentence = false;
		return;
	}
	if (reader->configured != NULL)
	{
		config_reader_begin(reader->configured, doc, len);
		return;
	}
	words_begin(reader->scanner, source_next, &reader->source);
	reader->nchars = 0;
	reader->first = true;
}

/* Words */

/*
 * Read the hashes of up to max words by scanner and terms, and their places
 * unless spans is NULL; return their number.
 */
static inline size_t
read_words(Reader *reader, uint64 *hashes, WordSpan *spans, size_t max)
{
	bool		plain = terms_are_words(reader->terms);
	size_t		n = 0;
	const char *word;
	size_t		len;

	for (;;)
	{
		if (plain)
			n += words_hash_ascii(reader->scanner, hashes + n,
								  spans != NULL ? spans + n : NULL, max - n);
		if (n == max || !words_next(reader->scanner, &word, &len))
			return n;
		if (spans != NULL)
			spans[n] = words_span(reader->scanner);
		n += term_hash(reader->terms, word, len, &hashes[n]);
	}
}

/*
 * Read the words of the document, or of the current sentence, by the
 * configuration.
 */
static size_t
read_configured(Reader *reader, uint64 *hashes, uint8 *initials, size_t max)
{
	for (;;)
	{
		const char *text;
		size_t		len;
		size_t		n = config_reader_read(reader->configured, hashes, initials,
										   max);

		if (n > 0 || reader->sentences == NULL ||
			!sentence_text(reader->sentences, &text, &len))
			return n;
		config_reader_begin(reader->configured, text, len);
	}
}

size_t
reader_read_initials(Reader *reader, uint64 *hashes, uint8 *initials,
					 size_t max)
{
	size_t		n = 0;
	const char *word;
	size_t		len;

	CHECK_FOR_INTERRUPTS();
	if (reader->configured != NULL)
		return read_configured(reader, hashes, initials, max);
	while (n < max && words_next(reader->scanner, &word, &len))
	{
		initials[n] = utf8_initial(word);
		n += term_hash(reader->terms, word, len, &hashes[n]);
	}
	return n;
}

void
reader_track(Reader *reader)
{
	Assert(reader->unit == UNIT_WORD && reader->configured == NULL);
	words_track(reader->scanner, &reader->source);
}

size_t
reader_read_spans(Reader *reader, uint64 *hashes, WordSpan *spans, size_t max)
{
	CHECK_FOR_INTERRUPTS();
	return read_words(reader, hashes, spans, max);
}

bool
reader_read_word(Reader *reader, const char **word, size_t *len,
				 uint64 *hash)
{
	Assert(reader->configured == NULL);
	reader->dropped = false;
	while (words_next(reader->scanner, word, len))
	{
		if (term_text(reader->terms, word, len, hash))
			return true;
		reader->dropped = true;
	}
	return false;
}

/* Characters */

/* Read the hashes of up to max characters or letters; return their number. */
static size_t
read_chars(Reader *reader, uint64 *hashes, size_t max)
{
	size_t		n = 0;
	uint64		hash;

	while (n < max)
	{
		if (reader->nchars > 0)
		{
			unsigned char c = *reader->chars;
			size_t		len = c < 128 ? 1 : pg_utf_mblen(&c);

			Assert(len <= reader->nchars);
			hashes[n++] = c < 128 ? reader->ascii[c] :
				XXH3_64bits(reader->chars, len);
			reader->chars += len;
			reader->nchars -= len;
			continue;
		}
		if (!reader_read_word(reader, &reader->chars, &reader->nchars, &hash))
		{
			/* chars is a word that was dropped */
			reader->nchars = 0;
			break;
		}

		/*
		 * no space between the parts of a word that was cut for its length,
		 * unless one of them was dropped
		 */
		if (reader->unit == UNIT_CHAR && !reader->first &&
			(reader->dropped || !words_continues(reader->scanner)))
			hashes[n++] = reader->ascii[' '];
		reader->first = false;
	}
	return n;
}

/* Sentences and lines */

bool
reader_next_sentence(Reader *reader)
{
	Assert(reader->sentences != NULL);
	CHECK_FOR_INTERRUPTS();
	if (!sentences_next(reader->sentences))
		return false;
	if (reader->configured != NULL)
		config_reader_begin(reader->configured, NULL, 0);
	else
		words_begin(reader->scanner, sentence_text, reader->sentences);
	return true;
}

size_t
reader_read_words(Reader *reader, uint64 *hashes, size_t max)
{
	CHECK_FOR_INTERRUPTS();
	if (reader->configured != NULL)
		return read_configured(reader, hashes, NULL, max);
	return read_words(reader, hashes, NULL, max);
}

uint64
order_combine(Order order, uint64 *hashes, size_t n)
{
	uint64		sum = 0;

	Assert(n >= 1);
	switch (order)
	{
		case ORDER_XOR:
			for (size_t i = 0; i < n; i++)
				sum ^= hashes[i];
			return sum;
		case ORDER_SUM:
			for (size_t i = 0; i < n; i++)
				sum += hashes[i];
			return sum;
		case ORDER_SORTED:
			sort_hashes(hashes, n);
			break;
		default:
			break;
	}
	return hash_uint64s(hashes, n);
}

/*
 * Read the next sentence with words, or part of a cut one; return false at the
 * end.
 */
static bool
read_sentence(Reader *reader, uint64 *hash)
{
	for (;;)
	{
		size_t		n;

		if (!reader->in_sentence && !reader_next_sentence(reader))
			return false;
		n = reader_read_words(reader, reader->hashes, SENTENCE_MAX);
		reader->in_sentence = n == SENTENCE_MAX;
		if (n == 0)
			continue;
		*hash = order_combine(reader->order, reader->hashes, n);
		return true;
	}
}

size_t
reader_read(Reader *reader, uint64 *hashes, size_t max)
{
	size_t		n = 0;

	Assert(max >= 1);
	CHECK_FOR_INTERRUPTS();
	switch (reader->unit)
	{
		case UNIT_WORD:
			return reader_read_words(reader, hashes, max);
		case UNIT_CHAR:
		case UNIT_LETTER:
			return read_chars(reader, hashes, max);
		default:
			while (n < max && read_sentence(reader, &hashes[n]))
				n++;
			return n;
	}
}
