/*
 * figures.c
 *		Quality of pairs and clusters that were found, against the truth.
 *
 * Pairs have precision, recall, F, and two figures of Hoad and Zobel: the
 * highest false match, which is the greatest similarity of a wrong pair, and
 * the separation, which is the least similarity of a true pair minus that.
 *
 * Clusters have the adjusted Rand index (Hubert and Arabie 1985) and B-cubed
 * (Bagga and Baldwin 1998).  An item without a cluster is a cluster of its
 * own.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/float.h"
#include "utils/typcache.h"

#include "base/call.h"
#include "base/interrupts.h"
#include "base/memory.h"

PG_FUNCTION_INFO_V1(f_measure);
PG_FUNCTION_INFO_V1(pair_evaluation_add);
PG_FUNCTION_INFO_V1(pair_evaluation_combine);
PG_FUNCTION_INFO_V1(pair_evaluation_final);
PG_FUNCTION_INFO_V1(cluster_evaluation_add);
PG_FUNCTION_INFO_V1(cluster_evaluation_final);

/* A ratio, or NULL if the divisor is 0. */
static Datum
ratio(double a, double b, bool *isnull)
{
	*isnull = b == 0;
	return *isnull ? (Datum) 0 : Float8GetDatum(a / b);
}

/* F of beta: (1 + beta^2) P R / (beta^2 P + R), 0 if both are 0. */
static double
f_of(double precision, double recall, double beta)
{
	double		weight = beta * beta;
	double		sum = weight * precision + recall;

	Assert(precision >= 0 && precision <= 1 && recall >= 0 && recall <= 1);
	return sum == 0 ? 0 : (1 + weight) * precision * recall / sum;
}

/* f_measure(precision, recall, beta) */
Datum
f_measure(PG_FUNCTION_ARGS)
{
	double		precision = PG_GETARG_FLOAT8(0);
	double		recall = PG_GETARG_FLOAT8(1);
	double		beta = PG_GETARG_FLOAT8(2);

	argument_real("precision", precision, 0, 1);
	argument_real("recall", recall, 0, 1);
	argument_real("beta", beta, 0, 1e6);
	PG_RETURN_FLOAT8(f_of(precision, recall, beta));
}

/* Pairs */

/* State of pair_evaluation(), a bytea. */
typedef struct PairState
{
	int32		vl_len_;		/* varlena header (do not touch directly!) */
	int32		reserved;		/* zero, so that what follows is aligned */
	int64		found;
	int64		true_pairs;
	int64		correct;		/* both */
	double		highest_false;	/* NaN: no false pair has a similarity */
	double		lowest_true;	/* NaN: no true pair that was found has one */
} PairState;

/* Set the state of no pairs. */
static void
begin_pairs(PairState *state)
{
	state->highest_false = state->lowest_true = get_float8_nan();
}

/* The state of argument 0, created if that is null. */
static PairState *
get_pair_state(FunctionCallInfo fcinfo)
{
	PairState  *state = state_of_size(fcinfo, "pair_evaluation",
									  sizeof(PairState));

	if (PG_ARGISNULL(0))
		begin_pairs(state);
	return state;
}

/* Take the greatest and the least similarity into account; NaN is none. */
static void
add_extremes(PairState *state, double highest_false, double lowest_true)
{
	if (!isnan(highest_false) && !(state->highest_false >= highest_false))
		state->highest_false = highest_false;
	if (!isnan(lowest_true) && !(state->lowest_true <= lowest_true))
		state->lowest_true = lowest_true;
}

/* (state bytea, found bool, correct bool, similarity float8) */
Datum
pair_evaluation_add(PG_FUNCTION_ARGS)
{
	PairState  *state = get_pair_state(fcinfo);
	bool		found = !PG_ARGISNULL(1) && PG_GETARG_BOOL(1);
	bool		correct = !PG_ARGISNULL(2) && PG_GETARG_BOOL(2);
	double		nan = get_float8_nan();
	double		similarity = PG_ARGISNULL(3) ? nan : PG_GETARG_FLOAT8(3);

	state->found += found;
	state->true_pairs += correct;
	state->correct += found && correct;
	if (found)
		add_extremes(state, correct ? nan : similarity, correct ? similarity :
					 nan);
	PG_RETURN_POINTER(state);
}

/* (state bytea, other bytea): the sum of two states. */
Datum
pair_evaluation_combine(PG_FUNCTION_ARGS)
{
	PairState  *state;
	const PairState *other;

	if (PG_ARGISNULL(1))
		return call_unchanged_state(fcinfo);
	state = get_pair_state(fcinfo);
	other = state_other_of_size(fcinfo, 1, "pair_evaluation",
								sizeof(PairState));
	state->found += other->found;
	state->true_pairs += other->true_pairs;
	state->correct += other->correct;
	add_extremes(state, other->highest_false, other->lowest_true);
	PG_RETURN_POINTER(state);
}

/* Return pair_figures. */
Datum
pair_evaluation_final(PG_FUNCTION_ARGS)
{
	PairState	none = {0};
	const PairState *state = &none;
	TupleDesc	desc = call_row_type(fcinfo);
	const Oid	types[] = {INT8OID, INT8OID, INT8OID, FLOAT8OID, FLOAT8OID,
		FLOAT8OID,
	FLOAT8OID, FLOAT8OID, FLOAT8OID};
	Datum		values[lengthof(types)];
	bool		nulls[lengthof(types)] = {0};

	call_require_columns(desc, lengthof(types), types);
	begin_pairs(&none);
	if (!PG_ARGISNULL(0))
		state = state_other_of_size(fcinfo, 0, "pair_evaluation",
									sizeof(PairState));
	values[0] = Int64GetDatum(state->found);
	values[1] = Int64GetDatum(state->true_pairs);
	values[2] = Int64GetDatum(state->correct);
	values[3] = ratio(state->correct, state->found, &nulls[3]);
	values[4] = ratio(state->correct, state->true_pairs, &nulls[4]);
	/* as F of precision and recall, and defined if one of them is not */
	values[5] = ratio(2.0 * state->correct, state->found + state->true_pairs,
					  &nulls[5]);
	values[6] = Float8GetDatum(state->highest_false);
	nulls[6] = isnan(state->highest_false);
	values[7] = Float8GetDatum(state->lowest_true);
	nulls[7] = isnan(state->lowest_true);
	values[8] = Float8GetDatum(state->lowest_true - state->highest_false);
	nulls[8] = nulls[6] || nulls[7];
	PG_RETURN_DATUM(call_row(desc, lengthof(values), values, nulls));
}

/* Clusters */

/* An item's clusters, by hash. */
typedef struct LabelledItem
{
	uint64		found;
	uint64		truth;
} LabelledItem;

/* No partial aggregation: workers would have to send all items. */
typedef struct ClusterState
{
	LabelledItem *items;
	size_t		n;
	size_t		size;
	uint64		singletons;		/* clusters of items that have none: the even
								 * numbers up to twice this */
} ClusterState;

/* sort_items(array, n): by found, then by true cluster */
#define ST_SORT sort_items
#define ST_ELEMENT_TYPE LabelledItem
#define ST_COMPARE(a, b) \
	((a)->found != (b)->found ? ((a)->found < (b)->found ? -1 : 1) : \
	 (a)->truth < (b)->truth ? -1 : (a)->truth > (b)->truth)
#define ST_SCOPE static
#define ST_CHECK_FOR_INTERRUPTS
#define ST_DEFINE
#include "lib/sort_template.h"

/* The types of both labels, looked up once for each call site. */
static TypeCacheEntry **
get_types(FunctionCallInfo fcinfo)
{
	TypeCacheEntry **types = fcinfo->flinfo->fn_extra;

	if (types != NULL)
		return types;
	types = MemoryContextAlloc(fcinfo->flinfo->fn_mcxt,
							   2 * sizeof(TypeCacheEntry *));
	for (int i = 0; i < 2; i++)
	{
		Oid			type = get_fn_expr_argtype(fcinfo->flinfo, i + 1);

		types[i] = lookup_type_cache(type, TYPECACHE_HASH_EXTENDED_PROC_FINFO);
		if (!OidIsValid(types[i]->hash_extended_proc))
			ereport(ERROR,
					(errcode(ERRCODE_UNDEFINED_FUNCTION),
					 errmsg("could not identify an extended hash function for type %s",
							format_type_be(type)),
					 errhint("Name clusters by numbers or texts.")));
	}
	fcinfo->flinfo->fn_extra = types;
	return types;
}

/*
 * Return the number of an item's cluster: odd for a label, even and unique
 * without one.
 */
static uint64
label_hash(FunctionCallInfo fcinfo, ClusterState *state, int n)
{
	TypeCacheEntry *type;

	if (PG_ARGISNULL(n))
		return 2 * ++state->singletons;
	type = get_types(fcinfo)[n - 1];
	return DatumGetUInt64(FunctionCall2Coll(&type->hash_extended_proc_finfo,
											PG_GET_COLLATION() ?
											PG_GET_COLLATION() :
											type->typcollation,
											PG_GETARG_DATUM(n),
											Int64GetDatum(0))) | 1;
}

/* (state internal, found "any", truth "any"): an item's two clusters */
Datum
cluster_evaluation_add(PG_FUNCTION_ARGS)
{
	MemoryContext context = call_aggregate_context(fcinfo);
	ClusterState *state = PG_ARGISNULL(0) ? NULL :
	(ClusterState *) PG_GETARG_POINTER(0);
	LabelledItem item;

	if (state == NULL)
	{
		state = MemoryContextAllocZero(context, sizeof(ClusterState));
		state->size = 1024;
		state->items = MemoryContextAlloc(context,
										  state->size * sizeof(LabelledItem));
	}
	item.found = label_hash(fcinfo, state, 1);
	item.truth = label_hash(fcinfo, state, 2);
	state->items = growing_reserve(state->items, &state->size, state->n + 1,
								   sizeof(LabelledItem));
	state->items[state->n++] = item;
	PG_RETURN_POINTER(state);
}

/* Sums that the figures are computed from; counts are floating point, too. */
typedef struct Contingency
{
	double		items;
	double		found_clusters;
	double		true_clusters;
	double		found_pairs;	/* pairs of items in the same found cluster */
	double		true_pairs;		/* ... in the same true cluster */
	double		both_pairs;		/* ... in one cluster of both */
	double		precision;		/* sum over items */
	double		recall;			/* sum over items */
} Contingency;

/* The number of pairs of n items. */
static double
pairs_of(double n)
{
	return n * (n - 1) / 2;
}

/*
 * Return the number of found clusters of sorted items: runs of one found
 * cluster, in which are runs of one true cluster.  Adds to *pairs the pairs
 * within found clusters, to *both those that are also within a true one, and
 * to *share, for each item, the share of its found cluster that is in its true
 * one.
 */
static double
scan_clusters(const LabelledItem *items, size_t n, double *pairs, double *both,
			  double *share)
{
	double		clusters = 0;

	for (size_t start = 0, end; start < n; start = end)
	{
		size_t		size;

		CHECK_FOR_INTERRUPTS();
		for (end = start; end < n && items[end].found == items[start].found;
			 end++)
			continue;
		size = end - start;
		Assert(size >= 1);
		clusters++;
		*pairs += pairs_of(size);
		for (size_t i = start, j; i < end; i = j)
		{
			for (j = i; j < end && items[j].truth == items[i].truth; j++)
				continue;
			*both += pairs_of(j - i);
			*share += (double) (j - i) * (j - i) / size;
		}
	}
	return clusters;
}

/* Swap the found and the true clusters. */
static void
exchange_labels(LabelledItem *items, size_t n)
{
	for (size_t i = 0; i < n; i++)
	{
		uint64		found = items[i].found;

		items[i].found = items[i].truth;
		items[i].truth = found;
	}
}

/* Compute the table; changes the order of the items. */
static Contingency
make_contingency(LabelledItem *items, size_t n)
{
	Contingency table = {.items = n};
	double		ignored = 0;

	sort_items(items, n);
	table.found_clusters = scan_clusters(items, n, &table.found_pairs,
										 &table.both_pairs, &table.precision);
	exchange_labels(items, n);
	sort_items(items, n);
	table.true_clusters = scan_clusters(items, n, &table.true_pairs, &ignored,
										&table.recall);
	/* the final function may be called again */
	exchange_labels(items, n);
	Assert(ignored == table.both_pairs);
	Assert(Max(table.precision, table.recall) <= n * (1 + 1e-9));
	return table;
}

/*
 * (RI - expected) / (max - expected); 1 where both are all singletons or all
 * one cluster.
 */
static double
adjusted_rand(const Contingency *table)
{
	double		all = pairs_of(table->items);
	double		expected = all == 0 ? 0 :
	table->found_pairs * table->true_pairs / all;
	double		most = (table->found_pairs + table->true_pairs) / 2;

	Assert(table->both_pairs <= Min(table->found_pairs, table->true_pairs));
	return most == expected ? 1 :
		(table->both_pairs - expected) / (most - expected);
}

/* Return cluster_figures. */
Datum
cluster_evaluation_final(PG_FUNCTION_ARGS)
{
	ClusterState *state;
	Contingency table;
	TupleDesc	desc = call_row_type(fcinfo);
	const Oid	types[] = {INT8OID, INT8OID, INT8OID, FLOAT8OID, FLOAT8OID,
	FLOAT8OID, FLOAT8OID};
	Datum		values[lengthof(types)];
	bool		nulls[lengthof(types)] = {0};

	call_require_columns(desc, lengthof(types), types);
	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	state = (ClusterState *) PG_GETARG_POINTER(0);
	table = make_contingency(state->items, state->n);
	values[0] = Int64GetDatum((int64) table.items);
	values[1] = Int64GetDatum((int64) table.found_clusters);
	values[2] = Int64GetDatum((int64) table.true_clusters);
	values[3] = Float8GetDatum(adjusted_rand(&table));
	values[4] = Float8GetDatum(table.precision / table.items);
	values[5] = Float8GetDatum(table.recall / table.items);
	values[6] = Float8GetDatum(f_of(table.precision / table.items,
									table.recall / table.items, 1));
	PG_RETURN_DATUM(call_row(desc, lengthof(values), values, nulls));
}
