/*
 * outdated.c
 *		Rows of a table whose signature would now differ from the stored one.
 *
 * The expression that makes a signature may call functions of the table's
 * owner, so all of the query runs with the owner's rights, in a
 * security-restricted operation, and the caller must have these rights, as in
 * amcheck.
 */
#include "postgres.h"

#include "access/relation.h"
#include "catalog/namespace.h"
#include "catalog/pg_attribute.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "rewrite/rewriteHandler.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/ruleutils.h"

#include "base/call.h"

PG_FUNCTION_INFO_V1(neardup_outdated);

/*
 * Raise INSUFFICIENT_PRIVILEGE unless the user has all rights of the table's
 * owner.
 */
static void
require_owner(Relation rel)
{
	const char *owner;

	if (has_privs_of_role(GetUserId(), rel->rd_rel->relowner))
		return;
	owner = GetUserNameFromId(rel->rd_rel->relowner, false);
	ereport(ERROR,
			(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
			 errmsg("must be owner of table \"%s\"", RelationGetRelationName(rel)),
			 errdetail("Signatures of the table are made with the rights of its owner \"%s\".", owner),
			 errhint("Let this role count the rows by neardup_outdated().")));
}

/*
 * Return the number of a table's column; raise UNDEFINED_COLUMN if there is
 * none.
 */
static AttrNumber
column_number(Relation rel, const char *name)
{
	AttrNumber	attnum = get_attnum(RelationGetRelid(rel), name);

	if (attnum == InvalidAttrNumber)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_COLUMN),
				 errmsg("column \"%s\" of table \"%s\" does not exist",
						name, RelationGetRelationName(rel))));
	return attnum;
}

/* Raise INVALID_PARAMETER_VALUE unless a column is generated and stored. */
static void
require_generated(Relation rel, AttrNumber attnum)
{
	Form_pg_attribute att = attnum > 0 ?
	TupleDescAttr(RelationGetDescr(rel), attnum - 1) : NULL;
	const char *column = get_attname(RelationGetRelid(rel), attnum, false);
	const char *table;

	if (att != NULL && att->attgenerated == ATTRIBUTE_GENERATED_STORED)
		return;
	table = DatumGetCString(DirectFunctionCall1(regclassout,
												ObjectIdGetDatum(RelationGetRelid(rel))));
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("column \"%s\" of table %s is not a generated column",
					column, table),
			 errhint("Say what makes it: neardup_outdated(%s, %s, 'shingles(body)').",
					 quote_literal_cstr(table), quote_literal_cstr(column))));
}

/*
 * Return a generated column's expression in SQL, with names for the search
 * path.
 */
static char *
generated_sql(Relation rel, AttrNumber attnum)
{
	List	   *context = deparse_context_for(RelationGetRelationName(rel),
											  RelationGetRelid(rel));

	Assert(TupleDescAttr(RelationGetDescr(rel), attnum - 1)->attgenerated != '\0');
	return deparse_expression(build_column_default(rel, attnum), context, false, false);
}

/*
 * Return the query that counts the rows, and those whose signature differs.
 * It compares bytes: that needs no operator in the search path, and finds
 * signatures that are equal but for the order of their values.
 */
static char *
counting_query(Relation rel, const char *column, const char *expression,
			   double percent)
{
	StringInfoData query;

	initStringInfo(&query);
	appendStringInfo(&query,
					 "SELECT pg_catalog.count(*), pg_catalog.count(*) FILTER (WHERE "
					 "pg_catalog.record_image_ne(ROW(%s), ROW((%s\n)))) FROM %s",
					 quote_identifier(column), expression,
					 quote_qualified_identifier(get_namespace_name(RelationGetNamespace(rel)),
												RelationGetRelationName(rel)));
	if (percent < 100)
		appendStringInfo(&query, " TABLESAMPLE pg_catalog.system(%.17g)", percent);
	return query.data;
}

/* Raise INVALID_PARAMETER_VALUE if so many percent cannot be read. */
static double
argument_percent(double percent)
{
	/* written so that NaN fails */
	if (!(percent > 0 && percent <= 100))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("percent is out of range: %g", percent),
				 errdetail("It is a number greater than 0 and at most 100.")));
	return percent;
}

/* Run the query, and put its two numbers into values and nulls. */
static void
count_rows(const char *query, Datum *values, bool *nulls)
{
	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	if (SPI_execute(query, false, 0) != SPI_OK_SELECT || SPI_processed != 1)
		elog(ERROR, "rows could not be counted: %s", query);
	for (int i = 0; i < 2; i++)
		values[i] = Int64GetDatum(DatumGetInt64(SPI_getbinval(SPI_tuptable->vals[0],
															  SPI_tuptable->tupdesc,
															  i + 1, &nulls[i])));
	SPI_finish();
}

/*
 * Count as the table's owner, by the column's own expression or the user's
 * expression.
 */
static void
count_as_owner(Relation rel, const char *column, char *expression, double percent,
			   Datum *values, bool *nulls)
{
	char	   *path = pstrdup(namespace_search_path);
	OwnerWork	work;

	owner_begin(&work, rel);
	if (expression == NULL)
		expression = generated_sql(rel, column_number(rel, column));
	else						/* its names are in the user's search path */
		(void) set_config_option("search_path", path, PGC_USERSET, PGC_S_SESSION,
								 GUC_ACTION_SAVE, true, 0, false);
	count_rows(counting_query(rel, column, expression, percent), values, nulls);
	owner_end(&work);
}

/*
 * neardup_outdated(relation regclass, signature_column name, expression text,
 * percent float8, OUT compared int8, OUT outdated int8)
 */
Datum
neardup_outdated(PG_FUNCTION_ARGS)
{
	Datum		values[2] = {0};
	bool		nulls[2] = {true, true};

	if (!PG_ARGISNULL(0) && !PG_ARGISNULL(1) && !PG_ARGISNULL(3))
	{
		Relation	rel = argument_relation(PG_GETARG_OID(0), AccessShareLock);
		const char *column = NameStr(*PG_GETARG_NAME(1));
		AttrNumber	attnum = column_number(rel, column);

		require_owner(rel);
		if (PG_ARGISNULL(2))
			require_generated(rel, attnum);
		count_as_owner(rel, column,
					   PG_ARGISNULL(2) ? NULL : text_to_cstring(PG_GETARG_TEXT_PP(2)),
					   argument_percent(PG_GETARG_FLOAT8(3)), values, nulls);
		relation_close(rel, NoLock);
	}
	return call_row(call_row_type(fcinfo), 2, values, nulls);
}
