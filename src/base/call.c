/*
 * call.c
 *		Calls of SQL functions: arguments, results, states of aggregates,
 *		rights.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/relation.h"
#include "catalog/pg_type.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/regproc.h"
#include "utils/rel.h"

#include "base/call.h"
#include "base/compat.h"
#include "base/input.h"

int64
argument_whole(const char *what, int64 value, int64 least, int64 most)
{
	if (value < least || value > most)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s is out of range: %lld", what, (long long) value),
				 most == PG_INT32_MAX ?
				 errdetail("It is a number from %lld on.",
						   (long long) least) :
				 errdetail("It is a number from %lld to %lld.",
						   (long long) least, (long long) most)));
	return value;
}

double
argument_real(const char *what, double value, double least, double most)
{
	/* written so that NaN fails */
	if (!(value >= least && value <= most))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s is out of range: %g", what, value),
				 errdetail("It is a number from %g to %g.", least, most)));
	return value;
}

double
argument_share(const char *what, double share)
{
	if (!(share > 0 && share <= 1))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s is out of range: %g", what, share),
				 errdetail("It is a number greater than 0 and at most 1.")));
	return share;
}

size_t
argument_elements(const char *what, ArrayType *array)
{
	if (array_contains_nulls(array))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("array of %s contains a null value", what)));
	return ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array));
}

Relation
argument_relation(Oid relid, LOCKMODE lock)
{
	Relation	rel = try_relation_open(relid, lock);

	if (rel == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("relation with OID %u does not exist", relid)));
	return rel;
}

bool
same_value(Datum a, Datum b, bool typbyval, int typlen)
{
	if (typlen == -1 && VARATT_IS_EXTERNAL_ONDISK(DatumGetPointer(a)) &&
		VARATT_IS_EXTERNAL_ONDISK(DatumGetPointer(b)) &&
		memcmp(DatumGetPointer(a), DatumGetPointer(b),
			   VARSIZE_EXTERNAL(DatumGetPointer(a))) == 0)
		return true;
	return datum_image_eq(a, b, typbyval, typlen);
}

TupleDesc
call_row_type(FunctionCallInfo fcinfo)
{
	TupleDesc	desc;

	/* only a superuser's CREATE FUNCTION in C can break this */
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
				 errhint("Undo the ALTER TYPE.")));
}

Datum
call_row(TupleDesc desc, int n, Datum *values, bool *nulls)
{
	if (desc->natts > n)		/* columns beyond n are dropped ones */
	{
		values = memcpy(palloc0(desc->natts * sizeof(Datum)), values,
						n * sizeof(Datum));
		nulls = memcpy(memset(palloc(desc->natts), true, desc->natts), nulls,
					   n);
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

#define CONTEXT_NAME	"neardup states"
#define MAX_PASSED		8		/* other children that are looked at */

/*
 * The server adopts an expanded object as the state if the parent of its
 * memory context is the aggregate's.  It deletes that context only if a
 * transition returns another state, which ours never do.  So the states share
 * one context.
 *
 * The context is among the last children of the aggregate's, unless another
 * aggregate creates one for each group.  Then several contexts of this name
 * may exist.
 */
MemoryContext
state_context(FunctionCallInfo fcinfo)
{
	MemoryContext aggregate = call_aggregate_context(fcinfo);
	MemoryContext child = aggregate->firstchild;

	for (int i = 0; child != NULL && i < MAX_PASSED; i++)
	{
		if (strcmp(child->name, CONTEXT_NAME) == 0)
			return child;
		child = child->nextchild;
	}
	return AllocSetContextCreate(aggregate, CONTEXT_NAME,
								 ALLOCSET_DEFAULT_SIZES);
}

void *
state_create(FunctionCallInfo fcinfo, const ExpandedObjectMethods *methods,
			 Size size)
{
	MemoryContext context = state_context(fcinfo);
	ExpandedObjectHeader *state = MemoryContextAllocZero(context, size);

	Assert(size >= sizeof(ExpandedObjectHeader));
	EOH_init_header(state, methods, context);
	return state;
}

void *
state_argument(FunctionCallInfo fcinfo, const ExpandedObjectMethods *methods,
			   StateAdd add, bool change)
{
	struct varlena *argument;

	if (PG_ARGISNULL(0))
		return NULL;
	argument = (struct varlena *) PG_GETARG_POINTER(0);
	if (VARATT_IS_EXTERNAL_EXPANDED(argument))
	{
		ExpandedObjectHeader *state = DatumGetEOHP(PG_GETARG_DATUM(0));

		/* replacing the state would delete the context of other states */
		if (state->eoh_methods != methods)
			ereport(ERROR,
					(errcode(ERRCODE_DATATYPE_MISMATCH),
					 errmsg("state is not one of this aggregate"),
					 errhint("Give an aggregate the functions of one of neardup's.")));
		if (!change || VARATT_IS_EXTERNAL_EXPANDED_RW(argument))
			return state;
	}
	return add(fcinfo, NULL, pg_detoast_datum(argument));
}

Datum
state_combine(FunctionCallInfo fcinfo, const ExpandedObjectMethods *methods,
			  StateAdd add)
{
	if (PG_ARGISNULL(1))
		return call_unchanged_state(fcinfo);
	PG_RETURN_STATE(add(fcinfo, state_argument(fcinfo, methods, add, true),
						PG_DETOAST_DATUM(PG_GETARG_DATUM(1))));
}

Size
state_flat_size(const char *aggregate, size_t bytes)
{
	if (bytes > MaxAllocSize - VARHDRSZ)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("state of %s() is too large to be sent", aggregate),
				 errdetail("It has %zu bytes, at most %zu are possible.",
						   bytes, (size_t) MaxAllocSize - VARHDRSZ),
				 errhint("Set \"max_parallel_workers_per_gather\" to 0.")));
	return VARHDRSZ + bytes;
}

/* Raise INVALID_BINARY_REPRESENTATION unless a flat state has `size` bytes. */
static void
require_size(const struct varlena *state, const char *aggregate, Size size)
{
	if (VARSIZE(state) != size)
		input_bad_bytes(psprintf("state of %s()", aggregate),
						psprintf("It has %zu bytes, and not %zu.",
								 (size_t) VARSIZE(state) - VARHDRSZ,
								 (size_t) size - VARHDRSZ));
}

void *
state_of_size(FunctionCallInfo fcinfo, const char *aggregate, Size size)
{
	MemoryContext context;
	bool		in_place = AggCheckCallContext(fcinfo, &context);
	struct varlena *state;

	if (PG_ARGISNULL(0))
	{
		state = MemoryContextAllocZero(in_place ? context :
									   CurrentMemoryContext, size);
		SET_VARSIZE(state, size);
		return state;
	}
	state = in_place ? PG_DETOAST_DATUM(PG_GETARG_DATUM(0)) :
		PG_DETOAST_DATUM_COPY(PG_GETARG_DATUM(0));
	require_size(state, aggregate, size);
	return state;
}

const void *
state_other_of_size(FunctionCallInfo fcinfo, int n, const char *aggregate,
					Size size)
{
	struct varlena *state = PG_DETOAST_DATUM_COPY(PG_GETARG_DATUM(n));

	require_size(state, aggregate, size);
	return state;
}

void
owner_begin(OwnerWork *work, Relation rel)
{
	GetUserIdAndSecContext(&work->user, &work->context);
	SetUserIdAndSecContext(rel->rd_rel->relowner,
						   work->context | SECURITY_RESTRICTED_OPERATION);
	work->settings = NewGUCNestLevel();
	compat_restrict_search_path();
}

void
owner_end(const OwnerWork *work)
{
	AtEOXact_GUC(false, work->settings);
	SetUserIdAndSecContext(work->user, work->context);
}

bool
owner_is_another(Relation rel)
{
	Oid			owner = rel->rd_rel->relowner;

	return GetUserId() != owner && has_privs_of_role(GetUserId(), owner);
}
