/*
 * documents.c
 *		What SQL functions that take a document share: the set of its
 *		shingles.
 *
 * What an analysis needs (tables, a stemmer, buffers) is made once per call
 * site and kept with it, in a memory context of its own, for as long as the
 * arguments that say how to analyse stay the same.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/documents.c
 */
#include "postgres.h"

#include "catalog/namespace.h"
#include "mb/pg_wchar.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

#include "compat.h"
#include "documents.h"
#include "features/shingle.h"
#include "text/analysis.h"

/* A call site's shingler, and the arguments that it was made for. */
struct DocumentSite
{
	MemoryContext context;		/* owns shingler and analysis */
	Shingler   *shingler;		/* NULL if there is none yet */
	Making		making;			/* of the sets that it makes */
	char	   *analysis;		/* NULL if a configuration was given */
	size_t		analysis_len;
	int			k;				/* 0 if it was not given */
	Oid			config;
};

static DocumentSite *
get_site(FunctionCallInfo fcinfo)
{
	FmgrInfo   *flinfo = fcinfo->flinfo;

	if (flinfo->fn_extra == NULL)
	{
		DocumentSite *site = MemoryContextAllocZero(flinfo->fn_mcxt,
													sizeof(DocumentSite));

		site->context = AllocSetContextCreate(flinfo->fn_mcxt,
											  "neardup document",
											  ALLOCSET_DEFAULT_SIZES);
		flinfo->fn_extra = site;
	}
	return flinfo->fn_extra;
}

/* Makes the site's shingler, in the site's context. */
static void
set_shingler(DocumentSite *site, const Analysis *analysis)
{
	site->making = analysis->making;
	site->making.method = METHOD_SHINGLES;
	site->making.width = 64;
	site->shingler = shingler_create(analysis);
}

/*
 * Refuses shingles('english', 'some text') and the like: the arguments stand as for
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
					 "type: '%s'::regconfig.", name)));
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
				 errhint("Say it once, in the analysis or before it.")));
	analysis_set_k(analysis, k);
}

DocumentSite *
document_site(FunctionCallInfo fcinfo, text *doc, text *analysis, int k)
{
	DocumentSite *site = get_site(fcinfo);
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

DocumentSite *
document_site_for_config(FunctionCallInfo fcinfo, Oid config, int k)
{
	DocumentSite *site = get_site(fcinfo);
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

const Making *
document_making(const DocumentSite *site)
{
	return &site->making;
}

const uint64 *
document_set(DocumentSite *site, const text *doc, bool rising, size_t *n)
{
	size_t		len;
	const char *utf8 = text_as_utf8(doc, &len);

	if (rising)
		return shingler_set(site->shingler, utf8, len, n);
	return shingler_distinct(site->shingler, utf8, len, n);
}
