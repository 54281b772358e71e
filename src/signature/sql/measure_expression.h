/*
 * measure_expression.h
 *		Measures in statements that are put together.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/signature/sql/measure_expression.h
 */
#ifndef NEARDUP_MEASURE_EXPRESSION_H
#define NEARDUP_MEASURE_EXPRESSION_H

#include "signature/sets.h"

/*
 * The measure of two signatures, x and y, as an expression of type float8;
 * the schema is that of the extension, quoted.
 */
extern char *measure_expression(const char *schema, Measure measure,
								const char *x, const char *y);

#endif							/* NEARDUP_MEASURE_EXPRESSION_H */
