/*
 * lexicon_agg.c
 *		The aggregate that makes a lexicon of documents, and the one that adds
 *		lexicons up.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/collection/lexicon_agg.c
 */
#include "postgres.h"

#include "fmgr.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

#include "base/arguments.h"
#include "base/call.h"
#include "base/compat.h"
#include "corpus/counts.h"
#include "site/site.h"

PG_FUNCTION_INFO_V1(lexicon_agg_add);
PG_FUNCTION_INFO_V1(shingle_lexicon_agg_add);
PG_FUNCTION_INFO_V1(lexicon_agg_add_lexicon);
PG_FUNCTION_INFO_V1(lexicon_agg_combine);
PG_FUNCTION_INFO_V1(lexicon_agg_serialize);
PG_FUNCTION_INFO_V1(lexicon_agg_deserialize);
PG_FUNCTION_INFO_V1(lexicon_agg_final);

#define DEFAULT_MAX_WORDS	1000000

/* The state of the aggregates. */
typedef struct LexiconState
{
	Counts	   *counts;
	int64		max_words;
	Making		making;			/* of the words */
	bool		markup;
} LexiconState;

static LexiconState *
create_state(MemoryContext context, const Making *making, bool markup,
			 int64 max_words)
{
	MemoryContext old = MemoryContextSwitchTo(context);
	LexiconState *state = palloc(sizeof(LexiconState));

	argument_whole("max_words", max_words, 1, LEXICON_MAX_WORDS);
	state->counts = counts_create(max_words);
	state->max_words = max_words;
	state->making = *making;
	state->markup = markup;
	MemoryContextSwitchTo(old);
	return state;
}

/*
 * The state that a document is to be added to.  Raises an error where the
 * document's analysis or max_words is not that of the ones before.
 */
static LexiconState *
state_for_document(FunctionCallInfo fcinfo, const Site *site,
				   int64 max_words)
{
	MemoryContext context = call_aggregate_context(fcinfo);
	LexiconState *state;

	if (PG_ARGISNULL(0))
		return create_state(context, &site->words, site->analysis->markup,
							max_words);
	state = (LexiconState *) PG_GETARG_POINTER(0);
	if (!making_equal(&state->making, &site->words) ||
		state->markup != site->analysis->markup ||
		state->max_words != max_words)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("analysis and max_words must be the same for all documents of a lexicon")));
	return state;
}

static void
add_document(Site *site, LexiconState *state, const text *doc)
{
	size_t		len;
	const char *utf8;
	Sequence	sequence;

	if (site->of_shingles)
	{
		sequence = site_sequence(site, doc);
		counts_add_shingles(state->counts, sequence.shingles,
							sequence.nshingles);
		return;
	}
	utf8 = text_as_utf8(doc, &len);
	counts_add_document(state->counts, site_reader(site), utf8, len);
}

static void
refuse_nulls(FunctionCallInfo fcinfo, const Site *site)
{
	for (int i = 1; i < PG_NARGS(); i++)
	{
		if (PG_ARGISNULL(i))
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					 errmsg("%s and max_words must not be null",
							site->configured ? "configuration" : "analysis")));
	}
}

/* The transition; the site is ready to read. */
static Datum
add_argument(FunctionCallInfo fcinfo, Site *site)
{
	LexiconState *state = state_for_document(fcinfo, site, PG_NARGS() > 3 ?
											 PG_GETARG_INT32(3) :
											 DEFAULT_MAX_WORDS);

	add_document(site, state, SITE_GETARG_TEXT(site, 1));
	PG_RETURN_POINTER(state);
}

/*
 * (state internal, doc text [, analysis text [, max_words int]]), or
 * (state internal, config regconfig, doc text [, max_words int])
 */
Datum
lexicon_agg_add(PG_FUNCTION_ARGS)
{
	Site	   *site = site_get(fcinfo, 2);

	if (PG_ARGISNULL(site_argument(site, 1)))
		return call_unchanged_state(fcinfo);
	refuse_nulls(fcinfo, site);
	site_read(site, fcinfo, READS_WORDS);
	return add_argument(fcinfo, site);
}

/* (state internal, doc text, analysis text [, max_words int]) */
Datum
shingle_lexicon_agg_add(PG_FUNCTION_ARGS)
{
	Site	   *site = site_get(fcinfo, 2);

	if (PG_ARGISNULL(1))
		return call_unchanged_state(fcinfo);
	refuse_nulls(fcinfo, site);
	site_read(site, fcinfo, READS_SHINGLES);
	if (making_is_of_words(&site->words))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("shingles of one word are words"),
				 errhint("Count them with lexicon_agg(), or give another k.")));
	return add_argument(fcinfo, site);
}

/* Adds lexicons up, without a bound but that of a datum. */
Datum
lexicon_agg_add_lexicon(PG_FUNCTION_ARGS)
{
	Lexicon    *lexicon;
	LexiconState *state;
	Making		making;
	bool		markup;

	if (PG_ARGISNULL(1))
		return call_unchanged_state(fcinfo);
	lexicon = PG_GETARG_LEXICON(1);
	lexicon_making(lexicon, &making);
	markup = (lexicon->flags & LEXICON_MARKUP) != 0;
	if (PG_ARGISNULL(0))
		state = create_state(call_aggregate_context(fcinfo), &making, markup,
							 LEXICON_MAX_WORDS);
	else
		state = (LexiconState *) PG_GETARG_POINTER(0);
	words_require_same(&state->making, &making);
	state->markup |= markup;
	counts_add_lexicon(state->counts, lexicon);
	PG_RETURN_POINTER(state);
}

/* Combining the states of parallel workers */

Datum
lexicon_agg_combine(PG_FUNCTION_ARGS)
{
	MemoryContext context = call_aggregate_context(fcinfo);
	LexiconState *state;
	LexiconState *other;

	if (PG_ARGISNULL(1))
		return call_unchanged_state(fcinfo);
	other = (LexiconState *) PG_GETARG_POINTER(1);
	if (PG_ARGISNULL(0))
		state = create_state(context, &other->making, other->markup,
							 other->max_words);
	else
		state = (LexiconState *) PG_GETARG_POINTER(0);
	words_require_same(&state->making, &other->making);
	state->markup |= other->markup;
	counts_add(state->counts, other->counts);
	PG_RETURN_POINTER(state);
}

/* The state as a bytea: max_words, then a lexicon. */
Datum
lexicon_agg_serialize(PG_FUNCTION_ARGS)
{
	LexiconState *state = (LexiconState *) PG_GETARG_POINTER(0);
	Lexicon    *lexicon = counts_lexicon(state->counts, &state->making,
										 state->markup);
	Size		size = VARHDRSZ + sizeof(int64) + VARSIZE(lexicon);
	bytea	   *bytes;

	if (!AllocSizeIsValid(size))
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("lexicon of %zu words is too large",
						(size_t) LEXICON_NWORDS(lexicon))));
	bytes = palloc(size);
	SET_VARSIZE(bytes, size);
	memcpy(VARDATA(bytes), &state->max_words, sizeof(int64));
	memcpy(VARDATA(bytes) + sizeof(int64), lexicon, VARSIZE(lexicon));
	pfree(lexicon);
	PG_RETURN_BYTEA_P(bytes);
}

Datum
lexicon_agg_deserialize(PG_FUNCTION_ARGS)
{
	bytea	   *bytes = PG_GETARG_BYTEA_PP(0);
	size_t		size = VARSIZE_ANY_EXHDR(bytes) - sizeof(int64);
	Lexicon    *lexicon = palloc(size);
	LexiconState *state;
	Making		making;
	int64		max_words;

	memcpy(&max_words, VARDATA_ANY(bytes), sizeof(int64));
	memcpy(lexicon, VARDATA_ANY(bytes) + sizeof(int64), size);
	lexicon_making(lexicon, &making);
	state = create_state(CurrentMemoryContext, &making,
						 (lexicon->flags & LEXICON_MARKUP) != 0, max_words);
	counts_add_lexicon(state->counts, lexicon);
	pfree(lexicon);
	PG_RETURN_POINTER(state);
}

Datum
lexicon_agg_final(PG_FUNCTION_ARGS)
{
	LexiconState *state;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	state = (LexiconState *) PG_GETARG_POINTER(0);
	PG_RETURN_LEXICON(counts_lexicon(state->counts, &state->making,
									 state->markup));
}
