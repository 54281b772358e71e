/*
 * evaluate.c
 *		C functions of evaluate_methods(), evaluate_thresholds() and
 *		neardup_pairs(), which are SQL.
 *
 * Queries and expressions of the caller become parts of larger statements.
 * Each is parsed alone first, so that errors point into the caller's text and
 * name the argument.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/tupdesc.h"
#include "catalog/pg_operator.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "parser/parser.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/plancache.h"
#include "utils/syscache.h"
#include "utils/typcache.h"

PG_FUNCTION_INFO_V1(neardup_operator);
PG_FUNCTION_INFO_V1(neardup_check_query);
PG_FUNCTION_INFO_V1(neardup_check_expression);

/* An operator as statements call it, whatever the search path is. */
static char *
operator_name(Oid operator)
{
	HeapTuple	tuple = SearchSysCache1(OPEROID, ObjectIdGetDatum(operator));
	Form_pg_operator form;
	char	   *name;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for operator %u", operator);
	form = (Form_pg_operator) GETSTRUCT(tuple);
	name = psprintf("OPERATOR(%s.%s)",
					quote_identifier(get_namespace_name(form->oprnamespace)),
					NameStr(form->oprname));
	ReleaseSysCache(tuple);
	return name;
}

/*
 * _neardup_operator(type regtype, operator text): < or = of the type's default
 * order, or null
 */
Datum
neardup_operator(PG_FUNCTION_ARGS)
{
	const TypeCacheEntry *type = lookup_type_cache(PG_GETARG_OID(0),
												   TYPECACHE_LT_OPR |
												   TYPECACHE_EQ_OPR);
	char	   *name = text_to_cstring(PG_GETARG_TEXT_PP(1));
	Oid			operator = strcmp(name, "<") == 0 ? type->lt_opr :
	type->eq_opr;

	if (!OidIsValid(operator))
		PG_RETURN_NULL();
	PG_RETURN_TEXT_P(cstring_to_text(operator_name(operator)));
}

/* A text that the caller gave. */
typedef struct GivenText
{
	const char *argument;
	const char *text;
	const char *hint;			/* hint for a syntax error */
} GivenText;

/* Let an error point into the text alone, and name the argument. */
static void
add_argument(void *arg)
{
	const GivenText *given = arg;
	int			position = geterrposition();

	if (position > 0)
	{
		errposition(0);
		internalerrposition(position);
		internalerrquery(given->text);
	}
	if (geterrcode() == ERRCODE_SYNTAX_ERROR)
		errhint("%s", given->hint);
	errcontext("argument \"%s\"", given->argument);
}

/* The columns that a query returns. */
static TupleDesc
query_columns(const GivenText *given)
{
	ErrorContextCallback callback = {error_context_stack, add_argument,
	unconstify(GivenText *, given)};
	SPIPlanPtr	plan;
	List	   *sources;

	error_context_stack = &callback;
	plan = SPI_prepare(given->text, 0, NULL);
	error_context_stack = callback.previous;
	if (plan == NULL)
		elog(ERROR, "SPI_prepare failed: %s",
			 SPI_result_code_string(SPI_result));
	sources = SPI_plan_get_plan_sources(plan);
	/* only a SELECT can stand in the FROM of another */
	if (list_length(sources) != 1 ||
		((CachedPlanSource *) linitial(sources))->commandTag !=
		CMDTAG_SELECT ||
		((CachedPlanSource *) linitial(sources))->resultDesc == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_SYNTAX_ERROR),
				 errmsg("argument \"%s\" is not a query", given->argument),
				 errdetail("It says: %s", given->text),
				 errhint("It is one query, such as TABLE docs or SELECT ... FROM docs.")));
	return ((CachedPlanSource *) linitial(sources))->resultDesc;
}

/* Raise an error unless a query has that column. */
static void
require_column(const char *argument, TupleDesc desc, const char *column)
{
	StringInfoData names;

	initStringInfo(&names);
	for (int i = 0; i < desc->natts; i++)
	{
		const char *name = NameStr(TupleDescAttr(desc, i)->attname);

		if (strcmp(name, column) == 0)
			return;
		appendStringInfo(&names, "%s\"%s\"", i == 0 ? "" : ", ", name);
	}
	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_COLUMN),
			 errmsg("query \"%s\" has no column \"%s\"", argument, column),
			 desc->natts == 0 ? errdetail("It has no columns.") :
			 errdetail("Its columns are %s.", names.data),
			 errhint("Give it a column of that name: SELECT ... AS \"%s\".",
					 column)));
}

/* _neardup_check_query(argument text, query text, columns text[]) */
Datum
neardup_check_query(PG_FUNCTION_ARGS)
{
	GivenText	given = {
		text_to_cstring(PG_GETARG_TEXT_PP(0)),
		text_to_cstring(PG_GETARG_TEXT_PP(1)),
		"It is a query, such as TABLE docs or SELECT ... FROM docs."
	};
	Datum	   *columns;
	int			n;
	TupleDesc	desc;

	deconstruct_array(PG_GETARG_ARRAYTYPE_P(2), TEXTOID, -1, false,
					  TYPALIGN_INT, &columns,
					  NULL, &n);
	SPI_connect();
	desc = query_columns(&given);
	for (int i = 0; i < n; i++)
		require_column(given.argument, desc, TextDatumGetCString(columns[i]));
	SPI_finish();
	PG_RETURN_VOID();
}

/* _neardup_check_expression(argument text, expression text) */
Datum
neardup_check_expression(PG_FUNCTION_ARGS)
{
	GivenText	given = {
		text_to_cstring(PG_GETARG_TEXT_PP(0)),
		text_to_cstring(PG_GETARG_TEXT_PP(1)),
		"It is one expression, whose brackets match."
	};
	ErrorContextCallback callback = {error_context_stack, add_argument,
	&given};

	error_context_stack = &callback;
	raw_parser(given.text, RAW_PARSE_PLPGSQL_EXPR);
	error_context_stack = callback.previous;
	PG_RETURN_VOID();
}
