/*
 * gin.c
 *		The GIN operator class of signatures: the extended prefix.
 *
 * Let every set be sorted in one fixed order.  If near-duplicates share at
 * least alpha elements, they share one of the first |x| - alpha + 1 of either
 * set x: the prefix filter.  In hash order a prefix has frequent shingles too,
 * and many sets share one of them.  So the prefix is extended by ell - 1
 * elements, and ell common elements are required (Wang, Li & Feng, "Can we
 * beat the prefix filtering?", SIGMOD 2012).
 *
 * No pair is lost, for this reason.  A row x is indexed by its first |x| -
 * a(x) + ell(|x|) elements, where a(x) is the least overlap of x with any
 * near-duplicate at the index's threshold.  Let x and the query q share c_1 <
 * ... < c_o, and o >= a(x).  From c_i on there are o - i + 1 shared elements;
 * if c_i is not indexed, at most a(x) - ell(|x|) elements are from it on,
 * hence i > o - a(x) + ell(|x|) >= ell(|x|).  So c_1 ... c_min(ell(|x|), o)
 * are in the index.  In the same way c_i is among the first |q| - a(q) + r
 * elements of q for i <= r, where a(q) is the least overlap of q at the
 * query's threshold.  With r = min(ell(least size of x), a(q)), and ell not
 * falling with the size, c_1 ... c_r are in both: r matches can be required.
 *
 * If the query's threshold is below the index's, o may be less than
 * a(x), by s if the condition requires o >= a(x) - s.  Then c_i is in the
 * index for i <= ell(|x|) - s, and that many matches can be required, if it is
 * at least one for all rows of a size that can match.  If not, every row of
 * the query's spec is a candidate.
 *
 * A key is the upper 32 bits of an element, so GIN sorts keys in the order of
 * elements.  If two elements of the query have one key, the query has it
 * twice, and it counts twice; every match is rechecked.  triconsistent counts
 * keys, and returns FALSE as soon as r is out of reach.  Then GIN skips
 * posting lists of frequent keys.
 *
 * Signatures with candidate keys of their own (methods/method.h) are indexed
 * by the upper 32 bits of the keys.  Each row has one more key for its spec,
 * in a separate range.  By it a query without other keys finds all rows that
 * may match.
 */
#include "postgres.h"

#include <math.h>

#include "access/genam.h"
#include "access/gin.h"
#include "access/reloptions.h"
#include "access/stratnum.h"
#include "catalog/pg_am_d.h"
#include "catalog/pg_class_d.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

#include "base/compat.h"
#include "base/interrupts.h"
#include "base/sort_uint64.h"
#include "gin/gin.h"
#include "keys/feature_hashes.h"
#include "signature/sql/near.h"
#include "methods/method.h"
#include "signature/sql/signature_query.h"

#define DEFAULT_THRESHOLD	0.8

#define DEFAULT_ELL			13
#define DEFAULT_FRAC		0.15

#define SHARE_FROM			100 /* frac is of the elements after these */

/* Keys from SPEC_KEYS on are of specs, the others of elements. */
#define SPEC_KEYS			0x7f000000
#define IS_SPEC_KEY(key)	(((key) & 0xff000000) == SPEC_KEYS)

/* Options */

/* The options as stored by reloptions */
typedef struct GivenOptions
{
	int32		vl_len_;		/* varlena header (do not touch directly!) */
	double		threshold;
	int			ell;
	double		frac;
	int			measure;
} GivenOptions;

GinSignatureOptions
gin_signature_options(const bytea *given)
{
	const GivenOptions *options = (const GivenOptions *) given;
	GinSignatureOptions result = {
		.threshold = DEFAULT_THRESHOLD,.ell = DEFAULT_ELL,
		.frac = DEFAULT_FRAC,.measure = MEASURE_JACCARD
	};

	if (options != NULL)
	{
		result.threshold = options->threshold;
		result.ell = options->ell;
		result.frac = options->frac;
		result.measure = options->measure;
	}
	return result;
}

static relopt_enum_elt_def measure_values[] = {
	{"jaccard", MEASURE_JACCARD},
	{"containment", MEASURE_CONTAINMENT},
	{NULL}
};

/* Support function: define the options of the operator class. */
PG_FUNCTION_INFO_V1(gin_signature_opclass_options);
Datum
gin_signature_opclass_options(PG_FUNCTION_ARGS)
{
	local_relopts *relopts = (local_relopts *) PG_GETARG_POINTER(0);

	init_local_reloptions(relopts, sizeof(GivenOptions));
	add_local_real_reloption(relopts, "threshold",
							 "least resemblance the index can look up",
							 DEFAULT_THRESHOLD, GIN_LEAST_THRESHOLD, 1.0,
							 offsetof(GivenOptions, threshold));
	add_local_int_reloption(relopts, "ell",
							"number of features a prefix is extended by",
							DEFAULT_ELL, 1, 1000,
							offsetof(GivenOptions, ell));
	add_local_real_reloption(relopts, "frac",
							 "share of the features after the first 100 that it is extended by, too",
							 DEFAULT_FRAC, 0.0, 1.0,
							 offsetof(GivenOptions, frac));
	add_local_enum_reloption(relopts, "measure",
							 "what the index is for: jaccard, or containment, for which every feature is indexed",
							 measure_values, MEASURE_JACCARD,
							 "Valid values are \"jaccard\" and \"containment\".",
							 offsetof(GivenOptions, measure));
	PG_RETURN_VOID();
}

/*
 * Number of elements by which the prefix of a set of n is extended, plus one.
 * Long documents share long passages with many others, so a share of their
 * elements beyond SHARE_FROM is added.
 */
static uint64
extension(const GinSignatureOptions *options, uint64 n)
{
	uint64		more = n > SHARE_FROM ? n - SHARE_FROM : 0;

	return options->ell + (uint64) ceil(options->frac * (double) more);
}

double
gin_implied_share(Measure measure, double threshold)
{
	const double rounding = 1 - 1e-9;

	switch (measure)
	{
		case MEASURE_JACCARD:
		case MEASURE_SIMILARITY:
		case MEASURE_CONTAINMENT:
			return threshold;
		case MEASURE_DICE:
			return threshold / (2 - threshold) * rounding;
		case MEASURE_COSINE:
			return threshold * threshold * rounding;
		case MEASURE_CONTAINS:
		case MEASURE_OVERLAP_COEFFICIENT:
		case MEASURE_SHARED:
			return 0;
	}
	pg_unreachable();
}

bool
gin_is_signature_key(Relation index, AttrNumber keyno)
{
	FmgrInfo   *proc;

	if (index->rd_rel->relam != GIN_AM_OID ||
		index->rd_rel->relkind != RELKIND_INDEX)
		return false;
	proc = index_getprocinfo(index, keyno, GIN_EXTRACTVALUE_PROC);
	return proc->fn_addr == gin_signature_extract_value;
}

bool
gin_signature_can_answer(const GinSignatureOptions *options,
						 Measure measure, double threshold)
{
	return options->measure == MEASURE_CONTAINMENT ||
		gin_implied_share(measure, threshold) >= options->threshold;
}

/* Keys */

/*
 * Return the key of an element as int4, whose signed order is the order of
 * the elements.
 */
static inline int32
element_key(uint64 element)
{
	uint32		key = (uint32) (element >> 32) ^ 0x80000000;

	/* keys in the range of specs are moved to the range before it */
	return (int32) (IS_SPEC_KEY(key) ? key - 0x01000000 : key);
}

/* The key of a spec, in a range of its own. */
static int32
spec_key(const SignatureSpec *spec)
{
	return (int32) (SPEC_KEYS | ((uint32) spec_hash(spec) & 0x00ffffff));
}

/* Number of indexed elements of a row. */
static uint64
indexed_length(const GinSignatureOptions *options, uint64 n)
{
	uint64		omitted;
	uint64		ell;

	if (n == 0 || options->measure == MEASURE_CONTAINMENT)
		return n;
	omitted = measure_least_overlap(MEASURE_JACCARD, n, options->threshold);
	ell = extension(options, n);
	Assert(omitted >= 1 && ell >= 1);
	return omitted > ell ? n - omitted + ell : n;
}

/* The options of the column that a support function is called for. */
static GinSignatureOptions
call_options(FunctionCallInfo fcinfo)
{
	return gin_signature_options(PG_HAS_OPCLASS_OPTIONS() ?
								 (bytea *) PG_GET_OPCLASS_OPTIONS() : NULL);
}

/* Return the candidate keys of a row's signature. */
static const uint64 *
method_keys(const Signature *sig, const GinSignatureOptions *options,
			uint64 *n)
{
	KeyList		keys = {0};

	signature_row_keys(sig, options->threshold, &keys);
	sort_hashes(keys.keys, keys.n);
	*n = keys.n;
	return keys.keys;
}

const uint64 *
gin_row_elements(const Signature *sig, const GinSignatureOptions *options,
				 uint64 *n)
{
	if (method_info(sig->spec.method)->dense)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("access method \"gin\" cannot index signatures of method \"%s\"",
						method_info(sig->spec.method)->name),
				 errhint(DENSE_INDEX_HINT)));
	if (spec_has_keys(&sig->spec))
		return method_keys(sig, options, n);
	*n = indexed_length(options, SIGNATURE_NVALUES(sig));
	return feature_hashes(sig);
}

PG_FUNCTION_INFO_V1(gin_signature_extract_value);
Datum
gin_signature_extract_value(PG_FUNCTION_ARGS)
{
	Signature  *sig = PG_GETARG_SIGNATURE(0);
	int32	   *nkeys = (int32 *) PG_GETARG_POINTER(1);
	GinSignatureOptions options = call_options(fcinfo);
	const uint64 *order;
	uint64		n;
	Datum	   *keys;

	order = gin_row_elements(sig, &options, &n);
	if (!AllocSizeIsValid((n + 1) * sizeof(Datum)))
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("signature of %llu values is too large for an index",
						(unsigned long long) SIGNATURE_NVALUES(sig))));
	keys = palloc((n + 1) * sizeof(Datum));
	for (uint64 i = 0; i < n; i++)
	{
		CHECK_EVERY(i);
		keys[i] = Int32GetDatum(element_key(order[i]));
	}
	keys[n] = Int32GetDatum(spec_key(&sig->spec));
	*nkeys = n + 1;
	PG_RETURN_POINTER(keys);
}

/* Queries */

/*
 * Least number of matches of near-duplicates with lo to hi elements, of which
 * they share `share`, less than the index's threshold: see above.  The bound
 * is linear on either side of SHARE_FROM, so its minimum is there or at an
 * end.
 */
static double
matches_below(const GinSignatureOptions *options, double share,
			  double lo, double hi)
{
	const double rounding = 1e-9;
	double		lost = options->threshold * (1 + rounding) -
	share * (1 - rounding);
	double		sizes[] = {lo, hi, Min(Max(lo, SHARE_FROM), hi)};
	double		least = hi;

	for (size_t i = 0; i < lengthof(sizes); i++)
		least = Min(least, options->ell - 1 - lost * sizes[i] +
					options->frac * Max(sizes[i] - SHARE_FROM, 0));
	return floor(least);
}

/*
 * Compute the number of elements to look up, and how many of them must match.
 * Returns false if near-duplicates need not have a match in the index.
 */
static bool
query_length(uint64 n, Measure row_measure, double threshold,
			 const GinSignatureOptions *options, uint64 *length, uint32 *need)
{
	/* measure of the query in a row */
	Measure		measure = measure_commute(row_measure);
	uint64		overlap;
	uint64		lo;
	uint64		hi;
	double		matches;

	*need = 1;
	*length = 0;
	if (n == 0)
		return true;
	overlap = measure_least_overlap(measure, n, threshold);
	if (overlap > n)
		return true;			/* nothing can be near */
	measure_sizes(measure, n, threshold, &lo, &hi);
	if (gin_signature_can_answer(options, row_measure, threshold))
		matches = extension(options, lo);
	else
	{
		double		share = gin_implied_share(row_measure, threshold);

		Assert(share < options->threshold);
		matches = matches_below(options, share, lo, hi);
	}
	if (matches < 1)
		return false;
	Assert(overlap >= 1 && lo <= n && n <= hi);
	*need = matches < (double) overlap ? (uint32) matches : (uint32) overlap;
	*length = n - overlap + *need;
	Assert(*need > 0 && *length <= n);
	return true;
}

double
gin_signature_expected_keys(const GinSignatureOptions *options, double n,
							Measure measure, double threshold)
{
	uint64		length;
	uint32		need;

	return query_length((uint64) Max(n, 1), measure, threshold, options,
						&length,
						&need) && length <= MAX_QUERY_KEYS ? length : 0;
}

/*
 * Compute the n elements to look up, and the number that must match.  Returns
 * false if the index cannot answer the query, or would need too many keys.
 */
static bool
query_elements(const SignatureQuery *query, const GinSignatureOptions *options,
			   const uint64 **elements, uint64 *n, uint32 *need)
{
	const Signature *sig = &query->signature;
	const MethodInfo *method = method_info(sig->spec.method);
	KeyList		keys = {0};

	/* the recheck raises an error, or finds no row of a dense vector */
	if (!measure_has_threshold(query->measure, query->threshold) ||
		!measure_is_defined(method, query->measure) || method->dense)
		return false;
	if (spec_has_keys(&sig->spec))
	{
		if (!signature_query_keys(sig, options->threshold,
								  gin_implied_share(query->measure,
													query->threshold),
								  query->measure == MEASURE_SIMILARITY,
								  &keys, need))
			return false;
		*elements = keys.keys;
		*n = keys.n;
		return true;
	}
	if (!query_length(SIGNATURE_NVALUES(sig), query->measure, query->threshold,
					  options, n, need) || *n > MAX_QUERY_KEYS)
		return false;
	*elements = feature_hashes(sig);
	return true;
}

bool
gin_signature_has_keys(const GinSignatureOptions *options,
					   const SignatureQuery *query)
{
	const uint64 *elements;
	uint64		n;
	uint32		need;

	return query_elements(query, options, &elements, &n, &need);
}

/*
 * Return the number of keys that must match, for the consistent functions: one
 * pointer per key, as GIN requires.  With pointers that are not NULL, GIN does
 * not search for equal keys, which takes quadratic time.
 */
static Pointer *
needed_matches(uint32 need, int32 nkeys)
{
	uint32	   *needed = palloc(sizeof(uint32));
	Pointer    *extra = palloc(Max(nkeys, 1) * sizeof(Pointer));

	Assert(need > 0);
	*needed = need;
	for (int32 i = 0; i < nkeys; i++)
		extra[i] = (Pointer) needed;
	return extra;
}

/*
 * Raise a notice, once in a scan, that the threshold makes it slow.  For a
 * constant threshold the planner does not use the index.
 */
static void
notice_every_row(FunctionCallInfo fcinfo, const GinSignatureOptions *options,
				 const SignatureQuery *query)
{
	static const char noticed = true;
	double		share;

	if (fcinfo->flinfo->fn_extra != NULL ||
		!measure_has_threshold(query->measure, query->threshold) ||
		gin_signature_can_answer(options, query->measure, query->threshold))
		return;
	fcinfo->flinfo->fn_extra = unconstify(char *, &noticed);
	share = floor(gin_implied_share(query->measure, query->threshold) * 100) /
		100;
	ereport(NOTICE,
			(errmsg("index look-up at threshold %g reads every row",
					query->threshold),
			 errdetail("The index was built for resemblances from %g.",
					   options->threshold),
			 share < GIN_LEAST_THRESHOLD ?
			 errhint("Create an index of signature_gin_ops (measure = containment).") :
			 errhint("Create an index of signature_gin_ops (threshold = %g).",
					 share)));
}

/* GIN extractQuery: the keys to look up, and how many must match. */
PG_FUNCTION_INFO_V1(gin_signature_extract_query);
Datum
gin_signature_extract_query(PG_FUNCTION_ARGS)
{
	SignatureQuery *query = PG_GETARG_SIGNATURE_QUERY(0);
	int32	   *nkeys = (int32 *) PG_GETARG_POINTER(1);
	Pointer   **extra = (Pointer **) PG_GETARG_POINTER(4);
	GinSignatureOptions options = call_options(fcinfo);
	const uint64 *elements;
	uint64		n;
	uint32		need;
	Datum	   *keys;

	if (query_elements(query, &options, &elements, &n, &need))
	{
		keys = palloc(Max(n, 1) * sizeof(Datum));
		for (uint64 i = 0; i < n; i++)
			keys[i] = Int32GetDatum(element_key(elements[i]));
		*nkeys = n;
	}
	else
	{
		/* all rows of the spec are rechecked: slow, but correct */
		notice_every_row(fcinfo, &options, query);
		keys = palloc(sizeof(Datum));
		keys[0] = Int32GetDatum(spec_key(&query->signature.spec));
		*nkeys = need = 1;
	}
	*extra = needed_matches(need, *nkeys);
	PG_RETURN_POINTER(keys);
}

/* True if enough keys match; GIN_MAYBE counts as a match. */
static bool
may_match(const GinTernaryValue *check, int32 nkeys, const Pointer *extra)
{
	uint32		need;
	uint32		found = 0;

	if (nkeys == 0)
		return false;
	need = *(const uint32 *) extra[0];
	Assert(need > 0);
	for (int32 i = 0; i < nkeys; i++)
	{
		found += (check[i] != GIN_FALSE);
		if (found >= need)
			return true;
	}
	return false;
}

/* GIN consistent: true if enough keys match. */
PG_FUNCTION_INFO_V1(gin_signature_consistent);
Datum
gin_signature_consistent(PG_FUNCTION_ARGS)
{
	/* a bool is a ternary value */
	const GinTernaryValue *check = (GinTernaryValue *) PG_GETARG_POINTER(0);
	int32		nkeys = PG_GETARG_INT32(3);
	const Pointer *extra = (Pointer *) PG_GETARG_POINTER(4);
	bool	   *recheck = (bool *) PG_GETARG_POINTER(5);

	StaticAssertStmt(GIN_FALSE == false && GIN_TRUE == true &&
					 sizeof(GinTernaryValue) == sizeof(bool),
					 "bool cannot be read as GinTernaryValue");
	*recheck = true;
	PG_RETURN_BOOL(may_match(check, nkeys, extra));
}

/*
 * GIN triConsistent: as consistent, where the match of some keys is unknown.
 */
PG_FUNCTION_INFO_V1(gin_signature_triconsistent);
Datum
gin_signature_triconsistent(PG_FUNCTION_ARGS)
{
	const GinTernaryValue *check = (GinTernaryValue *) PG_GETARG_POINTER(0);
	int32		nkeys = PG_GETARG_INT32(3);
	const Pointer *extra = (Pointer *) PG_GETARG_POINTER(4);

	PG_RETURN_GIN_TERNARY_VALUE(may_match(check, nkeys, extra) ?
								GIN_MAYBE : GIN_FALSE);
}
