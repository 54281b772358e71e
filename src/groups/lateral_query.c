/*
 * lateral_query.c
 *		A query with parameters, run once for many rows of their values.
 *
 * SELECT ... WHERE near_duplicate(sig, $1, 0.8) can be run for each value there is: a
 * look-up each.  Or all values are joined with what it reads.  The planner decides which
 * is cheaper, as the query is put behind the rows of values,
 *
 *		SELECT * FROM values, LATERAL (query) AS old
 *
 * where its parameters are columns of these.  The query is put there in its parsed form:
 * it may end in a comment or a semicolon.
 */
#include "postgres.h"

#include "executor/executor.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "parser/parse_expr.h"
#include "parser/parse_node.h"
#include "tcop/tcopprot.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "base/compat.h"
#include "groups/lateral_query.h"
#include "index/access.h"
#include "signature/sql/signature_query.h"

/* No user has tables of that name. */
#define VALUES_NAME		"near-duplicate groups: new rows"

/* Parse one SELECT statement. */
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

/* Put a query in the place of another one's only subquery, which stands last. */
static SelectStmt *
put_around(SelectStmt *query, const char *outer)
{
	SelectStmt *around = parse(outer, "");

	llast_node(RangeSubselect, around->fromClause)->subquery = (Node *) query;
	return around;
}

/* p_paramref_hook: a parameter is a column of the values. */
static Node *
parameter_column(ParseState *pstate, ParamRef *param)
{
	LateralQuery *lateral = pstate->p_ref_hook_state;
	ColumnRef  *column = makeNode(ColumnRef);

	if (param->number < 1 || param->number > lateral->values->natts - lateral->before)
		return NULL;			/* the server raises an error */
	column->fields = list_make2(makeString(VALUES_NAME),
								makeString(psprintf("$%d", param->number)));
	column->location = param->location;
	return transformExpr(pstate, (Node *) column, pstate->p_expr_kind);
}

static void
set_up_parser(ParseState *pstate, void *lateral)
{
	pstate->p_paramref_hook = parameter_column;
	pstate->p_ref_hook_state = lateral;
}

/* Analyze a query behind the values. */
static Query *
analyze(LateralQuery *lateral, SelectStmt *query)
{
	RawStmt    *statement = makeNode(RawStmt);
	List	   *queries;

	statement->stmt = (Node *)
		put_around(query, "SELECT * FROM \"" VALUES_NAME "\", LATERAL (SELECT) AS old");
	queries = pg_analyze_and_rewrite_withcb(statement, lateral->text, set_up_parser,
											lateral, lateral->environment);
	return linitial_node(Query, queries);
}

/* Make the store of values known to queries by its name. */
static void
begin_environment(LateralQuery *lateral)
{
	EphemeralNamedRelation store = palloc0(sizeof(EphemeralNamedRelationData));

	for (int i = 1; i <= lateral->values->natts - lateral->before; i++)
		namestrcpy(&TupleDescAttr(lateral->values, lateral->before + i - 1)->attname,
				   psprintf("$%d", i));
	store->md.name = VALUES_NAME;
	store->md.tupdesc = lateral->values;
	store->md.enrtype = ENR_NAMED_TUPLESTORE;
	lateral->store = store;
	lateral->environment = create_queryEnv();
	register_ENR(lateral->environment, store);
}

void
lateral_query_begin(LateralQuery *lateral, const char *text, TupleDesc values, int before,
					const char *hint)
{
	ErrorContextCallback errors;
	Query	   *query;

	Assert(before >= 0 && before < values->natts);
	lateral->text = text;

	lateral->values = values;
	lateral->before = before;
	begin_environment(lateral);
	query_errors_begin(&errors, text);
	lateral->query = analyze(lateral, parse(text, hint));
	query = llast_node(RangeTblEntry, lateral->query->rtable)->subquery;
	require_select(query, hint);
	query_errors_end(&errors);
	lateral->result = ExecCleanTypeFromTL(query->targetList);
}

/* Run a query behind the values in the store. */
static void
run(LateralQuery *lateral, Query *query, bool (*wanted) (PlanState *, void *),
	Tuplestorestate *store, RowReader *reader)
{
	RangeTblEntry *values = linitial_node(RangeTblEntry, query->rtable);

	Assert(values->rtekind == RTE_NAMEDTUPLESTORE);
	values->enrtuples = tuplestore_tuple_count(store);
	lateral->store->reldata = store;
	row_query_run(query, lateral->text, lateral->environment, wanted, reader);
}

void
lateral_query_run(LateralQuery *lateral, Tuplestorestate *store, RowReader *reader)
{
	run(lateral, lateral->query, NULL, store, reader);
}

/* True if the threshold of a condition of an index is 1. */
static bool
asks_for_equal(Node *condition)
{
	Expr	   *signature;
	Expr	   *measure;
	Const	   *threshold;

	return IsA(condition, OpExpr) &&
		list_length(((OpExpr *) condition)->args) == 2 &&
		signature_subscripts(lsecond(((OpExpr *) condition)->args), &signature, &measure,
							 (Expr **) &threshold) &&
		threshold != NULL && IsA(threshold, Const) && !threshold->constisnull &&
		DatumGetFloat8(threshold->constvalue) == 1;
}

/* True if a plan asks an index of access method neardup for equal signatures. */
static bool
looks_up_equal(PlanState *state, void *context)
{
	Relation	index = NULL;
	List	   *conditions = NIL;
	ListCell   *lc;

	if (IsA(state, IndexScanState))
	{
		index = ((IndexScanState *) state)->iss_RelationDesc;
		conditions = ((IndexScan *) state->plan)->indexqual;
	}
	else if (IsA(state, BitmapIndexScanState))
	{
		index = ((BitmapIndexScanState *) state)->biss_RelationDesc;
		conditions = ((BitmapIndexScan *) state->plan)->indexqual;
	}
	if (index != NULL && index_is_neardup(index))
		foreach(lc, conditions)
			if (asks_for_equal(lfirst(lc)))
			return true;
	return planstate_tree_walker(state, looks_up_equal, context);
}

void
lateral_query_run_equal(LateralQuery *lateral, Oid schema, Tuplestorestate *store,
						RowReader *reader)
{
	const char *name = quote_identifier(get_namespace_name(schema));
	SelectStmt *query;

	query = put_around(parse(lateral->text, ""),
					   psprintf("SELECT * FROM (SELECT) AS old (id, signature)"
								" WHERE %s.near_duplicate(signature, $1, 1::pg_catalog.float8, 'jaccard'::pg_catalog.text)"
								" AND signature OPERATOR(%s.=) $1 LIMIT 1", name, name));
	run(lateral, analyze(lateral, query), looks_up_equal, store, reader);
}
