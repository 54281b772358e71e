/*
 * doc_context.c
 *		The state of a call site of a function of documents: readers and
 *		lexicon.
 *
 * Tables, stemmer and buffers of an analysis are made once per call site and
 * kept in a separate memory context, until the arguments about the analysis
 * change.
 */
#include "postgres.h"

#include "access/detoast.h"
#include "catalog/namespace.h"
#include "catalog/pg_type.h"
#include "common/string.h"
#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "base/call.h"
#include "base/compat.h"
#include "document/recorded_versions.h"
#include "document/doc_context.h"
#include "text/analysis.h"

/*
 * Release the view; also called when the document context's memory is freed.
 */
static void
drop_view(void *arg)
{
	DocContext *doccxt = arg;

	if (doccxt->view != NULL)
		view_release(doccxt->view);
	doccxt->view = NULL;
	doccxt->stored = false;
}

/*
 * Determine the form of the called function, whose arguments have these types;
 * the analysis is argument `analysis` of the first form.
 */
static void
find_form(DocContext *doccxt, const Oid *types, int ntypes, int analysis)
{
	Assert(analysis >= 0);
	doccxt->first = ntypes > 0 && types[0] == BYTEAOID ? 1 : 0;
	doccxt->configured = ntypes > doccxt->first &&
		types[doccxt->first] == REGCONFIGOID;
	doccxt->has_k = doccxt->configured || ntypes > analysis;
	doccxt->analysis_arg = analysis;
	doccxt->analysis_at = -1;
	if (doccxt->configured)
		return;
	if (analysis < ntypes && types[analysis] == TEXTOID)
		doccxt->analysis_at = analysis;
	else if (doccxt->first + 1 < ntypes && types[ntypes - 1] == TEXTOID)
		doccxt->analysis_at = ntypes - 1;
}

/* Make a document context for a function, owned by a memory context. */
static DocContext *
create_doc_context(const FmgrInfo *flinfo, MemoryContext context, int analysis)
{
	DocContext *doccxt = MemoryContextAllocZero(context, sizeof(DocContext));
	Oid		   *types;
	int			ntypes;

	get_func_signature(flinfo->fn_oid, &types, &ntypes);
	find_form(doccxt, types, ntypes, analysis);
	pfree(types);
	doccxt->callback.func = drop_view;
	doccxt->callback.arg = doccxt;
	MemoryContextRegisterResetCallback(context, &doccxt->callback);
	doccxt->context = AllocSetContextCreate(context, "neardup reader",
											ALLOCSET_DEFAULT_SIZES);
	recorded_versions_check();
	return doccxt;
}

DocContext *
doc_context_get(FunctionCallInfo fcinfo, int analysis)
{
	FmgrInfo   *flinfo = fcinfo->flinfo;

	if (flinfo->fn_extra == NULL)
		flinfo->fn_extra = create_doc_context(flinfo, flinfo->fn_mcxt,
											  analysis);
	return flinfo->fn_extra;
}

/*
 * Return the document context of an aggregate's call in a memory context,
 * found by its callback, or NULL.
 */
static DocContext *
find_doc_context(MemoryContext context, const void *call)
{
	for (MemoryContextCallback *callback = context->reset_cbs;
		 callback != NULL; callback = callback->next)
	{
		if (callback->func == drop_view &&
			((DocContext *) callback->arg)->call == call)
			return callback->arg;
	}
	return NULL;
}

/*
 * Return the document context of an aggregate's call.  PostgreSQL looks a
 * function up once, in memory of the query.  Other engines look it up for
 * every row, in memory of the row: then the context of the states owns the
 * document context.
 */
static DocContext *
get_of_aggregate(FunctionCallInfo fcinfo)
{
	FmgrInfo   *flinfo = fcinfo->flinfo;
	const void *call = NULL;
	MemoryContext context;
	DocContext *doccxt;

	if (flinfo->fn_extra == NULL && flinfo->fn_mcxt == CurrentMemoryContext)
		call = AggGetAggref(fcinfo);
	if (call == NULL)
		return doc_context_get(fcinfo, 2);
	context = state_context(fcinfo);
	doccxt = find_doc_context(context, call);
	if (doccxt == NULL)
	{
		doccxt = create_doc_context(flinfo, context, 2);
		doccxt->call = call;
	}
	return doccxt;
}

DocContext *
doc_context_of_aggregate(FunctionCallInfo fcinfo, const char *what,
						 Reads reads)
{
	DocContext *doccxt = get_of_aggregate(fcinfo);

	if (PG_ARGISNULL(doc_context_argument(doccxt, 1)))
		return NULL;
	for (int i = 1; i < PG_NARGS(); i++)
	{
		if (PG_ARGISNULL(i))
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					 errmsg("%s and %s must not be null",
							doccxt->configured ? "configuration" : "analysis",
							what)));
	}
	doc_context_read(doccxt, fcinfo, reads, 0);
	return doccxt;
}

/* Preparation */

/* Free the reader, the shingler and their arguments. */
static void
reset_doc_context(DocContext *doccxt)
{
	doccxt->analysis = NULL;
	doccxt->reader = NULL;
	doccxt->shingler = NULL;
	doccxt->kept = NULL;
	doccxt->said = NULL;
	doccxt->config = InvalidOid;
	MemoryContextReset(doccxt->context);
}

/*
 * Refuse f('english', 'some text') instead of f(document, analysis): the
 * arguments are in the order of to_tsvector(), but without a type the first
 * one is the document.  Called before an analysis is parsed.  A document that
 * is longer than a name is not fetched.
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
	 * Configurations are looked up only where an error is certain: the server
	 * caches every name that it has not found.
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
 * Set the shingle size, unless it is 0; an analysis with another size is an
 * error.
 */
static void
apply_k(Analysis *analysis, int k)
{
	if (k == 0)
		return;
	if (analysis->has_k && analysis->spec.k != k)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("shingle size is %d, but analysis says \"k=%d\"",
						k, analysis->spec.k),
				 errhint("Say it once, in the analysis or beside it.")));
	analysis_set_k(analysis, k);
}

/* Change an analysis so that words are read, alone or by sentences. */
static void
use_words(DocContext *doccxt, Analysis *analysis, Reads reads)
{
	SignatureSpec *spec = &analysis->spec;

	if (spec->unit == UNIT_CHAR || spec->unit == UNIT_LETTER)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("analysis says \"unit=%s\" where words are wanted",
						spec->unit == UNIT_CHAR ? "char" : "letter"),
				 errhint("Leave it out.")));
	/* aggregates of a collection accept the analysis of its shingles */
	if (analysis->has_k && spec->k != 1 && doccxt->first == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("analysis says \"k=%d\" where words are taken one by one",
						spec->k),
				 errhint("Leave it out.")));
	analysis_set_k(analysis, 1);
	doccxt->words = *spec;
	spec_of_words(&doccxt->words);
	if (reads == READS_WORDS)
		*spec = doccxt->words;
	else
	{
		if (spec->unit != UNIT_LINE)
			spec->unit = UNIT_SENTENCE;
		if (reads == READS_SENTENCES)
			spec->order = ORDER_KEEP;
		analysis_rehash(spec);
	}
	/* a lexicon counts repeated words and does not number them */
	doccxt->words.filters &= ~FILTER_REPEATS;
	analysis_rehash(&doccxt->words);
}

/* Prepare the document context, which has been reset, for an analysis. */
static void
use_analysis(DocContext *doccxt, Analysis *analysis, Reads reads, int k)
{
	Assert(doccxt->analysis == NULL);
	doccxt->of_shingles = reads == READS_SHINGLES || reads == READS_CHARS ||
		(reads == READS_TERMS && !spec_is_of_words(&analysis->spec));
	if (doccxt->of_shingles)
	{
		if (reads == READS_CHARS)
			analysis->spec.unit = UNIT_CHAR;
		analysis_rehash(&analysis->spec);
		apply_k(analysis, k);
		doccxt->words = doccxt->spec = analysis->spec;
		doccxt->spec.method = METHOD_SHINGLES;
		doccxt->spec.width = 64;
	}
	else
		use_words(doccxt, analysis, reads == READS_TERMS ? READS_WORDS :
				  reads);
	doccxt->k = k;
	doccxt->analysis = analysis;
}

/*
 * Prepare the document context for an analysis that is a text, or NULL. Called
 * in every row, so it does not detoast the document.
 */
static void
read_said(DocContext *doccxt, Datum doc, const text *said, Reads reads, int k)
{
	const char *bytes = said != NULL ? VARDATA_ANY(said) : "";
	size_t		len = said != NULL ? VARSIZE_ANY_EXHDR(said) : 0;
	MemoryContext old;

	if (doccxt->analysis != NULL && doccxt->said != NULL && doccxt->k == k &&
		doccxt->said_len == len && memcmp(doccxt->said, bytes, len) == 0)
		return;
	if (said != NULL)
		refuse_swapped(doc, said);
	reset_doc_context(doccxt);
	old = MemoryContextSwitchTo(doccxt->context);
	use_analysis(doccxt, analysis_parse(bytes, len, NULL), reads, k);
	doccxt->said = pnstrdup(bytes, len);
	doccxt->said_len = len;
	MemoryContextSwitchTo(old);
}

/* Prepare the document context for a text-search configuration. */
static void
read_config(DocContext *doccxt, Oid config, Reads reads, int k)
{
	MemoryContext old;

	if (doccxt->analysis != NULL && doccxt->config == config && doccxt->k == k)
		return;
	reset_doc_context(doccxt);
	old = MemoryContextSwitchTo(doccxt->context);
	use_analysis(doccxt, analysis_of_config(config), reads, k);
	doccxt->config = config;
	MemoryContextSwitchTo(old);
}

void
doc_context_read(DocContext *doccxt, FunctionCallInfo fcinfo, Reads reads,
				 int k)
{
	if (doccxt->configured)
		read_config(doccxt, PG_GETARG_OID(doccxt->first), reads, k);
	else
		read_said(doccxt, PG_GETARG_DATUM(doccxt->first),
				  doccxt->analysis_at >= 0 ?
				  PG_GETARG_TEXT_PP(doccxt->analysis_at) :
				  NULL,
				  reads, k);
}

void
doc_context_read_analysis(DocContext *doccxt, Datum doc, const text *analysis,
						  Reads reads)
{
	read_said(doccxt, doc, analysis, reads, 0);
}

/*
 * Refuse a lexicon of shingles where words are read, and the other way round.
 */
static void
require_kind(const SignatureSpec *spec, Reads reads)
{
	bool		words = spec_is_of_words(spec);

	if (reads == READS_TERMS || words == (reads != READS_SHINGLES))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_DATATYPE_MISMATCH),
			 errmsg("lexicon is of %s, not of %s", words ? "words" :
					"shingles",
					words ? "shingles" : "words"),
			 errdetail("Its analysis is \"%s\".", words_name(spec, 0)),
			 words ? errhint("Make one with shingle_lexicon_agg().") :
			 errhint("Make one with lexicon_agg().")));
}

void
doc_context_read_as_lexicon(DocContext *doccxt, const Lexicon *lexicon,
							Reads reads)
{
	MemoryContext old;
	Analysis   *analysis;
	SignatureSpec spec = lexicon_spec(lexicon);

	if (doccxt->analysis != NULL && doccxt->said == NULL &&
		!OidIsValid(doccxt->config) && doccxt->reading == lexicon->reading &&
		spec_equal(&doccxt->words, &spec))
		return;
	if (spec.filters & FILTER_CONFIG)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("lexicon was made with a text search configuration, whose name it does not hold"),
				 errhint("Give the same configuration as first argument.")));
	require_kind(&spec, reads);
	reset_doc_context(doccxt);
	old = MemoryContextSwitchTo(doccxt->context);
	analysis = palloc0(sizeof(Analysis));
	analysis->spec = spec;
	analysis->reading = lexicon->reading;
	use_analysis(doccxt, analysis, reads, 0);
	doccxt->reading = lexicon->reading;
	MemoryContextSwitchTo(old);
}

void
doc_context_read_for_lexicon(DocContext *doccxt, FunctionCallInfo fcinfo,
							 const Lexicon *lexicon, Reads reads)
{
	if (!doccxt->configured &&
		VARSIZE_ANY_EXHDR(PG_GETARG_TEXT_PP(doccxt->analysis_at)) == 0)
	{
		doc_context_read_as_lexicon(doccxt, lexicon, reads);
		return;
	}
	doc_context_read(doccxt, fcinfo, reads, 0);
	lexicon_require_spec(lexicon, &doccxt->words);
}

/* Reading */

/* Refuse repeats=number for shingles that are selected or counted. */
static void
refuse_numbered(const DocContext *doccxt)
{
	if (doccxt->spec.filters & FILTER_REPEATS)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("analysis says \"repeats=number\" where shingles are selected or counted"),
				 errhint("Leave it out.")));
}

Reader *
doc_context_reader(DocContext *doccxt)
{
	Assert(doccxt->analysis != NULL);
	if (doccxt->reader == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(doccxt->context);
		Analysis	analysis = *doccxt->analysis;

		if (doccxt->of_shingles)
		{
			refuse_numbered(doccxt);
			analysis.spec.unit = UNIT_WORD;
		}
		doccxt->reader = reader_create(&analysis);
		MemoryContextSwitchTo(old);
	}
	return doccxt->reader;
}

void
doc_context_begin(DocContext *doccxt, const text *doc)
{
	size_t		len;
	const char *utf8 = text_as_utf8(doc, &len);

	reader_begin(doc_context_reader(doccxt), utf8, len);
}

/* Return the shingler, made at the first call. */
static Shingler *
get_shingler(DocContext *doccxt)
{
	Assert(doccxt->analysis != NULL);
	if (doccxt->shingler == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(doccxt->context);

		doccxt->shingler = shingler_create(doccxt->analysis);
		MemoryContextSwitchTo(old);
	}
	return doccxt->shingler;
}

const uint64 *
doc_context_set(DocContext *doccxt, const text *doc, size_t *n)
{
	size_t		len;
	const char *utf8 = text_as_utf8(doc, &len);

	return shingler_set(get_shingler(doccxt), utf8, len, n);
}

Sequence
doc_context_sequence(DocContext *doccxt, const text *doc)
{
	size_t		len;
	const char *utf8 = text_as_utf8(doc, &len);

	refuse_numbered(doccxt);
	return shingler_sequence(get_shingler(doccxt), utf8, len);
}

/* Lexicons */

/*
 * Return the view of a lexicon that is stored out of line.  While the query
 * runs, equal pointers mean equal values.
 */
static LexiconView *
view_of_stored(DocContext *doccxt, struct varlena *attr)
{
	struct varatt_external pointer;

	VARATT_EXTERNAL_GET_POINTER(pointer, attr);
	if (doccxt->stored &&
		memcmp(&doccxt->pointer, &pointer, sizeof(pointer)) == 0)
		return doccxt->view;
	drop_view(doccxt);
	doccxt->view = view_fetch(attr);
	doccxt->pointer = pointer;
	doccxt->stored = true;
	return doccxt->view;
}

LexiconView *
doc_context_lexicon(DocContext *doccxt, FunctionCallInfo fcinfo, int n)
{
	struct varlena *attr;
	Lexicon    *lexicon;

	n = doc_context_argument(doccxt, n);
	attr = (struct varlena *) PG_GETARG_POINTER(n);
	if (VARATT_IS_EXTERNAL_ONDISK(attr))
		return view_of_stored(doccxt, attr);
	lexicon = PG_GETARG_LEXICON(n);
	if (doccxt->view == NULL || doccxt->stored ||
		!view_is_of(doccxt->view, lexicon))
	{
		drop_view(doccxt);
		doccxt->view = view_create(lexicon);
	}
	doccxt->view->lexicon = lexicon;
	return doccxt->view;
}

/*
 * Words as text
 *
 * A word may have characters that its document has not: folding changes the
 * micro sign, which Latin 1 has, to a Greek mu, and an entity may be any
 * character.  If the database's encoding does not have a character, the word
 * has U+ and its code point instead.  No word has a plus sign.
 */

/*
 * Append a word by a conversion, with code points of the characters that it
 * cannot convert.
 */
static void
append_converted(StringInfo out, Oid conversion, const char *word, size_t len)
{
	size_t		size = (len + 1) * MAX_CONVERSION_GROWTH + 1;
	char	   *part = palloc(size);

	while (len > 0)
	{
		unsigned char *at = (unsigned char *) word;
		size_t		done;

		/* convert up to the first character that cannot be converted */
		done = pg_do_encoding_conversion_buf(conversion, PG_UTF8,
											 GetDatabaseEncoding(), at, len,
											 (unsigned char *) part, size,
											 true);
		appendStringInfoString(out, part);
		if (done < len)
		{
			appendStringInfo(out, "U+%04X",
							 (unsigned int) utf8_to_unicode(at + done));
			done += pg_utf_mblen(at + done);
		}
		word += done;
		len -= done;
	}
	pfree(part);
}

struct varlena *
server_word(const char *word, size_t len)
{
	int			encoding = GetDatabaseEncoding();
	char	   *str = pnstrdup(word, len);
	struct varlena *result;

	if (encoding == PG_UTF8 || encoding == PG_SQL_ASCII || pg_is_ascii(str))
		result = cstring_to_text_with_len(word, len);
	else
	{
		Oid			conversion = FindDefaultConversionProc(PG_UTF8, encoding);
		StringInfoData out;

		if (!OidIsValid(conversion))
			(void) pg_any_to_server(str, len, PG_UTF8); /* raises an error */
		initStringInfo(&out);
		append_converted(&out, conversion, word, len);
		result = cstring_to_text_with_len(out.data, out.len);
		pfree(out.data);
	}
	pfree(str);
	return result;
}
