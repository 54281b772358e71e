/*
 * guard_value.c
 *		How the guard reads a value of a row: of a column, of an index
 *		expression or predicate.
 *
 * In a BEFORE trigger a generated column has no value yet.  Its generation
 * expression is used instead, also within an index expression.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/sysattr.h"
#include "executor/executor.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "rewrite/rewriteHandler.h"
#include "rewrite/rewriteManip.h"

#include "base/call.h"
#include "guard/guard.h"

/* The generated columns to replace */
typedef struct Expansion
{
	Relation	rel;
	int			varno;
	bool		all;			/* not only those that are in no row */
} Expansion;

/* 'v': a virtual column, from version 18 on, is in no row */
#define IS_VIRTUAL(generated) ((generated) == 'v')

/* Return how a column is generated, or '\0'. */
static char
generated(Relation rel, AttrNumber attno)
{
	return TupleDescAttr(RelationGetDescr(rel), attno - 1)->attgenerated;
}

/* Raise an error: an expression takes the whole row. */
static void
refuse_whole_row(Relation rel)
{
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("cannot compute the signature of a new row of table \"%s\"",
					RelationGetRelationName(rel)),
			 errdetail("The index expression takes the whole row, and generated columns have no value before the row is stored."),
			 errhint("Name columns in the index expression.")));
}

/*
 * Replace generated columns by their generation expressions, which use no
 * generated column.
 */
static Node *
expand(Node *node, void *context)
{
	const Expansion *expansion = context;
	Relation	rel = expansion->rel;

	if (node == NULL)
		return NULL;
	if (IsA(node, Var) && ((Var *) node)->varno == expansion->varno)
	{
		AttrNumber	attno = ((Var *) node)->varattno;
		char		kind = attno > 0 ? generated(rel, attno) : '\0';
		TupleConstr *constr = RelationGetDescr(rel)->constr;
		Node	   *expr;

		if (attno == InvalidAttrNumber && expansion->all &&
			constr != NULL && constr->has_generated_stored)
			refuse_whole_row(rel);
		if (kind == '\0' || !(expansion->all || IS_VIRTUAL(kind)))
			return copyObject(node);
		expr = build_column_default(rel, attno);
		ChangeVarNodes(expr, 1, expansion->varno, 0);
		return expr;
	}
	return expression_tree_mutator(node, expand, context);
}

Node *
guard_expand_generated(Node *expr, Relation rel, int varno, bool all)
{
	Expansion	expansion = {.rel = rel,.varno = varno,.all = all};

	return expand(expr, &expansion);
}

/* Return a copy of the expression of a key column that is not a plain column. */
static Node *
index_expression(Relation index, AttrNumber keyno)
{
	int			n = 0;

	Assert(keyno > 0 && keyno <= index->rd_index->indnkeyatts);
	Assert(index->rd_index->indkey.values[keyno - 1] == 0);
	for (int i = 0; i < keyno - 1; i++)
		if (index->rd_index->indkey.values[i] == 0)
			n++;
	return list_nth(RelationGetIndexExpressions(index), n);
}

/* Make a value of a column, computed by an expression if that is not NULL. */
static GuardValue
make_value(AttrNumber attno, Node *expr)
{
	const int	whole_row = InvalidAttrNumber - FirstLowInvalidHeapAttributeNumber;
	GuardValue	value = {.attno = attno};

	Assert(attno > 0 || expr != NULL);
	if (expr == NULL)
		value.inputs = bms_make_singleton(attno -
										  FirstLowInvalidHeapAttributeNumber);
	else
	{
		pull_varattnos(expr, 1, &value.inputs);
		/* if it takes the whole row, any change counts */
		if (bms_is_member(whole_row, value.inputs))
			value.inputs = NULL;
		value.expr = (Expr *) expr;
		value.memory = CurrentMemoryContext;
	}
	return value;
}

GuardValue
guard_column_value(Relation rel, AttrNumber attno, bool before)
{
	char		kind = generated(rel, attno);

	return make_value(attno, IS_VIRTUAL(kind) || (before && kind != '\0') ?
					  build_column_default(rel, attno) : NULL);
}

GuardValue
guard_predicate(Relation rel, Oid indexid, bool before)
{
	Relation	index = index_open(indexid, AccessShareLock);
	List	   *clauses = RelationGetIndexPredicate(index);
	GuardValue	value = {0};

	if (clauses != NIL)
		value = make_value(InvalidAttrNumber,
						   guard_expand_generated((Node *) make_ands_explicit(clauses),
												  rel, 1, before));
	index_close(index, NoLock);
	return value;
}

GuardValue
guard_index_value(Relation rel, Oid indexid, AttrNumber keyno, bool before)
{
	Relation	index = index_open(indexid, AccessShareLock);
	AttrNumber	attno = index->rd_index->indkey.values[keyno - 1];
	GuardValue	value;

	value = attno != InvalidAttrNumber ?
		guard_column_value(rel, attno, before) :
		make_value(attno, guard_expand_generated(index_expression(index, keyno),
												 rel, 1, before));
	index_close(index, NoLock);
	return value;
}

Bitmapset *
guard_when_inputs(Relation rel, const Trigger *trigger)
{
	Bitmapset  *inputs = NULL;
	Node	   *when;
	bool		other;
	int			member = -1;

	if (trigger->tgqual == NULL)
		return NULL;
	when = stringToNode(trigger->tgqual);
	pull_varattnos(when, PRS2_NEW_VARNO, &inputs);
	other = bms_is_member(PRS2_OLD_VARNO, pull_varnos(NULL, when)) ||
		contain_mutable_functions(when);
	while (!other && (member = bms_next_member(inputs, member)) >= 0)
	{
		AttrNumber	attno = member + FirstLowInvalidHeapAttributeNumber;

		other = attno > 0 && IS_VIRTUAL(generated(rel, attno));
	}
	return other ?
		bms_add_member(inputs, InvalidAttrNumber - FirstLowInvalidHeapAttributeNumber) :
		inputs;
}

Datum
guard_value(GuardValue *value, TupleTableSlot *row, ExprContext *econtext,
			bool *isnull)
{
	Assert(value->attno > 0 || value->expr != NULL);
	if (value->expr == NULL)
		return slot_getattr(row, value->attno, isnull);
	if (value->state == NULL)
	{
		MemoryContext caller = MemoryContextSwitchTo(value->memory);

		/*
		 * not earlier: this computes constants, perhaps with functions of the
		 * table's owner
		 */
		value->state = ExecInitExpr(expression_planner(value->expr), NULL);
		MemoryContextSwitchTo(caller);
	}
	econtext->ecxt_scantuple = row;
	return ExecEvalExpr(value->state, econtext, isnull);
}

bool
guard_satisfies(GuardValue *predicate, TupleTableSlot *row,
				ExprContext *econtext)
{
	bool		isnull;
	Datum		value;

	if (predicate->expr == NULL)
		return true;
	value = guard_value(predicate, row, econtext, &isnull);
	return !isnull && DatumGetBool(value);
}

bool
guard_inputs_unchanged(const Bitmapset *inputs, TupleTableSlot *before,
					   TupleTableSlot *after)
{
	TupleDesc	desc = after->tts_tupleDescriptor;
	int			member = -1;

	Assert(before->tts_tupleDescriptor->natts == desc->natts);
	if (inputs == NULL)
		return false;
	while ((member = bms_next_member(inputs, member)) >= 0)
	{
		AttrNumber	attno = member + FirstLowInvalidHeapAttributeNumber;
		Form_pg_attribute att;
		bool		isnull[2];
		Datum		values[2];

		/* an expression may name tableoid, a condition the whole row */
		if (attno <= 0)
			return false;
		values[0] = slot_getattr(before, attno, &isnull[0]);
		values[1] = slot_getattr(after, attno, &isnull[1]);
		att = TupleDescAttr(desc, attno - 1);
		if (isnull[0] != isnull[1])
			return false;
		if (!isnull[0] &&
			!same_value(values[0], values[1], att->attbyval, att->attlen))
			return false;
	}
	return true;
}
