/*
 * selections.c
 *		Sets of selected features of a document.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"

#include "base/call.h"
#include "base/hash.h"
#include "base/interrupts.h"
#include "base/memory.h"
#include "base/sort_uint64.h"
#include "document/select.h"
#include "signature/sets.h"
#include "methods/method.h"
#include "document/doc_context.h"

/* Fields that the MethodInfo of all selections have in common */
#define SELECTION .width = 64, .set = true, .hashed = true

/*
 * A function that chooses some of n hashes, and returns the number of chosen
 * ones
 */
typedef size_t (*SelectFunction) (const uint64 *hashes, size_t n, size_t param,
								  uint64 *chosen);

/*
 * MethodInfo.check: there are not more selected features than features of the
 * document.
 */
static const char *
selection_check(const Signature *sig)
{
	if (SIGNATURE_NVALUES(sig) > sig->nfeatures)
		return "It has more values than features.";
	return NULL;
}

/*
 * MethodInfo.check: the first parameter, a number, is not zero; and
 * selection_check().
 */
static const char *
selection_counted_check(const Signature *sig)
{
	if (sig->spec.param[0] < 1)
		return "Its parameter is zero.";
	return selection_check(sig);
}

/*
 * Return the signature, by a method, of the chosen features of a document;
 * `all` has all its features, with repetitions.  Both arrays are sorted in
 * place. `param` has both parameters of the spec, the second in the upper
 * half.
 */
static Signature *
selection(const SignatureSpec *source, Method method, uint64 param,
		  uint64 *chosen,
		  size_t nchosen, uint64 *all, size_t nall)
{
	SignatureSpec spec = *source;
	Signature  *sig;

	Assert(nchosen <= nall);
	spec.method = method;
	spec.param[0] = (uint32) param;
	spec.param[1] = param >> 32;
	nchosen = sort_distinct_hashes(chosen, nchosen);
	sig = signature_alloc(&spec, nchosen);
	memcpy(sig->values, chosen, nchosen * sizeof(uint64));
	sig->nfeatures = sort_distinct_hashes(all, nall);
	return sig;
}

/* By position */

/*
 * Select shingles by their position.  Arguments of the call: document,
 * parameter, shingle size, analysis; `what` names the parameter in errors.
 */
static Signature *
select_by_position(FunctionCallInfo fcinfo, Method method, const char *what,
				   SelectFunction function)
{
	DocContext *doccxt = doc_context_get(fcinfo, 3);
	uint32		param = argument_whole(what,
									   DOC_CONTEXT_GETARG_INT32(doccxt, 1), 1,
									   PG_INT32_MAX);
	Sequence	sequence;
	uint64	   *chosen;
	size_t		n;

	doc_context_read(doccxt, fcinfo, READS_SHINGLES,
					 DOC_CONTEXT_GETARG_K(doccxt, 2));
	sequence = doc_context_sequence(doccxt,
									DOC_CONTEXT_GETARG_TEXT(doccxt, 0));
	chosen = palloc_huge(sequence.nshingles, sizeof(uint64));
	n = function(sequence.shingles, sequence.nshingles, param, chosen);
	return selection(&doccxt->spec, method, param, chosen, n,
					 sequence.shingles, sequence.nshingles);
}

/* By anchors */

/* The anchors of a call site, and their array */
typedef struct AnchorSite
{
	MemoryContext context;		/* owns this struct and all it points at */
	ArrayType  *array;
	Anchors    *anchors;
	uint64		hash;
} AnchorSite;

/* Add an anchor, read like a document. */
static void
add_anchor(Anchors *anchors, DocContext *doccxt, text *anchor)
{
	Sequence	sequence = doc_context_sequence(doccxt, anchor);

	if (sequence.nunits == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("anchor \"%s\" is empty", text_to_cstring(anchor)),
				 errdetail("The analysis drops all of it.")));
	anchors_add(anchors, sequence.units, sequence.nunits);
}

/* Make empty anchors of a call site, in place of its last ones. */
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

/*
 * Return the anchors of an array of text, made once for a call site and array.
 */
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

/* Select shingles by anchors. Arguments of the call: document, anchors. */
static Signature *
select_by_anchors(FunctionCallInfo fcinfo, DocContext *doccxt, Method method,
				  bool following)
{
	ArrayType  *array = PG_GETARG_ARRAYTYPE_P(doc_context_argument(doccxt, 1));
	const AnchorSite *anchors = doc_context_anchors(doccxt, array);
	Sequence	sequence = doc_context_sequence(doccxt,
												DOC_CONTEXT_GETARG_TEXT(doccxt,
																		0));
	uint64	   *chosen = palloc_huge(sequence.nunits, sizeof(uint64));
	size_t		n = select_by_anchor(&sequence, anchors->anchors, following,
									 chosen);

	return selection(&doccxt->spec, method, anchors->hash, chosen, n,
					 sequence.shingles, sequence.nshingles);
}

/*
 * Winnowing: the least hash of each window of shingles.  Schleimer, Wilkerson
 * & Aiken, "Winnowing: local algorithms for document fingerprinting", SIGMOD
 * 2003; see document/select.h.
 */

/* parameter: window */
const MethodInfo winnow_method = {
	.name = "winnow",.method = METHOD_WINNOW, SELECTION,
	.analysed = ANALYSED_ALWAYS,.nparams = 1,.check = selection_counted_check
};

/* (doc text, window int, k int, analysis text) */
PG_FUNCTION_INFO_V1(winnow_text);
Datum
winnow_text(PG_FUNCTION_ARGS)
{
	PG_RETURN_SIGNATURE(select_by_position(fcinfo, METHOD_WINNOW, "window",
										   select_winnow));
}

/* winnow(bigint[], int): a selection of given hashes, in their order */
PG_FUNCTION_INFO_V1(winnow_array);
Datum
winnow_array(PG_FUNCTION_ARGS)
{
	ArrayType  *array = PG_GETARG_ARRAYTYPE_P(0);
	uint32		window = argument_whole("window", PG_GETARG_INT32(1), 1,
										PG_INT32_MAX);
	size_t		n = argument_elements("hashes", array);
	uint64	   *chosen = palloc_huge(n, sizeof(uint64));
	ArrayType  *result;
	int64	   *values;

	n = select_winnow((const uint64 *) ARR_DATA_PTR(array), n, window, chosen);
	result = call_bigints(n, &values);
	if (n > 0)
		memcpy(values, chosen, n * sizeof(uint64));
	PG_RETURN_ARRAYTYPE_P(result);
}

/* Every m-th shingle of a document */

/* parameter: m */
const MethodInfo every_nth_method = {
	.name = "every_nth",.method = METHOD_EVERY_NTH, SELECTION,
	.analysed = ANALYSED_ALWAYS,.nparams = 1,.check = selection_counted_check
};

/* (doc text, n int, k int, analysis text) */
PG_FUNCTION_INFO_V1(every_nth_of_text);
Datum
every_nth_of_text(PG_FUNCTION_ARGS)
{
	PG_RETURN_SIGNATURE(select_by_position(fcinfo, METHOD_EVERY_NTH,
										   "distance", select_every));
}

/* Shingles that begin with an anchor */

/* parameters: hash of the anchors, lower and upper half */
const MethodInfo anchored_method = {
	.name = "anchored",.method = METHOD_ANCHORED, SELECTION,
	.analysed = ANALYSED_ALWAYS,.nparams = 2,.check = selection_check
};

/* (doc text, anchors text[], k int, analysis text) */
PG_FUNCTION_INFO_V1(anchored_of_text);
Datum
anchored_of_text(PG_FUNCTION_ARGS)
{
	DocContext *doccxt = doc_context_get(fcinfo, 3);

	doc_context_read(doccxt, fcinfo, READS_SHINGLES,
					 DOC_CONTEXT_GETARG_K(doccxt, 2));
	PG_RETURN_SIGNATURE(select_by_anchors(fcinfo, doccxt, METHOD_ANCHORED,
										  false));
}

/* Substrings that follow an anchor (Manber, "Finding similar files", 1994) */

/* MethodInfo.check: the unit is the character; and selection_check(). */
static const char *
sif_check(const Signature *sig)
{
	if (sig->spec.unit != UNIT_CHAR)
		return "Its unit is not the character.";
	return selection_check(sig);
}

const MethodInfo sif_method = {
	.name = "sif",.method = METHOD_SIF, SELECTION,
	.analysed = ANALYSED_ALWAYS,.nparams = 2,.check = sif_check
};

/* (doc text, anchors text[], length int, analysis text) */
PG_FUNCTION_INFO_V1(sif_of_text);
Datum
sif_of_text(PG_FUNCTION_ARGS)
{
	DocContext *doccxt = doc_context_get(fcinfo, 3);
	int			length = argument_whole("length of a substring",
										DOC_CONTEXT_GETARG_INT32(doccxt, 2), 1,
										MAX_SHINGLE_SIZE);

	doc_context_read(doccxt, fcinfo, READS_CHARS, length);
	PG_RETURN_SIGNATURE(select_by_anchors(fcinfo, doccxt, METHOD_SIF,
										  true));
}

/* Substrings of consonants, the rarest ones (Heintze, 1996) */

/* Letters at the beginning of a substring, whose rarity counts for koala() */
#define KOALA_BEGIN		5

/*
 * MethodInfo.check: the unit is the character, and there are at most as many
 * values as the parameter says.
 */
static const char *
koala_check(const Signature *sig)
{
	if (sig->spec.unit != UNIT_CHAR)
		return "Its unit is not the character.";
	if (SIGNATURE_NVALUES(sig) > sig->spec.param[0])
		return "It has more values than its parameter says.";
	return selection_counted_check(sig);
}

/* parameter: number of substrings */
const MethodInfo koala_method = {
	.name = "koala",.method = METHOD_KOALA, SELECTION,
	.analysed = ANALYSED_ALWAYS,.nparams = 1,.check = koala_check
};

/* Compute the hashes of all substrings of `length` letters. */
static uint64 *
substring_hashes(const uint64 *letters, size_t n, size_t length)
{
	uint64	   *hashes = palloc_huge(n, sizeof(uint64));

	for (size_t i = 0; i < n; i++)
	{
		hashes[i] = hash_uint64s(letters + i, length);
		if (i % 4096 == 4095)
			CHECK_FOR_INTERRUPTS();
	}
	return hashes;
}

/* Select the rarest substrings of the document that the reader has begun. */
static Signature *
select_by_rarity(DocContext *doccxt, uint32 count, size_t length)
{
	size_t		n;
	uint64	   *letters = consonants_read(doccxt->reader, &n);
	size_t		size = Min(length, n);
	size_t		nsubstrings = n > 0 ? n - size + 1 : 0;
	uint64	   *hashes = substring_hashes(letters, nsubstrings, size);
	uint64	   *begins = substring_hashes(letters, nsubstrings,
										  Min(KOALA_BEGIN, size));
	uint64	   *chosen = palloc_huge(nsubstrings, sizeof(uint64));
	size_t		nchosen = select_rarest(hashes, begins, nsubstrings, count,
										chosen);

	return selection(&doccxt->spec, METHOD_KOALA, count, chosen, nchosen,
					 hashes, nsubstrings);
}

/* (doc text, count int, length int, analysis text) */
PG_FUNCTION_INFO_V1(koala_of_text);
Datum
koala_of_text(PG_FUNCTION_ARGS)
{
	DocContext *doccxt = doc_context_get(fcinfo, 3);
	uint32		count = argument_whole("number of substrings",
									   DOC_CONTEXT_GETARG_INT32(doccxt, 1), 1,
									   PG_INT32_MAX);
	int			length = argument_whole("length of a substring",
										DOC_CONTEXT_GETARG_INT32(doccxt, 2), 1,
										MAX_SHINGLE_SIZE);

	doc_context_read(doccxt, fcinfo, READS_CHARS, length);
	doc_context_begin(doccxt, DOC_CONTEXT_GETARG_TEXT(doccxt, 0));
	PG_RETURN_SIGNATURE(select_by_rarity(doccxt, count, length));
}

/* A set without the features of another one, such as boilerplate */

/* parameters: hash of the features left out, lower and upper half */
const MethodInfo leave_out_method = {
	.name = "leave_out",.method = METHOD_LEAVE_OUT,.width = 64,.set = true,
	.analysed = ANALYSED_AS_SOURCE,.nparams = 2,.check = selection_check
};

/*
 * leave_out(set, common): the set without the features of another set of the
 * same spec, or of given features
 */
PG_FUNCTION_INFO_V1(leave_out);
Datum
leave_out(PG_FUNCTION_ARGS)
{
	Signature  *set = PG_GETARG_SIGNATURE(0);
	const Signature *common = PG_GETARG_REPEATED_SIGNATURE(1);
	uint64		n = SIGNATURE_NVALUES(set);
	SignatureSpec spec = set->spec;
	uint64		hash;
	Signature  *result;

	if (common->spec.method != METHOD_FEATURES)
		spec_require_equal(&set->spec, &common->spec);
	if (set->spec.method != METHOD_SHINGLES &&
		set->spec.method != METHOD_FEATURES)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("leave_out() needs a set of shingles, or of given features")));
	/* only now, since values of other methods may not have 64 bits */
	hash = hash_uint64s(common->values, SIGNATURE_NVALUES(common));
	spec.method = METHOD_LEAVE_OUT;
	spec.param[0] = (uint32) hash;
	spec.param[1] = hash >> 32;
	result = signature_alloc(&spec, n);
	result->nfeatures = n;
	n = set_difference(set->values, n, common->values,
					   SIGNATURE_NVALUES(common), result->values);
	SET_VARSIZE(result, SIGNATURE_HEADER + n * sizeof(uint64));
	PG_RETURN_SIGNATURE(result);
}
