/*
 * lexicon_agg.c
 *		The aggregate that makes a lexicon of documents, and the one that adds
 *		lexicons up.
 */
#include "postgres.h"

#include "fmgr.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

#include "base/call.h"
#include "base/compat.h"
#include "base/input.h"
#include "lexicon/lexicon.h"
#include "document/doc_context.h"

PG_FUNCTION_INFO_V1(lexicon_agg_add);
PG_FUNCTION_INFO_V1(shingle_lexicon_agg_add);
PG_FUNCTION_INFO_V1(lexicon_agg_add_lexicon);
PG_FUNCTION_INFO_V1(lexicon_agg_combine);
PG_FUNCTION_INFO_V1(lexicon_agg_final);

#define DEFAULT_MAX_WORDS	1000000

/*
 * The state of the aggregates: a bytea, of max_words and what has been counted
 * as the bytes of a lexicon.
 */
typedef struct LexiconState
{
	ExpandedObjectHeader header;
	Counts	   *counts;
	int64		max_words;
	SignatureSpec spec;			/* of the words */
	uint8		reading;		/* READING_... */
} LexiconState;

#define LEXICON_AT	sizeof(int64)	/* after max_words */

static Size
state_size(ExpandedObjectHeader *header)
{
	LexiconState *state = (LexiconState *) header;

	return state_flat_size("lexicon_agg", LEXICON_AT +
						   LEXICON_BYTES_SIZE(counts_nwords(state->counts)));
}

static void
state_flatten(ExpandedObjectHeader *header, void *result, Size size)
{
	LexiconState *state = (LexiconState *) header;
	MemoryContext old = MemoryContextSwitchTo(header->eoh_context);
	Lexicon    *lexicon = counts_lexicon(state->counts, &state->spec,
										 state->reading);

	lexicon_swap(lexicon);
	SET_VARSIZE(result, size);
	memcpy(VARDATA(result), &state->max_words, LEXICON_AT);
	memcpy(VARDATA(result) + LEXICON_AT, LEXICON_BYTES(lexicon),
		   size - VARHDRSZ - LEXICON_AT);
	pfree(lexicon);
	MemoryContextSwitchTo(old);
}

static const ExpandedObjectMethods state_methods = {state_size, state_flatten};

static LexiconState *
create_state(FunctionCallInfo fcinfo, const SignatureSpec *spec, uint8 reading,
			 int64 max_words)
{
	LexiconState *state;
	MemoryContext old;

	argument_whole("max_words", max_words, 1, LEXICON_MAX_WORDS);
	state = state_create(fcinfo, &state_methods, sizeof(LexiconState));
	old = MemoryContextSwitchTo(state->header.eoh_context);
	state->counts = counts_create(max_words);
	state->max_words = max_words;
	state->spec = *spec;
	state->reading = reading;
	MemoryContextSwitchTo(old);
	return state;
}

/* Adds a lexicon to a state, which is made if it is NULL. */
static LexiconState *
add_lexicon(FunctionCallInfo fcinfo, LexiconState *state,
			const Lexicon *lexicon, int64 max_words)
{
	SignatureSpec spec;

	lexicon_spec(lexicon, &spec);
	if (state == NULL)
		state = create_state(fcinfo, &spec, lexicon->reading, max_words);
	words_require_same(&state->spec, &spec);
	state->reading |= lexicon->reading;
	counts_add_lexicon(state->counts, lexicon);
	return state;
}

/* Adds a flat state to one in memory, which is made if it is NULL. */
static LexiconState *
add_flat(FunctionCallInfo fcinfo, LexiconState *state, const bytea *flat)
{
	size_t		size = VARSIZE_ANY_EXHDR(flat);
	Lexicon    *lexicon;
	int64		max_words;

	if (size < LEXICON_AT)
		input_bad_bytes("state of lexicon_agg()", "It is cut off.");
	memcpy(&max_words, VARDATA_ANY(flat), LEXICON_AT);
	lexicon = lexicon_from_bytes(VARDATA_ANY(flat) + LEXICON_AT,
								 size - LEXICON_AT);
	state = add_lexicon(fcinfo, state, lexicon, max_words);
	pfree(lexicon);
	return state;
}

/* Argument 0 to be changed; NULL if it is null. */
static LexiconState *
get_state(FunctionCallInfo fcinfo)
{
	LexiconState *state = state_to_change(fcinfo, &state_methods);

	if (state == NULL && !PG_ARGISNULL(0))
		state = add_flat(fcinfo, NULL, PG_GETARG_BYTEA_PP(0));
	return state;
}

static void
refuse_other(const LexiconState *state, const DocContext *doccxt, int64 max_words)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("analysis and max_words must be the same for all documents of a lexicon"),
			 errdetail("One document has \"%s%s\" and %lld, another one \"%s%s\" and %lld.",
					   words_name(&state->spec), analysis_reading(state->reading),
					   (long long) state->max_words,
					   words_name(&doccxt->words),
					   analysis_reading(doccxt->analysis->reading),
					   (long long) max_words),
			 errhint("Make a lexicon of each, as with GROUP BY.")));
}

/*
 * The state that a document is to be added to.  Raises an error where the
 * document's analysis or max_words is not that of the ones before.
 */
static LexiconState *
state_for_document(FunctionCallInfo fcinfo, const DocContext *doccxt,
				   int64 max_words)
{
	LexiconState *state = get_state(fcinfo);

	if (state == NULL)
		return create_state(fcinfo, &doccxt->words, doccxt->analysis->reading,
							max_words);
	if (!spec_equal(&state->spec, &doccxt->words) ||
		state->reading != doccxt->analysis->reading ||
		state->max_words != max_words)
		refuse_other(state, doccxt, max_words);
	return state;
}

static void
add_document(DocContext *doccxt, LexiconState *state, const text *doc)
{
	size_t		len;
	const char *utf8;
	Sequence	sequence;

	if (doccxt->of_shingles)
	{
		sequence = doc_context_sequence(doccxt, doc);
		counts_add_shingles(state->counts, sequence.shingles,
							sequence.nshingles);
		return;
	}
	utf8 = text_as_utf8(doc, &len);
	counts_add_document(state->counts, doc_context_reader(doccxt), utf8, len);
}

static void
refuse_nulls(FunctionCallInfo fcinfo, const DocContext *doccxt)
{
	for (int i = 1; i < PG_NARGS(); i++)
	{
		if (PG_ARGISNULL(i))
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					 errmsg("%s and max_words must not be null",
							doccxt->configured ? "configuration" : "analysis")));
	}
}

/* The transition; the document context is ready to read. */
static Datum
add_argument(FunctionCallInfo fcinfo, DocContext *doccxt)
{
	LexiconState *state = state_for_document(fcinfo, doccxt, PG_NARGS() > 3 ?
											 PG_GETARG_INT32(3) :
											 DEFAULT_MAX_WORDS);

	add_document(doccxt, state, DOC_CONTEXT_GETARG_TEXT(doccxt, 1));
	PG_RETURN_STATE(state);
}

/*
 * (state bytea, doc text [, analysis text [, max_words int]]), or
 * (state bytea, config regconfig, doc text [, max_words int])
 */
Datum
lexicon_agg_add(PG_FUNCTION_ARGS)
{
	DocContext *doccxt = doc_context_of_aggregate(fcinfo, 2);

	if (PG_ARGISNULL(doc_context_argument(doccxt, 1)))
		return call_unchanged_state(fcinfo);
	refuse_nulls(fcinfo, doccxt);
	doc_context_read(doccxt, fcinfo, READS_WORDS);
	return add_argument(fcinfo, doccxt);
}

/* (state bytea, doc text, analysis text [, max_words int]) */
Datum
shingle_lexicon_agg_add(PG_FUNCTION_ARGS)
{
	DocContext *doccxt = doc_context_of_aggregate(fcinfo, 2);

	if (PG_ARGISNULL(1))
		return call_unchanged_state(fcinfo);
	refuse_nulls(fcinfo, doccxt);
	doc_context_read(doccxt, fcinfo, READS_SHINGLES);
	if (spec_is_of_words(&doccxt->words))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("shingles of one word are words"),
				 errhint("Count them with lexicon_agg(), or give another k.")));
	return add_argument(fcinfo, doccxt);
}

/* Adds lexicons up, without a bound but that of a datum. */
Datum
lexicon_agg_add_lexicon(PG_FUNCTION_ARGS)
{
	if (PG_ARGISNULL(1))
		return call_unchanged_state(fcinfo);
	PG_RETURN_STATE(add_lexicon(fcinfo, get_state(fcinfo),
								PG_GETARG_LEXICON(1), LEXICON_MAX_WORDS));
}

/* The state of another process, which is flat, is added to this one. */
Datum
lexicon_agg_combine(PG_FUNCTION_ARGS)
{
	if (PG_ARGISNULL(1))
		return call_unchanged_state(fcinfo);
	PG_RETURN_STATE(add_flat(fcinfo, get_state(fcinfo),
							 PG_GETARG_BYTEA_PP(1)));
}

Datum
lexicon_agg_final(PG_FUNCTION_ARGS)
{
	LexiconState *state = state_to_read(fcinfo, &state_methods);

	if (state == NULL)
		state = add_flat(fcinfo, NULL, PG_GETARG_BYTEA_PP(0));
	PG_RETURN_LEXICON(counts_lexicon(state->counts, &state->spec,
									 state->reading));
}
