/*
 * analyze.c
 *		Statistics of signature columns, as ANALYZE gathers them.
 *
 * How many pairs of rows are near-duplicates can hardly be guessed: it
 * differs between collections by orders of magnitude.  So ANALYZE joins its
 * own sample with itself and notes the share of pairs that reach each of some
 * thresholds; as pairs are sampled evenly, it is an unbiased estimate for the
 * table.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/planner/analyze.c
 */
#include "postgres.h"

#include <math.h>

#include "access/detoast.h"
#include "commands/vacuum.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "base/compat.h"
#include "base/hash.h"
#include "datum/signature.h"
#include "join/algorithms/join_kinds.h"
#include "join/engine/engine.h"
#include "measures/near.h"
#include "planner/statistics.h"

const double share_thresholds[NSHARES] = {0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1};

/* The most features that ANALYZE takes into its join: about a second. */
#define SAMPLE_FEATURES		3000000

/* What std_typanalyze() has prepared. */
typedef struct StandardAnalysis
{
	AnalyzeAttrComputeStatsFunc compute_stats;
	void	   *extra_data;
} StandardAnalysis;

/* Signatures of the sample that are joined. */
typedef struct Sample
{
	Signature **signatures;
	uint32		n;				/* of signatures */
	double		nrows;			/* rows that they were taken from */
} Sample;

/*
 * The sample's sets and vectors, as many as are worth while: one row in `step`, not at
 * even distances, as what lies side by side may be alike.
 */
static void
take_sample(VacAttrStats *stats, AnalyzeAttrFetchFunc fetchfunc, int nrows,
			int step, Sample *sample)
{
	uint64		nfeatures = 0;

	sample->n = 0;
	sample->nrows = 0;
	for (int i = 0; i < nrows && nfeatures < SAMPLE_FEATURES; i++)
	{
		bool		isnull;
		Datum		value;
		Signature  *sig;

		vacuum_delay_point_compat(true);
		if (mix64(i) % step != 0)
			continue;
		sample->nrows++;
		value = fetchfunc(stats, i, &isnull);
		if (isnull)
			continue;
		sig = DatumGetSignature(value);
		if (signature_kind(sig, MEASURE_JACCARD) == KIND_SKETCHES ||
			SIGNATURE_NVALUES(sig) == 0)
			continue;
		nfeatures += SIGNATURE_NVALUES(sig);
		sample->signatures[sample->n++] = sig;
	}
}

/* The step with which the sample has about as many features as it may. */
static int
sample_step(VacAttrStats *stats, AnalyzeAttrFetchFunc fetchfunc, int nrows)
{
	double		bytes = 0;

	for (int i = 0; i < nrows; i++)
	{
		bool		isnull;
		Datum		value = fetchfunc(stats, i, &isnull);

		vacuum_delay_point_compat(true);
		if (!isnull)
			bytes += toast_raw_datum_size(value);
	}
	return ceil(Max(bytes / sizeof(uint64) / SAMPLE_FEATURES, 1));
}

/* The rows of a group, and the first one's number. */
static double
count_rows(SetJoin *join, JoinSide side, RowGroup group, uint32 *first)
{
	RowCursor	cursor;
	double		n = 0;
	uint32		rowno;

	rows_begin(join, side, group, &cursor);
	while (rows_next(&cursor, &rowno) != NULL)
		if (n++ == 0)
			*first = rowno;
	return n;
}

/* Adds up pairs of different rows by the thresholds that they reach. */
static void
count_pairs(SetJoin *join, const Sample *sample, double *pairs)
{
	RowGroup	outer;
	RowGroup	inner;

	while (setjoin_next(join, &outer, &inner))
	{
		uint32		a = 0;
		uint32		b = 0;
		double		n = count_rows(join, SIDE_OUTER, outer, &a);
		double		m = count_rows(join, SIDE_INNER, inner, &b);
		double		value = signatures_value(sample->signatures[a],
											 sample->signatures[b],
											 MEASURE_JACCARD);

		/* of the pairs of equal sets, leave out each row with itself */
		for (int i = 0; i < NSHARES && value >= share_thresholds[i]; i++)
			pairs[i] += value == 1 ? n * (n - 1) : n * m;
	}
}

/* Joins the sample with itself. */
static void
join_sample(const Sample *sample, double *pairs)
{
	SetJoinParams params = {0};
	SignatureKind kind = signature_kind(sample->signatures[0],
										MEASURE_JACCARD);
	SetJoin    *join;

	params.algorithm = usual_algorithm(kind, MEASURE_JACCARD);
	params.measure = MEASURE_JACCARD;
	params.threshold = share_thresholds[0];
	params.memory = (size_t) maintenance_work_mem * 1024;
	join = setjoin_begin(&params);
	for (int side = SIDE_OUTER; side <= SIDE_INNER; side++)
		for (uint32 i = 0; i < sample->n; i++)
		{
			uint32		n;
			const uint64 *set = signature_as_set(sample->signatures[i], kind,
												 MEASURE_JACCARD, &n);

			setjoin_add(join, side, set, n, "", 0);
			if (kind != KIND_SETS)
				pfree(unconstify(uint64 *, set));
		}
	setjoin_build(join);
	count_pairs(join, sample, pairs);
	setjoin_end(join);
}

/* True if all were made alike: else there is no telling. */
static bool
is_uniform(const Sample *sample)
{
	for (uint32 i = 1; i < sample->n; i++)
		if (!making_equal(&sample->signatures[0]->making,
						  &sample->signatures[i]->making))
			return false;
	return true;
}

/* Puts the shares into a free slot; if there is no pair, says half a one. */
static void
store_shares(VacAttrStats *stats, const double *pairs, double nrows)
{
	float4	   *shares;
	int			slot = 0;

	while (slot < STATISTIC_NUM_SLOTS && stats->stakind[slot] != 0)
		slot++;
	if (slot == STATISTIC_NUM_SLOTS)
		return;
	shares = MemoryContextAlloc(stats->anl_context, sizeof(float4) * NSHARES);
	for (int i = 0; i < NSHARES; i++)
		shares[i] = Max(pairs[i], 0.5) / (nrows * (nrows - 1));
	stats->stakind[slot] = STATISTIC_KIND_NEAR;
	stats->staop[slot] = InvalidOid;
	stats->stacoll[slot] = InvalidOid;
	stats->stanumbers[slot] = shares;
	stats->numnumbers[slot] = NSHARES;
}

/* AnalyzeAttrComputeStatsFunc */
static void
compute_signature_stats(VacAttrStats *stats, AnalyzeAttrFetchFunc fetchfunc,
						int nrows, double totalrows)
{
	StandardAnalysis *standard = stats->extra_data;
	Sample		sample;
	double		pairs[NSHARES] = {0};

	stats->extra_data = standard->extra_data;
	standard->compute_stats(stats, fetchfunc, nrows, totalrows);
	stats->extra_data = standard;

	sample.signatures = palloc(sizeof(Signature *) * nrows);
	take_sample(stats, fetchfunc, nrows,
				sample_step(stats, fetchfunc, nrows), &sample);
	if (!stats->stats_valid || sample.n < 2 || !is_uniform(&sample))
		return;
	join_sample(&sample, pairs);
	store_shares(stats, pairs, sample.nrows);
}

PG_FUNCTION_INFO_V1(signature_typanalyze);
Datum
signature_typanalyze(PG_FUNCTION_ARGS)
{
	VacAttrStats *stats = (VacAttrStats *) PG_GETARG_POINTER(0);
	StandardAnalysis *standard;

	if (!std_typanalyze(stats))
		PG_RETURN_BOOL(false);
	standard = palloc(sizeof(StandardAnalysis));
	standard->compute_stats = stats->compute_stats;
	standard->extra_data = stats->extra_data;
	stats->compute_stats = compute_signature_stats;
	stats->extra_data = standard;
	PG_RETURN_BOOL(true);
}
