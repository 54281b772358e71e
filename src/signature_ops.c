/*
 * signature_ops.c
 *		Order, hash, casts and description of signatures.
 *
 * Equality and order are total and never raise: they compare the making,
 * then the values as numbers, so that GROUP BY, DISTINCT, merge joins and
 * unique indexes work on any mixture.  Order and hash depend on the numbers
 * alone, never on the byte order of the machine.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/signature_ops.c
 */
#include "postgres.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "access/detoast.h"
#include "access/heapam.h"
#include "access/table.h"
#include "access/tableam.h"
#include "catalog/pg_ts_config.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "compat.h"
#include "methods/methods.h"
#include "neardup.h"
#include "signature.h"
#include "text/analysis.h"

/* Order */

static inline int
compare_uint64(uint64 a, uint64 b)
{
	return (a > b) - (a < b);
}

/* Makings field by field, in the order of the header. */
static int
compare_making(const Making *a, const Making *b)
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
		if (i % 65536 == 65535)
			CHECK_FOR_INTERRUPTS();
	}
	return 0;
}

/* Negative, 0 or positive as a sorts before, with or behind b. */
int
signature_compare(const Signature *a, const Signature *b)
{
	uint64		na;
	uint64		nb;
	int			cmp = compare_making(&a->making, &b->making);

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
		if (i % 65536 == 65535)
			CHECK_FOR_INTERRUPTS();
	}
	if (na != nb)
		return compare_uint64(na, nb);
	if (method_info(a->making.method)->weighted)
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
		memcmp(&a->making, &b->making, VARSIZE(a) - VARHDRSZ) == 0;
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
	hash = XXH3_64bits_withSeed(&sig->making, VARSIZE(sig) - VARHDRSZ, seed);
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

/* Casts */

PG_FUNCTION_INFO_V1(signature_to_bytea);
Datum
signature_to_bytea(PG_FUNCTION_ARGS)
{
	PG_RETURN_BYTEA_P(signature_to_bytes(PG_GETARG_SIGNATURE(0)));
}

PG_FUNCTION_INFO_V1(signature_from_bytea);
Datum
signature_from_bytea(PG_FUNCTION_ARGS)
{
	bytea	   *bytes = PG_GETARG_BYTEA_PP(0);

	PG_RETURN_SIGNATURE(signature_from_bytes(VARDATA_ANY(bytes),
											 VARSIZE_ANY_EXHDR(bytes)));
}

/* The values, each as a bigint of the same 64 bits. */
PG_FUNCTION_INFO_V1(signature_to_array);
Datum
signature_to_array(PG_FUNCTION_ARGS)
{
	Signature  *sig = PG_GETARG_SIGNATURE(0);
	uint64		n = SIGNATURE_NVALUES(sig);
	Size		size = ARR_OVERHEAD_NONULLS(1) + n * sizeof(int64);
	ArrayType  *array;
	int64	   *values;

	if (n == 0)
		PG_RETURN_ARRAYTYPE_P(construct_empty_array(INT8OID));
	if (!AllocSizeIsValid(size))
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("signature of %llu values does not fit into an array",
						(unsigned long long) n)));
	array = palloc(size);
	SET_VARSIZE(array, size);
	array->ndim = 1;
	array->dataoffset = 0;
	array->elemtype = INT8OID;
	ARR_DIMS(array)[0] = n;
	ARR_LBOUND(array)[0] = 1;
	values = (int64 *) ARR_DATA_PTR(array);
	for (uint64 i = 0; i < n; i++)
		values[i] = (int64) signature_value(sig, i);
	PG_RETURN_ARRAYTYPE_P(array);
}

/* sort_values(array, n): rising, specialised for integers, can be cancelled */
#define ST_SORT sort_values
#define ST_ELEMENT_TYPE uint64
#define ST_COMPARE(a, b) compare_uint64(*(a), *(b))
#define ST_SCOPE static
#define ST_CHECK_FOR_INTERRUPTS
#define ST_DEFINE
#include "lib/sort_template.h"

size_t
values_sort_distinct(uint64 *values, size_t n)
{
	size_t		kept = 0;

	if (n == 0)
		return 0;
	sort_values(values, n);
	for (size_t i = 1; i < n; i++)
		if (values[i] != values[kept])
			values[++kept] = values[i];
	return kept + 1;
}

/* The set of the array's elements; its bits are taken as unsigned. */
PG_FUNCTION_INFO_V1(signature_from_array);
Datum
signature_from_array(PG_FUNCTION_ARGS)
{
	static const Making making = {
		.version = SIGNATURE_VERSION, .method = METHOD_FEATURES,
		.unit = UNIT_NONE, .width = 64
	};
	ArrayType  *array = PG_GETARG_ARRAYTYPE_P(0);
	size_t		n = ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array));
	Signature  *sig;

	if (array_contains_nulls(array))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("array of features contains a null value"),
				 errhint("Leave it out, for instance with array_remove(..., NULL).")));
	sig = signature_alloc(&making, n);
	if (n > 0)
		memcpy(sig->values, ARR_DATA_PTR(array), n * sizeof(uint64));
	n = values_sort_distinct(sig->values, n);
	SET_VARSIZE(sig, SIGNATURE_HEADER + n * sizeof(uint64));
	sig->nfeatures = n;
	PG_RETURN_SIGNATURE(sig);
}

/* Description */

/*
 * Appends the name of the text-search configuration whose hash a making
 * holds, if there is one in this database.
 */
static void
append_config(const Making *making, StringInfo out)
{
	Relation	rel = table_open(TSConfigRelationId, AccessShareLock);
	TableScanDesc scan = table_beginscan_catalog(rel, 0, NULL);
	HeapTuple	tuple;

	while ((tuple = heap_getnext(scan, ForwardScanDirection)) != NULL)
	{
		Form_pg_ts_config config = (Form_pg_ts_config) GETSTRUCT(tuple);
		Analysis   *analysis = analysis_of_config(config->oid);

		analysis_set_k(analysis, making->k);
		if (analysis->making.analysis == making->analysis)
			appendStringInfo(out, ", made by text-search configuration %s",
							 quote_qualified_identifier(
														get_namespace_name(config->cfgnamespace),
														NameStr(config->cfgname)));
	}
	table_endscan(scan);
	table_close(rel, AccessShareLock);
}

/* What a shingle consists of, in words. */
static const char *
unit_name(uint8 unit)
{
	switch (unit)
	{
		case UNIT_CHAR:
			return "character";
		case UNIT_SENTENCE:
			return "sentence";
		case UNIT_LINE:
			return "line";
		default:
			return "word";
	}
}

PG_FUNCTION_INFO_V1(signature_describe);
Datum
signature_describe(PG_FUNCTION_ARGS)
{
	Signature  *sig = PG_GETARG_SIGNATURE(0);
	const Making *making = &sig->making;
	const MethodInfo *method = method_info(making->method);
	uint64		n = SIGNATURE_NVALUES(sig);
	StringInfoData out;

	initStringInfo(&out);
	making_append(making, &out);
	if (!method->exact)
		appendStringInfo(&out, ": %llu values of %d bits for",
						 (unsigned long long) n, making->width);
	else
		appendStringInfo(&out, ": %s of",
						 method->weighted ? "vector" : "exact set");
	appendStringInfo(&out, " %u feature%s", sig->nfeatures,
					 sig->nfeatures == 1 ? "" : "s");
	if (making->unit != UNIT_NONE)
		appendStringInfo(&out, ", runs of %u %s%s", making->k,
						 unit_name(making->unit), making->k == 1 ? "" : "s");
	if (making->filters & FILTER_CONFIG)
		append_config(making, &out);
	PG_RETURN_TEXT_P(cstring_to_text_with_len(out.data, out.len));
}
