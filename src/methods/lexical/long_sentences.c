/*
 * long_sentences.c
 *		Long Sent: the hash of a document's longest sentences.
 *
 * The two sentences of most words, the longest first, stand for the document.
 * Whatever happens to the others does not change it.
 *
 * Source: Zelenkov and Segalovich, RCDL 2007.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/methods/lexical/long_sentences.c
 */
#include "postgres.h"

#include "base/hash.h"
#include "methods/lexical/chosen_sentences.h"
#include "methods/lexical/coordinates.h"

PG_FUNCTION_INFO_V1(long_sentences);

const MethodInfo long_sentences_method = {
	.name = "long_sentences", .method = METHOD_LONG_SENTENCES, .width = 64,
	.analysed = ANALYSED_ALWAYS, .nparams = 1,
	.check = coordinate_check,
	COORDINATES_CALLBACKS
};

static Datum
make_signature(FunctionCallInfo fcinfo, DocContext *doccxt, const text *doc, int n)
{
	ChosenSentences *sentences = sentences_choose(doccxt, n);
	uint64		hashes[MAX_SENTENCES];
	Signature  *sig;

	doc_context_begin(doccxt, doc);
	while (sentences_read(sentences, doccxt))
	{
		sentences->current.rank = sentences->current.nwords;
		sentences_consider(sentences);
	}
	if (sentences->n == 0)
		PG_RETURN_NULL();
	for (int i = 0; i < sentences->n; i++)
		hashes[i] = sentences->chosen[i].hash;
	sig = coordinates_alloc(doccxt, METHOD_LONG_SENTENCES, n, 0, 1);
	sig->values[0] = as_coordinate(hash_uint64s(hashes, sentences->n));
	sig->nfeatures = sentences->n;
	PG_RETURN_SIGNATURE(sig);
}

/* (doc text, analysis text, n int) */
Datum
long_sentences(PG_FUNCTION_ARGS)
{
	DocContext	   *doccxt = doc_context_get(fcinfo, 1);

	doc_context_read(doccxt, fcinfo, READS_ORDERED_SENTENCES);
	return make_signature(fcinfo, doccxt, DOC_CONTEXT_GETARG_TEXT(doccxt, 0),
						  DOC_CONTEXT_GETARG_INT32(doccxt, 2));
}
