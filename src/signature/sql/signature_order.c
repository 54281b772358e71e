/*
 * signature_order.c
 *		Order and hash of signatures.
 *
 * Equality and order are total and never raise: they compare the spec,
 * then the values as numbers, so that GROUP BY, DISTINCT, merge joins and
 * unique indexes work on any mixture.  Order and hash depend on the numbers
 * alone, never on the byte order of the machine.
 */
#include "postgres.h"

#include "access/detoast.h"
#include "access/heapam.h"
#include "access/table.h"
#include "access/tableam.h"
#include "catalog/pg_ts_config.h"
#include "catalog/pg_type.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "base/compat.h"
#include "base/hash.h"
#include "base/interrupts.h"
#include "base/sort_uint64.h"
#include "signature/signature.h"
#include "methods/method.h"
#include "text/analysis.h"
#include "signature/sql/signature_io.h"

/* Order */

static inline int
compare_uint64(uint64 a, uint64 b)
{
	return (a > b) - (a < b);
}

/* Specs field by field, in the order of the header. */
static int
compare_spec(const SignatureSpec *a, const SignatureSpec *b)
{
	const uint64 left[] = {a->version, a->method, a->unit, a->order,
		a->language, a->width, a->k, a->analysis, a->filters,
	a->param[0], a->param[1]};
	const uint64 right[] = {b->version, b->method, b->unit, b->order,
		b->language, b->width, b->k, b->analysis, b->filters,
	b->param[0], b->param[1]};

	for (size_t i = 0; i < lengthof(left); i++)
		if (left[i] != right[i])
			return compare_uint64(left[i], right[i]);
	return 0;
}

/* Vectors of the same n features by their weights, the first that differ. */
static int
compare_weights(const Signature *a, const Signature *b, uint64 n)
{
	const float4 *x = signature_weights(a);
	const float4 *y = signature_weights(b);

	for (uint64 i = 0; i < n; i++)
	{
		if (x[i] != y[i])
			return x[i] < y[i] ? -1 : 1;
		CHECK_EVERY(i);
	}
	return 0;
}

/* Negative, 0 or positive as a sorts before, with or behind b. */
static int
signature_compare(const Signature *a, const Signature *b)
{
	uint64		na;
	uint64		nb;
	int			cmp = compare_spec(&a->spec, &b->spec);

	if (cmp != 0)
		return cmp;
	na = SIGNATURE_NVALUES(a);
	nb = SIGNATURE_NVALUES(b);
	for (uint64 i = 0; i < Min(na, nb); i++)
	{
		uint64		x = signature_value(a, i);
		uint64		y = signature_value(b, i);

		if (x != y)
			return compare_uint64(x, y);
		CHECK_EVERY(i);
	}
	if (na != nb)
		return compare_uint64(na, nb);
	if (method_info(a->spec.method)->weighted)
		return compare_weights(a, b, na);
	return compare_uint64(a->nfeatures, b->nfeatures);
}

/* Compares two arguments and frees what detoasting them took (for btree). */
static int
compare_args(FunctionCallInfo fcinfo)
{
	Signature  *a = PG_GETARG_SIGNATURE(0);
	Signature  *b = PG_GETARG_SIGNATURE(1);
	int			cmp = signature_compare(a, b);

	PG_FREE_IF_COPY(a, 0);
	PG_FREE_IF_COPY(b, 1);
	return cmp;
}

/* Same bytes; signatures of different length are not detoasted. */
static bool
equal_args(FunctionCallInfo fcinfo)
{
	Signature  *a;
	Signature  *b;
	bool		equal;

	if (toast_raw_datum_size(PG_GETARG_DATUM(0)) !=
		toast_raw_datum_size(PG_GETARG_DATUM(1)))
		return false;
	a = PG_GETARG_SIGNATURE(0);
	b = PG_GETARG_SIGNATURE(1);
	equal = VARSIZE(a) == VARSIZE(b) &&
		memcmp(&a->spec, &b->spec, VARSIZE(a) - VARHDRSZ) == 0;
	PG_FREE_IF_COPY(a, 0);
	PG_FREE_IF_COPY(b, 1);
	return equal;
}

PG_FUNCTION_INFO_V1(signature_eq);
Datum
signature_eq(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(equal_args(fcinfo));
}

PG_FUNCTION_INFO_V1(signature_ne);
Datum
signature_ne(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(!equal_args(fcinfo));
}

PG_FUNCTION_INFO_V1(signature_lt);
Datum
signature_lt(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(compare_args(fcinfo) < 0);
}

PG_FUNCTION_INFO_V1(signature_le);
Datum
signature_le(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(compare_args(fcinfo) <= 0);
}

PG_FUNCTION_INFO_V1(signature_gt);
Datum
signature_gt(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(compare_args(fcinfo) > 0);
}

PG_FUNCTION_INFO_V1(signature_ge);
Datum
signature_ge(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(compare_args(fcinfo) >= 0);
}

PG_FUNCTION_INFO_V1(signature_cmp);
Datum
signature_cmp(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT32(compare_args(fcinfo));
}

/*
 * Hash: XXH3 with the seed over the portable bytes.  Fixed for ever, as hash
 * partitions rely on it.
 */
static uint64
hash_signature(Datum datum, uint64 seed)
{
	Signature  *sig = DatumGetSignature(datum);
	uint64		hash;
#ifdef WORDS_BIGENDIAN
	bytea	   *bytes = signature_to_bytes(sig);

	hash = XXH3_64bits_withSeed(VARDATA(bytes), VARSIZE(bytes) - VARHDRSZ, seed);
	pfree(bytes);
#else
	hash = XXH3_64bits_withSeed(&sig->spec, VARSIZE(sig) - VARHDRSZ, seed);
#endif
	if ((Pointer) sig != DatumGetPointer(datum))
		pfree(sig);
	return hash;
}

PG_FUNCTION_INFO_V1(signature_hash);
Datum
signature_hash(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT32((int32) hash_signature(PG_GETARG_DATUM(0), 0));
}

PG_FUNCTION_INFO_V1(signature_hash_extended);
Datum
signature_hash_extended(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT64((int64) hash_signature(PG_GETARG_DATUM(0),
										   (uint64) PG_GETARG_INT64(1)));
}
