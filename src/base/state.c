/*
 * state.c
 *		The state of an aggregate as a value of a real type.
 *
 * The server takes an expanded object over as the state if the parent of its
 * memory context is the aggregate's, and deletes the context only where a
 * transition returns something else, which ours do not.  So the context need
 * not be the object's alone.
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "base/call.h"
#include "base/compat.h"
#include "base/input.h"
#include "base/state.h"

#define CONTEXT_NAME	"neardup states"
#define MAX_PASSED		8		/* contexts that are not ours */

/*
 * It is among the last contexts that were made in the aggregate's, unless another
 * aggregate makes one for each group; then there are several.
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

	EOH_init_header(state, methods, context);
	return state;
}

void *
state_to_read(FunctionCallInfo fcinfo, const ExpandedObjectMethods *methods)
{
	ExpandedObjectHeader *state;

	if (PG_ARGISNULL(0) ||
		!VARATT_IS_EXTERNAL_EXPANDED(PG_GETARG_POINTER(0)))
		return NULL;
	state = DatumGetEOHP(PG_GETARG_DATUM(0));
	/* were it replaced, the server would delete what other states live in */
	if (state->eoh_methods != methods)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("state is not one of this aggregate"),
				 errhint("Give an aggregate the functions of one of neardup's.")));
	return state;
}

void *
state_to_change(FunctionCallInfo fcinfo, const ExpandedObjectMethods *methods)
{
	ExpandedObjectHeader *state = state_to_read(fcinfo, methods);

	if (state == NULL ||
		!VARATT_IS_EXTERNAL_EXPANDED_RW(PG_GETARG_POINTER(0)))
		return NULL;
	return state;
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
