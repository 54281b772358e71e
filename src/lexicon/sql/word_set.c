/*
 * word_set.c
 *		The aggregate that builds a set of descriptive words from documents.
 *
 * Building needs every word's share of every document, so it works on a
 * sample: the documents of the smallest hashes, as many as fit.  Once one does
 * not fit, none of a greater hash is taken, so that the same documents are in
 * it whatever order they come in, and however many workers gather them.
 */
#include "postgres.h"

#include <math.h>

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
#include "base/memory.h"
#include "document/doc_context.h"

PG_FUNCTION_INFO_V1(word_set_agg_add);
PG_FUNCTION_INFO_V1(word_set_agg_combine);
PG_FUNCTION_INFO_V1(word_set_agg_final);

#define MAX_DOCUMENTS	50000	/* in the sample */
#define MAX_OCCURRENCES	10000000	/* of words in documents, in the sample */
#define DEFAULT_WORDS	3000	/* wanted */
#define MAX_WORDS		65535

/*
 * Building a set of descriptive words
 *
 * A document's bit for a word is set if the word's share of the document is
 * above the word's threshold.  A good threshold has few documents near it,
 * which a small change could carry across, and many above it.  Near is what
 * one word more or less in a document of average length amounts to.
 *
 * The set is built in rounds, as the source describes.  Each one, with ever
 * fewer words to be left, first chooses for every word the threshold with the
 * most documents above it whose instability is within what the round allows,
 * then, of those with nearly as many above, the most stable one; and then drops
 * the worst words, but not those without which a document would have none, as
 * long as others are left to drop.
 *
 * Source: Ilyinsky, Kuzmin, Melkov and Segalovich, "An efficient method to
 * detect duplicates of Web documents with the use of inverted index" (WWW
 * 2002).
 */

/* A word's share of one document. */
typedef struct Occurrence
{
	uint64		hash;			/* of the word */
	float		share;			/* tf / length of the document */
	uint32		document;		/* its number */
} Occurrence;

/* A word with the share from which on a document has it. */
typedef struct DescriptiveWord
{
	uint64		hash;
	float		threshold;
	double		unstable;		/* documents near the threshold, in relation
								 * to those above it */
	size_t		first;			/* its occurrences, by falling share */
	size_t		n;
	size_t		above;			/* how many are above the threshold */
} DescriptiveWord;

/* What a round has left. */
typedef struct WordSetRound
{
	size_t		words;
	double		covered;		/* share of documents that have some word */
	double		unstable;		/* mean of the words' */
} WordSetRound;

#define WORD_SET_ROUNDS		8

typedef struct WordSet
{
	DescriptiveWord *words;		/* by rising hash */
	size_t		n;
	WordSetRound rounds[WORD_SET_ROUNDS + 1];	/* the first is before any */
	int			nrounds;
} WordSet;


#define MIN_DOCUMENTS	3		/* that have a word for it to be considered */
#define NEARLY			0.8		/* share of the best coverage that will do */

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

typedef struct Builder
{
	const Occurrence *occurrences;	/* by word, then by falling share */
	size_t		documents;
	double		near;			/* what a small change amounts to */
	uint32	   *covers;			/* words that a document has, each */
	WordSet    *set;
} Builder;

/* Choosing thresholds */

/*
 * The instability of a threshold just below the i-th largest share of n.
 * *near_from and *near_to are the bounds, in the array, of the shares near it;
 * they only ever rise with i.
 */
static double
instability(const Occurrence *shares, size_t n, size_t i, double near,
			double threshold, size_t *from, size_t *to)
{
	while (*from < n && shares[*from].share > threshold + near)
		(*from)++;
	while (*to < n && shares[*to].share >= threshold - near)
		(*to)++;
	return (double) (*to - *from) / (i + 1);
}

/* The threshold between the i-th largest share and the next smaller one. */
static float
threshold_below(const Occurrence *shares, size_t n, size_t i)
{
	float		below = i + 1 < n ? shares[i + 1].share : 0;

	return (shares[i].share + below) / 2;
}

/*
 * Chooses a word's threshold: the most documents above it with an instability
 * of at most `allowed`, or, if least is given, the least instability with at
 * least that many above.  False if there is none.
 */
static bool
choose_threshold(const Builder *builder, DescriptiveWord *word,
				 double allowed, size_t least)
{
	const Occurrence *shares = &builder->occurrences[word->first];
	size_t		from = 0;
	size_t		to = 0;
	bool		found = false;
	double		best = allowed;

	for (size_t i = 0; i < word->n; i++)
	{
		float		threshold = threshold_below(shares, word->n, i);
		double		unstable;

		if (i + 1 < word->n && shares[i + 1].share == shares[i].share)
			continue;
		/* documents without the word are not to be near */
		if (threshold <= builder->near)
			break;
		unstable = instability(shares, word->n, i, builder->near, threshold,
							   &from, &to);
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

/* Both steps, for all words; drops those that have no threshold. */
static void
choose_thresholds(Builder *builder, double allowed)
{
	WordSet    *set = builder->set;
	size_t		kept = 0;

	for (size_t i = 0; i < set->n; i++)
	{
		DescriptiveWord word = set->words[i];

		if (i % 1024 == 0)
			CHECK_FOR_INTERRUPTS();
		if (!choose_threshold(builder, &word, allowed, 0))
			continue;
		(void) choose_threshold(builder, &word, allowed,
								Max(1, (size_t) ceil(word.above * NEARLY)));
		if (word.above >= MIN_DOCUMENTS)
			set->words[kept++] = word;
	}
	set->n = kept;
}

/* Dropping words */

/* Adds a word's documents to the counts of covers, or takes them away. */
static void
cover(Builder *builder, const DescriptiveWord *word, int by)
{
	for (size_t i = 0; i < word->above; i++)
		builder->covers[builder->occurrences[word->first + i].document] += by;
}

/* Whether some document has no other word than this. */
static bool
is_needed(const Builder *builder, const DescriptiveWord *word)
{
	for (size_t i = 0; i < word->above; i++)
	{
		if (builder->covers[builder->occurrences[word->first + i].document] == 1)
			return true;
	}
	return false;
}

/*
 * Drops the worst words until `wanted` are left: first those that no document
 * needs, then others.
 */
static void
drop_worst(Builder *builder, size_t wanted)
{
	WordSet    *set = builder->set;

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
				(pass == 1 || !is_needed(builder, &set->words[i])))
			{
				cover(builder, &set->words[i], -1);
				excess--;
			}
			else
				set->words[kept++] = set->words[i];
		}
		set->n = kept;
	}
	Assert(set->n <= wanted);
}

static void
record_round(Builder *builder)
{
	WordSet    *set = builder->set;
	WordSetRound *round = &set->rounds[set->nrounds++];
	size_t		covered = 0;
	double		unstable = 0;

	Assert(set->nrounds <= lengthof(set->rounds));
	for (size_t i = 0; i < builder->documents; i++)
		covered += builder->covers[i] > 0;
	for (size_t i = 0; i < set->n; i++)
		unstable += set->words[i].unstable;
	round->words = set->n;
	round->covered = builder->documents == 0 ? 0 :
		(double) covered / builder->documents;
	round->unstable = set->n == 0 ? 0 : unstable / set->n;
}

static void
count_covers(Builder *builder)
{
	memset(builder->covers, 0, builder->documents * sizeof(uint32));
	for (size_t i = 0; i < builder->set->n; i++)
		cover(builder, &builder->set->words[i], 1);
}

/* The words that enough documents have. */
static void
collect_words(Builder *builder, size_t n)
{
	WordSet    *set = builder->set;
	size_t		room = 0;

	for (size_t first = 0, end; first < n; first = end)
	{
		DescriptiveWord word = {.hash = builder->occurrences[first].hash};

		for (end = first; end < n &&
			 builder->occurrences[end].hash == word.hash; end++)
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

/* The instability of the worst word that is left. */
static double
worst_instability(const WordSet *set)
{
	double		worst = 0;

	for (size_t i = 0; i < set->n; i++)
		worst = Max(worst, set->words[i].unstable);
	return worst;
}

/*
 * Build a set of at most `wanted` words from the n occurrences of words in
 * `documents` documents of `length` words on average.  Sorts the occurrences.
 */
static WordSet *
build_word_set(Occurrence *occurrences, size_t n, size_t documents,
			   double length, size_t wanted)
{
	WordSet    *set = palloc0(sizeof(WordSet));
	Builder		builder = {.occurrences = occurrences,.set = set};
	double		allowed = HUGE_VAL;
	size_t		initial;

	sort_occurrences(occurrences, n);
	builder.documents = documents;
	builder.near = length > 0 ? 1 / length : 1;
	builder.covers = MemoryContextAllocExtended(CurrentMemoryContext,
												Max(documents, 1) * sizeof(uint32),
												MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	collect_words(&builder, n);
	choose_thresholds(&builder, allowed);
	count_covers(&builder);
	record_round(&builder);
	initial = set->n;
	for (int round = 1; round <= WORD_SET_ROUNDS && initial > wanted; round++)
	{
		double		share = (double) round / WORD_SET_ROUNDS;
		size_t		left = round == WORD_SET_ROUNDS ? wanted : (size_t)
		ceil(initial * pow((double) wanted / initial, share));

		drop_worst(&builder, left);
		allowed = worst_instability(set);
		choose_thresholds(&builder, allowed);
		count_covers(&builder);
		record_round(&builder);
	}
	sort_by_hash(set->words, set->n);
	pfree(builder.covers);
	return set;
}

/* The sample of documents */

typedef struct SampleWord
{
	uint64		hash;
	double		share;			/* of the document; a float's value */
} SampleWord;

typedef struct DocumentHead
{
	uint64		hash;			/* of its text */
	uint64		length;			/* in words */
	uint64		n;				/* distinct words */
} DocumentHead;

/* A document of the sample; a flat state has the same head and words. */
typedef struct SampleDocument
{
	pairingheap_node node;		/* the one of the largest hash on top */
	DocumentHead head;
	SampleWord	words[FLEXIBLE_ARRAY_MEMBER];
} SampleDocument;

#define DOCUMENT_SIZE(n) \
	(offsetof(SampleDocument, words) + (n) * sizeof(SampleWord))

StaticAssertDecl(offsetof(SampleDocument, words) ==
				 offsetof(SampleDocument, head) + sizeof(DocumentHead),
				 "SampleDocument has padding");

/* What a sample is, but for its documents. */
typedef struct SampleInfo
{
	size_t		documents;		/* in the sample */
	size_t		occurrences;	/* in the sample */
	uint64		limit;			/* the least hash that did not fit */
	SignatureSpec spec;			/* of the words */
	uint8		reading;		/* READING_... */
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
	uint64		left = pairingheap_const_container(SampleDocument, node, a)->head.hash;
	uint64		right = pairingheap_const_container(SampleDocument, node, b)->head.hash;

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
	if (spec_equal(&a->spec, &b->spec) && a->reading == b->reading &&
		a->wanted == b->wanted)
		return;
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("analysis and number of words must be the same for all documents of a word set"),
			 errdetail("One document has \"%s%s\" and %d, another one \"%s%s\" and %d.",
					   words_name(&a->spec), analysis_reading(a->reading),
					   a->wanted,
					   words_name(&b->spec), analysis_reading(b->reading),
					   b->wanted),
			 errhint("Make a word set of each, as with GROUP BY.")));
}

static uint64
largest_hash(const WordSetState *state)
{
	return pairingheap_container(SampleDocument, node,
								 pairingheap_first(state->sample))->head.hash;
}

/* Takes the document of the largest hash out of the sample. */
static SampleDocument *
pop_document(WordSetState *state)
{
	SampleDocument *document =
	pairingheap_container(SampleDocument, node,
						  pairingheap_remove_first(state->sample));

	state->info.documents--;
	state->info.occurrences -= document->head.n;
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

		state->info.limit = document->head.hash;
		pfree(document);
	}
}

/* Takes a document, which is in the state's context, into the sample. */
static void
push_document(WordSetState *state, SampleDocument *document)
{
	pairingheap_add(state->sample, &document->node);
	state->info.documents++;
	state->info.occurrences += document->head.n;
	fit_sample(state);
}

/* A document of what is in the bag. */
static SampleDocument *
create_document(MemoryContext context, const Bag *bag, uint64 hash)
{
	SampleDocument *document =
	MemoryContextAllocHuge(context, DOCUMENT_SIZE(bag->nwords));

	document->head.hash = hash;
	document->head.length = bag->stats.length;
	document->head.n = bag->nwords;
	for (size_t i = 0; i < bag->nwords; i++)
	{
		document->words[i].hash = bag->words[i].hash;
		document->words[i].share = (float) ((double) bag->words[i].tf /
											bag->stats.length);
	}
	return document;
}

/* Flat states */

/* A flat state: this, then the documents. */
typedef struct FlatSample
{
	uint64		wanted;
	uint64		documents;
	uint64		limit;
	char		analysis[LEXICON_BYTES_SIZE(0)];	/* a lexicon without words */
} FlatSample;

static Size
state_size(ExpandedObjectHeader *header)
{
	SampleInfo *info = &((WordSetState *) header)->info;

	return state_flat_size("word_set_agg", sizeof(FlatSample) +
						   info->documents * sizeof(DocumentHead) +
						   info->occurrences * sizeof(SampleWord));
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

static void
state_flatten(ExpandedObjectHeader *header, void *result, Size size)
{
	WordSetState *state = (WordSetState *) header;
	MemoryContext old = MemoryContextSwitchTo(header->eoh_context);
	SampleDocument **documents = sample_documents(state);
	Lexicon    *analysis = lexicon_alloc(&state->info.spec,
										 state->info.reading, 0);
	FlatSample	head = {
		.wanted = state->info.wanted,.documents = state->info.documents,
		.limit = state->info.limit
	};
	char	   *at = VARDATA(result);

	lexicon_seal(analysis);
	lexicon_swap(analysis);
	memcpy(head.analysis, LEXICON_BYTES(analysis), sizeof(head.analysis));
	SET_VARSIZE(result, size);
	memcpy(at, &head, sizeof(head));
	at += sizeof(head);
	for (size_t i = 0; i < state->info.documents; i++)
	{
		Size		bytes = sizeof(DocumentHead) + documents[i]->head.n * sizeof(SampleWord);

		CHECK_EVERY(i);
		memcpy(at, &documents[i]->head, bytes);
		at += bytes;
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
 * Take the next document of a flat state into the sample, unless its hash is
 * beyond the limit.
 */
static void
add_flat_document(WordSetState *state, const char **at, const char *end)
{
	DocumentHead head;
	SampleDocument *document;

	if ((size_t) (end - *at) < sizeof(DocumentHead))
		bad_state("It is cut off.");
	memcpy(&head, *at, sizeof(DocumentHead));
	*at += sizeof(DocumentHead);
	if (head.n > (size_t) (end - *at) / sizeof(SampleWord))
		bad_state("It is cut off.");
	if (head.hash <= state->info.limit)
	{
		document = MemoryContextAllocHuge(state->header.eoh_context,
										  DOCUMENT_SIZE(head.n));
		document->head = head;
		memcpy(document->words, *at, head.n * sizeof(SampleWord));
		for (size_t i = 0; i < head.n; i++)
		{
			if (!(document->words[i].share > 0 && document->words[i].share <= 1))
				bad_state("A word's share of its document is out of range.");
		}
		push_document(state, document);
	}
	*at += head.n * sizeof(SampleWord);
}

/* Takes up what a flat state says of the sample; its reading and so on are checked. */
static SampleInfo
flat_info(const FlatSample *head)
{
	Lexicon    *analysis = lexicon_from_bytes(head->analysis,
											  sizeof(head->analysis));
	SampleInfo	info = {
		.limit = head->limit,.wanted = Min(head->wanted, PG_INT32_MAX),
		.reading = analysis->reading
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
	memcpy(&head, at, sizeof(head));
	at += sizeof(head);
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
		.limit = PG_UINT64_MAX,.spec = doccxt->words,
		.reading = doccxt->analysis->reading,.wanted = wanted
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
	DocContext *doccxt = doc_context_of_aggregate(fcinfo, 2);
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

	return a->head.hash > b->head.hash ? -1 : a->head.hash < b->head.hash;
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
		sum += document->head.length;
		for (size_t i = 0; i < document->head.n; i++)
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
	*isnull = (state->info.spec.filters & FILTER_CONFIG) != 0;
	if (*isnull)
		return (Datum) 0;
	return CStringGetTextDatum(psprintf("%s%s", words_name(&state->info.spec),
										analysis_reading(state->info.reading)));
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
	set = build_word_set(occurrences, state->info.occurrences,
						 state->info.documents, length, state->info.wanted);
	values[0] = analysis_as_text(state, &nulls[0]);
	values[1] = words_as_array(set, false);
	values[2] = words_as_array(set, true);
	values[3] = rounds_as_array(set, TupleDescAttr(desc, 3)->atttypid);
	PG_RETURN_DATUM(call_row(desc, lengthof(values), values, nulls));
}
