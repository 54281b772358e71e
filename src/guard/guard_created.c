/*
 * guard_created.c
 *		Tells who creates a guard what is wrong with it, and with the table.
 *
 * PostgreSQL calls nothing of a trigger's function when the trigger is created.
 * So an event trigger looks at each CREATE TRIGGER, and if a guard has come of
 * it, warns of what its first row would be an error for, in the same words,
 * and of rows that it would not have let in.
 *
 * It is never in the way of the command.  All it does it does in
 * subtransactions; an error becomes a warning, unless somebody cancels.  Where
 * bodies of functions are not to be checked, as in what pg_dump writes,
 * nothing is.
 *
 * Mistakes are looked for as the first row of this user would come upon them.
 * To look at all rows is to compute expressions and predicates of indexes, which
 * are the table owner's.  As with CREATE INDEX that is done with the owner's
 * rights, and with a search_path that neither side can put anything into.  What
 * comes out of it is told to those only who may read the table.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/guard/guard_created.c
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/namespace.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_trigger.h"
#include "commands/event_trigger.h"
#include "miscadmin.h"
#include "nodes/parsenodes.h"
#include "storage/bufmgr.h"
#include "utils/acl.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/resowner.h"
#include "utils/rls.h"
#include "utils/snapmgr.h"

#include "base/compat.h"
#include "base/owner.h"
#include "guard/guard.h"

PG_FUNCTION_INFO_V1(neardup_guard_created);

/* A guard that has been created. */
typedef struct Creation
{
	const char *name;
	Oid			relid;			/* the table */
	GuardHome	home;			/* of the extension */
} Creation;

/* Something to do with it */
typedef void (*Work) (const Creation *creation, Relation rel,
					  const Trigger *trigger);

/* The table */

/* The table's partitions, at any level, that may hold rows; or itself. */
static List *
list_leaves(Relation rel)
{
	List	   *leaves = NIL;
	ListCell   *lc;

	if (rel->rd_rel->relkind != RELKIND_PARTITIONED_TABLE)
		return list_make1_oid(RelationGetRelid(rel));
	foreach(lc, find_all_inheritors(RelationGetRelid(rel), AccessShareLock,
									NULL))
		if (get_rel_relkind(lfirst_oid(lc)) != RELKIND_PARTITIONED_TABLE)
			leaves = lappend_oid(leaves, lfirst_oid(lc));
	return leaves;
}

static bool
has_pages(Oid relid)
{
	Relation	rel = table_open(relid, NoLock);
	bool		has = RELKIND_HAS_STORAGE(rel->rd_rel->relkind) &&
		RelationGetNumberOfBlocks(rel) > 0;

	table_close(rel, NoLock);
	return has;
}

static bool
has_rows(Relation rel)
{
	ListCell   *lc;

	foreach(lc, list_leaves(rel))
		if (has_pages(lfirst_oid(lc)))
			return true;
	return false;
}

/* What is wrong with a guard */

/*
 * Does some work as the owner of the table, who has written the expressions of its
 * columns and indexes: these are worked out, or their constants are.
 */
static void
as_owner(const Creation *creation, Relation rel, const Trigger *trigger,
		 Work work)
{
	OwnerWork	owner;

	owner_begin(&owner, rel);
	(void) set_config_option("search_path", "pg_catalog, pg_temp",
							 PGC_USERSET, PGC_S_SESSION, GUC_ACTION_SAVE,
							 true, 0, false);
	work(creation, rel, trigger);
	owner_end(&owner);
}

/* Makes the guard, as the first row would. */
static void
make_guard(const Creation *creation, Relation rel, const Trigger *trigger)
{
	guard_delete(guard_create(CurrentMemoryContext, rel, trigger));
}

/* The same as far as it can be told while there is no partition. */
static void
check_names(Relation rel, const char *source, const GuardArguments *arguments)
{
	Oid			relid = RelationGetRelid(rel);
	AttrNumber	attno = get_attnum(relid, source);

	for (int i = 0; i < arguments->nscope; i++)
		(void) guard_scope_attno(rel, arguments->scope[i]);
	if (attno > 0)
		guard_require_signature(rel, attno);
	else
	{
		Relation	index = index_open(guard_named_index(relid, source), AccessShareLock);

		(void) guard_signature_key(index);
		index_close(index, NoLock);
	}
}

/*
 * Raises the error that the first row would be, if any.  A trigger for the rows
 * of a partitioned table is fired by its partitions only.
 */
static void
check_guard(const Creation *creation, Relation rel, const Trigger *trigger)
{
	bool		cloned = TRIGGER_FOR_ROW(trigger->tgtype) &&
		rel->rd_rel->relkind == RELKIND_PARTITIONED_TABLE;
	List	   *leaves = list_leaves(rel);
	GuardArguments arguments = guard_arguments(trigger);
	Relation	fired;

	if (cloned && leaves == NIL)
	{
		check_names(rel, trigger->tgargs[0], &arguments);
		return;
	}
	fired = table_open(cloned ? linitial_oid(leaves) : RelationGetRelid(rel),
					   NoLock);
	if (cloned)
		trigger = guard_trigger(fired, trigger->tgname, true);
	if (trigger != NULL && GetUserId() == fired->rd_rel->relowner)
		make_guard(creation, fired, trigger);
	else if (trigger != NULL)
		as_owner(creation, fired, trigger, make_guard);
	table_close(fired, NoLock);
}

/* What is wrong with the table */

/* Raises an error unless the user may read all rows. */
static void
require_readable(Relation rel)
{
	Oid			relid = RelationGetRelid(rel);
	AclResult	may = pg_class_aclcheck(relid, GetUserId(), ACL_SELECT);

	if (may != ACLCHECK_OK)
		aclcheck_error(may, OBJECT_TABLE, RelationGetRelationName(rel));
	if (check_enable_rls(relid, InvalidOid, true) == RLS_ENABLED)
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("row-level security of table \"%s\" is in force for role \"%s\"",
						RelationGetRelationName(rel),
						GetUserNameFromId(GetUserId(), false))));
}

/* Warns of rows that the guard would not have let in. */
static void
compare_rows(const Creation *creation, Relation rel, const Trigger *trigger)
{
	/* others may have written while the command waited for its lock */
	PushActiveSnapshot(GetLatestSnapshot());
	(void) guard_warn_of_violations(rel, trigger, creation->home);
	PopActiveSnapshot();
}

/*
 * The same for somebody who may read all rows, as the owner, who perhaps may not: then
 * there would be nothing to tell.
 */
static void
compare_all_rows(const Creation *creation, Relation rel, const Trigger *trigger)
{
	owner_must_see_all_rows();
	compare_rows(creation, rel, trigger);
}

/*
 * Raises an error if the trigger has a WHEN: whoever may create triggers has written
 * it, and it must not run with the rights of the table's owner.
 */
static void
require_no_condition(Relation rel, const Trigger *trigger)
{
	if (trigger->tgqual != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("the WHEN of trigger \"%s\" is not worked out with the rights of the owner of table \"%s\"",
						trigger->tgname, RelationGetRelationName(rel))));
}

static void
look_at_rows(const Creation *creation, Relation rel, const Trigger *trigger)
{
	if (!has_rows(rel))
		return;
	if (GetUserId() == rel->rd_rel->relowner)
		compare_rows(creation, rel, trigger);
	else
	{
		require_readable(rel);
		require_no_condition(rel, trigger);
		as_owner(creation, rel, trigger, compare_all_rows);
	}
}

/* Doing it */

/* Does some work with the table and the trigger. */
static void
work_on(const Creation *creation, Work work)
{
	Relation	rel = table_open(creation->relid, AccessShareLock);

	work(creation, rel, guard_trigger(rel, creation->name, false));
	table_close(rel, NoLock);
}

/* True of an error that says nothing of the guard. */
static bool
is_not_of_guard(const ErrorData *error)
{
	switch (ERRCODE_TO_CATEGORY(error->sqlerrcode))
	{
		case ERRCODE_TO_CATEGORY(ERRCODE_QUERY_CANCELED):
		case ERRCODE_TO_CATEGORY(ERRCODE_T_R_DEADLOCK_DETECTED):
			return true;
		default:
			return error->sqlerrcode == ERRCODE_DATA_CORRUPTED ||
				error->sqlerrcode == ERRCODE_INDEX_CORRUPTED;
	}
}

/*
 * Does some work in a subtransaction, at the end of which everything is as it
 * was before.  Returns the error that it has raised, if any, and if it is one of the
 * guard.
 */
static ErrorData *
try_to(Work work, const Creation *creation)
{
	MemoryContext caller = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;
	ErrorData  *volatile error = NULL;

	BeginInternalSubTransaction(NULL);
	MemoryContextSwitchTo(caller);
	PG_TRY();
	{
		work_on(creation, work);
		ReleaseCurrentSubTransaction();
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(caller);
		error = CopyErrorData();
		FlushErrorState();
		RollbackAndReleaseCurrentSubTransaction();
	}
	PG_END_TRY();
	MemoryContextSwitchTo(caller);
	CurrentResourceOwner = owner;
	if (error != NULL && is_not_of_guard(error))
		ReThrowError(error);
	return error;
}

/* Telling */

/* Tells of an error as it is, but as a warning. */
static void
warn_of_mistake(ErrorData *error)
{
	error->elevel = WARNING;
	error->context = NULL;
	ThrowErrorData(error);
}

/* Tells that an error has kept the rows from being looked at. */
static void
warn_of_rows(const Creation *creation, const ErrorData *error)
{
	ereport(WARNING,
			(errcode(error->sqlerrcode),
			 errmsg("the rows of table \"%s\" were not compared for guard \"%s\"",
					get_rel_name(creation->relid), creation->name),
			 error->detail != NULL ?
			 errdetail("%s. %s", error->message, error->detail) :
			 errdetail("%s.", error->message),
			 error->hint != NULL ? errhint("%s", error->hint) :
			 errhint("See to that, then use SELECT %s.",
					 guard_call(creation->home, "neardup_guard_check",
								creation->relid, creation->name))));
}

/* Warns of what is wrong with a guard, and with its table. */
static void
look_at(const Creation *creation)
{
	ErrorData  *mistake = try_to(check_guard, creation);
	ErrorData  *error;

	if (mistake != NULL)
		warn_of_mistake(mistake);
	/* the index may come later, but no other chance to tell of the rows */
	if (mistake != NULL &&
		mistake->sqlerrcode != ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE)
		return;
	error = try_to(look_at_rows, creation);
	if (error != NULL && mistake == NULL)
		warn_of_rows(creation, error);
}

/* True if a table has the guard that a command says. */
static bool
has_guard(Oid relid, const char *name)
{
	Relation	rel = table_open(relid, AccessShareLock);
	bool		has = guard_trigger(rel, name, true) != NULL;

	table_close(rel, NoLock);
	return has;
}

/* True if that is a command to look at; costs nothing where it is not. */
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
		Creation	creation = {
			.name = statement->trigname,
			.relid = RangeVarGetRelid(statement->relation, AccessShareLock,
									  true),
			.home = guard_home(fcinfo->flinfo->fn_oid)
		};

		if (OidIsValid(creation.relid) &&
			has_guard(creation.relid, creation.name))
			look_at(&creation);
	}
	PG_RETURN_NULL();
}
