/*
 * measure_functions.c
 *		The measures in SQL, and in statements that are put together.
 */
#include "postgres.h"

#include "signature/repeated.h"
#include "signature/sql/near.h"

/*
 * The measures in SQL.
 */

PG_FUNCTION_INFO_V1(signature_similarity);
Datum
signature_similarity(PG_FUNCTION_ARGS)
{
	PG_RETURN_FLOAT8(signatures_value(PG_GETARG_REPEATED_SIGNATURE(0),
									  PG_GETARG_REPEATED_SIGNATURE(1),
									  MEASURE_JACCARD));
}

/*
 * Distances order rows: they are null where specs differ, so that such rows
 * come last, on every plan.
 */
static Datum
distance(FunctionCallInfo fcinfo, Measure measure)
{
	const Signature *a = PG_GETARG_REPEATED_SIGNATURE(0);
	const Signature *b = PG_GETARG_REPEATED_SIGNATURE(1);

	if (!signatures_comparable(a, b))
		PG_RETURN_NULL();
	PG_RETURN_FLOAT8(measure_distance(signatures_value(a, b, measure)));
}

PG_FUNCTION_INFO_V1(signature_distance);
Datum
signature_distance(PG_FUNCTION_ARGS)
{
	return distance(fcinfo, MEASURE_JACCARD);
}

PG_FUNCTION_INFO_V1(signature_cosine_distance);
Datum
signature_cosine_distance(PG_FUNCTION_ARGS)
{
	return distance(fcinfo, MEASURE_COSINE);
}

PG_FUNCTION_INFO_V1(signature_containment);
Datum
signature_containment(PG_FUNCTION_ARGS)
{
	PG_RETURN_FLOAT8(signatures_value(PG_GETARG_REPEATED_SIGNATURE(0),
									  PG_GETARG_REPEATED_SIGNATURE(1),
									  MEASURE_CONTAINMENT));
}

PG_FUNCTION_INFO_V1(signature_dice);
Datum
signature_dice(PG_FUNCTION_ARGS)
{
	PG_RETURN_FLOAT8(signatures_value(PG_GETARG_REPEATED_SIGNATURE(0),
									  PG_GETARG_REPEATED_SIGNATURE(1),
									  MEASURE_DICE));
}

PG_FUNCTION_INFO_V1(signature_cosine);
Datum
signature_cosine(PG_FUNCTION_ARGS)
{
	PG_RETURN_FLOAT8(signatures_value(PG_GETARG_REPEATED_SIGNATURE(0),
									  PG_GETARG_REPEATED_SIGNATURE(1),
									  MEASURE_COSINE));
}

/* Elements in common, of samples as of other sets. */
PG_FUNCTION_INFO_V1(signature_shared);
Datum
signature_shared(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT64(signatures_value(PG_GETARG_REPEATED_SIGNATURE(0),
									 PG_GETARG_REPEATED_SIGNATURE(1),
									 MEASURE_SHARED));
}

/* Features in common: counted in exact sets, estimated from samples. */
PG_FUNCTION_INFO_V1(signature_overlap);
Datum
signature_overlap(PG_FUNCTION_ARGS)
{
	const Signature *a = PG_GETARG_REPEATED_SIGNATURE(0);
	const Signature *b = PG_GETARG_REPEATED_SIGNATURE(1);

	if (measure_method(a, b)->similarity != NULL)
		measure_refuse(a, "overlap");
	PG_RETURN_INT64(measure_overlap(a, b) * features_per_element(a));
}

/*
 * Hamming distance: of sets |A u B| - |A n B|, of vectors the number of
 * places in which they differ.
 */
PG_FUNCTION_INFO_V1(signature_hamming);
Datum
signature_hamming(PG_FUNCTION_ARGS)
{
	const Signature *a = PG_GETARG_REPEATED_SIGNATURE(0);
	const Signature *b = PG_GETARG_REPEATED_SIGNATURE(1);
	const MethodInfo *method = measure_method(a, b);
	uint64		differ;

	if (method->hamming != NULL)
		PG_RETURN_INT64(method->hamming(a, b));
	if (method->similarity != NULL)
		measure_refuse(a, "Hamming distance");
	differ = SIGNATURE_NVALUES(a) + SIGNATURE_NVALUES(b) -
		2 * measure_overlap(a, b);
	PG_RETURN_INT64(differ * features_per_element(a));
}

/*
 * Measures in statements that are put together.
 */

char *
measure_expression(const char *schema, Measure measure,
				   const char *x, const char *y)
{
	const char *function = measure_name(measure);

	switch (measure)
	{
		case MEASURE_JACCARD:
			function = "similarity";
			break;
		case MEASURE_CONTAINS:
			return measure_expression(schema, MEASURE_CONTAINMENT, y, x);
		case MEASURE_OVERLAP:
			return psprintf("GREATEST(%s, %s)",
							measure_expression(schema, MEASURE_CONTAINMENT, x, y),
							measure_expression(schema, MEASURE_CONTAINS, x, y));
		case MEASURE_SHARED:
			return psprintf("%s.shared(%s, %s)::pg_catalog.float8", schema, x, y);
		default:
			break;
	}
	return psprintf("%s.%s(%s, %s)", schema, function, x, y);
}
