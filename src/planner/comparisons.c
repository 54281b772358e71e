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
 * What stands between the measure and the comparison may be arithmetic with a
 * constant, rounding, or a cast, as in 1 - similarity(a, b) <= 0.2: all of them
 * are monotonic, too, so the search goes through them.
 *
 * Only constants are taken.  A parameter could be a number that is no
 * threshold, at which all rows pass.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/planner/comparisons.c
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type_d.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "utils/fmgroids.h"

#include "signature/sql/near.h"
#include "planner/comparisons.h"

/* A function of a measure, or of what another one makes of it, and of constants. */
typedef struct Step
{
	FmgrInfo	function;
	int			nargs;
	int			measured;		/* the argument that is no constant */
	Datum		args[2];
} Step;

#define MAX_STEPS	4

/*
 * Trying a value must not raise, as a real does that is too small.  No chain of steps
 * leaves its range with such constants of arithmetic, and values from so much on.
 */
#define MIN_CONSTANT	1e-6
#define MAX_CONSTANT	1e6
#define MIN_TRIED		1e-20

/* A comparison of a measure with a constant. */
typedef struct Comparator
{
	Step		steps[MAX_STEPS];	/* from the comparison to the measure */
	int			nsteps;
	Const	   *if_null;		/* what stands for a null measure, or NULL */
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

/* True if arithmetic with the constant is allowed. */
static bool
moderate(const Const *constant)
{
	double		value;

	if (constant->consttype != FLOAT8OID)
		return false;
	value = fabs(DatumGetFloat8(constant->constvalue));
	return value >= MIN_CONSTANT && value <= MAX_CONSTANT;
}

/* True if the function rises, or falls, with that argument; the other one is a constant. */
static bool
is_monotonic(Oid function, int measured, const Const *constant)
{
	switch (function)
	{
		case F_FLOAT8MI:
		case F_FLOAT8PL:
		case F_FLOAT8MUL:
			return moderate(constant);
		case F_FLOAT8DIV:
			return measured == 0 && moderate(constant);
		case F_ROUND_NUMERIC_INT4:
			return measured == 0;
		case F_ROUND_NUMERIC:
		case F_ROUND_FLOAT8:
		case F_NUMERIC_FLOAT8:
		case F_FLOAT4_FLOAT8:
			return true;
		default:
			return false;
	}
}

/* Takes a step apart; the node that it is a function of, or NULL if it is none. */
static Node *
take_step(Node *node, Step *step)
{
	Oid			function;
	List	   *args;
	Node	   *measured = NULL;
	Const	   *constant = NULL;

	if (!clause_call(node, &function, &args) || args == NIL || list_length(args) > 2)
		return NULL;
	step->nargs = list_length(args);
	for (int i = 0; i < step->nargs; i++)
	{
		Node	   *arg = list_nth(args, i);

		if (IsA(arg, Const) && constant == NULL && !((Const *) arg)->constisnull)
		{
			constant = (Const *) arg;
			step->args[i] = constant->constvalue;
		}
		else
		{
			step->measured = i;
			measured = arg;
		}
	}
	if ((constant != NULL) != (step->nargs == 2) ||
		!is_monotonic(function, step->measured, constant))
		return NULL;
	fmgr_info(function, &step->function);
	return measured;
}

/* Goes through the steps to what they are of. */
static Node *
take_steps(Node *node, Comparator *comparator)
{
	CoalesceExpr *coalesce;
	Node	   *of;

	comparator->nsteps = 0;
	comparator->if_null = NULL;
	while (comparator->nsteps < MAX_STEPS &&
		   (of = take_step(node, &comparator->steps[comparator->nsteps])) != NULL)
	{
		comparator->nsteps++;
		node = of;
	}
	coalesce = (CoalesceExpr *) node;
	if (!IsA(node, CoalesceExpr) || list_length(coalesce->args) != 2 ||
		!IsA(lsecond(coalesce->args), Const))
		return node;
	comparator->if_null = lsecond(coalesce->args);
	return linitial(coalesce->args);
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
		case F_FLOAT4EQ:
		case F_FLOAT4LT:
		case F_FLOAT4LE:
		case F_FLOAT4GE:
		case F_FLOAT4GT:
		case F_NUMERIC_EQ:
		case F_NUMERIC_LT:
		case F_NUMERIC_LE:
		case F_NUMERIC_GE:
		case F_NUMERIC_GT:
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
place_of(double value)
{
	uint64		place;

	memcpy(&place, &value, sizeof(double));
	return place;
}

/* The first place to be tried after 0, and the last one. */
static uint64
first_place(const Comparator *comparator)
{
	return comparator->nsteps > 0 ? place_of(MIN_TRIED) : 0;
}

static uint64
last_place(Measure measure)
{
	return measure == MEASURE_SHARED ? SHARED_MAX : place_of(1);
}

static Datum
make_step(Step *step, Datum value)
{
	step->args[step->measured] = value;
	return step->nargs == 1 ? FunctionCall1(&step->function, value) :
		FunctionCall2(&step->function, step->args[0], step->args[1]);
}

/* True if what the query computes of the signatures passes. */
static bool
computed_passes(Comparator *comparator, Datum computed)
{
	for (int i = comparator->nsteps; i > 0; i--)
		computed = make_step(&comparator->steps[i - 1], computed);
	return DatumGetBool(comparator->measure_first ?
						FunctionCall2(&comparator->compare, computed,
									  comparator->constant) :
						FunctionCall2(&comparator->compare,
									  comparator->constant, computed));
}

/* True if a measure of the value at that place passes. */
static bool
passes(Comparator *comparator, Measure measure, uint64 place)
{
	double		value = value_at(place, measure);

	if (comparator->distance)
		value = measure_distance(value);
	return computed_passes(comparator, measure == MEASURE_SHARED ?
						   Int64GetDatum(place * comparator->scale) :
						   Float8GetDatum(value));
}

/* True if trying the steps with what stands for null raises nothing. */
static bool
can_be_tried(const Comparator *comparator)
{
	return comparator->nsteps == 0 || moderate(comparator->if_null) ||
		DatumGetFloat8(comparator->if_null->constvalue) == 0;
}

/* True if rows may pass that have no signature. */
static bool
null_may_pass(Comparator *comparator)
{
	if (comparator->if_null == NULL || comparator->if_null->constisnull)
		return false;
	return !can_be_tried(comparator) ||
		computed_passes(comparator, comparator->if_null->constvalue);
}

/* The least value that passes; false if none does, or 0 does. */
static bool
least_passing(Comparator *comparator, Measure measure, double *least)
{
	uint64		fails = first_place(comparator);
	uint64		holds = last_place(measure);

	if (passes(comparator, measure, 0) || passes(comparator, measure, fails) ||
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
		!measure_call(take_steps(comparator.measure_first ? linitial(op->args) :
								 lsecond(op->args), &comparator),
					  condition, &comparator) ||
		!is_comparison(op->opfuncid, condition->measure))
		return false;
	fmgr_info(op->opfuncid, &comparator.compare);
	comparator.constant = constant->constvalue;
	if (null_may_pass(&comparator) ||
		!least_passing(&comparator, condition->measure, &threshold))
		return false;
	condition->threshold = (Expr *)
		makeConst(FLOAT8OID, -1, InvalidOid, sizeof(float8),
				  Float8GetDatum(threshold), false, FLOAT8PASSBYVAL);
	return true;
}
