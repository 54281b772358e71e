/*
 * leave_out.c
 *		A set without the features of another one, such as boilerplate.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/methods/sets/leave_out.c
 */
#include "postgres.h"

#include "signature/sets.h"
#include "base/hash.h"
#include "methods/spec_name.h"
#include "methods/sets/selection.h"

/* hash of the features left out, lower and upper half; numbers as they came */
const MethodInfo leave_out_method = {
	.name = "leave_out", .method = METHOD_LEAVE_OUT, .width = 64, .set = true,
	.analysed = ANALYSED_AS_SOURCE, .nparams = 2, .check = selection_check
};

/*
 * leave_out(set, common): the set without the features of another one, which
 * was made alike or consists of the same numbers.
 */
PG_FUNCTION_INFO_V1(leave_out);
Datum
leave_out(PG_FUNCTION_ARGS)
{
	Signature  *set = PG_GETARG_SIGNATURE(0);
	Signature  *common = PG_GETARG_SIGNATURE(1);
	uint64		n = SIGNATURE_NVALUES(set);
	SignatureSpec		spec = set->spec;
	uint64		hash;
	Signature  *result;

	if (common->spec.method != METHOD_FEATURES)
		spec_require_equal(&set->spec, &common->spec);
	if (set->spec.method != METHOD_SHINGLES &&
		set->spec.method != METHOD_FEATURES)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("leave_out() needs a set of shingles, or of given features")));
	/* not before: values of other methods are not 64 bits wide */
	hash = hash_uint64s(common->values, SIGNATURE_NVALUES(common));
	spec.method = METHOD_LEAVE_OUT;
	spec.param[0] = (uint32) hash;
	spec.param[1] = hash >> 32;
	result = signature_alloc(&spec, n);
	result->nfeatures = n;
	n = set_difference(set->values, n, common->values,
					   SIGNATURE_NVALUES(common), result->values);
	SET_VARSIZE(result, SIGNATURE_HEADER + n * sizeof(uint64));
	PG_RETURN_SIGNATURE(result);
}
