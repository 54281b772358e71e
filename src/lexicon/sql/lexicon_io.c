/*
 * lexicon_io.c
 *		The datatype lexicon: text and binary form, and what makes bytes
 *		valid.
 *
 * The text form is the analysis, the numbers of the corpus by name, then the
 * words, each as the hexadecimal hash, df and cf:
 *
 *		lexicon[english stop] documents=2 length=7 df_error=0 cf_error=0
 *		initials=0,3,...,0 {01d3f2b1c4a59687:1:3,9be3...:2:4}
 *
 * What is read, in either form, is checked field by field, as with signatures.
 */
#include "postgres.h"

#include "libpq/pqformat.h"
#include "miscadmin.h"
#include "utils/builtins.h"

#include "base/compat.h"
#include "base/input.h"
#include "base/interrupts.h"
#include "lexicon/lexicon.h"
#include "text/analysis.h"
#include "lexicon/sql/lexicon_io.h"

PG_FUNCTION_INFO_V1(lexicon_in);
PG_FUNCTION_INFO_V1(lexicon_out);
PG_FUNCTION_INFO_V1(lexicon_recv);
PG_FUNCTION_INFO_V1(lexicon_send);
PG_FUNCTION_INFO_V1(lexicon_from_bytea);

/*
 * The checks.  Each returns NULL, or a sentence that tells the rule that the
 * lexicon breaks.
 */

static const char *
check_header(const Lexicon *lexicon)
{
	SignatureSpec		spec;
	uint32		hash;
	uint64		sum = 0;

	if (lexicon->version != LEXICON_VERSION)
		return "Its format version is not known to this version of neardup.";
	if ((lexicon->flags & ~LEXICON_FLAGS) != 0 || lexicon->reserved != 0 ||
		lexicon->reserved2 != 0)
		return "Reserved bits of its header are not zero.";
	lexicon_spec(lexicon, &spec);
	if (lexicon->unit > UNIT_LINE || lexicon->order > ORDER_SUM ||
		lexicon->k < 1 || lexicon->k > MAX_SHINGLE_SIZE ||
		(spec_is_of_words(&spec) && lexicon->order != ORDER_KEEP) ||
		(lexicon->filters & FILTER_REPEATS) != 0)
		return "Its analysis contradicts itself.";
	if (lexicon->filters & FILTER_CONFIG)
	{
		if (lexicon->filters != FILTER_CONFIG || lexicon->language != 0 ||
			lexicon->flags != 0 || !spec_is_of_words(&spec))
			return "Its analysis contradicts itself.";
	}
	else if (!analysis_hash(&spec, &hash))
		return "Its analysis contradicts itself.";
	else if (hash != lexicon->analysis)
		return "The hash of its analysis is not that of the analysis in its header.";
	if (Max(lexicon->documents, lexicon->length) > PG_INT64_MAX ||
		Max(lexicon->df_error, lexicon->cf_error) > PG_INT64_MAX)
		return "A number of its header is out of range.";
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

		CHECK_EVERY(i);
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
	return read_literal(in, name) && input_number(in, PG_INT64_MAX, result);
}

/* "config=1a2b3c4d": a configuration, known by the hash of its name. */
static bool
read_config(Input *in, const char *analysis, Lexicon *header)
{
	header->filters = FILTER_CONFIG;
	header->k = 1;
	if (!input_config(&analysis, &header->analysis) || *analysis != '\0')
		return input_bad(in, "The analysis does not read config=HASH.");
	return true;
}

/*
 * What does not begin with the type's name is most likely an analysis or a
 * weight, given where a lexicon is wanted.
 */
static bool
read_name(Input *in)
{
	static const char name[] = "lexicon";

	input_skip_space(in);
	if (strncmp(in->at, name, strlen(name)) != 0)
		return input_foreign(in, "It does not begin with \"lexicon\".",
							 "The lexicon of a collection is made by an "
							 "aggregate: lexicon_agg(...).");
	in->at += strlen(name);
	return true;
}

/* The analysis in brackets. */
static bool
read_analysis(Input *in, Lexicon *header)
{
	char	   *text;
	Analysis   *analysis;

	if (!read_name(in) || !read_literal(in, "[") ||
		!input_until_bracket(in, &text))
		return false;
	if (strncmp(text, "config=", 7) == 0)
		return read_config(in, text, header);
	analysis = analysis_parse(text, strlen(text), in->escontext);
	if (analysis == NULL)
		return false;
	/* words have no shingle size */
	if (!analysis->has_k || spec_is_of_words(&analysis->spec))
		spec_of_words(&analysis->spec);
	header->flags = analysis->markup ? LEXICON_MARKUP : 0;
	header->unit = analysis->spec.unit;
	header->order = analysis->spec.order;
	header->k = analysis->spec.k;
	header->language = analysis->spec.language;
	header->filters = analysis->spec.filters;
	header->analysis = analysis->spec.analysis;
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
		CHECK_EVERY(n);
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
	Input		in = {text, "lexicon", escontext};
	Lexicon		header = {.version = LEXICON_VERSION};
	SignatureSpec		spec;
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
	lexicon_spec(&header, &spec);
	lexicon = lexicon_alloc(&spec, false, strlen(in.at) / 21 + 1);
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
	SignatureSpec		spec;

	lexicon_spec(lexicon, &spec);
	appendStringInfo(out, "lexicon[%s%s] documents=" UINT64_FORMAT
					 " length=" UINT64_FORMAT
					 " df_error=" UINT64_FORMAT
					 " cf_error=" UINT64_FORMAT " initials=",
					 words_name(&spec),
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
	lexicon_swap(copy);
	PG_RETURN_BYTEA_P(copy);
}

Lexicon *
lexicon_from_bytes(const char *bytes, size_t len)
{
	Lexicon    *lexicon;
	const char *rule;
	uint64		id;

	if (len < LEXICON_HEADER - VARHDRSZ)
		input_bad_bytes("lexicon", "It is shorter than a header.");
	if ((len + VARHDRSZ - LEXICON_HEADER) % sizeof(LexiconEntry) != 0)
		input_bad_bytes("lexicon", "Its last word is cut off.");
	lexicon = palloc(len + VARHDRSZ);
	SET_VARSIZE(lexicon, len + VARHDRSZ);
	memcpy(LEXICON_BYTES(lexicon), bytes, len);
	lexicon_swap(lexicon);
	rule = check_header(lexicon);
	if (rule == NULL)
		rule = check_entries(lexicon);
	id = lexicon->id;
	lexicon_seal(lexicon);
	if (rule == NULL && lexicon->id != id)
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

#ifdef NEARDUP_TESTING

/*
 * The bytes with the hash of what analysis they tell and the checksum of what
 * they hold, if they tell one: altered ones get past both to all other checks.
 */
PG_FUNCTION_INFO_V1(neardup_sealed_lexicon);
Datum
neardup_sealed_lexicon(PG_FUNCTION_ARGS)
{
	Lexicon    *lexicon = (Lexicon *) PG_GETARG_BYTEA_P_COPY(0);
	SignatureSpec		spec;

	if (VARSIZE(lexicon) < LEXICON_HEADER)
		PG_RETURN_BYTEA_P(lexicon);
	lexicon_swap(lexicon);
	lexicon_spec(lexicon, &spec);
	if (!(spec.filters & FILTER_CONFIG))
		(void) analysis_hash(&spec, &lexicon->analysis);
	lexicon_seal(lexicon);
	lexicon_swap(lexicon);
	PG_RETURN_BYTEA_P(lexicon);
}

#endif							/* NEARDUP_TESTING */
