/*
 * measure_expression.c
 *		Measures in statements that are put together.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/signature/sql/measure_expression.c
 */
#include "postgres.h"

#include "signature/sql/measure_expression.h"

/* See measure_expression.h */
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
