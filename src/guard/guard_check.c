/*
 * guard_check.c
 *		Checks, when a trigger is created, that it can guard its table.
 *
 * PostgreSQL does not call a trigger's function when the trigger is created.
 * So an event trigger, for CREATE TRIGGER, raises the error that the first row
 * would raise.  It reads only the arguments and the index.  With
 * check_function_bodies off, as pg_dump sets it, it checks nothing.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/relation.h"
#include "access/table.h"
#include "catalog/namespace.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_namespace_d.h"
#include "catalog/pg_operator.h"
#include "catalog/pg_trigger.h"
#include "commands/event_trigger.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "base/call.h"
#include "base/compat.h"
#include "guard/guard.h"

PG_FUNCTION_INFO_V1(neardup_guard_created);

/* The definition */

/*
 * Raise an error if a name in the arguments is wrong.  This is the check of a
 * partitioned table that has no partitions yet.
 */
static void
check_names(Relation rel, const Trigger *trigger)
{
	GuardArguments arguments = guard_arguments(trigger);
	Guard		guard = {.before = TRIGGER_FOR_BEFORE(trigger->tgtype)};
	const char *source = trigger->tgargs[0];
	AttrNumber	attno = get_attnum(RelationGetRelid(rel), source);
	Relation	index;

	for (int i = 0; i < arguments.nscope; i++)
		(void) guard_scope_attno(rel, arguments.scope[i]);
	if (arguments.condition != NULL)
		guard_parse_condition(&guard, rel, trigger, arguments.condition);
	if (attno > 0)
	{
		guard_require_signature(rel, attno);
		return;
	}
	index = index_open(guard_named_index(RelationGetRelid(rel), source),
					   AccessShareLock);
	(void) guard_signature_key(index);
	index_close(index, NoLock);
}

/*
 * Return a partition, at any level, that can hold rows; InvalidOid if there is
 * none.
 */
static Oid
find_leaf(Relation rel)
{
	List	   *tables = find_all_inheritors(RelationGetRelid(rel),
											 AccessShareLock, NULL);
	ListCell   *lc;

	foreach(lc, tables)
	{
		if (get_rel_relkind(lfirst_oid(lc)) != RELKIND_PARTITIONED_TABLE)
			return lfirst_oid(lc);
	}
	return InvalidOid;
}

/* Create the guard of a trigger, and drop it. */
static void
try_guard(Relation rel, const Trigger *trigger)
{
	MemoryContextDelete(guard_create(CurrentMemoryContext, rel,
									 trigger)->memory);
}

/*
 * A row trigger of a partitioned table fires only on partitions, so a
 * partition's guard is created.
 */
void
guard_require_serving(Relation rel, const Trigger *trigger)
{
	Relation	leaf;
	Oid			leafid;

	if (!TRIGGER_FOR_ROW(trigger->tgtype) ||
		rel->rd_rel->relkind != RELKIND_PARTITIONED_TABLE)
	{
		try_guard(rel, trigger);
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
		try_guard(leaf, trigger);
	table_close(leaf, NoLock);
}

/* Warnings about WHEN */

/* True if a restore does not find an operator in its search path. */
static bool
is_elsewhere(Oid operator)
{
	HeapTuple	tuple = SearchSysCache1(OPEROID, ObjectIdGetDatum(operator));
	bool		elsewhere;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for operator %u", operator);
	elsewhere = ((Form_pg_operator) GETSTRUCT(tuple))->oprnamespace !=
		PG_CATALOG_NAMESPACE;
	ReleaseSysCache(tuple);
	return elsewhere;
}

/* True if a node is the comparison of CASE's value with a value of WHEN. */
static bool
compares_case(Node *node)
{
	return IsA(node, OpExpr) && list_length(((OpExpr *) node)->args) == 2 &&
		IsA(linitial(((OpExpr *) node)->args), CaseTestExpr);
}

/*
 * Expression tree walker: set *where to the kind of an expression whose
 * operator PostgreSQL writes without its schema.
 */
static bool
find_unqualified(Node *node, void *where)
{
	const char *found = NULL;

	if (node == NULL)
		return false;
	if (IsA(node, DistinctExpr))
		found = "IS DISTINCT FROM";
	else if (IsA(node, NullIfExpr))
		found = "NULLIF";
	else if (compares_case(node))
		found = "CASE with a value";
	/* both structs are laid out as OpExpr */
	if (found != NULL && is_elsewhere(((OpExpr *) node)->opno))
	{
		*(const char **) where = found;
		return true;
	}
	return expression_tree_walker(node, find_unqualified, where);
}

/*
 * Warn about a WHEN that a dump cannot restore, since the guard would be lost.
 */
static void
warn_of_when(const Trigger *trigger)
{
	const char *where = NULL;

	if (trigger->tgqual == NULL ||
		!find_unqualified(stringToNode(trigger->tgqual), &where))
		return;
	ereport(WARNING,
			(errmsg("dumps cannot restore the WHEN of trigger \"%s\"",
					trigger->tgname),
			 errdetail("PostgreSQL writes the operator of %s without its schema, and a restore without the trigger goes on.",
					   where),
			 errhint("Write WHEN ((OLD.sig = NEW.sig) IS NOT TRUE), or CASE WHEN a = b. An UPDATE that leaves the signature as it was needs no WHEN, as the guard does not check it.")));
}

/* The event trigger */

/*
 * True if a command may have created a guard, judging from its parse tree,
 * which is cheap.
 */
static bool
may_create_guard(const EventTriggerData *event)
{
	return IsA(event->parsetree, CreateTrigStmt) &&
		strcmp(strVal(llast(((CreateTrigStmt *) event->parsetree)->funcname)),
			   "neardup_guard") == 0 &&
		check_function_bodies && !IsBinaryUpgrade;
}

/*
 * Check a new guard with the rights of the table's owner, as preparing index
 * expressions may call functions that the owner has written.
 */
static void
check_guard(Relation rel, const Trigger *trigger)
{
	OwnerWork	work;
	const char *condition;

	owner_begin(&work, rel);
	guard_require_serving(rel, trigger);
	owner_end(&work);
	condition = guard_arguments(trigger).condition;
	if (condition != NULL)
		guard_require_same_names(rel, trigger, condition);
	warn_of_when(trigger);
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
		Relation	rel = relation_openrv(statement->relation,
										  AccessShareLock);
		const Trigger *trigger = guard_trigger(rel, statement->trigname, true);

		if (trigger != NULL)
			check_guard(rel, trigger);
		relation_close(rel, NoLock);
	}
	PG_RETURN_NULL();
}
