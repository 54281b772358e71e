/*
 * guard_check.c
 *		What is wrong with a guard, and with the rows of its table.
 *
 * PostgreSQL calls nothing of a trigger's function when the trigger is created.
 * So an event trigger looks at each CREATE TRIGGER, and raises the error that
 * the first row would be.  It looks at the arguments and the index only.  Where
 * bodies of functions are not checked, as in the output of pg_dump, nothing is.
 *
 * Rows that a guard would have refused are found by groups: neardup_guard_rows()
 * returns a query of the rows that the trigger looks at, in the order of their
 * primary key, and neardup_guard_violations(), in SQL, makes groups of them.
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
PG_FUNCTION_INFO_V1(neardup_guard_require);
PG_FUNCTION_INFO_V1(neardup_guard_rows);

/* The definition */

/* Raise an error if a name means nothing; all that can be said without a partition. */
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

/* Create the guard, as the first row would, and drop it. */
static void
try_guard(Relation rel, const Trigger *trigger)
{
	MemoryContextDelete(guard_create(CurrentMemoryContext, rel, trigger)->memory);
}

/* A partition, at any level, that may hold rows; InvalidOid if there is none. */
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
 * Raise the error that the first row would be, if any.  A trigger for the rows of
 * a partitioned table is fired by its partitions only.
 */
static void
require_serving(Relation rel, const Trigger *trigger)
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

/* Open a table that somebody has named by its OID. */
static Relation
open_table(Oid relid)
{
	Relation	rel = try_relation_open(relid, AccessShareLock);

	if (rel == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("relation with OID %u does not exist", relid)));
	return rel;
}

/* neardup_guard_require(relation regclass, trigger name) RETURNS void */
Datum
neardup_guard_require(PG_FUNCTION_ARGS)
{
	Relation	rel = open_table(PG_GETARG_OID(0));

	require_serving(rel, guard_trigger(rel, NameStr(*PG_GETARG_NAME(1)), false));
	relation_close(rel, NoLock);
	PG_RETURN_VOID();
}

/* True if a command may have created a guard; costs nothing where it has not. */
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

/* The rows */

/*
 * Append columns of the table, separated by commas; with its name, as ORDER BY would take
 * what is selected for a column of the same name.
 */
static void
append_columns(StringInfo query, Relation rel, const AttrNumber *attnos, int n)
{
	for (int i = 0; i < n; i++)
		appendStringInfo(query, "%s%s.%s", i > 0 ? ", " : "",
						 quote_identifier(RelationGetRelationName(rel)),
						 quote_identifier(NameStr(TupleDescAttr(RelationGetDescr(rel),
																attnos[i] - 1)->attname)));
}

/* Columns of the primary key; returns how many there are. */
static int
primary_key(Relation rel, AttrNumber *attnos)
{
	Relation	key = guard_open_primary_key(rel);
	int			n = 0;

	if (key == NULL)
		return 0;
	for (; n < key->rd_index->indnkeyatts; n++)
		attnos[n] = key->rd_index->indkey.values[n];
	index_close(key, AccessShareLock);
	return n;
}

/* An expression of the table in SQL. */
static char *
expression_sql(Relation rel, const char *nodes)
{
	return TextDatumGetCString(DirectFunctionCall2(pg_get_expr, CStringGetTextDatum(nodes),
												   ObjectIdGetDatum(RelationGetRelid(rel))));
}

/*
 * The trigger's WHEN, about a row that is inserted; NULL if it has none, or looks
 * at another row, too.
 */
static char *
condition_sql(Relation rel, const Trigger *trigger)
{
	Node	   *condition;

	if (trigger->tgqual == NULL)
		return NULL;
	condition = stringToNode(trigger->tgqual);
	if (bms_is_member(PRS2_OLD_VARNO, pull_varnos(NULL, condition)))
		return NULL;
	ChangeVarNodes(condition, PRS2_NEW_VARNO, 1, 0);
	return expression_sql(rel, nodeToString(condition));
}

/* The index's predicate; NULL if it has none. */
static char *
predicate_sql(Relation rel, Relation index)
{
	bool		isnull;
	Datum		predicate = SysCacheGetAttr(INDEXRELID, index->rd_indextuple,
											Anum_pg_index_indpred, &isnull);

	return isnull ? NULL : expression_sql(rel, TextDatumGetCString(predicate));
}

/* What the rows of a guard are, in SQL. */
typedef struct RowsQuery
{
	char	   *signature;
	char	   *predicate;		/* NULL: none */
	char	   *condition;		/* NULL: none that can be asked about a row
								 * alone */
	bool		expressions;	/* any that somebody has written for the table */
} RowsQuery;

static RowsQuery
describe_rows(Relation rel, const Trigger *trigger)
{
	const char *source = trigger->tgargs[0];
	AttrNumber	attno = get_attnum(RelationGetRelid(rel), source);
	RowsQuery	rows = {.condition = condition_sql(rel, trigger)};
	Relation	index;

	if (attno > 0)
	{
		guard_require_signature(rel, attno);
		rows.signature = pstrdup(quote_identifier(source));
	}
	else
	{
		index = index_open(guard_named_index(RelationGetRelid(rel), source),
						   AccessShareLock);
		rows.signature = guard_key_sql(index, guard_signature_key(index));
		rows.predicate = predicate_sql(rel, index);
		index_close(index, AccessShareLock);
	}
	rows.expressions = attno <= 0 || rows.condition != NULL;
	return rows;
}

/* Append what names a row: table, place, key as text, and whether the trigger checks it. */
static void
append_row(StringInfo query, Relation rel, const RowsQuery *rows,
		   const char *schema, const AttrNumber *key, int nkey)
{
	appendStringInfoString(query, "SELECT ROW(tableoid, ctid, ");
	if (nkey == 0)
		appendStringInfoString(query, "NULL");
	else
	{
		appendStringInfoString(query, nkey == 1 ? "(" : "ROW(");
		append_columns(query, rel, key, nkey);
		appendStringInfoString(query, ")::pg_catalog.text");
	}
	if (rows->condition == NULL)
		appendStringInfoString(query, ", true");
	else
		appendStringInfo(query, ", (%s) IS TRUE", rows->condition);
	appendStringInfo(query, ")::%s, %s",
					 quote_qualified_identifier(schema, "neardup_guarded_row"),
					 rows->signature);
}

/* The query of the rows that a trigger looks at. */
static char *
rows_query(Relation rel, const Trigger *trigger, const RowsQuery *rows, const char *schema)
{
	GuardArguments arguments = guard_arguments(trigger);
	AttrNumber	key[INDEX_MAX_KEYS];
	int			nkey = primary_key(rel, key);
	StringInfoData query;

	initStringInfo(&query);
	append_row(&query, rel, rows, schema, key, nkey);
	for (int i = 0; i < arguments.nscope; i++)
	{
		(void) guard_scope_attno(rel, arguments.scope[i]);
		appendStringInfo(&query, ", %s", quote_identifier(arguments.scope[i]));
	}
	appendStringInfo(&query, " FROM %s%s",
					 rel->rd_rel->relkind == RELKIND_PARTITIONED_TABLE ? "" : "ONLY ",
					 quote_qualified_identifier(get_namespace_name(RelationGetNamespace(rel)),
												RelationGetRelationName(rel)));
	if (rows->predicate != NULL)
		appendStringInfo(&query, " WHERE %s", rows->predicate);
	if (nkey > 0)
	{
		appendStringInfoString(&query, " ORDER BY ");
		append_columns(&query, rel, key, nkey);
	}
	return query.data;
}

/* Raise an error if the trigger is a partition's clone, or of a view. */
static void
require_whole_table(Relation rel, const Trigger *trigger)
{
	if (trigger->tgisclone)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("trigger \"%s\" guards more than partition \"%s\"",
						trigger->tgname, RelationGetRelationName(rel)),
				 errhint("Give the table that the trigger was created on.")));
	if (rel->rd_rel->relkind == RELKIND_VIEW)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("trigger \"%s\" is one of view \"%s\", which has no rows to guard",
						trigger->tgname, RelationGetRelationName(rel)),
				 errhint("Create the guard on the table.")));
}

/*
 * Raise an error if expressions of the table would be computed by somebody with
 * more rights than its owner: most of all a superuser.
 */
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
 * neardup_guard_rows(relation regclass, trigger name, OUT query text,
 * OUT threshold float8)
 */
Datum
neardup_guard_rows(PG_FUNCTION_ARGS)
{
	Relation	rel = open_table(PG_GETARG_OID(0));
	const Trigger *trigger = guard_trigger(rel, NameStr(*PG_GETARG_NAME(1)), false);
	char	   *schema = get_namespace_name(get_func_namespace(fcinfo->flinfo->fn_oid));
	RowsQuery	rows;
	TupleDesc	desc;
	Datum		values[2];
	bool		nulls[2] = {false, false};

	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	require_whole_table(rel, trigger);
	values[1] = Float8GetDatum(guard_definition(rel, trigger).threshold);
	rows = describe_rows(rel, trigger);
	if (rows.expressions)
		require_owner(rel);
	values[0] = CStringGetTextDatum(rows_query(rel, trigger, &rows, schema));
	relation_close(rel, AccessShareLock);
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc),
													  values, nulls)));
}
