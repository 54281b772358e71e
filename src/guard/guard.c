/*
 * guard.c
 *		neardup_guard(): a trigger that keeps near-duplicates out of a table.
 *
 * README.md has the protocol, and why some UPDATEs are not checked.
 */
#include "postgres.h"

#include "access/tableam.h"
#include "catalog/pg_trigger.h"
#include "executor/executor.h"
#include "utils/inval.h"
#include "utils/memutils.h"

#include "base/compat.h"
#include "guard/guard.h"

/* The call site */

/* Set how new rows are read; the tables must be known. */
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
	else if (OidIsValid(table->indexid))
	{
		guard->key = guard_index_value(rel, table->indexid, table->keyno,
									   true);
		guard->predicate = guard_predicate(rel, table->indexid, true);
	}
	else
		guard->key = guard_column_value(rel, table->key.attno, true);
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
	guard->measure = arguments.measure;
	guard->threshold = arguments.threshold;
	guard->mode = arguments.mode;
	guard->before = TRIGGER_FOR_BEFORE(trigger->tgtype);
	guard->statement = !TRIGGER_FOR_ROW(trigger->tgtype);
	guard_scope_init(guard, rel, arguments.scope, arguments.nscope);
	if (arguments.condition != NULL)
		guard_parse_condition(guard, rel, trigger, arguments.condition);
	guard_list_tables(guard, parent, rel, trigger);
	prepare_new_rows(guard, rel);
	if (guard->before && TRIGGER_FOR_INSERT(trigger->tgtype))
		guard->unique = guard_list_unique(rel);
	if (guard->mode == GUARD_TAG)
		guard->tag = guard_tag_column(guard, rel, trigger->tgargs[3]);
	Assert(guard->own != NULL && guard->own->relid == RelationGetRelid(rel));
	guard->when = guard_when_inputs(rel, trigger);
	guard->row = CreateStandaloneExprContext();
	guard->candidate = CreateStandaloneExprContext();
	MemoryContextSwitchTo(caller);
	return guard;
}

/*
 * Return the guard of this call site: the guard of the last row, unless the
 * trigger or the partitions changed.
 */
static Guard *
call_site_guard(FmgrInfo *flinfo, Relation rel, const Trigger *trigger)
{
	Guard	   *guard = flinfo->fn_extra;

	if (guard != NULL && guard->partitions != NULL)
		AcceptInvalidationMessages();
	if (guard != NULL && (guard->tgoid != trigger->tgoid ||
						  (guard->partitions != NULL &&
						   guard->partitions->stale)))
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

/*
 * Do with a row what the mode says; match is NULL if it has no near-duplicate.
 * Returns the result of the trigger function.  If that is a new copy, it is in
 * the memory context `caller`.
 */
static HeapTuple
act(Guard *guard, TriggerData *trigdata, const NewRow *row,
	const GuardMatch *match, MemoryContext caller)
{
	bool		update = TRIGGER_FIRED_BY_UPDATE(trigdata->tg_event);
	Relation	rel = trigdata->tg_relation;

	if (guard->before && update && !(match && guard->mode == GUARD_SKIP))
		guard_note_accepted(guard, trigdata);
	switch (guard->mode)
	{
		case GUARD_REJECT:
		case GUARD_WARN:
			if (match != NULL)
				guard_report_match(guard, rel, trigdata->tg_trigger, row->slot,
								   match);
			break;
		case GUARD_SKIP:
			guard_note_skipped(rel, row->slot, match);
			if (match != NULL)
				return NULL;
			break;
		case GUARD_TAG:
			MemoryContextSwitchTo(caller);
			return guard_tag(guard, trigdata, match);
	}
	return update ? trigdata->tg_newtuple : trigdata->tg_trigtuple;
}

/* Check one row, and return the result of the trigger function. */
static HeapTuple
check_row(Guard *guard, TriggerData *trigdata, MemoryContext caller)
{
	bool		update = TRIGGER_FIRED_BY_UPDATE(trigdata->tg_event);
	HeapTuple	tuple = update ? trigdata->tg_newtuple :
	trigdata->tg_trigtuple;
	NewRow		row;
	RowState	state;
	GuardMatch	match;
	bool		found;

	if (guard->mode == GUARD_SKIP && !update && guard_has_moved(trigdata))
		return tuple;
	state = guard_read_new(guard, trigdata, &row);
	if (state == ROW_UNCHANGED)
	{
		guard_note_accepted(guard, trigdata);
		return tuple;
	}
	if (state == ROW_READ)
		guard_require_indexes(guard, &row);
	found = state == ROW_READ &&
		guard_search(guard, trigdata->tg_relation, &row, &match);
	tuple = act(guard, trigdata, &row, found ? &match : NULL, caller);
	if (found)
		ExecClearTuple(match.table->slot);
	ExecClearTuple(guard->slot);
	return tuple;
}

PG_FUNCTION_INFO_V1(neardup_guard);

/* neardup_guard() RETURNS trigger */
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
	guard = call_site_guard(fcinfo->flinfo, trigdata->tg_relation,
							trigdata->tg_trigger);
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
