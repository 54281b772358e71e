/*
 * comparison.c
 *		A comparison of an integer column of each side, as in a.id < b.id.
 *
 * Hardly a table is joined with itself without a condition that keeps one of
 * (a, b) and (b, a).  It is worked out on each pair of rows, of which there
 * are many more than of sets.  So the two values are kept in front of the rows
 * and compared before anything is done about a pair: neither its columns are
 * taken apart nor an expression is evaluated.  And if it is < or >, two rows are
 * looked at once, and it tells which of them is the outer one.
 *
 * Integers of all sizes and tuple identifiers can be compared.
 */
#include "postgres.h"

#include "catalog/pg_type_d.h"
#include "nodes/primnodes.h"
#include "storage/itemptr.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

#include "join/node/comparison.h"

/* The operators, by their functions. */
static ComparisonKind
kind_of(Oid function)
{
	switch (function)
	{
		case F_INT2LT:
		case F_INT24LT:
		case F_INT28LT:
		case F_INT42LT:
		case F_INT4LT:
		case F_INT48LT:
		case F_INT82LT:
		case F_INT84LT:
		case F_INT8LT:
		case F_TIDLT:
			return COMPARISON_LT;
		case F_INT2LE:
		case F_INT24LE:
		case F_INT28LE:
		case F_INT42LE:
		case F_INT4LE:
		case F_INT48LE:
		case F_INT82LE:
		case F_INT84LE:
		case F_INT8LE:
		case F_TIDLE:
			return COMPARISON_LE;
		case F_INT2NE:
		case F_INT24NE:
		case F_INT28NE:
		case F_INT42NE:
		case F_INT4NE:
		case F_INT48NE:
		case F_INT82NE:
		case F_INT84NE:
		case F_INT8NE:
		case F_TIDNE:
			return COMPARISON_NE;
		case F_INT2GE:
		case F_INT24GE:
		case F_INT28GE:
		case F_INT42GE:
		case F_INT4GE:
		case F_INT48GE:
		case F_INT82GE:
		case F_INT84GE:
		case F_INT8GE:
		case F_TIDGE:
			return COMPARISON_GE;
		case F_INT2GT:
		case F_INT24GT:
		case F_INT28GT:
		case F_INT42GT:
		case F_INT4GT:
		case F_INT48GT:
		case F_INT82GT:
		case F_INT84GT:
		case F_INT8GT:
		case F_TIDGT:
			return COMPARISON_GT;
		default:
			return COMPARISON_NONE;
	}
}

/* The comparison with its sides exchanged. */
static ComparisonKind
commuted(ComparisonKind kind)
{
	switch (kind)
	{
		case COMPARISON_LT:
			return COMPARISON_GT;
		case COMPARISON_LE:
			return COMPARISON_GE;
		case COMPARISON_GE:
			return COMPARISON_LE;
		case COMPARISON_GT:
			return COMPARISON_LT;
		default:
			return kind;
	}
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
	if (!IsA(left, Var) || !IsA(right, Var) || left->varno == right->varno)
		return false;
	comparison->kind = kind_of(get_opcode(op->opno));
	if (left->varno == INNER_VAR)
		comparison->kind = commuted(comparison->kind);
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
			elog(ERROR, "unexpected type of a comparison: %u", comparison->types[side]);
	}
	return true;
}
