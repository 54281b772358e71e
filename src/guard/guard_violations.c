/*
 * guard_violations.c
 *		Finds the rows that a guard would have refused, by a query over its
 *		table.
 *
 * Functions of the extension are called with exactly the types of their
 * arguments, so that no other function of that name is chosen.
 *
 * Index expressions, WHEN and the condition of the trigger are part of the
 * query, and may call functions that the table's owner has written.  So the
 * query is made and run as the owner, in a security-restricted operation, with
 * names looked up in pg_catalog.  Keys become text by output functions, not by
 * casts, which anybody can make for a type.
 *
 * A user who may not read all rows of the table runs the query as himself,
 * over the rows that he sees.  That is an error if an expression of the owner
 * is in it.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/relation.h"
#include "access/sysattr.h"
#include "access/table.h"
#include "catalog/objectaddress.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "executor/tstoreReceiver.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "rewrite/rewriteManip.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/float.h"
#include "utils/fmgrprotos.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/rls.h"

#include "base/call.h"
#include "base/compat.h"
#include "guard/guard.h"

PG_FUNCTION_INFO_V1(neardup_guard_rows);
PG_FUNCTION_INFO_V1(neardup_guard_violations);

/* A guard in SQL; names outside pg_catalog have their schemas */
typedef struct GuardSql
{
	const char *schema;			/* schema of the extension */
	double		threshold;
	const char *measure;		/* name of the measure */
	char	   *signature;		/* the signature: a column or an expression */
	GuardArguments arguments;
	Bitmapset  *columns;		/* columns that the condition names */
	char	   *from;			/* the table, and the predicate of the index */
	const char *order;			/* sort order: the primary key, or the rows'
								 * places */
	char	   *key;			/* the primary key as text; "NULL" if there is
								 * none */
	char	   *checked;		/* expression that is true if the trigger's
								 * WHEN holds */
	bool		has_expressions;	/* true if it has expressions of the
									 * table's owner */
} GuardSql;

/* The guard in SQL */

/* Return an expression over the table's columns in SQL. */
static char *
expression_sql(Relation rel, Node *expr)
{
	Datum		tree = CStringGetTextDatum(nodeToString(expr));
	Datum		relid = ObjectIdGetDatum(RelationGetRelid(rel));

	return TextDatumGetCString(DirectFunctionCall2(pg_get_expr, tree, relid));
}

/*
 * Return the WHEN of a trigger in SQL; NULL if there is none, or if it reads
 * OLD.
 */
static char *
when_sql(Relation rel, const Trigger *trigger)
{
	Node	   *when;

	if (trigger->tgqual == NULL)
		return NULL;
	when = stringToNode(trigger->tgqual);
	if (bms_is_member(PRS2_OLD_VARNO, pull_varnos(NULL, when)))
		return NULL;
	ChangeVarNodes(when, PRS2_NEW_VARNO, 1, 0);
	return expression_sql(rel, when);
}

/*
 * Set the signature and the rows: all of them, or the rows in the index that
 * the trigger names.
 */
static void
set_source(GuardSql *sql, Relation rel, const Trigger *trigger)
{
	const char *source = trigger->tgargs[0];
	StringInfoData from;
	Relation	index;
	List	   *predicate;

	initStringInfo(&from);
	appendStringInfo(&from, "%s%s",
					 rel->rd_rel->relkind == RELKIND_PARTITIONED_TABLE ? "" :
					 "ONLY ",
					 quote_qualified_identifier(get_namespace_name(RelationGetNamespace(rel)),
												RelationGetRelationName(rel)));
	if (get_attnum(RelationGetRelid(rel), source) > 0)
		sql->signature = pstrdup(quote_identifier(source));
	else
	{
		index = index_open(guard_named_index(RelationGetRelid(rel), source),
						   AccessShareLock);
		sql->signature = guard_key_sql(index, guard_signature_key(index));
		predicate = RelationGetIndexPredicate(index);
		if (predicate != NIL)
			appendStringInfo(&from, " WHERE %s",
							 expression_sql(rel,
											(Node *) make_ands_explicit(predicate)));
		index_close(index, NoLock);
		sql->has_expressions = true;
	}
	sql->from = from.data;
}

/*
 * Set the key as text, and the order of rows.  Columns are qualified, since
 * columns of a result may have the same names.
 */
static void
set_key(GuardSql *sql, Relation rel)
{
	Relation	key = guard_open_key(rel);
	StringInfoData columns;

	sql->order = "tableoid, ctid";
	sql->key = pstrdup("NULL");
	if (key == NULL)
		return;
	initStringInfo(&columns);
	for (int i = 0; i < key->rd_index->indnkeyatts; i++)
	{
		Form_pg_attribute att =
		TupleDescAttr(RelationGetDescr(rel),
					  key->rd_index->indkey.values[i] - 1);

		appendStringInfo(&columns, "%s%s.%s", i > 0 ? ", " : "",
						 quote_identifier(RelationGetRelationName(rel)),
						 quote_identifier(NameStr(att->attname)));
	}
	sql->order = columns.data;
	sql->key = psprintf("pg_catalog.format('%%s', %s(%s))",
						key->rd_index->indnkeyatts > 1 ? "ROW" : "",
						columns.data);
	index_close(key, AccessShareLock);
}

/* Return a guard in SQL.  Raises the error that the first row would raise. */
static GuardSql
make_sql(FunctionCallInfo fcinfo, Relation rel, const Trigger *trigger)
{
	GuardSql	sql = {
		.schema =
		quote_identifier(get_namespace_name(get_func_namespace(fcinfo->flinfo->fn_oid)))
	};
	char	   *when;

	guard_require_serving(rel, trigger);
	sql.arguments = guard_arguments(trigger);
	sql.threshold = sql.arguments.threshold;
	sql.measure = measure_name(sql.arguments.measure);
	set_source(&sql, rel, trigger);
	set_key(&sql, rel);
	when = when_sql(rel, trigger);
	sql.checked = when == NULL ? "true" : psprintf("(%s) IS TRUE", when);
	if (sql.arguments.condition != NULL)
	{
		Guard		guard = {.before = false};

		guard_parse_condition(&guard, rel, trigger, sql.arguments.condition);
		sql.columns = guard.condition.columns;
	}
	sql.has_expressions |= when != NULL || sql.arguments.condition != NULL;
	return sql;
}

/*
 * Return the query of rows for near_duplicate_groups().  Its columns are a
 * neardup_guarded_row, the signature, and the scope; its rows are in the order
 * of the key.
 */
static char *
rows_query(const GuardSql *sql)
{
	StringInfoData query;

	initStringInfo(&query);
	appendStringInfo(&query,
					 "SELECT ROW(tableoid, ctid, %s, %s)::%s.neardup_guarded_row, %s",
					 sql->key, sql->checked, sql->schema, sql->signature);
	for (int i = 0; i < sql->arguments.nscope; i++)
		appendStringInfo(&query, ", %s",
						 quote_identifier(sql->arguments.scope[i]));
	appendStringInfo(&query, " FROM %s ORDER BY %s", sql->from, sql->order);
	return query.data;
}

/* Queries of pairs, for a guard with a condition */

/*
 * Return the beginning of a query, WITH rows AS ..., in which rows have these
 * columns and a number by their order.
 */
static char *
numbered_rows(const GuardSql *sql, const char *columns)
{
	return psprintf("WITH rows AS MATERIALIZED (SELECT pg_catalog.row_number() OVER (ORDER BY %s) AS \"neardup row\", %s FROM %s)",
					sql->order, columns, sql->from);
}

/*
 * Return the columns that a query of pairs needs: the signature, a number of
 * the scope, by the default order of its columns' types, and the columns of
 * the condition.
 */
static char *
pair_columns(const GuardSql *sql, Relation rel)
{
	StringInfoData columns;
	int			member = -1;

	initStringInfo(&columns);
	appendStringInfo(&columns,
					 "%s AS \"neardup signature\", pg_catalog.dense_rank() OVER (%s",
					 sql->signature, sql->arguments.nscope > 0 ? "ORDER BY " :
					 "");
	for (int i = 0; i < sql->arguments.nscope; i++)
		appendStringInfo(&columns, "%s%s", i > 0 ? ", " : "",
						 quote_identifier(sql->arguments.scope[i]));
	appendStringInfoString(&columns, ") AS \"neardup scope\"");
	while ((member = bms_next_member(sql->columns, member)) >= 0)
	{
		AttrNumber	attno = member + FirstLowInvalidHeapAttributeNumber;
		Form_pg_attribute att = TupleDescAttr(RelationGetDescr(rel),
											  attno - 1);

		appendStringInfo(&columns, ", %s",
						 quote_identifier(NameStr(att->attname)));
	}
	return columns.data;
}

/* Return the query of pairs for near_duplicate_groups_of_pairs(). */
static char *
pairs_query(const GuardSql *sql, Relation rel)
{
	return psprintf("%s SELECT old.\"neardup row\", new.\"neardup row\", %s.%s(old.\"neardup signature\", new.\"neardup signature\")"
					" FROM rows AS old JOIN rows AS new ON %s.near_duplicate(old.\"neardup signature\", new.\"neardup signature\","
					" %s::pg_catalog.float8, %s::pg_catalog.text)"
					" AND old.\"neardup row\" < new.\"neardup row\" AND old.\"neardup scope\" = new.\"neardup scope\" AND (%s\n)",
					numbered_rows(sql, pair_columns(sql, rel)), sql->schema,
					sql->arguments.measure == MEASURE_COSINE ? "cosine" :
					"similarity",
					sql->schema, float8out_internal(sql->threshold),
					quote_literal_cstr(sql->measure),
					sql->arguments.condition);
}

/*
 * Return the query of violations for a guard with a condition; its parameter
 * is the query of pairs.
 */
static char *
violations_of_pairs(const GuardSql *sql)
{
	return psprintf("%s SELECT r.\"neardup table\", r.\"neardup place\", r.\"neardup key\","
					" n.\"neardup table\", n.\"neardup place\", n.\"neardup key\", g.similarity"
					" FROM %s.near_duplicate_groups_of_pairs($1, 'greedy'::pg_catalog.text) AS g"
					" JOIN rows AS r ON r.\"neardup row\" = g.id JOIN rows AS n ON n.\"neardup row\" = g.representative"
					" WHERE g.similarity IS NOT NULL AND r.\"neardup checked\" ORDER BY g.id",
					numbered_rows(sql,
								  psprintf("tableoid::pg_catalog.regclass AS \"neardup table\", ctid AS \"neardup place\", %s AS \"neardup key\", %s AS \"neardup checked\"",
										   sql->key, sql->checked)),
					sql->schema);
}

/*
 * Return the query of violations for a guard without a condition; its
 * parameters are the query of rows, the threshold and the measure.
 */
static char *
violations_of_rows(const GuardSql *sql)
{
	return psprintf("SELECT * FROM %s._neardup_guard_groups($1, $2, $3)",
					sql->schema);
}

/* Rights */

/* Change a setting until AtEOXact_GUC() or owner_end(). */
static void
set(const char *name, const char *value)
{
	(void) set_config_option(name, value, PGC_USERSET, PGC_S_SESSION,
							 GUC_ACTION_SAVE, true, 0, false);
}

/* Let names be looked up in pg_catalog only. */
static void
use_safe_path(void)
{
	set("search_path", "pg_catalog, pg_temp");
}

/* True if the user may read all rows of the table. */
static bool
may_read_all(Relation rel)
{
	return pg_class_aclcheck(RelationGetRelid(rel), GetUserId(),
							 ACL_SELECT) == ACLCHECK_OK &&
		check_enable_rls(RelationGetRelid(rel), InvalidOid,
						 true) != RLS_ENABLED;
}

/*
 * Raise an error unless the user may read the table, or a column of it.
 */
static void
require_select(Relation rel)
{
	Oid			relid = RelationGetRelid(rel);

	if (pg_class_aclcheck(relid, GetUserId(), ACL_SELECT) != ACLCHECK_OK &&
		pg_attribute_aclcheck_all(relid, GetUserId(), ACL_SELECT,
								  ACLMASK_ANY) != ACLCHECK_OK)
		aclcheck_error(ACLCHECK_NO_PRIV,
					   get_relkind_objtype(rel->rd_rel->relkind),
					   RelationGetRelationName(rel));
}

/*
 * Raise an error if the query has expressions of the table's owner, and the
 * user is another role.
 */
static void
require_own_expressions(Relation rel, const GuardSql *sql)
{
	const char *owner = GetUserNameFromId(rel->rd_rel->relowner, false);

	if (sql->has_expressions && GetUserId() != rel->rd_rel->relowner)
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
 * Return the trigger that a function's arguments name; raise an error if it is
 * a clone.
 */
static const Trigger *
argument_trigger(FunctionCallInfo fcinfo, Relation rel)
{
	const Trigger *trigger = guard_trigger(rel, NameStr(*PG_GETARG_NAME(1)),
										   false);

	if (trigger->tgisclone)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("trigger \"%s\" guards more than partition \"%s\"",
						trigger->tgname, RelationGetRelationName(rel)),
				 errhint("Give the table that the trigger was created on.")));
	return trigger;
}

/* Functions */

/*
 * neardup_guard_rows(relation regclass, trigger name, OUT query text, OUT
 * threshold float8, OUT measure text)
 */
Datum
neardup_guard_rows(PG_FUNCTION_ARGS)
{
	Relation	rel = argument_relation(PG_GETARG_OID(0), AccessShareLock);
	const Trigger *trigger = argument_trigger(fcinfo, rel);
	OwnerWork	work;
	GuardSql	sql;
	Datum		values[3];
	bool		nulls[3] = {false};

	owner_begin(&work, rel);
	use_safe_path();
	sql = make_sql(fcinfo, rel, trigger);
	owner_end(&work);
	require_own_expressions(rel, &sql);
	values[0] = CStringGetTextDatum(rows_query(&sql));
	values[1] = Float8GetDatum(sql.threshold);
	values[2] = CStringGetTextDatum(sql.measure);
	relation_close(rel, NoLock);
	PG_RETURN_DATUM(call_row(call_row_type(fcinfo), lengthof(values), values,
							 nulls));
}

/* Return a constant parameter of a query. */
static ParamExternData
constant(Oid type, Datum value)
{
	return (ParamExternData)
	{
		.value = value,
			.pflags = PARAM_FLAG_CONST,
			.ptype = type
	};
}

/*
 * Return the parameters of the query of violations: a query, the threshold and
 * the measure.
 */
static ParamListInfo
make_parameters(const char *query, const GuardSql *sql)
{
	ParamListInfo parameters = makeParamList(3);

	parameters->params[0] = constant(TEXTOID, CStringGetTextDatum(query));
	parameters->params[1] = constant(FLOAT8OID,
									 Float8GetDatum(sql->threshold));
	parameters->params[2] = constant(TEXTOID,
									 CStringGetTextDatum(sql->measure));
	return parameters;
}

/* Run the query of violations, and store its rows in the result. */
static void
store_violations(const GuardSql *sql, Relation rel, ReturnSetInfo *result)
{
	bool		pairs = sql->arguments.condition != NULL;
	DestReceiver *dest = CreateTuplestoreDestReceiver();
	SPIExecuteOptions options = {
		.params = make_parameters(pairs ? pairs_query(sql, rel) :
								  rows_query(sql), sql),
		.dest = dest
	};

	SetTuplestoreDestReceiverParams(dest, result->setResult,
									CurrentMemoryContext, false,
									result->setDesc,
									"columns of violations have changed");
	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	if (SPI_execute_extended(pairs ? violations_of_pairs(sql) :
							 violations_of_rows(sql),
							 &options) != SPI_OK_SELECT)
		elog(ERROR, "SPI_execute_extended failed");
	SPI_finish();
}

/* neardup_guard_violations(relation regclass, trigger name) */
Datum
neardup_guard_violations(PG_FUNCTION_ARGS)
{
	Relation	rel = argument_relation(PG_GETARG_OID(0), AccessShareLock);
	const Trigger *trigger = argument_trigger(fcinfo, rel);
	bool		as_owner = may_read_all(rel);
	OwnerWork	work;
	GuardSql	sql;
	int			settings;

	InitMaterializedSRF(fcinfo, 0);
	require_select(rel);
	owner_begin(&work, rel);
	use_safe_path();
	sql = make_sql(fcinfo, rel, trigger);

	/*
	 * a policy that is forced on the owner would hide rows; this makes it an
	 * error
	 */
	set("row_security", "off");
	if (as_owner)
		store_violations(&sql, rel, (ReturnSetInfo *) fcinfo->resultinfo);
	owner_end(&work);
	if (!as_owner)
	{
		require_own_expressions(rel, &sql);
		settings = NewGUCNestLevel();
		use_safe_path();
		store_violations(&sql, rel, (ReturnSetInfo *) fcinfo->resultinfo);
		AtEOXact_GUC(true, settings);
	}
	relation_close(rel, NoLock);
	return (Datum) 0;
}
