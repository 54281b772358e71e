/*
 * guard_row.c
 *		A new row: read once, then compared with stored rows.
 *
 * The signature is a key of the index: a column, or an expression over the row.
 *
 * Rows are compared only if they are equal in the columns of the scope and
 * satisfy the predicate of the index.  Values are equal if the default equality
 * operator of their type says so, under the column's collation.  Nulls are equal
 * to each other, as in an index that is NULLS NOT DISTINCT: otherwise rows
 * without a tenant would not be guarded.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/xact.h"
#include "executor/executor.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

#include "base/call.h"
#include "base/compat.h"
#include "base/hash.h"
#include "signature/sql/near.h"
#include "guard/guard.h"

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
										guard_scope_attno(rel, guard->scope[i].name),
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
		else if (!DatumGetBool(FunctionCall2Coll(&scope->equal, scope->collation,
												 row->scope[i], value)))
			return false;
	}
	return true;
}

/*
 * Return the key column of an index that can search column attno of the scope
 * for equal values, and set the strategy; 0 if there is none.
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

int
guard_scope_scankeys(const ConflictScan *scan, Relation index, ScanKey keys)
{
	static FmgrInfo none = {0}; /* GIN has support functions instead */
	const Guard *guard = scan->guard;
	int			n = 0;

	for (int i = 0; i < guard->nscope; i++)
	{
		const GuardScope *scope = &guard->scope[i];
		StrategyNumber strategy;
		AttrNumber	keyno = find_key(index, scan->table->columns[i].attno, scope,
									 &strategy);

		/* GIN cannot search nulls */
		if (keyno != InvalidAttrNumber && !scan->row->scope_isnull[i])
			ScanKeyEntryInitializeWithInfo(&keys[n++], 0, keyno, strategy,
										   InvalidOid, scope->collation,
										   &none, scan->row->scope[i]);
	}
	return n;
}

/* The new row */

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

/* True if two versions of a row have the same bytes of the signature. */
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
guard_row_unchanged(Guard *guard, TupleTableSlot *before, TupleTableSlot *after)
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

/* Comparison */

/*
 * True if the row in the table's slot has a similar signature; *same if the
 * bytes are equal.
 */
static bool
is_similar(ConflictScan *scan, bool *same)
{
	ExprContext *econtext = scan->guard->candidate;
	const Signature *new = scan->row->sig;
	MemoryContext caller;
	Datum		value;
	bool		isnull;
	bool		similar = false;

	*same = false;
	caller = MemoryContextSwitchTo(econtext->ecxt_per_tuple_memory);
	value = guard_value(&scan->table->key, scan->table->slot, econtext, &isnull);
	if (!isnull && is_in_scope(scan))
	{
		const Signature *sig = DatumGetSignature(value);

		/* different specs are never near; no warning here */
		similar = spec_equal(&new->spec, &sig->spec) &&
			signatures_near(new, sig, scan->guard->threshold, MEASURE_JACCARD);
		if (similar)
		{
			scan->similarity = signatures_value(new, sig, MEASURE_JACCARD);
			*same = VARSIZE(sig) == VARSIZE(new) &&
				memcmp(sig, new, VARSIZE(sig)) == 0;
		}
	}
	MemoryContextSwitchTo(caller);
	ResetExprContext(econtext);
	return similar;
}

/*
 * True if the row in the table's slot, whose signature is equal, is the new row,
 * whose place is not known.  Its primary key is equal; without one, it is the
 * first row of this transaction.  A second one is near to it as well.
 */
static bool
is_found_self(ConflictScan *scan)
{
	TupleTableSlot *slot = scan->table->slot;
	int			order;

	Assert(scan->row->place == ROW_SOMEWHERE);
	if (scan->self_seen || !guard_is_own(slot))
		return false;
	scan->self_seen = !guard_key_compare(scan->rel, slot, scan->row->slot,
										 &order) || order == 0;
	return scan->self_seen;
}

bool
guard_is_near(ConflictScan *scan)
{
	NewRow	   *row = scan->row;
	bool		own = scan->table == scan->guard->own;
	bool		same;

	Assert(row->sig != NULL);
	if (own && row->place == ROW_AT_TID &&
		ItemPointerEquals(&scan->table->slot->tts_tid, &row->tid))
		return false;
	if (!is_similar(scan, &same))
		return false;
	if (row->place == ROW_SOMEWHERE && same && is_found_self(scan))
		return false;
	if (!guard_condition_holds(scan))
		return false;
	return !(own && row->place == ROW_INSERTED_LATER &&
			 guard_unique_conflict(scan));
}

/* Commands of this transaction */

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
