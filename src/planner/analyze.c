/*
 * analyze.c
 *		Statistics of signature columns, as ANALYZE gathers them.
 *
 * The share of pairs that are near-duplicates differs between collections by
 * orders of magnitude.  ANALYZE joins its sample with itself and stores the
 * share of pairs that reach each of seven thresholds: pairs are sampled
 * evenly, so the estimate is unbiased.
 *
 * Low thresholds use a part of the sample.  Sketches are joined by candidate
 * keys, which are too many there; all pairs of the part are compared, as of
 * dense vectors.  Weighted vectors have frequent words among their features.
 * And if all rows are near each other, pairs are the square of the rows; a join
 * of a small part shows how many there are.
 *
 * Dense vectors have no resemblance.  Their cosine c counts as the resemblance
 * c / (2 - c) of sets of equal size with that cosine, as the planner has it
 * (selectivity.c).
 */
#include "postgres.h"

#include <math.h>

#include "access/detoast.h"
#include "commands/vacuum.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "base/compat.h"
#include "base/hash.h"
#include "signature/signature.h"
#include "join/algorithms/join_kinds.h"
#include "join/engine/engine.h"
#include "signature/sql/near.h"
#include "methods/method.h"
#include "statistics/column_statistics.h"

/* Maximum number of features in the join of ANALYZE: about a second. */
#define SAMPLE_FEATURES		3000000

/*
 * Maximum number of sketches, the size of other columns' samples: they have
 * few bytes.
 */
#define SAMPLE_SKETCHES		30000

/*
 * Number of sketches all pairs of which are compared, if a query has more than
 * MAX_KEYS keys.
 */
#define COMPARED_SKETCHES	2500
#define MAX_KEYS			100

/*
 * Number of vectors that are joined below the threshold: such joins compare
 * many.
 */
#define JOINED_VECTORS		5000
#define VECTORS_THRESHOLD	0.8

/* The least threshold at which the whole sample of dense vectors is joined */
#define DENSE_THRESHOLD		0.8

/*
 * Number of coordinates of dense vectors that are compared in the time of
 * cpu_operator_cost, as measured
 */
#define DENSE_LANES			32

/*
 * Maximum number of steps of a join, see join_steps(): about half a second;
 * and of a trial.
 */
#define MAX_STEPS			2e8
#define TRIAL_STEPS			1e7

/* Number of steps of comparing two signatures of `words` words together. */
#define COMPARISON_STEPS(words)	(32 + (words))

/* Number of signatures whose keys are counted. */
#define COUNTED_SIGNATURES	30

/* The analysis that std_typanalyze() has prepared. */
typedef struct StandardAnalysis
{
	AnalyzeAttrComputeStatsFunc compute_stats;
	void	   *extra_data;
} StandardAnalysis;

/* Signatures of the sample that are joined. */
typedef struct Sample
{
	Signature **signatures;
	uint32		n;				/* number of signatures */
	Measure		measure;		/* what they are joined by: jaccard, or cosine
								 * of dense vectors */
	double		nrows;			/* number of rows that they were taken from */
	double		total;			/* number of rows of the table */
} Sample;

/* Counts of the sample by threshold, where they are known. */
typedef struct SampleCounts
{
	double		near[NSHARES];	/* number of ordered near-duplicate pairs */
	double		similar[NSHARES];	/* number of ordered pairs of that
									 * similarity */
	double		matched[NSHARES];	/* number of rows with a match */
	double		once[NSHARES];	/* number of rows with one match */
	double		twice[NSHARES]; /* number of rows with two matches */
	double		until_match[NSHARES];	/* sum of the shares of the table that
										 * matched rows read up to a match */
	double		nrows;			/* rows of the sample, and of the table */
	double		total;
	double		steps;			/* number of steps that the join took */
} SampleCounts;

/* Words of the values of a signature. */
static double
signature_words(const Signature *sig)
{
	return (double) SIGNATURE_NVALUES(sig) *
		method_info(sig->spec.method)->width / 64;
}

/* The kind of the sample's signatures, which have one spec. */
static SignatureKind
sample_kind(const Sample *sample)
{
	return signature_kind(sample->signatures[0], sample->measure);
}

/* What a signature counts among SAMPLE_FEATURES. */
static double
sampled_features(const Signature *sig)
{
	const MethodInfo *method = method_info(sig->spec.method);

	if (method->dense)
		return signature_words(sig);
	return Max(SIGNATURE_NVALUES(sig),
			   SAMPLE_FEATURES / SAMPLE_SKETCHES *
			   (signature_kind(sig, MEASURE_JACCARD) == KIND_SKETCHES));
}

/*
 * Take one row in `step`, at random distances: neighbours may be alike.
 */
static void
take_sample(VacAttrStats *stats, AnalyzeAttrFetchFunc fetchfunc, int nrows,
			int step, Sample *sample)
{
	double		nfeatures = 0;

	sample->n = 0;
	sample->nrows = 0;
	sample->measure = MEASURE_JACCARD;
	for (int i = 0; i < nrows && nfeatures < SAMPLE_FEATURES; i++)
	{
		bool		isnull;
		Datum		value;
		Signature  *sig;

		compat_vacuum_delay_point(true);
		if (mix64(i) % step != 0)
			continue;
		sample->nrows++;
		value = fetchfunc(stats, i, &isnull);
		if (isnull)
			continue;
		sig = DatumGetSignature(value);
		if (SIGNATURE_NVALUES(sig) == 0)
			continue;
		nfeatures += sampled_features(sig);
		sample->signatures[sample->n++] = sig;
	}
}

/* The step with which the sample has about SAMPLE_FEATURES features. */
static int
sample_step(VacAttrStats *stats, AnalyzeAttrFetchFunc fetchfunc, int nrows)
{
	double		bytes = 0;

	for (int i = 0; i < nrows; i++)
	{
		bool		isnull;
		Datum		value = fetchfunc(stats, i, &isnull);

		compat_vacuum_delay_point(true);
		if (!isnull)
			bytes += toast_raw_datum_size(value);
	}
	return ceil(Max(bytes / sizeof(uint64) / SAMPLE_FEATURES, 1));
}

/* Count the rows of a group, and return the number of the first one. */
static double
count_rows(JoinEngine *join, JoinSide side, RowGroup group, uint32 *first)
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

/*
 * The similarity of two signatures, and the greatest threshold at which they
 * are near: 1 if the rule of their method does not depend on the threshold.
 */
static double
compare(const Sample *sample, uint32 a, uint32 b, double *near)
{
	const Signature *x = sample->signatures[a];
	const Signature *y = sample->signatures[b];
	const MethodInfo *method = method_info(x->spec.method);
	double		value = signatures_value(x, y, sample->measure);

	if (method->dense)
		return *near = value / (2 - value);
	*near = method->least_similarity == NULL ? value : method->near(x, y, 1);
	return value;
}

/*
 * Count pairs by similarity, and by the threshold up to which they are near.
 */
static void
add_pairs(SampleCounts *counts, double pairs, double value, double near)
{
	for (int i = 0; i < NSHARES; i++)
	{
		counts->similar[i] += value >= share_thresholds[i] ? pairs : 0;
		counts->near[i] += near >= share_thresholds[i] ? pairs : 0;
	}
}

/* The share of the other rows of the table that is in the sample. */
static double
sampled_share(const SampleCounts *counts)
{
	return Min(Max(counts->nrows - 1, 1) / Max(counts->total - 1, 1), 1);
}

/* Matches in the sample of each row of a set. */
typedef struct RowMatches
{
	float4		rows;			/* number of rows */
	float4		matches[NSHARES];
} RowMatches;

/* Add matches to the thresholds up to `near`. */
static void
add_matches(RowMatches *row, double matches, double near)
{
	for (int i = 0; i < NSHARES && near >= share_thresholds[i]; i++)
		row->matches[i] += matches;
}

/* Count rows by their number of matches. */
static void
add_rows(SampleCounts *counts, const RowMatches *row)
{
	double		share = sampled_share(counts);

	for (int i = 0; i < NSHARES; i++)
	{
		double		matches = row->matches[i];

		if (matches == 0)
			continue;
		counts->matched[i] += row->rows;
		counts->once[i] += matches == 1 ? row->rows : 0;
		counts->twice[i] += matches == 2 ? row->rows : 0;
		counts->until_match[i] += row->rows / (1 + matches / share);
	}
}

/* Mean number of words of the values of a signature. */
static double
mean_words(const Sample *sample)
{
	double		sum = 0;

	for (uint32 i = 0; i < sample->n; i++)
		sum += signature_words(sample->signatures[i]);
	return sum / sample->n;
}

/* Count the pairs and rows of a join. */
static void
count_pairs(JoinEngine *join, const Sample *sample, SampleCounts *counts)
{
	RowMatches *rows = palloc_extended(sizeof(RowMatches) * sample->n,
									   MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	RowGroup	outer;
	RowGroup	inner;

	while (engine_next(join, &outer, &inner))
	{
		uint32		a = 0;
		uint32		b = 0;
		double		n = count_rows(join, SIDE_OUTER, outer, &a);
		double		m = count_rows(join, SIDE_INNER, inner, &b);
		double		near;
		double		value = compare(sample, a, b, &near);

		rows[a].rows = n;
		rows[b].rows = m;
		if (a == b)
		{
			/* not a row with itself */
			add_pairs(counts, n * (n - 1), value, near);
			add_matches(&rows[a], n - 1, near);
			continue;
		}
		counts->steps +=
			COMPARISON_STEPS(signature_words(sample->signatures[a]) +
							 signature_words(sample->signatures[b]));
		add_pairs(counts, 2 * n * m, value, near);
		add_matches(&rows[a], m, near);
		add_matches(&rows[b], n, near);
	}
	for (uint32 i = 0; i < sample->n; i++)
		add_rows(counts, &rows[i]);
	pfree(rows);
}

/*
 * Steps that a join took to find its pairs: postings visited, and comparisons
 * of signatures of mean size.  Removing a vector takes as long as a comparison,
 * as its rest is looked up.
 */
static double
join_steps(JoinEngine *join, const Sample *sample)
{
	const EngineStats *stats = engine_stats(join);
	double		steps = stats->visited +
	stats->verified * COMPARISON_STEPS(2 * mean_words(sample));

	if (sample_kind(sample) == KIND_VECTORS)
		steps += stats->removed_position * COMPARISON_STEPS(0);
	return steps;
}

/* Join the sample with itself. */
static void
join_sample(const Sample *sample, double threshold, SampleCounts *counts)
{
	EngineParams params = {0};
	SignatureKind kind = sample_kind(sample);
	JoinEngine *join;

	params.algorithm = default_algorithm(kind, sample->measure);
	params.measure = sample->measure;
	params.threshold = kind == KIND_DENSE ? 2 * threshold / (1 + threshold) :
		threshold;
	params.self_join = params.either_order = true;
	params.memory = (size_t) maintenance_work_mem * 1024;
	join = engine_begin(&params);
	for (uint32 i = 0; i < sample->n; i++)
	{
		uint32		n;
		const uint64 *set = signature_as_set(sample->signatures[i], kind,
											 sample->measure, &n);

		engine_add(join, SIDE_OUTER, set, n, "", 0);
		if (kind != KIND_SETS)
			pfree(unconstify(uint64 *, set));
	}
	engine_build(join, NULL);
	counts->nrows = sample->nrows;
	counts->total = sample->total;
	count_pairs(join, sample, counts);
	counts->steps += join_steps(join, sample);
	engine_end(join);
}

/*
 * Take a random part of about `most` signatures; it is not empty, as mix64(0)
 * is 0.
 */
static void
take_part(const Sample *sample, uint32 most, Sample *part)
{
	uint32		step = (sample->n + most - 1) / most;

	part->signatures = palloc(sizeof(Signature *) * sample->n);
	part->n = 0;
	for (uint32 i = 0; i < sample->n; i++)
		if (mix64(i) % step == 0)
			part->signatures[part->n++] = sample->signatures[i];
	part->measure = sample->measure;
	part->nrows = sample->nrows * part->n / sample->n;
	part->total = sample->total;
}

/* Compare all signatures of a sample with each other. */
static void
compare_all(const Sample *sample, SampleCounts *counts)
{
	RowMatches *rows = palloc0(sizeof(RowMatches) * sample->n);

	counts->nrows = sample->nrows;
	counts->total = sample->total;
	for (uint32 a = 0; a < sample->n; a++)
	{
		compat_vacuum_delay_point(true);
		for (uint32 b = a + 1; b < sample->n; b++)
		{
			double		near;
			double		value = compare(sample, a, b, &near);

			add_pairs(counts, 2, value, near);
			add_matches(&rows[a], 1, near);
			add_matches(&rows[b], 1, near);
		}
		rows[a].rows = 1;
		add_rows(counts, &rows[a]);
	}
	pfree(rows);
}

/*
 * Number of signatures, up to `limit`, that can be joined at the threshold
 * within MAX_STEPS. The first trial is small enough even if all are
 * near.  Steps grow as the square of the rows, or less where features are
 * rare.  So if that rule predicts too many steps, but the trial took few, a
 * larger trial follows.
 */
static uint32
affordable(const Sample *sample, uint32 limit, double threshold)
{
	double		most =
	sqrt(TRIAL_STEPS / COMPARISON_STEPS(2 * mean_words(sample)));

	while (most < limit)
	{
		SampleCounts counts = {0};
		Sample		part;
		double		rows_by_steps;	/* number of rows that take one step */

		take_part(sample, Max(most, 1), &part);
		join_sample(&part, threshold, &counts);
		pfree(part.signatures);
		rows_by_steps = part.n / sqrt(Max(counts.steps, 1));
		if (rows_by_steps * sqrt(MAX_STEPS) >= limit)
			break;
		if (rows_by_steps * sqrt(TRIAL_STEPS) < 2 * most)
			return Max(rows_by_steps * sqrt(MAX_STEPS), 1);
		most = rows_by_steps * sqrt(TRIAL_STEPS);
	}
	return limit;
}

/* Index of the least threshold at which a query has at most MAX_KEYS keys. */
static int
first_of_sketches(const Sample *sample)
{
	const Signature *sig = sample->signatures[0];
	KeyList		keys = {0};
	uint32		need;
	int			i = 0;

	if (!spec_has_keys(&sig->spec))
		return 0;
	for (; i < NSHARES - 1; i++)
	{
		keys.n = 0;
		if (signature_query_keys(sig, share_thresholds[i], share_thresholds[i],
								 false,
								 &keys, &need) && keys.n <= MAX_KEYS)
			break;
	}
	return i;
}

/* Index of the least threshold at which this kind of signatures is joined. */
static int
first_of_kind(const Sample *sample)
{
	SignatureKind kind = sample_kind(sample);
	int			i = 0;

	if (kind == KIND_SKETCHES)
		return first_of_sketches(sample);
	if (kind == KIND_VECTORS && sample->n > JOINED_VECTORS)
		while (share_thresholds[i] < VECTORS_THRESHOLD)
			i++;
	if (kind == KIND_DENSE)
		while (share_thresholds[i] < DENSE_THRESHOLD)
			i++;
	return i;
}

/*
 * Index of the least threshold at which the whole sample is joined; NSHARES:
 * none.
 */
static int
first_joined(const Sample *sample)
{
	int			i = first_of_kind(sample);

	while (i < NSHARES &&
		   affordable(sample, sample->n, share_thresholds[i]) < sample->n)
		i++;
	return i;
}

/* Join or compare a part of the sample, for the thresholds below. */
static void
study_part(const Sample *sample, SampleCounts *counts)
{
	double		threshold = share_thresholds[0];
	Sample		part;

	if (sample_kind(sample) == KIND_SKETCHES ||
		sample_kind(sample) == KIND_DENSE)
	{
		double		most = sample_kind(sample) == KIND_SKETCHES ?
		COMPARED_SKETCHES :
		sqrt(2 * MAX_STEPS / COMPARISON_STEPS(2 * mean_words(sample)));

		take_part(sample, Max(most, 1), &part);
		compare_all(&part, counts);
	}
	else
	{
		uint32		most = sample_kind(sample) == KIND_VECTORS ?
		Min(sample->n, JOINED_VECTORS) : sample->n;

		take_part(sample, affordable(sample, most, threshold), &part);
		join_sample(&part, threshold, counts);
	}
	pfree(part.signatures);
}

/* True if all signatures have one spec. */
static bool
is_uniform(const Sample *sample)
{
	for (uint32 i = 1; i < sample->n; i++)
		if (!spec_equal(&sample->signatures[0]->spec,
						&sample->signatures[i]->spec))
			return false;
	return true;
}

/*
 * The share of the table's rows that have a match there.  The number of rows
 * with a match outside the sample only is estimated from the rows with one and
 * with two (Chao, "Nonparametric estimation of the number of classes in a
 * population", 1984), and is at most what one match in the table for each row
 * would give.
 */
static double
share_matched(const SampleCounts *counts, int i)
{
	double		share = sampled_share(counts);
	double		once = counts->once[i];
	double		unseen = once * (once - 1) / (2 * (counts->twice[i] + 1));

	Assert(share > 0 && share <= 1);
	Assert(once + counts->twice[i] <= counts->matched[i]);
	unseen = Min(Max(unseen, 0), once * (1 - share) / share);
	return Min((counts->matched[i] + unseen) / Max(counts->nrows, 1), 1);
}

/*
 * The share of rows that are near a typical row: 1 / (1 + their number) is the
 * mean over all rows of the sample, also rows without a match.
 */
static double
share_first(const SampleCounts *counts, int i)
{
	double		until = (counts->nrows - counts->matched[i] +
						 counts->until_match[i]) /
	Max(counts->nrows, 1);

	Assert(until > 0 && until <= 1 + 1e-9);
	return Max(1 / until - 1, 0.5) / Max(counts->total - 1, 1);
}

/*
 * Store the shares at thresholds `from` to `to` - 1; no pair counts as half a
 * pair.  A share is not less than at the next threshold, which may come from a
 * larger sample.
 */
static void
note_counts(const SampleCounts *counts, int from, int to,
			NearStatistics *statistics)
{
	double		n = Max(counts->nrows, 2);
	double		pairs = n * (n - 1);

	for (int i = to - 1; i >= from; i--)
	{
		NearNumbers *numbers = &statistics->at[i];
		const NearNumbers *next = i + 1 < NSHARES ? numbers + 1 : numbers;

		numbers->near = Max(counts->near[i], 0.5) / pairs;
		numbers->similar = Max(counts->similar[i], 0.5) / pairs;
		numbers->first = Min(share_first(counts, i), 1);
		numbers->matched = share_matched(counts, i);
		numbers->near = Max(numbers->near, next->near);
		numbers->similar = Max(numbers->similar, next->similar);
		numbers->first = Max(numbers->first, next->first);
		numbers->matched = Max(numbers->matched, next->matched);
	}
}

/* Add the candidate keys of a signature to their means. */
static void
note_candidate_keys(const Signature *sig, double share,
					NearStatistics *statistics)
{
	const MethodInfo *method = method_info(sig->spec.method);
	double		bits = (double) SIGNATURE_NVALUES(sig) * method->width;
	KeyList		row_keys = {0};
	KeyList		query_keys = {0};

	for (int i = 0; i < NSHARES; i++)
	{
		double		t = share_thresholds[i];
		uint32		need;

		row_keys.n = query_keys.n = 0;
		signature_row_keys(sig, t, &row_keys);
		if (!signature_query_keys(sig, t, t, false, &query_keys, &need))
			query_keys.n = 0;
		statistics->at[i].row_keys += row_keys.n * share;
		statistics->at[i].query_keys += query_keys.n * share;
	}
	/* two have the bits of a key in common by chance */
	statistics->key_share += Max(pow(2, -bits / Max(row_keys.n, 1)), 1e-9) *
		share;
}

/* Store the mean numbers of values, keys and postings. */
static void
note_keys(const Sample *sample, NearStatistics *statistics)
{
	const MethodInfo *method = method_info(sample->signatures[0]->spec.method);
	uint32		n = Min(sample->n, COUNTED_SIGNATURES);

	for (uint32 i = 0; i < n; i++)
	{
		const Signature *sig = sample->signatures[(uint64) i * sample->n / n];
		KeyList		places = {0};

		if (spec_has_keys(&sig->spec))
			note_candidate_keys(sig, 1.0 / n, statistics);
		if (method->place_keys != NULL)
			method->place_keys(sig, &places);
		statistics->values += (double) SIGNATURE_NVALUES(sig) / n;
		statistics->all_keys += (double) places.n / n;
	}
	if (method->weighted)
		statistics->all_keys = statistics->values;
	if (method->dense)
		statistics->lanes = DENSE_LANES;
	if (method->place_values > 0)
		statistics->postings = statistics->all_keys / method->place_values;
}

/* Store the numbers in a free slot, if there is one. */
static void
store_statistics(VacAttrStats *stats, NearStatistics *statistics)
{
	int			slot = 0;

	while (slot < STATISTIC_NUM_SLOTS && stats->stakind[slot] != 0)
		slot++;
	if (slot == STATISTIC_NUM_SLOTS)
		return;
	stats->stakind[slot] = STATISTIC_KIND_NEAR;
	stats->staop[slot] = InvalidOid;
	stats->stacoll[slot] = InvalidOid;
	stats->stanumbers[slot] = (float4 *) statistics;
	stats->numnumbers[slot] = NEAR_NUMBERS;
}

/* Estimate all numbers from a sample. */
static void
study_sample(const Sample *sample, NearStatistics *statistics)
{
	SampleCounts *counts = palloc0(sizeof(SampleCounts));
	int			first = first_joined(sample);

	if (first < NSHARES)
	{
		join_sample(sample, share_thresholds[first], counts);
		note_counts(counts, first, NSHARES, statistics);
	}
	if (first > 0)
	{
		memset(counts, 0, sizeof(SampleCounts));
		study_part(sample, counts);
		note_counts(counts, 0, first, statistics);
	}
	note_keys(sample, statistics);
}

/* AnalyzeAttrComputeStatsFunc */
static void
compute_signature_stats(VacAttrStats *stats, AnalyzeAttrFetchFunc fetchfunc,
						int nrows, double totalrows)
{
	StandardAnalysis *standard = stats->extra_data;
	Sample		sample;
	NearStatistics *statistics;

	stats->extra_data = standard->extra_data;
	standard->compute_stats(stats, fetchfunc, nrows, totalrows);
	stats->extra_data = standard;

	sample.total = totalrows;
	sample.signatures = palloc(sizeof(Signature *) * nrows);
	take_sample(stats, fetchfunc, nrows, sample_step(stats, fetchfunc, nrows),
				&sample);
	if (!stats->stats_valid || sample.n < 2 || !is_uniform(&sample))
		return;
	if (method_info(sample.signatures[0]->spec.method)->dense)
		sample.measure = MEASURE_COSINE;
	statistics = MemoryContextAllocZero(stats->anl_context,
										sizeof(NearStatistics));
	study_sample(&sample, statistics);
	store_statistics(stats, statistics);
}

/*
 * typanalyze of type signature: as std_typanalyze(), and statistics of near-
 * duplicates.
 */
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
