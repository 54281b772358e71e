/*
 * guard_violations.c
 *		What a guard would not have let in, among the rows that are there.
 *
 * A trigger is not checked when it is created, as a constraint is.  So an event
 * trigger counts, see guard_created.c, and neardup_guard_check() whenever somebody
 * asks.
 *
 * The rows are listed as groups are made: a query is put together that gives
 * the rows which the trigger would look at, each with its signature and its
 * scope, in the order of their primary key.  It is run with the rights of whoever
 * wants to know, or with those of the table's owner if he has all of these, too:
 * the expressions of indexes are the owner's, and a superuser must not work them out.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/guard/guard_violations.c
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/namespace.h"
#include "catalog/pg_index.h"
#include "catalog/pg_type_d.h"
#include "executor/spi.h"
#include "funcapi.h"
#include "optimizer/optimizer.h"
#include "rewrite/rewriteManip.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

#include "base/compat.h"
#include "base/owner.h"
#include "guard/guard.h"

PG_FUNCTION_INFO_V1(neardup_guard_rows);
PG_FUNCTION_INFO_V1(neardup_guard_violations);
PG_FUNCTION_INFO_V1(neardup_guard_check);

/* See guard.h */
const Trigger *
guard_trigger(Relation rel, const char *name, bool missing_ok)
{
	/* those of the relation may be freed when a lock is taken */
	const TriggerDesc *triggers = CopyTriggerDesc(rel->trigdesc);
	FmgrInfo	function;

	for (int i = 0; triggers != NULL && i < triggers->numtriggers; i++)
	{
		const Trigger *trigger = &triggers->triggers[i];

		if (strcmp(trigger->tgname, name) != 0)
			continue;
		fmgr_info(trigger->tgfoid, &function);
		if (function.fn_addr == neardup_guard)
			return trigger;
		if (missing_ok)
			return NULL;
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("trigger \"%s\" of table \"%s\" does not call neardup_guard",
						name, RelationGetRelationName(rel))));
	}
	if (missing_ok)
		return NULL;
	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_OBJECT),
			 errmsg("table \"%s\" has no trigger \"%s\"",
					RelationGetRelationName(rel), name),
			 errhint("Give the table and the name of a trigger that calls neardup_guard.")));
}

/*
 * Appends columns of the table, separated by commas; with its name, as ORDER BY would take
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
	List	   *indexes = RelationGetIndexList(rel);
	ListCell   *lc;
	int			n = 0;

	foreach(lc, indexes)
	{
		Relation	index = index_open(lfirst_oid(lc), AccessShareLock);

		if (index->rd_index->indisprimary)
			for (n = 0; n < index->rd_index->indnkeyatts; n++)
				attnos[n] = index->rd_index->indkey.values[n];
		index_close(index, AccessShareLock);
	}
	list_free(indexes);
	return n;
}

/*
 * The trigger's WHEN, about a row that is inserted, as an expression of the table; of
 * an UPDATE that has another row, too, nothing is known.
 */
static char *
trigger_condition(Relation rel, const Trigger *trigger)
{
	Node	   *condition;

	if (trigger->tgqual == NULL)
		return "true";
	condition = stringToNode(trigger->tgqual);
	if (bms_is_member(PRS2_OLD_VARNO, pull_varnos(NULL, condition)))
		return "true";
	ChangeVarNodes(condition, PRS2_NEW_VARNO, 1, 0);
	return psprintf("(%s) IS TRUE",
					TextDatumGetCString(DirectFunctionCall2(pg_get_expr,
															CStringGetTextDatum(nodeToString(condition)),
															ObjectIdGetDatum(RelationGetRelid(rel)))));
}

/*
 * Appends what is told of a row: its table, its place, its key as a text, and whether
 * the trigger checks it.
 */
static void
append_row(StringInfo query, Relation rel, const Trigger *trigger,
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
	appendStringInfo(query, ", %s)::%s", trigger_condition(rel, trigger),
					 quote_qualified_identifier(schema, "neardup_guarded_row"));
}

/* Appends the signature; returns the predicate that goes with it, or NULL. */
static char *
append_signature(StringInfo query, Relation rel, const char *source)
{
	AttrNumber	attno = get_attnum(RelationGetRelid(rel), source);
	Relation	index;
	Datum		predicate;
	bool		isnull;
	char	   *where = NULL;

	if (attno > 0)
	{
		guard_require_signature(rel, attno);
		appendStringInfo(query, ", %s", quote_identifier(source));
		return NULL;
	}
	index = index_open(guard_named_index(RelationGetRelid(rel), source),
					   AccessShareLock);
	appendStringInfo(query, ", %s",
					 TextDatumGetCString(DirectFunctionCall3(pg_get_indexdef_ext,
															 ObjectIdGetDatum(RelationGetRelid(index)),
															 Int32GetDatum(guard_signature_key(index)),
															 BoolGetDatum(false))));
	predicate = SysCacheGetAttr(INDEXRELID, index->rd_indextuple,
								Anum_pg_index_indpred, &isnull);
	if (!isnull)
		where = TextDatumGetCString(DirectFunctionCall2(pg_get_expr, predicate,
													   ObjectIdGetDatum(RelationGetRelid(rel))));
	index_close(index, AccessShareLock);
	return where;
}

/* The query of the rows that a trigger looks at. */
static char *
rows_query(Relation rel, const Trigger *trigger, const char *schema)
{
	GuardArguments arguments = guard_arguments(trigger);
	AttrNumber	key[INDEX_MAX_KEYS];
	int			nkey = primary_key(rel, key);
	StringInfoData query;
	char	   *predicate;

	initStringInfo(&query);
	append_row(&query, rel, trigger, schema, key, nkey);
	predicate = append_signature(&query, rel, trigger->tgargs[0]);
	for (int i = 0; i < arguments.nscope; i++)
	{
		(void) guard_scope_attno(rel, arguments.scope[i]);
		appendStringInfo(&query, ", %s", quote_identifier(arguments.scope[i]));
	}
	appendStringInfo(&query, " FROM %s%s",
					 rel->rd_rel->relkind == RELKIND_PARTITIONED_TABLE ? "" : "ONLY ",
					 quote_qualified_identifier(get_namespace_name(RelationGetNamespace(rel)),
												RelationGetRelationName(rel)));
	if (predicate != NULL)
		appendStringInfo(&query, " WHERE %s", predicate);
	if (nkey > 0)
	{
		appendStringInfoString(&query, " ORDER BY ");
		append_columns(&query, rel, key, nkey);
	}
	return query.data;
}

/* Raises an error if the trigger is a partition's clone, or of a view. */
static void
require_own(Relation rel, const Trigger *trigger)
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
 * neardup_guard_rows(relation regclass, trigger name, OUT query text,
 * OUT threshold float8)
 */
Datum
neardup_guard_rows(PG_FUNCTION_ARGS)
{
	Relation	rel = table_open(PG_GETARG_OID(0), AccessShareLock);
	const Trigger *trigger = guard_trigger(rel, NameStr(*PG_GETARG_NAME(1)),
										   false);
	char	   *schema = get_namespace_name(get_func_namespace(fcinfo->flinfo->fn_oid));
	TupleDesc	desc;
	Datum		values[2];
	bool		nulls[2] = {false, false};

	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	require_own(rel, trigger);
	values[0] = CStringGetTextDatum(rows_query(rel, trigger, schema));
	values[1] = Float8GetDatum(guard_arguments(trigger).threshold);
	table_close(rel, AccessShareLock);
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc),
													  values, nulls)));
}

/* See guard.h */
GuardHome
guard_home(Oid function)
{
	GuardHome	home = {.schema = get_func_namespace(function)};
	List	   *path = fetch_search_path(true);

	home.on_path = list_member_oid(path, home.schema);
	list_free(path);
	return home;
}

/* See guard.h */
char *
guard_call(GuardHome home, const char *function, Oid relid, const char *trigger)
{
	return psprintf("%s(%s, %s)",
					home.on_path ? function :
					quote_qualified_identifier(get_namespace_name(home.schema), function),
					quote_literal_cstr(quote_qualified_identifier(get_namespace_name(get_rel_namespace(relid)),
																  get_rel_name(relid))),
					quote_literal_cstr(trigger));
}

/*
 * The query of violations: $1 is that of the rows, $2 the threshold.  It calls a
 * function whose arguments have just these types: what somebody puts beside it cannot
 * be a better match.
 */
static char *
violations_query(const char *schema, const char *columns)
{
	return psprintf("SELECT %s FROM %s(NULL::%s, $1, $2, 'jaccard'::pg_catalog.text, 'kept'::pg_catalog.text) AS c "
					"WHERE c.similarity IS NOT NULL AND (c.id).checked",
					columns,
					quote_qualified_identifier(schema, "neardup_guard_clusters"),
					quote_qualified_identifier(schema, "neardup_guarded_row"));
}

#define VIOLATIONS_PARAMETERS	2

static void
make_parameters(Relation rel, const Trigger *trigger, const char *schema,
				Oid *types, Datum *values)
{
	types[0] = TEXTOID;
	values[0] = CStringGetTextDatum(rows_query(rel, trigger, schema));
	types[1] = FLOAT8OID;
	values[1] = Float8GetDatum(guard_arguments(trigger).threshold);
}

/* A value of the row that SPI has found, as a text; or NULL. */
static const char *
found_text(int column)
{
	return SPI_getvalue(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, column);
}

/* Warns of the rows that SPI has found. */
static void
warn(Oid relid, const char *trigger, GuardHome home)
{
	const char *key = found_text(1);

	ereport(WARNING,
			(errcode(ERRCODE_EXCLUSION_VIOLATION),
			 errmsg("table \"%s\" has rows that guard \"%s\" would not let in: %s",
					get_rel_name(relid), trigger, found_text(4)),
			 key != NULL ?
			 errdetail("The first is row %s, which is near to row %s with similarity %s.",
					   key, found_text(2), found_text(3)) :
			 errdetail("The first is near to another with similarity %s; without a primary key rows have no name.",
					   found_text(3)),
			 errhint("See them with SELECT * FROM %s.",
					 guard_call(home, "neardup_guard_violations", relid, trigger))));
}

/* See guard.h */
int64
guard_warn_of_violations(Relation rel, const Trigger *trigger, GuardHome home)
{
	char	   *schema = get_namespace_name(home.schema);
	char	   *query = psprintf("%s LIMIT 1",
								 violations_query(schema, "(c.id).key, (c.representative).key, c.similarity, pg_catalog.count(*) OVER ()"));
	Oid			types[VIOLATIONS_PARAMETERS];
	Datum		values[VIOLATIONS_PARAMETERS];
	int64		n = 0;
	bool		isnull;

	make_parameters(rel, trigger, schema, types, values);
	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	if (SPI_execute_with_args(query, VIOLATIONS_PARAMETERS, types, values, NULL,
							  true, 0) != SPI_OK_SELECT)
		elog(ERROR, "query of violations failed");
	if (SPI_processed > 0)
	{
		n = DatumGetInt64(SPI_getbinval(SPI_tuptable->vals[0],
										SPI_tuptable->tupdesc, 4, &isnull));
		warn(RelationGetRelid(rel), trigger->tgname, home);
	}
	if (SPI_finish() != SPI_OK_FINISH)
		elog(ERROR, "SPI_finish failed");
	return n;
}

/* Rows of violations that are fetched at once */
#define FETCHED			1000

/* Lists the violations, as neardup_guard_violations() returns them. */
static void
list_violations(Relation rel, const Trigger *trigger, Oid namespace,
				Tuplestorestate *result)
{
	char	   *schema = get_namespace_name(namespace);
	char	   *query = violations_query(schema, "(c.id).\"table\", (c.id).place, (c.id).key, "
										 "(c.representative).\"table\", (c.representative).place, (c.representative).key, c.similarity");
	Oid			types[VIOLATIONS_PARAMETERS];
	Datum		values[VIOLATIONS_PARAMETERS];
	Portal		portal;

	make_parameters(rel, trigger, schema, types, values);
	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	portal = SPI_cursor_open_with_args(NULL, query, VIOLATIONS_PARAMETERS, types,
									   values, NULL, true, 0);
	do
	{
		SPI_cursor_fetch(portal, true, FETCHED);
		for (uint64 i = 0; i < SPI_processed; i++)
			tuplestore_puttuple(result, SPI_tuptable->vals[i]);
		SPI_freetuptable(SPI_tuptable);
	} while (SPI_processed == FETCHED);
	SPI_cursor_close(portal);
	if (SPI_finish() != SPI_OK_FINISH)
		elog(ERROR, "SPI_finish failed");
}

/*
 * A guard whose rows somebody wants to know of.  Where he has all rights of the
 * table's owner, these are in force until the end.
 */
typedef struct Question
{
	Relation	rel;
	const Trigger *trigger;
	bool		as_owner;
	OwnerWork	owner;
} Question;

/* The arguments are the table and the trigger. */
static void
question_begin(Question *question, FunctionCallInfo fcinfo)
{
	Relation	rel = table_open(PG_GETARG_OID(0), AccessShareLock);

	question->rel = rel;
	question->trigger = guard_trigger(rel, NameStr(*PG_GETARG_NAME(1)), false);
	require_own(rel, question->trigger);
	question->as_owner = owner_is_another(rel);
	if (question->as_owner)
	{
		owner_begin(&question->owner, rel);
		owner_must_see_all_rows();
	}
	PushActiveSnapshot(GetTransactionSnapshot());
}

static void
question_end(Question *question)
{
	PopActiveSnapshot();
	if (question->as_owner)
		owner_end(&question->owner);
	table_close(question->rel, NoLock);
}

/* neardup_guard_violations(relation regclass, trigger name) */
Datum
neardup_guard_violations(PG_FUNCTION_ARGS)
{
	Question	question;

	InitMaterializedSRF(fcinfo, 0);
	question_begin(&question, fcinfo);
	list_violations(question.rel, question.trigger,
					get_func_namespace(fcinfo->flinfo->fn_oid),
					((ReturnSetInfo *) fcinfo->resultinfo)->setResult);
	question_end(&question);
	return (Datum) 0;
}

/* neardup_guard_check(relation regclass, trigger name) RETURNS bigint */
Datum
neardup_guard_check(PG_FUNCTION_ARGS)
{
	GuardHome	home = guard_home(fcinfo->flinfo->fn_oid);
	Question	question;
	int64		n;

	question_begin(&question, fcinfo);
	n = guard_warn_of_violations(question.rel, question.trigger, home);
	question_end(&question);
	PG_RETURN_INT64(n);
}
