/*
 * site.c
 *		What a call site of a function that takes a document keeps: the reader
 *		of its documents, and the lexicon.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/corpus/site.c
 */
#include "postgres.h"

#include "access/detoast.h"
#include "utils/memutils.h"

#include "compat.h"
#include "corpus/site.h"
#include "documents.h"

Site *
site_get(FunctionCallInfo fcinfo)
{
	FmgrInfo   *flinfo = fcinfo->flinfo;

	if (flinfo->fn_extra == NULL)
	{
		Site	   *site = MemoryContextAllocZero(flinfo->fn_mcxt,
												  sizeof(Site));

		site->context = AllocSetContextCreate(flinfo->fn_mcxt,
											  "neardup reader",
											  ALLOCSET_DEFAULT_SIZES);
		flinfo->fn_extra = site;
	}
	return flinfo->fn_extra;
}

/* Forgets the reader and all that it was made for. */
static void
reset_site(Site *site)
{
	site->reader = NULL;
	site->analysis = NULL;
	site->said = NULL;
	site->config = InvalidOid;
	MemoryContextReset(site->context);
}

/*
 * Makes a reader for an analysis, which is changed to the units that are to be
 * read.
 */
static void
make_reader(Site *site, Analysis *analysis, Reads reads)
{
	Making	   *making = &analysis->making;

	if (making->unit == UNIT_CHAR)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("analysis says \"unit=char\" where words are wanted"),
				 errhint("Leave it out.")));
	analysis_set_k(analysis, 1);
	site->words = *making;
	making_of_words(&site->words);
	if (reads == READS_WORDS)
		*making = site->words;
	else
	{
		if (making->unit != UNIT_LINE)
			making->unit = UNIT_SENTENCE;
		if (reads == READS_SENTENCES)
			making->order = ORDER_KEEP;
		if (!(making->filters & FILTER_CONFIG) &&
			!analysis_hash(making, &making->analysis))
			elog(ERROR, "analysis contradicts itself");
	}
	site->analysis = analysis;
	site->reader = reader_create(analysis);
}

void
site_use_analysis(Site *site, const text *analysis, Reads reads)
{
	const char *bytes = VARDATA_ANY(analysis);
	size_t		len = VARSIZE_ANY_EXHDR(analysis);
	MemoryContext old;

	if (site->reader != NULL && site->said != NULL &&
		site->said_len == len && memcmp(site->said, bytes, len) == 0)
		return;
	reset_site(site);
	old = MemoryContextSwitchTo(site->context);
	make_reader(site, analysis_parse(bytes, len, NULL), reads);
	site->said = pnstrdup(bytes, len);
	site->said_len = len;
	MemoryContextSwitchTo(old);
}

void
site_use_config(Site *site, Oid config, Reads reads)
{
	MemoryContext old;

	if (site->reader != NULL && site->config == config)
		return;
	reset_site(site);
	old = MemoryContextSwitchTo(site->context);
	make_reader(site, analysis_of_config(config), reads);
	site->config = config;
	MemoryContextSwitchTo(old);
}

void
site_use_lexicon(Site *site, const Lexicon *lexicon, Reads reads)
{
	MemoryContext old;
	Analysis   *analysis;
	Making		making;

	lexicon_making(lexicon, &making);
	if (site->reader != NULL && site->said == NULL &&
		!OidIsValid(site->config) && site->flags == lexicon->flags &&
		making_equal(&site->words, &making))
		return;
	if (making.filters & FILTER_CONFIG)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("lexicon was made with a text search configuration, whose name it does not hold"),
				 errhint("Give the same configuration as first argument.")));
	reset_site(site);
	old = MemoryContextSwitchTo(site->context);
	analysis = palloc0(sizeof(Analysis));
	analysis->making = making;
	analysis->markup = (lexicon->flags & LEXICON_MARKUP) != 0;
	make_reader(site, analysis, reads);
	site->flags = lexicon->flags;
	MemoryContextSwitchTo(old);
}

void
site_use_lexicon_or(Site *site, const Lexicon *lexicon, const text *analysis,
					Reads reads)
{
	if (VARSIZE_ANY_EXHDR(analysis) == 0)
	{
		site_use_lexicon(site, lexicon, reads);
		return;
	}
	site_use_analysis(site, analysis, reads);
	lexicon_require_making(lexicon, &site->words);
}

void
site_use_lexicon_config(Site *site, const Lexicon *lexicon, Oid config,
						Reads reads)
{
	site_use_config(site, config, reads);
	lexicon_require_making(lexicon, &site->words);
}

void
site_begin(Site *site, const text *doc)
{
	size_t		len;
	const char *utf8 = text_as_utf8(doc, &len);

	reader_begin(site->reader, utf8, len);
}

/* Lexicons */

/* A context for another view in place of the site's. */
static MemoryContext
replace_view(Site *site)
{
	if (site->view != NULL)
		MemoryContextDelete(site->view->context);
	site->view = NULL;
	site->stored = false;
	return AllocSetContextCreate(GetMemoryChunkContext(site),
								 "neardup lexicon", ALLOCSET_DEFAULT_SIZES);
}

/* The view of a lexicon that stands in memory as it is. */
static LexiconView *
view_in_place(Site *site, const Lexicon *lexicon)
{
	if (site->view != NULL && view_is_of(site->view, lexicon))
		view_move(site->view, lexicon);
	else
		site->view = view_create(replace_view(site), lexicon);
	site->stored = false;
	return site->view;
}

/*
 * The view of a lexicon that is stored out of line.  The same pointer stands
 * for the same value as long as the query runs.
 */
static LexiconView *
view_of_stored(Site *site, struct varlena *attr)
{
	struct varatt_external pointer;
	MemoryContext context;
	MemoryContext old;

	VARATT_EXTERNAL_GET_POINTER(pointer, attr);
	if (site->view != NULL && site->stored &&
		memcmp(&site->pointer, &pointer, sizeof(pointer)) == 0)
		return site->view;
	context = replace_view(site);
	old = MemoryContextSwitchTo(context);
	site->view = view_create(context, (Lexicon *) detoast_attr(attr));
	MemoryContextSwitchTo(old);
	site->pointer = pointer;
	site->stored = true;
	return site->view;
}

LexiconView *
site_lexicon(Site *site, FunctionCallInfo fcinfo, int n)
{
	struct varlena *attr = (struct varlena *) PG_GETARG_POINTER(n);

	if (VARATT_IS_EXTERNAL_ONDISK(attr))
		return view_of_stored(site, attr);
	return view_in_place(site, PG_GETARG_LEXICON(n));
}
