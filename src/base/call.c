/*
 * call.c
 *		What a call of an SQL function asks of the server.
 *
 * The error of a row type is of an install script that does not fit the module.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_type.h"
#include "funcapi.h"
#include "utils/memutils.h"
#include "utils/regproc.h"

#include "base/call.h"

MemoryContext
call_aggregate_context(FunctionCallInfo fcinfo)
{
	MemoryContext context;

	if (!AggCheckCallContext(fcinfo, &context))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("function %s is a part of an aggregate and cannot be called by itself",
						format_procedure(fcinfo->flinfo->fn_oid)),
				 errhint("Call the aggregate.")));
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

ArrayType *
call_bigints(size_t n, int64 **values)
{
	Size		size = ARR_OVERHEAD_NONULLS(1) + n * sizeof(int64);
	ArrayType  *array;

	if (n == 0)
		return construct_empty_array(INT8OID);
	if (n > MaxAllocSize / sizeof(int64) || !AllocSizeIsValid(size))
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("%zu values do not fit into an array", n)));
	array = palloc(size);
	SET_VARSIZE(array, size);
	array->ndim = 1;
	array->dataoffset = 0;
	array->elemtype = INT8OID;
	ARR_DIMS(array)[0] = n;
	ARR_LBOUND(array)[0] = 1;
	*values = (int64 *) ARR_DATA_PTR(array);
	return array;
}
