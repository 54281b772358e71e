/*
 * shingles.c
 *		SQL functions: a document's set of shingles.
 */
#include "postgres.h"

#include "fmgr.h"

#include "base/call.h"
#include "base/compat.h"
#include "signature/signature.h"
#include "methods/method.h"
#include "document/doc_context.h"

const MethodInfo shingles_method = {
	.name = "shingles", .method = METHOD_SHINGLES, .width = 64,
	.analysed = ANALYSED_ALWAYS, .set = true, .exact = true, .hashed = true
};

PG_FUNCTION_INFO_V1(shingles);

static Signature *
make_signature(DocContext *doccxt, const text *doc)
{
	size_t		n;
	const uint64 *set = doc_context_set(doccxt, doc, true, &n);
	Signature  *sig = signature_alloc(&doccxt->spec, n);

	memcpy(sig->values, set, n * sizeof(uint64));
	sig->nfeatures = n;
	return sig;
}

/* (doc text, k int, analysis text) */
Datum
shingles(PG_FUNCTION_ARGS)
{
	DocContext	   *doccxt = doc_context_get(fcinfo, 2);
	int			k = DOC_CONTEXT_GETARG_K(doccxt, 1);

	if (doccxt->configured)
		argument_whole("shingle size", k, 1, MAX_SHINGLE_SIZE);
	doc_context_read_shingles(doccxt, fcinfo, READS_SHINGLES, k);
	PG_RETURN_SIGNATURE(make_signature(doccxt, DOC_CONTEXT_GETARG_TEXT(doccxt, 0)));
}
