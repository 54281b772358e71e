/*
 * guard_moved.c
 *		Rows that an UPDATE moves to another partition.
 *
 * PostgreSQL fires the BEFORE UPDATE triggers of the partition that a row is in, deletes
 * it there, and fires the BEFORE INSERT triggers of the one that it goes to.  To skip it
 * then would lose it.  So what a guard in mode skip has let pass as an UPDATE is not
 * checked again as the INSERT that follows.  It is told by its signature, and that it has
 * been moved, and not updated in its place, by the deleted version.
 *
 * Another BEFORE INSERT trigger may have given it another signature on its way.  So where
 * no row has that signature, what comes is taken for any that has left and not come, of the
 * same partitioned table.  That may be wrong, where such a trigger inserts a row of its own:
 * then that one is not checked, and the other is told by its signature all the same.
 *
 * In mode tag the row is checked again.  It must not be tagged with the key that it had
 * before, which other rows of its group are tagged with.  So the version that has left is
 * looked for; any that has left will do, without a signature.
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
#include "catalog/partition.h"
#include "storage/bufmgr.h"

#include "base/compat.h"
#include "base/hash.h"
#include "triggers/guard.h"

/* A row that a guard has let pass. */
typedef struct Moving
{
	Oid			relid;
	ItemPointerData tid;
	uint64		guard;			/* hash of its name */
	uint64		hash;			/* of the name and the new signature */
	bool		guessed;		/* another row was taken for it */
} Moving;

/* As many rows are remembered: other triggers may let some pass in between. */
#define MOST_MOVING		32

/* As many of them, the newest, are looked at without a signature that tells. */
#define MOST_GUESSES	4

static Moving moving[MOST_MOVING];
static int	nmoving;
static LocalTransactionId transaction;	/* that they are of */

/* Forgets what another transaction has let pass. */
static void
forget_others(void)
{
	if (transaction != compat_local_transaction())
		nmoving = 0;
	transaction = compat_local_transaction();
}

static uint64
guard_hash(const TriggerData *trigdata)
{
	const char *name = trigdata->tg_trigger->tgname;

	return XXH3_64bits(name, strlen(name));
}

/* A hash of what the row that comes has in common with the one that left. */
static uint64
moving_hash(const TriggerData *trigdata, const Signature *sig)
{
	return mix64(guard_hash(trigdata) ^
				 (sig == NULL ? 0 : XXH3_64bits(sig, VARSIZE(sig))));
}

static void
forget(int i)
{
	memmove(&moving[i], &moving[i + 1], sizeof(Moving) * (--nmoving - i));
}

/* See guard.h */
void
guard_may_move(const TriggerData *trigdata, const Signature *sig)
{
	Moving		row = {
		.relid = RelationGetRelid(trigdata->tg_relation),
		.tid = trigdata->tg_trigtuple->t_self,
		.guard = guard_hash(trigdata),
		.hash = moving_hash(trigdata, sig)
	};

	forget_others();
	for (int i = nmoving - 1; i >= 0; i--)
		if (moving[i].relid == row.relid && moving[i].hash == row.hash &&
			ItemPointerEquals(&moving[i].tid, &row.tid))
			forget(i);
	if (nmoving == MOST_MOVING)
		forget(0);
	moving[nmoving++] = row;
}

/* See guard.h */
void
guard_former_end(Relation rel, TupleTableSlot *former)
{
	ExecDropSingleTupleTableSlot(former);
	relation_close(rel, AccessShareLock);
}

/* True if this transaction has moved the version in the slot to another partition. */
static bool
is_moved(TupleTableSlot *slot)
{
	HeapTupleHeader tuple = ExecFetchSlotHeapTuple(slot, false, NULL)->t_data;

	return HeapTupleHeaderIndicatesMovedPartitions(tuple) &&
		TransactionIdIsCurrentTransactionId(HeapTupleHeaderGetUpdateXid(tuple));
}

/*
 * The version of a row that was let pass, if it has left its partition, which is opened
 * then; or NULL.
 */
static TupleTableSlot *
left_version(Moving *row, Relation *rel)
{
	TupleTableSlot *slot;

	*rel = try_relation_open(row->relid, AccessShareLock);
	if (*rel == NULL)
		return NULL;
	slot = table_slot_create(*rel, NULL);
	/* the table may have been truncated since */
	if (ItemPointerGetBlockNumber(&row->tid) < RelationGetNumberOfBlocks(*rel) &&
		table_tuple_fetch_row_version(*rel, &row->tid, SnapshotAny, slot) &&
		is_moved(slot))
		return slot;
	guard_former_end(*rel, slot);
	return NULL;
}

static bool
has_left(Moving *row)
{
	Relation	rel;
	TupleTableSlot *slot = left_version(row, &rel);

	if (slot != NULL)
		guard_former_end(rel, slot);
	return slot != NULL;
}

/* The partitioned table that all of a partition's rows are of. */
static Oid
topmost(Oid relid)
{
	List	   *ancestors = get_partition_ancestors(relid);
	Oid			top = ancestors == NIL ? relid : llast_oid(ancestors);

	list_free(ancestors);
	return top;
}

/* True if a row was let pass by this guard, in a partition of the same table. */
static bool
is_of_guard(const TriggerData *trigdata, const Moving *row)
{
	return row->guard == guard_hash(trigdata) &&
		topmost(row->relid) == topmost(RelationGetRelid(trigdata->tg_relation));
}

/* See guard.h */
bool
guard_has_moved(const TriggerData *trigdata, const Signature *sig)
{
	uint64		hash = moving_hash(trigdata, sig);

	for (int i = nmoving - 1; i >= 0; i--)
		if (moving[i].hash == hash && has_left(&moving[i]))
		{
			forget(i);
			return true;
		}
	for (int i = nmoving - 1; i >= Max(0, nmoving - MOST_GUESSES); i--)
		if (!moving[i].guessed && is_of_guard(trigdata, &moving[i]) &&
			has_left(&moving[i]))
		{
			moving[i].guessed = true;
			return true;
		}
	return false;
}

/* See guard.h */
TupleTableSlot *
guard_former_version(const TriggerData *trigdata, Relation *rel)
{
	for (int i = nmoving - 1; i >= Max(0, nmoving - MOST_GUESSES); i--)
	{
		TupleTableSlot *slot = !is_of_guard(trigdata, &moving[i]) ? NULL :
			left_version(&moving[i], rel);

		if (slot != NULL)
		{
			forget(i);
			return slot;
		}
	}
	return NULL;
}

/* See guard.h */
bool
guard_awaits_moved(const TriggerData *trigdata)
{
	forget_others();
	return nmoving > 0 && trigdata->tg_relation->rd_rel->relispartition;
}
