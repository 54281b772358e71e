/*
 * sketches.c
 *		SQL functions that make sketches of sets and of documents, and those
 *		that tell how likely sketches are to meet.
 *
 * A sketch can be made of a set of shingles or of given features; of another
 * method's signature it would not be what its header says.  Supershingles are
 * those of a min-hash sketch of the same size, so they can be made of one,
 * and megashingles of supershingles.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/sketches.c
 */
#include "postgres.h"


#include "call.h"
#include "compat.h"
#include "documents.h"
#include "measures.h"
#include "methods/lsh.h"
#include "methods/methods.h"
#include "methods/minhash.h"
#include "methods/supershingles.h"
#include "neardup.h"
#include "signature.h"

/* Parameters */

/* Raises INVALID_PARAMETER_VALUE unless least <= value <= most. */
static uint32
checked_param(const char *what, int value, int least, int most)
{
	if (value < least || value > most)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s is out of range: %d", what, value),
				 errdetail("It is a number from %d to %d.", least, most)));
	return value;
}

/* Likewise for groups of slots, `least` of them at the least. */
static void
check_groups(int groups, int size, int least)
{
	checked_param("number of groups", groups, least, SUPERSHINGLES_MAX_GROUPS);
	checked_param("size of a group", size, 1, MINHASH_MAX_SIZE / groups);
}

/* Making sketches */

/* The making of a sketch of this method, of a document analysed like source. */
static Making
sketch_making(const Making *source, Method method, uint32 param0, uint32 param1)
{
	Making		making = *source;

	making.method = method;
	making.width = method_info(method)->width;
	making.param[0] = param0;
	making.param[1] = param1;
	return making;
}

/* A sketch of n distinct features, which rise if the method makes sets. */
static Signature *
make_sketch(const Making *source, const uint64 *features, size_t n,
			Method method, uint32 param0, uint32 param1)
{
	Making		making = sketch_making(source, method, param0, param1);
	Signature  *sketch = method_info(method)->make(&making, features, n);

	sketch->nfeatures = n;
	return sketch;
}

static Signature *
sketch_of_set(const Signature *set, Method method, uint32 param0, uint32 param1)
{
	StringInfoData source;

	if (set->making.method != METHOD_SHINGLES &&
		set->making.method != METHOD_FEATURES)
	{
		initStringInfo(&source);
		making_append(&set->making, &source);
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("%s cannot be made of %s",
						method_info(method)->name, source.data),
				 errdetail("A sketch is made of a set of shingles, or of given features.")));
	}
	return make_sketch(&set->making, set->values, SIGNATURE_NVALUES(set),
					   method, param0, param1);
}

/*
 * A sketch of the document that is the first argument of a function; its
 * shingle size, 0 for that of the analysis, is argument karg, and its
 * analysis the next one.
 */
static Signature *
sketch_of_text(FunctionCallInfo fcinfo, int karg,
			   Method method, uint32 param0, uint32 param1)
{
	text	   *doc = PG_GETARG_TEXT_PP(0);
	DocumentSite *site = document_site(fcinfo, doc,
									   PG_GETARG_TEXT_PP(karg + 1),
									   PG_GETARG_INT32(karg));
	size_t		n;
	const uint64 *set = document_set(site, doc, method_info(method)->set, &n);

	return make_sketch(document_making(site), set, n, method, param0, param1);
}

/*
 * The functions with one parameter, the second argument, from 1 to `most`;
 * `what` names it in errors.
 */
static Datum
sketch_of_set_arg(FunctionCallInfo fcinfo, Method method, const char *what,
				  int most)
{
	uint32		param = checked_param(what, PG_GETARG_INT32(1), 1, most);

	PG_RETURN_SIGNATURE(sketch_of_set(PG_GETARG_SIGNATURE(0), method,
									  param, 0));
}

static Datum
sketch_of_text_arg(FunctionCallInfo fcinfo, Method method, const char *what,
				   int most)
{
	uint32		param = checked_param(what, PG_GETARG_INT32(1), 1, most);

	PG_RETURN_SIGNATURE(sketch_of_text(fcinfo, 2, method, param, 0));
}

#define MINHASH_PARAM	METHOD_MINHASH, "size of a sketch", MINHASH_MAX_SIZE
#define BOTTOM_PARAM	METHOD_BOTTOM, "number of hashes to keep", PG_INT32_MAX
#define SAMPLE_PARAM	METHOD_SAMPLE, "modulus", PG_INT32_MAX

PG_FUNCTION_INFO_V1(minhash_of_set);
Datum
minhash_of_set(PG_FUNCTION_ARGS)
{
	return sketch_of_set_arg(fcinfo, MINHASH_PARAM);
}

PG_FUNCTION_INFO_V1(minhash_of_text);
Datum
minhash_of_text(PG_FUNCTION_ARGS)
{
	return sketch_of_text_arg(fcinfo, MINHASH_PARAM);
}

PG_FUNCTION_INFO_V1(bottom_of_set);
Datum
bottom_of_set(PG_FUNCTION_ARGS)
{
	return sketch_of_set_arg(fcinfo, BOTTOM_PARAM);
}

PG_FUNCTION_INFO_V1(bottom_of_text);
Datum
bottom_of_text(PG_FUNCTION_ARGS)
{
	return sketch_of_text_arg(fcinfo, BOTTOM_PARAM);
}

PG_FUNCTION_INFO_V1(sample_of_set);
Datum
sample_of_set(PG_FUNCTION_ARGS)
{
	return sketch_of_set_arg(fcinfo, SAMPLE_PARAM);
}

PG_FUNCTION_INFO_V1(sample_of_text);
Datum
sample_of_text(PG_FUNCTION_ARGS)
{
	return sketch_of_text_arg(fcinfo, SAMPLE_PARAM);
}

PG_FUNCTION_INFO_V1(simhash_of_set);
Datum
simhash_of_set(PG_FUNCTION_ARGS)
{
	PG_RETURN_SIGNATURE(sketch_of_set(PG_GETARG_SIGNATURE(0), METHOD_SIMHASH,
									  0, 0));
}

PG_FUNCTION_INFO_V1(simhash_of_text);
Datum
simhash_of_text(PG_FUNCTION_ARGS)
{
	PG_RETURN_SIGNATURE(sketch_of_text(fcinfo, 1, METHOD_SIMHASH, 0, 0));
}

/* Raises unless a sketch of nslots can be cut into the groups asked for. */
static void
require_slots(const Signature *sketch, uint32 nslots, int groups, int size)
{
	StringInfoData source;

	if (nslots == (uint32) groups * size)
		return;
	initStringInfo(&source);
	making_append(&sketch->making, &source);
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("%s cannot be cut into %d groups of %d", source.data,
					groups, size),
			 errdetail("It takes a sketch of %d slots.", groups * size)));
}

/* Supershingles of a set, or of a min-hash sketch. */
static Signature *
supershingles_of(const Signature *source, int groups, int size)
{
	Making		making;
	Signature  *result;

	if (source->making.method != METHOD_MINHASH)
		return sketch_of_set(source, METHOD_SUPERSHINGLES, groups, size);
	require_slots(source, source->making.param[0], groups, size);
	making = sketch_making(&source->making, METHOD_SUPERSHINGLES, groups, size);
	result = signature_alloc(&making, source->nfeatures > 0 ? groups : 0);
	result->nfeatures = source->nfeatures;
	if (source->nfeatures > 0)
		supershingles_of_slots((const uint8 *) source->values, groups, size,
							   result->values);
	return result;
}

PG_FUNCTION_INFO_V1(supershingles_of_signature);
Datum
supershingles_of_signature(PG_FUNCTION_ARGS)
{
	int			groups = PG_GETARG_INT32(1);
	int			size = PG_GETARG_INT32(2);

	check_groups(groups, size, 1);
	PG_RETURN_SIGNATURE(supershingles_of(PG_GETARG_SIGNATURE(0), groups, size));
}

PG_FUNCTION_INFO_V1(supershingles_of_text);
Datum
supershingles_of_text(PG_FUNCTION_ARGS)
{
	int			groups = PG_GETARG_INT32(1);
	int			size = PG_GETARG_INT32(2);

	check_groups(groups, size, 1);
	PG_RETURN_SIGNATURE(sketch_of_text(fcinfo, 3, METHOD_SUPERSHINGLES,
									   groups, size));
}

/* Megashingles of a set, of a min-hash sketch, or of supershingles. */
PG_FUNCTION_INFO_V1(megashingles_of_signature);
Datum
megashingles_of_signature(PG_FUNCTION_ARGS)
{
	Signature  *source = PG_GETARG_SIGNATURE(0);
	int			groups = PG_GETARG_INT32(1);
	int			size = PG_GETARG_INT32(2);
	Making		making;
	Signature  *result;

	check_groups(groups, size, 2);
	if (source->making.method == METHOD_MINHASH)
		source = supershingles_of(source, groups, size);
	if (source->making.method != METHOD_SUPERSHINGLES)
		PG_RETURN_SIGNATURE(sketch_of_set(source, METHOD_MEGASHINGLES,
										  groups, size));
	if (source->making.param[0] != (uint32) groups ||
		source->making.param[1] != (uint32) size)
		require_slots(source, 0, groups, size);
	making = sketch_making(&source->making, METHOD_MEGASHINGLES, groups, size);
	result = signature_alloc(&making, source->nfeatures > 0 ?
							 (size_t) groups * (groups - 1) / 2 : 0);
	result->nfeatures = source->nfeatures;
	if (source->nfeatures > 0)
		megashingles_of_supershingles(source->values, groups, result->values);
	PG_RETURN_SIGNATURE(result);
}

PG_FUNCTION_INFO_V1(megashingles_of_text);
Datum
megashingles_of_text(PG_FUNCTION_ARGS)
{
	int			groups = PG_GETARG_INT32(1);
	int			size = PG_GETARG_INT32(2);

	check_groups(groups, size, 2);
	PG_RETURN_SIGNATURE(sketch_of_text(fcinfo, 3, METHOD_MEGASHINGLES,
									   groups, size));
}

/* Probabilities */

/* Raises INVALID_PARAMETER_VALUE unless 0 <= similarity <= 1. */
static double
checked_similarity(double similarity)
{
	/* written so that NaN fails */
	if (!(similarity >= 0 && similarity <= 1))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("similarity %g is out of range", similarity),
				 errdetail("A similarity is a number from 0 to 1.")));
	return similarity;
}

PG_FUNCTION_INFO_V1(lsh_probability_of_banding);
Datum
lsh_probability_of_banding(PG_FUNCTION_ARGS)
{
	double		similarity = checked_similarity(PG_GETARG_FLOAT8(0));
	uint32		bands = checked_param("number of bands", PG_GETARG_INT32(1),
									  1, MINHASH_MAX_SIZE);
	uint32		rows = checked_param("size of a band", PG_GETARG_INT32(2),
									 1, MINHASH_MAX_SIZE);

	PG_RETURN_FLOAT8(lsh_probability(similarity, bands, rows));
}

PG_FUNCTION_INFO_V1(supershingle_probability_of_groups);
Datum
supershingle_probability_of_groups(PG_FUNCTION_ARGS)
{
	double		similarity = checked_similarity(PG_GETARG_FLOAT8(0));
	int			groups = PG_GETARG_INT32(1);
	int			size = PG_GETARG_INT32(2);

	check_groups(groups, size, 1);
	PG_RETURN_FLOAT8(supershingle_probability(similarity, groups, size,
											  checked_param("number of groups that agree",
															PG_GETARG_INT32(3), 0, groups)));
}

/* Raises INVALID_PARAMETER_VALUE: no banding of that size has that recall. */
static void
refuse_recall(double threshold, double recall, int size)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("no banding of %d slots has a recall of %g at threshold %g",
					size, recall, threshold),
			 errdetail("%d bands of one slot have a recall of %g.", size,
					   lsh_probability(threshold, size, 1)),
			 errhint("Take a larger size, or a lower recall.")));
}

/*
 * The banding for a threshold, recall and size.  Recall 1 is what an index on
 * sketches has: so many bands that near-duplicates must share one.
 */
PG_FUNCTION_INFO_V1(lsh_parameters);
Datum
lsh_parameters(PG_FUNCTION_ARGS)
{
	double		threshold = PG_GETARG_FLOAT8(0);
	double		recall = PG_GETARG_FLOAT8(1);
	int			size = checked_param("size of a sketch", PG_GETARG_INT32(2),
									 1, MINHASH_MAX_SIZE);
	Banding		banding;
	TupleDesc	desc = call_row_type(fcinfo);
	Datum		values[3];
	bool		nulls[3] = {false};

	threshold_require_valid(threshold);
	if (!(recall > 0 && recall <= 1))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("recall %g is out of range", recall),
				 errdetail("A recall is greater than 0 and at most 1.")));
	if (recall == 1)
	{
		banding.bands = minhash_lossless_bands(size, threshold);
		banding.rows = size / banding.bands;
	}
	else if (!lsh_choose(threshold, recall, size, &banding))
		refuse_recall(threshold, recall, size);
	values[0] = Int32GetDatum(banding.bands);
	values[1] = Int32GetDatum(banding.rows);
	values[2] = Float8GetDatum(recall == 1 ? 1 :
							   lsh_probability(threshold, banding.bands,
											   banding.rows));
	PG_RETURN_DATUM(call_row(desc, values, nulls));
}
