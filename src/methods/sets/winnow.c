/*
 * winnow.c
 *		Winnowing: of each window of shingles the least hash.
 *
 * Schleimer, Wilkerson & Aiken, "Winnowing: local algorithms for document
 * fingerprinting", SIGMOD 2003; see document/select.h.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/methods/sets/winnow.c
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "utils/array.h"

#include "base/arguments.h"
#include "base/interrupts.h"
#include "methods/sets/selection.h"

/* window */
const MethodInfo winnow_method = {
	.name = "winnow", .method = METHOD_WINNOW, SELECTION,
	.analysed = ANALYSED_ALWAYS, .nparams = 1, .check = selection_counted_check
};

PG_FUNCTION_INFO_V1(winnow_text);
Datum
winnow_text(PG_FUNCTION_ARGS)
{
	PG_RETURN_SIGNATURE(select_by_position(fcinfo, METHOD_WINNOW, "window",
										   select_winnow));
}

/* winnow(bigint[], int): what is chosen of given hashes, in their order. */
PG_FUNCTION_INFO_V1(winnow_array);
Datum
winnow_array(PG_FUNCTION_ARGS)
{
	ArrayType  *array = PG_GETARG_ARRAYTYPE_P(0);
	uint32		window = argument_whole("window", PG_GETARG_INT32(1), 1,
										PG_INT32_MAX);
	size_t		n = argument_elements("hashes", array);
	uint64	   *chosen = selection_alloc(n);
	Datum	   *values = palloc(Max(n, 1) * sizeof(Datum));

	n = select_winnow((const uint64 *) ARR_DATA_PTR(array), n, window, chosen);
	for (size_t i = 0; i < n; i++)
	{
		CHECK_EVERY(i);
		values[i] = Int64GetDatum((int64) chosen[i]);
	}
	PG_RETURN_ARRAYTYPE_P(construct_array(values, n, INT8OID, sizeof(int64),
										  FLOAT8PASSBYVAL, TYPALIGN_DOUBLE));
}
