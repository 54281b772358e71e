/*
 * frequent_features.c
 *		The aggregate frequent_features(): a list for the option "frequent" of the
 *		operator class.
 *
 * Features are counted by the upper bits of their hashes, of which a list consists (see
 * prefix.c).  So memory is fixed, counts are exact, and counts of workers can be added.
 */
#include "postgres.h"

#include "utils/builtins.h"

#include "base/call.h"
#include "base/compat.h"
#include "base/interrupts.h"
#include "base/sort_uint64.h"
#include "gin/gin.h"
#include "methods/method.h"
#include "signature/sql/signature_type.h"

PG_FUNCTION_INFO_V1(frequent_features_add);
PG_FUNCTION_INFO_V1(frequent_features_combine);
PG_FUNCTION_INFO_V1(frequent_features_final);

#define DEFAULT_WANTED	256

/*
 * A prefix is frequent if it occurs more than FREQUENT_TIMES the mean plus FREQUENT_LEAST
 * times.  If each feature occurs once, counts of prefixes have a Poisson distribution, and at
 * most one prefix in 10^10 is frequent.
 */
#define FREQUENT_TIMES	4
#define FREQUENT_LEAST	8

/* The state of the aggregate */
typedef struct FeatureCounts
{
	int32		vl_len_;		/* varlena header (do not touch directly!) */
	int32		wanted;			/* most prefixes of the list; 0: no signature
								 * yet */
	char		made[SIGNATURE_HEADER - VARHDRSZ];	/* the spec, as a
													 * signature without
													 * values */
	char		unused[4];
	uint64		counts[FREQUENT_PREFIXES];
} FeatureCounts;

StaticAssertDecl(offsetof(FeatureCounts, counts) % sizeof(uint64) == 0,
				 "FeatureCounts has padding");

/* Raise an error unless an index of such signatures can use a list. */
static void
require_ordered(const SignatureSpec *spec)
{
	if (!spec_has_keys(spec))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("frequent features of %s signatures do not matter",
					method_info(spec->method)->name),
			 errdetail("An index has other keys for them, which are in no order."),
			 errhint("Create the index without the option \"frequent\".")));
}

/* Return the state; raises an error if signatures before had another spec or number. */
static FeatureCounts *
get_state(FunctionCallInfo fcinfo, const SignatureSpec *spec, int64 wanted)
{
	FeatureCounts *counts = state_of_size(fcinfo, "frequent_features", sizeof(FeatureCounts));

	require_ordered(spec);
	argument_whole("number of frequent features", wanted, 1, MAX_FREQUENT);
	if (counts->wanted == 0)
	{
		bytea	   *made = signature_to_bytes(signature_alloc(spec, 0));

		counts->wanted = wanted;
		memcpy(counts->made, VARDATA(made), sizeof(counts->made));
		return counts;
	}
	spec_require_equal(&signature_from_bytes(counts->made, sizeof(counts->made))->spec,
					   spec);
	if (counts->wanted != wanted)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("number of frequent features must be the same for all signatures")));
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
	counts = get_state(fcinfo, &sig->spec, wanted);
	count_features(counts, sig);
	PG_RETURN_BYTEA_P((bytea *) counts);
}

/* (state bytea, other bytea) */
Datum
frequent_features_combine(PG_FUNCTION_ARGS)
{
	const FeatureCounts *other;
	FeatureCounts *counts;

	if (PG_ARGISNULL(1))
		return call_unchanged_state(fcinfo);
	other = state_other_of_size(fcinfo, 1, "frequent_features", sizeof(FeatureCounts));
	counts = get_state(fcinfo, &signature_from_bytes(other->made, sizeof(other->made))->spec,
					   other->wanted);
	for (int i = 0; i < FREQUENT_PREFIXES; i++)
		counts->counts[i] += other->counts[i];
	PG_RETURN_BYTEA_P((bytea *) counts);
}

/* The list */

/* Collect frequent prefixes, each as its count and the prefix in one number; returns their number. */
static int
collect_frequent(const FeatureCounts *counts, uint64 *frequent)
{
	double		total = 0;
	int			n = 0;

	for (int i = 0; i < FREQUENT_PREFIXES; i++)
		total += counts->counts[i];
	for (int i = 0; i < FREQUENT_PREFIXES; i++)
		if (counts->counts[i] > FREQUENT_TIMES * total / FREQUENT_PREFIXES + FREQUENT_LEAST)
			frequent[n++] = counts->counts[i] << FREQUENT_BITS |
				(FREQUENT_PREFIXES - 1 - i);
	return n;
}

/* (state bytea): the list, which is empty for no signatures */
Datum
frequent_features_final(PG_FUNCTION_ARGS)
{
	const FeatureCounts *counts;
	uint64	   *frequent;
	uint64	   *first;
	int			n;
	int			wanted;

	if (PG_ARGISNULL(0))
		PG_RETURN_TEXT_P(cstring_to_text(""));
	counts = state_other_of_size(fcinfo, 0, "frequent_features", sizeof(FeatureCounts));
	frequent = palloc(FREQUENT_PREFIXES * sizeof(uint64));
	n = collect_frequent(counts, frequent);
	sort_hashes(frequent, n);
	wanted = Min(n, Min(Max(counts->wanted, 0), MAX_FREQUENT));
	first = frequent + n - wanted;
	Assert(wanted >= 0 && wanted <= n);
	for (int i = 0; i < wanted; i++)
		first[i] = FREQUENT_PREFIXES - 1 - first[i] % FREQUENT_PREFIXES;
	sort_hashes(first, wanted);
	PG_RETURN_TEXT_P(cstring_to_text(feature_order_list(first, wanted)));
}
