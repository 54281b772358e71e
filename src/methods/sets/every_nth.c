/*
 * every_nth.c
 *		Every m-th shingle of a document.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/methods/sets/every_nth.c
 */
#include "postgres.h"

#include "methods/sets/selection.h"

/* m */
const MethodInfo every_nth_method = {
	.name = "every_nth", .method = METHOD_EVERY_NTH, SELECTION,
	.analysed = ANALYSED_ALWAYS, .nparams = 1, .check = selection_counted_check
};

PG_FUNCTION_INFO_V1(every_nth_of_text);
Datum
every_nth_of_text(PG_FUNCTION_ARGS)
{
	PG_RETURN_SIGNATURE(select_by_position(fcinfo, METHOD_EVERY_NTH,
										   "distance", select_every));
}
