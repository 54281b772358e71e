/*
 * call.c
 *		What a call of an SQL function asks of the server.
 *
 * Errors are of an install script that does not fit the module: SQL cannot
 * make a value of type internal, without which an aggregate's functions are
 * not called by anything but an aggregate.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/call.c
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "funcapi.h"

#include "call.h"

MemoryContext
call_aggregate_context(FunctionCallInfo fcinfo)
{
	MemoryContext context;

	if (!AggCheckCallContext(fcinfo, &context))
		elog(ERROR, "aggregate function called in non-aggregate context");
	return context;
}

Datum
call_unchanged_state(FunctionCallInfo fcinfo)
{
	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	PG_RETURN_POINTER(PG_GETARG_POINTER(0));
}

TupleDesc
call_row_type(FunctionCallInfo fcinfo)
{
	TupleDesc	desc;

	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	return BlessTupleDesc(desc);
}

Datum
call_row(TupleDesc desc, Datum *values, bool *nulls)
{
	return HeapTupleGetDatum(heap_form_tuple(desc, values, nulls));
}
