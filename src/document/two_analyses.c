/*
 * two_analyses.c
 *		SQL function f(doc text, text, text): refuses an analysis that was given
 *		in two arguments.
 *
 * Without it the server finds f(doc, analysis, number) and f(doc, number,
 * analysis) equally good for f(body, 'english', 'stop'), and says only that
 * the call is not unique.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/document/two_analyses.c
 */
#include "postgres.h"

#include "fmgr.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "base/compat.h"

PG_FUNCTION_INFO_V1(two_analyses);

/* What the argument would be in an analysis: a number is the shingle size. */
static char *
as_words(const text *argument)
{
	char	   *words = text_to_cstring(argument);

	if (words[0] != '\0' && strspn(words, "0123456789") == strlen(words))
		return psprintf("k=%s", words);
	return words;
}

/* (doc text, text, text) */
Datum
two_analyses(PG_FUNCTION_ARGS)
{
	char	   *name = get_func_name(fcinfo->flinfo->fn_oid);
	char	   *first = as_words(PG_GETARG_TEXT_PP(1));
	char	   *second = as_words(PG_GETARG_TEXT_PP(2));

	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("%s takes one analysis, not two", name),
			 errhint("Write all of it in one argument: %s(..., '%s %s').",
					 name, first, second)));
	PG_RETURN_NULL();
}
