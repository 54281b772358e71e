/*
 * sketch_odds.c
 *		The odds of sketches: how probable it is that bands or supershingles agree.
 */
#include "postgres.h"

#include "base/call.h"
#include "signature/sql/near.h"
#include "methods/sketches/lsh.h"
#include "methods/sketches/minhash.h"
#include "methods/sketches/sketch.h"
#include "methods/sketches/supershingles.h"

PG_FUNCTION_INFO_V1(lsh_probability_of_banding);
Datum
lsh_probability_of_banding(PG_FUNCTION_ARGS)
{
	double		similarity = argument_real("similarity", PG_GETARG_FLOAT8(0), 0, 1);
	uint32		bands = argument_whole("number of bands", PG_GETARG_INT32(1),
									  1, MINHASH_MAX_SIZE);
	uint32		rows = argument_whole("size of a band", PG_GETARG_INT32(2),
									 1, MINHASH_MAX_SIZE);

	PG_RETURN_FLOAT8(lsh_probability(similarity, bands, rows));
}

PG_FUNCTION_INFO_V1(supershingle_probability_of_groups);
Datum
supershingle_probability_of_groups(PG_FUNCTION_ARGS)
{
	double		similarity = argument_real("similarity", PG_GETARG_FLOAT8(0), 0, 1);
	int			groups = PG_GETARG_INT32(1);
	int			size = PG_GETARG_INT32(2);

	supershingles_require_groups(groups, size, 1);
	PG_RETURN_FLOAT8(supershingle_probability(similarity, groups, size,
											  argument_whole("number of groups that agree",
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
	double		recall = argument_share("recall", PG_GETARG_FLOAT8(1));
	int			size = argument_whole("size of a sketch", PG_GETARG_INT32(2),
									 1, MINHASH_MAX_SIZE);
	Banding		banding;
	TupleDesc	desc = call_row_type(fcinfo);
	Datum		values[3];
	bool		nulls[3] = {false};

	threshold_require_valid(threshold, MEASURE_JACCARD);
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
	PG_RETURN_DATUM(call_row(desc, lengthof(values), values, nulls));
}
