/*
 * configured.c
 *		Words by a text-search configuration.
 *
 * The configuration's parser and dictionaries give words, each in one or more
 * base forms; a word's hash is the sum of those of its base forms.  What the
 * dictionaries drop as stop words is no word.
 *
 * PostgreSQL parses a whole document at once and counts its words up to 16383
 * only, after which words cannot be told apart.  Here a document is given to
 * the parser in blocks that end at white space.  A word is never cut by that,
 * unless it is longer than a block; a phrase of a thesaurus or a tag of markup
 * that stands across two blocks is.
 */
#include "postgres.h"

#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "tsearch/ts_type.h"
#include "tsearch/ts_utils.h"
#include "utils/memutils.h"

#include "base/hash.h"
#include "text/configured.h"
#include "text/reader.h"
#include "text/source.h"

struct Configured
{
	Oid			config;
	const char *at;				/* what is left of the document */
	const char *end;
	MemoryContext block;		/* the words of a block, until the next */
	uint64	   *hashes;			/* one per word; in context block */
	uint8	   *initials;		/* of each, as in reader_read_initials() */
	size_t		nhashes;
	size_t		next;			/* the first that has not been read */
};

Configured *
configured_create(Oid config)
{
	Configured *configured = palloc0(sizeof(Configured));

	configured->config = config;
	configured->block = AllocSetContextCreate(CurrentMemoryContext,
											  "neardup words",
											  ALLOCSET_DEFAULT_SIZES);
	return configured;
}

void
configured_begin(Configured *configured, const char *doc, size_t len)
{
	configured->at = doc;
	configured->end = doc + len;
	configured->nhashes = configured->next = 0;
}

/* The length of the next block, at most max: up to white space, if possible. */
static size_t
block_length(const Configured *configured, size_t max)
{
	const char *start = configured->at;
	const char *p;

	if ((size_t) (configured->end - start) <= max)
		return configured->end - start;
	for (p = start + max; p > start + max / 2; p--)
	{
		if (*p == ' ' || (*p >= '\t' && *p <= '\r'))
			return p - start;
	}
	return utf8_cut(start, start + max) - start;
}

/*
 * Parses len bytes of the document.  False if they hold more words than can be
 * told apart.
 */
static bool
parse(Configured *configured, size_t len, ParsedText *parsed)
{
	char	   *text = pnstrdup(configured->at, len);

	text = pg_any_to_server(text, len, PG_UTF8);
	parsed->lenwords = Max(len / 6, 16);
	parsed->curwords = 0;
	parsed->pos = 0;
	parsed->words = palloc(sizeof(ParsedWord) * parsed->lenwords);
	parsetext(configured->config, parsed, text, strlen(text));
	return parsed->pos < MAXENTRYPOS - 1;
}

/* The hash of a base form, in UTF-8, and its initial. */
static uint64
form_hash(const ParsedWord *form, uint8 *initial)
{
	char	   *utf8 = pg_server_to_any(form->word, form->len, PG_UTF8);

	*initial = form->len == 0 ? 0 : utf8_initial(utf8);
	return XXH3_64bits(utf8, utf8 == form->word ? form->len : strlen(utf8));
}

/* One hash per word: base forms of one word have the same position. */
static void
sum_forms(Configured *configured, const ParsedText *parsed)
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

/* Reads the words of the next block; false at the end of the document. */
static bool
next_block(Configured *configured)
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

size_t
configured_read(Configured *configured, uint64 *hashes, uint8 *initials,
				size_t max)
{
	size_t		n;

	while (configured->next == configured->nhashes)
	{
		if (!next_block(configured))
			return 0;
	}
	n = Min(max, configured->nhashes - configured->next);
	memcpy(hashes, configured->hashes + configured->next, n * sizeof(uint64));
	if (initials != NULL)
		memcpy(initials, configured->initials + configured->next, n);
	configured->next += n;
	return n;
}
