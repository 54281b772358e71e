/*
 * spec_name.c
 *		How a signature was made, as people read it.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/methods/spec_name.c
 */
#include "postgres.h"

#include "methods/spec_name.h"
#include "methods/method.h"
#include "text/analysis.h"

void
spec_append(const SignatureSpec *spec, StringInfo out)
{
	const MethodInfo *method = method_info(spec->method);

	appendStringInfoString(out, method->name);
	for (int i = 0; i < method->nparams; i++)
		appendStringInfo(out, "%c%u", i == 0 ? '(' : ',', spec->param[i]);
	if (method->nparams > 0)
		appendStringInfoChar(out, ')');
	if (spec->unit != UNIT_NONE)
	{
		appendStringInfoChar(out, '[');
		analysis_canonical(spec, out);
		appendStringInfoChar(out, ']');
	}
}

void
spec_require_equal(const SignatureSpec *a, const SignatureSpec *b)
{
	StringInfoData left;
	StringInfoData right;
	bool		weighted;

	if (likely(spec_equal(a, b)))
		return;
	weighted = a->method == b->method && method_info(a->method)->weighted;
	initStringInfo(&left);
	initStringInfo(&right);
	spec_append(a, &left);
	spec_append(b, &right);
	ereport(ERROR,
			(errcode(ERRCODE_DATATYPE_MISMATCH),
			 errmsg("signatures of different specs cannot be compared"),
			 errdetail("One was made by %s, the other by %s.",
					   left.data, right.data),
			 weighted ?
			 errhint("Make both with the same lexicon, weight and analysis.") :
			 errhint("Make both with the same function, analysis and parameters.")));
}
