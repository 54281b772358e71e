/*
 * guard_unique.c
 *		Finds out whether a stored row conflicts with a new row in a unique
 *		index.
 *
 * INSERT ... ON CONFLICT (id) DO UPDATE with an edited text first fires BEFORE
 * INSERT triggers for a row that is a near-duplicate of its own old version.
 * To skip it there would lose the edit.  So a stored row with which the
 * insertion would conflict anyway does not count as a near-duplicate.  If
 * there is no ON CONFLICT, the insertion is a unique violation, as without the
 * guard.
 */
#include "postgres.h"

#include "access/genam.h"
#include "catalog/pg_am.h"
#include "executor/executor.h"
#include "utils/lsyscache.h"

#include "guard/guard.h"

/* A unique index, and how its keys are read from both rows */
typedef struct UniqueIndex
{
	int			nkeys;			/* number of key columns */
	GuardValue *new;			/* read the keys of a new row */
	GuardValue *stored;			/* read the keys of a stored row */
	FmgrInfo   *equal;			/* equality functions of the keys */
	Oid		   *collations;		/* collations of the keys */
	bool		nulls_equal;	/* true for NULLS NOT DISTINCT */
	GuardValue	new_predicate;	/* predicate of the index, for a new row */
	GuardValue	stored_predicate;	/* predicate of the index, for a stored
									 * row */
} UniqueIndex;

/* The unique indexes of a table */
struct GuardUnique
{
	UniqueIndex *indexes;
	int			n;
};

/* Read a unique index, in the current memory context. */
static UniqueIndex
read_index(Relation rel, Relation index)
{
	Oid			indexid = RelationGetRelid(index);
	int			nkeys = index->rd_index->indnkeyatts;
	UniqueIndex unique = {
		.nkeys = nkeys,
		.new = palloc(nkeys * sizeof(GuardValue)),
		.stored = palloc(nkeys * sizeof(GuardValue)),
		.equal = palloc(nkeys * sizeof(FmgrInfo)),
		.collations = palloc(nkeys * sizeof(Oid)),
		.nulls_equal = index->rd_index->indnullsnotdistinct,
		.new_predicate = guard_predicate(rel, indexid, true),
		.stored_predicate = guard_predicate(rel, indexid, false)
	};

	for (int i = 0; i < nkeys; i++)
	{
		Oid			type = index->rd_opcintype[i];
		Oid			equality = get_opfamily_member(index->rd_opfamily[i], type,
												   type,
												   BTEqualStrategyNumber);

		Assert(OidIsValid(equality));
		unique.new[i] = guard_index_value(rel, indexid, i + 1, true);
		unique.stored[i] = guard_index_value(rel, indexid, i + 1, false);
		fmgr_info(get_opcode(equality), &unique.equal[i]);
		unique.collations[i] = index->rd_indcollation[i];
	}
	return unique;
}

GuardUnique *
guard_list_unique(Relation rel)
{
	List	   *indexes = RelationGetIndexList(rel);
	GuardUnique *unique = palloc0(sizeof(GuardUnique));
	ListCell   *lc;

	unique->indexes = palloc(list_length(indexes) * sizeof(UniqueIndex));
	foreach(lc, indexes)
	{
		Relation	index = index_open(lfirst_oid(lc), AccessShareLock);

		if (index->rd_index->indisunique && index->rd_index->indisready &&
			index->rd_rel->relam == BTREE_AM_OID)
			unique->indexes[unique->n++] = read_index(rel, index);
		index_close(index, NoLock);
	}
	list_free(indexes);
	return unique;
}

/* True if both rows are in an index and equal in all of its keys. */
static bool
is_equal(UniqueIndex *unique, TupleTableSlot *new, TupleTableSlot *stored,
		 ExprContext *econtext)
{
	if (!guard_satisfies(&unique->new_predicate, new, econtext) ||
		!guard_satisfies(&unique->stored_predicate, stored, econtext))
		return false;
	for (int i = 0; i < unique->nkeys; i++)
	{
		bool		isnull[2];
		Datum		a = guard_value(&unique->new[i], new, econtext,
									&isnull[0]);
		Datum		b = guard_value(&unique->stored[i], stored, econtext,
									&isnull[1]);

		if (isnull[0] || isnull[1])
		{
			if (!unique->nulls_equal || isnull[0] != isnull[1])
				return false;
		}
		else if (!DatumGetBool(FunctionCall2Coll(&unique->equal[i],
												 unique->collations[i], a, b)))
			return false;
	}
	return true;
}

bool
guard_unique_conflict(ConflictScan *scan)
{
	Guard	   *guard = scan->guard;
	ExprContext *econtext = guard->candidate;
	MemoryContext caller;
	bool		conflict = false;

	Assert(scan->table == guard->own && guard->unique != NULL);
	caller = MemoryContextSwitchTo(econtext->ecxt_per_tuple_memory);
	for (int i = 0; !conflict && i < guard->unique->n; i++)
		conflict = is_equal(&guard->unique->indexes[i], scan->row->slot,
							scan->table->slot, econtext);
	MemoryContextSwitchTo(caller);
	ResetExprContext(econtext);
	return conflict;
}
