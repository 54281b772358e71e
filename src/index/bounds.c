/*
 * bounds.c
 *		How near a row can be to a query, by what pages of an index tell of it.
 *
 * What the pages tell of a row is its size, and how many of the query's keys
 * it has.  The overlap is not greater than that, but for what follows.  A key
 * stands for 32 bits of a feature: others may have the same.  So there may be
 * less in common, never more, except that several features of the query can
 * fall on one key; how many they are is added.  The same goes for keys whose
 * lists were not read.  All measures rise with the overlap, so no row is lost
 * and no distance is greater than the true one.
 *
 * Of a vector they tell the sum of its weights, and what those of the query's
 * components that it has weigh there.  The smaller ones of two weights are not
 * more than that, so neither is their sum, from which the resemblance follows.
 * The cosine, by Cauchy and Schwarz, is not greater than the length of that
 * part of the query; nor than the sum of that part's weights where all of
 * the row's weigh as much as its heaviest.  All lists are read.
 *
 * A sketch is the set of what stands in its places; its method says how similar
 * two are at the most that agree in so many of them.
 */
#include "postgres.h"

#include <math.h>

#include "index/bounds.h"
#include "index/row.h"
#include "methods/method.h"

/*
 * A measure of a vector whose components in common with the query have such
 * shares of that at the most: see row.h.  A little more than the formulas say,
 * as sums are rounded.
 */
static double
vector_value(const IndexQuery *query, Measure measure, const RowTraits *row,
			 uint32 shares)
{
	double		part = Min(SHARE_OF_SUM(shares), 1.0) * query->sum;
	double		least;
	double		greatest;

	if (shares == 0)
		return 0;
	if (measure == MEASURE_COSINE)
		return Min(sqrt(SHARE_OF_SQUARES(shares)),
				   part / query->length * row->peak) * (1 + 1e-6);
	/* smaller weights by greater ones, which with the former make both sums */
	least = Min(part, vector_size_high(row->size));
	greatest = query->sum + vector_size_low(row->size) - least;
	return (greatest > least ? least / greatest : 1) * (1 + 1e-6);
}

/* The resemblance of a sketch. */
static double
sketch_value(const IndexQuery *query, uint64 size, uint64 overlap)
{
	return method_info(query->spec->method)->
		most_similar(query->spec, size, query->size,
					 Min(overlap, Min(size, query->size)));
}

uint64
bounds_sketch_overlap(const IndexQuery *query)
{
	uint64		lo = 0;
	uint64		hi = query->size + 1;

	while (lo < hi)
	{
		uint64		mid = (lo + hi) / 2;

		if (sketch_value(query, mid, mid) < query->threshold)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

double
bounds_value(const IndexQuery *query, Measure measure, const RowTraits *row,
			 uint64 overlap)
{
	if (query->shares != NULL)
		return vector_value(query, measure, row, overlap);
	if (query->sketch && row->value != NULL && row->size > 0 && query->size > 0 &&
		method_info(query->spec->method)->similar_values != NULL)
		return method_info(query->spec->method)->similar_values(*row->value, query->value);
	if (query->sketch)
		return sketch_value(query, row->size, overlap);
	return measure_value(measure, row->size, query->size,
						 Min(overlap, Min(row->size, query->size)));
}

double
bounds_best(const IndexQuery *query, Measure measure, uint64 overlap)
{
	double		share;

	if (query->shares != NULL)
		share = measure == MEASURE_COSINE ? SHARE_OF_SQUARES((uint32) overlap) :
			SHARE_OF_SUM((uint32) overlap) * (1 + 1e-6);
	else if (query->size == 0)
		return 1;
	else if (query->sketch)
		return sketch_value(query, Min(overlap, query->size), overlap);
	else
		share = (double) Min(overlap, query->size) / (double) query->size;
	return measure == MEASURE_COSINE ? sqrt(share) * (1 + 1e-6) : share;
}
