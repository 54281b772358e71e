/*
 * guard_moved.c
 *		Rows that an UPDATE moves to another partition.
 *
 * PostgreSQL fires the BEFORE UPDATE triggers of the partition that a row is in, deletes
 * the row there, and fires the BEFORE INSERT triggers of the partition that it goes to.
 * To skip it then would lose it.  So a row that a guard in mode skip has let pass as an
 * UPDATE is not checked again as the INSERT that follows.  It is recognized by the
 * statement, which processes one row after the other, and by the deleted version, which
 * is marked as moved.  Statements of other triggers may run in between.
 *
 * (Where another BEFORE INSERT trigger keeps a moved row from arriving, a row that the
 * same MERGE inserts next is mistaken for it, or one of another part of WITH.)
 *
 * In mode tag the row is checked again.  It must not be tagged with the key that it had
 * before, which other rows of its group are tagged with.  So the version that has left is
 * looked up.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/relation.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/partition.h"
#include "storage/bufmgr.h"
#include "utils/fmgrprotos.h"
#include "utils/memutils.h"

#include "base/hash.h"
#include "base/memory.h"
#include "guard/guard.h"

/* A row that a guard has let pass. */
typedef struct Moving
{
	StatementId statement;		/* that updates it */
	int			depth;			/* of triggers that run the statement */
	uint64		guard;			/* hash of its name */
	Oid			relid;
	ItemPointerData tid;
} Moving;

/* Number of entries from which those of ended statements are dropped. */
#define MANY_MOVING		64

/* The last row of each guard and statement of the transaction. */
static Moving *moving;
static size_t room;
static int	nmoving;

static uint64
guard_hash(const TriggerData *trigdata)
{
	const char *name = trigdata->tg_trigger->tgname;

	return XXH3_64bits(name, strlen(name));
}

static void
forget(int i)
{
	Assert(i >= 0 && i < nmoving);
	memmove(&moving[i], &moving[i + 1], sizeof(Moving) * (--nmoving - i));
}

/* Drop entries of ended transactions. */
static void
forget_transactions(StatementId statement)
{
	if (nmoving > 0 && moving[0].statement.transaction != statement.transaction)
		nmoving = 0;
}

/*
 * True if an entry is out of date once a row is let pass: the statement goes on to
 * another row, or, of many entries, another statement of this depth has ended.
 */
static bool
is_replaced(const Moving *old, const Moving *row)
{
	if (statements_equal(old->statement, row->statement))
		return old->guard == row->guard;
	return nmoving >= MANY_MOVING && old->depth >= row->depth;
}

void
guard_may_move(const TriggerData *trigdata)
{
	Moving		row = {
		.statement = guard_current_statement(),
		.depth = DatumGetInt32(DirectFunctionCall1(pg_trigger_depth, (Datum) 0)),
		.guard = guard_hash(trigdata),
		.relid = RelationGetRelid(trigdata->tg_relation),
		.tid = trigdata->tg_trigtuple->t_self
	};
	MemoryContext caller = MemoryContextSwitchTo(TopMemoryContext);

	Assert(TRIGGER_FIRED_BY_UPDATE(trigdata->tg_event) && ItemPointerIsValid(&row.tid));
	forget_transactions(row.statement);
	for (int i = nmoving - 1; i >= 0; i--)
		if (is_replaced(&moving[i], &row))
			forget(i);
	moving = growing_reserve(moving, &room, nmoving + 1, sizeof(Moving));
	moving[nmoving++] = row;
	MemoryContextSwitchTo(caller);
}

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

/* The partitioned table that all of a partition's rows are of. */
static Oid
topmost(Oid relid)
{
	List	   *ancestors = get_partition_ancestors(relid);
	Oid			top = ancestors == NIL ? relid : llast_oid(ancestors);

	list_free(ancestors);
	return top;
}

/* The row that this guard has let pass last, in a partition of the same table; or NULL. */
static Moving *
awaited(const TriggerData *trigdata)
{
	StatementId statement = guard_current_statement();
	uint64		guard = guard_hash(trigdata);

	if (!trigdata->tg_relation->rd_rel->relispartition)
		return NULL;
	for (int i = nmoving - 1; i >= 0; i--)
		if (statements_equal(moving[i].statement, statement) && moving[i].guard == guard &&
			topmost(moving[i].relid) == topmost(RelationGetRelid(trigdata->tg_relation)))
			return &moving[i];
	return NULL;
}

TupleTableSlot *
guard_former_version(const TriggerData *trigdata, Relation *rel)
{
	Moving	   *row = awaited(trigdata);
	TupleTableSlot *slot = row == NULL ? NULL : left_version(row, rel);

	if (slot != NULL)
		forget(row - moving);
	return slot;
}

bool
guard_has_moved(const TriggerData *trigdata)
{
	Relation	rel;
	TupleTableSlot *slot = guard_former_version(trigdata, &rel);

	if (slot != NULL)
		guard_former_end(rel, slot);
	return slot != NULL;
}
