/*
 * guard_row.c
 *		Rows: how their values are read, and how a new row is compared with a
 *		stored row.
 *
 * The signature is a key of the index: a column, or an expression over the
 * row.  In a BEFORE trigger a generated column has no value yet.  Its
 * generation expression is used instead, also within an index expression.
 *
 * Rows are compared only if they are equal in the columns of the scope and
 * satisfy the predicate of the index.  Values are compared by the default
 * equality operator of their type, with the column's collation.  Nulls are
 * equal to each other, as in an index that is NULLS NOT DISTINCT: otherwise
 * rows without a tenant would not be guarded.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/sysattr.h"
#include "executor/executor.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "rewrite/rewriteHandler.h"
#include "rewrite/rewriteManip.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

#include "base/call.h"
#include "base/compat.h"
#include "base/hash.h"
#include "signature/sql/near.h"
#include "guard/guard.h"

/* Values */

/* Which generated columns expand() replaces */
typedef struct Expansion
{
	Relation	rel;
	int			varno;
	bool		all;			/* true: all of them; false: virtual ones only */
} Expansion;

/* 'v' is a virtual column, from PostgreSQL 18 on, which no row stores */
#define IS_VIRTUAL(generated) ((generated) == 'v')

/* Return attgenerated of a column: '\0' if it is not generated. */
static char
generated(Relation rel, AttrNumber attno)
{
	return TupleDescAttr(RelationGetDescr(rel), attno - 1)->attgenerated;
}

/*
 * Raise an error: an expression that takes the whole row cannot be computed.
 */
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
 * Expression tree mutator: replace generated columns by their generation
 * expressions, in which no generated column can occur.
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

/*
 * Return a copy of the expression of an index's key column, which is not a
 * plain column.
 */
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

/*
 * Make a value that is a column, or is computed by an expression if that is
 * not NULL.
 */
static GuardValue
make_value(AttrNumber attno, Node *expr)
{
	const int	whole_row = InvalidAttrNumber -
	FirstLowInvalidHeapAttributeNumber;
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
		make_value(attno,
				   guard_expand_generated(index_expression(index, keyno),
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
		bms_add_member(inputs,
					   InvalidAttrNumber -
					   FirstLowInvalidHeapAttributeNumber) :
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
		 * not earlier, as this computes constants, perhaps by functions of
		 * the table's owner
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

		/* an expression may name tableoid, and a condition the whole row */
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
				 errhint("The arguments of neardup_guard after 'within' are columns of the table; 'if' comes before."),
				 errtable(rel)));
	return attno;
}

/* Look up how a column of the scope is compared. */
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
	scope->name = pstrdup(name);	/* the trigger's string may be freed */
	scope->operator = type->eq_opr;
	scope->collation = att->attcollation;
	fmgr_info(get_opcode(type->eq_opr), &scope->equal);
	scope->hashed = OidIsValid(type->hash_extended_proc);
	if (scope->hashed)
		fmgr_info(type->hash_extended_proc, &scope->hash);
}

void
guard_scope_init(Guard *guard, Relation rel, char **names, int n)
{
	guard->nscope = n;
	guard->scope = palloc0(n * sizeof(GuardScope));
	for (int i = 0; i < n; i++)
		find_equality(rel, names[i], &guard->scope[i]);
}

GuardValue *
guard_scope_columns(const Guard *guard, Relation rel, bool before)
{
	GuardValue *columns = palloc(guard->nscope * sizeof(GuardValue));

	for (int i = 0; i < guard->nscope; i++)
		columns[i] = guard_column_value(rel,
										guard_scope_attno(rel,
														  guard->scope[i].name),
										before);
	return columns;
}

uint64
guard_scope_hash(Guard *guard, const NewRow *row)
{
	uint64		hash = 0;

	for (int i = 0; i < guard->nscope; i++)
	{
		GuardScope *scope = &guard->scope[i];

		if (!row->scope_isnull[i] && scope->hashed)
			hash ^= DatumGetUInt64(FunctionCall2Coll(&scope->hash,
													 scope->collation,
													 row->scope[i],
													 Int64GetDatum(0)));
		hash = mix64(hash + 1);
	}
	return hash;
}

/* True if the row in the table's slot is in the scope of the new row. */
static bool
is_in_scope(const ConflictScan *scan)
{
	Guard	   *guard = scan->guard;
	GuardTable *table = scan->table;
	const NewRow *row = scan->row;

	if (!guard_satisfies(&table->predicate, table->slot, guard->candidate))
		return false;
	for (int i = 0; i < guard->nscope; i++)
	{
		GuardScope *scope = &guard->scope[i];
		bool		isnull;
		Datum		value = guard_value(&table->columns[i], table->slot,
										guard->candidate, &isnull);

		if (isnull || row->scope_isnull[i])
		{
			if (isnull != row->scope_isnull[i])
				return false;
		}
		else if (!DatumGetBool(FunctionCall2Coll(&scope->equal,
												 scope->collation,
												 row->scope[i], value)))
			return false;
	}
	return true;
}

/* The new row */

void
guard_require_measure(const Guard *guard, const NewRow *row)
{
	const Signature *sig = row->sig;

	if (measure_is_defined(method_info(sig->spec.method), guard->measure))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("neardup_guard cannot compare %s by measure \"%s\"",
					spec_name(&sig->spec), measure_name(guard->measure)),
			 guard->measure == MEASURE_JACCARD ?
			 errhint("Create the trigger with the measure cosine: neardup_guard('column', '0.9', 'measure', 'cosine').") :
			 errhint("Create the trigger without the measure.")));
}

bool
guard_read_row(Guard *guard, TupleTableSlot *slot, NewRow *row)
{
	bool		isnull;
	Datum		value;

	*row = (NewRow)
	{
		.slot = slot
	};
	if (!guard_satisfies(&guard->predicate, slot, guard->row))
		return false;
	value = guard_value(&guard->key, slot, guard->row, &isnull);
	if (isnull)
		return false;
	row->sig = DatumGetSignature(value);
	Assert(VARSIZE(row->sig) >= sizeof(SignatureSpec));
	if (SIGNATURE_NVALUES(row->sig) == 0)
		return false;
	if (guard->nscope == 0)
		return true;
	row->scope = palloc(guard->nscope * sizeof(Datum));
	row->scope_isnull = palloc(guard->nscope * sizeof(bool));
	for (int i = 0; i < guard->nscope; i++)
		row->scope[i] = guard_value(&guard->columns[i], slot, guard->row,
									&row->scope_isnull[i]);
	return true;
}

TupleTableSlot *
guard_live_version(Guard *guard, Relation rel, ItemPointer tid)
{
	TableScanDesc scan;

	if (table_tuple_fetch_row_version(rel, tid, SnapshotSelf, guard->slot))
		return guard->slot;
	scan = table_beginscan_tid(rel, SnapshotSelf);
	table_tuple_get_latest_tid(scan, tid);
	table_endscan(scan);
	if (table_tuple_fetch_row_version(rel, tid, SnapshotSelf, guard->slot))
		return guard->slot;
	return NULL;
}

/* True if the signatures of two versions of a row have the same bytes. */
static bool
is_signature_unchanged(Guard *guard, TupleTableSlot *before,
					   TupleTableSlot *after)
{
	Datum		old;
	Datum		new;
	bool		old_null;
	bool		new_null;

	if (guard_inputs_unchanged(guard->key.inputs, before, after))
		return true;
	old = guard_value(&guard->own->key, before, guard->row, &old_null);
	new = guard_value(&guard->key, after, guard->row, &new_null);
	if (old_null || new_null)
		return old_null && new_null;
	return same_value(old, new, false, -1);
}

bool
guard_row_unchanged(Guard *guard, TupleTableSlot *before,
					TupleTableSlot *after)
{
	if (guard->when != NULL &&
		!guard_inputs_unchanged(guard->when, before, after))
		return false;
	if (guard->predicate.expr != NULL &&
		!guard_inputs_unchanged(guard->predicate.inputs, before, after))
		return false;
	for (int i = 0; i < guard->nscope; i++)
		if (!guard_inputs_unchanged(guard->columns[i].inputs, before, after))
			return false;
	/* a constant condition has no inputs */
	if (guard->condition.inputs != NULL &&
		!guard_inputs_unchanged(guard->condition.inputs, before, after))
		return false;
	return is_signature_unchanged(guard, before, after);
}

RowState
guard_read_new(Guard *guard, TriggerData *trigdata, NewRow *row)
{
	bool		update = TRIGGER_FIRED_BY_UPDATE(trigdata->tg_event);
	TupleTableSlot *slot = update ? trigdata->tg_newslot :
	trigdata->tg_trigslot;
	ItemPointerData tid = slot->tts_tid;

	*row = (NewRow)
	{
		.slot = slot
	};
	/* generation expressions may name tableoid */
	slot->tts_tableOid = RelationGetRelid(trigdata->tg_relation);
	if (update && guard_row_unchanged(guard, trigdata->tg_trigslot, slot))
		return ROW_UNCHANGED;
	if (guard->before && update)
		tid = trigdata->tg_trigtuple->t_self;
	if (!guard->before)
		slot = guard_live_version(guard, trigdata->tg_relation, &tid);
	if (slot == NULL || !guard_read_row(guard, slot, row))
		return ROW_NOT_COMPARED;
	guard_require_measure(guard, row);
	row->place = guard->before && !update ? ROW_INSERTED_LATER : ROW_AT_TID;
	row->tid = tid;
	return ROW_READ;
}

/* Comparison */

bool
guard_is_similar(ConflictScan *scan, bool *same)
{
	ExprContext *econtext = scan->guard->candidate;
	const Signature *new = scan->row->sig;
	MemoryContext caller;
	Datum		value;
	bool		isnull;
	bool		similar = false;

	*same = false;
	caller = MemoryContextSwitchTo(econtext->ecxt_per_tuple_memory);
	value = guard_value(&scan->table->key, scan->table->slot, econtext,
						&isnull);
	if (!isnull && is_in_scope(scan))
	{
		const Signature *sig = DatumGetSignature(value);

		/*
		 * signatures of different specs never match; this is no place to warn
		 */
		similar = spec_equal(&new->spec, &sig->spec) &&
			signatures_near(new, sig, scan->guard->threshold,
							scan->guard->measure);
		if (similar)
		{
			scan->similarity = signatures_value(new, sig, scan->guard->measure);
			*same = VARSIZE(sig) == VARSIZE(new) &&
				memcmp(sig, new, VARSIZE(sig)) == 0;
		}
	}
	MemoryContextSwitchTo(caller);
	ResetExprContext(econtext);
	return similar;
}
