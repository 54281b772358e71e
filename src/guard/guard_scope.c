/*
 * guard_scope.c
 *		Which rows the guard compares with each other.
 *
 * Rows are compared only where they agree in the columns of the scope, which
 * are named by the trigger's arguments, and only rows that satisfy the
 * predicate of the index, if it is a partial one.  To a row, those of another
 * scope are as good as not there: they are not waited for, nor told of.
 *
 * Values agree if the default equality operator of their type says so, under
 * the column's collation; as in a unique index.  Nulls agree with each other,
 * as in one that is NULLS NOT DISTINCT: else rows without a tenant, say, would
 * not be guarded at all, and nobody would notice.
 *
 * Where the index that is searched has a column of the scope, too, it is asked
 * for the new row's value.  This only saves candidates: each of them is
 * compared all the same, as its entries in the index may be those of another
 * version.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/guard/guard_scope.c
 */
#include "postgres.h"

#include "access/genam.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/typcache.h"

#include "base/hash.h"
#include "guard/guard.h"

/* See guard.h */
AttrNumber
guard_scope_attno(Relation rel, const char *name)
{
	AttrNumber	attno = get_attnum(RelationGetRelid(rel), name);

	if (attno <= 0)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_COLUMN),
				 errmsg("table \"%s\" has no column \"%s\" to compare rows within",
						RelationGetRelationName(rel), name),
				 errhint("The arguments of neardup_guard behind 'within' are columns of the table."),
				 errtable(rel)));
	return attno;
}

/* Finds out how a column of the scope is compared. */
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
				 errhint("Name another column in the arguments of neardup_guard behind 'within'."),
				 errtablecol(rel, attno)));
	scope->name = name;
	scope->operator = type->eq_opr;
	scope->collation = att->attcollation;
	fmgr_info(get_opcode(type->eq_opr), &scope->equal);
	scope->hashed = OidIsValid(type->hash_extended_proc);
	if (scope->hashed)
		fmgr_info(type->hash_extended_proc, &scope->hash);
}

/*
 * Makes the guard's scope of the names of columns of the table that its
 * trigger fires on; in the current memory context, where the names have to
 * stay.
 */
void
guard_scope_init(Guard *guard, Relation rel, char **names, int n)
{
	guard->nscope = n;
	guard->scope = palloc0(n * sizeof(GuardScope));
	for (int i = 0; i < n; i++)
		find_equality(rel, names[i], &guard->scope[i]);
}

/*
 * How rows of a table get the values of the scope's columns; of rows that are
 * not stored yet, if before.  In the current memory context.
 */
GuardKey *
guard_scope_columns(const Guard *guard, Relation rel, bool before)
{
	GuardKey   *columns = palloc(guard->nscope * sizeof(GuardKey));

	for (int i = 0; i < guard->nscope; i++)
		columns[i] = guard_column_key(rel, guard_scope_attno(rel, guard->scope[i].name),
									  before);
	return columns;
}

/* True if a row satisfies the predicate, or there is none. */
static bool
satisfies(const GuardKey *predicate, TupleTableSlot *row,
		  ExprContext *econtext)
{
	bool		isnull;
	Datum		value;

	if (predicate->expr == NULL)
		return true;
	value = guard_key_value(predicate, row, econtext, &isnull);
	return !isnull && DatumGetBool(value);
}

/*
 * Notes the new row's values of the scope, which may point into the row or be
 * in the current memory context.  False if the row does not satisfy the
 * predicate of the index, so that it is not guarded.
 */
bool
guard_scope_enter(Guard *guard, TupleTableSlot *row)
{
	if (!satisfies(&guard->predicate, row, guard->row))
		return false;
	for (int i = 0; i < guard->nscope; i++)
	{
		GuardScope *scope = &guard->scope[i];

		scope->value = guard_key_value(&guard->columns[i], row, guard->row,
									   &scope->isnull);
	}
	return true;
}

/*
 * A number that rows of one scope have in common; of the values that were noted
 * last.
 */
uint64
guard_scope_hash(Guard *guard)
{
	uint64		hash = 0;

	for (int i = 0; i < guard->nscope; i++)
	{
		GuardScope *scope = &guard->scope[i];

		if (!scope->isnull && scope->hashed)
			hash ^= DatumGetUInt64(FunctionCall2Coll(&scope->hash,
													 scope->collation,
													 scope->value,
													 Int64GetDatum(0)));
		hash = mix64(hash + 1);
	}
	return hash;
}

/*
 * True if the row in the table's slot is one that the new row is to be compared
 * with.  Allocates in the current memory context.
 */
bool
guard_scope_contains(Guard *guard, const GuardTable *table)
{
	if (!satisfies(&table->predicate, table->slot, guard->candidate))
		return false;
	for (int i = 0; i < guard->nscope; i++)
	{
		GuardScope *scope = &guard->scope[i];
		bool		isnull;
		Datum		value = guard_key_value(&table->columns[i], table->slot,
											guard->candidate, &isnull);

		if (isnull || scope->isnull)
		{
			if (isnull != scope->isnull)
				return false;
		}
		else if (!DatumGetBool(FunctionCall2Coll(&scope->equal,
												 scope->collation,
												 scope->value, value)))
			return false;
	}
	return true;
}

/*
 * True if two versions of a row are the same in all that decides which rows
 * they are compared with.
 */
bool
guard_scope_unchanged(const Guard *guard, TupleTableSlot *before,
					  TupleTableSlot *after)
{
	if (guard->predicate.expr != NULL &&
		!guard_key_unchanged(&guard->predicate, before, after))
		return false;
	for (int i = 0; i < guard->nscope; i++)
		if (!guard_key_unchanged(&guard->columns[i], before, after))
			return false;
	return true;
}

/*
 * The key column of an index that can be asked for what agrees with a value of
 * column attno of the scope, and the strategy for that; 0 if there is none.
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

/* How many columns of the scope an index of the table can be asked for. */
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
 * Appends to keys, which has room for one of each column of the scope, what
 * an index of the table can be asked of the scope.  Returns how many.
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
		AttrNumber	keyno = find_key(index, table->columns[i].attno, scope,
									 &strategy);

		/* GIN cannot be asked for nulls */
		if (keyno != InvalidAttrNumber && !scope->isnull)
			ScanKeyEntryInitializeWithInfo(&keys[n++], 0, keyno, strategy,
										   InvalidOid, scope->collation,
										   &none, scope->value);
	}
	return n;
}
