/*
 * selections.c
 *		SQL functions that choose some of a document's features.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/selections.c
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

#include "compat.h"
#include "documents.h"
#include "features/consonants.h"
#include "features/select.h"
#include "features/sort.h"
#include "hash.h"
#include "methods/methods.h"
#include "neardup.h"
#include "signature.h"

/* Letters at the begin of a substring whose rarity counts for koala(). */
#define KOALA_BEGIN		5

/* Raises INVALID_PARAMETER_VALUE unless value >= 1. */
static uint32
checked_positive(const char *what, int value)
{
	if (value < 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s is out of range: %d", what, value),
				 errdetail("It is a number from 1 on.")));
	return value;
}

/*
 * The signature of chosen features, by this method, of a document whose
 * features are all, with repetitions, in `all`; both arrays are sorted.
 */
static Signature *
selection(const Making *source, Method method, uint32 param0, uint32 param1,
		  uint64 *chosen, size_t nchosen, uint64 *all, size_t nall)
{
	Making		making = *source;
	Signature  *sig;

	making.method = method;
	making.param[0] = param0;
	making.param[1] = param1;
	nchosen = sort_distinct_hashes(chosen, nchosen);
	sig = signature_alloc(&making, nchosen);
	memcpy(sig->values, chosen, nchosen * sizeof(uint64));
	sig->nfeatures = sort_distinct_hashes(all, nall);
	return sig;
}

/* Room for as many features as there are shingles. */
static uint64 *
alloc_chosen(size_t n)
{
	return palloc_extended(Max(n, 1) * sizeof(uint64), MCXT_ALLOC_HUGE);
}

/* By position */

typedef size_t (*SelectFunction) (const uint64 *hashes, size_t n, size_t param,
								  uint64 *chosen);

/* Arguments: document, parameter, shingle size, analysis. */
static Signature *
select_by_position(FunctionCallInfo fcinfo, Method method, uint32 param,
				   SelectFunction function)
{
	text	   *doc = PG_GETARG_TEXT_PP(0);
	DocumentSite *site = document_site(fcinfo, doc, PG_GETARG_TEXT_PP(3),
									   PG_GETARG_INT32(2));
	Sequence	sequence = document_sequence(site, doc);
	uint64	   *chosen = alloc_chosen(sequence.nshingles);
	size_t		n = function(sequence.shingles, sequence.nshingles, param,
							 chosen);

	return selection(document_making(site), method, param, 0, chosen, n,
					 sequence.shingles, sequence.nshingles);
}

PG_FUNCTION_INFO_V1(winnow_text);
Datum
winnow_text(PG_FUNCTION_ARGS)
{
	uint32		window = checked_positive("window", PG_GETARG_INT32(1));

	PG_RETURN_SIGNATURE(select_by_position(fcinfo, METHOD_WINNOW, window,
										   select_winnow));
}

PG_FUNCTION_INFO_V1(every_nth_of_text);
Datum
every_nth_of_text(PG_FUNCTION_ARGS)
{
	uint32		m = checked_positive("distance", PG_GETARG_INT32(1));

	PG_RETURN_SIGNATURE(select_by_position(fcinfo, METHOD_EVERY_NTH, m,
										   select_every));
}

/* winnow(bigint[], int): what is chosen of given hashes, in their order. */
PG_FUNCTION_INFO_V1(winnow_array);
Datum
winnow_array(PG_FUNCTION_ARGS)
{
	ArrayType  *array = PG_GETARG_ARRAYTYPE_P(0);
	uint32		window = checked_positive("window", PG_GETARG_INT32(1));
	size_t		n = ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array));
	uint64	   *chosen = alloc_chosen(n);
	Datum	   *values = palloc(Max(n, 1) * sizeof(Datum));

	if (array_contains_nulls(array))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("array of hashes contains a null value")));
	n = select_winnow((const uint64 *) ARR_DATA_PTR(array), n, window, chosen);
	for (size_t i = 0; i < n; i++)
		values[i] = Int64GetDatum((int64) chosen[i]);
	PG_RETURN_ARRAYTYPE_P(construct_array(values, n, INT8OID, sizeof(int64),
										  FLOAT8PASSBYVAL, TYPALIGN_DOUBLE));
}

/* By anchors */

/* A call site's anchors, and the array that they were made of. */
typedef struct AnchorSite
{
	ArrayType  *array;
	Anchors    *anchors;
	uint64		hash;
} AnchorSite;

/* Adds one anchor, read as a document is. */
static void
add_anchor(Anchors *anchors, DocumentSite *site, text *anchor)
{
	Sequence	sequence = document_sequence(site, anchor);

	if (sequence.nunits == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("anchor \"%s\" is empty", text_to_cstring(anchor)),
				 errdetail("The analysis leaves nothing of it.")));
	anchors_add(anchors, sequence.units, sequence.nunits);
}

/* The anchors of an array of text, made once for a site and the array. */
static const AnchorSite *
site_anchors(DocumentSite *site, ArrayType *array)
{
	MemoryContext context;
	void	  **extra = document_extra(site, &context);
	AnchorSite *kept = *extra;
	MemoryContext old;
	Datum	   *elements;
	int			n;

	if (kept != NULL && VARSIZE(kept->array) == VARSIZE(array) &&
		memcmp(kept->array, array, VARSIZE(array)) == 0)
		return kept;
	if (array_contains_nulls(array))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("array of anchors contains a null value")));
	deconstruct_array(array, TEXTOID, -1, false, TYPALIGN_INT, &elements,
					  NULL, &n);
	old = MemoryContextSwitchTo(context);
	kept = palloc(sizeof(AnchorSite));
	kept->array = (ArrayType *) pnstrdup((const char *) array, VARSIZE(array));
	kept->anchors = anchors_create();
	for (int i = 0; i < n; i++)
		add_anchor(kept->anchors, site, DatumGetTextPP(elements[i]));
	kept->hash = anchors_finish(kept->anchors);
	MemoryContextSwitchTo(old);
	*extra = kept;
	return kept;
}

typedef size_t (*AnchorFunction) (const Sequence *sequence,
								  const Anchors *anchors, uint64 *chosen);

/* Arguments: document, anchors. */
static Signature *
select_by_anchors(FunctionCallInfo fcinfo, DocumentSite *site, Method method,
				  AnchorFunction function)
{
	text	   *doc = PG_GETARG_TEXT_PP(0);
	const AnchorSite *anchors = site_anchors(site, PG_GETARG_ARRAYTYPE_P(1));
	Sequence	sequence = document_sequence(site, doc);
	uint64	   *chosen = alloc_chosen(sequence.nunits);
	size_t		n = function(&sequence, anchors->anchors, chosen);

	return selection(document_making(site), method, (uint32) anchors->hash,
					 anchors->hash >> 32, chosen, n,
					 sequence.shingles, sequence.nshingles);
}

PG_FUNCTION_INFO_V1(anchored_of_text);
Datum
anchored_of_text(PG_FUNCTION_ARGS)
{
	DocumentSite *site = document_site(fcinfo, PG_GETARG_TEXT_PP(0),
									   PG_GETARG_TEXT_PP(3),
									   PG_GETARG_INT32(2));

	PG_RETURN_SIGNATURE(select_by_anchors(fcinfo, site, METHOD_ANCHORED,
										  select_anchored));
}

PG_FUNCTION_INFO_V1(sif_of_text);
Datum
sif_of_text(PG_FUNCTION_ARGS)
{
	int			length = checked_positive("length of a substring",
										  PG_GETARG_INT32(2));
	DocumentSite *site = document_site_of_chars(fcinfo, PG_GETARG_TEXT_PP(0),
												PG_GETARG_TEXT_PP(3), length);

	PG_RETURN_SIGNATURE(select_by_anchors(fcinfo, site, METHOD_SIF,
										  select_following));
}

/* By rarity */

/* Hashes of all substrings of `length` letters. */
static uint64 *
substring_hashes(const uint64 *letters, size_t n, size_t length)
{
	uint64	   *hashes = alloc_chosen(n);

	for (size_t i = 0; i < n; i++)
	{
		hashes[i] = hash_uint64s(letters + i, length);
		if (i % 4096 == 4095)
			CHECK_FOR_INTERRUPTS();
	}
	return hashes;
}

PG_FUNCTION_INFO_V1(koala_of_text);
Datum
koala_of_text(PG_FUNCTION_ARGS)
{
	text	   *doc = PG_GETARG_TEXT_PP(0);
	uint32		count = checked_positive("number of substrings",
										 PG_GETARG_INT32(1));
	int			length = checked_positive("length of a substring",
										  PG_GETARG_INT32(2));
	DocumentSite *site = document_site_of_chars(fcinfo, doc,
												PG_GETARG_TEXT_PP(3), length);
	size_t		n;
	uint64	   *letters = consonants_read(document_words(site, doc), &n);
	size_t		size = Min(length, n);
	size_t		nsubstrings = n > 0 ? n - size + 1 : 0;
	uint64	   *hashes = substring_hashes(letters, nsubstrings, size);
	uint64	   *begins = substring_hashes(letters, nsubstrings,
										  Min(KOALA_BEGIN, size));
	uint64	   *chosen = alloc_chosen(nsubstrings);
	size_t		nchosen = select_rarest(hashes, begins, nsubstrings, count,
										chosen);

	PG_RETURN_SIGNATURE(selection(document_making(site), METHOD_KOALA, count,
								  0, chosen, nchosen, hashes, nsubstrings));
}

/* Common features */

/* Copies what is in a and not in b, both rising; returns how much. */
static size_t
set_difference(const uint64 *a, size_t na, const uint64 *b, size_t nb,
			   uint64 *rest)
{
	size_t		nrest = 0;
	size_t		j = 0;

	for (size_t i = 0; i < na; i++)
	{
		while (j < nb && b[j] < a[i])
			j++;
		if (j == nb || b[j] != a[i])
			rest[nrest++] = a[i];
		if (i % 65536 == 65535)
			CHECK_FOR_INTERRUPTS();
	}
	return nrest;
}

/*
 * leave_out(set, common): the set without the features of another one, which
 * was made alike or consists of the same numbers.
 */
PG_FUNCTION_INFO_V1(leave_out);
Datum
leave_out(PG_FUNCTION_ARGS)
{
	Signature  *set = PG_GETARG_SIGNATURE(0);
	Signature  *common = PG_GETARG_SIGNATURE(1);
	uint64		n = SIGNATURE_NVALUES(set);
	uint64		hash = hash_uint64s(common->values, SIGNATURE_NVALUES(common));
	Making		making = set->making;
	Signature  *result;

	if (common->making.method != METHOD_FEATURES)
		making_require_equal(&set->making, &common->making);
	if (set->making.method != METHOD_SHINGLES &&
		set->making.method != METHOD_FEATURES)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("leave_out() needs a set of shingles, or of given features")));
	making.method = METHOD_LEAVE_OUT;
	making.param[0] = (uint32) hash;
	making.param[1] = hash >> 32;
	result = signature_alloc(&making, n);
	result->nfeatures = n;
	n = set_difference(set->values, n, common->values,
					   SIGNATURE_NVALUES(common), result->values);
	SET_VARSIZE(result, SIGNATURE_HEADER + n * sizeof(uint64));
	PG_RETURN_SIGNATURE(result);
}
