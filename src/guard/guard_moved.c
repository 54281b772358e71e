/*
 * guard_moved.c
 *		Recognizes rows that an UPDATE moves to another partition.
 *
 * PostgreSQL fires the BEFORE UPDATE triggers of the partition where a row is,
 * deletes the row there, and fires the BEFORE INSERT triggers of the partition
 * where it goes.  To skip the row then would lose it.  So a row that a guard
 * in mode skip has accepted as an UPDATE is not checked again as the INSERT
 * that follows.  It is recognized by the statement, which processes one row
 * after the other, and by the deleted version, which is marked as moved.
 * Statements of other triggers may run in between.
 *
 * (If another BEFORE INSERT trigger drops a moved row, the guard mistakes the
 * next row that the same MERGE, or another part of WITH, inserts for the moved
 * row.)
 *
 * In mode tag the row is checked again.  Its own former key must not become
 * its tag, although other rows of its group may have that tag.  So its former
 * version is looked up.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/relation.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/partition.h"
#include "storage/bufmgr.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/memutils.h"

#include "base/compat.h"
#include "base/memory.h"
#include "guard/guard.h"

/* A row that a guard has accepted as an UPDATE */
typedef struct Moving
{
	StatementId statement;		/* statement that updates the row */
	int			depth;			/* number of nested triggers that run the
								 * statement */
	NameData	guard;			/* name of the trigger, which is the same in
								 * all partitions */
	Oid			relid;
	ItemPointerData tid;		/* version that the statement deletes */
} Moving;

/* The row that each guard accepted last, in the running statements */
static Moving *moving;
static size_t room;				/* number of elements allocated */
static int	nmoving;			/* number of elements */

/*
 * True if an older entry may still be needed.  Statements of more deeply
 * nested triggers have ended.
 */
static bool
is_awaited(const Moving *old, const Moving *row)
{
	if (old->statement.transaction != row->statement.transaction)
		return false;
	return old->depth < row->depth ||
		(statements_equal(old->statement, row->statement) &&
		 strcmp(NameStr(old->guard), NameStr(row->guard)) != 0);
}

void
guard_note_accepted(const Guard *guard, const TriggerData *trigdata)
{
	Moving		row = {
		.statement = guard_current_statement(),
		.depth =
		DatumGetInt32(DirectFunctionCall1(pg_trigger_depth, (Datum) 0)),
		.relid = RelationGetRelid(trigdata->tg_relation),
		.tid = trigdata->tg_trigtuple->t_self
	};
	MemoryContext caller;
	int			n = 0;

	if (!trigdata->tg_relation->rd_rel->relispartition ||
		(guard->mode != GUARD_SKIP && guard->mode != GUARD_TAG))
		return;
	Assert(ItemPointerIsValid(&row.tid));
	namestrcpy(&row.guard, trigdata->tg_trigger->tgname);
	for (int i = 0; i < nmoving; i++)
		if (is_awaited(&moving[i], &row))
			moving[n++] = moving[i];
	caller = MemoryContextSwitchTo(TopMemoryContext);
	moving = growing_reserve(moving, &room, n + 1, sizeof(Moving));
	MemoryContextSwitchTo(caller);
	moving[n] = row;
	nmoving = n + 1;
}

/* Return the topmost parent of a partition. */
static Oid
topmost(Oid relid)
{
	return llast_oid(get_partition_ancestors(relid));
}

/*
 * Return the row that this guard accepted last in a partition of the same
 * table, or NULL.
 */
static Moving *
find_moving(const TriggerData *trigdata)
{
	StatementId statement = guard_current_statement();
	const char *guard = trigdata->tg_trigger->tgname;
	Oid			relid = RelationGetRelid(trigdata->tg_relation);

	for (int i = nmoving - 1; i >= 0; i--)
		if (statements_equal(moving[i].statement, statement) &&
			strcmp(NameStr(moving[i].guard), guard) == 0 &&
			topmost(moving[i].relid) == topmost(relid))
			return &moving[i];
	return NULL;
}

/*
 * True if this transaction has moved the row version in the slot to another
 * partition.
 */
static bool
is_moved(TupleTableSlot *slot)
{
	HeapTupleHeader tuple = ExecFetchSlotHeapTuple(slot, false, NULL)->t_data;

	return HeapTupleHeaderIndicatesMovedPartitions(tuple) &&
		TransactionIdIsCurrentTransactionId(HeapTupleHeaderGetUpdateXid(tuple));
}

void
guard_close_former(Relation rel, TupleTableSlot *former)
{
	if (former == NULL)
		return;
	ExecDropSingleTupleTableSlot(former);
	relation_close(rel, AccessShareLock);
}

TupleTableSlot *
guard_open_former(const TriggerData *trigdata, Relation *rel)
{
	Moving	   *row = trigdata->tg_relation->rd_rel->relispartition ?
	find_moving(trigdata) : NULL;
	TupleTableSlot *slot;

	*rel = row == NULL ? NULL : try_relation_open(row->relid, AccessShareLock);
	if (*rel == NULL)
		return NULL;
	slot = table_slot_create(*rel, NULL);
	/* the table may have been truncated since */
	if (ItemPointerGetBlockNumber(&row->tid) >=
		RelationGetNumberOfBlocks(*rel) ||
		!table_tuple_fetch_row_version(*rel, &row->tid, SnapshotAny, slot) ||
		!is_moved(slot))
	{
		guard_close_former(*rel, slot);
		return NULL;
	}
	/* each row arrives once */
	*row = moving[--nmoving];
	return slot;
}

bool
guard_has_moved(const TriggerData *trigdata)
{
	Relation	rel;
	TupleTableSlot *former = guard_open_former(trigdata, &rel);

	guard_close_former(rel, former);
	return former != NULL;
}
