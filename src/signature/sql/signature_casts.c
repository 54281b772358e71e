/*
 * signature_casts.c
 *		Casts of signatures: to and from bytes, to an array of numbers.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/signature/sql/signature_casts.c
 */
#include "postgres.h"


#include "base/call.h"
#include "base/compat.h"
#include "base/interrupts.h"
#include "signature/signature.h"
#include "signature/sql/signature_io.h"

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
	int64	   *values;
	ArrayType  *array = call_bigints(n, &values);

	for (uint64 i = 0; i < n; i++)
	{
		CHECK_EVERY(i);
		values[i] = (int64) signature_value(sig, i);
	}
	PG_RETURN_ARRAYTYPE_P(array);
}
