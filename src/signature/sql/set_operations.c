/*
 * set_operations.c
 *		Sets as values: number of features, union, intersection, difference,
 *		and aggregates.
 *
 * The result has the spec of the arguments, so the union of several documents
 * can be compared with a document.
 */
#include "postgres.h"

#include "signature/sets.h"
#include "base/call.h"
#include "base/memory.h"
#include "base/sort_uint64.h"
#include "signature/signature.h"
#include "methods/method.h"

PG_FUNCTION_INFO_V1(signature_nfeatures);
PG_FUNCTION_INFO_V1(signature_union);
PG_FUNCTION_INFO_V1(signature_intersect);
PG_FUNCTION_INFO_V1(signature_except);
PG_FUNCTION_INFO_V1(signature_union_agg_add);
PG_FUNCTION_INFO_V1(signature_union_agg_final);
PG_FUNCTION_INFO_V1(signature_intersect_agg_final);

/*
 * nfeatures(signature): number of features of the document, not of the sketch
 */
Datum
signature_nfeatures(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT64(PG_GETARG_SIGNATURE(0)->nfeatures);
}

/* Raise DATATYPE_MISMATCH unless it is a set that has all features. */
static void
require_set(const SignatureSpec *spec)
{
	const MethodInfo *method = method_info(spec->method);

	if (!method->set || !method->exact || method->weighted)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("%s is not a set that has all of its features",
						spec_name(spec)),
				 errhint("Use sets of shingles, or of given features.")));
}

/* The type of set_union() and the other operations in signature/sets.h */
typedef uint64 (*CombineSets) (const uint64 *a, uint64 na,
							   const uint64 *b, uint64 nb, uint64 *result);

/*
 * Return the result of a set operation on both arguments, with room for the
 * elements of both, or of the first alone.
 */
static Datum
apply(FunctionCallInfo fcinfo, CombineSets operation, bool both)
{
	Signature  *a = PG_GETARG_SIGNATURE(0);
	Signature  *b = PG_GETARG_SIGNATURE(1);
	Signature  *result;
	uint64		na = SIGNATURE_NVALUES(a);
	uint64		nb = SIGNATURE_NVALUES(b);
	uint64		n;

	spec_require_equal(&a->spec, &b->spec);
	require_set(&a->spec);
	result = signature_alloc(&a->spec, both ? na + nb : na);
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
 * State of signature_union_agg().  New values are appended to the distinct
 * ones.  When there are more new values than distinct ones, all are sorted and
 * made distinct.
 */
typedef struct UnionState
{
	ExpandedObjectHeader header;
	SignatureSpec spec;
	uint64	   *values;
	size_t		n;
	size_t		distinct;		/* how many of the first values are sorted and
								 * distinct */
	size_t		room;
} UnionState;

static Size union_size(ExpandedObjectHeader *header);
static void union_flatten(ExpandedObjectHeader *header, void *result,
						  Size size);

static const ExpandedObjectMethods union_methods = {union_size, union_flatten};

/* Sort all values and make them distinct. */
static void
union_settle(UnionState *state)
{
	state->n = sort_distinct_hashes(state->values, state->n);
	state->distinct = state->n;
}

/* Append the values of a set; settle first if new values prevail. */
static void
union_add(UnionState *state, const Signature *sig)
{
	size_t		n = SIGNATURE_NVALUES(sig);
	MemoryContext old;

	spec_require_equal(&state->spec, &sig->spec);
	if (n == 0)
		return;
	if (state->n + n > state->room && state->n > 2 * state->distinct)
		union_settle(state);
	old = MemoryContextSwitchTo(state->header.eoh_context);
	state->values = growing_reserve(state->values, &state->room, state->n + n,
									sizeof(uint64));
	MemoryContextSwitchTo(old);
	memcpy(state->values + state->n, sig->values, n * sizeof(uint64));
	state->n += n;
}

/* The state as a signature */

/*
 * ExpandedObjectMethods.get_flat_size: the size of the union as a signature.
 */
static Size
union_size(ExpandedObjectHeader *header)
{
	UnionState *state = (UnionState *) header;

	union_settle(state);
	return signature_size(&state->spec, state->n);
}

/* ExpandedObjectMethods.flatten_into: write the union as a signature. */
static void
union_flatten(ExpandedObjectHeader *header, void *result, Size size)
{
	UnionState *state = (UnionState *) header;
	Signature  *sig = result;

	SET_VARSIZE(sig, size);
	sig->spec = state->spec;
	sig->nfeatures = state->n;
	if (state->n > 0)
		memcpy(sig->values, state->values, state->n * sizeof(uint64));
}

/* Return an empty state for sets of a spec. */
static UnionState *
union_create(FunctionCallInfo fcinfo, const SignatureSpec *spec)
{
	UnionState *state;

	require_set(spec);
	state = state_create(fcinfo, &union_methods, sizeof(UnionState));
	state->spec = *spec;
	return state;
}

/* Add a signature to a state, which is created if it is NULL. */
static void *
union_add_flat(FunctionCallInfo fcinfo, void *state, struct varlena *flat)
{
	Signature  *sig = (Signature *) flat;

	if (state == NULL)
		state = union_create(fcinfo, &sig->spec);
	union_add(state, sig);
	return state;
}

/* (state signature, signature); also combines states */
Datum
signature_union_agg_add(PG_FUNCTION_ARGS)
{
	return state_combine(fcinfo, &union_methods, union_add_flat);
}

/* The flat state is the result. */
Datum
signature_union_agg_final(PG_FUNCTION_ARGS)
{
	PG_RETURN_SIGNATURE(PG_GETARG_SIGNATURE(0));
}

/*
 * The state is the result.  A single signature is checked here, as it was
 * never intersected.
 */
Datum
signature_intersect_agg_final(PG_FUNCTION_ARGS)
{
	Signature  *sig = PG_GETARG_SIGNATURE(0);

	require_set(&sig->spec);
	PG_RETURN_SIGNATURE(sig);
}
