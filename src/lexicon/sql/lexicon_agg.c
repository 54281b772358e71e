/*
 * lexicon_agg.c
 *		Aggregates that make a lexicon of documents, or of lexicons.
 */
#include "postgres.h"

#include "fmgr.h"
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

/* The state; a flat one is max_words and the portable bytes of a lexicon */
typedef struct LexiconState
{
	ExpandedObjectHeader header;
	Counts	   *counts;
} LexiconState;

#define LEXICON_AT	sizeof(int64)	/* place of the lexicon, after max_words */

/* ExpandedObjectMethods.get_flat_size: the size of the flat state. */
static Size
state_size(ExpandedObjectHeader *header)
{
	LexiconState *state = (LexiconState *) header;

	return state_flat_size("lexicon_agg", LEXICON_AT +
						   LEXICON_BYTES_SIZE(state->counts->nwords));
}

/*
 * ExpandedObjectMethods.flatten_into: write max_words and the portable bytes.
 */
static void
state_flatten(ExpandedObjectHeader *header, void *result, Size size)
{
	Counts	   *counts = ((LexiconState *) header)->counts;
	int64		max_words = counts->max_words;
	MemoryContext old = MemoryContextSwitchTo(header->eoh_context);
	Lexicon    *lexicon = counts_lexicon(counts);

	lexicon_swap(lexicon);
	SET_VARSIZE(result, size);
	memcpy(VARDATA(result), &max_words, LEXICON_AT);
	memcpy(VARDATA(result) + LEXICON_AT, LEXICON_BYTES(lexicon),
		   size - VARHDRSZ - LEXICON_AT);
	pfree(lexicon);
	MemoryContextSwitchTo(old);
}

static const ExpandedObjectMethods state_methods = {state_size, state_flatten};

/*
 * Return an empty state for an analysis.  Raises INVALID_PARAMETER_VALUE if
 * max_words is out of range.
 */
static LexiconState *
create_state(FunctionCallInfo fcinfo, const SignatureSpec *spec, uint8 reading,
			 int64 max_words)
{
	LexiconState *state;
	MemoryContext old;

	argument_whole(spec_is_of_words(spec) ? "max_words" : "max_shingles",
				   max_words, 1, LEXICON_MAX_WORDS);
	state = state_create(fcinfo, &state_methods, sizeof(LexiconState));
	old = MemoryContextSwitchTo(state->header.eoh_context);
	state->counts = counts_create(spec, reading, max_words);
	MemoryContextSwitchTo(old);
	return state;
}

/* Add a lexicon to a state, which is created if it is NULL. */
static LexiconState *
add_lexicon(FunctionCallInfo fcinfo, LexiconState *state,
			const Lexicon *lexicon, int64 max_words)
{
	SignatureSpec spec = lexicon_spec(lexicon);

	if (state == NULL)
		state = create_state(fcinfo, &spec, lexicon->reading, max_words);
	counts_add_lexicon(state->counts, lexicon);
	return state;
}

/*
 * Add a flat state, after checking its bytes, to a state, which is created if
 * it is NULL.
 */
static void *
add_flat(FunctionCallInfo fcinfo, void *state, struct varlena *flat)
{
	size_t		size = VARSIZE(flat) - VARHDRSZ;
	Lexicon    *lexicon;
	int64		max_words;

	if (size < LEXICON_AT)
		input_bad_bytes("state of lexicon_agg()", "It is cut off.");
	memcpy(&max_words, VARDATA(flat), LEXICON_AT);
	lexicon = lexicon_from_bytes(VARDATA(flat) + LEXICON_AT,
								 size - LEXICON_AT);
	state = add_lexicon(fcinfo, state, lexicon, max_words);
	pfree(lexicon);
	return state;
}

/*
 * Raise INVALID_PARAMETER_VALUE: the state has another analysis or max_words.
 */
static void
refuse_other(const Counts *counts, const DocContext *doccxt, int64 max_words)
{
	SignatureSpec spec = lexicon_spec(counts->totals);

	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("analysis and max_words must be the same for all documents of a lexicon"),
			 errdetail("One document has \"%s\" and %zu, another one \"%s\" and %lld.",
					   words_name(&spec, counts->totals->reading),
					   counts->max_words,
					   words_name(&doccxt->words, doccxt->analysis->reading),
					   (long long) max_words),
			 errhint("Make a lexicon of each, as with GROUP BY.")));
}

/*
 * Return the counts for the context's documents, and set *state to their
 * state.
 */
static Counts *
get_counts(FunctionCallInfo fcinfo, const DocContext *doccxt,
		   LexiconState **state)
{
	int64		max_words = PG_NARGS() > 3 ? PG_GETARG_INT32(3) :
	DEFAULT_MAX_WORDS;
	uint8		reading = doccxt->analysis->reading;
	SignatureSpec spec;
	Counts	   *counts;

	*state = state_argument(fcinfo, &state_methods, add_flat, true);
	if (*state == NULL)
		*state = create_state(fcinfo, &doccxt->words, reading, max_words);
	counts = (*state)->counts;
	spec = lexicon_spec(counts->totals);
	if (!spec_equal(&spec, &doccxt->words) ||
		counts->totals->reading != reading ||
		(int64) counts->max_words != max_words)
		refuse_other(counts, doccxt, max_words);
	return counts;
}

/*
 * (state bytea, doc text [, analysis text [, max_words int]]), or
 * (state bytea, config regconfig, doc text [, max_words int])
 */
Datum
lexicon_agg_add(PG_FUNCTION_ARGS)
{
	DocContext *doccxt = doc_context_of_aggregate(fcinfo, "max_words",
												  READS_WORDS);
	LexiconState *state;
	Counts	   *counts;
	const char *utf8;
	size_t		len;

	if (doccxt == NULL)
		return call_unchanged_state(fcinfo);
	counts = get_counts(fcinfo, doccxt, &state);
	utf8 = text_as_utf8(DOC_CONTEXT_GETARG_TEXT(doccxt, 1), &len);
	counts_add_document(counts, doc_context_reader(doccxt), utf8, len);
	PG_RETURN_STATE(state);
}

/* (state bytea, doc text, analysis text [, max_words int]) */
Datum
shingle_lexicon_agg_add(PG_FUNCTION_ARGS)
{
	DocContext *doccxt = doc_context_of_aggregate(fcinfo, "max_words",
												  READS_SHINGLES);
	LexiconState *state;
	Counts	   *counts;
	Sequence	sequence;

	if (doccxt == NULL)
		return call_unchanged_state(fcinfo);
	if (spec_is_of_words(&doccxt->words))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("shingles of one word are words"),
				 errhint("Count them with lexicon_agg(), or give another k.")));
	counts = get_counts(fcinfo, doccxt, &state);
	sequence = doc_context_sequence(doccxt, PG_GETARG_TEXT_PP(1));
	counts_add_shingles(counts, sequence.shingles, sequence.nshingles);
	PG_RETURN_STATE(state);
}

/*
 * (state bytea, lexicon): adds a lexicon; the only limit is the size of a
 * datum
 */
Datum
lexicon_agg_add_lexicon(PG_FUNCTION_ARGS)
{
	LexiconState *state;

	if (PG_ARGISNULL(1))
		return call_unchanged_state(fcinfo);
	state = state_argument(fcinfo, &state_methods, add_flat, true);
	PG_RETURN_STATE(add_lexicon(fcinfo, state, PG_GETARG_LEXICON(1),
								LEXICON_MAX_WORDS));
}

/* (state bytea, state bytea): the documents of both */
Datum
lexicon_agg_combine(PG_FUNCTION_ARGS)
{
	return state_combine(fcinfo, &state_methods, add_flat);
}

/* (state bytea): the counts as a lexicon */
Datum
lexicon_agg_final(PG_FUNCTION_ARGS)
{
	LexiconState *state = state_argument(fcinfo, &state_methods, add_flat,
										 false);

	PG_RETURN_LEXICON(counts_lexicon(state->counts));
}
