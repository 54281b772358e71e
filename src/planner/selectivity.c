/*
 * selectivity.c
 *		How many rows or pairs fulfil a near-duplicate condition, estimated.
 *
 * The planner interpolates between the thresholds whose shares ANALYZE has
 * noted (analyze.c).  A table that is joined with itself has, besides, each row
 * paired with itself, unless another condition leaves it out.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/planner/selectivity.c
 */
#include "postgres.h"

#include <float.h>
#include <math.h>

#include "access/htup_details.h"
#include "catalog/pg_statistic.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "rewrite/rewriteManip.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"

#include "base/settings.h"
#include "planner/conditions.h"
#include "planner/statistics.h"
#include "statistics/column_statistics.h"

/*
 * The share of all pairs that are near-duplicates where nothing is known: in
 * package descriptions, articles and the like it is of this order from 10,000
 * to 340,000 rows.
 */
#define DEFAULT_NEAR_SELECTIVITY	5e-5

/*
 * Where a threshold is between those that are known: behind that of the number
 * returned, and before the next one, so far between them; below the first
 * one, less than 0.
 */
static int
place_of(double t, double *between)
{
	int			i = 0;

	while (i < NSHARES - 2 && share_thresholds[i + 1] < t)
		i++;
	*between = (t - share_thresholds[i]) /
		(share_thresholds[i + 1] - share_thresholds[i]);
	return i;
}

/*
 * The share at a threshold.  Logarithms of shares are nearly linear; below the
 * first threshold as from there to the second.
 */
static double
share_at(const NearNumbers *numbers, Measure measure, double t)
{
	double		between;
	const NearNumbers *at = &numbers[place_of(t, &between)];
	bool		by_value = measure == MEASURE_SIMILARITY;
	double		low = by_value ? at[0].similar : at[0].near;
	double		high = by_value ? at[1].similar : at[1].near;

	low = log(Max(low, FLT_MIN));
	high = log(Max(high, FLT_MIN));
	return Min(exp(low + (high - low) * between), 1);
}

/*
 * The share of rows that have no partner among so many others, or none before them,
 * as `none` says.
 */
static double
none_at(const NearNumbers *numbers, double t, double rows,
		double (*none) (const Partners *partners, double rows))
{
	double		between;
	const NearNumbers *at = &numbers[place_of(t, &between)];
	double		low = none(&at[0].partners, rows);
	double		high = none(&at[1].partners, rows);

	return low + (high - low) * Max(between, 0);
}

/* What is known of one side of a condition. */
typedef struct SideStatistics
{
	bool		known;			/* the numbers are */
	NearStatistics numbers;
	double		tuples;			/* rows of the table */
	double		rows;			/* that the other conditions leave */
	Oid			relid;			/* whose statistics they are: a column */
	AttrNumber	attnum;
	RelOptInfo *rel;			/* or NULL */
} SideStatistics;

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
		Form_pg_statistic form = (Form_pg_statistic) GETSTRUCT(vardata.statsTuple);

		side->relid = form->starelid;
		side->attnum = form->staattnum;
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
	/* a number of features */
	if (condition->measure == MEASURE_SHARED)
		return Max(t, 1);
	return t > 0 && t <= 1 ? t : 1;
}

/*
 * The resemblance of two sets of the mean size that have so many features in common; the least
 * one that is known, if that is less.
 */
static double
shared_resemblance(double shared, const SideStatistics *left, const SideStatistics *right)
{
	double		sizes = left->known && right->known ?
		(double) left->numbers.values + right->numbers.values : 0;

	if (sizes <= 0)
		return share_thresholds[0];
	return Max(shared / Max(sizes - shared, shared), share_thresholds[0]);
}

/*
 * The resemblance of two sets of one size that reach the threshold on the
 * measure: of that order are the sizes of most that do.
 */
static double
estimated_resemblance(PlannerInfo *root, const NearCondition *condition,
					  const SideStatistics *left, const SideStatistics *right)
{
	double		threshold = estimated_threshold(root, condition);

	switch (condition->measure)
	{
		case MEASURE_JACCARD:
		case MEASURE_SIMILARITY:
			return threshold;
		case MEASURE_SHARED:
			return shared_resemblance(threshold, left, right);
		default:
			return threshold / (2 - threshold);
	}
}

/* True if both sides are one expression of one table. */
static bool
is_one_expression(PlannerInfo *root, const NearCondition *condition,
				  const RelOptInfo *left, const RelOptInfo *right)
{
	Node	   *moved = copyObject((Node *) condition->left);

	ChangeVarNodes(moved, left->relid, right->relid, 0);
	return planner_rt_fetch(left->relid, root)->relid ==
		planner_rt_fetch(right->relid, root)->relid &&
		equal(moved, condition->right);
}

/*
 * True if both sides are one column, so that a row may be paired with itself.  Extended
 * statistics, of an expression, are of no column: they do not tell whose they are.
 */
static bool
is_one_column(PlannerInfo *root, const NearCondition *condition,
			  const SideStatistics *left, const SideStatistics *right)
{
	return left->known && right->known && left->relid == right->relid &&
		left->attnum == right->attnum &&
		(OidIsValid(left->relid) ||
		 is_one_expression(root, condition, left->rel, right->rel));
}

/* True if the clause compares a.x with b.x, of these two relations. */
static bool
compares_column(const OpExpr *clause, Index a, Index b)
{
	const Var  *x;
	const Var  *y;

	if (!IsA(clause, OpExpr) || list_length(clause->args) != 2)
		return false;
	x = linitial(clause->args);
	y = lsecond(clause->args);
	return IsA(x, Var) && IsA(y, Var) && x->varattno == y->varattno &&
		((x->varno == a && y->varno == b) || (x->varno == b && y->varno == a));
}

/* True if that is by < or >. */
static bool
puts_rows_in_order(const OpExpr *clause, Index a, Index b)
{
	RegProcedure estimator;

	if (!compares_column(clause, a, b))
		return false;
	estimator = get_oprrest(clause->opno);
	return estimator == F_SCALARLTSEL || estimator == F_SCALARGTSEL;
}

/* True if that is by <>, < or >. */
static bool
tells_rows_apart(const OpExpr *clause, Index a, Index b)
{
	return puts_rows_in_order(clause, a, b) ||
		(compares_column(clause, a, b) && get_oprrest(clause->opno) == F_NEQSEL);
}

/* True if another condition of the join leaves out each row with itself. */
static bool
leaves_out_itself(const SideStatistics *left, const SideStatistics *right)
{
	ListCell   *lc;

	foreach(lc, left->rel->joininfo)
		if (tells_rows_apart((const OpExpr *) lfirst_node(RestrictInfo, lc)->clause,
							 left->rel->relid, right->rel->relid))
			return true;
	return false;
}

/* How much a side tells: as many rows as ANALYZE reads at the usual settings. */
static double
evidence(const SideStatistics *side)
{
	return side->known ? Min(side->tuples, 30000) : 0;
}

/* The share of pairs of different rows, by what is known of either side. */
static double
share_of_pairs(const SideStatistics *left, const SideStatistics *right,
			   Measure measure, double t)
{
	double		l = evidence(left);
	double		r = evidence(right);
	double		sum = 0;

	if (l + r == 0)
		return DEFAULT_NEAR_SELECTIVITY;
	if (l > 0)
		sum += l * log(share_at(left->numbers.at, measure, t));
	if (r > 0)
		sum += r * log(share_at(right->numbers.at, measure, t));
	return exp(sum / (l + r));
}

/* The share of rows that have a partner among so many others. */
static double
share_with_partner(const SideStatistics *left, const SideStatistics *right,
				   double t, double rows)
{
	double		l = evidence(left);
	double		r = evidence(right);
	double		sum = 0;

	if (l + r == 0)
		return Min(DEFAULT_NEAR_SELECTIVITY * rows, 1);
	if (l > 0)
		sum += l * none_at(left->numbers.at, t, rows, partners_none);
	if (r > 0)
		sum += r * none_at(right->numbers.at, t, rows, partners_none);
	return 1 - sum / (l + r);
}

/* The rows of the inner side of a semi- or anti-join. */
static double
inner_rows(PlannerInfo *root, const NearCondition *condition,
		   const SideStatistics *left, const SideStatistics *right,
		   const SpecialJoinInfo *sjinfo)
{
	bool		left_is_inner = bms_is_subset(pull_varnos(root, (Node *) condition->left),
											  sjinfo->syn_righthand);

	return left_is_inner ? left->rows : right->rows;
}

bool
near_order_selectivity(PlannerInfo *root, const NearCondition *condition,
					   Node *order, const SpecialJoinInfo *semi,
					   Selectivity *of_pairs, Selectivity *of_rows)
{
	SideStatistics left;
	SideStatistics right;
	double		rows;
	double		t;

	side_statistics(root, condition->left, &left);
	side_statistics(root, condition->right, &right);
	t = estimated_resemblance(root, condition, &left, &right);
	if (!is_one_column(root, condition, &left, &right) ||
		left.rel == NULL || right.rel == NULL ||
		!puts_rows_in_order((const OpExpr *) order, left.rel->relid, right.rel->relid))
		return false;
	*of_pairs = *of_rows = 0.5;
	if (semi != NULL)
	{
		rows = inner_rows(root, condition, &left, &right, semi);
		*of_rows = (1 - none_at(left.numbers.at, t, rows, partners_none_before)) /
			Max(1 - none_at(left.numbers.at, t, rows, partners_none), 1e-10);
		CLAMP_PROBABILITY(*of_rows);
	}
	return true;
}

/*
 * The share of pairs that are a row and itself, where no other condition leaves them
 * out; a subquery may have but some of the table's rows.
 */
static double
share_of_itself(PlannerInfo *root, const NearCondition *condition,
				const SideStatistics *left, const SideStatistics *right)
{
	if (!is_one_column(root, condition, left, right) ||
		leaves_out_itself(left, right))
		return 0;
	return 1 / Max(Max(left->tuples, right->tuples), 1);
}

double
near_equal_share(PlannerInfo *root, const NearCondition *condition)
{
	SideStatistics left;
	SideStatistics right;
	double		itself;
	double		equal;
	double		t;

	side_statistics(root, condition->left, &left);
	side_statistics(root, condition->right, &right);
	t = estimated_resemblance(root, condition, &left, &right);
	if (!left.known || !right.known)
		return 0;
	itself = share_of_itself(root, condition, &left, &right);
	equal = share_of_pairs(&left, &right, MEASURE_SIMILARITY, 1) + itself;
	return Min(equal / (share_of_pairs(&left, &right, condition->measure, t) + itself), 1);
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
	double		itself;			/* share of the inner rows that a row is, too */

	if (!near_condition(clause, &condition) &&
		!approx_condition(clause, &condition))
		return DEFAULT_NEAR_SELECTIVITY;
	side_statistics(root, condition.left, &left);
	side_statistics(root, condition.right, &right);
	t = estimated_resemblance(root, &condition, &left, &right);
	itself = share_of_itself(root, &condition, &left, &right);
	if (sjinfo != NULL && (jointype == JOIN_SEMI || jointype == JOIN_ANTI))
	{
		double		rows = inner_rows(root, &condition, &left, &right, sjinfo);

		share = share_with_partner(&left, &right, t, rows);
		itself *= rows;
		share += (1 - share) * itself;
	}
	else
		share = share_of_pairs(&left, &right, condition.measure, t) + itself;
	CLAMP_PROBABILITY(share);
	return share;
}
