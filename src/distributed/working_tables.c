/*
 * working_tables.c
 *		Tables that one step of a procedure leaves to the next.
 *
 * They are unlogged, stand beside the result and are dropped at the end;
 * temporary ones, which could not be read by several processes, nor distributed,
 * are made only where the result is temporary itself.  A
 * table is made empty, distributed on Citus, and then filled, so that rows go
 * from node to node.  Only columns that joins are on are analyzed: of signatures
 * that would take longer than to join them.
 */
#include "postgres.h"

#include "catalog/pg_type_d.h"
#include "executor/spi.h"
#include "utils/builtins.h"

#include "distributed/working_tables.h"

void
working_term(WorkingTables *tables, const char *name, char *value)
{
	Assert(tables->nterms < MAX_TERMS);
	tables->terms[tables->nterms].name = name;
	tables->terms[tables->nterms++].value = value;
}

/* Operators that statements call whatever the search path is. */
static const char *
built_in_operator(const char *place, size_t len)
{
	if (len == 0 || strspn(place, "+-*/<>=|&%") < len)
		return NULL;
	return psprintf("OPERATOR(pg_catalog.%.*s)", (int) len, place);
}

/* The value of the term that stands there in braces. */
static const char *
term_value(const WorkingTables *tables, const char *place, size_t len)
{
	const char *operator;

	for (int i = 0; i < tables->nterms; i++)
		if (strlen(tables->terms[i].name) == len &&
			memcmp(tables->terms[i].name, place, len) == 0)
			return tables->terms[i].value;
	if ((operator = built_in_operator(place, len)) != NULL)
		return operator;
	elog(ERROR, "there is no {%.*s}", (int) len, place);
}

/*
 * See working_tables.h.  A value may have terms of its own, if they were there
 * before it.
 */
char *
working_statement(const WorkingTables *tables, const char *statement)
{
	StringInfoData text;
	const char *brace;

	initStringInfo(&text);
	while ((brace = strchr(statement, '{')) != NULL)
	{
		const char *end = strchr(brace, '}');

		appendBinaryStringInfo(&text, statement, brace - statement);
		appendStringInfoString(&text, term_value(tables, brace + 1,
												 end - brace - 1));
		statement = end + 1;
	}
	appendStringInfoString(&text, statement);
	return text.data;
}

/* Runs a statement that has no terms. */
static uint64
run(const char *statement)
{
	int			code = SPI_execute(statement, false, 0);

	if (code < 0)
		elog(ERROR, "SPI_execute failed: %s", SPI_result_code_string(code));
	return SPI_processed;
}

uint64
working_run(const WorkingTables *tables, const char *statement)
{
	return run(working_statement(tables, statement));
}

double
working_number(const WorkingTables *tables, const char *query)
{
	bool		isnull;
	Datum		value;

	if (working_run(tables, query) == 0)
		return 0;
	Assert(SPI_gettypeid(SPI_tuptable->tupdesc, 1) == FLOAT8OID);
	value = SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1,
						  &isnull);
	return isnull ? 0 : DatumGetFloat8(value);
}

void
working_name_require_short(const char *name)
{
	if (strlen(name) >= NAMEDATALEN)
		ereport(ERROR,
				(errcode(ERRCODE_NAME_TOO_LONG),
				 errmsg("name \"%s\" is too long", name),
				 errdetail("A name has %d bytes at most; the tables that are made on the way have the result's name with an ending.",
						   NAMEDATALEN - 1),
				 errhint("Give the result a shorter name, and rename it afterwards.")));
}

/* The name of a table beside the result. */
static char *
table_name(const WorkingTables *tables, const char *name)
{
	working_name_require_short(name);
	return psprintf("%s.%s", tables->schema, quote_identifier(name));
}

/* Distributes an empty table by a column. */
static void
distribute(const WorkingTables *tables, const char *table, const char *column,
		   const char *beside, int shards)
{
	char	   *with = "";

	if (beside != NULL)
		with = psprintf(", colocate_with := %s",
						quote_literal_cstr(term_value(tables, beside,
													  strlen(beside))));
	else if (shards > 0)
		with = psprintf(", shard_count := %d, colocate_with := 'none'", shards);
	run(psprintf("SELECT pg_catalog.create_distributed_table(%s, %s%s)",
				 quote_literal_cstr(table), quote_literal_cstr(column), with));
}

/* Makes an empty table with a query's columns. */
static void
make_empty(const WorkingTables *tables, const char *table, const char *kind,
		   const char *column, const char *beside, int shards, const char *query)
{
	run(psprintf("CREATE %s TABLE %s AS %s WITH NO DATA", kind, table,
				 working_statement(tables, query)));
	if (tables->place != NULL)
		distribute(tables, table, column, beside, shards);
}

void
working_empty(WorkingTables *tables, const char *name, const char *column,
			  const char *beside, int shards, const char *query)
{
	char	   *table = table_name(tables, psprintf("%s_%s", tables->result, name));

	make_empty(tables, table, tables->temporary ? "TEMPORARY" : "UNLOGGED", column,
			   beside, shards, query);
	working_term(tables, name, table);
	tables->made[tables->nmade++] = table;
}

uint64
working_fill(WorkingTables *tables, const char *name, const char *columns,
			 const char *query)
{
	const char *table = term_value(tables, name, strlen(name));
	uint64		n;

	n = run(psprintf("INSERT INTO %s %s", table, working_statement(tables, query)));
	run(psprintf("ANALYZE %s (%s)", table, columns));
	return n;
}

uint64
working_table(WorkingTables *tables, const char *name, const char *column,
			  const char *beside, const char *columns, const char *query)
{
	working_empty(tables, name, column, beside, 0, query);
	return working_fill(tables, name, columns, query);
}

void
working_result(WorkingTables *tables, const char *query)
{
	char	   *table;

	if (tables->place != NULL)
	{
		working_empty_result(tables, query);
		working_fill(tables, "result", "a, b, similarity", query);
		return;
	}
	table = table_name(tables, tables->result);
	run(psprintf("CREATE TABLE %s AS %s", table, working_statement(tables, query)));
	run(psprintf("ANALYZE %s", table));
}

void
working_empty_result(WorkingTables *tables, const char *query)
{
	char	   *table = table_name(tables, tables->result);

	make_empty(tables, table, "", "a", NULL, 0, query);
	working_term(tables, "result", table);
}

void
working_end(WorkingTables *tables)
{
	for (int i = 0; i < tables->nmade; i++)
		run(psprintf("DROP TABLE %s", tables->made[i]));
	tables->nmade = 0;
}
