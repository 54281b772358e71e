/*
 * sketch.c
 *		What the SQL functions that make sketches share.
 */
#include "postgres.h"

#include "base/call.h"
#include "methods/method.h"
#include "methods/sketches/sketch.h"
#include "document/doc_context.h"

SignatureSpec
sketch_spec(const SignatureSpec *source, Method method, uint32 param0, uint32 param1)
{
	SignatureSpec		spec = *source;

	spec.method = method;
	spec.width = method_info(method)->width;
	spec.param[0] = param0;
	spec.param[1] = param1;
	return spec;
}

/* A sketch of n distinct features, which rise if the method makes sets. */
static Signature *
make_sketch(const SignatureSpec *source, const uint64 *features, size_t n,
			Method method, uint32 param0, uint32 param1)
{
	SignatureSpec		spec = sketch_spec(source, method, param0, param1);
	Signature  *sketch = method_info(method)->make(&spec, features, n);

	sketch->nfeatures = n;
	return sketch;
}

Signature *
sketch_of_set(const Signature *set, Method method, uint32 param0, uint32 param1)
{
	StringInfoData source;

	if (set->spec.method != METHOD_SHINGLES &&
		set->spec.method != METHOD_FEATURES)
	{
		initStringInfo(&source);
		spec_append(&set->spec, &source);
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("%s cannot be made of %s",
						method_info(method)->name, source.data),
				 errdetail("A sketch is made of a set of shingles, or of given features.")));
	}
	return make_sketch(&set->spec, set->values, SIGNATURE_NVALUES(set),
					   method, param0, param1);
}

Signature *
sketch_of_text(FunctionCallInfo fcinfo, int karg,
			   Method method, uint32 param0, uint32 param1)
{
	DocContext	   *doccxt = doc_context_get(fcinfo, karg + 1);
	const uint64 *set;
	size_t		n;

	doc_context_read_shingles(doccxt, fcinfo, READS_SHINGLES,
					   DOC_CONTEXT_GETARG_K(doccxt, karg));
	set = doc_context_set(doccxt, DOC_CONTEXT_GETARG_TEXT(doccxt, 0), method_info(method)->set,
				   &n);
	return make_sketch(&doccxt->spec, set, n, method, param0, param1);
}

Datum
sketch_of_set_arg(FunctionCallInfo fcinfo, Method method, const char *what,
				  int most)
{
	uint32		param = argument_whole(what, PG_GETARG_INT32(1), 1, most);

	PG_RETURN_SIGNATURE(sketch_of_set(PG_GETARG_SIGNATURE(0), method,
									  param, 0));
}

Datum
sketch_of_text_arg(FunctionCallInfo fcinfo, Method method, const char *what,
				   int most)
{
	DocContext	   *doccxt = doc_context_get(fcinfo, 3);
	uint32		param = argument_whole(what, DOC_CONTEXT_GETARG_INT32(doccxt, 1), 1,
									  most);

	PG_RETURN_SIGNATURE(sketch_of_text(fcinfo, 2, method, param, 0));
}
