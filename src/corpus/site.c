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

/*
 * Releases a shared view when the site's memory goes.  A view of the site's own
 * has gone before it.
 */
static void
release_shared(void *arg)
{
	Site	   *site = arg;

	if (site->shared != NULL)
		view_release(site->shared);
	site->shared = NULL;
}

/* Gives up the view that the site has. */
static void
drop_view(Site *site)
{
	if (site->shared != NULL)
		release_shared(site);
	else if (site->view != NULL)
		MemoryContextDelete(site->view->context);
	site->view = NULL;
	site->stored = false;
}

Site *
site_get(FunctionCallInfo fcinfo)
{
	FmgrInfo   *flinfo = fcinfo->flinfo;

	if (flinfo->fn_extra == NULL)
	{
		Site	   *site = MemoryContextAllocZero(flinfo->fn_mcxt,
												  sizeof(Site));

		site->callback.func = release_shared;
		site->callback.arg = site;
		MemoryContextRegisterResetCallback(flinfo->fn_mcxt, &site->callback);
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
site_use_analysis(Site *site, const text *doc, const text *analysis,
				  Reads reads)
{
	const char *bytes = VARDATA_ANY(analysis);
	size_t		len = VARSIZE_ANY_EXHDR(analysis);
	MemoryContext old;

	if (site->reader != NULL && site->said != NULL &&
		site->said_len == len && memcmp(site->said, bytes, len) == 0)
		return;
	document_refuse_swapped(doc, analysis);
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
site_use_lexicon_or(Site *site, const Lexicon *lexicon, const text *doc,
					const text *analysis, Reads reads)
{
	if (VARSIZE_ANY_EXHDR(analysis) == 0)
	{
		site_use_lexicon(site, lexicon, reads);
		return;
	}
	site_use_analysis(site, doc, analysis, reads);
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

/* A context for a view of the site's own. */
static MemoryContext
create_context(Site *site)
{
	return AllocSetContextCreate(GetMemoryChunkContext(site),
								 "neardup lexicon", ALLOCSET_DEFAULT_SIZES);
}

/* The view of a lexicon that stands in memory as it is. */
static LexiconView *
view_in_place(Site *site, const Lexicon *lexicon)
{
	if (site->view != NULL && site->shared == NULL &&
		view_is_of(site->view, lexicon))
		view_move(site->view, lexicon);
	else
	{
		drop_view(site);
		site->view = view_create(create_context(site), lexicon);
	}
	site->stored = false;
	return site->view;
}

/* Fetches a lexicon that is stored out of line and makes a view of it. */
static LexiconView *
fetch_view(Site *site, struct varlena *attr)
{
	MemoryContext context = create_context(site);
	MemoryContext old = MemoryContextSwitchTo(context);
	Lexicon    *lexicon = (Lexicon *) detoast_attr(attr);

	MemoryContextSwitchTo(old);
	return VARSIZE(lexicon) <= VIEW_KEEP ? view_share(context, lexicon) :
		view_create(context, lexicon);
}

/*
 * The view of a lexicon that is stored out of line.  The same pointer stands
 * for the same value as long as the query runs; in another query, the head of
 * the lexicon tells whether it is the one that is kept.
 */
static LexiconView *
view_of_stored(Site *site, struct varlena *attr)
{
	struct varatt_external pointer;
	const Lexicon *header;
	size_t		nwords;

	VARATT_EXTERNAL_GET_POINTER(pointer, attr);
	if (site->view != NULL && site->stored &&
		memcmp(&site->pointer, &pointer, sizeof(pointer)) == 0)
		return site->view;
	drop_view(site);
	header = lexicon_header(PointerGetDatum(attr), &nwords);
	site->view = view_shared(header->id, nwords);
	if (site->view == NULL)
		site->view = fetch_view(site, attr);
	if (site->view->shared)
		site->shared = site->view;
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
