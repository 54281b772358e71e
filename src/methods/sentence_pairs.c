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
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/methods/sentence_pairs.c
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "features/sort.h"
#include "hash.h"
#include "methods/coordinates.h"

PG_FUNCTION_INFO_V1(sentence_pairs);
PG_FUNCTION_INFO_V1(sentence_pairs_with_config);

#define WORDS_BLOCK		1024	/* words read at a time */

const MethodInfo sentence_pairs_method = {
	.name = "sentence_pairs", .method = METHOD_SENTENCE_PAIRS, .width = 64,
	.analysed = ANALYSED_ALWAYS, .set = true, .exact = true, .hashed = true
};

/* A list that grows. */
typedef struct Values
{
	uint64	   *values;			/* palloc'd */
	size_t		n;
	size_t		size;
} Values;

static void
append_value(Values *list, uint64 value)
{
	if (list->n == list->size)
	{
		list->size *= 2;
		list->values = repalloc_huge(list->values,
									 list->size * sizeof(uint64));
	}
	list->values[list->n++] = value;
}

/* The sum of a sentence's words; false if it has none. */
static bool
sum_sentence(Reader *reader, uint64 *sum)
{
	uint64		hashes[WORDS_BLOCK];
	bool		any = false;
	size_t		n;

	*sum = 0;
	while ((n = reader_read_words(reader, hashes, WORDS_BLOCK)) > 0)
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

/*
 * Turns a sorted list into a set in which the j-th occurrence of a value has
 * an element of its own.
 */
static void
label_repeated(Values *list)
{
	uint64		value = 0;
	uint64		occurrence = 0;

	for (size_t i = 0; i < list->n; i++)
	{
		if (i > 0 && list->values[i] == value)
			list->values[i] = mix64(value ^ mix64(++occurrence));
		else
		{
			value = list->values[i];
			occurrence = 0;
		}
	}
	list->n = sort_distinct_hashes(list->values, list->n);
}

static Signature *
make_signature(Site *site, const text *doc)
{
	Making		making = site->analysis->making;
	Values		pairs = {.size = 64};
	Signature  *sig;

	pairs.values = palloc(pairs.size * sizeof(uint64));
	site_begin(site, doc);
	sum_pairs(site->reader, &pairs);
	sort_hashes(pairs.values, pairs.n);
	label_repeated(&pairs);
	making.method = METHOD_SENTENCE_PAIRS;
	making.width = 64;
	sig = signature_alloc(&making, pairs.n);
	memcpy(sig->values, pairs.values, pairs.n * sizeof(uint64));
	sig->nfeatures = pairs.n;
	pfree(pairs.values);
	return sig;
}

/* (doc text, analysis text) */
Datum
sentence_pairs(PG_FUNCTION_ARGS)
{
	Site	   *site = site_get(fcinfo);

	site_use_analysis(site, PG_GETARG_TEXT_PP(0), PG_GETARG_TEXT_PP(1),
					  READS_SENTENCES);
	PG_RETURN_SIGNATURE(make_signature(site, PG_GETARG_TEXT_PP(0)));
}

/* (config regconfig, doc text) */
Datum
sentence_pairs_with_config(PG_FUNCTION_ARGS)
{
	Site	   *site = site_get(fcinfo);

	site_use_config(site, PG_GETARG_OID(0), READS_SENTENCES);
	PG_RETURN_SIGNATURE(make_signature(site, PG_GETARG_TEXT_PP(1)));
}
