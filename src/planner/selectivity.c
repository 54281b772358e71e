/*
 * selectivity.c
 *		How many rows or pairs fulfil a near-duplicate condition, estimated.
 *
 * The planner interpolates between the thresholds whose shares ANALYZE has
 * noted (analyze.c).  A table that is joined with itself has, besides, each row
 * paired with itself.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/planner/selectivity.c
 */
#include "postgres.h"

#include <math.h>

#include "access/htup_details.h"
#include "catalog/pg_statistic.h"
#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"

#include "base/settings.h"
#include "planner/conditions.h"
#include "planner/statistics.h"

/*
 * The share of all pairs that are near-duplicates where nothing is known: in
 * package descriptions, articles and the like it is of this order from 10,000
 * to 340,000 rows.
 */
#define DEFAULT_NEAR_SELECTIVITY	5e-5

/*
 * The resemblance of two sets of one size that reach the threshold on the
 * measure: of that order are the sizes of most that do.
 */
static double
equal_resemblance(Measure measure, double threshold)
{
	switch (measure)
	{
		case MEASURE_JACCARD:
		case MEASURE_SIMILARITY:
			return threshold;
		case MEASURE_SHARED:
			return share_thresholds[0]; /* it does not tell */
		default:
			return threshold / (2 - threshold);
	}
}

/*
 * The share at a threshold, between those that are known.  Logarithms of
 * shares are nearly linear; below the first threshold as from there to the
 * second.
 */
static double
interpolate(const float4 *shares, double t)
{
	int			i = 1;
	double		low;
	double		high;
	double		place;

	while (i < NSHARES - 1 && share_thresholds[i] < t)
		i++;
	low = log(shares[i - 1]);
	high = log(shares[i]);
	place = (t - share_thresholds[i - 1]) /
		(share_thresholds[i] - share_thresholds[i - 1]);
	return Min(exp(low + (high - low) * place), 1);
}

/* What is known of one side of a condition. */
typedef struct SideStatistics
{
	bool		known;			/* the share is */
	double		share;			/* of pairs of different rows */
	double		tuples;			/* rows of the table */
	Oid			relid;			/* whose statistics they are: a column */
	AttrNumber	attnum;
} SideStatistics;

static void
side_statistics(PlannerInfo *root, Expr *signature, double t,
				SideStatistics *side)
{
	VariableStatData vardata;
	AttStatsSlot slot;

	memset(side, 0, sizeof(SideStatistics));
	examine_variable(root, (Node *) signature, 0, &vardata);
	if (vardata.rel != NULL)
		side->tuples = vardata.rel->tuples;
	if (HeapTupleIsValid(vardata.statsTuple) &&
		get_attstatsslot(&slot, vardata.statsTuple, STATISTIC_KIND_NEAR,
						 InvalidOid, ATTSTATSSLOT_NUMBERS))
	{
		Form_pg_statistic form = (Form_pg_statistic) GETSTRUCT(vardata.statsTuple);

		if (slot.nnumbers == NSHARES)
		{
			side->known = true;
			side->share = interpolate(slot.numbers, t);
			side->relid = form->starelid;
			side->attnum = form->staattnum;
		}
		free_attstatsslot(&slot);
	}
	ReleaseVariableStats(vardata);
}

/* The threshold, or the usual one if it is not known yet. */
static double
estimated_threshold(PlannerInfo *root, const NearCondition *condition)
{
	Const	   *con;
	double		t = 0.8;

	if (condition->threshold == NULL)
		return neardup_threshold;
	con = (Const *) estimate_expression_value(root,
											  (Node *) condition->threshold);
	if (IsA(con, Const) && !con->constisnull)
		t = DatumGetFloat8(con->constvalue);
	return t > 0 && t <= 1 ? t : 1;
}

/* The share of pairs, by what is known of either side. */
static double
share_of_pairs(const SideStatistics *left, const SideStatistics *right)
{
	if (left->known && right->known)
	{
		double		share = sqrt(left->share * right->share);

		if (left->relid == right->relid && left->attnum == right->attnum)
			share += 1 / Max(left->tuples, 1);
		return share;
	}
	if (left->known)
		return left->share;
	return right->known ? right->share : DEFAULT_NEAR_SELECTIVITY;
}

Selectivity
near_selectivity(PlannerInfo *root, Node *clause, JoinType jointype,
				 SpecialJoinInfo *sjinfo)
{
	NearCondition condition;
	SideStatistics left;
	SideStatistics right;
	double		share;
	double		t;

	if (!near_condition(clause, &condition) &&
		!approx_condition(clause, &condition))
		return DEFAULT_NEAR_SELECTIVITY;
	t = equal_resemblance(condition.measure,
						  estimated_threshold(root, &condition));
	side_statistics(root, condition.left, t, &left);
	side_statistics(root, condition.right, t, &right);
	share = share_of_pairs(&left, &right);
	if (sjinfo != NULL && (jointype == JOIN_SEMI || jointype == JOIN_ANTI))
	{
		bool		left_is_inner = bms_is_subset(pull_varnos(root, (Node *) condition.left),
												  sjinfo->syn_righthand);

		share *= left_is_inner ? left.tuples : right.tuples;
	}
	CLAMP_PROBABILITY(share);
	return share;
}
