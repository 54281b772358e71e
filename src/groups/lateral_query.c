/*
 * lateral_query.c
 *		A query with parameters, run once for many rows of their values.
 *
 * SELECT ... WHERE near_duplicate(sig, $1, 0.8) can be run for each value there
 * is: a look-up each.  Or all of them are joined with what it reads.  Which is
 * cheaper the planner knows best; so the query is put behind the rows of values,
 *
 *		SELECT number, old.* FROM values, LATERAL (query) AS old
 *
 * where its parameters are columns of these.  The query is put there in its
 * parsed form: it may end in a comment or a semicolon.  Where one row with an equal
 * signature will do, that is
 *
 *		SELECT number, old.* FROM values, LATERAL (
 *			SELECT * FROM (query) AS old (id, signature)
 *			WHERE near_duplicate(signature, $1, 1) AND signature = $1 LIMIT 1) AS old
 */
#include "postgres.h"

#include "catalog/pg_type_d.h"
#include "executor/executor.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "parser/parse_expr.h"
#include "parser/parse_node.h"
#include "tcop/tcopprot.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "base/compat.h"
#include "groups/lateral_query.h"

/* Nobody else has tables of that name. */
#define VALUES_NAME		"near-duplicate groups: new rows"

TupleDesc
lateral_query_desc(int n)
{
	TupleDesc	desc = CreateTemplateTupleDesc(n + 1);

	TupleDescInitEntry(desc, 1, "number", INT8OID, -1, 0);
	if (n == 0)
		TupleDescFinalize(desc);
	return desc;
}

/* The query as it is written. */
static SelectStmt *
parse(const char *text, const char *hint)
{
	List	   *statements = pg_parse_query(text);

	if (list_length(statements) != 1 ||
		!IsA(linitial_node(RawStmt, statements)->stmt, SelectStmt))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("statement is not a query that only reads"),
				 errhint("%s", hint)));
	return (SelectStmt *) linitial_node(RawStmt, statements)->stmt;
}

/* The statement with parameters of the types that the values have. */
static Query *
analyze(SelectStmt *query, const char *text, TupleDesc desc)
{
	RawStmt    *statement = makeNode(RawStmt);
	Oid		   *types = palloc(desc->natts * sizeof(Oid));

	for (int i = 1; i < desc->natts; i++)
		types[i - 1] = TupleDescAttr(desc, i)->atttypid;
	statement->stmt = (Node *) query;
	return linitial_node(Query,
						 pg_analyze_and_rewrite_fixedparams(statement, text, types,
															desc->natts - 1, NULL));
}

TupleDesc
lateral_query_check(const char *text, TupleDesc desc, const char *hint)
{
	Query	   *query;
	ErrorContextCallback errors;

	query_errors_begin(&errors, text);
	query = analyze(parse(text, hint), text, desc);
	if (query->commandType != CMD_SELECT || query->hasModifyingCTE || query->rowMarks != NIL)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("statement is not a query that only reads"),
				 errhint("%s", hint)));
	query_errors_end(&errors);
	return ExecCleanTypeFromTL(query->targetList);
}

/* p_paramref_hook: a parameter is a column of the values. */
static Node *
parameter_column(ParseState *pstate, ParamRef *param)
{
	TupleDesc	desc = pstate->p_ref_hook_state;
	ColumnRef  *column = makeNode(ColumnRef);

	if (param->number < 1 || param->number >= desc->natts)
		return NULL;			/* the server raises */
	column->fields = list_make2(makeString(VALUES_NAME),
								makeString(psprintf("$%d", param->number)));
	column->location = param->location;
	return transformExpr(pstate, (Node *) column, pstate->p_expr_kind);
}

static void
set_up_parser(ParseState *pstate, void *desc)
{
	pstate->p_paramref_hook = parameter_column;
	pstate->p_ref_hook_state = desc;
}

/* Puts the query in the place of the outer one's only subquery, which stands last. */
static SelectStmt *
around(SelectStmt *outer, SelectStmt *query)
{
	llast_node(RangeSubselect, outer->fromClause)->subquery = (Node *) query;
	return outer;
}

/* The query behind the rows of values. */
static RawStmt *
behind_values(SelectStmt *query)
{
	RawStmt    *statement = makeNode(RawStmt);

	statement->stmt = (Node *)
		around(parse("SELECT number, old.*"
					 " FROM \"" VALUES_NAME "\", LATERAL (SELECT) AS old", ""),
			   query);
	return statement;
}

/*
 * One row of the query whose second column is equal to $1, and near to it, which
 * an index can be asked for.
 */
static SelectStmt *
equal_row(SelectStmt *query, const char *schema)
{
	schema = quote_identifier(schema);
	return around(parse(psprintf("SELECT * FROM (SELECT) AS old (id, signature)"
								 " WHERE %s.near_duplicate(signature, $1, 1::pg_catalog.float8, 'jaccard'::pg_catalog.text)"
								 " AND signature OPERATOR(%s.=) $1 LIMIT 1",
								 schema, schema), ""),
				  query);
}

/* The store as a table of that many rows that queries know by its name. */
static QueryEnvironment *
environment_of(TupleDesc desc, Tuplestorestate *store, double rows)
{
	QueryEnvironment *environment = create_queryEnv();
	EphemeralNamedRelation values = palloc0(sizeof(EphemeralNamedRelationData));

	for (int i = 1; i < desc->natts; i++)
		namestrcpy(&TupleDescAttr(desc, i)->attname, psprintf("$%d", i));
	values->md.name = VALUES_NAME;
	values->md.tupdesc = desc;
	values->md.enrtype = ENR_NAMED_TUPLESTORE;
	values->md.enrtuples = rows;
	values->reldata = store;
	register_ENR(environment, values);
	return environment;
}

/*
 * Parses the query, puts it behind the values, and runs that; if there is a schema, only for
 * one equal row each.
 */
static void
run(const char *text, Oid schema, TupleDesc desc, Tuplestorestate *store,
	RowTaker *taker)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext,
												  "lateral query",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext caller = MemoryContextSwitchTo(context);
	QueryEnvironment *environment =
		environment_of(desc, store, tuplestore_tuple_count(store));
	SelectStmt *query;
	ErrorContextCallback errors;
	List	   *queries;

	query_errors_begin(&errors, text);
	query = parse(text, "");
	if (OidIsValid(schema))
		query = equal_row(query, get_namespace_name(schema));
	queries = pg_analyze_and_rewrite_withcb(behind_values(query), text,
											set_up_parser, desc, environment);
	query_errors_end(&errors);
	MemoryContextSwitchTo(caller);
	row_taker_run(taker, linitial_node(Query, queries), text, environment, NULL);
	MemoryContextDelete(context);
}

void
lateral_query_run(const char *text, TupleDesc desc, Tuplestorestate *store,
				  RowTaker *taker)
{
	run(text, InvalidOid, desc, store, taker);
}

void
lateral_query_run_equal(const char *text, Oid schema, TupleDesc desc,
						Tuplestorestate *store, RowTaker *taker)
{
	run(text, schema, desc, store, taker);
}
