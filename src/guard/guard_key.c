/*
 * guard_key.c
 *		The signature that a row has, for the guard, and its other values.
 *
 * A row's signature is what the index's key says: a column, or an expression
 * over the row.  In a BEFORE trigger a generated column has no value yet; its
 * generation expression takes its place, also where an index expression
 * mentions it.  The same goes for the columns of the scope, and for the
 * predicate of a partial index.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/guard/guard_key.c
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/sysattr.h"
#include "executor/executor.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "rewrite/rewriteHandler.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

#include "base/compat.h"
#include "base/same_value.h"
#include "guard/guard.h"

/* The generation expression of a column; it mentions no generated column. */
static Node *
generation_expression(Relation rel, AttrNumber attno)
{
	Node	   *expr = build_column_default(rel, attno);

	if (expr == NULL)
		elog(ERROR, "no generation expression found for column number %d of table \"%s\"",
			 attno, RelationGetRelationName(rel));
	return expr;
}

/* Puts generation expressions in the place of generated columns. */
static Node *
expand_generated(Node *node, void *context)
{
	Relation	rel = (Relation) context;

	if (node == NULL)
		return NULL;
	if (IsA(node, Var))
	{
		AttrNumber	attno = ((Var *) node)->varattno;
		TupleDesc	desc = RelationGetDescr(rel);

		if (attno == InvalidAttrNumber &&
			desc->constr && desc->constr->has_generated_stored)
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("cannot compute the signature of a new row of table \"%s\"",
							RelationGetRelationName(rel)),
					 errdetail("The index expression takes the whole row, and generated columns have no value before the row is stored."),
					 errhint("Name columns in the index expression.")));
		if (attno > 0 && TupleDescAttr(desc, attno - 1)->attgenerated)
			return generation_expression(rel, attno);
		return copyObject(node);
	}
	return expression_tree_mutator(node, expand_generated, context);
}

/* The expression of a key column that is not a plain column; a copy. */
static Node *
index_expression(Relation index, AttrNumber keyno)
{
	int			n = 0;

	for (int i = 0; i < keyno - 1; i++)
		if (index->rd_index->indkey.values[i] == 0)
			n++;
	return list_nth(RelationGetIndexExpressions(index), n);
}

/* Notes the columns of an expression, or NULL if it takes the whole row. */
static Bitmapset *
expression_inputs(Node *expr)
{
	Bitmapset  *attnos = NULL;

	pull_varattnos(expr, 1, &attnos);
	if (bms_is_member(InvalidAttrNumber - FirstLowInvalidHeapAttributeNumber,
					  attnos))
		return NULL;
	return attnos;
}

/* A column, computed by an expression if that is not NULL. */
static GuardKey
make_key(AttrNumber attno, Node *expr)
{
	GuardKey	key = {.attno = attno};

	if (expr == NULL)
		key.inputs = bms_make_singleton(attno -
										FirstLowInvalidHeapAttributeNumber);
	else
	{
		key.inputs = expression_inputs(expr);
		key.expr = ExecInitExpr(expression_planner((Expr *) expr), NULL);
	}
	return key;
}

/*
 * How rows of a table get the value of a column; of rows that are not stored
 * yet, if before.  In the current memory context.
 */
GuardKey
guard_column_key(Relation rel, AttrNumber attno, bool before)
{
	char		generated = TupleDescAttr(RelationGetDescr(rel),
										  attno - 1)->attgenerated;

	/* 'v': a virtual column, from version 18 on, is never stored */
	return make_key(attno, generated == 'v' || (before && generated) ?
					generation_expression(rel, attno) : NULL);
}

/* The same of the predicate of an index; no expression if it has none. */
GuardKey
guard_predicate(Relation rel, Oid indexid, bool before)
{
	Relation	index = index_open(indexid, AccessShareLock);
	List	   *clauses = RelationGetIndexPredicate(index);
	GuardKey	key = {0};

	if (clauses != NIL)
	{
		Node	   *expr = (Node *) make_ands_explicit(clauses);

		key = make_key(InvalidAttrNumber,
					   before ? expand_generated(expr, rel) : expr);
	}
	index_close(index, NoLock);
	return key;
}

/* A version of the row as a whole, which may be converted to the type of another table. */
static bool
is_whole_row(Node *node)
{
	while (IsA(node, ConvertRowtypeExpr))
		node = (Node *) ((ConvertRowtypeExpr *) node)->arg;
	return IsA(node, Var) && ((Var *) node)->varattno == InvalidAttrNumber;
}

/* True if an expression asks whether the two versions differ, as wholes. */
static bool
asks_for_change(Node *node)
{
	OpExpr	   *expr = (OpExpr *) node;

	/* OLD.* IS DISTINCT FROM NEW.*, of the same form, is by the operator for equality */
	if (!IsA(node, DistinctExpr) &&
		!(IsA(node, OpExpr) && (get_opcode(expr->opno) == F_RECORD_NE ||
								get_opcode(expr->opno) == F_RECORD_IMAGE_NE)))
		return false;
	return is_whole_row(linitial(expr->args)) && is_whole_row(lsecond(expr->args));
}

/* What a condition depends on, while it is looked through. */
typedef struct ConditionInputs
{
	TupleDesc	desc;
	Bitmapset  *columns;		/* of the new version */
	bool		other;			/* and on something else */
} ConditionInputs;

static bool
find_condition_inputs(Node *node, void *context)
{
	ConditionInputs *inputs = context;

	if (node == NULL || asks_for_change(node))
		return false;
	if (IsA(node, Var))
	{
		AttrNumber	attno = ((Var *) node)->varattno;

		inputs->columns = bms_add_member(inputs->columns,
										 attno - FirstLowInvalidHeapAttributeNumber);
		/* 'v': a virtual column, from version 18 on, is in no row */
		if (((Var *) node)->varno != PRS2_NEW_VARNO ||
			(attno > 0 && TupleDescAttr(inputs->desc, attno - 1)->attgenerated == 'v'))
			inputs->other = true;
		return false;
	}
	return expression_tree_walker(node, find_condition_inputs, context);
}

/*
 * What the WHEN of a trigger depends on, in the current memory context.  Where it depends on
 * more than columns of the new version, on the one before or a setting, nothing tells whether
 * that one was checked: then it passes for what takes the whole row.
 */
GuardKey
guard_condition(Relation rel, const Trigger *trigger)
{
	GuardKey	key = {0};
	ConditionInputs inputs = {.desc = RelationGetDescr(rel)};
	Node	   *condition;

	if (trigger->tgqual == NULL)
		return key;
	condition = stringToNode(trigger->tgqual);
	(void) find_condition_inputs(condition, &inputs);
	if (inputs.other || contain_mutable_functions(condition))
		inputs.columns = bms_add_member(inputs.columns,
										InvalidAttrNumber - FirstLowInvalidHeapAttributeNumber);
	key.inputs = inputs.columns;
	return key;
}

/*
 * How rows of a table get the signature that key column keyno of an index
 * holds; of rows that are not stored yet, if before.  All of it is allocated
 * in the current memory context.
 */
GuardKey
guard_key(Relation rel, Oid indexid, AttrNumber keyno, bool before)
{
	Relation	index = index_open(indexid, AccessShareLock);
	AttrNumber	attno = index->rd_index->indkey.values[keyno - 1];
	Node	   *expr = NULL;

	if (attno == InvalidAttrNumber)
	{
		expr = index_expression(index, keyno);
		if (before)
			expr = expand_generated(expr, rel);
	}
	index_close(index, NoLock);
	return attno == InvalidAttrNumber ? make_key(attno, expr) :
		guard_column_key(rel, attno, before);
}

/*
 * The value of a row, in the current memory context or in the row's own;
 * not detoasted.  May use the memory of econtext.
 */
Datum
guard_key_value(const GuardKey *key, TupleTableSlot *row,
				ExprContext *econtext, bool *isnull)
{
	if (key->expr == NULL)
		return slot_getattr(row, key->attno, isnull);
	econtext->ecxt_scantuple = row;
	return ExecEvalExpr(key->expr, econtext, isnull);
}

/*
 * True if two versions of a row are the same in all that the signature is
 * made from, which tells without making them that the signatures are.
 */
bool
guard_key_unchanged(const GuardKey *key, TupleTableSlot *before,
					TupleTableSlot *after)
{
	int			member = -1;

	if (key->inputs == NULL)
		return false;
	while ((member = bms_next_member(key->inputs, member)) >= 0)
	{
		AttrNumber	attno = member + FirstLowInvalidHeapAttributeNumber;
		Form_pg_attribute att;
		bool		before_null;
		bool		after_null;
		Datum		before_value;
		Datum		after_value;

		/* an expression may name tableoid, a condition the whole row */
		if (attno <= 0)
			return false;
		before_value = slot_getattr(before, attno, &before_null);
		after_value = slot_getattr(after, attno, &after_null);
		att = TupleDescAttr(after->tts_tupleDescriptor, attno - 1);
		if (before_null != after_null)
			return false;
		if (!before_null && !same_value(before_value, after_value,
										att->attbyval, att->attlen))
			return false;
	}
	return true;
}
