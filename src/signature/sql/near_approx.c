/*
 * near_approx.c
 *		near_duplicate_approx(): exactly near, and found by a fixed banding.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/signature/sql/near_approx.c
 */
#include "postgres.h"

#include "signature/sql/near.h"
#include "methods/sketches/lsh.h"

/* The bands of a set that a call site has met last, on one side. */
typedef struct ApproxSide
{
	Signature  *set;			/* a copy, or NULL */
	KeyList		keys;
} ApproxSide;

/* What a call site keeps of near_duplicate_approx(). */
typedef struct ApproxSite
{
	double		threshold;		/* what the banding was chosen for */
	double		recall;
	Banding		banding;
	ApproxSide	sides[2];
} ApproxSite;

static void
forget_side(ApproxSide *side)
{
	if (side->set != NULL)
		pfree(side->set);
	side->set = NULL;
	side->keys.n = 0;
}

static ApproxSite *
approx_call(FunctionCallInfo fcinfo, double threshold, double recall)
{
	ApproxSite *doccxt = fcinfo->flinfo->fn_extra;

	if (doccxt != NULL && doccxt->threshold == threshold && doccxt->recall == recall)
		return doccxt;
	if (doccxt == NULL)
		doccxt = MemoryContextAllocZero(fcinfo->flinfo->fn_mcxt,
									  sizeof(ApproxSite));
	fcinfo->flinfo->fn_extra = doccxt;
	doccxt->banding = lsh_approx_banding(threshold, recall);
	doccxt->threshold = threshold;
	doccxt->recall = recall;
	for (size_t i = 0; i < lengthof(doccxt->sides); i++)
		forget_side(&doccxt->sides[i]);
	return doccxt;
}

/*
 * The bands of a set on one side, which is often that of the call before:
 * joins and look-ups hold on to one and go through others.
 */
static const KeyList *
approx_keys(FunctionCallInfo fcinfo, ApproxSite *doccxt, int which,
			const Signature *set)
{
	ApproxSide *side = &doccxt->sides[which];
	MemoryContext old;

	if (side->set != NULL && VARSIZE(side->set) == VARSIZE(set) &&
		memcmp(side->set, set, VARSIZE(set)) == 0)
		return &side->keys;
	forget_side(side);
	old = MemoryContextSwitchTo(fcinfo->flinfo->fn_mcxt);
	lsh_approx_keys(set, &doccxt->banding, &side->keys);
	side->set = palloc(VARSIZE(set));
	memcpy(side->set, set, VARSIZE(set));
	MemoryContextSwitchTo(old);
	return &side->keys;
}

bool
approx_takes(const MethodInfo *method)
{
	return method->exact && !method->weighted;
}

void
approx_require_method(const MethodInfo *method)
{
	if (!approx_takes(method))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("near_duplicate_approx() needs exact sets"),
				 errhint("Compare sketches with near_duplicate().")));
}

/* Exactly near, and found by the banding of that threshold and recall. */
PG_FUNCTION_INFO_V1(signature_near_duplicate_approx);
Datum
signature_near_duplicate_approx(PG_FUNCTION_ARGS)
{
	Signature  *a = PG_GETARG_SIGNATURE(0);
	Signature  *b = PG_GETARG_SIGNATURE(1);
	double		threshold = PG_GETARG_FLOAT8(2);
	ApproxSite *doccxt;

	threshold_require_valid(threshold, MEASURE_JACCARD);
	doccxt = approx_call(fcinfo, threshold, PG_GETARG_FLOAT8(3));
	if (!signatures_comparable(a, b))
		PG_RETURN_BOOL(false);
	approx_require_method(method_info(a->spec.method));
	if (!signatures_near(a, b, threshold, MEASURE_JACCARD))
		PG_RETURN_BOOL(false);
	/* a set has all its bands in common with itself */
	if (VARSIZE(a) == VARSIZE(b) && memcmp(a, b, VARSIZE(a)) == 0)
		PG_RETURN_BOOL(true);
	PG_RETURN_BOOL(lsh_meet(approx_keys(fcinfo, doccxt, 0, a),
							approx_keys(fcinfo, doccxt, 1, b)));
}
