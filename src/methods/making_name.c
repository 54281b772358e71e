/*
 * making_name.c
 *		How a signature was made, as people read it.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/methods/making_name.c
 */
#include "postgres.h"

#include "methods/making_name.h"
#include "methods/method.h"
#include "text/analysis.h"

void
making_append(const Making *making, StringInfo out)
{
	const MethodInfo *method = method_info(making->method);

	appendStringInfoString(out, method->name);
	for (int i = 0; i < method->nparams; i++)
		appendStringInfo(out, "%c%u", i == 0 ? '(' : ',', making->param[i]);
	if (method->nparams > 0)
		appendStringInfoChar(out, ')');
	if (making->unit != UNIT_NONE)
	{
		appendStringInfoChar(out, '[');
		analysis_canonical(making, out);
		appendStringInfoChar(out, ']');
	}
}

void
making_require_equal(const Making *a, const Making *b)
{
	StringInfoData left;
	StringInfoData right;
	bool		weighted;

	if (likely(making_equal(a, b)))
		return;
	weighted = a->method == b->method && method_info(a->method)->weighted;
	initStringInfo(&left);
	initStringInfo(&right);
	making_append(a, &left);
	making_append(b, &right);
	ereport(ERROR,
			(errcode(ERRCODE_DATATYPE_MISMATCH),
			 errmsg("signatures of different making cannot be compared"),
			 errdetail("One was made by %s, the other by %s.",
					   left.data, right.data),
			 weighted ?
			 errhint("Make both with the same lexicon, weight and analysis.") :
			 errhint("Make both with the same function, analysis and parameters.")));
}
