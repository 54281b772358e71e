/*
 * call.c
 *		What a call of an SQL function asks of the server.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_type.h"
#include "funcapi.h"
#include "utils/builtins.h"
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

void
call_require_columns(TupleDesc desc, int n, const Oid *types)
{
	bool		fits = desc->natts >= n;

	for (int i = 0; fits && i < desc->natts; i++)
	{
		Form_pg_attribute column = TupleDescAttr(desc, i);

		fits = column->attisdropped == (i >= n) &&
			(i >= n || types[i] == InvalidOid || column->atttypid == types[i]);
	}
	if (!fits)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("type %s has other columns than it was created with",
						format_type_be(desc->tdtypeid)),
				 errhint("Undo what ALTER TYPE has done to it.")));
}

Datum
call_row(TupleDesc desc, int n, Datum *values, bool *nulls)
{
	if (desc->natts > n)		/* the others are dropped */
	{
		values = memcpy(palloc0(desc->natts * sizeof(Datum)), values, n * sizeof(Datum));
		nulls = memcpy(memset(palloc(desc->natts), true, desc->natts), nulls, n);
	}
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
