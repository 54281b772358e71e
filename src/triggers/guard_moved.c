/*
 * guard_moved.c
 *		Rows that an UPDATE moves to another partition.
 *
 * PostgreSQL fires the BEFORE UPDATE triggers of the partition that a row is in, deletes
 * it there, and fires the BEFORE INSERT triggers of the one that it goes to.  To skip it
 * then would lose it.  So what a guard in mode skip has let pass as an UPDATE is not
 * checked again as the INSERT that follows at once.  That it has been moved, and not
 * updated in its place, is what the deleted version tells.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/triggers/guard_moved.c
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/relation.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "storage/bufmgr.h"

#include "triggers/guard.h"

/* The row that was let pass last. */
static struct
{
	Oid			relid;
	ItemPointerData tid;
	int			guards;			/* that have let it pass, and have not seen it
								 * come yet */
}			moving;

/* See guard.h */
void
guard_may_move(const TriggerData *trigdata)
{
	Oid			relid = RelationGetRelid(trigdata->tg_relation);
	ItemPointerData tid = trigdata->tg_trigtuple->t_self;

	if (!trigdata->tg_relation->rd_rel->relispartition)
		return;
	if (moving.relid != relid || !ItemPointerEquals(&moving.tid, &tid))
		moving.guards = 0;
	moving.relid = relid;
	moving.tid = tid;
	moving.guards++;
}

/* True if this transaction has moved the version in the slot to another partition. */
static bool
is_moved(TupleTableSlot *slot)
{
	HeapTupleHeader tuple = ExecFetchSlotHeapTuple(slot, false, NULL)->t_data;

	return HeapTupleHeaderIndicatesMovedPartitions(tuple) &&
		TransactionIdIsCurrentTransactionId(HeapTupleHeaderGetUpdateXid(tuple));
}

/* True if the row that was let pass has left its partition. */
static bool
has_left(void)
{
	Relation	rel = try_relation_open(moving.relid, AccessShareLock);
	TupleTableSlot *slot;
	bool		left;

	if (rel == NULL)
		return false;
	slot = table_slot_create(rel, NULL);
	/* the table may have been truncated since */
	left = ItemPointerGetBlockNumber(&moving.tid) < RelationGetNumberOfBlocks(rel) &&
		table_tuple_fetch_row_version(rel, &moving.tid, SnapshotAny, slot) &&
		is_moved(slot);
	ExecDropSingleTupleTableSlot(slot);
	relation_close(rel, AccessShareLock);
	return left;
}

/* See guard.h */
bool
guard_has_moved(const TriggerData *trigdata)
{
	if (!trigdata->tg_relation->rd_rel->relispartition || moving.guards == 0 ||
		!has_left())
		return false;
	moving.guards--;
	return true;
}
