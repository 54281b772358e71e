/*
 * guard.c
 *		neardup_guard(): a trigger that keeps near-duplicates out of a table.
 *
 * README.md has the protocol, and why an UPDATE that changes nothing that counts
 * is not checked.
 */
#include "postgres.h"

#include "access/tableam.h"
#include "catalog/pg_trigger.h"
#include "executor/executor.h"
#include "utils/inval.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

#include "base/compat.h"
#include "guard/guard.h"

/* The call site */

/* How to read new rows, once the tables are known. */
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
	if (guard->mode == GUARD_TAG)
		guard->tag = guard_tag_column(rel, trigger->tgargs[3]);
	guard_scope_init(guard, rel, arguments.scope, arguments.nscope);
	guard_list_tables(guard, parent, rel, trigger);
	prepare_new_rows(guard, rel);
	if (guard->mode == GUARD_TAG)
		guard_require_tag_apart(guard, rel);
	Assert(guard->own != NULL && guard->own->relid == RelationGetRelid(rel));
	guard->condition = guard_condition(rel, trigger);
	guard->row = CreateStandaloneExprContext();
	guard->candidate = CreateStandaloneExprContext();
	MemoryContextSwitchTo(caller);
	return guard;
}

/* True if the guard will do for a trigger as it is. */
static bool
is_current(const Guard *guard, const Trigger *trigger)
{
	return guard->tgoid == trigger->tgoid &&
		!(guard->partitions != NULL && guard->partitions->stale);
}

/* The guard of this call site, as it was for the last row if that will do. */
static Guard *
call_site_guard(FmgrInfo *flinfo, Relation rel, const Trigger *trigger)
{
	Guard	   *guard = flinfo->fn_extra;

	if (guard != NULL && guard->partitions != NULL)
		AcceptInvalidationMessages();
	if (guard != NULL && !is_current(guard, trigger))
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

/* One row */

/* Look for a near-duplicate of the row of a BEFORE trigger. */
static bool
search_before(Guard *guard, TriggerData *trigdata, TupleTableSlot *row, GuardMatch *match)
{
	bool		update = TRIGGER_FIRED_BY_UPDATE(trigdata->tg_event);
	Signature  *sig = guard_new_signature(guard, row);

	return sig != NULL &&
		guard_search(guard, trigdata->tg_relation, sig,
					 update ? &trigdata->tg_trigtuple->t_self : NULL, match);
}

/* The same of an AFTER trigger; the live version stays in guard->slot. */
static bool
search_after(Guard *guard, TriggerData *trigdata, TupleTableSlot *row, GuardMatch *match)
{
	ItemPointerData tid = row->tts_tid;
	Signature  *sig;

	row = guard_live_version(guard, trigdata->tg_relation, &tid);
	if (row == NULL)
		return false;
	sig = guard_new_signature(guard, row);
	return sig != NULL &&
		guard_search(guard, trigdata->tg_relation, sig, &tid, match);
}

/* A row that a BEFORE UPDATE trigger lets pass may be about to move. */
static void
let_pass(Guard *guard, TriggerData *trigdata)
{
	if (trigdata->tg_relation->rd_rel->relispartition &&
		(guard->mode == GUARD_SKIP || guard->mode == GUARD_TAG))
		guard_may_move(trigdata);
}

/* Tag a row: see guard_tag(). */
static HeapTuple
tag_row(Guard *guard, TriggerData *trigdata, HeapTuple tuple,
		TupleTableSlot *row, const GuardMatch *match)
{
	Relation	rel = trigdata->tg_relation;
	Relation	former_rel = NULL;
	TupleTableSlot *former = NULL;

	if (TRIGGER_FIRED_BY_UPDATE(trigdata->tg_event))
		return guard_tag(guard, rel, tuple, row, rel, trigdata->tg_trigslot, match);
	former = guard_former_version(trigdata, &former_rel);
	tuple = guard_tag(guard, rel, tuple, row, former_rel, former, match);
	if (former != NULL)
		guard_former_end(former_rel, former);
	return tuple;
}

/* True if an UPDATE has changed nothing that the guard looks at. */
static bool
is_unchanged(Guard *guard, TriggerData *trigdata, TupleTableSlot *row)
{
	return guard_signature_unchanged(guard, trigdata->tg_trigslot, row) &&
		(guard->condition.inputs == NULL ||
		 guard_value_unchanged(&guard->condition, trigdata->tg_trigslot, row));
}

/*
 * True if there is nothing to check: an UPDATE has changed nothing that counts, or
 * the row inserted is one that the guard has let pass to another partition.
 */
static bool
is_checked_already(Guard *guard, TriggerData *trigdata, TupleTableSlot *row)
{
	if (!TRIGGER_FIRED_BY_UPDATE(trigdata->tg_event))
		return guard->mode == GUARD_SKIP && guard_has_moved(trigdata);
	if (!is_unchanged(guard, trigdata, row))
		return false;
	let_pass(guard, trigdata);
	return true;
}

/*
 * Check the row of a BEFORE trigger.  Returns the row to store, in caller's memory
 * context if it is not the one that came; NULL if it is skipped.
 */
static HeapTuple
check_before(Guard *guard, TriggerData *trigdata, HeapTuple tuple,
			 TupleTableSlot *row, MemoryContext caller)
{
	bool		update = TRIGGER_FIRED_BY_UPDATE(trigdata->tg_event);
	Relation	rel = trigdata->tg_relation;
	GuardMatch	match;
	bool		found;

	Assert(guard->mode != GUARD_REJECT);
	if (guard->mode == GUARD_SKIP)
		guard_skipped_begin();
	found = search_before(guard, trigdata, row, &match);
	if (found && guard->mode == GUARD_SKIP)
	{
		guard_skipped_note(rel, row, &match);
		tuple = NULL;
	}
	else if (update)
		let_pass(guard, trigdata);
	if (found && guard->mode == GUARD_WARN)
		guard_report(guard, rel, trigdata->tg_trigger,
					 guard_describe(guard, rel, row, &match));
	if (guard->mode == GUARD_TAG)
	{
		MemoryContextSwitchTo(caller);
		tuple = tag_row(guard, trigdata, tuple, row, found ? &match : NULL);
	}
	if (found)
		ExecClearTuple(match.table->slot);
	return tuple;
}

/* Check the row of an AFTER trigger. */
static void
check_after(Guard *guard, TriggerData *trigdata, TupleTableSlot *row)
{
	Relation	rel = trigdata->tg_relation;
	GuardMatch	match;

	Assert(guard->mode == GUARD_REJECT || guard->mode == GUARD_WARN);
	if (search_after(guard, trigdata, row, &match))
	{
		guard_report(guard, rel, trigdata->tg_trigger,
					 guard_describe(guard, rel, guard->slot, &match));
		ExecClearTuple(match.table->slot);
	}
	ExecClearTuple(guard->slot);
}

/* Check one row.  Returns what a trigger function returns. */
static HeapTuple
check_row(Guard *guard, TriggerData *trigdata, MemoryContext caller)
{
	bool		update = TRIGGER_FIRED_BY_UPDATE(trigdata->tg_event);
	HeapTuple	tuple = update ? trigdata->tg_newtuple : trigdata->tg_trigtuple;
	TupleTableSlot *row = update ? trigdata->tg_newslot : trigdata->tg_trigslot;

	/* generation expressions may name it */
	row->tts_tableOid = RelationGetRelid(trigdata->tg_relation);
	if (is_checked_already(guard, trigdata, row))
		return tuple;
	if (guard->before)
		return check_before(guard, trigdata, tuple, row, caller);
	check_after(guard, trigdata, row);
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
