/*
 * sentence_pairs.c
 *		The sums of neighbouring sentences, as a multiset.
 *
 * A sentence is the sum of the hashes of its words, so that neither their
 * order nor, with a stemmer or a dictionary of base forms, their endings
 * matter.  A document of sentences A1 .. An is the multiset
 *
 *		A1 + A2, A2 + A3, ..., An-1 + An, An + 0
 *
 * in which moving a passage of any length changes only what stands at its ends
 * (Veretennikov, "A flexible approach to the problem of finding similar
 * documents").  It is kept as a set: the j-th occurrence of a value is another
 * element than the first.  The overlap of two such sets is the sum over all
 * values of the smaller number of occurrences, which is the source's measure,
 * and containment(a, b) the share of a that is found in b.  Everything that
 * works on sets finds all of it, always.
 */
#include "postgres.h"

#include "base/memory.h"
#include "base/sort_uint64.h"
#include "document/repeats.h"
#include "methods/lexical/coordinates.h"

PG_FUNCTION_INFO_V1(sentence_pairs);


const MethodInfo sentence_pairs_method = {
	.name = "sentence_pairs", .method = METHOD_SENTENCE_PAIRS, .width = 64,
	.analysed = ANALYSED_ALWAYS, .set = true, .exact = true, .hashed = true
};

/* A list that grows; all zero is an empty one. */
typedef struct Values
{
	uint64	   *values;
	size_t		n;
	size_t		room;
} Values;

static void
append_value(Values *list, uint64 value)
{
	list->values = growing_reserve(list->values, &list->room, list->n + 1,
								   sizeof(uint64));
	list->values[list->n++] = value;
}

/* The sum of a sentence's words; false if it has none. */
static bool
sum_sentence(Reader *reader, uint64 *sum)
{
	uint64		hashes[READ_AT_ONCE];
	bool		any = false;
	size_t		n;

	*sum = 0;
	while ((n = reader_read_words(reader, hashes, READ_AT_ONCE)) > 0)
	{
		any = true;
		for (size_t i = 0; i < n; i++)
			*sum += hashes[i];
	}
	return any;
}

/* The sums of neighbouring sentences, and of the last one. */
static void
sum_pairs(Reader *reader, Values *pairs)
{
	uint64		last = 0;
	uint64		sum;
	bool		any = false;

	while (reader_next_sentence(reader))
	{
		if (!sum_sentence(reader, &sum))
			continue;
		if (any)
			append_value(pairs, last + sum);
		last = sum;
		any = true;
	}
	if (any)
		append_value(pairs, last);
}

static Signature *
make_signature(DocContext *doccxt, const text *doc)
{
	SignatureSpec		spec = doccxt->analysis->spec;
	Values		pairs = {0};
	Signature  *sig;

	doc_context_begin(doccxt, doc);
	sum_pairs(doccxt->reader, &pairs);
	number_repeats(pairs.values, pairs.n);
	pairs.n = sort_distinct_hashes(pairs.values, pairs.n);
	spec.method = METHOD_SENTENCE_PAIRS;
	spec.width = 64;
	sig = signature_alloc(&spec, pairs.n);
	if (pairs.n > 0)
		memcpy(sig->values, pairs.values, pairs.n * sizeof(uint64));
	sig->nfeatures = pairs.n;
	return sig;
}

/* (doc text, analysis text) */
Datum
sentence_pairs(PG_FUNCTION_ARGS)
{
	DocContext	   *doccxt = doc_context_get(fcinfo, 1);

	doc_context_read(doccxt, fcinfo, READS_SENTENCES);
	PG_RETURN_SIGNATURE(make_signature(doccxt, DOC_CONTEXT_GETARG_TEXT(doccxt, 0)));
}
