/*
 * comparison.h
 *		A comparison of an integer column of each side, as in a.id < b.id.
 */
#ifndef NEARDUP_COMPARISON_H
#define NEARDUP_COMPARISON_H

#include "access/stratnum.h"
#include "executor/tuptable.h"
#include "nodes/nodes.h"

#include "join/engine/engine.h"

/* As the strategies of btree, with <> in the place of = */
typedef enum ComparisonKind
{
	COMPARISON_NONE,			/* no comparison: all pairs pass */
	COMPARISON_LT = BTLessStrategyNumber,
	COMPARISON_LE = BTLessEqualStrategyNumber,
	COMPARISON_NE = BTEqualStrategyNumber,
	COMPARISON_GE = BTGreaterEqualStrategyNumber,
	COMPARISON_GT = BTGreaterStrategyNumber,
} ComparisonKind;

typedef struct Comparison
{
	ComparisonKind kind;		/* how an outer value compares with an inner */
	AttrNumber	columns[2];		/* compared column, by JoinSide */
	Oid			types[2];		/* its type, by JoinSide */
} Comparison;

/*
 * Parse a condition on columns of an outer and an inner row (OUTER_VAR and
 * INNER_VAR); false if it is no comparison.
 */
extern bool comparison_init(Comparison *comparison, Node *clause);

/*
 * The value of a row of that side, 0 without comparison; false if it is null,
 * so that no pair with that row passes.
 */
extern bool comparison_value(const Comparison *comparison, JoinSide side,
							 TupleTableSlot *slot, int64 *value);

/* True if a pair of values passes. */
static inline bool
comparison_holds(const Comparison *comparison, int64 outer, int64 inner)
{
	switch (comparison->kind)
	{
		case COMPARISON_NONE:
			return true;
		case COMPARISON_LT:
			return outer < inner;
		case COMPARISON_LE:
			return outer <= inner;
		case COMPARISON_NE:
			return outer != inner;
		case COMPARISON_GE:
			return outer >= inner;
		case COMPARISON_GT:
			return outer > inner;
	}
	pg_unreachable();
}

/* True if pairs of equal values, such as a row with itself, do not pass. */
static inline bool
comparison_refuses_equal(const Comparison *comparison)
{
	return !comparison_holds(comparison, 0, 0);
}

/* True if two different values pass in one order only. */
static inline bool
comparison_is_strict(const Comparison *comparison)
{
	return comparison->kind == COMPARISON_LT ||
		comparison->kind == COMPARISON_GT;
}

#endif							/* NEARDUP_COMPARISON_H */
