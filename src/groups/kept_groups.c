/*
 * kept_groups.c
 *		Groups that follow their table: the trigger that notes changed rows,
 *		and the functions that run with the rights of the owner.
 *
 * The rest is in SQL: sql/install/kept_groups.sql.
 *
 * A note is a row in a table beside the groups.  The trigger adds it as the
 * server adds an entry to an index: it checks no privileges and runs no code
 * of SQL, so that a writer needs no rights on the groups, and owners of tables
 * gain none over writers.  Therefore that table must have neither indexes nor
 * triggers.
 */
#include "postgres.h"

#include "access/heapam.h"
#include "access/htup_details.h"
#include "access/relation.h"
#include "access/table.h"
#include "catalog/namespace.h"
#include "catalog/objectaddress.h"
#include "catalog/partition.h"
#include "catalog/pg_type_d.h"
#include "commands/trigger.h"
#include "executor/tuptable.h"
#include "nodes/makefuncs.h"
#include "miscadmin.h"
#include "parser/parse_func.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/syscache.h"
#include "utils/fmgroids.h"
#include "utils/varlena.h"

#include "base/call.h"
#include "base/compat.h"

PG_FUNCTION_INFO_V1(kept_groups_note);
PG_FUNCTION_INFO_V1(kept_groups_run);

/* Arguments of a trigger on the table whose rows are grouped */
enum RowArguments
{
	ARG_GROUPS,
	ARG_KEY,
	ARG_SIGNATURE,
	ARG_THRESHOLD,
	ARG_MEASURE,
	ARG_RULE,
	ARG_REFRESH,
	ARG_WITHIN,					/* array of columns */
	ARG_READS,					/* columns that an index reads, if the
								 * signature is named by one */
	ARG_APART,					/* table of pairs of ids that are not the
								 * same, or empty */
	ROW_ARGUMENTS
};

/* Columns of the table of notes */
enum NoteColumns
{
	NOTE_ID,
	NOTE_STATE,					/* null: not taken by a refresh yet */
	NOTE_COLUMNS
};

/* What a trigger notes, kept for a statement */
typedef struct Noting
{
	Oid			notes;			/* table of notes */
	int			nkeys;			/* 2 in the table of pairs that are apart */
	AttrNumber *columns;		/* columns whose changes are noted; keys first */
	int			ncolumns;
} Noting;

/* Definition */

/* Raise an error: the trigger function was called in a wrong way. */
static void
usage_error(const char *message)
{
	ereport(ERROR,
			(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
			 errmsg("%s", message),
			 errhint("Triggers that call it are made by near_duplicate_groups_create().")));
}

/* Raise an error unless a trigger of kept groups makes the call. */
static void
check_call(FunctionCallInfo fcinfo)
{
	TriggerData *data = (TriggerData *) fcinfo->context;

	if (!CALLED_AS_TRIGGER(fcinfo))
		usage_error("near_duplicate_groups_note() can only be called as a trigger");
	if (!TRIGGER_FIRED_AFTER(data->tg_event))
		usage_error("near_duplicate_groups_note() must be fired AFTER");
	if (data->tg_trigger->tgnargs != ROW_ARGUMENTS)
		usage_error("near_duplicate_groups_note() has another number of arguments");
}

/* Return the number of a column that a trigger's arguments name. */
static AttrNumber
find_column(Relation rel, const Trigger *trigger, const char *name)
{
	AttrNumber	attno = get_attnum(RelationGetRelid(rel), name);

	if (attno == InvalidAttrNumber)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_COLUMN),
				 errmsg("column \"%s\" of relation \"%s\" does not exist",
						name, RelationGetRelationName(rel)),
				 errdetail("Trigger \"%s\" names it, which keeps the groups in %s.",
						   trigger->tgname, trigger->tgargs[ARG_GROUPS]),
				 errhint("Call near_duplicate_groups_drop('%s'), and create them again.",
						 trigger->tgargs[ARG_GROUPS]),
				 errtable(rel)));
	return attno;
}

/*
 * Return the names in an argument, an array of texts; set *n to their number.
 */
static Datum *
argument_names(const Trigger *trigger, int argument, int *n)
{
	ArrayType  *array = DatumGetArrayTypeP(OidInputFunctionCall(F_ARRAY_IN,
																trigger->tgargs[argument],
																TEXTOID, -1));
	Datum	   *names;

	(void) argument_elements("columns", array);
	deconstruct_array(array, TEXTOID, -1, false, TYPALIGN_INT, &names, NULL,
					  n);
	return names;
}

/* Return the table that an argument names, with that ending. */
static Oid
find_named(const Trigger *trigger, int argument, const char *ending)
{
	const char *groups = trigger->tgargs[ARG_GROUPS];
	RangeVar   *name =
	makeRangeVarFromNameList(textToQualifiedNameList(cstring_to_text(trigger->tgargs[argument])));
	Oid			relid;

	name->relname = psprintf("%s%s", name->relname, ending);
	relid = RangeVarGetRelid(name, NoLock, true);
	if (!OidIsValid(relid))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("table \"%s\" does not exist", name->relname),
				 errdetail("Trigger \"%s\" keeps the groups in %s.",
						   trigger->tgname, groups),
				 errhint("Drop the trigger, or give the tables of groups their names back.")));
	return relid;
}

/* Return the table that is named like a trigger's groups, with that ending. */
static Oid
find_table(const Trigger *trigger, const char *ending)
{
	return find_named(trigger, ARG_GROUPS, ending);
}

/* Create what the trigger needs, in the current memory context. */
static Noting *
create_noting(Relation rel, const Trigger *trigger)
{
	Noting	   *noting = palloc0(sizeof(Noting));
	int			nwithin;
	int			nreads;
	Datum	   *within = argument_names(trigger, ARG_WITHIN, &nwithin);
	Datum	   *reads = argument_names(trigger, ARG_READS, &nreads);

	noting->notes = find_table(trigger, "_changed");
	noting->nkeys = 1;
	noting->columns = palloc((2 + nwithin + nreads) * sizeof(AttrNumber));
	if (strcmp(trigger->tgargs[ARG_APART], "") != 0 &&
		find_named(trigger, ARG_APART, "") == RelationGetRelid(rel))
	{
		noting->nkeys = noting->ncolumns = 2;
		noting->columns[0] = 1;
		noting->columns[1] = 2;
		return noting;
	}
	noting->columns[noting->ncolumns++] = find_column(rel, trigger,
													  trigger->tgargs[ARG_KEY]);
	if (nreads == 0)
		noting->columns[noting->ncolumns++] = find_column(rel, trigger,
														  trigger->tgargs[ARG_SIGNATURE]);
	for (int i = 0; i < nwithin + nreads; i++)
		noting->columns[noting->ncolumns++] =
			find_column(rel, trigger,
						TextDatumGetCString(i < nwithin ? within[i] :
											reads[i - nwithin]));
	return noting;
}

/* Return the definition that the statement's first call has made. */
static const Noting *
noting_of(FunctionCallInfo fcinfo)
{
	TriggerData *data = (TriggerData *) fcinfo->context;

	if (fcinfo->flinfo->fn_extra == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(fcinfo->flinfo->fn_mcxt);

		fcinfo->flinfo->fn_extra = create_noting(data->tg_relation,
												 data->tg_trigger);
		MemoryContextSwitchTo(old);
	}
	return fcinfo->flinfo->fn_extra;
}

/* Notes */

/*
 * True if one role owns a table of notes and the table, or one that has it as
 * a partition.
 */
static bool
same_owner(Relation notes, Relation rel)
{
	bool		same = notes->rd_rel->relowner == rel->rd_rel->relowner;
	ListCell   *lc;

	if (same || !rel->rd_rel->relispartition)
		return same;
	foreach(lc, get_partition_ancestors(RelationGetRelid(rel)))
	{
		HeapTuple	tuple = SearchSysCache1(RELOID,
											ObjectIdGetDatum(lfirst_oid(lc)));

		if (!HeapTupleIsValid(tuple))
			continue;
		same |= ((Form_pg_class) GETSTRUCT(tuple))->relowner ==
			notes->rd_rel->relowner;
		ReleaseSysCache(tuple);
	}
	return same;
}

/*
 * Raise an error unless notes of the table's rows can be added to that table,
 * without anything that SQL would do for it.
 */
static void
check_notes(Relation notes, Relation rel, AttrNumber key)
{
	TupleDesc	desc = RelationGetDescr(notes);
	Form_pg_attribute id = TupleDescAttr(desc, NOTE_ID);

	if (notes->rd_rel->relkind != RELKIND_RELATION ||
		notes->rd_tableam != GetHeapamTableAmRoutine() ||
		desc->natts != NOTE_COLUMNS ||
		TupleDescAttr(desc, NOTE_STATE)->atttypid != TEXTOID ||
		RelationGetIndexList(notes) != NIL || notes->trigdesc != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("table \"%s\" cannot have notes of changed rows",
						RelationGetRelationName(notes)),
				 errdetail("It has other columns than near_duplicate_groups_create() has made, or an index, or a trigger."),
				 errhint("Drop what was added to it.")));
	if (!same_owner(notes, rel))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("tables \"%s\" and \"%s\" belong to different roles",
						RelationGetRelationName(rel),
						RelationGetRelationName(notes)),
				 errhint("Give the tables of groups to the owner of the table with ALTER TABLE … OWNER TO.")));
	if (key != InvalidAttrNumber &&
		TupleDescAttr(RelationGetDescr(rel),
					  key - 1)->atttypid != id->atttypid)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("column \"%s\" of table \"%s\" is of type %s, and its groups have ids of type %s",
						NameStr(TupleDescAttr(RelationGetDescr(rel),
											  key - 1)->attname),
						RelationGetRelationName(rel),
						format_type_be(TupleDescAttr(RelationGetDescr(rel),
													 key - 1)->atttypid),
						format_type_be(id->atttypid)),
				 errhint("Drop the groups, and create them again.")));
}

/* Add a note of a row, or of all rows if the slot is NULL. */
static void
add_note(Relation notes, AttrNumber key, TupleTableSlot *slot)
{
	Datum		values[NOTE_COLUMNS] = {0};
	bool		nulls[NOTE_COLUMNS] = {true, true};
	HeapTuple	tuple;

	if (slot != NULL)
	{
		values[NOTE_ID] = slot_getattr(slot, key, &nulls[NOTE_ID]);
		if (nulls[NOTE_ID])
			ereport(ERROR,
					(errcode(ERRCODE_NOT_NULL_VIOLATION),
					 errmsg("key of a grouped row must not be null"),
					 errhint("Make column \"%s\" NOT NULL.",
							 NameStr(TupleDescAttr(slot->tts_tupleDescriptor,
												   key - 1)->attname))));
	}
	tuple = heap_form_tuple(RelationGetDescr(notes), values, nulls);
	simple_heap_insert(notes, tuple);
	heap_freetuple(tuple);
}

/*
 * True if an UPDATE has left the first n columns as they were that decide a
 * row's group.
 */
static bool
unchanged(const Noting *noting, int n, const TriggerData *data)
{
	TupleTableSlot *old = data->tg_trigslot;
	TupleTableSlot *new = data->tg_newslot;

	Assert(n > 0 && n <= noting->ncolumns);
	for (int i = 0; i < n; i++)
	{
		AttrNumber	attno = noting->columns[i];
		Form_pg_attribute att = TupleDescAttr(old->tts_tupleDescriptor,
											  attno - 1);
		bool		was_null;
		bool		is_null;
		Datum		was = slot_getattr(old, attno, &was_null);
		Datum		is = slot_getattr(new, attno, &is_null);

		if (was_null != is_null ||
			(!was_null && !same_value(was, is, att->attbyval, att->attlen)))
			return false;
	}
	return true;
}

/*
 * Note a row that was inserted, deleted or changed; under its old and its new
 * key.
 */
static void
note_row(const Noting *noting, TriggerData *data)
{
	bool		updated = TRIGGER_FIRED_BY_UPDATE(data->tg_event);
	Relation	notes;

	if (updated && unchanged(noting, noting->ncolumns, data))
		return;
	notes = table_open(noting->notes, RowExclusiveLock);
	for (int i = 0; i < noting->nkeys; i++)
	{
		check_notes(notes, data->tg_relation, noting->columns[i]);
		add_note(notes, noting->columns[i], data->tg_trigslot);
		if (updated && !unchanged(noting, noting->nkeys, data))
			add_note(notes, noting->columns[i], data->tg_newslot);
	}
	table_close(notes, NoLock);
}

/* Note that the table was emptied. */
static void
note_all(TriggerData *data)
{
	Relation	notes = table_open(find_table(data->tg_trigger, "_changed"),
								   RowExclusiveLock);

	check_notes(notes, data->tg_relation, InvalidAttrNumber);
	add_note(notes, InvalidAttrNumber, NULL);
	table_close(notes, NoLock);
}

/* Rights */

/*
 * Call the function of that name in the schema of the caller, a function of
 * this file, as the owner of a table.  The table is closed before, so that the
 * function can drop it.
 */
static Datum
call_as_owner(Oid caller, const char *name, Relation rel, int nargs,
			  const Oid *types,
			  const NullableDatum *args)
{
	LOCAL_FCINFO(call, FUNC_MAX_ARGS);
	FmgrInfo	flinfo;
	OwnerWork	work;
	Datum		result;
	List	   *qualified =
	list_make2(makeString(get_namespace_name(get_func_namespace(caller))),
			   makeString(unconstify(char *, name)));

	fmgr_info(LookupFuncName(qualified, nargs, types, false), &flinfo);
	InitFunctionCallInfoData(*call, &flinfo, nargs, InvalidOid, NULL, NULL);
	memcpy(call->args, args, nargs * sizeof(NullableDatum));
	owner_begin(&work, rel);
	relation_close(rel, NoLock);
	result = FunctionCallInvoke(call);
	owner_end(&work);
	return result;
}

/* Refresh the groups at the end of a statement, whoever it is that writes. */
static void
refresh(Oid function, const TriggerData *data)
{
	static const Oid types[] = {REGCLASSOID, BOOLOID};
	Relation	groups = table_open(find_table(data->tg_trigger, ""),
									AccessShareLock);
	NullableDatum args[] = {
		{.value = ObjectIdGetDatum(RelationGetRelid(groups))},
		{.value = BoolGetDatum(false)}
	};

	(void) call_as_owner(function, "_near_duplicate_groups_refresh", groups,
						 lengthof(args),
						 types, args);
}

/*
 * near_duplicate_groups_note(), a trigger AFTER each row that is inserted,
 * updated or deleted, and after each statement that empties the table, or, if
 * the groups are refreshed immediately, changes it
 */
Datum
kept_groups_note(PG_FUNCTION_ARGS)
{
	TriggerData *data = (TriggerData *) fcinfo->context;

	check_call(fcinfo);
	if (TRIGGER_FIRED_FOR_ROW(data->tg_event))
		note_row(noting_of(fcinfo), data);
	else if (TRIGGER_FIRED_BY_TRUNCATE(data->tg_event))
		note_all(data);
	if (TRIGGER_FIRED_FOR_STATEMENT(data->tg_event) &&
		strcmp(data->tg_trigger->tgargs[ARG_REFRESH], "immediate") == 0)
		refresh(fcinfo->flinfo->fn_oid, data);
	return PointerGetDatum(NULL);
}

/*
 * A function or procedure whose first regclass is a table: as its owner, call
 * the function with the same arguments that has "_" before its name.  Raise an
 * error if the user has not all rights of the owner.
 */
Datum
kept_groups_run(PG_FUNCTION_ARGS)
{
	Oid			function = fcinfo->flinfo->fn_oid;
	Oid		   *types;
	int			nargs;
	int			table = 0;
	Relation	rel;

	(void) get_func_signature(function, &types, &nargs);
	while (table < nargs - 1 && types[table] != REGCLASSOID)
		table++;
	if (PG_ARGISNULL(table))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("table must not be null")));
	rel = argument_relation(PG_GETARG_OID(table), AccessShareLock);
	if (!has_privs_of_role(GetUserId(), rel->rd_rel->relowner))
		aclcheck_error(ACLCHECK_NOT_OWNER,
					   get_relkind_objtype(rel->rd_rel->relkind),
					   RelationGetRelationName(rel));
	return call_as_owner(function, psprintf("_%s", get_func_name(function)),
						 rel, nargs,
						 types, fcinfo->args);
}
