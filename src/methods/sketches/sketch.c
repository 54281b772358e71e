/*
 * sketch.c
 *		What the SQL functions that make sketches share.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/methods/sketches/sketch.c
 */
#include "postgres.h"

#include "base/arguments.h"
#include "methods/making_name.h"
#include "methods/method.h"
#include "methods/sketches/sketch.h"
#include "site/site.h"

Making
sketch_making(const Making *source, Method method, uint32 param0, uint32 param1)
{
	Making		making = *source;

	making.method = method;
	making.width = method_info(method)->width;
	making.param[0] = param0;
	making.param[1] = param1;
	return making;
}

/* A sketch of n distinct features, which rise if the method makes sets. */
static Signature *
make_sketch(const Making *source, const uint64 *features, size_t n,
			Method method, uint32 param0, uint32 param1)
{
	Making		making = sketch_making(source, method, param0, param1);
	Signature  *sketch = method_info(method)->make(&making, features, n);

	sketch->nfeatures = n;
	return sketch;
}

Signature *
sketch_of_set(const Signature *set, Method method, uint32 param0, uint32 param1)
{
	StringInfoData source;

	if (set->making.method != METHOD_SHINGLES &&
		set->making.method != METHOD_FEATURES)
	{
		initStringInfo(&source);
		making_append(&set->making, &source);
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("%s cannot be made of %s",
						method_info(method)->name, source.data),
				 errdetail("A sketch is made of a set of shingles, or of given features.")));
	}
	return make_sketch(&set->making, set->values, SIGNATURE_NVALUES(set),
					   method, param0, param1);
}

Signature *
sketch_of_text(FunctionCallInfo fcinfo, int karg,
			   Method method, uint32 param0, uint32 param1)
{
	Site	   *site = site_get(fcinfo, karg + 1);
	const uint64 *set;
	size_t		n;

	site_read_shingles(site, fcinfo, READS_SHINGLES,
					   SITE_GETARG_K(site, karg));
	set = site_set(site, SITE_GETARG_TEXT(site, 0), method_info(method)->set,
				   &n);
	return make_sketch(&site->making, set, n, method, param0, param1);
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
	Site	   *site = site_get(fcinfo, 3);
	uint32		param = argument_whole(what, SITE_GETARG_INT32(site, 1), 1,
									  most);

	PG_RETURN_SIGNATURE(sketch_of_text(fcinfo, 2, method, param, 0));
}
