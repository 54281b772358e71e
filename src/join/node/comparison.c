/*
 * comparison.c
 *		A comparison of an integer column of each side, as in a.id < b.id.
 *
 * Most self-joins have a condition that keeps one of (a, b) and (b, a).  It is
 * evaluated on each pair of rows, and these are many more than pairs of
 * sets.  So the two values are kept before the rows and compared first: most
 * pairs need no columns and no expression.  With < or >, each pair of rows is
 * visited once, and the comparison decides which one is the outer row.
 *
 * Integers of all sizes and tuple identifiers can be compared.
 */
#include "postgres.h"

#include "catalog/pg_am_d.h"
#include "catalog/pg_type_d.h"
#include "commands/defrem.h"
#include "nodes/primnodes.h"
#include "storage/itemptr.h"
#include "utils/lsyscache.h"

#include "join/node/comparison.h"

/* The kind of an operator on columns of that type. */
static ComparisonKind
kind_of(Oid operator, Oid type)
{
	Oid			family =
	get_opclass_family(GetDefaultOpClass(type, BTREE_AM_OID));
	Oid			negator = get_negator(operator);
	int			strategy = get_op_opfamily_strategy(operator, family);

	if (strategy != InvalidStrategy && strategy != BTEqualStrategyNumber)
		return (ComparisonKind) strategy;
	return OidIsValid(negator) &&
		get_op_opfamily_strategy(negator, family) == BTEqualStrategyNumber ?
		COMPARISON_NE : COMPARISON_NONE;
}

/* True if values of the type can be kept as int64. */
static bool
is_comparable(Oid type)
{
	return type == INT2OID || type == INT4OID || type == INT8OID ||
		type == TIDOID;
}

bool
comparison_init(Comparison *comparison, Node *clause)
{
	OpExpr	   *op = (OpExpr *) clause;
	Var		   *left;
	Var		   *right;
	JoinSide	side;

	comparison->kind = COMPARISON_NONE;
	if (!IsA(clause, OpExpr) || list_length(op->args) != 2)
		return false;
	left = linitial(op->args);
	right = lsecond(op->args);
	if (!IsA(left, Var) || !IsA(right, Var) || left->varno == right->varno ||
		!is_comparable(left->vartype) || !is_comparable(right->vartype))
		return false;
	comparison->kind = kind_of(op->opno, left->vartype);
	/* exchange the sides */
	if (left->varno == INNER_VAR && comparison->kind != COMPARISON_NONE)
		comparison->kind = COMPARISON_LT + COMPARISON_GT - comparison->kind;
	side = left->varno == INNER_VAR ? SIDE_INNER : SIDE_OUTER;
	comparison->columns[side] = left->varattno;
	comparison->types[side] = left->vartype;
	side = OTHER_SIDE(side);
	comparison->columns[side] = right->varattno;
	comparison->types[side] = right->vartype;
	return comparison->kind != COMPARISON_NONE;
}

bool
comparison_value(const Comparison *comparison, JoinSide side,
				 TupleTableSlot *slot, int64 *value)
{
	Datum		datum;
	bool		isnull;
	ItemPointer tid;

	*value = 0;
	if (comparison->kind == COMPARISON_NONE)
		return true;
	datum = slot_getattr(slot, comparison->columns[side], &isnull);
	if (isnull)
		return false;
	switch (comparison->types[side])
	{
		case INT2OID:
			*value = DatumGetInt16(datum);
			break;
		case INT4OID:
			*value = DatumGetInt32(datum);
			break;
		case INT8OID:
			*value = DatumGetInt64(datum);
			break;
		case TIDOID:
			tid = (ItemPointer) DatumGetPointer(datum);
			*value = (int64) ItemPointerGetBlockNumberNoCheck(tid) << 16 |
				ItemPointerGetOffsetNumberNoCheck(tid);
			break;
		default:
			elog(ERROR, "unexpected type of a comparison: %u",
				 comparison->types[side]);
	}
	return true;
}
