/*
 * given_query.c
 *		Queries that a caller gives as text: looked at before they are run.
 *
 * A given query becomes part of a larger one.  What is wrong with it would be
 * told in words of the larger one, which the caller has not written; so it is
 * prepared alone first.
 */
#include "postgres.h"

#include "access/tupdesc.h"
#include "executor/spi.h"
#include "parser/parser.h"
#include "utils/plancache.h"

#include "base/compat.h"
#include "evaluation/given_query.h"

/* Tells in errors of the query itself which argument it is. */
static void
tell_argument(void *arg)
{
	if (geterrcode() == ERRCODE_SYNTAX_ERROR)
		errhint("It is a query, such as TABLE docs or SELECT ... FROM docs.");
	errcontext("argument \"%s\"", (const char *) arg);
}

static char *
without_semicolons(const char *text)
{
	size_t		len = strlen(text);

	while (len > 0 && strchr("; \t\r\n\v\f", text[len - 1]) != NULL)
		len--;
	return pnstrdup(text, len);
}

static SPIPlanPtr
prepare(const char *argument, const char *query)
{
	ErrorContextCallback callback = {.callback = tell_argument,
	.arg = unconstify(char *, argument), .previous = error_context_stack};
	SPIPlanPtr	plan;

	error_context_stack = &callback;
	plan = SPI_prepare(query, 0, NULL);
	if (plan == NULL)
		elog(ERROR, "SPI_prepare failed: %s",
			 SPI_result_code_string(SPI_result));
	error_context_stack = callback.previous;
	return plan;
}

/* The columns of what a query returns. */
static TupleDesc
result_of(SPIPlanPtr plan, const char *argument, const char *query)
{
	List	   *sources = SPI_plan_get_plan_sources(plan);

	/* only a SELECT can stand in the FROM of another */
	if (list_length(sources) != 1 ||
		((CachedPlanSource *) linitial(sources))->commandTag != CMDTAG_SELECT ||
		((CachedPlanSource *) linitial(sources))->resultDesc == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_SYNTAX_ERROR),
				 errmsg("argument \"%s\" is not a query", argument),
				 errdetail("It says: %s", query),
				 errhint("It is one query, such as TABLE docs or SELECT ... FROM docs.")));
	return ((CachedPlanSource *) linitial(sources))->resultDesc;
}

/* The type of a column of that name; InvalidOid: there is none. */
static Oid
column_type(TupleDesc desc, const char *name)
{
	for (int i = 0; i < desc->natts; i++)
	{
		if (strcmp(NameStr(TupleDescAttr(desc, i)->attname), name) == 0)
			return TupleDescAttr(desc, i)->atttypid;
	}
	return InvalidOid;
}

static void
refuse_columns(const char *argument, TupleDesc desc, const char *missing,
			   const char *const *columns)
{
	StringInfoData have;
	StringInfoData wanted;

	initStringInfo(&have);
	for (int i = 0; i < desc->natts; i++)
		appendStringInfo(&have, "%s\"%s\"", i == 0 ? "" : ", ",
						 NameStr(TupleDescAttr(desc, i)->attname));
	initStringInfo(&wanted);
	for (int i = 0; columns[i] != NULL; i++)
		appendStringInfo(&wanted, "%s\"%s\"", i == 0 ? "" : " and ",
						 columns[i]);
	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_COLUMN),
			 errmsg("query \"%s\" has no column \"%s\"", argument, missing),
			 desc->natts == 0 ? errdetail("It has no columns.") :
			 errdetail("Its columns are %s.", have.data),
			 errhint("Give it columns named %s: SELECT ... AS \"%s\".",
					 wanted.data, missing)));
}

char *
given_query(const char *argument, const char *text,
			const char *const *columns, Oid *types)
{
	char	   *query = without_semicolons(text);
	SPIPlanPtr	plan = prepare(argument, query);
	TupleDesc	desc = result_of(plan, argument, query);

	for (int i = 0; columns[i] != NULL; i++)
	{
		types[i] = column_type(desc, columns[i]);
		if (!OidIsValid(types[i]))
			refuse_columns(argument, desc, columns[i], columns);
	}
	SPI_freeplan(plan);
	return query;
}

/* An expression and the argument that gives it */
typedef struct GivenExpression
{
	const char *argument;
	const char *text;
} GivenExpression;

/* The same of an expression; an error points into its text. */
static void
tell_expression(void *arg)
{
	const GivenExpression *given = arg;
	int			position = geterrposition();

	if (position > 0)
	{
		errposition(0);
		internalerrposition(position);
		internalerrquery(given->text);
	}
	errhint("It is one expression, whose brackets match.");
	errcontext("argument \"%s\"", given->argument);
}

void
given_expression(const char *argument, const char *text)
{
	GivenExpression given = {argument, text};
	ErrorContextCallback callback = {.callback = tell_expression,
	.arg = &given, .previous = error_context_stack};

	error_context_stack = &callback;
	raw_parser(text, RAW_PARSE_PLPGSQL_EXPR);
	error_context_stack = callback.previous;
}
