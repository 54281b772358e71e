/*
 * word_set.c
 *		The aggregate that builds a set of descriptive words from documents.
 *
 * Building needs every word's share of every document, so it uses a sample:
 * the documents of the smallest hashes that fit.  Once a document does not
 * fit, no document of a greater hash is added, so the sample does not depend
 * on the order of documents, or on the number of workers.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "fmgr.h"
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
#include "base/memory.h"
#include "document/doc_context.h"

PG_FUNCTION_INFO_V1(word_set_agg_add);
PG_FUNCTION_INFO_V1(word_set_agg_combine);
PG_FUNCTION_INFO_V1(word_set_agg_final);

#define MAX_DOCUMENTS	50000	/* documents in the sample */
#define MAX_OCCURRENCES	10000000	/* words of documents, each once a
									 * document, in the sample */
#define DEFAULT_WORDS	3000	/* number of words wanted by default */
#define MAX_WORDS		65535

/*
 * Building a set of descriptive words
 *
 * A document's bit for a word is set if the word's share of the document is
 * above the word's threshold.  A good threshold has few documents near it,
 * which a small change could move across, and many above it.  Near means
 * within the share of one word of a document of average length.
 *
 * The set is built in rounds, as in the source, which leave ever fewer words.
 * A round chooses, for every word, the threshold with the most documents above
 * it whose instability the round allows; then the most stable threshold with
 * nearly as many documents above it.  Last, it drops the worst words, first
 * words that are no document's only word.
 *
 * Source: Ilyinsky, Kuzmin, Melkov and Segalovich, "An efficient method to
 * detect duplicates of Web documents with the use of inverted index" (WWW
 * 2002).
 */

/* A word's share of one document. */
typedef struct Occurrence
{
	uint64		hash;			/* hash of the word */
	float		share;			/* tf / length of the document */
	uint32		document;		/* number of the document */
} Occurrence;

/* A word with its threshold */
typedef struct DescriptiveWord
{
	uint64		hash;
	float		threshold;
	double		unstable;		/* documents near the threshold, divided by
								 * the documents above it */
	size_t		first;			/* first of its n occurrences, by falling
								 * share */
	size_t		n;
	size_t		above;			/* number of occurrences above the threshold */
} DescriptiveWord;

/* The result of a round */
typedef struct WordSetRound
{
	size_t		words;
	double		covered;		/* share of documents with a word of the set */
	double		unstable;		/* mean instability of the words */
} WordSetRound;

#define MAX_ROUNDS		8

/* A word set under construction */
typedef struct WordSet
{
	const Occurrence *occurrences;	/* shares by word, then falling */
	size_t		documents;
	double		near;			/* share of one word in an average document */
	uint32	   *covers;			/* number of chosen words of each document */
	DescriptiveWord *words;
	size_t		n;
	WordSetRound rounds[MAX_ROUNDS + 1];	/* rounds[0] is the state before
											 * the first round */
	int			nrounds;
} WordSet;

#define MIN_DOCUMENTS	3		/* least number of documents with a word */
#define NEARLY			0.8		/* sufficient share of the best coverage */

/* sort_occurrences(array, n): by word, then by falling share */
#define ST_SORT sort_occurrences
#define ST_ELEMENT_TYPE Occurrence
#define ST_COMPARE(a, b) \
	((a)->hash != (b)->hash ? ((a)->hash < (b)->hash ? -1 : 1) : \
	 (a)->share != (b)->share ? ((a)->share > (b)->share ? -1 : 1) : \
	 (a)->document < (b)->document ? -1 : (a)->document > (b)->document)
#define ST_SCOPE static
#define ST_CHECK_FOR_INTERRUPTS
#define ST_DEFINE
#include "lib/sort_template.h"

/* sort_worst_first(array, n): by falling instability, then by coverage */
#define ST_SORT sort_worst_first
#define ST_ELEMENT_TYPE DescriptiveWord
#define ST_COMPARE(a, b) \
	((a)->unstable != (b)->unstable ? \
	 ((a)->unstable > (b)->unstable ? -1 : 1) : \
	 (a)->above != (b)->above ? ((a)->above < (b)->above ? -1 : 1) : \
	 (a)->hash < (b)->hash ? -1 : (a)->hash > (b)->hash)
#define ST_SCOPE static
#define ST_CHECK_FOR_INTERRUPTS
#define ST_DEFINE
#include "lib/sort_template.h"

/* sort_by_hash(array, n) */
#define ST_SORT sort_by_hash
#define ST_ELEMENT_TYPE DescriptiveWord
#define ST_COMPARE(a, b) \
	((a)->hash < (b)->hash ? -1 : (a)->hash > (b)->hash)
#define ST_SCOPE static
#define ST_CHECK_FOR_INTERRUPTS
#define ST_DEFINE
#include "lib/sort_template.h"

/* Choosing thresholds */

/*
 * Choose a word's threshold, between two of its shares: the most documents
 * above it with an instability of at most `allowed`; or, if `least` is given,
 * the least instability with at least that many documents above.  False if
 * there is none.
 */
static bool
choose_threshold(const WordSet *set, DescriptiveWord *word,
				 double allowed, size_t least)
{
	const Occurrence *shares = &set->occurrences[word->first];
	size_t		from = 0;		/* bounds of the shares near the threshold */
	size_t		to = 0;
	bool		found = false;
	double		best = allowed;

	for (size_t i = 0; i < word->n; i++)
	{
		float		below = i + 1 < word->n ? shares[i + 1].share : 0;
		float		threshold = (shares[i].share + below) / 2;
		double		unstable;

		if (below == shares[i].share)
			continue;
		/* documents without the word must not be near */
		if (threshold <= set->near)
			break;
		while (from < word->n && shares[from].share > threshold + set->near)
			from++;
		while (to < word->n && shares[to].share >= threshold - set->near)
			to++;
		unstable = (double) (to - from) / (i + 1);
		if (i + 1 < least || unstable > best)
			continue;
		if (least > 0)
			best = unstable;
		word->threshold = threshold;
		word->unstable = unstable;
		word->above = i + 1;
		found = true;
	}
	return found;
}

/* Choose thresholds of all words in both steps; drop words that have none. */
static void
choose_thresholds(WordSet *set, double allowed)
{
	size_t		kept = 0;

	for (size_t i = 0; i < set->n; i++)
	{
		DescriptiveWord word = set->words[i];

		if (i % 1024 == 0)
			CHECK_FOR_INTERRUPTS();
		if (!choose_threshold(set, &word, allowed, 0))
			continue;
		(void) choose_threshold(set, &word, allowed,
								Max(1, (size_t) ceil(word.above * NEARLY)));
		if (word.above >= MIN_DOCUMENTS)
			set->words[kept++] = word;
	}
	set->n = kept;
}

/* Dropping words */

/* Add a word's documents to the counts of covers, or subtract them. */
static void
cover(WordSet *set, const DescriptiveWord *word, int by)
{
	for (size_t i = 0; i < word->above; i++)
		set->covers[set->occurrences[word->first + i].document] += by;
}

/* True if some document has no other word than this one. */
static bool
is_needed(const WordSet *set, const DescriptiveWord *word)
{
	for (size_t i = 0; i < word->above; i++)
	{
		if (set->covers[set->occurrences[word->first + i].document] == 1)
			return true;
	}
	return false;
}

/*
 * Drop the worst words until `wanted` are left: first words that no document
 * needs, then others.  Return the instability of the worst word left.
 */
static double
drop_worst(WordSet *set, size_t wanted)
{
	sort_worst_first(set->words, set->n);
	for (int pass = 0; pass < 2 && set->n > wanted; pass++)
	{
		size_t		excess = set->n - wanted;
		size_t		kept = 0;

		for (size_t i = 0; i < set->n; i++)
		{
			if (i % 1024 == 0)
				CHECK_FOR_INTERRUPTS();
			if (excess > 0 &&
				(pass == 1 || !is_needed(set, &set->words[i])))
			{
				cover(set, &set->words[i], -1);
				excess--;
			}
			else
				set->words[kept++] = set->words[i];
		}
		set->n = kept;
	}
	Assert(set->n <= wanted);
	return set->n > 0 ? set->words[0].unstable : 0;
}

/* Choose the thresholds of the words that are left, and record the round. */
static void
finish_round(WordSet *set, double allowed)
{
	WordSetRound *round = &set->rounds[set->nrounds++];
	size_t		covered = 0;
	double		unstable = 0;

	Assert(set->nrounds <= lengthof(set->rounds));
	choose_thresholds(set, allowed);
	memset(set->covers, 0, set->documents * sizeof(uint32));
	for (size_t i = 0; i < set->n; i++)
	{
		cover(set, &set->words[i], 1);
		unstable += set->words[i].unstable;
	}
	for (size_t i = 0; i < set->documents; i++)
		covered += set->covers[i] > 0;
	round->words = set->n;
	round->covered = set->documents == 0 ? 0 :
		(double) covered / set->documents;
	round->unstable = set->n == 0 ? 0 : unstable / set->n;
}

/* Collect the words of enough documents. */
static void
collect_words(WordSet *set, size_t n)
{
	size_t		room = 0;

	for (size_t first = 0, end; first < n; first = end)
	{
		DescriptiveWord word = {.hash = set->occurrences[first].hash};

		for (end = first; end < n &&
			 set->occurrences[end].hash == word.hash; end++)
			continue;
		word.first = first;
		word.n = end - first;
		if (word.n < MIN_DOCUMENTS)
			continue;
		set->words = growing_reserve(set->words, &room, set->n + 1,
									 sizeof(DescriptiveWord));
		set->words[set->n++] = word;
	}
}

/* The sample of documents */

/* A document of the sample */
typedef struct SampleDocument
{
	uint64		hash;			/* hash of its text */
	uint64		length;			/* number of words */
	uint64		nwords;			/* number of distinct words */
	uint64		first;			/* place of its first word in the sample */
} SampleDocument;

/* The fixed part of a flat state; documents and their words follow */
typedef struct SampleInfo
{
	uint64		wanted;			/* number of words wanted */
	uint64		limit;			/* documents of greater hashes do not fit */
	uint64		ndocuments;
	uint64		noccurrences;
	char		analysis[LEXICON_BYTES_SIZE(0)];	/* a lexicon without words */
} SampleInfo;

/* State of word_set_agg() */
typedef struct WordSetState
{
	ExpandedObjectHeader header;
	SampleInfo	info;
	SignatureSpec spec;			/* spec of the analysis */
	uint8		reading;
	SampleDocument *documents;
	size_t		documents_room;
	Occurrence *occurrences;	/* words of documents; the words of one
								 * document are together */
	size_t		occurrences_room;
} WordSetState;

/* sort_documents(array, n): by hash */
#define ST_SORT sort_documents
#define ST_ELEMENT_TYPE SampleDocument
#define ST_COMPARE(a, b) \
	((a)->hash < (b)->hash ? -1 : (a)->hash > (b)->hash)
#define ST_SCOPE static
#define ST_CHECK_FOR_INTERRUPTS
#define ST_DEFINE
#include "lib/sort_template.h"

/*
 * Sort the documents, and keep as many with the smallest hashes as fit.  The
 * first one always fits.
 */
static void
fit_sample(WordSetState *state)
{
	SampleInfo *info = &state->info;
	SampleDocument *documents = state->documents;
	Occurrence *kept;
	size_t		room = 0;
	size_t		n = 0;
	uint64		i;
	MemoryContext old = MemoryContextSwitchTo(state->header.eoh_context);

	sort_documents(documents, info->ndocuments);
	for (i = 0; i < info->ndocuments && documents[i].hash <= info->limit; i++)
	{
		if (i > 0 && (i == MAX_DOCUMENTS ||
					  n + documents[i].nwords > MAX_OCCURRENCES))
		{
			info->limit = documents[i].hash;
			break;
		}
		n += documents[i].nwords;
	}
	info->ndocuments = i;
	info->noccurrences = n;
	kept = growing_reserve(NULL, &room, Max(n, 1), sizeof(Occurrence));
	n = 0;
	for (i = 0; i < info->ndocuments; i++)
	{
		CHECK_EVERY(i);
		memcpy(kept + n, state->occurrences + documents[i].first,
			   documents[i].nwords * sizeof(Occurrence));
		documents[i].first = n;
		for (uint64 k = 0; k < documents[i].nwords; k++)
			kept[n++].document = i;
	}
	pfree(state->occurrences);
	state->occurrences = kept;
	state->occurrences_room = room;
	MemoryContextSwitchTo(old);
}

/*
 * Add a document to the sample; return the place of its words, to be filled.
 */
static Occurrence *
add_document(WordSetState *state, SampleDocument document)
{
	SampleInfo *info = &state->info;

	/* rarely, since it sorts all documents */
	if (info->ndocuments >= MAX_DOCUMENTS + MAX_DOCUMENTS / 4 ||
		info->noccurrences >= MAX_OCCURRENCES + MAX_OCCURRENCES / 4)
		fit_sample(state);
	state->documents = growing_reserve(state->documents,
									   &state->documents_room,
									   info->ndocuments + 1,
									   sizeof(SampleDocument));
	state->occurrences = growing_reserve(state->occurrences,
										 &state->occurrences_room,
										 info->noccurrences + document.nwords,
										 sizeof(Occurrence));
	document.first = info->noccurrences;
	state->documents[info->ndocuments++] = document;
	info->noccurrences += document.nwords;
	return &state->occurrences[document.first];
}

/* Add a document of this hash, whose words are in the bag. */
static void
add_bag(WordSetState *state, const Bag *bag, uint64 hash)
{
	SampleDocument document = {hash, bag->stats.length, bag->nwords, 0};
	Occurrence *occurrences = add_document(state, document);

	for (size_t i = 0; i < bag->nwords; i++)
	{
		occurrences[i].hash = bag->words[i].hash;
		occurrences[i].share = (float) ((double) bag->words[i].tf /
										bag->stats.length);
	}
}

/* States, flat and expanded */

/* ExpandedObjectMethods.get_flat_size: the size of the sample that fits. */
static Size
state_size(ExpandedObjectHeader *header)
{
	WordSetState *state = (WordSetState *) header;

	fit_sample(state);
	return state_flat_size("word_set_agg", sizeof(SampleInfo) +
						   state->info.ndocuments * sizeof(SampleDocument) +
						   state->info.noccurrences * sizeof(Occurrence));
}

/*
 * ExpandedObjectMethods.flatten_into: write info, documents and their words.
 */
static void
state_flatten(ExpandedObjectHeader *header, void *result, Size size)
{
	WordSetState *state = (WordSetState *) header;
	char	   *at = VARDATA(result);
	Size		bytes = state->info.ndocuments * sizeof(SampleDocument);

	SET_VARSIZE(result, size);
	memcpy(at, &state->info, sizeof(SampleInfo));
	at += sizeof(SampleInfo);
	memcpy(at, state->documents, bytes);
	at += bytes;
	memcpy(at, state->occurrences, (char *) result + size - at);
}

static const ExpandedObjectMethods state_methods = {state_size, state_flatten};

/*
 * Return an empty state for an analysis.  Raises INVALID_PARAMETER_VALUE if
 * the number of words is out of range.
 */
static WordSetState *
create_state(FunctionCallInfo fcinfo, const SignatureSpec *spec, uint8 reading,
			 int64 wanted)
{
	WordSetState *state;
	Lexicon    *analysis = palloc0(LEXICON_HEADER);
	MemoryContext old;

	argument_whole("number of words", wanted, 1, MAX_WORDS);
	state = state_create(fcinfo, &state_methods, sizeof(WordSetState));
	old = MemoryContextSwitchTo(state->header.eoh_context);
	state->documents = growing_reserve(NULL, &state->documents_room, 1,
									   sizeof(SampleDocument));
	state->occurrences = growing_reserve(NULL, &state->occurrences_room, 1,
										 sizeof(Occurrence));
	MemoryContextSwitchTo(old);
	state->info.wanted = wanted;
	state->info.limit = PG_UINT64_MAX;
	state->spec = *spec;
	state->reading = reading;
	lexicon_set_spec(analysis, spec, reading);
	lexicon_seal(analysis, 0);
	lexicon_swap(analysis);
	memcpy(state->info.analysis, LEXICON_BYTES(analysis),
		   LEXICON_BYTES_SIZE(0));
	pfree(analysis);
	return state;
}

/*
 * Return the state, which is created if it is NULL. Raises
 * INVALID_PARAMETER_VALUE if its arguments differ.
 */
static WordSetState *
require_state(FunctionCallInfo fcinfo, WordSetState *state,
			  const SignatureSpec *spec, uint8 reading, int64 wanted)
{
	if (state == NULL)
		return create_state(fcinfo, spec, reading, wanted);
	if (!spec_equal(&state->spec, spec) || state->reading != reading ||
		(int64) state->info.wanted != wanted)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("analysis and number of words must be the same for all documents of a word set"),
				 errdetail("One document has \"%s\" and %d, another one \"%s\" and %d.",
						   words_name(&state->spec, state->reading),
						   (int) state->info.wanted,
						   words_name(spec, reading), (int) wanted),
				 errhint("Make a word set of each, as with GROUP BY.")));
	return state;
}

/* Raise INVALID_BINARY_REPRESENTATION: a flat state breaks a rule. */
static void
bad_state(const char *rule)
{
	input_bad_bytes("state of word_set_agg()", rule);
}

/* Add the documents of a flat state, whose words begin at `words`. */
static void
add_documents(WordSetState *state, const SampleInfo *info,
			  const SampleDocument *documents, const Occurrence *words)
{
	const Occurrence *end = words + info->noccurrences;

	for (uint64 i = 0; i < info->ndocuments; i++)
	{
		uint64		nwords = documents[i].nwords;

		CHECK_EVERY(i);
		if (nwords > (uint64) (end - words))
			bad_state("Its documents have more words than it has.");
		for (uint64 k = 0; k < nwords; k++)
			if (!(words[k].share > 0 && words[k].share <= 1))
				bad_state("A word's share of its document is out of range.");
		if (documents[i].hash <= state->info.limit)
			memcpy(add_document(state, documents[i]), words,
				   nwords * sizeof(Occurrence));
		words += nwords;
	}
	if (words != end)
		bad_state("It has more words than its documents.");
}

/*
 * Add a flat state, after checking its bytes, to a state, which is created if
 * it is NULL.
 */
static void *
add_flat(FunctionCallInfo fcinfo, void *arg, struct varlena *flat)
{
	size_t		size = VARSIZE(flat) - VARHDRSZ;
	char	   *bytes;
	SampleInfo *info;
	SampleDocument *documents;
	WordSetState *state;
	Lexicon    *analysis;
	SignatureSpec spec;

	if (size < sizeof(SampleInfo))
		bad_state("It is cut off.");
	/* a copy, which is aligned */
	bytes = memcpy(palloc(size), VARDATA(flat), size);
	info = (SampleInfo *) bytes;
	analysis = lexicon_from_bytes(info->analysis, sizeof(info->analysis));
	spec = lexicon_spec(analysis);
	if (!spec_is_of_words(&spec))
		bad_state("Its analysis is not one of words.");
	if (info->ndocuments > size / sizeof(SampleDocument) ||
		info->noccurrences > size / sizeof(Occurrence) ||
		size != sizeof(SampleInfo) +
		info->ndocuments * sizeof(SampleDocument) +
		info->noccurrences * sizeof(Occurrence))
		bad_state("Its size does not match its documents and words.");
	state = require_state(fcinfo, arg, &spec, analysis->reading,
						  Min(info->wanted, PG_INT32_MAX));
	/* a document that did not fit with fewer others does not fit with more */
	state->info.limit = Min(state->info.limit, info->limit);
	documents = (SampleDocument *) (bytes + sizeof(SampleInfo));
	add_documents(state, info, documents,
				  (Occurrence *) (documents + info->ndocuments));
	pfree(bytes);
	return state;
}

/*
 * (state bytea, doc text [, analysis text [, words int]]), or
 * (state bytea, config regconfig, doc text [, words int])
 */
Datum
word_set_agg_add(PG_FUNCTION_ARGS)
{
	DocContext *doccxt = doc_context_of_aggregate(fcinfo, "number of words",
												  READS_WORDS);
	WordSetState *state;
	const char *utf8;
	size_t		len;
	uint64		hash;

	if (doccxt == NULL)
		return call_unchanged_state(fcinfo);
	state = require_state(fcinfo,
						  state_argument(fcinfo, &state_methods, add_flat,
										 true),
						  &doccxt->words, doccxt->analysis->reading,
						  PG_NARGS() > 3 ? PG_GETARG_INT32(3) : DEFAULT_WORDS);
	utf8 = text_as_utf8(DOC_CONTEXT_GETARG_TEXT(doccxt, 1), &len);
	hash = XXH3_64bits(utf8, len);
	if (hash <= state->info.limit)
	{
		MemoryContext old =
		MemoryContextSwitchTo(GetMemoryChunkContext(doccxt));

		if (doccxt->extra == NULL)
			doccxt->extra = bag_create();
		MemoryContextSwitchTo(old);
		reader_begin(doc_context_reader(doccxt), utf8, len);
		bag_read(doccxt->extra, doccxt->reader);
		add_bag(state, doccxt->extra, hash);
	}
	PG_RETURN_STATE(state);
}

/* (state bytea, state bytea): the sample of the documents of both */
Datum
word_set_agg_combine(PG_FUNCTION_ARGS)
{
	return state_combine(fcinfo, &state_methods, add_flat);
}

/* The result */

/* Return the rounds as an array of this type of composite values. */
static Datum
rounds_as_array(const WordSet *set, Oid arraytype)
{
	Oid			type = get_element_type(arraytype);
	TupleDesc	desc = lookup_rowtype_tupdesc_copy(type, -1);
	const Oid	types[] = {INT4OID, FLOAT8OID, FLOAT8OID};
	Datum		rounds[MAX_ROUNDS + 1];
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
	return PointerGetDatum(construct_array(rounds, set->nrounds, type, typlen,
										   typbyval, typalign));
}

/* Build a set of the words of a sample. */
static WordSet *
build_word_set(const WordSetState *state)
{
	size_t		ndocuments = state->info.ndocuments;
	size_t		noccurrences = state->info.noccurrences;
	size_t		wanted = state->info.wanted;
	WordSet    *set = palloc0(sizeof(WordSet));
	Occurrence *occurrences = palloc_huge(noccurrences, sizeof(Occurrence));
	uint64		length = 0;
	size_t		initial;

	memcpy(occurrences, state->occurrences, noccurrences * sizeof(Occurrence));
	sort_occurrences(occurrences, noccurrences);
	for (size_t i = 0; i < ndocuments; i++)
		length += state->documents[i].length;
	set->occurrences = occurrences;
	set->documents = ndocuments;
	set->near = length > 0 ? 1 / ((double) length / ndocuments) : 1;
	set->covers = palloc_huge(ndocuments, sizeof(uint32));
	collect_words(set, noccurrences);
	finish_round(set, HUGE_VAL);
	initial = set->n;
	for (int round = 1; round <= MAX_ROUNDS && initial > wanted; round++)
	{
		double		share = (double) round / MAX_ROUNDS;
		size_t		left = round == MAX_ROUNDS ? wanted : (size_t)
		ceil(initial * pow((double) wanted / initial, share));

		finish_round(set, drop_worst(set, left));
	}
	sort_by_hash(set->words, set->n);
	pfree(set->covers);
	pfree(occurrences);
	return set;
}

/*
 * (state bytea): the result, a composite (analysis, words, thresholds, rounds)
 */
Datum
word_set_agg_final(PG_FUNCTION_ARGS)
{
	WordSetState *state = state_argument(fcinfo, &state_methods, add_flat,
										 false);
	TupleDesc	desc = call_row_type(fcinfo);
	WordSet    *set;
	int64	   *hashes;
	Datum	   *thresholds;
	const Oid	types[] = {TEXTOID, INT8ARRAYOID, FLOAT4ARRAYOID, InvalidOid};
	Datum		values[lengthof(types)] = {0};
	bool		nulls[lengthof(types)] = {0};

	call_require_columns(desc, lengthof(types), types);
	fit_sample(state);
	set = build_word_set(state);
	/* a configuration has no name here */
	nulls[0] = (state->spec.filters & FILTER_CONFIG) != 0;
	if (!nulls[0])
		values[0] =
			CStringGetTextDatum(words_name(&state->spec, state->reading));
	values[1] = PointerGetDatum(call_bigints(set->n, &hashes));
	thresholds = palloc(Max(set->n, 1) * sizeof(Datum));
	for (size_t i = 0; i < set->n; i++)
	{
		hashes[i] = set->words[i].hash;
		thresholds[i] = Float4GetDatum(set->words[i].threshold);
	}
	values[2] =
		PointerGetDatum(construct_array(thresholds, set->n, FLOAT4OID,
										sizeof(float4),
										true, TYPALIGN_INT));
	values[3] = rounds_as_array(set, TupleDescAttr(desc, 3)->atttypid);
	PG_RETURN_DATUM(call_row(desc, lengthof(values), values, nulls));
}
