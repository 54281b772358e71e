/*
 * method.c
 *		The table of methods, and how a spec is named in messages.
 */
#include "postgres.h"

#include "access/parallel.h"
#include "access/xact.h"

#include "methods/method.h"
#include "text/analysis.h"

/* by stored number */
#define METHOD_ROW(capitals, number, name) [number] = &name##_method,

static const MethodInfo *const methods[] = {
	METHOD_LIST(METHOD_ROW)
};

const MethodInfo *
method_info(uint8 method)
{
	return method < lengthof(methods) ? methods[method] : NULL;
}

const MethodInfo *
method_by_name(const char *name, size_t len)
{
	for (size_t i = 0; i < lengthof(methods); i++)
		if (methods[i] != NULL && strlen(methods[i]->name) == len &&
			memcmp(methods[i]->name, name, len) == 0)
			return methods[i];
	return NULL;
}

/*
 * How a signature was made, as people read it.
 */

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

/* DETAIL and HINT of both reports. */
static void
detail_different(const SignatureSpec *a, const SignatureSpec *b)
{
	StringInfoData left;
	StringInfoData right;

	initStringInfo(&left);
	initStringInfo(&right);
	spec_append(a, &left);
	spec_append(b, &right);
	errdetail("One was made by %s, the other by %s.", left.data, right.data);
	if (a->method == b->method && method_info(a->method)->weighted)
		errhint("Make both with the same lexicon, weight and analysis.");
	else
		errhint("Make both with the same function, analysis and parameters.");
}

void
spec_require_equal(const SignatureSpec *a, const SignatureSpec *b)
{
	if (likely(spec_equal(a, b)))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_DATATYPE_MISMATCH),
			 errmsg("signatures of different specs cannot be compared"),
			 detail_different(a, b)));
}

void
spec_warn_different(const SignatureSpec *a, const SignatureSpec *b)
{
	static TimestampTz warned;	/* start of the statement that was warned */
	TimestampTz statement = GetCurrentStatementStartTimestamp();

	Assert(!spec_equal(a, b));
	if (warned == statement || ParallelWorkerNumber > 0)
		return;
	warned = statement;
	ereport(WARNING,
			(errmsg("signatures of different specs are never near-duplicates"),
			 detail_different(a, b)));
}
