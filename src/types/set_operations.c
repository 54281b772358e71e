/*
 * set_operations.c
 *		Sets as values: how many features, union, intersection, difference, and
 *		aggregates of them.
 *
 * What comes out is of the making of what goes in: the set of the shingles of
 * several documents is compared with that of one.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/types/set_operations.c
 */
#include "postgres.h"

#include "algebra/sets.h"
#include "base/call.h"
#include "base/growing.h"
#include "base/interrupts.h"
#include "base/sort_uint64.h"
#include "datum/signature.h"
#include "methods/making_name.h"
#include "methods/method.h"
#include "types/signature_io.h"

PG_FUNCTION_INFO_V1(signature_nfeatures);
PG_FUNCTION_INFO_V1(signature_union);
PG_FUNCTION_INFO_V1(signature_intersect);
PG_FUNCTION_INFO_V1(signature_except);
PG_FUNCTION_INFO_V1(signature_union_agg_add);
PG_FUNCTION_INFO_V1(signature_union_agg_combine);
PG_FUNCTION_INFO_V1(signature_union_agg_serialize);
PG_FUNCTION_INFO_V1(signature_union_agg_deserialize);
PG_FUNCTION_INFO_V1(signature_union_agg_final);

/* nfeatures(signature): of the document, not how many of them are kept */
Datum
signature_nfeatures(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT64(PG_GETARG_SIGNATURE(0)->nfeatures);
}

/* Raises DATATYPE_MISMATCH unless it is a set that has all features. */
static void
require_set(const Making *making)
{
	const MethodInfo *method = method_info(making->method);
	StringInfoData name;

	if (method->set && method->exact && !method->weighted)
		return;
	initStringInfo(&name);
	making_append(making, &name);
	ereport(ERROR,
			(errcode(ERRCODE_DATATYPE_MISMATCH),
			 errmsg("%s is not a set that has all of its features", name.data),
			 errhint("Use sets of shingles, or of given features.")));
}

/* One of the functions of algebra/sets.h, of two sets. */
typedef uint64 (*CombineSets) (const uint64 *a, uint64 na,
								const uint64 *b, uint64 nb, uint64 *result);

static Datum
apply(FunctionCallInfo fcinfo, CombineSets operation, bool both)
{
	Signature  *a = PG_GETARG_SIGNATURE(0);
	Signature  *b = PG_GETARG_SIGNATURE(1);
	Signature  *result;
	uint64		na = SIGNATURE_NVALUES(a);
	uint64		nb = SIGNATURE_NVALUES(b);
	uint64		n;

	making_require_equal(&a->making, &b->making);
	require_set(&a->making);
	result = signature_alloc(&a->making, both ? na + nb : na);
	n = operation(a->values, na, b->values, nb, result->values);
	SET_VARSIZE(result, SIGNATURE_HEADER + n * sizeof(uint64));
	result->nfeatures = n;
	PG_RETURN_SIGNATURE(result);
}

/* a + b */
Datum
signature_union(PG_FUNCTION_ARGS)
{
	return apply(fcinfo, set_union, true);
}

/* a * b, and the transition of signature_intersect_agg() */
Datum
signature_intersect(PG_FUNCTION_ARGS)
{
	return apply(fcinfo, set_intersection, false);
}

/* a - b */
Datum
signature_except(PG_FUNCTION_ARGS)
{
	return apply(fcinfo, set_difference, false);
}

/*
 * The union of many sets: values gather behind those that are distinct
 * already, and are sorted in among them when there are as many.
 */
typedef struct UnionState
{
	MemoryContext context;
	Making		making;
	uint64	   *values;
	size_t		n;
	size_t		distinct;		/* of the first ones */
	size_t		room;
} UnionState;

static UnionState *
union_create(MemoryContext context, const Making *making)
{
	UnionState *state = MemoryContextAllocZero(context, sizeof(UnionState));

	require_set(making);
	state->context = context;
	state->making = *making;
	return state;
}

static void
union_settle(UnionState *state)
{
	state->n = sort_distinct_hashes(state->values, state->n);
	state->distinct = state->n;
}

static void
union_add(UnionState *state, const Signature *sig)
{
	size_t		n = SIGNATURE_NVALUES(sig);
	MemoryContext old;

	making_require_equal(&state->making, &sig->making);
	if (n == 0)
		return;
	if (state->n + n > state->room && state->n > 2 * state->distinct)
		union_settle(state);
	old = MemoryContextSwitchTo(state->context);
	state->values = growing_reserve(state->values, &state->room, state->n + n,
									sizeof(uint64));
	MemoryContextSwitchTo(old);
	memcpy(state->values + state->n, sig->values, n * sizeof(uint64));
	state->n += n;
}

static Signature *
union_result(UnionState *state)
{
	Signature  *result;

	union_settle(state);
	result = signature_alloc(&state->making, state->n);
	if (state->n > 0)
		memcpy(result->values, state->values, state->n * sizeof(uint64));
	result->nfeatures = state->n;
	return result;
}

/* (state internal, signature) */
Datum
signature_union_agg_add(PG_FUNCTION_ARGS)
{
	MemoryContext context = call_aggregate_context(fcinfo);
	UnionState *state;
	Signature  *sig;

	if (PG_ARGISNULL(1))
		return call_unchanged_state(fcinfo);
	sig = PG_GETARG_SIGNATURE(1);
	state = PG_ARGISNULL(0) ? union_create(context, &sig->making) :
		(UnionState *) PG_GETARG_POINTER(0);
	union_add(state, sig);
	PG_RETURN_POINTER(state);
}

Datum
signature_union_agg_combine(PG_FUNCTION_ARGS)
{
	MemoryContext context = call_aggregate_context(fcinfo);
	UnionState *state;
	UnionState *other;

	if (PG_ARGISNULL(1))
		return call_unchanged_state(fcinfo);
	other = (UnionState *) PG_GETARG_POINTER(1);
	state = PG_ARGISNULL(0) ? union_create(context, &other->making) :
		(UnionState *) PG_GETARG_POINTER(0);
	union_add(state, union_result(other));
	PG_RETURN_POINTER(state);
}

/* A state is sent as the signature that it would give. */
Datum
signature_union_agg_serialize(PG_FUNCTION_ARGS)
{
	UnionState *state = (UnionState *) PG_GETARG_POINTER(0);

	PG_RETURN_BYTEA_P(signature_to_bytes(union_result(state)));
}

Datum
signature_union_agg_deserialize(PG_FUNCTION_ARGS)
{
	bytea	   *bytes = PG_GETARG_BYTEA_PP(0);
	Signature  *sig = signature_from_bytes(VARDATA_ANY(bytes),
										   VARSIZE_ANY_EXHDR(bytes));
	UnionState *state = union_create(CurrentMemoryContext, &sig->making);

	union_add(state, sig);
	PG_RETURN_POINTER(state);
}

Datum
signature_union_agg_final(PG_FUNCTION_ARGS)
{
	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	PG_RETURN_SIGNATURE(union_result((UnionState *) PG_GETARG_POINTER(0)));
}
