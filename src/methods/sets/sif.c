/*
 * sif.c
 *		Substrings that follow an anchor (Manber, "Finding similar files", 1994).
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/methods/sets/sif.c
 */
#include "postgres.h"

#include "base/arguments.h"
#include "methods/sets/selection.h"

static const char *
sif_check(const Signature *sig)
{
	if (sig->spec.unit != UNIT_CHAR)
		return "Its unit is not the character.";
	return selection_check(sig);
}

const MethodInfo sif_method = {
	.name = "sif", .method = METHOD_SIF, SELECTION,
	.analysed = ANALYSED_ALWAYS, .nparams = 2, .check = sif_check
};

PG_FUNCTION_INFO_V1(sif_of_text);
Datum
sif_of_text(PG_FUNCTION_ARGS)
{
	DocContext	   *doccxt = doc_context_get(fcinfo, 3);
	int			length = argument_whole("length of a substring",
										DOC_CONTEXT_GETARG_INT32(doccxt, 2), 1,
										MAX_SHINGLE_SIZE);

	doc_context_read_shingles(doccxt, fcinfo, READS_CHARS, length);
	PG_RETURN_SIGNATURE(select_by_anchors(fcinfo, doccxt, METHOD_SIF,
										  select_following));
}
