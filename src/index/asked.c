/*
 * asked.c
 *		What an index is asked, as far as the planner knows.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/index/asked.c
 */
#include "postgres.h"

#include "access/detoast.h"
#include "optimizer/optimizer.h"

#include "base/settings.h"
#include "index/asked.h"
#include "types/signature_query.h"
#include "types/subscript.h"

/* A constant, or what can be made one; or NULL. */
static Const *
known(PlannerInfo *root, Expr *expr)
{
	Const	   *constant = (Const *) estimate_expression_value(root, (Node *) expr);

	return IsA(constant, Const) && !constant->constisnull ? constant : NULL;
}

static void
asked_by_constant(const Const *constant, Asked *asked)
{
	const SignatureQuery *query = DatumGetSignatureQuery(constant->constvalue);

	asked->measure = query->measure;
	asked->threshold = query->threshold;
	asked->values = SIGNATURE_NVALUES(&query->signature);
}

void
asked_by(PlannerInfo *root, Node *query, Asked *asked)
{
	Expr	   *signature;
	Expr	   *measure;
	Expr	   *threshold;
	Const	   *constant;

	asked->measure = MEASURE_JACCARD;
	asked->threshold = neardup_threshold;
	asked->values = 0;
	if (IsA(query, Const) && !((Const *) query)->constisnull)
		asked_by_constant((Const *) query, asked);
	else if (signature_subscripts(query, &signature, &measure, &threshold))
	{
		const text *name;

		constant = known(root, measure);
		name = constant != NULL ? DatumGetTextPP(constant->constvalue) : NULL;
		if (name != NULL)
			(void) measure_by_name(VARDATA_ANY(name), VARSIZE_ANY_EXHDR(name),
								   &asked->measure);
		constant = threshold != NULL ? known(root, threshold) : NULL;
		if (constant != NULL)
			asked->threshold = DatumGetFloat8(constant->constvalue);
	}
	if (!measure_has_threshold(asked->measure, asked->threshold))
		asked->threshold = 1;
}
