/*
 * features.c
 *		Methods that keep all features of a document.
 */
#include "postgres.h"

#include "fmgr.h"
#include "utils/array.h"

#include "base/call.h"
#include "base/compat.h"
#include "base/sort_uint64.h"
#include "document/doc_context.h"
#include "document/shingler.h"
#include "methods/method.h"
#include "signature/signature.h"

/* Sets of the user's numbers; sets with weights are in weighted/weighted.c */

const MethodInfo features_method = {
	.name = "features",.method = METHOD_FEATURES,.width = 64,
	.analysed = ANALYSED_NEVER,.set = true,.exact = true
};

static const SignatureSpec features_spec = {
	.version = SIGNATURE_VERSION,.method = METHOD_FEATURES,
	.unit = UNIT_NONE,.width = 64
};

/* signature_from(bigint[]): the set of the elements, as unsigned numbers */
PG_FUNCTION_INFO_V1(signature_from_array);
Datum
signature_from_array(PG_FUNCTION_ARGS)
{
	ArrayType  *array = PG_GETARG_ARRAYTYPE_P(0);
	size_t		n = ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array));
	Signature  *sig;

	if (array_contains_nulls(array))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("array of features contains a null value"),
				 errhint("Leave it out, for instance with array_remove(..., NULL).")));
	sig = signature_alloc(&features_spec, n);
	if (n > 0)
		memcpy(sig->values, ARR_DATA_PTR(array), n * sizeof(uint64));
	n = sort_distinct_hashes(sig->values, n);
	SET_VARSIZE(sig, SIGNATURE_HEADER + n * sizeof(uint64));
	sig->nfeatures = n;
	PG_RETURN_SIGNATURE(sig);
}

/* SQL functions: a document's set of shingles */

const MethodInfo shingles_method = {
	.name = "shingles",.method = METHOD_SHINGLES,.width = 64,
	.analysed = ANALYSED_ALWAYS,.set = true,.exact = true,.hashed = true
};

PG_FUNCTION_INFO_V1(shingles);

/* Return the set of a document's shingles. */
static Signature *
make_signature(DocContext *doccxt, const text *doc)
{
	size_t		n;
	const uint64 *set = doc_context_set(doccxt, doc, &n);
	Signature  *sig = signature_alloc(&doccxt->spec, n);

	memcpy(sig->values, set, n * sizeof(uint64));
	sig->nfeatures = n;
	return sig;
}

/* (doc text, k int, analysis text) */
Datum
shingles(PG_FUNCTION_ARGS)
{
	DocContext *doccxt = doc_context_get(fcinfo, 2);
	int			k = DOC_CONTEXT_GETARG_K(doccxt, 1);

	if (doccxt->configured)
		argument_whole("shingle size", k, 1, MAX_SHINGLE_SIZE);
	doc_context_read(doccxt, fcinfo, READS_SHINGLES, k);
	PG_RETURN_SIGNATURE(make_signature(doccxt,
									   DOC_CONTEXT_GETARG_TEXT(doccxt, 0)));
}

/*
 * The sums of neighbouring sentences, as a multiset
 *
 * A sentence is the sum of the hashes of its words, so that neither their
 * order nor, with a stemmer or a dictionary of base forms, their endings
 * matter.  A document of sentences A1 .. An is the multiset
 *
 *	A1 + A2, A2 + A3, ..., An-1 + An, An + 0
 *
 * in which moving a passage of any length changes only what stands at its ends
 * (Veretennikov, "A flexible approach to the problem of finding similar
 * documents").
 *
 * The signature is a set: the j-th occurrence of a value is another element
 * than the first.  The overlap of two such sets is the sum over all values of
 * the smaller number of occurrences, which is the source's measure, and
 * containment(a, b) is the share of a that is found in b.  Indexes and joins
 * of sets serve it without loss.
 */

PG_FUNCTION_INFO_V1(sentence_pairs);

const MethodInfo sentence_pairs_method = {
	.name = "sentence_pairs",.method = METHOD_SENTENCE_PAIRS,.width = 64,
	.analysed = ANALYSED_ALWAYS,.set = true,.exact = true,.hashed = true
};

/* Compute the sum of a sentence's words; false if it has none. */
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

/* Compute the sums of neighbouring sentences, and of the last one. */
static void
sum_pairs(Reader *reader, KeyList *pairs)
{
	uint64		last = 0;
	uint64		sum;
	bool		any = false;

	while (reader_next_sentence(reader))
	{
		if (!sum_sentence(reader, &sum))
			continue;
		if (any)
			keys_add(pairs, last + sum);
		last = sum;
		any = true;
	}
	if (any)
		keys_add(pairs, last);
}

/* Return the set of the sums of neighbouring sentences of a document. */
static Signature *
make_pairs(DocContext *doccxt, const text *doc)
{
	SignatureSpec spec = doccxt->analysis->spec;
	KeyList		pairs = {0};
	Signature  *sig;

	doc_context_begin(doccxt, doc);
	sum_pairs(doccxt->reader, &pairs);
	number_repeats(pairs.keys, pairs.n);
	pairs.n = sort_distinct_hashes(pairs.keys, pairs.n);
	spec.method = METHOD_SENTENCE_PAIRS;
	spec.width = 64;
	sig = signature_alloc(&spec, pairs.n);
	Assert(pairs.n == 0 || pairs.keys != NULL);
	if (pairs.n > 0)
		memcpy(sig->values, pairs.keys, pairs.n * sizeof(uint64));
	sig->nfeatures = pairs.n;
	return sig;
}

/* (doc text, analysis text) */
Datum
sentence_pairs(PG_FUNCTION_ARGS)
{
	DocContext *doccxt = doc_context_get(fcinfo, 1);

	doc_context_read(doccxt, fcinfo, READS_SENTENCES, 0);
	PG_RETURN_SIGNATURE(make_pairs(doccxt,
								   DOC_CONTEXT_GETARG_TEXT(doccxt, 0)));
}
