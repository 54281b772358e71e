/*
 * anchored.c
 *		Shingles that begin with an anchor.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/methods/sets/anchored.c
 */
#include "postgres.h"

#include "methods/sets/selection.h"

/* hash of the anchors, lower and upper half */
const MethodInfo anchored_method = {
	.name = "anchored", .method = METHOD_ANCHORED, SELECTION,
	.analysed = ANALYSED_ALWAYS, .nparams = 2, .check = selection_check
};

PG_FUNCTION_INFO_V1(anchored_of_text);
Datum
anchored_of_text(PG_FUNCTION_ARGS)
{
	DocContext	   *doccxt = doc_context_get(fcinfo, 3);

	doc_context_read_shingles(doccxt, fcinfo, READS_SHINGLES, DOC_CONTEXT_GETARG_K(doccxt, 2));
	PG_RETURN_SIGNATURE(select_by_anchors(fcinfo, doccxt, METHOD_ANCHORED,
										  select_anchored));
}
