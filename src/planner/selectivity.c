/*
 * selectivity.c
 *		Rows or pairs that a near-duplicate condition selects, and what it
 *		costs.
 *
 * The planner interpolates between the thresholds whose shares ANALYZE has
 * noted (analyze.c).  A table that is joined with itself has each row paired
 * with itself besides, unless another condition excludes it.
 */
#include "postgres.h"

#include <float.h>
#include <math.h>

#include "access/htup_details.h"
#include "catalog/pg_statistic.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "rewrite/rewriteManip.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"

#include "base/settings.h"
#include "planner/conditions.h"
#include "statistics/column_statistics.h"

/*
 * The share of near-duplicate pairs without statistics, as among package
 * descriptions.
 */
#define DEFAULT_NEAR_SELECTIVITY	5e-5

/* Cost of a comparison in cpu_operator_cost, besides one for each value. */
#define COMPARISON_OPERATIONS		200.0

/*
 * Cost of a comparison of dense vectors in cpu_operator_cost, besides the cost
 * of its values
 */
#define DENSE_OPERATIONS			4.0

/* Rows of the sample of ANALYZE at the default settings. */
#define USUAL_SAMPLE				30000

/* Statistics of one side of a condition. */
typedef struct SideStatistics
{
	bool		known;			/* true if there are statistics */
	NearStatistics numbers;
	double		tuples;			/* number of rows of the table */
	double		rows;			/* number of rows after the other conditions */
	Oid			relid;			/* table and column of the statistics */
	AttrNumber	attnum;
	RelOptInfo *rel;			/* relation of the side, or NULL */
} SideStatistics;

/* A condition with the statistics of its sides. */
typedef struct Estimate
{
	NearCondition condition;
	SideStatistics left;
	SideStatistics right;
	double		resemblance;	/* resemblance at which the statistics are
								 * read */
} Estimate;

/* Fill in the statistics of a side. */
static void
side_statistics(PlannerInfo *root, Expr *signature, SideStatistics *side)
{
	VariableStatData vardata;

	memset(side, 0, sizeof(SideStatistics));
	examine_variable(root, (Node *) signature, 0, &vardata);
	side->rel = vardata.rel;
	if (vardata.rel != NULL)
	{
		side->tuples = Max(vardata.rel->tuples, 1);
		side->rows = vardata.rel->rows > 0 ? vardata.rel->rows : side->tuples;
	}
	side->known = near_statistics(&vardata, &side->numbers);
	if (side->known)
	{
		Form_pg_statistic form =
		(Form_pg_statistic) GETSTRUCT(vardata.statsTuple);

		side->relid = form->starelid;
		side->attnum = form->staattnum;
	}
	ReleaseVariableStats(vardata);
}

double
near_threshold(PlannerInfo *root, const NearCondition *condition)
{
	Const	   *con;
	double		t = neardup_threshold;

	if (condition->threshold == NULL)
		return t;
	con = (Const *) estimate_expression_value(root,
											  (Node *) condition->threshold);
	if (IsA(con, Const) && !con->constisnull)
		t = DatumGetFloat8(con->constvalue);
	/* a number of features */
	if (condition->measure == MEASURE_SHARED)
		return Max(t, 1);
	return t > 0 && t <= 1 ? t : 1;
}

/*
 * The resemblance of two sets of mean size with `shared` common features; at
 * least the lowest threshold.
 */
static double
shared_resemblance(double shared, const SideStatistics *left,
				   const SideStatistics *right)
{
	double		sizes = left->known && right->known ?
	(double) left->numbers.values + right->numbers.values : 0;

	if (sizes <= 0)
		return share_thresholds[0];
	return Max(shared / Max(sizes - shared, shared), share_thresholds[0]);
}

/*
 * Fill in the statistics, and the resemblance of two sets of equal size that
 * reach the threshold: most pairs that reach it have about equal sizes.
 */
static void
estimate_init(PlannerInfo *root, Estimate *estimate)
{
	const NearCondition *condition = &estimate->condition;
	double		threshold = near_threshold(root, condition);

	side_statistics(root, condition->left, &estimate->left);
	side_statistics(root, condition->right, &estimate->right);
	switch (condition->measure)
	{
		case MEASURE_JACCARD:
		case MEASURE_SIMILARITY:
			estimate->resemblance = threshold;
			break;
		case MEASURE_SHARED:
			estimate->resemblance = shared_resemblance(threshold,
													   &estimate->left,
													   &estimate->right);
			break;
		default:
			/* not 0 of the least of all numbers */
			estimate->resemblance = Max(threshold / (2 - threshold), FLT_MIN);
	}
	Assert(estimate->resemblance > 0 && estimate->resemblance <= 1);
}

/* A share from ANALYZE, by its place in NearNumbers. */
typedef enum ShareKind
{
	SHARE_NEAR = offsetof(NearNumbers, near) / sizeof(float4),
	SHARE_SIMILAR = offsetof(NearNumbers, similar) / sizeof(float4),
	SHARE_FIRST = offsetof(NearNumbers, first) / sizeof(float4),
	SHARE_MATCHED = offsetof(NearNumbers, matched) / sizeof(float4),
} ShareKind;

/*
 * The share at a threshold, by linear inter- and extrapolation of logarithms.
 */
static double
share_at(const NearNumbers *numbers, ShareKind kind, double t)
{
	int			i = 0;
	double		between;
	double		low;
	double		high;

	Assert(t > 0 && t <= 1);
	while (i < NSHARES - 2 && share_thresholds[i + 1] < t)
		i++;
	between = (t - share_thresholds[i]) / (share_thresholds[i + 1] -
										   share_thresholds[i]);
	Assert(i + 1 < NSHARES);
	low = log(Max(((const float4 *) &numbers[i])[kind], FLT_MIN));
	high = log(Max(((const float4 *) &numbers[i + 1])[kind], FLT_MIN));
	return Min(exp(low + (high - low) * between), 1);
}

/* The weight of the statistics of a side. */
static double
evidence(const SideStatistics *side)
{
	return side->known ? Min(side->tuples, USUAL_SAMPLE) : 0;
}

/*
 * The share by the statistics of both sides; `otherwise` without statistics.
 */
static double
combined_share(const Estimate *estimate, ShareKind kind, double t,
			   double otherwise)
{
	double		l = evidence(&estimate->left);
	double		r = evidence(&estimate->right);
	double		sum = 0;

	if (l + r == 0)
		return otherwise;
	if (l > 0)
		sum += l * log(share_at(estimate->left.numbers.at, kind, t));
	if (r > 0)
		sum += r * log(share_at(estimate->right.numbers.at, kind, t));
	return exp(sum / (l + r));
}

/*
 * The share of pairs without statistics.  If only the first rows are wanted,
 * none is expected: a search for a pair that is not there would read
 * everything.
 */
static double
default_share(const PlannerInfo *root, const Estimate *estimate)
{
	if (root->tuple_fraction == 0)
		return DEFAULT_NEAR_SELECTIVITY;
	return 0.5 / (Max(estimate->left.tuples, 1) *
				  Max(estimate->right.tuples, 1));
}

/* The share of pairs that are near, or as similar. */
static double
share_of_pairs(const PlannerInfo *root, const Estimate *estimate)
{
	return combined_share(estimate,
						  estimate->condition.measure == MEASURE_SIMILARITY ?
						  SHARE_SIMILAR : SHARE_NEAR,
						  estimate->resemblance,
						  default_share(root, estimate));
}

/* True if both sides are one expression of one table. */
static bool
is_one_expression(PlannerInfo *root, const Estimate *estimate)
{
	Index		left = estimate->left.rel->relid;
	Index		right = estimate->right.rel->relid;
	Node	   *moved = copyObject((Node *) estimate->condition.left);

	ChangeVarNodes(moved, left, right, 0);
	return planner_rt_fetch(left, root)->relid == planner_rt_fetch(right,
																   root)->relid &&
		equal(moved, estimate->condition.right);
}

/*
 * True if both sides are one column, so that a row may be paired with
 * itself.  Extended statistics of an expression name no column: then
 * expressions are compared.
 */
static bool
is_one_column(PlannerInfo *root, const Estimate *estimate)
{
	const SideStatistics *left = &estimate->left;
	const SideStatistics *right = &estimate->right;

	return left->known && right->known && left->relid == right->relid &&
		left->attnum == right->attnum &&
		(OidIsValid(left->relid) || is_one_expression(root, estimate));
}

/*
 * True if the clause compares a.x with b.x by <>, < or >, so that no row is
 * paired with itself.
 */
static bool
excludes_same_row(const OpExpr *clause, Index a, Index b)
{
	const Var  *x;
	const Var  *y;
	RegProcedure estimator;

	if (!IsA(clause, OpExpr) || list_length(clause->args) != 2)
		return false;
	x = linitial(clause->args);
	y = lsecond(clause->args);
	if (!IsA(x, Var) || !IsA(y, Var) || x->varattno != y->varattno ||
		!((x->varno == a && y->varno == b) ||
		  (x->varno == b && y->varno == a)))
		return false;
	estimator = get_oprrest(clause->opno);
	return estimator == F_NEQSEL || estimator == F_SCALARLTSEL ||
		estimator == F_SCALARGTSEL;
}

/*
 * True if another condition of the join excludes pairs of a row with itself.
 */
static bool
excludes_itself(const Estimate *estimate)
{
	const RelOptInfo *left = estimate->left.rel;
	ListCell   *lc;

	foreach(lc, left->joininfo)
		if (excludes_same_row((const OpExpr *) lfirst_node(RestrictInfo,
														   lc)->clause,
							  left->relid, estimate->right.rel->relid))
		return true;
	return false;
}

/*
 * The share of pairs of a row with itself, unless another condition excludes
 * them.
 */
static double
share_of_itself(PlannerInfo *root, const Estimate *estimate)
{
	if (!is_one_column(root, estimate) || excludes_itself(estimate))
		return 0;
	return 1 / Max(Max(estimate->left.tuples, estimate->right.tuples), 1);
}

/* The rows of the inner side of a semi- or anti-join. */
static double
inner_rows(PlannerInfo *root, const Estimate *estimate,
		   const SpecialJoinInfo *sjinfo)
{
	Relids		left = pull_varnos(root, (Node *) estimate->condition.left);

	return bms_is_subset(left, sjinfo->syn_righthand) ? estimate->left.rows :
		estimate->right.rows;
}

/*
 * The share of outer rows that have a match among `rows` inner rows: at most
 * the share that has any match, and the number of pairs.
 */
static double
share_with_match(const PlannerInfo *root, const Estimate *estimate,
				 double rows,
				 double itself)
{
	double		pairs = Min(share_of_pairs(root, estimate) * rows, 1);
	double		share = Min(combined_share(estimate, SHARE_MATCHED,
										   estimate->resemblance, 1), pairs);

	Assert(share >= 0 && share <= 1 && itself >= 0);
	return share + (1 - share) * Min(itself * rows, 1);
}

/* True if a join emits outer rows only. */
static bool
is_semi_or_anti(JoinType jointype)
{
	return jointype == JOIN_SEMI || jointype == JOIN_ANTI;
}

/*
 * The share of pairs, or of outer rows with a match, for which the condition
 * holds.
 */
static Selectivity
estimated_share(PlannerInfo *root, const Estimate *estimate, JoinType jointype,
				const SpecialJoinInfo *sjinfo)
{
	double		itself = share_of_itself(root, estimate);
	double		share;

	if (sjinfo != NULL && is_semi_or_anti(jointype))
		share = share_with_match(root, estimate,
								 inner_rows(root, estimate, sjinfo),
								 itself);
	else
	{
		share = share_of_pairs(root, estimate);

		/* most pairs may be of one template: estimate a typical row */
		if (root->tuple_fraction > 0)
			share = Min(share, combined_share(estimate, SHARE_FIRST,
											  estimate->resemblance, 1));
		share += itself;
	}
	CLAMP_PROBABILITY(share);
	return share;
}

/*
 * The share of pairs for which other conditions of the join, equalities of
 * columns, hold.
 */
static double
equal_share(PlannerInfo *root, const Estimate *estimate,
			SpecialJoinInfo *sjinfo)
{
	double		share = 1;
	ListCell   *lc;
	ListCell   *lc2;

	if (estimate->left.rel == NULL || estimate->right.rel == NULL)
		return 1;
	foreach(lc, root->eq_classes)
		foreach(lc2, lfirst_node(EquivalenceClass, lc)->ec_sources)
	{
		RestrictInfo *equality = lfirst_node(RestrictInfo, lc2);

		if (bms_num_members(equality->clause_relids) == 2 &&
			bms_is_member(estimate->left.rel->relid,
						  equality->clause_relids) &&
			bms_is_member(estimate->right.rel->relid, equality->clause_relids))
			share *= clause_selectivity(root, (Node *) equality, 0, JOIN_INNER,
										sjinfo);
	}
	Assert(share >= 0 && share <= 1);
	return Max(share, 1e-12);
}

double
near_equal_share(PlannerInfo *root, const NearCondition *condition)
{
	Estimate	estimate = {.condition = *condition};
	double		itself;
	double		equal;

	estimate_init(root, &estimate);
	if (!estimate.left.known || !estimate.right.known)
		return 0;
	itself = share_of_itself(root, &estimate);
	equal = combined_share(&estimate, SHARE_SIMILAR, 1, 0) + itself;
	return Min(equal / (share_of_pairs(root, &estimate) + itself), 1);
}

Selectivity
near_share(PlannerInfo *root, Node *clause, JoinType jointype,
		   SpecialJoinInfo *sjinfo)
{
	Estimate	estimate;

	if (!near_condition(clause, &estimate.condition) &&
		!approx_condition(clause, &estimate.condition))
		return DEFAULT_NEAR_SELECTIVITY;
	estimate_init(root, &estimate);
	return estimated_share(root, &estimate, jointype, sjinfo);
}

Selectivity
near_selectivity(PlannerInfo *root, Node *clause, JoinType jointype,
				 SpecialJoinInfo *sjinfo)
{
	Estimate	estimate;
	double		share;

	if (!near_condition(clause, &estimate.condition) &&
		!approx_condition(clause, &estimate.condition))
		return DEFAULT_NEAR_SELECTIVITY;
	estimate_init(root, &estimate);
	share = estimated_share(root, &estimate, jointype, sjinfo);
	if (sjinfo == NULL || is_semi_or_anti(jointype))
		return share;
	return Min(share / equal_share(root, &estimate, sjinfo), 1);
}

double
near_correction(PlannerInfo *root, RestrictInfo *rinfo, int relid,
				JoinType jointype,
				SpecialJoinInfo *sjinfo)
{
	Selectivity core = clause_selectivity(root, (Node *) rinfo, relid,
										  jointype, sjinfo);
	Selectivity ours = near_selectivity(root, (Node *) rinfo->clause, jointype,
										sjinfo);

	Assert(core >= 0 && ours >= 0);
	return core > 0 ? ours / core : 1;
}

Cost
near_comparison_cost(PlannerInfo *root, const NearCondition *condition)
{
	NearStatistics statistics;
	double		values = 0;
	double		lanes = 0;

	Assert(condition->left != NULL && condition->right != NULL);
	if (near_statistics_of(root, (Node *) condition->left, 0, &statistics))
	{
		values = statistics.values;
		lanes = statistics.lanes;
	}
	if (near_statistics_of(root, (Node *) condition->right, 0, &statistics))
	{
		values = Max(values, statistics.values);
		lanes = Max(lanes, statistics.lanes);
	}
	return (lanes > 0 ? DENSE_OPERATIONS + values / lanes :
			COMPARISON_OPERATIONS + values) * cpu_operator_cost;
}
