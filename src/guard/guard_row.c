/*
 * guard_row.c
 *		Values that the guard reads from a row: signature, scope, predicate, command.
 *
 * The signature is a key of the index: a column, or an expression over the row.  In
 * a BEFORE trigger a generated column has no value yet; its generation expression
 * is used instead, also within an index expression.  The columns of the scope and the
 * predicate of a partial index are read in the same way.
 *
 * Rows are compared only if they are equal in the columns of the scope and
 * satisfy the predicate.  Values are equal if the default equality operator of
 * their type says so, under the column's collation.  Nulls are equal to each
 * other, as in an index that is NULLS NOT DISTINCT: otherwise rows without a
 * tenant would not be guarded.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/sysattr.h"
#include "access/xact.h"
#include "executor/executor.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "rewrite/rewriteHandler.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

#include "base/call.h"
#include "base/compat.h"
#include "base/hash.h"
#include "guard/guard.h"

/* Values of a row */

/* Replace generated columns by their generation expressions, which use no generated column. */
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
			return build_column_default(rel, attno);
		return copyObject(node);
	}
	return expression_tree_mutator(node, expand_generated, context);
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
	GuardValue	value = {.attno = attno};

	Assert(attno > 0 || expr != NULL);
	if (expr == NULL)
		value.inputs = bms_make_singleton(attno -
										  FirstLowInvalidHeapAttributeNumber);
	else
	{
		pull_varattnos(expr, 1, &value.inputs);
		/* if it takes the whole row, any change counts */
		if (bms_is_member(InvalidAttrNumber - FirstLowInvalidHeapAttributeNumber, value.inputs))
			value.inputs = NULL;
		value.expr = (Expr *) expr;
		value.memory = CurrentMemoryContext;
	}
	return value;
}

/*
 * Return how to read a column of rows of a table; of rows that are not stored yet, if
 * before.  In the current memory context.
 */
GuardValue
guard_column_value(Relation rel, AttrNumber attno, bool before)
{
	char		generated = TupleDescAttr(RelationGetDescr(rel), attno - 1)->attgenerated;

	/* 'v': a virtual column, from version 18 on, is never stored */
	return make_value(attno, generated == 'v' || (before && generated) ?
					  build_column_default(rel, attno) : NULL);
}

/* Return how to read the predicate of an index; without an expression if it has none. */
GuardValue
guard_predicate(Relation rel, Oid indexid, bool before)
{
	Relation	index = index_open(indexid, AccessShareLock);
	List	   *clauses = RelationGetIndexPredicate(index);
	GuardValue	value = {0};

	if (clauses != NIL)
	{
		Node	   *expr = (Node *) make_ands_explicit(clauses);

		value = make_value(InvalidAttrNumber, before ? expand_generated(expr, rel) : expr);
	}
	index_close(index, NoLock);
	return value;
}

/*
 * Return the inputs of the WHEN of a trigger, in the current memory context.  If it depends
 * on more than stored columns of the new version, such as OLD or a setting, the old
 * version may not have been checked: then it counts as a condition on the whole row.
 */
GuardValue
guard_condition(Relation rel, const Trigger *trigger)
{
	GuardValue	value = {0};
	Node	   *condition;
	bool		other;
	int			member = -1;

	if (trigger->tgqual == NULL)
		return value;
	condition = stringToNode(trigger->tgqual);
	pull_varattnos(condition, PRS2_NEW_VARNO, &value.inputs);
	other = bms_is_member(PRS2_OLD_VARNO, pull_varnos(NULL, condition)) ||
		contain_mutable_functions(condition);
	while (!other && (member = bms_next_member(value.inputs, member)) >= 0)
	{
		AttrNumber	attno = member + FirstLowInvalidHeapAttributeNumber;

		/* 'v': a virtual column, from version 18 on, is in no row */
		other = attno > 0 && TupleDescAttr(RelationGetDescr(rel), attno - 1)->attgenerated == 'v';
	}
	if (other)
		value.inputs = bms_add_member(value.inputs, InvalidAttrNumber -
									  FirstLowInvalidHeapAttributeNumber);
	return value;
}

/*
 * Return how to read the signature of key column keyno of an index; of rows that are not
 * stored yet, if before.  In the current memory context.
 */
GuardValue
guard_index_value(Relation rel, Oid indexid, AttrNumber keyno, bool before)
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
	return attno == InvalidAttrNumber ? make_value(attno, expr) :
		guard_column_value(rel, attno, before);
}

/*
 * Return a value of a row, not detoasted, in the current memory context or in the row.
 * May use the memory of econtext.
 */
Datum
guard_value(GuardValue *value, TupleTableSlot *row, ExprContext *econtext, bool *isnull)
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

/* True if two versions of a row have equal inputs of a value, and so equal values. */
bool
guard_value_unchanged(const GuardValue *value, TupleTableSlot *before,
					  TupleTableSlot *after)
{
	int			member = -1;

	Assert(before->tts_tupleDescriptor->natts == after->tts_tupleDescriptor->natts);
	if (value->inputs == NULL)
		return false;
	while ((member = bms_next_member(value->inputs, member)) >= 0)
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

/* The scope */

AttrNumber
guard_scope_attno(Relation rel, const char *name)
{
	AttrNumber	attno = get_attnum(RelationGetRelid(rel), name);

	if (attno <= 0)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_COLUMN),
				 errmsg("table \"%s\" has no column \"%s\" to compare rows within",
						RelationGetRelationName(rel), name),
				 errhint("The arguments of neardup_guard after 'within' are columns of the table."),
				 errtable(rel)));
	return attno;
}

/* Set how a column of the scope is compared. */
static void
find_equality(Relation rel, const char *name, GuardScope *scope)
{
	AttrNumber	attno = guard_scope_attno(rel, name);
	Form_pg_attribute att = TupleDescAttr(RelationGetDescr(rel), attno - 1);
	TypeCacheEntry *type = lookup_type_cache(att->atttypid, TYPECACHE_EQ_OPR |
											 TYPECACHE_HASH_EXTENDED_PROC);

	if (!OidIsValid(type->eq_opr))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_FUNCTION),
				 errmsg("column \"%s\" of table \"%s\" cannot be compared for equality",
						name, RelationGetRelationName(rel)),
				 errdetail("Type %s has no default equality operator.",
						   format_type_be(att->atttypid)),
				 errhint("Name another column in the arguments of neardup_guard after 'within'."),
				 errtablecol(rel, attno)));
	scope->name = pstrdup(name);	/* those of a trigger may be freed */
	scope->operator = type->eq_opr;
	scope->collation = att->attcollation;
	fmgr_info(get_opcode(type->eq_opr), &scope->equal);
	scope->hashed = OidIsValid(type->hash_extended_proc);
	if (scope->hashed)
		fmgr_info(type->hash_extended_proc, &scope->hash);
}

/* Set the guard's scope from the names of columns, in the current memory context. */
void
guard_scope_init(Guard *guard, Relation rel, char **names, int n)
{
	guard->nscope = n;
	guard->scope = palloc0(n * sizeof(GuardScope));
	for (int i = 0; i < n; i++)
		find_equality(rel, names[i], &guard->scope[i]);
}

/*
 * Return how to read the scope's columns of rows of a table; of rows that are not stored
 * yet, if before.  In the current memory context.
 */
GuardValue *
guard_scope_columns(const Guard *guard, Relation rel, bool before)
{
	GuardValue *columns = palloc(guard->nscope * sizeof(GuardValue));

	for (int i = 0; i < guard->nscope; i++)
		columns[i] = guard_column_value(rel, guard_scope_attno(rel, guard->scope[i].name),
										before);
	return columns;
}

/* True if a row satisfies the predicate, or there is none. */
static bool
satisfies(GuardValue *predicate, TupleTableSlot *row, ExprContext *econtext)
{
	bool		isnull;
	Datum		value;

	if (predicate->expr == NULL)
		return true;
	value = guard_value(predicate, row, econtext, &isnull);
	return !isnull && DatumGetBool(value);
}

/* Return a hash of the scope that was noted last. */
uint64
guard_scope_hash(Guard *guard)
{
	uint64		hash = 0;

	for (int i = 0; i < guard->nscope; i++)
	{
		GuardScope *scope = &guard->scope[i];

		if (!scope->isnull && scope->hashed)
			hash ^= DatumGetUInt64(FunctionCall2Coll(&scope->hash, scope->collation,
													 scope->value,
													 Int64GetDatum(0)));
		hash = mix64(hash + 1);
	}
	return hash;
}

/* True if the row in the table's slot is in the scope of the new row. */
bool
guard_scope_contains(Guard *guard, GuardTable *table)
{
	if (!satisfies(&table->predicate, table->slot, guard->candidate))
		return false;
	for (int i = 0; i < guard->nscope; i++)
	{
		GuardScope *scope = &guard->scope[i];
		bool		isnull;
		Datum		value = guard_value(&table->columns[i], table->slot,
										guard->candidate, &isnull);

		if (isnull || scope->isnull)
		{
			if (isnull != scope->isnull)
				return false;
		}
		else if (!DatumGetBool(FunctionCall2Coll(&scope->equal, scope->collation,
												 scope->value, value)))
			return false;
	}
	return true;
}

/*
 * Return the key column of an index that can search column attno of the scope for equal
 * values, and set the strategy; 0 if there is none.
 */
static AttrNumber
find_key(Relation index, AttrNumber attno, const GuardScope *scope,
		 StrategyNumber *strategy)
{
	for (int i = 0; i < index->rd_index->indnkeyatts; i++)
	{
		if (index->rd_index->indkey.values[i] != attno ||
			index->rd_indcollation[i] != scope->collation)
			continue;
		*strategy = get_op_opfamily_strategy(scope->operator,
											 index->rd_opfamily[i]);
		if (*strategy != InvalidStrategy)
			return i + 1;
	}
	return InvalidAttrNumber;
}

/* Count the columns of the scope that an index of the table can search. */
int
guard_scope_served(const Guard *guard, const GuardTable *table, Relation index)
{
	StrategyNumber strategy;
	int			n = 0;

	for (int i = 0; i < guard->nscope; i++)
		n += find_key(index, table->columns[i].attno, &guard->scope[i],
					  &strategy) != InvalidAttrNumber;
	return n;
}

/*
 * Set scan keys for the columns of the scope that an index of the table can search; return
 * their number.
 */
int
guard_scope_scankeys(const Guard *guard, const GuardTable *table,
					 Relation index, ScanKey keys)
{
	static FmgrInfo none = {0}; /* GIN has support functions instead */
	int			n = 0;

	for (int i = 0; i < guard->nscope; i++)
	{
		const GuardScope *scope = &guard->scope[i];
		StrategyNumber strategy;
		AttrNumber	keyno = find_key(index, table->columns[i].attno, scope, &strategy);

		/* GIN cannot search nulls */
		if (keyno != InvalidAttrNumber && !scope->isnull)
			ScanKeyEntryInitializeWithInfo(&keys[n++], 0, keyno, strategy,
										   InvalidOid, scope->collation,
										   &none, scope->value);
	}
	return n;
}

/* A row */

Signature *
guard_new_signature(Guard *guard, TupleTableSlot *row)
{
	bool		isnull;
	Datum		value;
	Signature  *sig;

	if (!satisfies(&guard->predicate, row, guard->row))
		return NULL;
	for (int i = 0; i < guard->nscope; i++)
		guard->scope[i].value = guard_value(&guard->columns[i], row, guard->row,
											&guard->scope[i].isnull);
	value = guard_value(&guard->key, row, guard->row, &isnull);
	if (isnull)
		return NULL;
	sig = DatumGetSignature(value);
	Assert(VARSIZE(sig) >= sizeof(SignatureSpec));
	return SIGNATURE_NVALUES(sig) > 0 ? sig : NULL;
}

bool
guard_signature_unchanged(Guard *guard, TupleTableSlot *before, TupleTableSlot *after)
{
	Datum		old;
	Datum		new;
	bool		old_null;
	bool		new_null;

	if (guard->predicate.expr != NULL &&
		!guard_value_unchanged(&guard->predicate, before, after))
		return false;
	for (int i = 0; i < guard->nscope; i++)
		if (!guard_value_unchanged(&guard->columns[i], before, after))
			return false;
	if (guard_value_unchanged(&guard->key, before, after))
		return true;
	old = guard_value(&guard->own->key, before, guard->row, &old_null);
	new = guard_value(&guard->key, after, guard->row, &new_null);
	if (old_null || new_null)
		return old_null && new_null;
	return same_value(old, new, false, -1);
}

bool
guard_is_own(TupleTableSlot *slot)
{
	HeapTupleHeader tuple = ExecFetchSlotHeapTuple(slot, false, NULL)->t_data;

	return TransactionIdIsCurrentTransactionId(HeapTupleHeaderGetRawXmin(tuple));
}

CommandId
guard_own_command(TupleTableSlot *slot)
{
	HeapTupleHeader tuple = ExecFetchSlotHeapTuple(slot, false, NULL)->t_data;

	Assert(guard_is_own(slot));
	/* HeapTupleHeaderGetCmin() refuses frozen rows */
	return tuple->t_infomask & HEAP_COMBOCID ? HeapTupleHeaderGetCmin(tuple) :
		HeapTupleHeaderGetRawCommandId(tuple);
}
