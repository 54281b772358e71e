/*
 * lexicon.c
 *		The datatype lexicon: text and binary form, and what makes bytes
 *		valid.
 *
 * The text form is the analysis, the numbers of the corpus by name, then the
 * words, each as the hexadecimal hash, df and cf:
 *
 *		lexicon[english stop] documents=2 length=7 df_error=0 cf_error=0
 *		initials=0,3,...,0 {01d3f2b1c4a59687:1:3,9be3...:2:4}
 *
 * Words are not kept as text.  Methods need their hashes only; the texts would
 * double the size and, with the bound on the number of words, would have to be
 * kept for words that are dropped later; and a lexicon without them can be
 * handed on where the documents cannot.  word_statistics() shows the numbers
 * of the words of a given document, with their texts.
 *
 * What is read, in either form, is checked field by field, as with signatures.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/corpus/lexicon.c
 */
#include "postgres.h"

#include "access/detoast.h"
#include "libpq/pqformat.h"
#include "miscadmin.h"
#include "port/pg_bswap.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

#include "compat.h"
#include "corpus/lexicon.h"
#include "hash.h"
#include "input.h"
#include "text/analysis.h"

PG_FUNCTION_INFO_V1(lexicon_in);
PG_FUNCTION_INFO_V1(lexicon_out);
PG_FUNCTION_INFO_V1(lexicon_recv);
PG_FUNCTION_INFO_V1(lexicon_send);
PG_FUNCTION_INFO_V1(lexicon_from_bytea);

/* The bytes that are sent are those behind the varlena header. */
#define LEXICON_BYTES(l)	((char *) (l) + VARHDRSZ)

Lexicon *
lexicon_alloc(const Making *making, bool markup, size_t nwords)
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
	lexicon->language = making->language;
	lexicon->filters = making->filters;
	lexicon->analysis = making->analysis;
	return lexicon;
}

void
making_of_words(Making *making)
{
	Assert(making->unit != UNIT_NONE);
	making->unit = UNIT_WORD;
	making->order = ORDER_KEEP;
	if (making->filters & FILTER_CONFIG)
	{
		/* the hash is of the name and k, and does not know the unit */
		Assert(making->k == 1);
		return;
	}
	making->k = 1;
	if (!analysis_hash(making, &making->analysis))
		elog(ERROR, "analysis contradicts itself");
}

void
lexicon_making(const Lexicon *lexicon, Making *making)
{
	memset(making, 0, sizeof(Making));
	making->version = SIGNATURE_VERSION;
	making->unit = UNIT_WORD;
	making->order = ORDER_KEEP;
	making->k = 1;
	making->language = lexicon->language;
	making->filters = lexicon->filters;
	making->analysis = lexicon->analysis;
}

static bool
same_analysis(const Making *a, const Making *b)
{
	return a->language == b->language && a->filters == b->filters &&
		a->analysis == b->analysis;
}

char *
words_name(const Making *making)
{
	StringInfoData name;

	initStringInfo(&name);
	analysis_canonical(making, &name);
	/* it ends with "k=1", by itself or behind a space */
	name.len -= 3;
	if (name.len == 0)
		return pstrdup("simple");
	name.data[name.len - 1] = '\0';
	return name.data;
}

void
lexicon_require_making(const Lexicon *lexicon, const Making *making)
{
	Making		own;

	lexicon_making(lexicon, &own);
	if (same_analysis(&own, making))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_DATATYPE_MISMATCH),
			 errmsg("lexicon is of another analysis than the document"),
			 errdetail("The lexicon's words are \"%s\", the document's are \"%s\".",
					   words_name(&own), words_name(making)),
			 errhint("Leave the analysis out to take the lexicon's.")));
}

void
words_require_same(const Making *a, const Making *b)
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

/* The portable bytes: little-endian, from the version to the end. */

static void
swap_lexicon(Lexicon *lexicon)
{
#ifdef WORDS_BIGENDIAN
	size_t		n = LEXICON_NWORDS(lexicon);

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
	swap_lexicon(copy);
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

/*
 * The checks.  Each returns NULL, or a sentence that tells the rule that the
 * lexicon breaks.
 */

static const char *
check_header(const Lexicon *lexicon)
{
	Making		making;
	uint32		hash;
	uint64		sum = 0;

	if (lexicon->version != LEXICON_VERSION)
		return "Its format version is not known to this version of neardup.";
	if ((lexicon->flags & ~LEXICON_FLAGS) != 0 || lexicon->reserved != 0)
		return "Reserved bits of its header are not zero.";
	lexicon_making(lexicon, &making);
	if (lexicon->filters & FILTER_CONFIG)
	{
		if (lexicon->filters != FILTER_CONFIG || lexicon->language != 0)
			return "Its analysis contradicts itself.";
	}
	else if (!analysis_hash(&making, &hash))
		return "Its analysis contradicts itself.";
	else if (hash != lexicon->analysis)
		return "The hash of its analysis is not that of the analysis in its header.";
	for (int i = 0; i < LEXICON_CLASSES; i++)
	{
		if (lexicon->initials[i] > lexicon->length - sum)
			return "The classes of its words sum up to more than their number.";
		sum += lexicon->initials[i];
	}
	return NULL;
}

static const char *
check_entries(const Lexicon *lexicon)
{
	size_t		n = LEXICON_NWORDS(lexicon);

	for (size_t i = 0; i < n; i++)
	{
		const LexiconEntry *entry = &lexicon->entries[i];

		if (i % 65536 == 0)
			CHECK_FOR_INTERRUPTS();
		if (i > 0 && entry[-1].hash >= entry->hash)
			return "The hashes of its words do not rise.";
		if (entry->df == 0 || entry->df > lexicon->documents)
			return "A word's number of documents is out of range.";
		if (entry->cf < entry->df || entry->cf > lexicon->length)
			return "A word's number of occurrences is out of range.";
	}
	return NULL;
}

/* Reading the text form */

/* A word or a sign that must be there, behind any white space. */
static bool
read_literal(Input *in, const char *literal)
{
	input_skip_space(in);
	if (strncmp(in->at, literal, strlen(literal)) != 0)
		return input_bad(in, psprintf("\"%s\" is missing.", literal));
	in->at += strlen(literal);
	return true;
}

static bool
read_named(Input *in, const char *name, uint64 *result)
{
	return read_literal(in, name) && input_number(in, PG_UINT64_MAX, result);
}

/* "config=1a2b3c4d": a configuration, known by the hash of its name. */
static bool
read_config(Input *in, const char *analysis, Lexicon *header)
{
	unsigned int hash;
	int			end = 0;

	if (sscanf(analysis, "config=%8x%n", &hash, &end) != 1 ||
		analysis[end] != '\0')
		return input_bad(in, "The analysis does not read config=HASH.");
	header->filters = FILTER_CONFIG;
	header->analysis = hash;
	return true;
}

/* The analysis in brackets. */
static bool
read_analysis(Input *in, Lexicon *header)
{
	char	   *text;
	Analysis   *analysis;

	if (!read_literal(in, "lexicon") || !read_literal(in, "[") ||
		!input_until_bracket(in, &text))
		return false;
	if (strncmp(text, "config=", 7) == 0)
		return read_config(in, text, header);
	analysis = analysis_parse(text, strlen(text), in->escontext);
	if (analysis == NULL)
		return false;
	making_of_words(&analysis->making);
	header->flags = analysis->markup ? LEXICON_MARKUP : 0;
	header->language = analysis->making.language;
	header->filters = analysis->making.filters;
	header->analysis = analysis->making.analysis;
	return true;
}

static bool
read_initials(Input *in, uint64 *initials)
{
	for (int i = 0; i < LEXICON_CLASSES; i++)
	{
		if (!read_named(in, i == 0 ? "initials=" : ",", &initials[i]))
			return false;
	}
	return true;
}

/* One word: 16 hexadecimal digits, df and cf, with colons between them. */
static bool
read_entry(Input *in, LexiconEntry *entry)
{
	uint64		df;
	uint64		cf;

	if (!input_hex(in, 16, "The hash of a word is not of 16 hexadecimal digits.",
				   &entry->hash) ||
		!read_literal(in, ":") || !input_number(in, PG_UINT32_MAX, &df) ||
		!read_literal(in, ":") || !input_number(in, PG_UINT32_MAX, &cf))
		return false;
	entry->df = df;
	entry->cf = cf;
	return true;
}

/* All words, in braces, to the end of the input. */
static bool
read_entries(Input *in, Lexicon *lexicon)
{
	size_t		n = 0;

	if (!read_literal(in, "{"))
		return false;
	input_skip_space(in);
	while (*in->at != '}')
	{
		if (n % 65536 == 65535)
			CHECK_FOR_INTERRUPTS();
		if (n > 0 && !read_literal(in, ","))
			return false;
		if (!read_entry(in, &lexicon->entries[n++]))
			return false;
		input_skip_space(in);
	}
	in->at++;
	if (!input_end(in))
		return false;
	SET_VARSIZE(lexicon, LEXICON_HEADER + n * sizeof(LexiconEntry));
	return true;
}

/*
 * The lexicon of a text form.  Raises INVALID_TEXT_REPRESENTATION, or with an
 * ErrorSaveContext returns NULL.
 */
static Lexicon *
parse_lexicon(const char *text, Node *escontext)
{
	Input	in = {text, "lexicon", escontext};
	Lexicon		header = {.version = LEXICON_VERSION};
	Making		making;
	Lexicon    *lexicon;
	const char *rule;

	if (!read_analysis(&in, &header) ||
		!read_named(&in, "documents=", &header.documents) ||
		!read_named(&in, "length=", &header.length) ||
		!read_named(&in, "df_error=", &header.df_error) ||
		!read_named(&in, "cf_error=", &header.cf_error) ||
		!read_initials(&in, header.initials))
		return NULL;
	/* each word but the last takes 16 digits, two numbers and three signs */
	lexicon_making(&header, &making);
	lexicon = lexicon_alloc(&making, false, strlen(in.at) / 21 + 1);
	memcpy(LEXICON_BYTES(lexicon), LEXICON_BYTES(&header),
		   LEXICON_HEADER - VARHDRSZ);
	if (!read_entries(&in, lexicon))
		return NULL;
	rule = check_header(lexicon);
	if (rule == NULL)
		rule = check_entries(lexicon);
	if (rule != NULL && !input_bad(&in, rule))
		return NULL;
	lexicon_seal(lexicon);
	return lexicon;
}

Datum
lexicon_in(PG_FUNCTION_ARGS)
{
	Lexicon    *lexicon = parse_lexicon(PG_GETARG_CSTRING(0),
										fcinfo->context);

	if (lexicon == NULL)
		PG_RETURN_NULL();
	PG_RETURN_LEXICON(lexicon);
}

/* Writing the text form */

static void
append_header(const Lexicon *lexicon, StringInfo out)
{
	Making		making;

	lexicon_making(lexicon, &making);
	appendStringInfo(out, "lexicon[%s%s] documents=" UINT64_FORMAT
					 " length=" UINT64_FORMAT
					 " df_error=" UINT64_FORMAT
					 " cf_error=" UINT64_FORMAT " initials=",
					 words_name(&making),
					 lexicon->flags & LEXICON_MARKUP ? " html" : "",
					 lexicon->documents, lexicon->length,
					 lexicon->df_error, lexicon->cf_error);
	for (int i = 0; i < LEXICON_CLASSES; i++)
		appendStringInfo(out, "%s" UINT64_FORMAT, i == 0 ? "" : ",",
						 lexicon->initials[i]);
}

Datum
lexicon_out(PG_FUNCTION_ARGS)
{
	Lexicon    *lexicon = PG_GETARG_LEXICON(0);
	size_t		n = LEXICON_NWORDS(lexicon);
	StringInfoData out;

	initStringInfo(&out);
	append_header(lexicon, &out);
	appendStringInfoString(&out, " {");
	for (size_t i = 0; i < n; i++)
	{
		const LexiconEntry *entry = &lexicon->entries[i];

		if (i % 4096 == 0)
			CHECK_FOR_INTERRUPTS();
		appendStringInfo(&out, "%s%08x%08x:%u:%u", i == 0 ? "" : ",",
						 (uint32) (entry->hash >> 32), (uint32) entry->hash,
						 entry->df, entry->cf);
	}
	appendStringInfoChar(&out, '}');
	PG_RETURN_CSTRING(out.data);
}

/* The binary form */

Datum
lexicon_send(PG_FUNCTION_ARGS)
{
	Lexicon    *lexicon = PG_GETARG_LEXICON(0);
	Lexicon    *copy = palloc(VARSIZE(lexicon));

	memcpy(copy, lexicon, VARSIZE(lexicon));
	swap_lexicon(copy);
	PG_RETURN_BYTEA_P(copy);
}

/*
 * The lexicon that the portable bytes are of.  Raises
 * INVALID_BINARY_REPRESENTATION unless every byte is as it must be.
 */
static Lexicon *
lexicon_from_bytes(const char *bytes, size_t len)
{
	Lexicon    *lexicon;
	const char *rule;

	if (len < LEXICON_HEADER - VARHDRSZ)
		input_bad_bytes("lexicon", "It is shorter than a header.");
	if ((len + VARHDRSZ - LEXICON_HEADER) % sizeof(LexiconEntry) != 0)
		input_bad_bytes("lexicon", "Its last word is cut off.");
	lexicon = palloc(len + VARHDRSZ);
	SET_VARSIZE(lexicon, len + VARHDRSZ);
	memcpy(LEXICON_BYTES(lexicon), bytes, len);
	swap_lexicon(lexicon);
	rule = check_header(lexicon);
	if (rule == NULL)
		rule = check_entries(lexicon);
	if (rule == NULL && lexicon->id != make_id(lexicon))
		rule = "Its checksum is not that of its content.";
	if (rule != NULL)
		input_bad_bytes("lexicon", rule);
	return lexicon;
}

Datum
lexicon_recv(PG_FUNCTION_ARGS)
{
	StringInfo	in = (StringInfo) PG_GETARG_POINTER(0);
	int			len = in->len - in->cursor;

	PG_RETURN_LEXICON(lexicon_from_bytes(pq_getmsgbytes(in, len), len));
}

Datum
lexicon_from_bytea(PG_FUNCTION_ARGS)
{
	bytea	   *bytes = PG_GETARG_BYTEA_PP(0);

	PG_RETURN_LEXICON(lexicon_from_bytes(VARDATA_ANY(bytes),
										 VARSIZE_ANY_EXHDR(bytes)));
}
