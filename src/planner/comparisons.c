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
 * Of shared(a, b), a whole number, it is the least number.  overlap(a, b) is as
 * many times that as the features that an element of a sample stands for; so it
 * is taken only where one of the signatures is known.
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
	uint64		scale;			/* a whole number: so many times what is shared */
} Comparator;

/* How many features an element of a signature that is a constant stands for. */
static bool
known_scale(const List *signatures, uint64 *scale)
{
	ListCell   *lc;

	foreach(lc, signatures)
	{
		const Const *constant = lfirst(lc);

		if (IsA(constant, Const) && !constant->constisnull)
		{
			*scale = features_per_element(DatumGetSignature(constant->constvalue));
			return true;
		}
	}
	return false;
}

/* What is compared, and of what signatures; false if it is no measure. */
static bool
measure_call(Node *node, NearCondition *condition, Comparator *comparator)
{
	List	   *args;
	PGFunction	function = near_function(node, &args);

	comparator->distance = (function == signature_distance);
	comparator->scale = 1;
	if (function == signature_similarity || function == signature_distance)
		condition->measure = MEASURE_SIMILARITY;
	else if (function == signature_containment)
		condition->measure = MEASURE_CONTAINMENT;
	else if (function == signature_dice)
		condition->measure = MEASURE_DICE;
	else if (function == signature_cosine)
		condition->measure = MEASURE_COSINE;
	else if (function == signature_shared ||
			 (function == signature_overlap &&
			  known_scale(args, &comparator->scale)))
		condition->measure = MEASURE_SHARED;
	else
		return false;
	condition->recall = NULL;
	condition->left = linitial(args);
	condition->right = lsecond(args);
	return true;
}

/* True if the function compares numbers of the measure's type with others. */
static bool
is_comparison(Oid function, Measure measure)
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
			return measure != MEASURE_SHARED;
		case F_INT8LT:
		case F_INT8LE:
		case F_INT8GE:
		case F_INT8GT:
		case F_INT84LT:
		case F_INT84LE:
		case F_INT84GE:
		case F_INT84GT:
		case F_INT48LT:
		case F_INT48LE:
		case F_INT48GE:
		case F_INT48GT:
		case F_INT82LT:
		case F_INT82LE:
		case F_INT82GE:
		case F_INT82GT:
		case F_INT28LT:
		case F_INT28LE:
		case F_INT28GE:
		case F_INT28GT:
			return measure == MEASURE_SHARED;
		default:
			return false;
	}
}

/*
 * Positive numbers are in the order of their bits: so both thresholds that are
 * fractions and those that are counts have places, from 0.
 */
static double
value_at(uint64 place, Measure measure)
{
	double		value;

	if (measure == MEASURE_SHARED)
		return place;
	memcpy(&value, &place, sizeof(double));
	return value;
}

static uint64
last_place(Measure measure)
{
	const double one = 1;
	uint64		place;

	if (measure == MEASURE_SHARED)
		return SHARED_MAX;
	memcpy(&place, &one, sizeof(double));
	return place;
}

/* True if a measure of the value at that place passes. */
static bool
passes(Comparator *comparator, Measure measure, uint64 place)
{
	double		value = value_at(place, measure);
	Datum		datum;

	if (comparator->distance)
		value = measure_distance(value);
	if (measure == MEASURE_SHARED)
		datum = Int64GetDatum(place * comparator->scale);
	else
		datum = Float8GetDatum(value);
	return DatumGetBool(comparator->measure_first ?
						FunctionCall2(&comparator->compare, datum,
									  comparator->constant) :
						FunctionCall2(&comparator->compare,
									  comparator->constant, datum));
}

/* The least value that passes; false if none does, or 0 does. */
static bool
least_passing(Comparator *comparator, Measure measure, double *least)
{
	uint64		fails = 0;
	uint64		holds = last_place(measure);

	if (passes(comparator, measure, fails) ||
		!passes(comparator, measure, holds))
		return false;
	while (holds - fails > 1)
	{
		uint64		middle = fails + (holds - fails) / 2;

		if (passes(comparator, measure, middle))
			holds = middle;
		else
			fails = middle;
	}
	*least = value_at(holds, measure);
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
	comparator.measure_first = IsA(lsecond(op->args), Const);
	constant = (Const *) (comparator.measure_first ? lsecond(op->args) :
						  linitial(op->args));
	if (!IsA(constant, Const) || constant->constisnull ||
		!measure_call(comparator.measure_first ? linitial(op->args) :
					  lsecond(op->args), condition, &comparator) ||
		!is_comparison(op->opfuncid, condition->measure))
		return false;
	fmgr_info(op->opfuncid, &comparator.compare);
	comparator.constant = constant->constvalue;
	if (!least_passing(&comparator, condition->measure, &threshold))
		return false;
	condition->threshold = (Expr *)
		makeConst(FLOAT8OID, -1, InvalidOid, sizeof(float8),
				  Float8GetDatum(threshold), false, FLOAT8PASSBYVAL);
	return true;
}
