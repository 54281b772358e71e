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
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/index/frequent_features.c
 */
#include "postgres.h"

#include "utils/builtins.h"

#include "base/arguments.h"
#include "base/call.h"
#include "base/compat.h"
#include "base/interrupts.h"
#include "index/prefix.h"
#include "methods/making_name.h"
#include "methods/method.h"

PG_FUNCTION_INFO_V1(frequent_features_add);
PG_FUNCTION_INFO_V1(frequent_features_combine);
PG_FUNCTION_INFO_V1(frequent_features_serialize);
PG_FUNCTION_INFO_V1(frequent_features_deserialize);
PG_FUNCTION_INFO_V1(frequent_features_final);

#define DEFAULT_WANTED	256

/*
 * A prefix is frequent if it occurs more often than FREQUENT_TIMES the mean and
 * FREQUENT_LEAST besides.  Of features that occur once each, whose numbers are
 * those of a Poisson distribution, one prefix in 10^10 would, at the most.
 */
#define FREQUENT_TIMES	4
#define FREQUENT_LEAST	8

/* The state; sent from a worker as it is. */
typedef struct FeatureCounts
{
	Making		making;			/* of the signatures */
	int64		wanted;			/* prefixes in the list, at most */
	uint64		total;			/* sum of counts */
	uint64		counts[FREQUENT_PREFIXES];
} FeatureCounts;

/* Raises an error unless lists of this making's signatures are of use. */
static void
require_ordered(const Making *making)
{
	if (!making_has_keys(making))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("frequent features of %s signatures do not matter",
					method_info(making->method)->name),
			 errdetail("An index has keys of their own for them, which are in no order."),
			 errhint("Create the index without the option \"frequent\".")));
}

static FeatureCounts *
create_counts(MemoryContext context, const Making *making, int64 wanted)
{
	FeatureCounts *counts;

	require_ordered(making);
	argument_whole("number of frequent features", wanted, 1, MAX_FREQUENT);
	counts = MemoryContextAllocZero(context, sizeof(FeatureCounts));
	counts->making = *making;
	counts->wanted = wanted;
	return counts;
}

/* Raises an error unless signatures and number are those of before. */
static void
require_same(const FeatureCounts *counts, const Making *making, int64 wanted)
{
	making_require_equal(&counts->making, making);
	if (counts->wanted != wanted)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("number of frequent features must be the same for all signatures")));
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

/* (state internal, sig signature [, n int]) */
Datum
frequent_features_add(PG_FUNCTION_ARGS)
{
	MemoryContext context = call_aggregate_context(fcinfo);
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
	if (PG_ARGISNULL(0))
		counts = create_counts(context, &sig->making, wanted);
	else
		counts = (FeatureCounts *) PG_GETARG_POINTER(0);
	require_same(counts, &sig->making, wanted);
	count_features(counts, sig);
	PG_RETURN_POINTER(counts);
}

/* Combining the states of parallel workers */

Datum
frequent_features_combine(PG_FUNCTION_ARGS)
{
	MemoryContext context = call_aggregate_context(fcinfo);
	FeatureCounts *counts;
	const FeatureCounts *other;

	if (PG_ARGISNULL(1))
		return call_unchanged_state(fcinfo);
	other = (FeatureCounts *) PG_GETARG_POINTER(1);
	if (PG_ARGISNULL(0))
		counts = create_counts(context, &other->making, other->wanted);
	else
		counts = (FeatureCounts *) PG_GETARG_POINTER(0);
	require_same(counts, &other->making, other->wanted);
	for (int i = 0; i < FREQUENT_PREFIXES; i++)
		counts->counts[i] += other->counts[i];
	counts->total += other->total;
	PG_RETURN_POINTER(counts);
}

Datum
frequent_features_serialize(PG_FUNCTION_ARGS)
{
	const FeatureCounts *counts = (FeatureCounts *) PG_GETARG_POINTER(0);
	bytea	   *bytes = palloc(VARHDRSZ + sizeof(FeatureCounts));

	SET_VARSIZE(bytes, VARHDRSZ + sizeof(FeatureCounts));
	memcpy(VARDATA(bytes), counts, sizeof(FeatureCounts));
	PG_RETURN_BYTEA_P(bytes);
}

Datum
frequent_features_deserialize(PG_FUNCTION_ARGS)
{
	bytea	   *bytes = PG_GETARG_BYTEA_PP(0);
	FeatureCounts *counts = palloc(sizeof(FeatureCounts));

	Assert(VARSIZE_ANY_EXHDR(bytes) == sizeof(FeatureCounts));
	memcpy(counts, VARDATA_ANY(bytes), sizeof(FeatureCounts));
	PG_RETURN_POINTER(counts);
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
	counts = (FeatureCounts *) PG_GETARG_POINTER(0);
	frequent = palloc(FREQUENT_PREFIXES * sizeof(PrefixCount));
	n = collect_frequent(counts, frequent);
	qsort(frequent, n, sizeof(PrefixCount), compare_counts);
	n = Min(n, counts->wanted);
	for (int i = 0; i < n; i++)
		prefixes[i] = frequent[i].prefix;
	qsort(prefixes, n, sizeof(uint16), compare_prefixes);
	PG_RETURN_TEXT_P(cstring_to_text(feature_order_list(prefixes, n)));
}
