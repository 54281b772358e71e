/*
 * lexicon_ops.c
 *		Adding lexicons, taking one from another, trimming, and reading.
 */
#include "postgres.h"

#include "funcapi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

#include "base/call.h"
#include "base/compat.h"
#include "base/hash.h"
#include "base/interrupts.h"
#include "base/sort_uint64.h"
#include "lexicon/lexicon.h"
#include "lexicon/weights.h"

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

/* XXH3 with the seed over the portable bytes.  Fixed for ever, as hash partitions rely on it. */
static uint64
hash_lexicon(const Lexicon *lexicon, uint64 seed)
{
	size_t		len = VARSIZE(lexicon);
	uint64		hash;
#ifdef WORDS_BIGENDIAN
	Lexicon    *portable = palloc(len);

	memcpy(portable, lexicon, len);
	lexicon_swap(portable);
	hash = XXH3_64bits_withSeed(VARDATA(portable), len - VARHDRSZ, seed);
	pfree(portable);
#else
	hash = XXH3_64bits_withSeed(VARDATA(lexicon), len - VARHDRSZ, seed);
#endif
	return hash;
}

Datum
lexicon_hash(PG_FUNCTION_ARGS)
{
	Lexicon    *lexicon = PG_GETARG_LEXICON(0);
	uint64		hash = hash_lexicon(lexicon, 0);

	PG_FREE_IF_COPY(lexicon, 0);
	PG_RETURN_INT32((int32) hash);
}

Datum
lexicon_hash_extended(PG_FUNCTION_ARGS)
{
	Lexicon    *lexicon = PG_GETARG_LEXICON(0);
	uint64		hash = hash_lexicon(lexicon, (uint64) PG_GETARG_INT64(1));

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
	SignatureSpec		left;
	SignatureSpec		right;

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
	SignatureSpec		spec;

	lexicon_spec(a, &spec);
	sum = lexicon_alloc(&spec, ((a->flags | b->flags) & LEXICON_MARKUP) != 0,
						merged_size(a, b));
	lexicon_add_totals(sum, a);
	lexicon_add_totals(sum, b);
	merge_begin(&merge, a, b);
	for (entry = sum->entries; merge_next(&merge, &ea, &eb); entry++)
	{
		*entry = ea != NULL ? *ea : *eb;
		if (ea != NULL && eb != NULL)
		{
			entry->df = add_saturated(ea->df, eb->df);
			entry->cf = add_saturated(ea->cf, eb->cf);
		}
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
	SignatureSpec		spec;
	size_t		n = 0;
	uint64		initials = 0;

	merge_begin(&merge, a, b);
	lexicon_spec(a, &spec);
	rest = lexicon_alloc(&spec, (a->flags & LEXICON_MARKUP) != 0,
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
	SET_VARSIZE(rest, LEXICON_HEADER + n * sizeof(LexiconEntry));
	lexicon_seal(rest);
	PG_RETURN_LEXICON(rest);
}

/* Trimming */

/* By df; of the same df, by hash: as counts.c drops words. */
static inline uint64
rank_of(const LexiconEntry *entry)
{
	return (uint64) entry->df << 32 | (~entry->hash >> 32);
}

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
		ranks[i] = rank_of(&lexicon->entries[i]);
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
	SignatureSpec		spec;
	Lexicon    *result;

	limit = rank_limit(lexicon, max, min_df);
	lexicon_spec(lexicon, &spec);
	result = lexicon_alloc(&spec, false, Min(n, (size_t) max));
	memcpy((char *) result + VARHDRSZ, (char *) lexicon + VARHDRSZ,
		   LEXICON_HEADER - VARHDRSZ);
	for (size_t i = 0; i < n; i++)
	{
		const LexiconEntry *entry = &lexicon->entries[i];

		if (rank_of(entry) > limit)
			result->entries[kept++] = *entry;
		else
		{
			lost_df = Max(lost_df, entry->df);
			lost_cf = Max(lost_cf, entry->cf);
		}
	}
	result->df_error = lexicon_add_errors(result->df_error, lost_df);
	result->cf_error = lexicon_add_errors(result->cf_error, lost_cf);
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
	SignatureSpec		spec;
	StringInfoData out;

	lexicon_spec(lexicon, &spec);
	initStringInfo(&out);
	appendStringInfo(&out, "lexicon[%s%s]: " UINT64_FORMAT " documents, "
					 UINT64_FORMAT " %s, %zu of them distinct",
					 words_name(&spec),
					 lexicon->flags & LEXICON_MARKUP ? " html" : "",
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
