/*
 * lexicon.c
 *		A lexicon: its spec, its head, its id.
 *
 * Words are not kept as text.  Methods need their hashes only; the texts would
 * double the size and, with the bound on the number of words, would have to be
 * kept for words that are dropped later; and a lexicon without them can be
 * handed on where the documents cannot.  word_statistics() shows the numbers
 * of the words of a given document, with their texts.
 */
#include "postgres.h"

#include "access/detoast.h"
#include "port/pg_bswap.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

#include "base/hash.h"
#include "lexicon/lexicon.h"
#include "text/analysis.h"

Lexicon *
lexicon_alloc(const SignatureSpec *spec, bool markup, size_t nwords)
{
	Lexicon    *lexicon;
	Size		size;

	if (nwords > LEXICON_MAX_WORDS)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("lexicon of %zu words is too large", nwords),
				 errdetail("A lexicon holds at most %zu words.",
						   (size_t) LEXICON_MAX_WORDS),
				 errhint("Leave rare words out with lexicon_trim().")));
	size = LEXICON_HEADER + nwords * sizeof(LexiconEntry);
	lexicon = palloc0(size);
	SET_VARSIZE(lexicon, size);
	lexicon->version = LEXICON_VERSION;
	lexicon->flags = markup ? LEXICON_MARKUP : 0;
	lexicon->language = spec->language;
	lexicon->unit = spec->unit;
	lexicon->order = spec->order;
	lexicon->k = spec->k;
	lexicon->filters = spec->filters;
	lexicon->analysis = spec->analysis;
	return lexicon;
}

void
spec_of_words(SignatureSpec *spec)
{
	Assert(spec->unit != UNIT_NONE);
	spec->unit = UNIT_WORD;
	spec->order = ORDER_KEEP;
	if (spec->filters & FILTER_CONFIG)
	{
		/* the hash is of the name and k, and does not know the unit */
		Assert(spec->k == 1);
		return;
	}
	spec->k = 1;
	if (!analysis_hash(spec, &spec->analysis))
		elog(ERROR, "analysis contradicts itself");
}

void
lexicon_spec(const Lexicon *lexicon, SignatureSpec *spec)
{
	memset(spec, 0, sizeof(SignatureSpec));
	spec->version = SIGNATURE_VERSION;
	spec->unit = lexicon->unit;
	spec->order = lexicon->order;
	spec->k = lexicon->k;
	spec->language = lexicon->language;
	spec->filters = lexicon->filters;
	spec->analysis = lexicon->analysis;
}

static bool
same_analysis(const SignatureSpec *a, const SignatureSpec *b)
{
	return a->language == b->language && a->filters == b->filters &&
		a->unit == b->unit && a->order == b->order && a->k == b->k &&
		a->analysis == b->analysis;
}

char *
words_name(const SignatureSpec *spec)
{
	StringInfoData name;

	initStringInfo(&name);
	analysis_canonical(spec, &name);
	if (!spec_is_of_words(spec))
		return name.data;
	/* it ends with "k=1", by itself or behind a space */
	name.len -= 3;
	if (name.len == 0)
		return pstrdup("simple");
	name.data[name.len - 1] = '\0';
	return name.data;
}

/* a + b; raises PROGRAM_LIMIT_EXCEEDED if that is no bigint. */
static uint64
add_total(uint64 a, uint64 b, const char *what)
{
	if (a > (uint64) PG_INT64_MAX - b)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("lexicons have too many %s to be added", what),
				 errdetail("The sum of " UINT64_FORMAT " and " UINT64_FORMAT
						   " is out of range.", a, b)));
	return a + b;
}

void
lexicon_add_totals(Lexicon *to, const Lexicon *from)
{
	to->documents = add_total(to->documents, from->documents, "documents");
	to->length = add_total(to->length, from->length, "words");
	to->df_error = lexicon_add_errors(to->df_error, from->df_error);
	to->cf_error = lexicon_add_errors(to->cf_error, from->cf_error);
	/* no more than the words */
	for (int i = 0; i < LEXICON_CLASSES; i++)
		to->initials[i] += from->initials[i];
}

void
lexicon_require_spec(const Lexicon *lexicon, const SignatureSpec *spec)
{
	SignatureSpec		own;

	lexicon_spec(lexicon, &own);
	if (same_analysis(&own, spec))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_DATATYPE_MISMATCH),
			 errmsg("lexicon is of another analysis than the document"),
			 errdetail("The lexicon's words are \"%s\", the document's are \"%s\".",
					   words_name(&own), words_name(spec)),
			 errhint("Leave the analysis out to take the lexicon's.")));
}

void
words_require_same(const SignatureSpec *a, const SignatureSpec *b)
{
	if (same_analysis(a, b))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_DATATYPE_MISMATCH),
			 errmsg("lexicons of different analyses cannot be combined"),
			 errdetail("The words of one are \"%s\", those of the other \"%s\".",
					   words_name(a), words_name(b))));
}

const Lexicon *
lexicon_header(Datum datum, size_t *nwords)
{
	Lexicon    *header = palloc(LEXICON_HEADER);
	struct varlena *slice;

	*nwords = (toast_raw_datum_size(datum) - LEXICON_HEADER) /
		sizeof(LexiconEntry);
	slice = PG_DETOAST_DATUM_SLICE(datum, 0, LEXICON_HEADER - VARHDRSZ);
	memcpy(LEXICON_BYTES(header), VARDATA_ANY(slice),
		   LEXICON_HEADER - VARHDRSZ);
	return header;
}

void
lexicon_swap(Lexicon *lexicon)
{
#ifdef WORDS_BIGENDIAN
	size_t		n = LEXICON_NWORDS(lexicon);

	lexicon->k = pg_bswap16(lexicon->k);
	lexicon->filters = pg_bswap32(lexicon->filters);
	lexicon->analysis = pg_bswap32(lexicon->analysis);
	/* from id to the last of initials */
	for (uint64 *number = &lexicon->id;
		 number < &lexicon->initials[LEXICON_CLASSES]; number++)
		*number = pg_bswap64(*number);
	for (size_t i = 0; i < n; i++)
	{
		lexicon->entries[i].hash = pg_bswap64(lexicon->entries[i].hash);
		lexicon->entries[i].df = pg_bswap32(lexicon->entries[i].df);
		lexicon->entries[i].cf = pg_bswap32(lexicon->entries[i].cf);
	}
#endif
}

/* XXH3 of the entries' bytes, seeded with that of the header's with id 0. */
static uint64
hash_bytes_of(Lexicon *portable)
{
	uint64		id = portable->id;
	uint64		seed;

	portable->id = 0;
	seed = XXH3_64bits(LEXICON_BYTES(portable), LEXICON_HEADER - VARHDRSZ);
	portable->id = id;
	return XXH3_64bits_withSeed(portable->entries,
								VARSIZE(portable) - LEXICON_HEADER, seed);
}

/*
 * The id says whether two lexicons are the same, and stands, in part, in the
 * signatures that are made with it.
 */
static uint64
make_id(Lexicon *lexicon)
{
#ifdef WORDS_BIGENDIAN
	Lexicon    *copy = palloc(VARSIZE(lexicon));
	uint64		id;

	memcpy(copy, lexicon, VARSIZE(lexicon));
	lexicon_swap(copy);
	id = hash_bytes_of(copy);
	pfree(copy);
	return id;
#else
	return hash_bytes_of(lexicon);
#endif
}

void
lexicon_seal(Lexicon *lexicon)
{
	lexicon->id = make_id(lexicon);
}
