/*
 * frequent_features.c
 *		The aggregate that finds the most frequent features of signatures, as
 *		the option "frequent" of the operator class wants them.
 *
 * It counts features by the upper bits of their hashes, which are what a list
 * has (see feature_order.c): so its memory is fixed, its counts are exact, and
 * those of parallel workers add up.
 *
 * What is not frequent has no place in a list, however short that becomes: by
 * chance some prefixes have more features than others.
 */
#include "postgres.h"

#include "utils/builtins.h"

#include "base/call.h"
#include "base/compat.h"
#include "base/input.h"
#include "base/interrupts.h"
#include "gin/prefix.h"
#include "methods/method.h"
#include "signature/sql/signature_type.h"

PG_FUNCTION_INFO_V1(frequent_features_add);
PG_FUNCTION_INFO_V1(frequent_features_combine);
PG_FUNCTION_INFO_V1(frequent_features_final);

#define DEFAULT_WANTED	256

/*
 * A prefix is frequent if it occurs more often than FREQUENT_TIMES the mean and
 * FREQUENT_LEAST besides.  Of features that occur once each, whose numbers are
 * those of a Poisson distribution, one prefix in 10^10 would, at the most.
 */
#define FREQUENT_TIMES	4
#define FREQUENT_LEAST	8

/*
 * The state: a bytea, of the number wanted, a signature without values, for how
 * they were made, and the counts.
 */
typedef struct FeatureCounts
{
	ExpandedObjectHeader header;
	SignatureSpec		spec;			/* of the signatures */
	int64		wanted;			/* prefixes in the list, at most */
	uint64		total;			/* sum of counts */
	uint64		counts[FREQUENT_PREFIXES];
} FeatureCounts;

#define COUNTS_SIZE		(FREQUENT_PREFIXES * sizeof(uint64))
#define SPEC_AT		sizeof(int64)
#define SPEC_SIZE		(SIGNATURE_HEADER - VARHDRSZ)
#define COUNTS_AT		(SPEC_AT + SPEC_SIZE)

static Size
state_size(ExpandedObjectHeader *header)
{
	return state_flat_size("frequent_features", COUNTS_AT + COUNTS_SIZE);
}

static void
state_flatten(ExpandedObjectHeader *header, void *result, Size size)
{
	FeatureCounts *counts = (FeatureCounts *) header;
	bytea	   *spec = signature_to_bytes(signature_alloc(&counts->spec, 0));
	char	   *at = VARDATA(result);

	SET_VARSIZE(result, size);
	memcpy(at, &counts->wanted, SPEC_AT);
	memcpy(at + SPEC_AT, VARDATA(spec), SPEC_SIZE);
	memcpy(at + COUNTS_AT, counts->counts, COUNTS_SIZE);
}

static const ExpandedObjectMethods state_methods = {state_size, state_flatten};

/* Raises an error unless lists of this spec's signatures are of use. */
static void
require_ordered(const SignatureSpec *spec)
{
	if (!spec_has_keys(spec))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("frequent features of %s signatures do not matter",
					method_info(spec->method)->name),
			 errdetail("An index has keys of their own for them, which are in no order."),
			 errhint("Create the index without the option \"frequent\".")));
}

static FeatureCounts *
create_counts(FunctionCallInfo fcinfo, const SignatureSpec *spec, int64 wanted)
{
	FeatureCounts *counts;

	require_ordered(spec);
	argument_whole("number of frequent features", wanted, 1, MAX_FREQUENT);
	counts = state_create(fcinfo, &state_methods, sizeof(FeatureCounts));
	counts->spec = *spec;
	counts->wanted = wanted;
	return counts;
}

/* Raises an error unless signatures and number are those of before. */
static void
require_same(const FeatureCounts *counts, const SignatureSpec *spec, int64 wanted)
{
	spec_require_equal(&counts->spec, spec);
	if (counts->wanted != wanted)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("number of frequent features must be the same for all signatures")));
}

/* Adds a flat state to one in memory, which is made if it is NULL. */
static FeatureCounts *
add_flat(FunctionCallInfo fcinfo, FeatureCounts *counts, const bytea *flat)
{
	const char *at = VARDATA_ANY(flat);
	const SignatureSpec *spec;
	int64		wanted;

	if (VARSIZE_ANY_EXHDR(flat) != COUNTS_AT + COUNTS_SIZE)
		input_bad_bytes("state of frequent_features()",
						"It is cut off, or too long.");
	memcpy(&wanted, at, SPEC_AT);
	spec = &signature_from_bytes(at + SPEC_AT, SPEC_SIZE)->spec;
	if (counts == NULL)
		counts = create_counts(fcinfo, spec, wanted);
	require_same(counts, spec, wanted);
	at += COUNTS_AT;
	for (int i = 0; i < FREQUENT_PREFIXES; i++)
	{
		uint64		count;

		memcpy(&count, at + i * sizeof(uint64), sizeof(uint64));
		counts->counts[i] += count;
		counts->total += count;
	}
	return counts;
}

/* Argument 0 to be changed; NULL if it is null. */
static FeatureCounts *
get_state(FunctionCallInfo fcinfo)
{
	FeatureCounts *counts = state_to_change(fcinfo, &state_methods);

	if (counts == NULL && !PG_ARGISNULL(0))
		counts = add_flat(fcinfo, NULL, PG_GETARG_BYTEA_PP(0));
	return counts;
}

static void
count_features(FeatureCounts *counts, const Signature *sig)
{
	const uint64 *hashes = feature_hashes(sig);
	uint64		n = SIGNATURE_NVALUES(sig);

	for (uint64 i = 0; i < n; i++)
	{
		CHECK_EVERY(i);
		counts->counts[frequent_prefix(hashes[i])]++;
	}
	counts->total += n;
}

/* (state bytea, sig signature [, n int]) */
Datum
frequent_features_add(PG_FUNCTION_ARGS)
{
	FeatureCounts *counts;
	Signature  *sig;
	int64		wanted = DEFAULT_WANTED;

	if (PG_ARGISNULL(1))
		return call_unchanged_state(fcinfo);
	if (PG_NARGS() > 2)
	{
		if (PG_ARGISNULL(2))
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					 errmsg("number of frequent features must not be null")));
		wanted = PG_GETARG_INT32(2);
	}
	sig = PG_GETARG_SIGNATURE(1);
	counts = get_state(fcinfo);
	if (counts == NULL)
		counts = create_counts(fcinfo, &sig->spec, wanted);
	require_same(counts, &sig->spec, wanted);
	count_features(counts, sig);
	PG_RETURN_STATE(counts);
}

/* The state of another process, which is flat, is added to this one. */
Datum
frequent_features_combine(PG_FUNCTION_ARGS)
{
	if (PG_ARGISNULL(1))
		return call_unchanged_state(fcinfo);
	PG_RETURN_STATE(add_flat(fcinfo, get_state(fcinfo),
							 PG_GETARG_BYTEA_PP(1)));
}

/* The list */

typedef struct PrefixCount
{
	uint16		prefix;
	uint64		count;
} PrefixCount;

/* The most frequent first, then by prefix. */
static int
compare_counts(const void *left, const void *right)
{
	const PrefixCount *a = left;
	const PrefixCount *b = right;

	if (a->count != b->count)
		return a->count > b->count ? -1 : 1;
	return (int) a->prefix - (int) b->prefix;
}

static int
compare_prefixes(const void *left, const void *right)
{
	return (int) *(const uint16 *) left - (int) *(const uint16 *) right;
}

/* All that are frequent, into an array of FREQUENT_PREFIXES. */
static int
collect_frequent(const FeatureCounts *counts, PrefixCount *frequent)
{
	double		mean = (double) counts->total / FREQUENT_PREFIXES;
	int			n = 0;

	for (int i = 0; i < FREQUENT_PREFIXES; i++)
	{
		if (counts->counts[i] <= FREQUENT_TIMES * mean + FREQUENT_LEAST)
			continue;
		frequent[n].prefix = i;
		frequent[n++].count = counts->counts[i];
	}
	return n;
}

/* Of no signatures the list is empty. */
Datum
frequent_features_final(PG_FUNCTION_ARGS)
{
	const FeatureCounts *counts;
	PrefixCount *frequent;
	uint16		prefixes[MAX_FREQUENT];
	int			n;

	if (PG_ARGISNULL(0))
		PG_RETURN_TEXT_P(cstring_to_text(""));
	counts = state_to_read(fcinfo, &state_methods);
	if (counts == NULL)
		counts = add_flat(fcinfo, NULL, PG_GETARG_BYTEA_PP(0));
	frequent = palloc(FREQUENT_PREFIXES * sizeof(PrefixCount));
	n = collect_frequent(counts, frequent);
	qsort(frequent, n, sizeof(PrefixCount), compare_counts);
	n = Min(n, counts->wanted);
	for (int i = 0; i < n; i++)
		prefixes[i] = frequent[i].prefix;
	qsort(prefixes, n, sizeof(uint16), compare_prefixes);
	PG_RETURN_TEXT_P(cstring_to_text(feature_order_list(prefixes, n)));
}
