/*
 * pairs.c
 *		Features and their weights as two arrays.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/methods/weighted/pairs.c
 */
#include "postgres.h"

#include "base/arguments.h"
#include "methods/weighted/pairs.h"

size_t
paired_elements(ArrayType *features, ArrayType *weights)
{
	size_t		n = argument_elements("features", features);
	size_t		m = argument_elements("weights", weights);

	if (m != n)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("there are %zu features and %zu weights", n, m)));
	return n;
}
