/*
 * lexicon_type.c
 *		The datatype lexicon: text and binary form, operators, reading.
 *
 * The text form is the analysis, the numbers of the corpus by name, then the
 * words, each as the hexadecimal hash, df and cf:
 *
 *		lexicon[english stop] documents=2 length=7 df_error=0 cf_error=0
 *		initials=0,3,...,0 {01d3f2b1c4a59687:1:3,9be3...:2:4}
 *
 * Input in either form is checked field by field, as with signatures.
 */
#include "postgres.h"

#include "libpq/pqformat.h"

#include "base/call.h"
#include "base/compat.h"
#include "base/input.h"
#include "base/interrupts.h"
#include "base/memory.h"
#include "base/sort_uint64.h"
#include "lexicon/lexicon.h"
#include "text/analysis.h"

PG_FUNCTION_INFO_V1(lexicon_in);
PG_FUNCTION_INFO_V1(lexicon_out);
PG_FUNCTION_INFO_V1(lexicon_recv);
PG_FUNCTION_INFO_V1(lexicon_send);
PG_FUNCTION_INFO_V1(lexicon_from_bytea);

/* Reading the text form */

/* Read a given word or sign after any white space. */
static bool
read_literal(Input *in, const char *literal)
{
	input_skip_space(in);
	if (strncmp(in->at, literal, strlen(literal)) != 0)
		return input_bad(in, psprintf("\"%s\" is missing.", literal));
	in->at += strlen(literal);
	return true;
}

/* Read a number after its name, such as "documents=2". */
static bool
read_named(Input *in, const char *name, uint64 max, uint64 *result)
{
	return read_literal(in, name) && input_number(in, max, result);
}

/* Read "config=1a2b3c4d", a configuration by the hash of its name. */
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
 * Read the type's name and the analysis in brackets.  Other input is most
 * likely an analysis or a weight in place of a lexicon.
 */
static bool
read_analysis(Input *in, Lexicon *header)
{
	static const char name[] = "lexicon";
	char	   *text = NULL;
	Analysis   *analysis;

	input_skip_space(in);
	if (strncmp(in->at, name, strlen(name)) != 0)
		return input_foreign(in, "It does not begin with \"lexicon\".",
							 "The lexicon of a collection is made by an "
							 "aggregate: lexicon_agg(...).");
	in->at += strlen(name);
	if (!read_literal(in, "[") || !input_until_bracket(in, &text))
		return false;
	if (strncmp(text, "config=", 7) == 0)
		return read_config(in, text, header);
	analysis = analysis_parse(text, strlen(text), in->escontext);
	if (analysis == NULL)
		return false;
	/* words have no shingle size */
	if (!analysis->has_k || spec_is_of_words(&analysis->spec))
		spec_of_words(&analysis->spec);
	lexicon_set_spec(header, &analysis->spec, analysis->reading);
	return true;
}

/* Read the numbers of words by class, such as "initials=0,3,...,0". */
static bool
read_initials(Input *in, uint64 *initials)
{
	for (int i = 0; i < LEXICON_CLASSES; i++)
	{
		if (!read_named(in, i == 0 ? "initials=" :
						",", PG_INT64_MAX, &initials[i]))
			return false;
	}
	return true;
}

/* Read a word: 16 hexadecimal digits, df and cf, with colons between them. */
static bool
read_entry(Input *in, LexiconEntry *entry)
{
	uint64		df;
	uint64		cf;

	if (!input_hex(in, 16,
				   "The hash of a word is not of 16 hexadecimal digits.",
				   &entry->hash) ||
		!read_named(in, ":", PG_UINT32_MAX, &df) ||
		!read_named(in, ":", PG_UINT32_MAX, &cf))
		return false;
	entry->df = df;
	entry->cf = cf;
	return true;
}

/*
 * Read all words, in braces, to the end of the input; set *n to their number.
 */
static bool
read_entries(Input *in, Lexicon *lexicon, size_t *n)
{
	*n = 0;
	if (!read_literal(in, "{"))
		return false;
	input_skip_space(in);
	while (*in->at != '}')
	{
		CHECK_EVERY(*n);
		if (*n > 0 && !read_literal(in, ","))
			return false;
		if (!read_entry(in, &lexicon->entries[(*n)++]))
			return false;
		input_skip_space(in);
	}
	in->at++;
	return input_end(in);
}

/*
 * Return the lexicon of a text form.  Raises INVALID_TEXT_REPRESENTATION, or
 * with an ErrorSaveContext returns NULL.
 */
static Lexicon *
parse_lexicon(const char *str, Node *escontext)
{
	Input		in = {str, "lexicon", escontext};
	Lexicon		header = {.version = LEXICON_VERSION};
	Lexicon    *lexicon;
	const char *rule;
	size_t		n;

	if (!read_analysis(&in, &header) ||
		!read_named(&in, "documents=", PG_INT64_MAX, &header.documents) ||
		!read_named(&in, "length=", PG_INT64_MAX, &header.length) ||
		!read_named(&in, "df_error=", PG_INT64_MAX, &header.df_error) ||
		!read_named(&in, "cf_error=", PG_INT64_MAX, &header.cf_error) ||
		!read_initials(&in, header.initials))
		return NULL;
	/* each word but the last takes 16 digits, two numbers and three signs */
	lexicon = lexicon_alloc(&header, strlen(in.at) / 21 + 1);
	if (!read_entries(&in, lexicon, &n))
		return NULL;
	lexicon_seal(lexicon, n);
	rule = lexicon_broken_rule(lexicon);
	if (rule != NULL && !input_bad(&in, rule))
		return NULL;
	return lexicon;
}

/* Parse the text form. */
Datum
lexicon_in(PG_FUNCTION_ARGS)
{
	Lexicon    *lexicon = parse_lexicon(PG_GETARG_CSTRING(0),
										fcinfo->context);

	if (lexicon == NULL)
		PG_RETURN_NULL();
	PG_RETURN_LEXICON(lexicon);
}

/* Write the text form. */
Datum
lexicon_out(PG_FUNCTION_ARGS)
{
	Lexicon    *lexicon = PG_GETARG_LEXICON(0);
	SignatureSpec spec = lexicon_spec(lexicon);
	size_t		n = LEXICON_NWORDS(lexicon);
	StringInfoData out;

	initStringInfo(&out);
	appendStringInfo(&out, "lexicon[%s] documents=" UINT64_FORMAT
					 " length=" UINT64_FORMAT
					 " df_error=" UINT64_FORMAT
					 " cf_error=" UINT64_FORMAT,
					 words_name(&spec, lexicon->reading),
					 lexicon->documents, lexicon->length,
					 lexicon->df_error, lexicon->cf_error);
	for (int i = 0; i < LEXICON_CLASSES; i++)
		appendStringInfo(&out, "%s" UINT64_FORMAT, i == 0 ? " initials=" : ",",
						 lexicon->initials[i]);
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

/* The binary form is the portable bytes. */
Datum
lexicon_send(PG_FUNCTION_ARGS)
{
	Lexicon    *lexicon = PG_GETARG_LEXICON(0);
	Lexicon    *copy = palloc(VARSIZE(lexicon));

	memcpy(copy, lexicon, VARSIZE(lexicon));
	lexicon_swap(copy);
	PG_RETURN_BYTEA_P(copy);
}

/* Read and check the binary form. */
Datum
lexicon_recv(PG_FUNCTION_ARGS)
{
	StringInfo	in = (StringInfo) PG_GETARG_POINTER(0);
	int			len = in->len - in->cursor;

	PG_RETURN_LEXICON(lexicon_from_bytes(pq_getmsgbytes(in, len), len));
}

/* The cast bytea::lexicon */
Datum
lexicon_from_bytea(PG_FUNCTION_ARGS)
{
	bytea	   *bytes = PG_GETARG_BYTEA_PP(0);

	PG_RETURN_LEXICON(lexicon_from_bytes(VARDATA_ANY(bytes),
										 VARSIZE_ANY_EXHDR(bytes)));
}

#ifdef NEARDUP_TESTING

/*
 * The bytes with a correct hash of the analysis and checksum, so that altered
 * bytes reach all other checks
 */
PG_FUNCTION_INFO_V1(neardup_sealed_lexicon);
Datum
neardup_sealed_lexicon(PG_FUNCTION_ARGS)
{
	Lexicon    *lexicon = (Lexicon *) PG_GETARG_BYTEA_P_COPY(0);
	SignatureSpec spec;

	if (VARSIZE(lexicon) < LEXICON_HEADER)
		PG_RETURN_BYTEA_P(lexicon);
	lexicon_swap(lexicon);
	spec = lexicon_spec(lexicon);
	if (!(spec.filters & FILTER_CONFIG))
		(void) analysis_hash(&spec, &lexicon->analysis);
	lexicon_seal(lexicon, LEXICON_NWORDS(lexicon));
	lexicon_swap(lexicon);
	PG_RETURN_BYTEA_P(lexicon);
}

#endif							/* NEARDUP_TESTING */

/* Operators */

PG_FUNCTION_INFO_V1(lexicon_hash);
PG_FUNCTION_INFO_V1(lexicon_hash_extended);
PG_FUNCTION_INFO_V1(lexicon_plus);
PG_FUNCTION_INFO_V1(lexicon_minus);
PG_FUNCTION_INFO_V1(lexicon_trim);

/* The support function of hash: 32 bits, seed 0 */
Datum
lexicon_hash(PG_FUNCTION_ARGS)
{
	Lexicon    *lexicon = PG_GETARG_LEXICON(0);
	uint64		hash = lexicon_bytes_hash(lexicon, 0);

	PG_FREE_IF_COPY(lexicon, 0);
	PG_RETURN_INT32((int32) hash);
}

/* The support function of hash with a seed: 64 bits */
Datum
lexicon_hash_extended(PG_FUNCTION_ARGS)
{
	Lexicon    *lexicon = PG_GETARG_LEXICON(0);
	uint64		hash = lexicon_bytes_hash(lexicon,
										  (uint64) PG_GETARG_INT64(1));

	PG_FREE_IF_COPY(lexicon, 0);
	PG_RETURN_INT64((int64) hash);
}

/*
 * Return a - b, or 0 if b is greater by at most `error`; raise DATA_EXCEPTION
 * if b is greater by more.
 */
static uint64
subtract(uint64 a, uint64 b, uint64 error)
{
	if (b <= a)
		return a - b;
	if (b - a > error)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_EXCEPTION),
				 errmsg("lexicon to be subtracted is not part of the other one"),
				 errdetail("It counts " UINT64_FORMAT " where the other counts "
						   UINT64_FORMAT ", of documents or of a word.",
						   b, a)));
	return 0;
}

/*
 * Correct impossible counts that errors cause; false if no documents are left.
 * A count is not dropped because the other one is 0: then it would be wrong by
 * more than its error.
 */
static bool
set_right(LexiconEntry *entry, const Lexicon *result)
{
	/* a word that occurs has a document, unless df is exact */
	if (entry->df == 0 && entry->cf > 0 && result->df_error > 0)
		entry->df = 1;
	entry->df = Min(entry->df, result->documents);
	entry->cf = Min(Max(entry->cf, entry->df), result->length);
	entry->df = Min(entry->df, entry->cf);
	return entry->df > 0;
}

/*
 * Compute the words of a sum or difference with its header; return their
 * number.
 */
static size_t
merge_words(const Lexicon *a, const Lexicon *b, bool minus, Lexicon *result)
{
	const LexiconEntry *at_a = a->entries;
	const LexiconEntry *at_b = b->entries;
	const LexiconEntry *end_a = at_a + LEXICON_NWORDS(a);
	const LexiconEntry *end_b = at_b + LEXICON_NWORDS(b);
	static const LexiconEntry none = {0};
	size_t		room = LEXICON_NWORDS(result);
	size_t		n = 0;

	for (uint64 i = 0; at_a < end_a || at_b < end_b; i++)
	{
		uint64		hash = at_b == end_b ||
		(at_a < end_a && at_a->hash < at_b->hash) ?
		at_a->hash : at_b->hash;
		const LexiconEntry *in_a = at_a < end_a && at_a->hash == hash ?
		at_a++ : &none;
		const LexiconEntry *in_b = at_b < end_b && at_b->hash == hash ?
		at_b++ : &none;
		LexiconEntry entry = {hash};

		CHECK_EVERY(i);
		if (minus)
		{
			entry.df = subtract(in_a->df, in_b->df, result->df_error);
			entry.cf = subtract(in_a->cf, in_b->cf, result->cf_error);
			if (!set_right(&entry, result))
				continue;
		}
		else
		{
			entry.df = add_saturated(in_a->df, in_b->df);
			entry.cf = add_saturated(in_a->cf, in_b->cf);
		}
		if (n == room)
			(void) lexicon_alloc(a, LEXICON_MAX_WORDS + 1); /* an error */
		result->entries[n++] = entry;
	}
	return n;
}

/* lexicon + lexicon: the statistics of the documents of both */
Datum
lexicon_plus(PG_FUNCTION_ARGS)
{
	Lexicon    *a = PG_GETARG_LEXICON(0);
	Lexicon    *b = PG_GETARG_LEXICON(1);
	Lexicon    *sum = lexicon_alloc(a,
									Min(LEXICON_NWORDS(a) + LEXICON_NWORDS(b),
										LEXICON_MAX_WORDS));

	lexicon_add_totals(sum, b);
	lexicon_seal(sum, merge_words(a, b, false, sum));
	PG_RETURN_LEXICON(sum);
}

/* lexicon - lexicon: the statistics of a's documents without b's */
Datum
lexicon_minus(PG_FUNCTION_ARGS)
{
	Lexicon    *a = PG_GETARG_LEXICON(0);
	Lexicon    *b = PG_GETARG_LEXICON(1);
	Lexicon    *rest = lexicon_alloc(a, LEXICON_NWORDS(a));
	uint64		initials = 0;

	lexicons_require_same(a, b);
	rest->documents = subtract(a->documents, b->documents, 0);
	rest->length = subtract(a->length, b->length, 0);
	rest->df_error = lexicon_add_errors(a->df_error, b->df_error);
	rest->cf_error = lexicon_add_errors(a->cf_error, b->cf_error);
	for (int i = 0; i < LEXICON_CLASSES; i++)
	{
		rest->initials[i] = subtract(a->initials[i], b->initials[i], 0);
		initials += rest->initials[i];
	}
	if (initials > rest->length)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_EXCEPTION),
				 errmsg("lexicon to be subtracted is not part of the other one"),
				 errdetail("The classes of the words that are left sum up to more than their number.")));
	lexicon_seal(rest, merge_words(a, b, true, rest));
	PG_RETURN_LEXICON(rest);
}

/* Trimming */

/*
 * Return the highest rank to drop so that at most max words, of min_df or
 * more, stay.
 */
static uint64
rank_limit(const Lexicon *lexicon, size_t max, uint32 min_df)
{
	size_t		n = LEXICON_NWORDS(lexicon);
	uint64		limit = ((uint64) min_df << 32) - 1;
	uint64	   *ranks;

	if (n <= max)
		return limit;
	ranks = palloc_huge(n, sizeof(uint64));
	for (size_t i = 0; i < n; i++)
		ranks[i] = lexicon_rank(lexicon->entries[i].df,
								lexicon->entries[i].hash);
	sort_hashes(ranks, n);
	limit = Max(limit, ranks[n - max - 1]);
	pfree(ranks);
	return limit;
}

/* lexicon_trim(lexicon, max_words int, min_df int): without the rare words */
Datum
lexicon_trim(PG_FUNCTION_ARGS)
{
	Lexicon    *lexicon = PG_GETARG_LEXICON(0);
	int32		max = argument_whole("max_words", PG_GETARG_INT32(1), 0,
									 PG_INT32_MAX);
	int32		min_df = argument_whole("min_df", PG_GETARG_INT32(2), 1,
										PG_INT32_MAX);
	size_t		n = LEXICON_NWORDS(lexicon);
	size_t		kept = 0;
	uint32		lost_df = 0;
	uint32		lost_cf = 0;
	uint64		limit = rank_limit(lexicon, max, min_df);
	Lexicon    *result = lexicon_alloc(lexicon, Min(n, (size_t) max));

	for (size_t i = 0; i < n; i++)
	{
		const LexiconEntry *entry = &lexicon->entries[i];

		if (lexicon_rank(entry->df, entry->hash) > limit)
			result->entries[kept++] = *entry;
		else
		{
			lost_df = Max(lost_df, entry->df);
			lost_cf = Max(lost_cf, entry->cf);
		}
	}
	result->df_error = lexicon_add_errors(result->df_error, lost_df);
	result->cf_error = lexicon_add_errors(result->cf_error, lost_cf);
	Assert(kept <= Min(n, (size_t) max));
	lexicon_seal(result, kept);
	PG_RETURN_LEXICON(result);
}
