/*
 * reader.c
 *		A document's units, one after the other, as hashes.
 *
 * Words come from the scanner (words.c) and become terms (terms.c), or both
 * from a text-search configuration (configured.c).  The characters of unit=char
 * are those of the terms, joined by single spaces.  A line or a sentence is
 * the hash of its terms' hashes, under the same word order as a shingle is of
 * its units; with order=sum it is their plain sum.
 */
#include "postgres.h"

#include "mb/pg_wchar.h"
#include "miscadmin.h"

#include "base/hash.h"
#include "text/combine.h"
#include "text/configured.h"
#include "text/reader.h"
#include "text/sentences.h"
#include "text/source.h"
#include "text/terms.h"
#include "text/words.h"

/* A line or sentence of more words is cut. */
#define SENTENCE_MAX	65536

struct Reader
{
	Unit		unit;
	Order		order;
	bool		markup;
	bool		tracks;			/* tells where words stand */
	TextSource	source;
	WordScanner *scanner;
	Terms	   *terms;
	Configured *configured;		/* instead of scanner and terms, or NULL */

	/* unit=char: what is left of the current word */
	const char *chars;
	size_t		nchars;			/* bytes */
	bool		first;			/* no word has been read yet */
	bool		dropped;		/* a word before the current one was left out */
	uint64		ascii[128];		/* hashes of the ASCII characters */

	/* unit=sentence and unit=line */
	Sentences  *sentences;
	bool		in_sentence;	/* it goes on, cut for its length */
	uint64	   *hashes;			/* of its words, SENTENCE_MAX */
};

Reader *
reader_create(const Analysis *analysis)
{
	Reader	   *reader = palloc0(sizeof(Reader));

	reader->unit = analysis->spec.unit;
	reader->order = analysis->spec.order;
	reader->markup = analysis->markup;
	if (reader->unit == UNIT_SENTENCE || reader->unit == UNIT_LINE)
	{
		reader->sentences = sentences_create(reader->unit == UNIT_LINE);
		reader->hashes = palloc(SENTENCE_MAX * sizeof(uint64));
	}
	if (OidIsValid(analysis->config))
	{
		reader->configured = configured_create(analysis->config);
		return reader;
	}
	reader->scanner = words_create(rules_of_spec(&analysis->spec),
								   reader->unit != UNIT_CHAR);
	reader->terms = terms_create(&analysis->spec);
	if (reader->unit == UNIT_CHAR)
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

/* The document itself as blocks for the scanner. */
static bool
document_text(void *arg, const char **text, size_t *len)
{
	return source_next((TextSource *) arg, text, len);
}

void
reader_begin(Reader *reader, const char *doc, size_t len)
{
	source_begin(&reader->source, doc, len, reader->markup);
	if (reader->sentences != NULL)
	{
		sentences_begin(reader->sentences, &reader->source);
		reader->in_sentence = false;
		return;
	}
	if (reader->configured != NULL)
	{
		configured_begin(reader->configured, doc, len);
		return;
	}
	words_begin(reader->scanner, document_text, &reader->source);
	if (reader->tracks)
		words_track(reader->scanner, &reader->source, doc);
	reader->nchars = 0;
	reader->first = true;
}

/* Words */

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

/* A configuration reads what the scanner would read, block by block. */
static size_t
read_configured(Reader *reader, uint64 *hashes, uint8 *initials, size_t max)
{
	for (;;)
	{
		const char *text;
		size_t		len;
		size_t		n = configured_read(reader->configured, hashes, initials,
										max);

		if (n > 0 || reader->sentences == NULL ||
			!sentence_text(reader->sentences, &text, &len))
			return n;
		configured_begin(reader->configured, text, len);
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
	reader->tracks = true;
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

/* The characters of the current word, as many as there is room for. */
static size_t
read_rest(Reader *reader, uint64 *hashes, size_t max)
{
	size_t		n = 0;

	while (n < max && reader->nchars > 0)
	{
		unsigned char c = *reader->chars;
		size_t		len = c < 128 ? 1 : pg_utf_mblen(&c);

		hashes[n++] = c < 128 ? reader->ascii[c] :
			XXH3_64bits(reader->chars, len);
		reader->chars += len;
		reader->nchars -= len;
	}
	return n;
}

/* Goes on to the characters of the next word; false at the end. */
static bool
next_chars(Reader *reader)
{
	uint64		hash;

	if (reader_read_word(reader, &reader->chars, &reader->nchars, &hash))
		return true;
	/* what it left there is a word that was dropped */
	reader->nchars = 0;
	return false;
}

static size_t
read_chars(Reader *reader, uint64 *hashes, size_t max)
{
	size_t		n = read_rest(reader, hashes, max);

	while (n < max && next_chars(reader))
	{
		/* no space into a word that was cut for its length, if all of it is in */
		if (!reader->first &&
			(reader->dropped || !words_continues(reader->scanner)))
			hashes[n++] = reader->ascii[' '];
		reader->first = false;
		n += read_rest(reader, hashes + n, max - n);
	}
	return n;
}

/* Sentences and lines */

bool
reader_next_sentence(Reader *reader)
{
	CHECK_FOR_INTERRUPTS();
	if (!sentences_next(reader->sentences))
		return false;
	if (reader->configured != NULL)
		configured_begin(reader->configured, NULL, 0);
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

/* The next one that has words, or the next part of one; false at the end. */
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

	CHECK_FOR_INTERRUPTS();
	switch (reader->unit)
	{
		case UNIT_WORD:
			return reader_read_words(reader, hashes, max);
		case UNIT_CHAR:
			return read_chars(reader, hashes, max);
		default:
			while (n < max && read_sentence(reader, &hashes[n]))
				n++;
			return n;
	}
}
