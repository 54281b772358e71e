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
	if (sig->making.unit != UNIT_CHAR)
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
	Site	   *site = site_get(fcinfo, 3);
	int			length = argument_whole("length of a substring",
										SITE_GETARG_INT32(site, 2), 1,
										MAX_SHINGLE_SIZE);

	site_read_shingles(site, fcinfo, READS_CHARS, length);
	PG_RETURN_SIGNATURE(select_by_anchors(fcinfo, site, METHOD_SIF,
										  select_following));
}
