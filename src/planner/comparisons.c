/*
 * comparisons.c
 *		Comparisons of a measure that are near-duplicate conditions.
 *
 * similarity(a, b) >= 0.8 is what near_duplicate() says of sets, of sketches
 * whose rule is their estimate, and of the others with the measure
 * "similarity".  So is every comparison that a measure passes from some value
 * on: with > the threshold is the next number, with a <-> b <= 0.2 it is the
 * least number that, taken from 1 and rounded, is not above 0.2.  It is not
 * computed but searched for, with the comparison itself as the test: measures
 * are numbers from 0 to 1, and both rounding and comparing are monotonic, so
 * bisection over all numbers there are finds the very one at which the test
 * turns.
 *
 * Only constants are taken.  A parameter could be a number that is no
 * threshold, at which all rows pass.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/planner/comparisons.c
 */
#include "postgres.h"

#include "catalog/pg_type_d.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "utils/fmgroids.h"

#include "measures/near.h"
#include "planner/comparisons.h"

/* A comparison of a measure with a constant. */
typedef struct Comparator
{
	FmgrInfo	compare;
	Datum		constant;
	bool		measure_first;	/* the measure is its left operand */
	bool		distance;		/* what is compared is the distance */
} Comparator;

/* What is compared, and of what signatures; false if it is no measure. */
static bool
measure_call(Node *node, NearCondition *condition, bool *distance)
{
	List	   *args;
	PGFunction	function = near_function(node, &args);

	*distance = (function == signature_distance);
	if (function == signature_similarity || function == signature_distance)
		condition->measure = MEASURE_SIMILARITY;
	else if (function == signature_containment)
		condition->measure = MEASURE_CONTAINMENT;
	else if (function == signature_dice)
		condition->measure = MEASURE_DICE;
	else if (function == signature_cosine)
		condition->measure = MEASURE_COSINE;
	else
		return false;
	condition->recall = NULL;
	condition->left = linitial(args);
	condition->right = lsecond(args);
	return true;
}

/* True if the function compares floating-point numbers. */
static bool
is_comparison(Oid function)
{
	switch (function)
	{
		case F_FLOAT8EQ:
		case F_FLOAT8LT:
		case F_FLOAT8LE:
		case F_FLOAT8GE:
		case F_FLOAT8GT:
		case F_FLOAT84EQ:
		case F_FLOAT84LT:
		case F_FLOAT84LE:
		case F_FLOAT84GE:
		case F_FLOAT84GT:
		case F_FLOAT48EQ:
		case F_FLOAT48LT:
		case F_FLOAT48LE:
		case F_FLOAT48GE:
		case F_FLOAT48GT:
			return true;
		default:
			return false;
	}
}

/* True if a measure of that value passes. */
static bool
passes(Comparator *comparator, double value)
{
	Datum		measure;

	if (comparator->distance)
		value = measure_distance(value);
	measure = Float8GetDatum(value);
	return DatumGetBool(comparator->measure_first ?
						FunctionCall2(&comparator->compare, measure,
									  comparator->constant) :
						FunctionCall2(&comparator->compare,
									  comparator->constant, measure));
}

/*
 * The least value that passes; false if none does, or 0 does.  Positive
 * numbers are in the order of their bits.
 */
static bool
least_passing(Comparator *comparator, double *least)
{
	uint64		fails = 0;
	uint64		holds;

	*least = 1;
	if (passes(comparator, 0) || !passes(comparator, 1))
		return false;
	memcpy(&holds, least, sizeof(double));
	while (holds - fails > 1)
	{
		uint64		middle = fails + (holds - fails) / 2;

		memcpy(least, &middle, sizeof(double));
		if (passes(comparator, *least))
			holds = middle;
		else
			fails = middle;
	}
	memcpy(least, &holds, sizeof(double));
	return true;
}

bool
near_comparison(Node *clause, NearCondition *condition)
{
	OpExpr	   *op = (OpExpr *) clause;
	Comparator	comparator;
	Const	   *constant;
	double		threshold;

	if (!IsA(clause, OpExpr) || list_length(op->args) != 2)
		return false;
	set_opfuncid(op);
	if (!is_comparison(op->opfuncid))
		return false;
	comparator.measure_first = IsA(lsecond(op->args), Const);
	constant = (Const *) (comparator.measure_first ? lsecond(op->args) :
						  linitial(op->args));
	if (!IsA(constant, Const) || constant->constisnull ||
		!measure_call(comparator.measure_first ? linitial(op->args) :
					  lsecond(op->args), condition, &comparator.distance))
		return false;
	fmgr_info(op->opfuncid, &comparator.compare);
	comparator.constant = constant->constvalue;
	if (!least_passing(&comparator, &threshold))
		return false;
	condition->threshold = (Expr *)
		makeConst(FLOAT8OID, -1, InvalidOid, sizeof(float8),
				  Float8GetDatum(threshold), false, FLOAT8PASSBYVAL);
	return true;
}
