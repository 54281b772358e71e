/*
 * guard.c
 *		neardup_guard(): a trigger that keeps near-duplicates out of a table.
 *
 * README.md has the protocol, and why some UPDATEs are not checked.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/relation.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/partition.h"
#include "catalog/pg_trigger.h"
#include "executor/executor.h"
#include "storage/bufmgr.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/inval.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

#include "base/compat.h"
#include "base/memory.h"
#include "guard/guard.h"

/* The call site */

/* Set how new rows are read, once the tables are known. */
static void
prepare_new_rows(Guard *guard, Relation rel)
{
	GuardTable *table = guard->own;

	Assert(table->slot != NULL);
	if (!guard->before)
	{
		guard->key = table->key;
		guard->predicate = table->predicate;
	}
	else
	{
		guard->key = guard_index_value(rel, table->indexid, table->keyno, true);
		guard->predicate = guard_predicate(rel, table->indexid, true);
	}
	guard->columns = guard_scope_columns(guard, rel, guard->before);
	guard->slot = compat_make_slot(table->slot->tts_tupleDescriptor,
								   &TTSOpsBufferHeapTuple);
}

Guard *
guard_create(MemoryContext parent, Relation rel, const Trigger *trigger)
{
	MemoryContext memory = AllocSetContextCreate(parent, "neardup guard",
												 ALLOCSET_SMALL_SIZES);
	MemoryContext caller = MemoryContextSwitchTo(memory);
	Guard	   *guard = palloc0(sizeof(Guard));
	GuardArguments arguments = guard_definition(rel, trigger);

	guard->memory = memory;
	guard->tgoid = trigger->tgoid;
	guard->threshold = arguments.threshold;
	guard->mode = arguments.mode;
	guard->before = TRIGGER_FOR_BEFORE(trigger->tgtype);
	guard->statement = !TRIGGER_FOR_ROW(trigger->tgtype);
	guard_scope_init(guard, rel, arguments.scope, arguments.nscope);
	guard_list_tables(guard, parent, rel, trigger);
	prepare_new_rows(guard, rel);
	if (guard->mode == GUARD_TAG)
		guard->tag = guard_tag_column(guard, rel, trigger->tgargs[3]);
	Assert(guard->own != NULL && guard->own->relid == RelationGetRelid(rel));
	guard->condition = guard_condition(rel, trigger);
	guard->row = CreateStandaloneExprContext();
	guard->candidate = CreateStandaloneExprContext();
	MemoryContextSwitchTo(caller);
	return guard;
}

/* Return the guard of this call site, that of the last row unless partitions changed. */
static Guard *
call_site_guard(FmgrInfo *flinfo, Relation rel, const Trigger *trigger)
{
	Guard	   *guard = flinfo->fn_extra;

	if (guard != NULL && guard->partitions != NULL)
		AcceptInvalidationMessages();
	if (guard != NULL && (guard->tgoid != trigger->tgoid ||
						  (guard->partitions != NULL && guard->partitions->stale)))
	{
		flinfo->fn_extra = NULL;
		MemoryContextDelete(guard->memory);
		guard = NULL;
	}
	if (guard == NULL)
	{
		guard = guard_create(flinfo->fn_mcxt, rel, trigger);
		flinfo->fn_extra = guard;
	}
	return guard;
}

/*
 * Rows that an UPDATE moves to another partition
 *
 * PostgreSQL fires the BEFORE UPDATE triggers of the partition that a row is in, deletes
 * the row there, and fires the BEFORE INSERT triggers of the partition that it goes to.
 * To skip it then would lose it.  So a row that a guard in mode skip has accepted as an
 * UPDATE is not checked again as the INSERT that follows.  It is recognized by the
 * statement, which processes one row after the other, and by the deleted version, which
 * is marked as moved.  Statements of other triggers may run in between.
 *
 * (If another BEFORE INSERT trigger drops a moved row, the guard mistakes the next row
 * that the same MERGE, or another part of WITH, inserts for the moved one.)
 *
 * In mode tag the row is checked again.  Its own former key must not become its tag,
 * though other rows of its group have that tag.  So its former version is looked up.
 */

/* A row that a guard has accepted as an UPDATE */
typedef struct Moving
{
	StatementId statement;		/* that updates it */
	int			depth;			/* of triggers that run the statement */
	NameData	guard;			/* the trigger's name, the same in all
								 * partitions */
	Oid			relid;
	ItemPointerData tid;
} Moving;

/* The last row of each guard, of the running statements */
static Moving *moving;
static size_t room;
static int	nmoving;

/* True if an older entry may still be needed: statements of deeper triggers have ended. */
static bool
is_awaited(const Moving *old, const Moving *row)
{
	if (old->statement.transaction != row->statement.transaction)
		return false;
	return old->depth < row->depth ||
		(statements_equal(old->statement, row->statement) &&
		 strcmp(NameStr(old->guard), NameStr(row->guard)) != 0);
}

/* Note a row that a BEFORE UPDATE trigger accepts. */
static void
note_accepted(const Guard *guard, const TriggerData *trigdata)
{
	Moving		row = {
		.statement = guard_current_statement(),
		.depth = DatumGetInt32(DirectFunctionCall1(pg_trigger_depth, (Datum) 0)),
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

/* Return the row that this guard accepted last in a partition of the same table, or NULL. */
static Moving *
find_moving(const TriggerData *trigdata)
{
	StatementId statement = guard_current_statement();

	for (int i = nmoving - 1; i >= 0; i--)
		if (statements_equal(moving[i].statement, statement) &&
			strcmp(NameStr(moving[i].guard), trigdata->tg_trigger->tgname) == 0 &&
			topmost(moving[i].relid) == topmost(RelationGetRelid(trigdata->tg_relation)))
			return &moving[i];
	return NULL;
}

/* True if this transaction has moved the version in the slot to another partition. */
static bool
is_moved(TupleTableSlot *slot)
{
	HeapTupleHeader tuple = ExecFetchSlotHeapTuple(slot, false, NULL)->t_data;

	return HeapTupleHeaderIndicatesMovedPartitions(tuple) &&
		TransactionIdIsCurrentTransactionId(HeapTupleHeaderGetUpdateXid(tuple));
}

static void
close_former(Relation rel, TupleTableSlot *former)
{
	ExecDropSingleTupleTableSlot(former);
	relation_close(rel, AccessShareLock);
}

/*
 * Return the former version, in another partition, of the row of a BEFORE INSERT trigger;
 * NULL if it has not moved.  The caller calls close_former().
 */
static TupleTableSlot *
open_former(const TriggerData *trigdata, Relation *rel)
{
	Moving	   *row = trigdata->tg_relation->rd_rel->relispartition ?
	find_moving(trigdata) : NULL;
	TupleTableSlot *slot;

	*rel = row == NULL ? NULL : try_relation_open(row->relid, AccessShareLock);
	if (*rel == NULL)
		return NULL;
	slot = table_slot_create(*rel, NULL);
	/* the table may have been truncated since */
	if (ItemPointerGetBlockNumber(&row->tid) >= RelationGetNumberOfBlocks(*rel) ||
		!table_tuple_fetch_row_version(*rel, &row->tid, SnapshotAny, slot) || !is_moved(slot))
	{
		close_former(*rel, slot);
		return NULL;
	}
	/* a row arrives once */
	*row = moving[--nmoving];
	return slot;
}

/* True if the row of a BEFORE INSERT trigger has moved. */
static bool
has_moved(const TriggerData *trigdata)
{
	Relation	rel;
	TupleTableSlot *former = open_former(trigdata, &rel);

	if (former != NULL)
		close_former(rel, former);
	return former != NULL;
}

/* One row */

/* Tag a row. */
static HeapTuple
tag_row(Guard *guard, TriggerData *trigdata, HeapTuple tuple,
		TupleTableSlot *row, const GuardMatch *match)
{
	Relation	rel = trigdata->tg_relation;
	Relation	former_rel;
	TupleTableSlot *former;

	if (TRIGGER_FIRED_BY_UPDATE(trigdata->tg_event))
		return guard_tag(guard, rel, tuple, row, rel, trigdata->tg_trigslot, match);
	former = open_former(trigdata, &former_rel);
	tuple = guard_tag(guard, rel, tuple, row, former_rel, former, match);
	if (former != NULL)
		close_former(former_rel, former);
	return tuple;
}

/* True if an UPDATE has changed nothing that the guard reads. */
static bool
is_unchanged(Guard *guard, TriggerData *trigdata, TupleTableSlot *row)
{
	return guard_signature_unchanged(guard, trigdata->tg_trigslot, row) &&
		(guard->condition.inputs == NULL ||
		 guard_value_unchanged(&guard->condition, trigdata->tg_trigslot, row));
}

/*
 * Check the row of a BEFORE trigger.  Returns the row to store, in the memory
 * context `caller` if it is a new copy; NULL if the row is skipped.
 */
static HeapTuple
check_before(Guard *guard, TriggerData *trigdata, HeapTuple tuple,
			 TupleTableSlot *row, MemoryContext caller)
{
	bool		update = TRIGGER_FIRED_BY_UPDATE(trigdata->tg_event);
	Relation	rel = trigdata->tg_relation;
	Signature  *sig = guard_new_signature(guard, row);
	GuardMatch	match;
	bool		found = sig != NULL &&
	guard_search(guard, rel, sig, update ? &trigdata->tg_trigtuple->t_self : NULL, &match);

	Assert(guard->mode != GUARD_REJECT);
	if (update && !(found && guard->mode == GUARD_SKIP))
		note_accepted(guard, trigdata);
	if (guard->mode == GUARD_SKIP)
		guard_note_skipped(rel, row, found ? &match : NULL);
	if (found && guard->mode == GUARD_SKIP)
		tuple = NULL;
	else if (found && guard->mode == GUARD_WARN)
		guard_report(guard, rel, trigdata->tg_trigger,
					 guard_describe(guard, rel, row, &match));
	else if (guard->mode == GUARD_TAG)
	{
		MemoryContextSwitchTo(caller);
		tuple = tag_row(guard, trigdata, tuple, row, found ? &match : NULL);
	}
	if (found)
		ExecClearTuple(match.table->slot);
	return tuple;
}

/* Check the row of an AFTER trigger, in its live version. */
static void
check_after(Guard *guard, TriggerData *trigdata, TupleTableSlot *row)
{
	Relation	rel = trigdata->tg_relation;
	ItemPointerData tid = row->tts_tid;
	Signature  *sig;
	GuardMatch	match;

	Assert(guard->mode == GUARD_REJECT || guard->mode == GUARD_WARN);
	row = guard_live_version(guard, rel, &tid);
	sig = row == NULL ? NULL : guard_new_signature(guard, row);
	if (sig != NULL && guard_search(guard, rel, sig, &tid, &match))
	{
		guard_report(guard, rel, trigdata->tg_trigger,
					 guard_describe(guard, rel, row, &match));
		ExecClearTuple(match.table->slot);
	}
	ExecClearTuple(guard->slot);
}

/* Check one row; return the result of the trigger function. */
static HeapTuple
check_row(Guard *guard, TriggerData *trigdata, MemoryContext caller)
{
	bool		update = TRIGGER_FIRED_BY_UPDATE(trigdata->tg_event);
	HeapTuple	tuple = update ? trigdata->tg_newtuple : trigdata->tg_trigtuple;
	TupleTableSlot *row = update ? trigdata->tg_newslot : trigdata->tg_trigslot;

	/* generation expressions may name it */
	row->tts_tableOid = RelationGetRelid(trigdata->tg_relation);
	if (update && is_unchanged(guard, trigdata, row))
		note_accepted(guard, trigdata);
	else if (!guard->before)
		check_after(guard, trigdata, row);
	else if (update || guard->mode != GUARD_SKIP || !has_moved(trigdata))
		tuple = check_before(guard, trigdata, tuple, row, caller);
	return tuple;
}

PG_FUNCTION_INFO_V1(neardup_guard);
Datum
neardup_guard(PG_FUNCTION_ARGS)
{
	TriggerData *trigdata = (TriggerData *) fcinfo->context;
	MemoryContext caller;
	Guard	   *guard;
	HeapTuple	result;

	if (!CALLED_AS_TRIGGER(fcinfo))
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("neardup_guard was not called as a trigger"),
				 errhint("Use CREATE CONSTRAINT TRIGGER ... AFTER INSERT OR UPDATE ON ... FOR EACH ROW EXECUTE FUNCTION neardup_guard(...).")));
	guard = call_site_guard(fcinfo->flinfo, trigdata->tg_relation, trigdata->tg_trigger);
	caller = MemoryContextSwitchTo(guard->row->ecxt_per_tuple_memory);
	if (guard->statement)
	{
		guard_check_statement(guard, trigdata);
		result = NULL;
	}
	else
		result = check_row(guard, trigdata, caller);
	MemoryContextSwitchTo(caller);
	ResetExprContext(guard->row);
	PG_RETURN_POINTER(result);
}
