/*
 * guard.c
 *		neardup_guard(): a trigger that keeps near-duplicates out of a table.
 *
 * As a constraint trigger it holds under concurrency: see guard_search.c.  As
 * a BEFORE trigger it runs while the row is not in the table yet; of two
 * transactions that insert near-duplicates at the same moment neither may see
 * the other, so that a constraint trigger is wanted besides.
 *
 * An UPDATE that leaves the signature's bytes alone is not checked.  This
 * cannot let a near-duplicate through: the version before was checked, or is
 * going to be.  For a deferred check finds the row by the version that it was
 * queued for, and follows it to the version that is there by then; without
 * that, a later UPDATE of another column would hide the row from the check.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/guard.c
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/table.h"
#include "access/tableam.h"
#include "catalog/pg_trigger.h"
#include "commands/trigger.h"
#include "executor/executor.h"
#include "utils/builtins.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

#include "compat.h"
#include "guard.h"

#define USAGE_HINT \
	"Use neardup_guard('signature column or index', 'threshold' [, 'reject|skip|tag|warn' [, 'tag column']])."

/* Arguments */

/* A decimal number greater than 0 and at most 1, and nothing but that. */
static double
parse_threshold(const char *text)
{
	double		threshold;
	char	   *end;

	threshold = strtod(text, &end);
	if (text[0] == '\0' || text[strspn(text, "0123456789.eE+-")] != '\0' ||
		*end != '\0' || !(threshold > 0 && threshold <= 1))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid threshold of neardup_guard: \"%s\"", text),
				 errdetail("A threshold is greater than 0 and at most 1."),
				 errhint(USAGE_HINT)));
	return threshold;
}

static GuardMode
parse_mode(const char *text)
{
	static const struct
	{
		const char *name;
		GuardMode	mode;
	}			modes[] = {
		{"reject", GUARD_REJECT}, {"skip", GUARD_SKIP},
		{"tag", GUARD_TAG}, {"warn", GUARD_WARN}
	};

	for (size_t i = 0; i < lengthof(modes); i++)
		if (strcmp(text, modes[i].name) == 0)
			return modes[i].mode;
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("invalid mode of neardup_guard: \"%s\"", text),
			 errdetail("A mode is one of reject, skip, tag and warn."),
			 errhint(USAGE_HINT)));
}

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

/* Raises an error unless there are as many arguments as the mode wants. */
static void
check_nargs(const Trigger *trigger)
{
	bool		tag = trigger->tgnargs > 2 &&
		parse_mode(trigger->tgargs[2]) == GUARD_TAG;

	if (trigger->tgnargs < 2 || trigger->tgnargs > 4)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("neardup_guard takes 2 to 4 arguments, trigger \"%s\" gives %d",
						trigger->tgname, trigger->tgnargs),
				 errhint(USAGE_HINT)));
	if (tag != (trigger->tgnargs == 4))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg(tag ? "mode tag of neardup_guard wants a tag column" :
						"only mode tag of neardup_guard takes a tag column"),
				 errhint(USAGE_HINT)));
}

/* When it fires */

/*
 * Raises an error unless the trigger fires when neardup_guard can do its
 * work; judged by the trigger's definition, so that a DELETE trigger is found
 * out by the first INSERT.
 */
static void
check_timing(const Trigger *trigger, GuardMode mode)
{
	int16		type = trigger->tgtype;
	bool		before = TRIGGER_FOR_BEFORE(type);

	if (!TRIGGER_FOR_ROW(type) || TRIGGER_FOR_INSTEAD(type) ||
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
}

/* The call site */

/* Makes a guard for a trigger; it lives in a child of the memory context. */
static Guard *
guard_create(MemoryContext parent, Relation rel, const Trigger *trigger)
{
	MemoryContext memory = AllocSetContextCreate(parent, "neardup guard",
												 ALLOCSET_SMALL_SIZES);
	MemoryContext caller = MemoryContextSwitchTo(memory);
	Guard	   *guard = palloc0(sizeof(Guard));

	check_nargs(trigger);
	guard->memory = memory;
	guard->tgoid = trigger->tgoid;
	guard->threshold = parse_threshold(trigger->tgargs[1]);
	guard->mode = trigger->tgnargs > 2 ?
		parse_mode(trigger->tgargs[2]) : GUARD_REJECT;
	guard->before = TRIGGER_FOR_BEFORE(trigger->tgtype);
	check_timing(trigger, guard->mode);
	if (guard->mode == GUARD_TAG)
		guard->tag = parse_tag(rel, trigger->tgargs[3]);
	guard_list_tables(guard, rel, trigger);
	guard->key = guard_key(rel, guard->tables[0].indexid,
						   guard->tables[0].keyno, guard->before);
	guard->slot = MakeTupleTableSlot(guard->tables[0].slot->tts_tupleDescriptor,
									 &TTSOpsBufferHeapTuple);
	guard->row = CreateStandaloneExprContext();
	guard->candidate = CreateStandaloneExprContext();
	MemoryContextSwitchTo(caller);
	return guard;
}

/* The guard of this call site, as it was for the last row if that will do. */
static Guard *
call_site_guard(FmgrInfo *flinfo, Relation rel, const Trigger *trigger)
{
	Guard	   *guard = flinfo->fn_extra;

	if (guard != NULL && guard->partitioned)
		AcceptInvalidationMessages();
	if (guard != NULL && (guard->stale || guard->tgoid != trigger->tgoid))
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

/* The signature of the new row; NULL if it has none or an empty one. */
static Signature *
new_signature(Guard *guard, const GuardKey *key, TupleTableSlot *row)
{
	bool		isnull;
	Datum		value = guard_key_value(key, row, guard->row, &isnull);
	Signature  *sig;

	if (isnull)
		return NULL;
	sig = DatumGetSignature(value);
	return SIGNATURE_NVALUES(sig) > 0 ? sig : NULL;
}

/* True if an UPDATE has left the signature's bytes alone. */
static bool
signature_unchanged(Guard *guard, TupleTableSlot *before,
					TupleTableSlot *after)
{
	Datum		old;
	Datum		new;
	bool		old_null;
	bool		new_null;

	if (guard_key_unchanged(&guard->key, before, after))
		return true;
	old = guard_key_value(&guard->tables[0].key, before, guard->row,
						  &old_null);
	new = guard_key_value(&guard->key, after, guard->row, &new_null);
	if (old_null || new_null)
		return old_null && new_null;
	return guard_value_same(old, new, false, -1);
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
	Signature  *sig = new_signature(guard, &guard->key, row);

	return sig != NULL &&
		guard_search(guard, trigdata->tg_relation, sig,
					 update ? &trigdata->tg_trigtuple->t_self : NULL, match);
}

/* Likewise of an AFTER trigger. */
static bool
search_after(Guard *guard, TriggerData *trigdata, TupleTableSlot *row,
			 GuardMatch *match)
{
	ItemPointerData tid = row->tts_tid;
	Signature  *sig;
	bool		found = false;

	row = live_version(guard, trigdata->tg_relation, &tid);
	if (row == NULL)
		return false;
	sig = new_signature(guard, &guard->key, row);
	if (sig != NULL)
		found = guard_search(guard, trigdata->tg_relation, sig, &tid, match);
	ExecClearTuple(guard->slot);
	return found;
}

/*
 * Checks one row.  Returns what a trigger function returns: the row to store,
 * in caller's memory context if it is not the one that came, or NULL.
 */
static HeapTuple
check_row(Guard *guard, TriggerData *trigdata, MemoryContext caller)
{
	bool		update = TRIGGER_FIRED_BY_UPDATE(trigdata->tg_event);
	HeapTuple	tuple = update ? trigdata->tg_newtuple : trigdata->tg_trigtuple;
	TupleTableSlot *row = update ? trigdata->tg_newslot : trigdata->tg_trigslot;
	GuardMatch	match;
	bool		found;

	if (update && signature_unchanged(guard, trigdata->tg_trigslot, row))
		return tuple;
	found = guard->before ?
		search_before(guard, trigdata, row, &match) :
		search_after(guard, trigdata, row, &match);
	if (guard->mode == GUARD_TAG)
	{
		MemoryContextSwitchTo(caller);
		tuple = guard_tag(guard, trigdata->tg_relation, tuple,
						  found ? &match : NULL);
	}
	else if (found && guard->mode == GUARD_SKIP)
		tuple = NULL;
	else if (found)
		guard_report(guard, trigdata->tg_relation, trigdata->tg_trigger,
					 &match);
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
	result = check_row(guard, trigdata, caller);
	MemoryContextSwitchTo(caller);
	ResetExprContext(guard->row);
	PG_RETURN_POINTER(result);
}
