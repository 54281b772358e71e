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
 * What is read, in either form, is checked field by field, as with signatures.
 */
#include "postgres.h"

#include "funcapi.h"
#include "libpq/pqformat.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

#include "base/call.h"
#include "base/compat.h"
#include "base/hash.h"
#include "base/input.h"
#include "base/interrupts.h"
#include "base/sort_uint64.h"
#include "lexicon/lexicon.h"
#include "lexicon/weights.h"
#include "text/analysis.h"

PG_FUNCTION_INFO_V1(lexicon_in);
PG_FUNCTION_INFO_V1(lexicon_out);
PG_FUNCTION_INFO_V1(lexicon_recv);
PG_FUNCTION_INFO_V1(lexicon_send);
PG_FUNCTION_INFO_V1(lexicon_from_bytea);

/* Reading the text form */

/* Read a word or a sign that must be there, after any white space. */
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
	header->reading = analysis->reading;
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
parse_lexicon(const char *str, Node *escontext)
{
	Input		in = {str, "lexicon", escontext};
	Lexicon		header = {.version = LEXICON_VERSION};
	SignatureSpec spec;
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
	rule = lexicon_broken_rule(lexicon);
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
	SignatureSpec spec;

	lexicon_spec(lexicon, &spec);
	appendStringInfo(out, "lexicon[%s%s] documents=" UINT64_FORMAT
					 " length=" UINT64_FORMAT
					 " df_error=" UINT64_FORMAT
					 " cf_error=" UINT64_FORMAT " initials=",
					 words_name(&spec),
					 analysis_reading(lexicon->reading),
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
 * The bytes with the hash of their analysis and their checksum made right, so that
 * altered bytes reach all other checks.
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
	lexicon_spec(lexicon, &spec);
	if (!(spec.filters & FILTER_CONFIG))
		(void) analysis_hash(&spec, &lexicon->analysis);
	lexicon_seal(lexicon);
	lexicon_swap(lexicon);
	PG_RETURN_BYTEA_P(lexicon);
}

#endif							/* NEARDUP_TESTING */

/* Operators */

PG_FUNCTION_INFO_V1(lexicon_eq);
PG_FUNCTION_INFO_V1(lexicon_ne);
PG_FUNCTION_INFO_V1(lexicon_hash);
PG_FUNCTION_INFO_V1(lexicon_hash_extended);
PG_FUNCTION_INFO_V1(lexicon_plus);
PG_FUNCTION_INFO_V1(lexicon_minus);
PG_FUNCTION_INFO_V1(lexicon_trim);
PG_FUNCTION_INFO_V1(lexicon_documents);
PG_FUNCTION_INFO_V1(lexicon_nwords);
PG_FUNCTION_INFO_V1(lexicon_length);
PG_FUNCTION_INFO_V1(lexicon_df_error);
PG_FUNCTION_INFO_V1(lexicon_cf_error);
PG_FUNCTION_INFO_V1(lexicon_describe);
PG_FUNCTION_INFO_V1(lexicon_words);

/* Equality */

static bool
lexicons_equal(FunctionCallInfo fcinfo)
{
	Lexicon    *a = PG_GETARG_LEXICON(0);
	Lexicon    *b = PG_GETARG_LEXICON(1);

	return VARSIZE(a) == VARSIZE(b) && memcmp(a, b, VARSIZE(a)) == 0;
}

Datum
lexicon_eq(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(lexicons_equal(fcinfo));
}

Datum
lexicon_ne(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(!lexicons_equal(fcinfo));
}

Datum
lexicon_hash(PG_FUNCTION_ARGS)
{
	Lexicon    *lexicon = PG_GETARG_LEXICON(0);
	uint64		hash = lexicon_bytes_hash(lexicon, 0);

	PG_FREE_IF_COPY(lexicon, 0);
	PG_RETURN_INT32((int32) hash);
}

Datum
lexicon_hash_extended(PG_FUNCTION_ARGS)
{
	Lexicon    *lexicon = PG_GETARG_LEXICON(0);
	uint64		hash = lexicon_bytes_hash(lexicon, (uint64) PG_GETARG_INT64(1));

	PG_FREE_IF_COPY(lexicon, 0);
	PG_RETURN_INT64((int64) hash);
}

/* Merging */

/* Two lexicons of the same analysis, read side by side in order of hashes. */
typedef struct Merge
{
	const LexiconEntry *a;
	const LexiconEntry *a_end;
	const LexiconEntry *b;
	const LexiconEntry *b_end;
	uint64		steps;			/* taken so far */
} Merge;

static void
merge_begin(Merge *merge, const Lexicon *a, const Lexicon *b)
{
	SignatureSpec left;
	SignatureSpec right;

	lexicon_spec(a, &left);
	lexicon_spec(b, &right);
	words_require_same(&left, &right);
	merge->a = a->entries;
	merge->a_end = a->entries + LEXICON_NWORDS(a);
	merge->b = b->entries;
	merge->b_end = b->entries + LEXICON_NWORDS(b);
	merge->steps = 0;
}

/*
 * The next word's entries in both, NULL where it is not; false at the end.
 */
static bool
merge_next(Merge *merge, const LexiconEntry **a, const LexiconEntry **b)
{
	bool		more_a = merge->a < merge->a_end;
	bool		more_b = merge->b < merge->b_end;

	CHECK_EVERY(merge->steps++);
	*a = *b = NULL;
	if (!more_a && !more_b)
		return false;
	if (more_a && (!more_b || merge->a->hash <= merge->b->hash))
		*a = merge->a;
	if (more_b && (!more_a || merge->b->hash <= merge->a->hash))
		*b = merge->b;
	merge->a += *a != NULL;
	merge->b += *b != NULL;
	return true;
}

/* How many words two lexicons have together. */
static size_t
merged_size(const Lexicon *a, const Lexicon *b)
{
	Merge		merge;
	const LexiconEntry *ea;
	const LexiconEntry *eb;
	size_t		n = 0;

	merge_begin(&merge, a, b);
	while (merge_next(&merge, &ea, &eb))
		n++;
	return n;
}

/* The statistics of the documents of both. */
Datum
lexicon_plus(PG_FUNCTION_ARGS)
{
	Lexicon    *a = PG_GETARG_LEXICON(0);
	Lexicon    *b = PG_GETARG_LEXICON(1);
	Lexicon    *sum;
	LexiconEntry *entry;
	Merge		merge;
	const LexiconEntry *ea;
	const LexiconEntry *eb;
	SignatureSpec spec;

	lexicon_spec(a, &spec);
	sum = lexicon_alloc(&spec, a->reading | b->reading,
						merged_size(a, b));
	lexicon_add_totals(sum, a);
	lexicon_add_totals(sum, b);
	merge_begin(&merge, a, b);
	for (entry = sum->entries; merge_next(&merge, &ea, &eb); entry++)
	{
		if (ea == NULL)
			*entry = *eb;
		else if (eb == NULL)
			*entry = *ea;
		else
			*entry = (LexiconEntry)
		{
			ea->hash, add_saturated(ea->df, eb->df),
				add_saturated(ea->cf, eb->cf)
		};
	}
	lexicon_seal(sum);
	PG_RETURN_LEXICON(sum);
}

/* a - b, which may be wrong by error; raises DATA_EXCEPTION if b is more. */
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
 * Sets right what errors make impossible; false if no documents are left.  Of a
 * word neither number may be dropped because the other one is 0: then it would be
 * off by more than its error.
 */
static bool
set_right(LexiconEntry *entry, const Lexicon *result)
{
	/* what occurs has a document, unless it is certain that it has none */
	if (entry->df == 0 && entry->cf > 0 && result->df_error > 0)
		entry->df = 1;
	entry->df = Min(entry->df, result->documents);
	entry->cf = Min(Max(entry->cf, entry->df), result->length);
	entry->df = Min(entry->df, entry->cf);
	return entry->df > 0;
}

/* A word less its occurrences elsewhere; false if none are left. */
static bool
subtract_entry(LexiconEntry *entry, const LexiconEntry *a,
			   const LexiconEntry *b, const Lexicon *result)
{
	if (b == NULL)
		*entry = *a;
	else
	{
		entry->hash = b->hash;
		entry->df = subtract(a == NULL ? 0 : a->df, b->df, result->df_error);
		entry->cf = subtract(a == NULL ? 0 : a->cf, b->cf, result->cf_error);
	}
	return set_right(entry, result);
}

/* The statistics of a's documents without those of b. */
Datum
lexicon_minus(PG_FUNCTION_ARGS)
{
	Lexicon    *a = PG_GETARG_LEXICON(0);
	Lexicon    *b = PG_GETARG_LEXICON(1);
	Lexicon    *rest;
	Merge		merge;
	const LexiconEntry *ea;
	const LexiconEntry *eb;
	SignatureSpec spec;
	size_t		n = 0;
	uint64		initials = 0;

	merge_begin(&merge, a, b);
	lexicon_spec(a, &spec);
	rest = lexicon_alloc(&spec, a->reading,
						 LEXICON_NWORDS(a));
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
	while (merge_next(&merge, &ea, &eb))
	{
		LexiconEntry entry;

		if (subtract_entry(&entry, ea, eb, rest))
			rest->entries[n++] = entry;
	}
	Assert(n <= LEXICON_NWORDS(a));
	SET_VARSIZE(rest, LEXICON_HEADER + n * sizeof(LexiconEntry));
	lexicon_seal(rest);
	PG_RETURN_LEXICON(rest);
}

/* Trimming */

/* The highest rank to be dropped so that at most max words of min_df stay. */
static uint64
rank_limit(const Lexicon *lexicon, size_t max, uint32 min_df)
{
	size_t		n = LEXICON_NWORDS(lexicon);
	uint64		limit = ((uint64) min_df << 32) - 1;
	uint64	   *ranks;

	if (n <= max)
		return limit;
	ranks = MemoryContextAllocHuge(CurrentMemoryContext, n * sizeof(uint64));
	for (size_t i = 0; i < n; i++)
		ranks[i] = lexicon_rank(lexicon->entries[i].df, lexicon->entries[i].hash);
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
	uint64		limit;
	SignatureSpec spec;
	Lexicon    *result;

	limit = rank_limit(lexicon, max, min_df);
	lexicon_spec(lexicon, &spec);
	result = lexicon_alloc(&spec, false, Min(n, (size_t) max));
	memcpy((char *) result + VARHDRSZ, (char *) lexicon + VARHDRSZ,
		   LEXICON_HEADER - VARHDRSZ);
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
	SET_VARSIZE(result, LEXICON_HEADER + kept * sizeof(LexiconEntry));
	lexicon_seal(result);
	PG_RETURN_LEXICON(result);
}

/* Reading */

Datum
lexicon_documents(PG_FUNCTION_ARGS)
{
	size_t		n;

	PG_RETURN_INT64((int64) lexicon_header(PG_GETARG_DATUM(0), &n)->documents);
}

Datum
lexicon_nwords(PG_FUNCTION_ARGS)
{
	size_t		n;

	(void) lexicon_header(PG_GETARG_DATUM(0), &n);
	PG_RETURN_INT64((int64) n);
}

Datum
lexicon_length(PG_FUNCTION_ARGS)
{
	size_t		n;

	PG_RETURN_INT64((int64) lexicon_header(PG_GETARG_DATUM(0), &n)->length);
}

Datum
lexicon_df_error(PG_FUNCTION_ARGS)
{
	size_t		n;

	PG_RETURN_INT64((int64) lexicon_header(PG_GETARG_DATUM(0), &n)->df_error);
}

Datum
lexicon_cf_error(PG_FUNCTION_ARGS)
{
	size_t		n;

	PG_RETURN_INT64((int64) lexicon_header(PG_GETARG_DATUM(0), &n)->cf_error);
}

/* lexicon_describe(lexicon): what is in it, in words */
Datum
lexicon_describe(PG_FUNCTION_ARGS)
{
	size_t		n;
	const Lexicon *lexicon = lexicon_header(PG_GETARG_DATUM(0), &n);
	SignatureSpec spec;
	StringInfoData out;

	lexicon_spec(lexicon, &spec);
	initStringInfo(&out);
	appendStringInfo(&out, "lexicon[%s%s]: " UINT64_FORMAT " documents, "
					 UINT64_FORMAT " %s, %zu of them distinct",
					 words_name(&spec),
					 analysis_reading(lexicon->reading),
					 lexicon->documents, lexicon->length,
					 spec_is_of_words(&spec) ? "words" : "shingles", n);
	if (lexicon->df_error == 0 && lexicon->cf_error == 0)
		appendStringInfoString(&out, ", exact");
	else
		appendStringInfo(&out, ", df off by " UINT64_FORMAT
						 " at most, cf by " UINT64_FORMAT,
						 lexicon->df_error, lexicon->cf_error);
	PG_RETURN_TEXT_P(cstring_to_text_with_len(out.data, out.len));
}

/* lexicon_words(lexicon): its words, known by hash, and what they weigh */
Datum
lexicon_words(PG_FUNCTION_ARGS)
{
	Lexicon    *lexicon = PG_GETARG_LEXICON(0);
	size_t		n = LEXICON_NWORDS(lexicon);
	ReturnSetInfo *rsinfo;

	InitMaterializedSRF(fcinfo, 0);
	rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	for (size_t i = 0; i < n; i++)
	{
		const LexiconEntry *entry = &lexicon->entries[i];
		int64		numbers[] = {(int64) entry->hash, entry->df, entry->cf};
		double		weights[] = {
			lexicon_idf(lexicon, entry->df),
			lexicon_ridf(lexicon, entry->df, entry->cf)
		};
		Datum		values[5];
		bool		nulls[5] = {0};

		if (i % 1024 == 0)
			CHECK_FOR_INTERRUPTS();
		/* on 32 bits these are pointers to what is copied below */
		for (int k = 0; k < 3; k++)
			values[k] = Int64GetDatumFast(numbers[k]);
		for (int k = 0; k < 2; k++)
			values[3 + k] = Float8GetDatumFast(weights[k]);
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
	}
	return (Datum) 0;
}
