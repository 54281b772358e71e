/*
 * shingles.c
 *		SQL functions: a document's set of shingles.
 *
 * What an analysis needs (tables, a stemmer, buffers) is made once per call
 * site and kept with it, in a memory context of its own, for as long as the
 * arguments that say how to analyse stay the same.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/shingles.c
 */
#include "postgres.h"

#include "catalog/namespace.h"
#include "fmgr.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

#include "compat.h"
#include "documents.h"
#include "features/shingle.h"
#include "neardup.h"
#include "text/analysis.h"

PG_FUNCTION_INFO_V1(shingles_with_k);
PG_FUNCTION_INFO_V1(shingles_with_analysis);
PG_FUNCTION_INFO_V1(shingles_with_config);

/* A call site's shingler, and the arguments that it was made for. */
typedef struct Site
{
	MemoryContext context;		/* owns shingler and analysis */
	Shingler   *shingler;		/* NULL if there is none yet */
	Making		making;			/* of the signatures that it makes */
	char	   *analysis;		/* NULL if a configuration was given */
	size_t		analysis_len;
	int			k;				/* 0 if it was not given */
	Oid			config;
}			Site;

static Site *
get_site(FunctionCallInfo fcinfo)
{
	FmgrInfo   *flinfo = fcinfo->flinfo;

	if (flinfo->fn_extra == NULL)
	{
		Site	   *site = MemoryContextAllocZero(flinfo->fn_mcxt,
												  sizeof(Site));

		site->context = AllocSetContextCreate(flinfo->fn_mcxt,
											  "neardup shingles",
											  ALLOCSET_DEFAULT_SIZES);
		flinfo->fn_extra = site;
	}
	return flinfo->fn_extra;
}

/* Makes the site's shingler, in the site's context. */
static void
set_shingler(Site *site, const Analysis *analysis)
{
	site->making = analysis->making;
	site->making.method = METHOD_SHINGLES;
	site->making.width = 64;
	site->shingler = shingler_create(analysis);
}

/*
 * Refuses shingles('english', 'some text'): the arguments stand as for
 * to_tsvector(), but without a type the first one is the document.
 */
static void
refuse_swapped(text *doc, text *analysis)
{
	char	   *first = text_to_cstring(analysis);
	char	   *name;

	first[strcspn(first, " \t\r\n\v\f")] = '\0';
	if (VARSIZE_ANY_EXHDR(doc) >= NAMEDATALEN ||
		analysis_knows_word(first, strlen(first)))
		return;
	name = text_to_cstring(doc);
	if (!analysis_knows_word(name, strlen(name)) &&
		!OidIsValid(get_ts_config_oid(list_make1(makeString(name)), true)))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("unrecognized analysis word: \"%s\"", first),
			 errdetail("The first argument, here \"%s\", is the document.",
					   name),
			 errhint("A text search configuration as first argument needs its "
					 "type: shingles('%s'::regconfig, ...).", name)));
}

/*
 * A shingle size and an analysis that has one of its own must agree; k = 0 is
 * no size.
 */
static void
apply_k(Analysis *analysis, int k)
{
	if (k == 0)
		return;
	if (analysis->has_k && analysis->making.k != k)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("shingle size is %d, but analysis says \"k=%d\"",
						k, analysis->making.k),
				 errhint("Say it once: shingles(document, 'k=%d').",
						 analysis->making.k)));
	analysis_set_k(analysis, k);
}

/* The site, ready for an analysis and a shingle size (0 = not given). */
static Site *
site_for_analysis(FunctionCallInfo fcinfo, text *doc, text *analysis, int k)
{
	Site	   *site = get_site(fcinfo);
	const char *bytes = VARDATA_ANY(analysis);
	size_t		len = VARSIZE_ANY_EXHDR(analysis);
	MemoryContext old;
	Analysis   *parsed;

	if (site->shingler != NULL && site->k == k &&
		site->analysis_len == len && memcmp(site->analysis, bytes, len) == 0)
		return site;
	refuse_swapped(doc, analysis);
	site->shingler = NULL;
	MemoryContextReset(site->context);
	old = MemoryContextSwitchTo(site->context);
	parsed = analysis_parse(bytes, len, NULL);
	apply_k(parsed, k);
	site->k = k;
	site->analysis = pnstrdup(bytes, len);
	site->analysis_len = len;
	set_shingler(site, parsed);
	MemoryContextSwitchTo(old);
	return site;
}

/* The site, ready for a text-search configuration. */
static Site *
site_for_config(FunctionCallInfo fcinfo, Oid config, int k)
{
	Site	   *site = get_site(fcinfo);
	MemoryContext old;
	Analysis   *analysis;

	if (site->shingler != NULL && site->k == k && site->config == config)
		return site;
	site->shingler = NULL;
	MemoryContextReset(site->context);
	old = MemoryContextSwitchTo(site->context);
	analysis = analysis_of_config(config);
	analysis_set_k(analysis, k);
	site->k = k;
	site->config = config;
	set_shingler(site, analysis);
	MemoryContextSwitchTo(old);
	return site;
}

static Signature *
make_signature(Site *site, text *doc)
{
	size_t		len;
	const char *utf8 = text_as_utf8(doc, &len);
	size_t		n;
	const uint64 *set = shingler_set(site->shingler, utf8, len, &n);
	Signature  *sig = signature_alloc(&site->making, n);

	memcpy(sig->values, set, n * sizeof(uint64));
	sig->nfeatures = n;
	return sig;
}

/* k = 0 stands for "not given" inside only. */
static void
check_k(int k)
{
	if (k == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("shingle size is out of range: %d", k),
				 errdetail("The shingle size is a number from 1 to %d.",
						   MAX_SHINGLE_SIZE)));
}

/* shingles(doc text, k int, analysis text) */
Datum
shingles_with_k(PG_FUNCTION_ARGS)
{
	text	   *doc = PG_GETARG_TEXT_PP(0);
	int			k = PG_GETARG_INT32(1);
	text	   *analysis = PG_GETARG_TEXT_PP(2);

	check_k(k);
	PG_RETURN_SIGNATURE(make_signature(site_for_analysis(fcinfo, doc, analysis,
														 k), doc));
}

/* shingles(doc text, analysis text) */
Datum
shingles_with_analysis(PG_FUNCTION_ARGS)
{
	text	   *doc = PG_GETARG_TEXT_PP(0);
	text	   *analysis = PG_GETARG_TEXT_PP(1);

	PG_RETURN_SIGNATURE(make_signature(site_for_analysis(fcinfo, doc, analysis,
														 0), doc));
}

/* shingles(config regconfig, doc text, k int) */
Datum
shingles_with_config(PG_FUNCTION_ARGS)
{
	Oid			config = PG_GETARG_OID(0);
	text	   *doc = PG_GETARG_TEXT_PP(1);
	int			k = PG_GETARG_INT32(2);

	check_k(k);
	PG_RETURN_SIGNATURE(make_signature(site_for_config(fcinfo, config, k),
									   doc));
}
