/*
 * guard.c
 *		neardup_guard(): a trigger that keeps near-duplicates out of a table.
 *
 * As a constraint trigger it holds under concurrency: see guard_search.c.  As
 * a BEFORE trigger it runs while the row is not in the table yet; of two
 * transactions that insert near-duplicates at the same moment neither may see
 * the other, so that a constraint trigger is wanted besides.
 *
 * An UPDATE that leaves the signature's bytes and the scope alone is not checked.  This
 * cannot let a near-duplicate through: the version before was checked, or is
 * going to be.  It may not have been where the trigger has a WHEN, so what that looks at
 * has to be as it was, too.  For a deferred check finds the row by the version that it was
 * queued for, and follows it to the version that is there by then; without
 * that, a later UPDATE of another column would hide the row from the check.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/guard/guard.c
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/table.h"
#include "access/tableam.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_trigger.h"
#include "commands/trigger.h"
#include "executor/executor.h"
#include "utils/builtins.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

#include "base/compat.h"
#include "base/same_value.h"
#include "guard/guard.h"

static AttrNumber
parse_tag(Relation rel, const char *column)
{
	AttrNumber	attno = get_attnum(RelationGetRelid(rel), column);

	if (attno <= 0)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_COLUMN),
				 errmsg("table \"%s\" has no column \"%s\" to tag rows in",
						RelationGetRelationName(rel), column),
				 errhint("The fourth argument of neardup_guard is a column for the other row's primary key."),
				 errtable(rel)));
	guard_check_tag(rel, attno);
	return attno;
}

/* When it fires */

/*
 * Raises an error unless the trigger fires when neardup_guard can do its
 * work; judged by the trigger's definition, so that a DELETE trigger is found
 * out by the first INSERT.
 */
static void
check_timing(Relation rel, const Trigger *trigger, GuardMode mode)
{
	int16		type = trigger->tgtype;
	bool		before = TRIGGER_FOR_BEFORE(type);

	if (TRIGGER_FOR_INSTEAD(type) ||
		TRIGGER_FOR_DELETE(type) || TRIGGER_FOR_TRUNCATE(type))
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("trigger \"%s\" must be fired BEFORE or AFTER, for each row, by INSERT or UPDATE only",
						trigger->tgname),
				 errhint("Use CREATE CONSTRAINT TRIGGER ... AFTER INSERT OR UPDATE ON ... FOR EACH ROW EXECUTE FUNCTION neardup_guard(...).")));
	if (mode == GUARD_REJECT && before)
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("trigger \"%s\" must be fired AFTER, as neardup_guard's mode is reject",
						trigger->tgname),
				 errdetail("A row that is not in the table yet cannot be seen by others that are being inserted."),
				 errhint("Use CREATE CONSTRAINT TRIGGER ... AFTER INSERT OR UPDATE, or mode skip, tag or warn.")));
	if ((mode == GUARD_SKIP || mode == GUARD_TAG) && !before)
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("trigger \"%s\" must be fired BEFORE, as neardup_guard's mode is %s",
						trigger->tgname, mode == GUARD_SKIP ? "skip" : "tag"),
				 errdetail("A row that is in the table already cannot be dropped or changed."),
				 errhint("Use CREATE TRIGGER ... BEFORE INSERT, or mode reject or warn.")));
	if (mode == GUARD_SKIP && rel->rd_rel->relispartition &&
		!(TRIGGER_FOR_INSERT(type) && TRIGGER_FOR_UPDATE(type) && trigger->tgnattr == 0))
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("trigger \"%s\" must be fired BEFORE INSERT OR UPDATE, of any column, as neardup_guard's mode is skip and table \"%s\" is a partition",
						trigger->tgname, RelationGetRelationName(rel)),
				 errdetail("An UPDATE that moves a row to another partition deletes it in the one and inserts it in the other: to skip it there would lose it."),
				 errhint("Use CREATE TRIGGER ... BEFORE INSERT OR UPDATE, or mode tag or warn."),
				 errtable(rel)));
}

/* True if other tables, which are no partitions, inherit from the table. */
static bool
has_heirs(Relation rel)
{
	return rel->rd_rel->relhassubclass &&
		find_inheritance_children(RelationGetRelid(rel), NoLock) != NIL;
}

/* The same of a trigger that fires for each statement. */
static void
check_statement_timing(Relation rel, const Trigger *trigger, GuardMode mode)
{
	int16		type = trigger->tgtype;
	bool		update = TRIGGER_FOR_UPDATE(type);

	if (!TRIGGER_FOR_AFTER(type) || trigger->tgnewtable == NULL ||
		(update && trigger->tgoldtable == NULL))
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("trigger \"%s\", which fires for each statement, must be fired AFTER, with transition tables, by INSERT or UPDATE only",
						trigger->tgname),
				 update ?
				 errhint("Use CREATE TRIGGER ... AFTER UPDATE ON ... REFERENCING OLD TABLE AS before NEW TABLE AS after FOR EACH STATEMENT EXECUTE FUNCTION neardup_guard(...).") :
				 errhint("Use CREATE TRIGGER ... AFTER INSERT ON ... REFERENCING NEW TABLE AS after FOR EACH STATEMENT EXECUTE FUNCTION neardup_guard(...), and another one for UPDATE.")));
	if (mode == GUARD_SKIP || mode == GUARD_TAG)
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("trigger \"%s\" must be fired FOR EACH ROW, as neardup_guard's mode is %s",
						trigger->tgname, mode == GUARD_SKIP ? "skip" : "tag"),
				 errdetail("Rows that are in the table already cannot be dropped or changed."),
				 errhint("Use CREATE TRIGGER ... BEFORE INSERT ... FOR EACH ROW, or mode reject or warn.")));
	if (rel->rd_rel->relkind == RELKIND_PARTITIONED_TABLE ||
		rel->rd_rel->relispartition)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("neardup_guard cannot check the statements of table \"%s\"",
						RelationGetRelationName(rel)),
				 errdetail("A statement on another table of the partitioning would not fire the trigger."),
				 errhint("Use CREATE CONSTRAINT TRIGGER ... AFTER INSERT OR UPDATE ON ... FOR EACH ROW EXECUTE FUNCTION neardup_guard(...)."),
				 errtable(rel)));
	if (update && has_heirs(rel))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("neardup_guard cannot check the UPDATEs of table \"%s\", as other tables inherit from it",
						RelationGetRelationName(rel)),
				 errdetail("The trigger is given their rows, too, without being told so."),
				 errhint("Use CREATE CONSTRAINT TRIGGER ... AFTER UPDATE ON ... FOR EACH ROW EXECUTE FUNCTION neardup_guard(...)."),
				 errtable(rel)));
}

/* The call site */

/* Copies names, as a trigger's arguments may be freed between two rows. */
static char **
copy_names(char **names, int n)
{
	char	  **copies = palloc(n * sizeof(char *));

	for (int i = 0; i < n; i++)
		copies[i] = pstrdup(names[i]);
	return copies;
}

/* How to read new rows, once the tables are known. */
static void
prepare_new_rows(Guard *guard, Relation rel)
{
	GuardTable *table = guard->own;

	if (!guard->before)
	{
		guard->key = table->key;
		guard->predicate = table->predicate;
	}
	else
	{
		guard->key = guard_key(rel, table->indexid, table->keyno, true);
		guard->predicate = guard_predicate(rel, table->indexid, true);
	}
	guard->columns = guard_scope_columns(guard, rel, guard->before);
	guard->slot = compat_make_slot(table->slot->tts_tupleDescriptor,
									 &TTSOpsBufferHeapTuple);
}

/*
 * What a tag would change besides: the end of "the tag column is", or NULL.  An index's
 * predicate is judged with the tag that a row has before it gets another one.
 */
static const char *
tag_is_also(const Guard *guard)
{
	int			tag = guard->tag - FirstLowInvalidHeapAttributeNumber;

	if (bms_is_member(tag, guard->key.inputs))
		return "what its signatures are made from";
	if (bms_is_member(tag, guard->predicate.inputs))
		return "in the predicate of the guard's index";
	for (int i = 0; i < guard->nscope; i++)
		if (bms_is_member(tag, guard->columns[i].inputs))
			return "in the guard's scope";
	return NULL;
}

/* Raises an error if a tag would change anything else. */
static void
require_tag_apart(const Guard *guard, Relation rel)
{
	const char *also = tag_is_also(guard);

	if (also == NULL)
		return;
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("tag column \"%s\" of table \"%s\" is %s",
					get_attname(RelationGetRelid(rel), guard->tag, false),
					RelationGetRelationName(rel), also),
			 errhint("The fourth argument of neardup_guard is a column of its own, which takes the other row's primary key."),
			 errtablecol(rel, guard->tag)));
}

/* See guard.h */
Guard *
guard_create(MemoryContext parent, Relation rel, const Trigger *trigger)
{
	MemoryContext memory = AllocSetContextCreate(parent, "neardup guard",
												 ALLOCSET_SMALL_SIZES);
	MemoryContext caller = MemoryContextSwitchTo(memory);
	Guard	   *guard = palloc0(sizeof(Guard));
	GuardArguments arguments = guard_arguments(trigger);

	guard->memory = memory;
	guard->statement_memory = parent;
	guard->tgoid = trigger->tgoid;
	guard->threshold = arguments.threshold;
	guard->mode = arguments.mode;
	guard->before = TRIGGER_FOR_BEFORE(trigger->tgtype);
	guard->statement = !TRIGGER_FOR_ROW(trigger->tgtype);
	if (guard->statement)
		check_statement_timing(rel, trigger, guard->mode);
	else
		check_timing(rel, trigger, guard->mode);
	if (guard->mode == GUARD_TAG)
		guard->tag = parse_tag(rel, trigger->tgargs[3]);
	guard_scope_init(guard, rel,
					 copy_names(arguments.scope, arguments.nscope),
					 arguments.nscope);
	guard_list_tables(guard, parent, rel, trigger);
	prepare_new_rows(guard, rel);
	if (guard->mode == GUARD_TAG)
		require_tag_apart(guard, rel);
	guard->condition = guard_condition(rel, trigger);
	guard->row = CreateStandaloneExprContext();
	guard->candidate = CreateStandaloneExprContext();
	MemoryContextSwitchTo(caller);
	return guard;
}

/* See guard.h */
void
guard_delete(Guard *guard)
{
	if (guard->partitions != NULL)
		guard_release_partitions(guard->partitions);
	MemoryContextDelete(guard->memory);
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
		guard_delete(guard);
		guard = NULL;
	}
	if (guard == NULL)
	{
		guard = guard_create(flinfo->fn_mcxt, rel, trigger);
		if (guard->before)
			guard_follow_statement(flinfo->fn_mcxt);
		flinfo->fn_extra = guard;
	}
	return guard;
}

/* One row */

/* See guard.h */
Signature *
guard_new_signature(Guard *guard, TupleTableSlot *row)
{
	bool		isnull;
	Datum		value;
	Signature  *sig;

	if (!guard_scope_enter(guard, row))
		return NULL;
	value = guard_key_value(&guard->key, row, guard->row, &isnull);
	if (isnull)
		return NULL;
	sig = DatumGetSignature(value);
	return SIGNATURE_NVALUES(sig) > 0 ? sig : NULL;
}

/* See guard.h */
bool
guard_signature_unchanged(Guard *guard, TupleTableSlot *before,
						  TupleTableSlot *after)
{
	Datum		old;
	Datum		new;
	bool		old_null;
	bool		new_null;

	if (!guard_scope_unchanged(guard, before, after))
		return false;
	if (guard_key_unchanged(&guard->key, before, after))
		return true;
	old = guard_key_value(&guard->own->key, before, guard->row,
						  &old_null);
	new = guard_key_value(&guard->key, after, guard->row, &new_null);
	if (old_null || new_null)
		return old_null && new_null;
	return same_value(old, new, false, -1);
}

/*
 * The live version of the row that was queued for a check: itself, or what
 * this transaction has made of it since, in guard->slot; its place goes to
 * *tid.  NULL if the row is gone.
 */
static TupleTableSlot *
live_version(Guard *guard, Relation rel, ItemPointer tid)
{
	TableScanDesc scan;

	if (table_tuple_fetch_row_version(rel, tid, SnapshotSelf, guard->slot))
		return guard->slot;
	scan = table_beginscan_tid(rel, SnapshotSelf);
	table_tuple_get_latest_tid(scan, tid);
	table_endscan(scan);
	if (table_tuple_fetch_row_version(rel, tid, SnapshotSelf, guard->slot))
		return guard->slot;
	return NULL;
}

/* Looks for a near-duplicate of the row of a BEFORE trigger. */
static bool
search_before(Guard *guard, TriggerData *trigdata, TupleTableSlot *row,
			  GuardMatch *match)
{
	bool		update = TRIGGER_FIRED_BY_UPDATE(trigdata->tg_event);
	Signature  *sig = guard_new_signature(guard, row);

	return sig != NULL &&
		guard_search(guard, trigdata->tg_relation, sig,
					 update ? &trigdata->tg_trigtuple->t_self : NULL, match);
}

/* Likewise of an AFTER trigger; the live version stays in guard->slot. */
static bool
search_after(Guard *guard, TriggerData *trigdata, TupleTableSlot *row,
			 GuardMatch *match)
{
	ItemPointerData tid = row->tts_tid;
	Signature  *sig;

	row = live_version(guard, trigdata->tg_relation, &tid);
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
		guard_may_move(trigdata, guard->statement_memory);
}

/* Tags a row: see guard_tag(). */
static HeapTuple
tag_row(Guard *guard, TriggerData *trigdata, HeapTuple tuple,
		TupleTableSlot *row, const GuardMatch *match)
{
	Relation	rel = trigdata->tg_relation;
	Relation	former_rel = NULL;
	TupleTableSlot *former = NULL;

	if (TRIGGER_FIRED_BY_UPDATE(trigdata->tg_event))
		return guard_tag(guard, rel, tuple, row, rel, trigdata->tg_trigslot,
						 match);
	former = guard_former_version(trigdata, guard->statement_memory, &former_rel);
	tuple = guard_tag(guard, rel, tuple, row, former_rel, former, match);
	if (former != NULL)
		guard_former_end(former_rel, former);
	return tuple;
}

/*
 * True if there is nothing to check: an UPDATE has changed nothing that counts, or
 * what is inserted is a row that the guard has let pass to another partition.
 */
static bool
is_checked_already(Guard *guard, TriggerData *trigdata, TupleTableSlot *row)
{
	if (!TRIGGER_FIRED_BY_UPDATE(trigdata->tg_event))
		return guard->mode == GUARD_SKIP &&
			guard_has_moved(trigdata, guard->statement_memory);
	if (!guard_signature_unchanged(guard, trigdata->tg_trigslot, row) ||
		(guard->condition.inputs != NULL &&
		 !guard_key_unchanged(&guard->condition, trigdata->tg_trigslot, row)))
		return false;
	let_pass(guard, trigdata);
	return true;
}

/*
 * Checks one row.  Returns what a trigger function returns: the row to store,
 * in caller's memory context if it is not the one that came, or NULL.
 */
static HeapTuple
check_row(Guard *guard, TriggerData *trigdata, FmgrInfo *flinfo,
		  MemoryContext caller)
{
	bool		update = TRIGGER_FIRED_BY_UPDATE(trigdata->tg_event);
	HeapTuple	tuple = update ? trigdata->tg_newtuple : trigdata->tg_trigtuple;
	TupleTableSlot *row = update ? trigdata->tg_newslot : trigdata->tg_trigslot;
	GuardMatch	match;
	bool		found;

	/* as where generated columns are computed: they may name it */
	row->tts_tableOid = RelationGetRelid(trigdata->tg_relation);
	if (is_checked_already(guard, trigdata, row))
		return tuple;
	if (guard->mode == GUARD_SKIP)
		guard_skipped_begin(guard->statement_memory);
	found = guard->before ?
		search_before(guard, trigdata, row, &match) :
		search_after(guard, trigdata, row, &match);
	if (found)
		guard_count(flinfo, guard->mode, 1);
	if (guard->mode == GUARD_TAG)
	{
		if (update)
			let_pass(guard, trigdata);
		MemoryContextSwitchTo(caller);
		tuple = tag_row(guard, trigdata, tuple, row, found ? &match : NULL);
	}
	else if (found && guard->mode == GUARD_SKIP)
	{
		guard_skipped_note(trigdata->tg_relation, row, &match);
		tuple = NULL;
	}
	else if (update && guard->mode == GUARD_SKIP)
		let_pass(guard, trigdata);
	else if (found)
		guard_report(guard, trigdata->tg_relation, trigdata->tg_trigger,
					 guard_describe(guard, trigdata->tg_relation,
									guard->before ? row : guard->slot,
									&match));
	ExecClearTuple(guard->slot);
	if (found)
		ExecClearTuple(match.table->slot);
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
	guard = call_site_guard(fcinfo->flinfo, trigdata->tg_relation,
							trigdata->tg_trigger);
	caller = MemoryContextSwitchTo(guard->row->ecxt_per_tuple_memory);
	if (guard->statement)
	{
		guard_check_statement(guard, trigdata, fcinfo->flinfo);
		result = NULL;
	}
	else
		result = check_row(guard, trigdata, fcinfo->flinfo, caller);
	MemoryContextSwitchTo(caller);
	ResetExprContext(guard->row);
	PG_RETURN_POINTER(result);
}
