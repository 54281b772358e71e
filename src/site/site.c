/*
 * site.c
 *		What a call site of a function that takes a document keeps: what reads
 *		its documents, and the lexicon.
 *
 * What an analysis needs (tables, a stemmer, buffers) is made once per call
 * site and kept with it, in a memory context of its own, for as long as the
 * arguments that say how to analyse stay the same.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/site/site.c
 */
#include "postgres.h"

#include "access/detoast.h"
#include "catalog/namespace.h"
#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "base/compat.h"
#include "base/state.h"
#include "site/recorded_versions.h"
#include "site/site.h"
#include "text/analysis.h"

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

/*
 * Tells the form of the function that is called, whose arguments have these
 * types, where the analysis is argument `analysis` of the first form.
 */
static void
find_form(Site *site, const Oid *types, int ntypes, int analysis)
{
	int			second;
	bool		found;

	site->first = ntypes > 0 && types[0] == BYTEAOID ? 1 : 0;
	second = site->first + 1;
	site->configured = ntypes > site->first &&
		types[site->first] == REGCONFIGOID;
	site->has_k = site->configured || ntypes > analysis;
	found = analysis < ntypes && types[analysis] == TEXTOID;
	site->moved = site->moved_end = analysis;
	site->analysis_at = -1;
	if (site->configured)
		site->moved = site->first;
	else if (found)
		site->analysis_at = analysis;
	else if (second < ntypes && types[second] == TEXTOID)
		site->analysis_at = site->moved = second;
	else if (second < ntypes && types[ntypes - 1] == TEXTOID)
		site->analysis_at = ntypes - 1;
}

static Site *
create_site(const FmgrInfo *flinfo, MemoryContext context, int analysis)
{
	Site	   *site = MemoryContextAllocZero(context, sizeof(Site));
	Oid		   *types;
	int			ntypes;

	get_func_signature(flinfo->fn_oid, &types, &ntypes);
	find_form(site, types, ntypes, analysis);
	pfree(types);
	site->callback.func = release_shared;
	site->callback.arg = site;
	MemoryContextRegisterResetCallback(context, &site->callback);
	site->context = AllocSetContextCreate(context, "neardup reader",
										  ALLOCSET_DEFAULT_SIZES);
	recorded_versions_check(flinfo->fn_oid);
	return site;
}

Site *
site_get(FunctionCallInfo fcinfo, int analysis)
{
	FmgrInfo   *flinfo = fcinfo->flinfo;

	if (flinfo->fn_extra == NULL)
		flinfo->fn_extra = create_site(flinfo, flinfo->fn_mcxt, analysis);
	return flinfo->fn_extra;
}

/*
 * The site that is kept in that memory context for that call of an aggregate,
 * found by what frees it; or NULL.
 */
static Site *
find_site(MemoryContext context, const void *call)
{
	for (MemoryContextCallback *callback = context->reset_cbs;
		 callback != NULL; callback = callback->next)
	{
		if (callback->func == release_shared &&
			((Site *) callback->arg)->call == call)
			return callback->arg;
	}
	return NULL;
}

/*
 * Such an engine looks the function up in every row, in memory of the row;
 * PostgreSQL does once, in memory of the query.
 */
Site *
site_of_aggregate(FunctionCallInfo fcinfo, int analysis)
{
	FmgrInfo   *flinfo = fcinfo->flinfo;
	const void *call = NULL;
	MemoryContext context;
	Site	   *site;

	if (flinfo->fn_extra == NULL && flinfo->fn_mcxt == CurrentMemoryContext)
		call = AggGetAggref(fcinfo);
	if (call == NULL)
		return site_get(fcinfo, analysis);
	context = state_context(fcinfo);
	site = find_site(context, call);
	if (site == NULL)
	{
		site = create_site(flinfo, context, analysis);
		site->call = call;
	}
	return site;
}

/* Making ready */

/* Forgets what reads and all that it was made for. */
static void
reset_site(Site *site)
{
	site->analysis = NULL;
	site->reader = NULL;
	site->shingler = NULL;
	site->sequence = NULL;
	site->kept = NULL;
	site->said = NULL;
	site->config = InvalidOid;
	MemoryContextReset(site->context);
}

/*
 * Refuses f('english', 'some text'), where f(document, analysis) is meant: the
 * arguments stand as for to_tsvector(), but without a type the first one is
 * the document.  To be called where an analysis is parsed.  A document that is
 * longer than a name is not fetched for that.
 */
static void
refuse_swapped(Datum doc, const text *analysis)
{
	static const char space[] = " \t\r\n\v\f";
	char	   *first = text_to_cstring(analysis);
	char	   *name;

	first += strspn(first, space);
	first[strcspn(first, space)] = '\0';

	/*
	 * A configuration is looked for only where an error is certain: the
	 * server remembers every name that it has looked for in vain.
	 */
	if (toast_raw_datum_size(doc) - VARHDRSZ >= NAMEDATALEN ||
		first[0] == '\0' || analysis_knows_word(first, strlen(first)))
		return;
	name = TextDatumGetCString(doc);
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
				 errhint("Say it once, in the analysis or beside it.")));
	analysis_set_k(analysis, k);
}

/*
 * Changes an analysis to the words that are to be read, alone or by sentences.
 */
static void
use_words(Site *site, Analysis *analysis, Reads reads)
{
	Making	   *making = &analysis->making;

	if (making->unit == UNIT_CHAR)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("analysis says \"unit=char\" where words are wanted"),
				 errhint("Leave it out.")));
	/* the statistics of a collection may take the analysis of its shingles */
	if (analysis->has_k && making->k != 1 && site->first == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("analysis says \"k=%d\" where words are taken one by one",
						making->k),
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
}

/* Makes the site, which has been reset, ready to read. */
static void
use_analysis(Site *site, Analysis *analysis, Reads reads, int k)
{
	site->of_shingles = reads == READS_SHINGLES || reads == READS_CHARS ||
		(reads == READS_TERMS && !making_is_of_words(&analysis->making));
	if (site->of_shingles)
	{
		if (reads == READS_CHARS)
			analysis_set_unit(analysis, UNIT_CHAR);
		apply_k(analysis, k);
		site->words = site->making = analysis->making;
		site->making.method = METHOD_SHINGLES;
		site->making.width = 64;
	}
	else
		use_words(site, analysis, reads == READS_TERMS ? READS_WORDS : reads);
	site->k = k;
	site->analysis = analysis;
}

/*
 * Ready for an analysis that is a text, NULL if none is said.  In every row:
 * the document, which may be compressed, is not opened here.
 */
static void
read_said(Site *site, Datum doc, const text *said, Reads reads, int k)
{
	const char *bytes = said != NULL ? VARDATA_ANY(said) : "";
	size_t		len = said != NULL ? VARSIZE_ANY_EXHDR(said) : 0;
	MemoryContext old;

	if (site->analysis != NULL && site->said != NULL && site->k == k &&
		site->said_len == len && memcmp(site->said, bytes, len) == 0)
		return;
	if (said != NULL)
		refuse_swapped(doc, said);
	reset_site(site);
	old = MemoryContextSwitchTo(site->context);
	use_analysis(site, analysis_parse(bytes, len, NULL), reads, k);
	site->said = pnstrdup(bytes, len);
	site->said_len = len;
	MemoryContextSwitchTo(old);
}

/* Ready for a text-search configuration. */
static void
read_config(Site *site, Oid config, Reads reads, int k)
{
	MemoryContext old;

	if (site->analysis != NULL && site->config == config && site->k == k)
		return;
	reset_site(site);
	old = MemoryContextSwitchTo(site->context);
	use_analysis(site, analysis_of_config(config), reads, k);
	site->config = config;
	MemoryContextSwitchTo(old);
}

void
site_read_shingles(Site *site, FunctionCallInfo fcinfo, Reads reads, int k)
{
	if (site->configured)
		read_config(site, PG_GETARG_OID(site->first), reads, k);
	else
		read_said(site, PG_GETARG_DATUM(site->first),
				  site->analysis_at >= 0 ? PG_GETARG_TEXT_PP(site->analysis_at) :
				  NULL,
				  reads, k);
}

void
site_read(Site *site, FunctionCallInfo fcinfo, Reads reads)
{
	site_read_shingles(site, fcinfo, reads, 0);
}

void
site_read_analysis(Site *site, Datum doc, const text *analysis, Reads reads)
{
	read_said(site, doc, analysis, reads, 0);
}

/* A lexicon is of words or of shingles; what reads wants one or the other. */
static void
require_kind(const Making *making, Reads reads)
{
	bool		words = making_is_of_words(making);

	if (reads == READS_TERMS || words == (reads != READS_SHINGLES))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_DATATYPE_MISMATCH),
			 errmsg("lexicon is of %s, not of %s", words ? "words" : "shingles",
					words ? "shingles" : "words"),
			 errdetail("Its analysis is \"%s\".", words_name(making)),
			 words ? errhint("Make one with shingle_lexicon_agg().") :
			 errhint("Make one with lexicon_agg().")));
}

void
site_read_as_lexicon(Site *site, const Lexicon *lexicon, Reads reads)
{
	MemoryContext old;
	Analysis   *analysis;
	Making		making;

	lexicon_making(lexicon, &making);
	if (site->analysis != NULL && site->said == NULL &&
		!OidIsValid(site->config) && site->flags == lexicon->flags &&
		making_equal(&site->words, &making))
		return;
	if (making.filters & FILTER_CONFIG)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("lexicon was made with a text search configuration, whose name it does not hold"),
				 errhint("Give the same configuration as first argument.")));
	require_kind(&making, reads);
	reset_site(site);
	old = MemoryContextSwitchTo(site->context);
	analysis = palloc0(sizeof(Analysis));
	analysis->making = making;
	analysis->markup = (lexicon->flags & LEXICON_MARKUP) != 0;
	use_analysis(site, analysis, reads, 0);
	site->flags = lexicon->flags;
	MemoryContextSwitchTo(old);
}

void
site_read_for_lexicon(Site *site, FunctionCallInfo fcinfo,
					  const Lexicon *lexicon, Reads reads)
{
	if (!site->configured &&
		VARSIZE_ANY_EXHDR(PG_GETARG_TEXT_PP(site->analysis_at)) == 0)
	{
		site_read_as_lexicon(site, lexicon, reads);
		return;
	}
	site_read(site, fcinfo, reads);
	lexicon_require_making(lexicon, &site->words);
}

/* Reading */

/* Shingles that are chosen or counted as they stand cannot be numbered. */
static void
refuse_numbered(const Site *site)
{
	if (site->making.filters & FILTER_REPEATS)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("analysis says \"repeats=number\" where shingles are selected or counted"),
				 errhint("Leave it out.")));
}

Reader *
site_reader(Site *site)
{
	if (site->reader == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(site->context);
		Analysis	analysis = *site->analysis;

		if (site->of_shingles)
		{
			refuse_numbered(site);
			analysis.making.unit = UNIT_WORD;
		}
		site->reader = reader_create(&analysis);
		MemoryContextSwitchTo(old);
	}
	return site->reader;
}

void
site_begin(Site *site, const text *doc)
{
	size_t		len;
	const char *utf8 = text_as_utf8(doc, &len);

	reader_begin(site_reader(site), utf8, len);
}

const uint64 *
site_set(Site *site, const text *doc, bool rising, size_t *n)
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

Sequence
site_sequence(Site *site, const text *doc)
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
	struct varlena *attr;

	n = site_argument(site, n);
	attr = (struct varlena *) PG_GETARG_POINTER(n);
	if (VARATT_IS_EXTERNAL_ONDISK(attr))
		return view_of_stored(site, attr);
	return view_in_place(site, PG_GETARG_LEXICON(n));
}
