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
	MemoryContext context;		/* owns all that is below */
	Analysis   *analysis;		/* NULL if there is none yet */
	Making		making;			/* of the sets that it makes */

	/* what it was made for */
	char	   *said;			/* NULL if a configuration was given */
	size_t		said_len;
	int			k;				/* 0 if it was not given */
	Oid			config;

	/* what reads documents, each made when it is first needed */
	Shingler   *shingler;
	SequenceReader *sequence;
	Reader	   *words;
	void	   *extra;			/* the function's own */
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

/* Forgets all, and makes the site's context the current one. */
static MemoryContext
reset_site(DocumentSite *site)
{
	MemoryContext context = site->context;

	MemoryContextReset(context);
	memset(site, 0, sizeof(DocumentSite));
	site->context = context;
	return MemoryContextSwitchTo(context);
}

/* Sets the analysis, which makes the site ready. */
static void
set_analysis(DocumentSite *site, Analysis *analysis, int k)
{
	site->k = k;
	site->making = analysis->making;
	site->making.method = METHOD_SHINGLES;
	site->making.width = 64;
	site->analysis = analysis;
}

void
document_refuse_swapped(const text *doc, const text *analysis)
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

/* Ready for an analysis, of characters whatever it says if `chars`. */
static DocumentSite *
ready_site(FunctionCallInfo fcinfo, text *doc, text *said, int k, bool chars)
{
	DocumentSite *site = get_site(fcinfo);
	const char *bytes = VARDATA_ANY(said);
	size_t		len = VARSIZE_ANY_EXHDR(said);
	MemoryContext old;
	Analysis   *analysis;

	if (site->analysis != NULL && site->k == k &&
		site->said_len == len && memcmp(site->said, bytes, len) == 0)
		return site;
	document_refuse_swapped(doc, said);
	old = reset_site(site);
	analysis = analysis_parse(bytes, len, NULL);
	if (chars)
		analysis->making.unit = UNIT_CHAR;
	apply_k(analysis, k);
	site->said = pnstrdup(bytes, len);
	site->said_len = len;
	set_analysis(site, analysis, k);
	MemoryContextSwitchTo(old);
	return site;
}

DocumentSite *
document_site(FunctionCallInfo fcinfo, text *doc, text *analysis, int k)
{
	return ready_site(fcinfo, doc, analysis, k, false);
}

DocumentSite *
document_site_of_chars(FunctionCallInfo fcinfo, text *doc, text *analysis,
					   int k)
{
	return ready_site(fcinfo, doc, analysis, k, true);
}

DocumentSite *
document_site_for_config(FunctionCallInfo fcinfo, Oid config, int k)
{
	DocumentSite *site = get_site(fcinfo);
	MemoryContext old;
	Analysis   *analysis;

	if (site->analysis != NULL && site->k == k && site->config == config)
		return site;
	old = reset_site(site);
	analysis = analysis_of_config(config);
	analysis_set_k(analysis, k);
	site->config = config;
	set_analysis(site, analysis, k);
	MemoryContextSwitchTo(old);
	return site;
}

const Making *
document_making(const DocumentSite *site)
{
	return &site->making;
}

void **
document_extra(DocumentSite *site, MemoryContext *context)
{
	*context = site->context;
	return &site->extra;
}

const uint64 *
document_set(DocumentSite *site, const text *doc, bool rising, size_t *n)
{
	size_t		len;
	const char *utf8 = text_as_utf8(doc, &len);

	if (site->shingler == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(site->context);

		site->shingler = shingler_create(site->analysis);
		MemoryContextSwitchTo(old);
	}
	if (rising)
		return shingler_set(site->shingler, utf8, len, n);
	return shingler_distinct(site->shingler, utf8, len, n);
}

/* A few of the shingles, chosen as they stand, cannot be numbered. */
static void
refuse_numbered(const DocumentSite *site)
{
	if (site->making.filters & FILTER_REPEATS)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("analysis says \"repeats=number\" where shingles are selected"),
				 errhint("Leave it out.")));
}

Sequence
document_sequence(DocumentSite *site, const text *doc)
{
	size_t		len;
	const char *utf8 = text_as_utf8(doc, &len);

	if (site->sequence == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(site->context);

		refuse_numbered(site);
		site->sequence = sequence_create(site->analysis);
		MemoryContextSwitchTo(old);
	}
	return sequence_read(site->sequence, utf8, len);
}

Reader *
document_words(DocumentSite *site, const text *doc)
{
	size_t		len;
	const char *utf8 = text_as_utf8(doc, &len);

	if (site->words == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(site->context);
		Analysis	analysis = *site->analysis;

		refuse_numbered(site);
		analysis.making.unit = UNIT_WORD;
		site->words = reader_create(&analysis);
		MemoryContextSwitchTo(old);
	}
	reader_begin(site->words, utf8, len);
	return site->words;
}
