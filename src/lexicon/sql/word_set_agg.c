/*
 * word_set_agg.c
 *		The aggregate that builds a set of descriptive words from documents.
 *
 * Building needs every word's share of every document, so it works on a
 * sample: the documents of the smallest hashes, as many as fit.  Once one does
 * not fit, none of a greater hash is taken, so that the same documents are in
 * it whatever order they come in, and however many workers gather them.
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

#include "base/call.h"
#include "base/compat.h"
#include "base/hash.h"
#include "base/input.h"
#include "base/interrupts.h"
#include "lexicon/word_set.h"
#include "document/doc_context.h"
#include "lexicon/sql/lexicon_io.h"

PG_FUNCTION_INFO_V1(word_set_agg_add);
PG_FUNCTION_INFO_V1(word_set_agg_combine);
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

#define DOCUMENT_SIZE(n) \
	(offsetof(SampleDocument, words) + (n) * sizeof(SampleWord))

/* What a sample is, but for its documents. */
typedef struct SampleInfo
{
	size_t		documents;		/* in the sample */
	size_t		occurrences;	/* in the sample */
	uint64		limit;			/* the least hash that did not fit */
	SignatureSpec		spec;			/* of the words */
	bool		markup;
	int			wanted;
} SampleInfo;

/* The state; a bytea where it is flat: see state_flatten(). */
typedef struct WordSetState
{
	ExpandedObjectHeader header;
	pairingheap *sample;
	SampleInfo	info;
} WordSetState;

static Size state_size(ExpandedObjectHeader *header);
static void state_flatten(ExpandedObjectHeader *header, void *result,
						  Size size);

static const ExpandedObjectMethods state_methods = {state_size, state_flatten};

static int
compare_hashes(const pairingheap_node *a, const pairingheap_node *b, void *arg)
{
	uint64		left = pairingheap_const_container(SampleDocument, node, a)->hash;
	uint64		right = pairingheap_const_container(SampleDocument, node, b)->hash;

	return left < right ? -1 : left > right;
}

static WordSetState *
create_state(FunctionCallInfo fcinfo, const SampleInfo *info)
{
	WordSetState *state;
	MemoryContext old;

	argument_whole("number of words", info->wanted, 1, MAX_WORDS);
	state = state_create(fcinfo, &state_methods, sizeof(WordSetState));
	old = MemoryContextSwitchTo(state->header.eoh_context);
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
	if (spec_equal(&a->spec, &b->spec) && a->markup == b->markup &&
		a->wanted == b->wanted)
		return;
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("analysis and number of words must be the same for all documents of a word set"),
			 errdetail("One document has \"%s%s\" and %d, another one \"%s%s\" and %d.",
					   words_name(&a->spec), a->markup ? " html" : "",
					   a->wanted,
					   words_name(&b->spec), b->markup ? " html" : "",
					   b->wanted),
			 errhint("Make a word set of each, as with GROUP BY.")));
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

/* Flat states */

/*
 * A flat state: this, then of each document its hash, length and number of words,
 * the words' hashes, and their shares.
 */
typedef struct FlatSample
{
	uint64		wanted;
	uint64		documents;
	uint64		limit;
	char		analysis[LEXICON_BYTES_SIZE(0)];	/* a lexicon without words */
} FlatSample;

typedef struct FlatDocument
{
	uint64		hash;
	uint64		length;
	uint64		n;
} FlatDocument;

#define FLAT_WORD	(sizeof(uint64) + sizeof(float4))

static Size
state_size(ExpandedObjectHeader *header)
{
	SampleInfo *info = &((WordSetState *) header)->info;

	return state_flat_size("word_set_agg", sizeof(FlatSample) +
						   info->documents * sizeof(FlatDocument) +
						   info->occurrences * FLAT_WORD);
}

/* All documents of the sample, in the order of the heap, which stays as it is. */
static SampleDocument **
sample_documents(const WordSetState *state)
{
	size_t		size = Max(state->info.documents, 1) * sizeof(SampleDocument *);
	SampleDocument **documents = palloc_extended(size, MCXT_ALLOC_HUGE);
	size_t		n = 0;

	if (!pairingheap_is_empty(state->sample))
		documents[n++] = pairingheap_container(SampleDocument, node,
											   pairingheap_first(state->sample));
	/* those whose children are still to come are a queue */
	for (size_t i = 0; i < n; i++)
	{
		pairingheap_node *child = documents[i]->node.first_child;

		for (; child != NULL; child = child->next_sibling)
			documents[n++] = pairingheap_container(SampleDocument, node, child);
	}
	Assert(n == state->info.documents);
	return documents;
}

/* Copies so many bytes to or from a place in a flat state, and passes over them. */
static void
put_bytes(char **at, const void *from, size_t n)
{
	memcpy(*at, from, n);
	*at += n;
}

static void
get_bytes(const char **at, void *to, size_t n)
{
	memcpy(to, *at, n);
	*at += n;
}

static void
flatten_document(const SampleDocument *document, char **at)
{
	FlatDocument head = {document->hash, document->length, document->n};

	put_bytes(at, &head, sizeof(head));
	for (size_t i = 0; i < document->n; i++)
		put_bytes(at, &document->words[i].hash, sizeof(uint64));
	for (size_t i = 0; i < document->n; i++)
		put_bytes(at, &document->words[i].share, sizeof(float4));
}

static void
state_flatten(ExpandedObjectHeader *header, void *result, Size size)
{
	WordSetState *state = (WordSetState *) header;
	MemoryContext old = MemoryContextSwitchTo(header->eoh_context);
	SampleDocument **documents = sample_documents(state);
	Lexicon    *analysis = lexicon_alloc(&state->info.spec,
										 state->info.markup, 0);
	FlatSample	head = {
		.wanted = state->info.wanted, .documents = state->info.documents,
		.limit = state->info.limit
	};
	char	   *at = VARDATA(result);

	lexicon_seal(analysis);
	lexicon_swap(analysis);
	memcpy(head.analysis, LEXICON_BYTES(analysis), sizeof(head.analysis));
	SET_VARSIZE(result, size);
	put_bytes(&at, &head, sizeof(head));
	for (size_t i = 0; i < state->info.documents; i++)
	{
		CHECK_EVERY(i);
		flatten_document(documents[i], &at);
	}
	Assert(at == (char *) result + size);
	pfree(analysis);
	pfree(documents);
	MemoryContextSwitchTo(old);
}

static void
bad_state(const char *rule)
{
	input_bad_bytes("state of word_set_agg()", rule);
}

/*
 * Takes the next document of a flat state into the sample, unless its hash is
 * beyond the limit.
 */
static void
add_flat_document(WordSetState *state, const char **at, const char *end)
{
	FlatDocument head;
	SampleDocument *document;

	if ((size_t) (end - *at) < sizeof(head))
		bad_state("It is cut off.");
	get_bytes(at, &head, sizeof(head));
	if (head.n > (size_t) (end - *at) / FLAT_WORD)
		bad_state("It is cut off.");
	if (head.hash > state->info.limit)
	{
		*at += head.n * FLAT_WORD;
		return;
	}
	document = MemoryContextAllocHuge(state->header.eoh_context,
									  DOCUMENT_SIZE(head.n));
	document->hash = head.hash;
	document->length = head.length;
	document->n = head.n;
	for (size_t i = 0; i < head.n; i++)
		get_bytes(at, &document->words[i].hash, sizeof(uint64));
	for (size_t i = 0; i < head.n; i++)
	{
		get_bytes(at, &document->words[i].share, sizeof(float4));
		if (!(document->words[i].share > 0 && document->words[i].share <= 1))
			bad_state("A word's share of its document is out of range.");
	}
	push_document(state, document);
}

/* Takes up what a flat state says of the sample; *markup and so on are checked. */
static SampleInfo
flat_info(const FlatSample *head)
{
	Lexicon    *analysis = lexicon_from_bytes(head->analysis,
											  sizeof(head->analysis));
	SampleInfo	info = {
		.limit = head->limit, .wanted = Min(head->wanted, PG_INT32_MAX),
		.markup = (analysis->flags & LEXICON_MARKUP) != 0
	};

	lexicon_spec(analysis, &info.spec);
	if (!spec_is_of_words(&info.spec))
		bad_state("Its analysis is not one of words.");
	pfree(analysis);
	return info;
}

/* Adds a flat state to one in memory, which is made if it is NULL. */
static WordSetState *
add_flat(FunctionCallInfo fcinfo, WordSetState *state, const bytea *flat)
{
	const char *at = VARDATA_ANY(flat);
	const char *end = at + VARSIZE_ANY_EXHDR(flat);
	FlatSample	head;
	SampleInfo	info;

	if ((size_t) (end - at) < sizeof(head))
		bad_state("It is cut off.");
	get_bytes(&at, &head, sizeof(head));
	info = flat_info(&head);
	if (state == NULL)
		state = create_state(fcinfo, &info);
	require_same(&state->info, &info);
	/* what did not fit with fewer documents does not fit with more */
	state->info.limit = Min(state->info.limit, info.limit);
	while (state->info.documents > 0 &&
		   largest_hash(state) > state->info.limit)
		pfree(pop_document(state));
	for (uint64 i = 0; i < head.documents; i++)
	{
		CHECK_EVERY(i);
		add_flat_document(state, &at, end);
	}
	if (at != end)
		bad_state("It is longer than its documents.");
	return state;
}

/* Argument 0 to be changed; NULL if it is null. */
static WordSetState *
get_state(FunctionCallInfo fcinfo)
{
	WordSetState *state = state_to_change(fcinfo, &state_methods);

	if (state == NULL && !PG_ARGISNULL(0))
		state = add_flat(fcinfo, NULL, PG_GETARG_BYTEA_PP(0));
	return state;
}

/* The transition */

/* The state, made if there is none, for documents of the document context. */
static WordSetState *
state_for_document(FunctionCallInfo fcinfo, const DocContext *doccxt, int wanted)
{
	WordSetState *state = get_state(fcinfo);
	SampleInfo	info = {
		.limit = PG_UINT64_MAX, .spec = doccxt->words,
		.markup = doccxt->analysis->markup, .wanted = wanted
	};

	if (state == NULL)
		return create_state(fcinfo, &info);
	require_same(&state->info, &info);
	return state;
}

static void
add_document(DocContext *doccxt, WordSetState *state, const text *doc)
{
	size_t		len;
	const char *utf8 = text_as_utf8(doc, &len);
	uint64		hash = XXH3_64bits(utf8, len);
	MemoryContext old;

	if (hash > state->info.limit)
		return;
	if (doccxt->extra == NULL)
	{
		old = MemoryContextSwitchTo(GetMemoryChunkContext(doccxt));
		doccxt->extra = bag_create();
		MemoryContextSwitchTo(old);
	}
	reader_begin(doc_context_reader(doccxt), utf8, len);
	bag_read(doccxt->extra, doccxt->reader);
	push_document(state, create_document(state->header.eoh_context, doccxt->extra, hash));
}

/*
 * (state bytea, doc text [, analysis text [, words int]]), or
 * (state bytea, config regconfig, doc text [, words int])
 */
Datum
word_set_agg_add(PG_FUNCTION_ARGS)
{
	DocContext	   *doccxt = doc_context_of_aggregate(fcinfo, 2);
	WordSetState *state;

	if (PG_ARGISNULL(doc_context_argument(doccxt, 1)))
		return call_unchanged_state(fcinfo);
	for (int i = 1; i < PG_NARGS(); i++)
	{
		if (PG_ARGISNULL(i))
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					 errmsg("%s and number of words must not be null",
							doccxt->configured ? "configuration" : "analysis")));
	}
	doc_context_read(doccxt, fcinfo, READS_WORDS);
	state = state_for_document(fcinfo, doccxt, PG_NARGS() > 3 ?
							   PG_GETARG_INT32(3) : DEFAULT_WORDS);
	add_document(doccxt, state, DOC_CONTEXT_GETARG_TEXT(doccxt, 1));
	PG_RETURN_STATE(state);
}

/* The state of another process, which is flat, is added to this one. */
Datum
word_set_agg_combine(PG_FUNCTION_ARGS)
{
	if (PG_ARGISNULL(1))
		return call_unchanged_state(fcinfo);
	PG_RETURN_STATE(add_flat(fcinfo, get_state(fcinfo),
							 PG_GETARG_BYTEA_PP(1)));
}

/* Building */

/* Those of the largest hashes first. */
static int
compare_documents(const void *left, const void *right)
{
	const SampleDocument *a = *(SampleDocument *const *) left;
	const SampleDocument *b = *(SampleDocument *const *) right;

	return a->hash > b->hash ? -1 : a->hash < b->hash;
}

/* All words of the sample's documents; *length is the documents' mean one. */
static Occurrence *
sample_occurrences(const WordSetState *state, double *length)
{
	SampleDocument **documents = sample_documents(state);
	size_t		ndocuments = state->info.documents;
	Occurrence *occurrences =
	MemoryContextAllocHuge(CurrentMemoryContext,
						   Max(state->info.occurrences, 1) * sizeof(Occurrence));
	uint64		sum = 0;
	size_t		n = 0;

	qsort(documents, ndocuments, sizeof(SampleDocument *), compare_documents);
	for (size_t number = 0; number < ndocuments; number++)
	{
		const SampleDocument *document = documents[number];

		CHECK_EVERY(number);
		sum += document->length;
		for (size_t i = 0; i < document->n; i++)
		{
			occurrences[n].hash = document->words[i].hash;
			occurrences[n].share = document->words[i].share;
			occurrences[n++].document = number;
		}
	}
	pfree(documents);
	*length = ndocuments == 0 ? 0 : (double) sum / ndocuments;
	return occurrences;
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
		return PointerGetDatum(construct_array(values, set->n, FLOAT4OID, sizeof(float4), true,
											   TYPALIGN_INT));
	return PointerGetDatum(construct_array(values, set->n, INT8OID, sizeof(int64), FLOAT8PASSBYVAL,
										   TYPALIGN_DOUBLE));
}

/* The rounds as an array of the composite type that the result's has. */
static Datum
rounds_as_array(const WordSet *set, Oid arraytype)
{
	Oid			type = get_element_type(arraytype);
	TupleDesc	desc = lookup_rowtype_tupdesc_copy(type, -1);
	const Oid	types[] = {INT4OID, FLOAT8OID, FLOAT8OID};
	Datum		rounds[WORD_SET_ROUNDS + 1];
	int16		typlen;
	bool		typbyval;
	char		typalign;

	call_require_columns(desc, lengthof(types), types);
	for (int i = 0; i < set->nrounds; i++)
	{
		Datum		values[lengthof(types)];
		bool		nulls[lengthof(types)] = {0};

		values[0] = Int32GetDatum((int32) set->rounds[i].words);
		values[1] = Float8GetDatum(set->rounds[i].covered);
		values[2] = Float8GetDatum(set->rounds[i].unstable);
		rounds[i] = call_row(desc, lengthof(values), values, nulls);
	}
	get_typlenbyvalalign(type, &typlen, &typbyval, &typalign);
	return PointerGetDatum(construct_array(rounds, set->nrounds, type, typlen, typbyval, typalign));
}

/* The canonical analysis text, or NULL for a configuration. */
static Datum
analysis_as_text(const WordSetState *state, bool *isnull)
{
	char	   *name;

	*isnull = (state->info.spec.filters & FILTER_CONFIG) != 0;
	if (*isnull)
		return (Datum) 0;
	name = words_name(&state->info.spec);
	return CStringGetTextDatum(state->info.markup ? psprintf("%s html", name) : name);
}

/* The composite (analysis, words, thresholds, rounds). */
Datum
word_set_agg_final(PG_FUNCTION_ARGS)
{
	WordSetState *state = state_to_read(fcinfo, &state_methods);
	TupleDesc	desc = call_row_type(fcinfo);
	Occurrence *occurrences;
	WordSet    *set;
	double		length;
	const Oid	types[] = {TEXTOID, INT8ARRAYOID, FLOAT4ARRAYOID, InvalidOid};
	Datum		values[lengthof(types)];
	bool		nulls[lengthof(types)] = {0};

	call_require_columns(desc, lengthof(types), types);
	if (state == NULL)
		state = add_flat(fcinfo, NULL, PG_GETARG_BYTEA_PP(0));
	occurrences = sample_occurrences(state, &length);
	set = word_set_build(occurrences, state->info.occurrences,
						 state->info.documents, length, state->info.wanted);
	values[0] = analysis_as_text(state, &nulls[0]);
	values[1] = words_as_array(set, false);
	values[2] = words_as_array(set, true);
	values[3] = rounds_as_array(set, TupleDescAttr(desc, 3)->atttypid);
	PG_RETURN_DATUM(call_row(desc, lengthof(values), values, nulls));
}
