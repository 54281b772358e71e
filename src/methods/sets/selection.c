/*
 * selection.c
 *		Sets of some of a document's features, chosen in one way or another.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/methods/sets/selection.c
 */
#include "postgres.h"

#include "utils/array.h"
#include "utils/builtins.h"

#include "base/arguments.h"
#include "base/sort_uint64.h"
#include "methods/sets/selection.h"

const char *
selection_check(const Signature *sig)
{
	if (SIGNATURE_NVALUES(sig) > sig->nfeatures)
		return "It has more values than features.";
	return NULL;
}

const char *
selection_counted_check(const Signature *sig)
{
	if (sig->spec.param[0] < 1)
		return "Its parameter is zero.";
	return selection_check(sig);
}

uint64 *
selection_alloc(size_t n)
{
	return palloc_extended(Max(n, 1) * sizeof(uint64), MCXT_ALLOC_HUGE);
}

Signature *
selection(const SignatureSpec *source, Method method, uint32 param0, uint32 param1,
		  uint64 *chosen, size_t nchosen, uint64 *all, size_t nall)
{
	SignatureSpec		spec = *source;
	Signature  *sig;

	spec.method = method;
	spec.param[0] = param0;
	spec.param[1] = param1;
	nchosen = sort_distinct_hashes(chosen, nchosen);
	sig = signature_alloc(&spec, nchosen);
	memcpy(sig->values, chosen, nchosen * sizeof(uint64));
	sig->nfeatures = sort_distinct_hashes(all, nall);
	return sig;
}

/* By position */

Signature *
select_by_position(FunctionCallInfo fcinfo, Method method, const char *what,
				   SelectFunction function)
{
	DocContext	   *doccxt = doc_context_get(fcinfo, 3);
	uint32		param = argument_whole(what, DOC_CONTEXT_GETARG_INT32(doccxt, 1), 1,
										PG_INT32_MAX);
	Sequence	sequence;
	uint64	   *chosen;
	size_t		n;

	doc_context_read_shingles(doccxt, fcinfo, READS_SHINGLES, DOC_CONTEXT_GETARG_K(doccxt, 2));
	sequence = doc_context_sequence(doccxt, DOC_CONTEXT_GETARG_TEXT(doccxt, 0));
	chosen = selection_alloc(sequence.nshingles);
	n = function(sequence.shingles, sequence.nshingles, param, chosen);
	return selection(&doccxt->spec, method, param, 0, chosen, n,
					 sequence.shingles, sequence.nshingles);
}

/* By anchors */

/* A call site's anchors, and the array that they were made of. */
typedef struct AnchorSite
{
	MemoryContext context;		/* holds it and what it points at */
	ArrayType  *array;
	Anchors    *anchors;
	uint64		hash;
} AnchorSite;

/* Adds one anchor, read as a document is. */
static void
add_anchor(Anchors *anchors, DocContext *doccxt, text *anchor)
{
	Sequence	sequence = doc_context_sequence(doccxt, anchor);

	if (sequence.nunits == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("anchor \"%s\" is empty", text_to_cstring(anchor)),
				 errdetail("The analysis leaves nothing of it.")));
	anchors_add(anchors, sequence.units, sequence.nunits);
}

/* Anchors without any, for a site; in the place of those that it has. */
static AnchorSite *
new_anchors(DocContext *doccxt, const ArrayType *array)
{
	AnchorSite *kept = doccxt->kept;
	MemoryContext context;

	doccxt->kept = NULL;
	if (kept != NULL)
		MemoryContextDelete(kept->context);
	context = AllocSetContextCreate(doccxt->context, "neardup anchors",
									ALLOCSET_SMALL_SIZES);
	kept = MemoryContextAlloc(context, sizeof(AnchorSite));
	kept->context = context;
	kept->array = MemoryContextAlloc(context, VARSIZE(array));
	memcpy(kept->array, array, VARSIZE(array));
	return kept;
}

/* The anchors of an array of text, made once for a site and the array. */
static const AnchorSite *
doc_context_anchors(DocContext *doccxt, ArrayType *array)
{
	AnchorSite *kept = doccxt->kept;
	MemoryContext old;
	Datum	   *elements;
	int			n;

	if (kept != NULL && VARSIZE(kept->array) == VARSIZE(array) &&
		memcmp(kept->array, array, VARSIZE(array)) == 0)
		return kept;
	argument_elements("anchors", array);
	deconstruct_array(array, TEXTOID, -1, false, TYPALIGN_INT, &elements,
					  NULL, &n);
	kept = new_anchors(doccxt, array);
	old = MemoryContextSwitchTo(kept->context);
	kept->anchors = anchors_create();
	for (int i = 0; i < n; i++)
		add_anchor(kept->anchors, doccxt, DatumGetTextPP(elements[i]));
	kept->hash = anchors_finish(kept->anchors);
	MemoryContextSwitchTo(old);
	doccxt->kept = kept;
	return kept;
}

Signature *
select_by_anchors(FunctionCallInfo fcinfo, DocContext *doccxt, Method method,
				  AnchorFunction function)
{
	ArrayType  *array = PG_GETARG_ARRAYTYPE_P(doc_context_argument(doccxt, 1));
	const AnchorSite *anchors = doc_context_anchors(doccxt, array);
	Sequence	sequence = doc_context_sequence(doccxt, DOC_CONTEXT_GETARG_TEXT(doccxt, 0));
	uint64	   *chosen = selection_alloc(sequence.nunits);
	size_t		n = function(&sequence, anchors->anchors, chosen);

	return selection(&doccxt->spec, method, (uint32) anchors->hash,
					 anchors->hash >> 32, chosen, n,
					 sequence.shingles, sequence.nshingles);
}
