/*
 * exported_keys.c
 *		candidate_keys(): keys for a join of near-duplicates in another
 *		database.
 *
 * Near-duplicates at the threshold share a key, so a join on equal keys finds
 * all of them, and false candidates.  The keys of a set x are its first |x| -
 * o + 1 features, where o is the least overlap of x with any set that reaches
 * the threshold.  All sets have one order of features: by hash, or by
 * feature_counts(), the rarest first.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "port/pg_bswap.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

#include "signature/sets.h"
#include "base/call.h"
#include "base/hash.h"
#include "base/interrupts.h"
#include "base/sort_uint64.h"
#include "keys/feature_hashes.h"
#include "signature/sql/near.h"
#include "methods/method.h"

PG_FUNCTION_INFO_V1(candidate_keys);
PG_FUNCTION_INFO_V1(size_classes);
PG_FUNCTION_INFO_V1(feature_counts_add);
PG_FUNCTION_INFO_V1(feature_counts_combine);

/* Number of counters of features, which the first bits of a hash choose */
#define COUNTER_BITS	18
#define COUNTERS		(1 << COUNTER_BITS)
#define COUNTS_BYTES	(VARHDRSZ + COUNTERS * sizeof(uint32))

/* Convert a counter to its stored form, which is little-endian, or back. */
static inline uint32
swapped_count(uint32 count)
{
#ifdef WORDS_BIGENDIAN
	return pg_bswap32(count);
#else
	return count;
#endif
}

/* A feature with the count of its counter, in the order of keys */
typedef struct RankedFeature
{
	uint32		count;
	uint64		hash;
} RankedFeature;

#define ST_SORT sort_ranked
#define ST_ELEMENT_TYPE RankedFeature
#define ST_COMPARE(a, b) \
	((a)->count != (b)->count ? ((a)->count < (b)->count ? -1 : 1) : \
	 (a)->hash < (b)->hash ? -1 : (a)->hash > (b)->hash)
#define ST_SCOPE static
#define ST_CHECK_FOR_INTERRUPTS
#define ST_DEFINE
#include "lib/sort_template.h"

/* The counter of a feature. */
static inline uint32
counter_of(uint64 hash)
{
	return hash >> (64 - COUNTER_BITS);
}

/* Replace the first n of the hashes by the rarest n. */
static void
rarest_first(uint64 *hashes, uint64 size, uint64 n, const uint32 *counts)
{
	RankedFeature *ranked =
	palloc_extended(Max(size, 1) * sizeof(RankedFeature),
					MCXT_ALLOC_HUGE);

	for (uint64 i = 0; i < size; i++)
	{
		CHECK_EVERY(i);
		ranked[i].count = swapped_count(counts[counter_of(hashes[i])]);
		ranked[i].hash = hashes[i];
	}
	Assert(n <= size);
	sort_ranked(ranked, size);
	for (uint64 i = 0; i < n; i++)
		hashes[i] = ranked[i].hash;
	pfree(ranked);
}

/* Return the keys of a set, palloc'd. */
static uint64 *
set_keys(const Signature *sig, double threshold, Measure measure,
		 const uint32 *counts, size_t *n)
{
	uint64		size = SIGNATURE_NVALUES(sig);
	uint64	   *hashes = palloc_extended(Max(size, 1) * sizeof(uint64),
										 MCXT_ALLOC_HUGE);
	uint64		least;

	*n = 0;
	if (size == 0)
		return hashes;
	memcpy(hashes, feature_hashes(sig), size * sizeof(uint64));
	least = measure_least_overlap(measure, size, threshold);
	if (least > size)
		return hashes;
	*n = size - least + 1;
	Assert(*n > 0 && *n <= size);
	if (counts != NULL)
		rarest_first(hashes, size, *n, counts);
	return hashes;
}

/* Raise an error: near-duplicates at the threshold need not share a key. */
static void
refuse_keys(const Signature *sig, double threshold, Measure measure)
{
	const MethodInfo *method = method_info(sig->spec.method);
	bool		by_value = measure == MEASURE_SIMILARITY &&
	method->least_similarity != NULL;

	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("%s signatures have no candidate keys at threshold %g",
					method->name, threshold),
			 by_value ?
			 errhint("Take the measure \"jaccard\", which applies the method's rule, or exact sets.") :
			 errhint("Take a higher threshold, or exact sets.")));
}

/* Raise an error if signatures of the method are no sets and have no keys. */
static void
require_keys(const MethodInfo *method)
{
	if (method->dense)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("%s signatures have no candidate keys", method->name),
				 errhint("Join them in this server.")));
}

/*
 * Return the keys of a sketch or a vector, both as a row and as a query,
 * palloc'd.
 */
static uint64 *
sketch_keys(const Signature *sig, double threshold, Measure measure, size_t *n)
{
	KeyList		list = {0};
	uint32		need;

	signature_row_keys(sig, threshold, &list);
	if (!signature_query_keys(sig, threshold, threshold,
							  measure == MEASURE_SIMILARITY, &list, &need))
		refuse_keys(sig, threshold, measure);
	*n = sort_distinct_hashes(list.keys, list.n);
	return list.keys;
}

/* Return the counters of a result of feature_counts(), or NULL. */
static const uint32 *
counts_of(const bytea *counts)
{
	if (counts == NULL)
		return NULL;
	if (VARSIZE(counts) != COUNTS_BYTES)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("counts are not of feature_counts()"),
				 errdetail("They have %zu bytes, and not %zu.",
						   (size_t) VARSIZE(counts) - VARHDRSZ,
						   COUNTS_BYTES - VARHDRSZ)));
	return (const uint32 *) VARDATA(counts);
}

/* Return keys as bigint[], salted by the spec. */
static Datum
keys_as_array(const Signature *sig, const uint64 *keys, size_t n)
{
	uint64		salt = spec_hash(&sig->spec);
	int64	   *values;
	ArrayType  *array = call_bigints(n, &values);

	for (size_t i = 0; i < n; i++)
	{
		CHECK_EVERY(i);
		values[i] = (int64) mix64(keys[i] ^ salt);
	}
	PG_RETURN_ARRAYTYPE_P(array);
}

/* (sig signature, threshold float8, measure text [, counts bytea]) */
Datum
candidate_keys(PG_FUNCTION_ARGS)
{
	Signature  *sig = PG_GETARG_SIGNATURE(0);
	double		threshold = PG_GETARG_FLOAT8(1);
	Measure		measure = measure_require(PG_GETARG_TEXT_PP(2));
	const uint32 *counts = counts_of(PG_NARGS() > 3 ? PG_GETARG_BYTEA_P(3) :
									 NULL);
	uint64	   *keys;
	size_t		n;

	threshold_require_valid(threshold, measure);
	if (!measure_is_defined(method_info(sig->spec.method), measure))
		measure_refuse(sig, measure_name(measure));
	require_keys(method_info(sig->spec.method));
	if (spec_has_keys(&sig->spec))
		keys = sketch_keys(sig, threshold, measure, &n);
	else
		keys = set_keys(sig, threshold, measure, counts, &n);
	return keys_as_array(sig, keys, n);
}

/*
 * Return the class of a size.  The largest match of the first size of a class
 * is of the last size of that class, so near-duplicates are of the same class
 * or of neighbouring ones.
 */
static int64
size_class(uint64 size, Measure measure, double threshold)
{
	uint64		first = 1;
	int64		class = 0;

	for (;;)
	{
		uint64		lo;
		uint64		hi;

		CHECK_EVERY(class);
		measure_sizes(measure, first, threshold, &lo, &hi);
		Assert(first <= hi);
		if (hi >= size)
			return class;
		first = hi + 1;
		class++;
	}
}

/*
 * (sig signature, threshold float8, measure text): the class of its size, and
 * the next
 */
Datum
size_classes(PG_FUNCTION_ARGS)
{
	Signature  *sig = PG_GETARG_SIGNATURE(0);
	double		threshold = PG_GETARG_FLOAT8(1);
	Measure		measure = measure_require(PG_GETARG_TEXT_PP(2));
	uint64		size = SIGNATURE_NVALUES(sig);
	Datum		classes[2];
	int64		class;

	threshold_require_valid(threshold, measure);
	require_keys(method_info(sig->spec.method));
	if (spec_has_keys(&sig->spec))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("%s signatures have no size that bounds the size of a match",
						method_info(sig->spec.method)->name),
				 errhint("Join them by candidate_keys().")));
	if (size == 0)
		PG_RETURN_ARRAYTYPE_P(construct_empty_array(INT8OID));
	class = size_class(size, measure, threshold);
	classes[0] = Int64GetDatum(class);
	classes[1] = Int64GetDatum(class + 1);
	PG_RETURN_ARRAYTYPE_P(construct_array(classes, 2, INT8OID, sizeof(int64),
										  FLOAT8PASSBYVAL, TYPALIGN_DOUBLE));
}

/* Add to a stored counter, which saturates. */
static inline void
add_count(uint32 *counter, uint32 count)
{
	uint32		have = swapped_count(*counter);

	*counter = swapped_count(have > PG_UINT32_MAX - count ? PG_UINT32_MAX :
							 have + count);
}

/* (state bytea, signature); the state is the result */
Datum
feature_counts_add(PG_FUNCTION_ARGS)
{
	bytea	   *state;
	Signature  *sig;
	const uint64 *hashes;
	uint64		n;

	if (PG_ARGISNULL(1))
		return call_unchanged_state(fcinfo);
	state = state_of_size(fcinfo, "feature_counts", COUNTS_BYTES);
	sig = PG_GETARG_SIGNATURE(1);
	require_keys(method_info(sig->spec.method));
	if (spec_has_keys(&sig->spec))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("features of %s signatures are in no order",
						method_info(sig->spec.method)->name),
				 errhint("candidate_keys() needs no counts of them.")));
	hashes = feature_hashes(sig);
	n = SIGNATURE_NVALUES(sig);
	for (uint64 i = 0; i < n; i++)
	{
		CHECK_EVERY(i);
		add_count((uint32 *) VARDATA(state) + counter_of(hashes[i]), 1);
	}
	PG_RETURN_BYTEA_P(state);
}

/* (state bytea, other bytea): add the counters of two states. */
Datum
feature_counts_combine(PG_FUNCTION_ARGS)
{
	bytea	   *state;
	const uint32 *other;

	if (PG_ARGISNULL(1))
		return call_unchanged_state(fcinfo);
	state = state_of_size(fcinfo, "feature_counts", COUNTS_BYTES);
	other = counts_of(PG_GETARG_BYTEA_P(1));
	for (int i = 0; i < COUNTERS; i++)
		add_count((uint32 *) VARDATA(state) + i, swapped_count(other[i]));
	PG_RETURN_BYTEA_P(state);
}
