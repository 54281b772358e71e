/*
 * guard_check.c
 *		Checks that a trigger guards its table, for CREATE TRIGGER and for SQL functions.
 *
 * PostgreSQL does not call a trigger's function when the trigger is created.  So an
 * event trigger, for CREATE TRIGGER, raises the error that the first row would raise.  It
 * reads the arguments and the index only, and nothing with check_function_bodies off, as
 * pg_dump sets it.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/relation.h"
#include "access/table.h"
#include "catalog/namespace.h"
#include "catalog/pg_index.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_trigger.h"
#include "commands/event_trigger.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "optimizer/optimizer.h"
#include "rewrite/rewriteManip.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "base/call.h"
#include "base/compat.h"
#include "guard/guard.h"

PG_FUNCTION_INFO_V1(neardup_guard_created);
PG_FUNCTION_INFO_V1(neardup_guard_definition);

/* The definition */

/* Raise an error if a name in the arguments is wrong: the check of a table without partitions. */
static void
check_names(Relation rel, const Trigger *trigger)
{
	GuardArguments arguments = guard_arguments(trigger);
	const char *source = trigger->tgargs[0];
	AttrNumber	attno = get_attnum(RelationGetRelid(rel), source);
	Relation	index;

	for (int i = 0; i < arguments.nscope; i++)
		(void) guard_scope_attno(rel, arguments.scope[i]);
	if (attno > 0)
	{
		guard_require_signature(rel, attno);
		return;
	}
	index = index_open(guard_named_index(RelationGetRelid(rel), source), AccessShareLock);
	(void) guard_signature_key(index);
	index_close(index, NoLock);
}

/* Return a partition, at any level, that may hold rows; InvalidOid if there is none. */
static Oid
find_leaf(Relation rel)
{
	ListCell   *lc;

	foreach(lc, find_all_inheritors(RelationGetRelid(rel), AccessShareLock, NULL))
		if (get_rel_relkind(lfirst_oid(lc)) != RELKIND_PARTITIONED_TABLE)
		return lfirst_oid(lc);
	return InvalidOid;
}

/*
 * Raise the error, if any, that the first row would raise: create the guard, and drop it.
 * A trigger for the rows of a partitioned table is fired by its partitions only.
 */
static void
require_serving(Relation rel, const Trigger *trigger)
{
	Relation	leaf;
	Oid			leafid;

	if (!TRIGGER_FOR_ROW(trigger->tgtype) ||
		rel->rd_rel->relkind != RELKIND_PARTITIONED_TABLE)
	{
		MemoryContextDelete(guard_create(CurrentMemoryContext, rel, trigger)->memory);
		return;
	}
	leafid = find_leaf(rel);
	if (!OidIsValid(leafid))
	{
		check_names(rel, trigger);
		return;
	}
	leaf = table_open(leafid, NoLock);
	trigger = guard_trigger(leaf, trigger->tgname, true);
	if (trigger != NULL)
		MemoryContextDelete(guard_create(CurrentMemoryContext, leaf, trigger)->memory);
	table_close(leaf, NoLock);
}

/* True if a command may have created a guard, by a cheap look at its parse tree. */
static bool
may_create_guard(const EventTriggerData *event)
{
	return IsA(event->parsetree, CreateTrigStmt) &&
		strcmp(strVal(llast(((CreateTrigStmt *) event->parsetree)->funcname)),
			   "neardup_guard") == 0 &&
		check_function_bodies && !IsBinaryUpgrade;
}

/* neardup_guard_created() RETURNS event_trigger */
Datum
neardup_guard_created(PG_FUNCTION_ARGS)
{
	EventTriggerData *event = (EventTriggerData *) fcinfo->context;

	if (!CALLED_AS_EVENT_TRIGGER(fcinfo))
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_EVENT_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("neardup_guard_created was not called as an event trigger")));
	if (may_create_guard(event))
	{
		CreateTrigStmt *statement = (CreateTrigStmt *) event->parsetree;
		Relation	rel = relation_openrv(statement->relation, AccessShareLock);
		const Trigger *trigger = guard_trigger(rel, statement->trigname, true);

		if (trigger != NULL)
			require_serving(rel, trigger);
		relation_close(rel, NoLock);
	}
	PG_RETURN_NULL();
}

/* Return the WHEN of a trigger in SQL; NULL if it has none, or reads OLD. */
static char *
condition_sql(Relation rel, const Trigger *trigger)
{
	Node	   *condition = trigger->tgqual == NULL ? NULL : stringToNode(trigger->tgqual);

	if (condition == NULL || bms_is_member(PRS2_OLD_VARNO, pull_varnos(NULL, condition)))
		return NULL;
	ChangeVarNodes(condition, PRS2_NEW_VARNO, 1, 0);
	return TextDatumGetCString(DirectFunctionCall2(pg_get_expr,
												   CStringGetTextDatum(nodeToString(condition)),
												   ObjectIdGetDatum(RelationGetRelid(rel))));
}

/* Return the guarded signature in SQL; set *indexid to the index that the trigger names. */
static char *
signature_sql(Relation rel, const Trigger *trigger, Oid *indexid)
{
	const char *source = trigger->tgargs[0];
	Relation	index;
	char	   *sql;

	*indexid = InvalidOid;
	if (get_attnum(RelationGetRelid(rel), source) > 0)
		return pstrdup(quote_identifier(source));
	*indexid = guard_named_index(RelationGetRelid(rel), source);
	index = index_open(*indexid, AccessShareLock);
	sql = guard_key_sql(index, guard_signature_key(index));
	index_close(index, NoLock);
	return sql;
}

/* Raise an error if the user has more rights than the owner of the table's expressions. */
static void
require_owner(Relation rel)
{
	const char *owner = GetUserNameFromId(rel->rd_rel->relowner, false);

	if (owner_is_another(rel))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("expressions of table \"%s\" are not computed with the rights of role \"%s\"",
						RelationGetRelationName(rel),
						GetUserNameFromId(GetUserId(), false)),
				 errdetail("The table belongs to role \"%s\", who may have written them.", owner),
				 errhint("Use SET ROLE %s before, and RESET ROLE afterwards.",
						 quote_identifier(owner))));
}

/*
 * neardup_guard_definition(relation regclass, trigger name, OUT threshold float8,
 * OUT signature text, OUT scope text, OUT index regclass, OUT condition text): raises the
 * error that the first row would raise
 */
Datum
neardup_guard_definition(PG_FUNCTION_ARGS)
{
	Relation	rel = argument_relation(PG_GETARG_OID(0), AccessShareLock);
	const Trigger *trigger = guard_trigger(rel, NameStr(*PG_GETARG_NAME(1)), false);
	GuardArguments arguments;
	StringInfoData scope;
	char	   *condition;
	Oid			indexid;
	Datum		values[5];
	bool		nulls[5] = {false};

	if (trigger->tgisclone)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("trigger \"%s\" guards more than partition \"%s\"",
						trigger->tgname, RelationGetRelationName(rel)),
				 errhint("Give the table that the trigger was created on.")));
	require_serving(rel, trigger);
	arguments = guard_arguments(trigger);
	initStringInfo(&scope);
	for (int i = 0; i < arguments.nscope; i++)
		appendStringInfo(&scope, ", %s", quote_identifier(arguments.scope[i]));
	values[0] = Float8GetDatum(arguments.threshold);
	values[1] = CStringGetTextDatum(signature_sql(rel, trigger, &indexid));
	values[2] = CStringGetTextDatum(scope.data);
	values[3] = ObjectIdGetDatum(indexid);
	nulls[3] = !OidIsValid(indexid);
	condition = condition_sql(rel, trigger);
	nulls[4] = condition == NULL;
	values[4] = nulls[4] ? (Datum) 0 : CStringGetTextDatum(condition);
	if (!nulls[3] || !nulls[4])
		require_owner(rel);
	relation_close(rel, NoLock);
	PG_RETURN_DATUM(call_row(call_row_type(fcinfo), lengthof(values), values, nulls));
}
