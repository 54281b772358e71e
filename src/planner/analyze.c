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
 * Sketches are joined by their candidate keys, down to the threshold from which
 * on those are few.  Below it many pairs are near, so that all pairs of a part of
 * the sample are enough.  Of vectors, which have frequent words among their features,
 * only a part is joined at low thresholds, too.  And so it is where a sample has too
 * many pairs to join it at a threshold: if all rows are near to each other, they are as
 * many as the square of its rows.  How many there are is seen from a small part.
 *
 * How many rows have a match at all, and how many matches a typical row has, depends on
 * how matches are distributed among rows: in a sample of a tenth most rows have none of
 * the matches that they have in the table, and a few have very many.  What index and join
 * cost depends on how many keys signatures have.
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

/* The most features that ANALYZE takes into its join: about a second. */
#define SAMPLE_FEATURES		3000000

/* Sketches have few bytes each, and are as many as other columns' values at most. */
#define SAMPLE_SKETCHES		30000

/* Sketches of which all pairs are compared, and keys from which on they are. */
#define COMPARED_SKETCHES	2500
#define MAX_KEYS			100

/* Vectors that are joined below that threshold: such joins compare many. */
#define JOINED_VECTORS		5000
#define VECTORS_THRESHOLD	0.8

/*
 * Steps that a join may take, see join_steps(): about half a second.  A trial, which
 * tells how many it will be, takes no more than those below.
 */
#define MAX_STEPS			2e8
#define TRIAL_STEPS			1e7

/* Steps of a comparison, besides one for each word of both signatures. */
#define COMPARISON_STEPS	32

/* Signatures whose keys are counted. */
#define COUNTED_SIGNATURES	30

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
	double		total;			/* rows of the table */
} Sample;

/* What is found of them, by threshold, where it is known. */
typedef struct Findings
{
	double		near[NSHARES];	/* ordered pairs that are near */
	double		similar[NSHARES];	/* that are as similar */
	double		matched[NSHARES];	/* rows that have a match, */
	double		once[NSHARES];	/* just one, */
	double		twice[NSHARES]; /* two */
	double		until_match[NSHARES];	/* sum of the shares of the table that
										 * matched rows read up to a match */
	double		nrows;			/* rows of the sample, and of the table */
	double		total;
	double		steps;			/* that it took */
} Findings;

static SignatureKind
sample_kind(const Sample *sample)
{
	return signature_kind(sample->signatures[0], MEASURE_JACCARD);
}

/*
 * The sample's signatures, as many as are worth while: one row in `step`, not at
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
		if (SIGNATURE_NVALUES(sig) == 0)
			continue;
		nfeatures += Max(SIGNATURE_NVALUES(sig), SAMPLE_FEATURES / SAMPLE_SKETCHES *
						 (signature_kind(sig, MEASURE_JACCARD) == KIND_SKETCHES));
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

/*
 * How similar two signatures are, and up to which threshold they are near: at any if
 * their method has a rule that does not look at it.
 */
static double
compare(const Sample *sample, uint32 a, uint32 b, double *near)
{
	const Signature *x = sample->signatures[a];
	const Signature *y = sample->signatures[b];
	const MethodInfo *method = method_info(x->spec.method);
	double		value = signatures_value(x, y, MEASURE_JACCARD);

	*near = method->least_similarity == NULL ? value : method->near(x, y, 1);
	return value;
}

/* Adds pairs of so much similarity, near up to a threshold. */
static void
add_pairs(Findings *findings, double pairs, double value, double near)
{
	for (int i = 0; i < NSHARES; i++)
	{
		findings->similar[i] += value >= share_thresholds[i] ? pairs : 0;
		findings->near[i] += near >= share_thresholds[i] ? pairs : 0;
	}
}

/* Share of the other rows of the table that are in the sample. */
static double
sampled_share(const Findings *findings)
{
	return Min(Max(findings->nrows - 1, 1) / Max(findings->total - 1, 1), 1);
}

/* Matches that a row of the sample, or each row of its set, has there. */
typedef struct RowMatches
{
	float4		rows;			/* number of rows */
	float4		matches[NSHARES];
} RowMatches;

static void
add_matches(RowMatches *row, double matches, double near)
{
	for (int i = 0; i < NSHARES && near >= share_thresholds[i]; i++)
		row->matches[i] += matches;
}

/* Adds rows whose matches have been counted. */
static void
add_rows(Findings *findings, const RowMatches *row)
{
	double		share = sampled_share(findings);

	for (int i = 0; i < NSHARES; i++)
	{
		double		matches = row->matches[i];

		if (matches == 0)
			continue;
		findings->matched[i] += row->rows;
		findings->once[i] += matches == 1 ? row->rows : 0;
		findings->twice[i] += matches == 2 ? row->rows : 0;
		findings->until_match[i] += row->rows / (1 + matches / share);
	}
}

/* Steps of comparing two signatures of `words` words in all. */
static double
comparison_steps(double words)
{
	return COMPARISON_STEPS + words;
}

/* The words that a signature's values take. */
static double
signature_words(const Signature *sig)
{
	return (double) SIGNATURE_NVALUES(sig) * method_info(sig->spec.method)->width / 64;
}

static double
mean_words(const Sample *sample)
{
	double		sum = 0;

	for (uint32 i = 0; i < sample->n; i++)
		sum += signature_words(sample->signatures[i]);
	return sum / sample->n;
}

/* Adds up pairs of different rows by the thresholds that they reach. */
static void
count_pairs(SetJoin *join, const Sample *sample, Findings *findings)
{
	RowMatches *rows = palloc_extended(sizeof(RowMatches) * sample->n,
									   MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	RowGroup	outer;
	RowGroup	inner;

	while (setjoin_next(join, &outer, &inner))
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
			/* leave out each row with itself */
			add_pairs(findings, n * (n - 1), value, near);
			add_matches(&rows[a], n - 1, near);
			continue;
		}
		findings->steps +=
			comparison_steps(signature_words(sample->signatures[a]) +
							 signature_words(sample->signatures[b]));
		add_pairs(findings, 2 * n * m, value, near);
		add_matches(&rows[a], m, near);
		add_matches(&rows[b], n, near);
	}
	for (uint32 i = 0; i < sample->n; i++)
		add_rows(findings, &rows[i]);
	pfree(rows);
}

/*
 * Steps that a join has made to find its pairs: places of lists that it looked at, and
 * signatures compared, which are taken to be of mean size.  To pass over a vector takes
 * as long as a comparison, as what is left of it has to be looked up.
 */
static double
join_steps(SetJoin *join, const Sample *sample)
{
	const SetJoinStats *stats = setjoin_stats(join);
	double		steps = stats->visited +
	stats->verified * comparison_steps(2 * mean_words(sample));

	if (sample_kind(sample) == KIND_VECTORS)
		steps += stats->removed_position * comparison_steps(0);
	return steps;
}

/* Joins the sample with itself. */
static void
join_sample(const Sample *sample, double threshold, Findings *findings)
{
	SetJoinParams params = {0};
	SignatureKind kind = sample_kind(sample);
	SetJoin    *join;

	params.algorithm = usual_algorithm(kind, MEASURE_JACCARD);
	params.measure = MEASURE_JACCARD;
	params.threshold = threshold;
	params.self_join = params.either_order = true;
	params.memory = (size_t) maintenance_work_mem * 1024;
	join = setjoin_begin(&params);
	for (uint32 i = 0; i < sample->n; i++)
	{
		uint32		n;
		const uint64 *set = signature_as_set(sample->signatures[i], kind,
											 MEASURE_JACCARD, &n);

		setjoin_add(join, SIDE_OUTER, set, n, "", 0);
		if (kind != KIND_SETS)
			pfree(unconstify(uint64 *, set));
	}
	setjoin_build(join, NULL);
	findings->nrows = sample->nrows;
	findings->total = sample->total;
	count_pairs(join, sample, findings);
	findings->steps += join_steps(join, sample);
	setjoin_end(join);
}

/*
 * A part of the sample, which was taken at random: about so many, and never none, as
 * mix64(0) is 0.
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
	part->nrows = sample->nrows * part->n / sample->n;
	part->total = sample->total;
}

/* Compares all signatures of a sample with each other. */
static void
compare_all(const Sample *sample, Findings *findings)
{
	RowMatches *rows = palloc0(sizeof(RowMatches) * sample->n);

	findings->nrows = sample->nrows;
	findings->total = sample->total;
	for (uint32 a = 0; a < sample->n; a++)
	{
		vacuum_delay_point_compat(true);
		for (uint32 b = a + 1; b < sample->n; b++)
		{
			double		near;
			double		value = compare(sample, a, b, &near);

			add_pairs(findings, 2, value, near);
			add_matches(&rows[a], 1, near);
			add_matches(&rows[b], 1, near);
		}
		rows[a].rows = 1;
		add_rows(findings, &rows[a]);
	}
	pfree(rows);
}

/* Joins a part of about so many; returns how many they are, and their steps. */
static uint32
try_part(const Sample *sample, uint32 most, double threshold, double *steps)
{
	Findings	findings = {0};
	Sample		part;

	take_part(sample, most, &part);
	join_sample(&part, threshold, &findings);
	pfree(part.signatures);
	*steps = Max(findings.steps, 1);
	return part.n;
}

/*
 * How many of the sample can be joined at that threshold, up to `limit`.  The first
 * trial is as small as it must be if all are near.  Steps grow as the square of the rows,
 * but by less where features are rare, which a larger part tells better.  So if the
 * trial took few steps, but too many by that rule, a larger one is made.
 */
static uint32
affordable(const Sample *sample, uint32 limit, double threshold)
{
	double		most = sqrt(TRIAL_STEPS / comparison_steps(2 * mean_words(sample)));

	while (most < limit)
	{
		double		steps;
		uint32		n = try_part(sample, Max(most, 1), threshold, &steps);
		double		more = n * sqrt(TRIAL_STEPS / steps);

		if (n * sqrt(MAX_STEPS / steps) >= limit)
			break;
		if (more < 2 * most)
			return Max(n * sqrt(MAX_STEPS / steps), 1);
		most = more;
	}
	return limit;
}

/* The least threshold from which on a join has few keys to look up, by its number. */
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
		if (signature_query_keys(sig, share_thresholds[i], share_thresholds[i], false,
								 &keys, &need) && keys.n <= MAX_KEYS)
			break;
	}
	return i;
}

/* The least threshold from which on the sample's kind can be joined, by its number. */
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
	return i;
}

/*
 * The least threshold from which on the whole sample is joined, by its number; NSHARES
 * if it is at none.
 */
static int
first_joined(const Sample *sample)
{
	int			i = first_of_kind(sample);

	while (i < NSHARES && affordable(sample, sample->n, share_thresholds[i]) < sample->n)
		i++;
	return i;
}

/* What is found below that threshold, where pairs are many. */
static void
study_part(const Sample *sample, Findings *findings)
{
	double		threshold = share_thresholds[0];
	Sample		part;

	if (sample_kind(sample) == KIND_SKETCHES)
	{
		take_part(sample, COMPARED_SKETCHES, &part);
		compare_all(&part, findings);
	}
	else
	{
		uint32		most = sample_kind(sample) == KIND_VECTORS ?
		Min(sample->n, JOINED_VECTORS) : sample->n;

		take_part(sample, affordable(sample, most, threshold), &part);
		join_sample(&part, threshold, findings);
	}
	pfree(part.signatures);
}

/* True if all were made alike: else there is no telling. */
static bool
is_uniform(const Sample *sample)
{
	for (uint32 i = 1; i < sample->n; i++)
		if (!spec_equal(&sample->signatures[0]->spec, &sample->signatures[i]->spec))
			return false;
	return true;
}

/*
 * The share of the table's rows that have a match there.  A row without a match in the
 * sample may have one: their number is estimated from the rows with one and with two
 * (Chao, "Nonparametric estimation of the number of classes in a population", 1984), and
 * is at most what it is if each row has one match in the table.
 */
static double
share_matched(const Findings *findings, int i)
{
	double		share = sampled_share(findings);
	double		once = findings->once[i];
	double		unseen = once * (once - 1) / (2 * (findings->twice[i] + 1));

	Assert(share > 0 && share <= 1);
	Assert(once + findings->twice[i] <= findings->matched[i]);
	unseen = Min(Max(unseen, 0), once * (1 - share) / share);
	return Min((findings->matched[i] + unseen) / Max(findings->nrows, 1), 1);
}

/*
 * The share of rows that are near a typical row: with it the reciprocal of one more than
 * their number is the mean of that over the sample's rows, those without a match included.
 */
static double
share_first(const Findings *findings, int i)
{
	double		until = (findings->nrows - findings->matched[i] + findings->until_match[i]) /
	Max(findings->nrows, 1);

	Assert(until > 0 && until <= 1 + 1e-9);
	return Max(1 / until - 1, 0.5) / Max(findings->total - 1, 1);
}

/*
 * Notes the findings of thresholds `from` to `to` - 1; if there is no pair, half a one.
 * No share is less than at the next threshold, which may be known from a larger sample.
 */
static void
note_findings(const Findings *findings, int from, int to, NearStatistics *statistics)
{
	double		n = Max(findings->nrows, 2);
	double		pairs = n * (n - 1);

	for (int i = to - 1; i >= from; i--)
	{
		NearNumbers *numbers = &statistics->at[i];
		const NearNumbers *next = i + 1 < NSHARES ? numbers + 1 : numbers;

		numbers->near = Max(findings->near[i], 0.5) / pairs;
		numbers->similar = Max(findings->similar[i], 0.5) / pairs;
		numbers->first = Min(share_first(findings, i), 1);
		numbers->matched = share_matched(findings, i);
		numbers->near = Max(numbers->near, next->near);
		numbers->similar = Max(numbers->similar, next->similar);
		numbers->first = Max(numbers->first, next->first);
		numbers->matched = Max(numbers->matched, next->matched);
	}
}

/* Adds the share that a signature has in the means of candidate keys. */
static void
note_candidate_keys(const Signature *sig, double share, NearStatistics *statistics)
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
	/* by chance two have the bits in common that a key is made of */
	statistics->key_share += Max(pow(2, -bits / Max(row_keys.n, 1)), 1e-9) * share;
}

/* What an index or a join has of signatures, on the average of some. */
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
	if (method->place_values > 0)
		statistics->postings = statistics->all_keys / method->place_values;
}

/* Puts the numbers into a free slot, if there is one. */
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

/* Estimates from a sample. */
static void
study_sample(const Sample *sample, NearStatistics *statistics)
{
	Findings   *findings = palloc0(sizeof(Findings));
	int			first = first_joined(sample);

	if (first < NSHARES)
	{
		join_sample(sample, share_thresholds[first], findings);
		note_findings(findings, first, NSHARES, statistics);
	}
	if (first > 0)
	{
		memset(findings, 0, sizeof(Findings));
		study_part(sample, findings);
		note_findings(findings, 0, first, statistics);
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
	take_sample(stats, fetchfunc, nrows, sample_step(stats, fetchfunc, nrows), &sample);
	if (!stats->stats_valid || sample.n < 2 || !is_uniform(&sample))
		return;
	statistics = MemoryContextAllocZero(stats->anl_context, sizeof(NearStatistics));
	study_sample(&sample, statistics);
	store_statistics(stats, statistics);
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
