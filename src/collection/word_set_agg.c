/*
 * word_set_agg.c
 *		The aggregate that builds a set of descriptive words from documents.
 *
 * Building needs every word's share of every document, so it works on a
 * sample: the documents of the smallest hashes, as many as fit.  Once one does
 * not fit, none of a greater hash is taken, so that the same documents are in
 * it whatever order they come in, and however many workers gather them.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/collection/word_set_agg.c
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "funcapi.h"
#include "lib/pairingheap.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/typcache.h"

#include "base/arguments.h"
#include "base/call.h"
#include "base/compat.h"
#include "base/hash.h"
#include "corpus/word_set.h"
#include "site/site.h"

PG_FUNCTION_INFO_V1(word_set_agg_add);
PG_FUNCTION_INFO_V1(word_set_agg_combine);
PG_FUNCTION_INFO_V1(word_set_agg_serialize);
PG_FUNCTION_INFO_V1(word_set_agg_deserialize);
PG_FUNCTION_INFO_V1(word_set_agg_final);

#define MAX_DOCUMENTS	50000	/* in the sample */
#define MAX_OCCURRENCES	10000000	/* of words in documents, in the sample */
#define DEFAULT_WORDS	3000	/* wanted */
#define MAX_WORDS		65535

typedef struct SampleWord
{
	uint64		hash;
	float		share;
} SampleWord;

/* A document of the sample: its words' shares. */
typedef struct SampleDocument
{
	pairingheap_node node;		/* the one of the largest hash on top */
	uint64		hash;			/* of its text */
	uint64		length;			/* in words */
	size_t		n;
	SampleWord	words[FLEXIBLE_ARRAY_MEMBER];
} SampleDocument;

/* What goes from a worker to the leader is what is behind the node. */
#define DOCUMENT_SIZE(n) \
	(offsetof(SampleDocument, words) + (n) * sizeof(SampleWord))
#define SENT_FROM			offsetof(SampleDocument, hash)

/* What a sample is, but for its documents. */
typedef struct SampleInfo
{
	size_t		documents;		/* in the sample */
	size_t		occurrences;	/* in the sample */
	uint64		limit;			/* the least hash that did not fit */
	Making		making;			/* of the words */
	bool		markup;
	int			wanted;
} SampleInfo;

typedef struct WordSetState
{
	MemoryContext context;
	pairingheap *sample;
	SampleInfo	info;
} WordSetState;

static int
compare_hashes(const pairingheap_node *a, const pairingheap_node *b, void *arg)
{
	uint64		left = pairingheap_const_container(SampleDocument, node, a)->hash;
	uint64		right = pairingheap_const_container(SampleDocument, node, b)->hash;

	return left < right ? -1 : left > right;
}

static WordSetState *
create_state(MemoryContext context, const SampleInfo *info)
{
	MemoryContext old = MemoryContextSwitchTo(context);
	WordSetState *state = palloc0(sizeof(WordSetState));

	state->context = context;
	state->sample = pairingheap_allocate(compare_hashes, NULL);
	state->info = *info;
	state->info.documents = state->info.occurrences = 0;
	MemoryContextSwitchTo(old);
	return state;
}

/* Raises an error unless two samples are for the same word set. */
static void
require_same(const SampleInfo *a, const SampleInfo *b)
{
	if (making_equal(&a->making, &b->making) && a->markup == b->markup &&
		a->wanted == b->wanted)
		return;
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("analysis and number of words must be the same for all documents of a word set")));
}

/* The state, made if there is none, for documents of the site. */
static WordSetState *
state_for_document(FunctionCallInfo fcinfo, const Site *site, int wanted)
{
	MemoryContext context = call_aggregate_context(fcinfo);
	WordSetState *state;
	SampleInfo	info = {
		.limit = PG_UINT64_MAX, .making = site->words,
		.markup = site->analysis->markup, .wanted = wanted
	};

	if (!PG_ARGISNULL(0))
	{
		state = (WordSetState *) PG_GETARG_POINTER(0);
		require_same(&state->info, &info);
		return state;
	}
	argument_whole("number of words", wanted, 1, MAX_WORDS);
	return create_state(context, &info);
}

static uint64
largest_hash(const WordSetState *state)
{
	return pairingheap_container(SampleDocument, node,
								 pairingheap_first(state->sample))->hash;
}

/* Takes the document of the largest hash out of the sample. */
static SampleDocument *
pop_document(WordSetState *state)
{
	SampleDocument *document =
	pairingheap_container(SampleDocument, node,
						  pairingheap_remove_first(state->sample));

	state->info.documents--;
	state->info.occurrences -= document->n;
	return document;
}

/*
 * Drops the documents of the largest hashes until the rest fits.  A document
 * alone always does.
 */
static void
fit_sample(WordSetState *state)
{
	while (state->info.documents > 1 &&
		   (state->info.documents > MAX_DOCUMENTS ||
			state->info.occurrences > MAX_OCCURRENCES))
	{
		SampleDocument *document = pop_document(state);

		state->info.limit = document->hash;
		pfree(document);
	}
}

/* Takes a document, which is in the state's context, into the sample. */
static void
push_document(WordSetState *state, SampleDocument *document)
{
	pairingheap_add(state->sample, &document->node);
	state->info.documents++;
	state->info.occurrences += document->n;
	fit_sample(state);
}

/* A document of what is in the bag. */
static SampleDocument *
create_document(MemoryContext context, const Bag *bag, uint64 hash)
{
	SampleDocument *document =
	MemoryContextAllocHuge(context, DOCUMENT_SIZE(bag->nwords));

	document->hash = hash;
	document->length = bag->stats.length;
	document->n = bag->nwords;
	for (size_t i = 0; i < bag->nwords; i++)
	{
		document->words[i].hash = bag->words[i].hash;
		document->words[i].share = (double) bag->words[i].tf /
			bag->stats.length;
	}
	return document;
}

static void
add_document(FunctionCallInfo fcinfo, Site *site, WordSetState *state,
			 const text *doc)
{
	size_t		len;
	const char *utf8 = text_as_utf8(doc, &len);
	uint64		hash = XXH3_64bits(utf8, len);
	MemoryContext old;

	if (hash > state->info.limit)
		return;
	if (site->extra == NULL)
	{
		old = MemoryContextSwitchTo(fcinfo->flinfo->fn_mcxt);
		site->extra = bag_create();
		MemoryContextSwitchTo(old);
	}
	reader_begin(site_reader(site), utf8, len);
	bag_read(site->extra, site->reader);
	push_document(state, create_document(state->context, site->extra, hash));
}

/*
 * (state internal, doc text [, analysis text [, words int]]), or
 * (state internal, config regconfig, doc text [, words int])
 */
Datum
word_set_agg_add(PG_FUNCTION_ARGS)
{
	Site	   *site = site_get(fcinfo, 2);
	WordSetState *state;

	if (PG_ARGISNULL(site_argument(site, 1)))
		return call_unchanged_state(fcinfo);
	for (int i = 1; i < PG_NARGS(); i++)
	{
		if (PG_ARGISNULL(i))
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					 errmsg("%s and number of words must not be null",
							site->configured ? "configuration" : "analysis")));
	}
	site_read(site, fcinfo, READS_WORDS);
	state = state_for_document(fcinfo, site, PG_NARGS() > 3 ?
							   PG_GETARG_INT32(3) : DEFAULT_WORDS);
	add_document(fcinfo, site, state, SITE_GETARG_TEXT(site, 1));
	PG_RETURN_POINTER(state);
}

/* Combining the states of parallel workers */

Datum
word_set_agg_combine(PG_FUNCTION_ARGS)
{
	MemoryContext context = call_aggregate_context(fcinfo);
	WordSetState *state;
	WordSetState *other;

	if (PG_ARGISNULL(1))
		return call_unchanged_state(fcinfo);
	other = (WordSetState *) PG_GETARG_POINTER(1);
	if (PG_ARGISNULL(0))
		state = create_state(context, &other->info);
	else
		state = (WordSetState *) PG_GETARG_POINTER(0);
	require_same(&state->info, &other->info);
	while (other->info.documents > 0)
	{
		SampleDocument *document = pop_document(other);
		SampleDocument *copy;

		CHECK_FOR_INTERRUPTS();
		if (document->hash <= state->info.limit)
		{
			copy = MemoryContextAllocHuge(state->context,
										  DOCUMENT_SIZE(document->n));
			memcpy(copy, document, DOCUMENT_SIZE(document->n));
			push_document(state, copy);
		}
		pfree(document);
	}
	/* what did not fit with fewer documents does not fit with more */
	state->info.limit = Min(state->info.limit, other->info.limit);
	while (state->info.documents > 0 &&
		   largest_hash(state) > state->info.limit)
		pfree(pop_document(state));
	PG_RETURN_POINTER(state);
}

/* The state as a bytea: SampleInfo, then the documents.  Empties the sample. */
Datum
word_set_agg_serialize(PG_FUNCTION_ARGS)
{
	WordSetState *state = (WordSetState *) PG_GETARG_POINTER(0);
	Size		size = VARHDRSZ + sizeof(SampleInfo) +
		state->info.documents * (DOCUMENT_SIZE(0) - SENT_FROM) +
		state->info.occurrences * sizeof(SampleWord);
	bytea	   *bytes;
	char	   *at;

	if (!AllocSizeIsValid(size))
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("sample of %zu words is too large",
						state->info.occurrences),
				 errhint("Set \"max_parallel_workers_per_gather\" to 0.")));
	bytes = palloc(size);
	SET_VARSIZE(bytes, size);
	at = VARDATA(bytes);
	memcpy(at, &state->info, sizeof(SampleInfo));
	at += sizeof(SampleInfo);
	while (state->info.documents > 0)
	{
		SampleDocument *document = pop_document(state);
		Size		sent = DOCUMENT_SIZE(document->n) - SENT_FROM;

		memcpy(at, (char *) document + SENT_FROM, sent);
		at += sent;
		pfree(document);
	}
	Assert(at == (char *) bytes + size);
	PG_RETURN_BYTEA_P(bytes);
}

Datum
word_set_agg_deserialize(PG_FUNCTION_ARGS)
{
	bytea	   *bytes = PG_GETARG_BYTEA_PP(0);
	const char *at = VARDATA_ANY(bytes);
	SampleInfo	info;
	WordSetState *state;

	memcpy(&info, at, sizeof(SampleInfo));
	at += sizeof(SampleInfo);
	state = create_state(CurrentMemoryContext, &info);
	while (state->info.documents < info.documents)
	{
		SampleDocument head;
		SampleDocument *document;
		Size		sent;

		memcpy(&head.hash, at, DOCUMENT_SIZE(0) - SENT_FROM);
		sent = DOCUMENT_SIZE(head.n) - SENT_FROM;
		document = MemoryContextAllocHuge(state->context, SENT_FROM + sent);
		memcpy((char *) document + SENT_FROM, at, sent);
		at += sent;
		push_document(state, document);
	}
	PG_RETURN_POINTER(state);
}

/* Building */

/*
 * Empties the sample into an array of occurrences; returns the documents'
 * mean length.
 */
static double
empty_sample(WordSetState *state, Occurrence *occurrences)
{
	uint64		length = 0;
	uint32		number = 0;
	size_t		n = 0;

	while (state->info.documents > 0)
	{
		SampleDocument *document = pop_document(state);

		length += document->length;
		for (size_t i = 0; i < document->n; i++)
		{
			occurrences[n].hash = document->words[i].hash;
			occurrences[n].share = document->words[i].share;
			occurrences[n++].document = number;
		}
		number++;
		pfree(document);
	}
	return number == 0 ? 0 : (double) length / number;
}

/* The words' hashes, or their thresholds, as an array. */
static Datum
words_as_array(const WordSet *set, bool thresholds)
{
	Datum	   *values = palloc(Max(set->n, 1) * sizeof(Datum));

	for (size_t i = 0; i < set->n; i++)
		values[i] = thresholds ? Float4GetDatum(set->words[i].threshold) :
			Int64GetDatum((int64) set->words[i].hash);
	if (thresholds)
		return PointerGetDatum(construct_array(values, set->n, FLOAT4OID,
											   sizeof(float4), true,
											   TYPALIGN_INT));
	return PointerGetDatum(construct_array(values, set->n, INT8OID,
										   sizeof(int64), FLOAT8PASSBYVAL,
										   TYPALIGN_DOUBLE));
}

/* The rounds as an array of the composite type that the result's has. */
static Datum
rounds_as_array(const WordSet *set, Oid arraytype)
{
	Oid			type = get_element_type(arraytype);
	TupleDesc	desc = lookup_rowtype_tupdesc_copy(type, -1);
	Datum		rounds[WORD_SET_ROUNDS + 1];
	int16		typlen;
	bool		typbyval;
	char		typalign;

	for (int i = 0; i < set->nrounds; i++)
	{
		Datum		values[3];
		bool		nulls[3] = {0};

		values[0] = Int32GetDatum((int32) set->rounds[i].words);
		values[1] = Float8GetDatum(set->rounds[i].covered);
		values[2] = Float8GetDatum(set->rounds[i].unstable);
		rounds[i] = HeapTupleGetDatum(heap_form_tuple(desc, values, nulls));
	}
	get_typlenbyvalalign(type, &typlen, &typbyval, &typalign);
	return PointerGetDatum(construct_array(rounds, set->nrounds, type, typlen,
										   typbyval, typalign));
}

/* The canonical analysis text, or NULL for a configuration. */
static Datum
analysis_as_text(const WordSetState *state, bool *isnull)
{
	char	   *name;

	*isnull = (state->info.making.filters & FILTER_CONFIG) != 0;
	if (*isnull)
		return (Datum) 0;
	name = words_name(&state->info.making);
	return CStringGetTextDatum(state->info.markup ? psprintf("%s html", name) :
							   name);
}

/* The composite (analysis, words, thresholds, rounds). */
Datum
word_set_agg_final(PG_FUNCTION_ARGS)
{
	WordSetState *state;
	Occurrence *occurrences;
	TupleDesc	desc = call_row_type(fcinfo);
	WordSet    *set;
	size_t		n;
	size_t		documents;
	double		length;
	Datum		values[4];
	bool		nulls[4] = {0};

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	state = (WordSetState *) PG_GETARG_POINTER(0);
	n = state->info.occurrences;
	documents = state->info.documents;
	occurrences = MemoryContextAllocHuge(CurrentMemoryContext,
										 Max(n, 1) * sizeof(Occurrence));
	length = empty_sample(state, occurrences);
	set = word_set_build(occurrences, n, documents, length,
						 state->info.wanted);
	values[0] = analysis_as_text(state, &nulls[0]);
	values[1] = words_as_array(set, false);
	values[2] = words_as_array(set, true);
	values[3] = rounds_as_array(set, TupleDescAttr(desc, 3)->atttypid);
	PG_RETURN_DATUM(call_row(desc, values, nulls));
}
