/*
 * gin_cost.c
 *		Costs of look-ups by GIN.
 *
 * GIN's own estimate extracts the keys of a constant query.  For any other
 * query, as in a join, it assumes one key.  In fact there are tens of keys, or
 * a thousand for simhashes at low thresholds.  The column's statistics have
 * their number.
 */
#include "postgres.h"

#include "access/detoast.h"
#include "access/gin.h"
#include "catalog/pg_am_d.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/plancat.h"
#include "utils/index_selfuncs.h"
#include "utils/lsyscache.h"
#include "utils/spccache.h"

#include "base/settings.h"
#include "gin/gin.h"
#include "keys/index_condition.h"
#include "signature/sql/signature_query.h"
#include "statistics/column_statistics.h"

/* Costs of a key and of a false candidate, in units of cpu_operator_cost */
#define KEY_COST		200
#define ROW_COST		400

static compat_relation_hook_type previous_hook = NULL;

/* True if a column has our operator class. */
static bool
is_signature_column(const IndexOptInfo *index, int column)
{
	Oid			proc = get_opfamily_proc(index->opfamily[column],
										 index->opcintype[column],
										 index->opcintype[column],
										 GIN_EXTRACTVALUE_PROC);
	FmgrInfo	flinfo;

	if (!OidIsValid(proc))
		return false;
	fmgr_info(proc, &flinfo);
	return flinfo.fn_addr == gin_signature_extract_value;
}

/*
 * Estimate the keys of a look-up, and the rows that have one of them by
 * chance.
 */
static void
expect_keys(const GinSignatureOptions *options,
			const NearStatistics *statistics,
			const IndexCondition *condition, double tuples, double *keys,
			double *rows)
{
	const NearNumbers *numbers = near_numbers(statistics,
											  condition->threshold);

	*rows = 0;
	if (statistics->key_share == 0)
		*keys = gin_signature_expected_keys(options, statistics->values,
											condition->measure,
											condition->threshold);
	else
	{
		*keys = numbers->query_keys;
		*rows = Min(*keys * statistics->key_share, 1) * tuples;
	}
	Assert(*keys >= 0 && *rows >= 0);
	if (*keys == 0)
		*rows = tuples;
}

/*
 * Cost of reading keys: mostly each is on a page of its own, which later
 * look-ups find in memory.
 */
static Cost
pages_cost(PlannerInfo *root, const IndexOptInfo *index, double keys,
		   double loops)
{
	double		page_cost;

	get_tablespace_page_costs(index->reltablespace, &page_cost, NULL);
	return index_uncached_pages(root, index, Min(keys, index->pages),
								loops) * page_cost;
}

/* Cost of all keys of a condition but the first, which GIN has counted. */
static Cost
keys_cost(PlannerInfo *root, const IndexOptInfo *index, int column,
		  Node *query,
		  double loops)
{
	const TargetEntry *indexed = list_nth_node(TargetEntry, index->indextlist,
											   column);
	GinSignatureOptions options =
	gin_signature_options(index->opclassoptions != NULL ?
						  index->opclassoptions[column] : NULL);
	NearStatistics statistics;
	IndexCondition condition;
	double		keys;
	double		rows;

	if (IsA(query, Const) ||
		!near_statistics_of(root, (Node *) indexed->expr, index->rel->relid,
							&statistics))
		return 0;
	index_condition_of(root, query, &condition);
	expect_keys(&options, &statistics, &condition, index->tuples, &keys,
				&rows);
	keys = Max(keys - 1, 0);
	return pages_cost(root, index, keys, loops) +
		(keys * KEY_COST + rows * ROW_COST) * cpu_operator_cost;
}

/*
 * Return the query of a clause, or NULL if its column is not of our operator
 * class.
 */
static Node *
clause_query(const IndexPath *path, const IndexClause *clause)
{
	const RestrictInfo *condition = linitial_node(RestrictInfo,
												  clause->indexquals);

	if (!is_opclause(condition->clause) ||
		!is_signature_column(path->indexinfo, clause->indexcol))
		return NULL;
	return get_rightop(condition->clause);
}

/* True if a look-up has a condition on a signature. */
static bool
is_on_signatures(const IndexPath *path)
{
	ListCell   *lc;

	foreach(lc, path->indexclauses)
		if (clause_query(path, lfirst_node(IndexClause, lc)) != NULL)
		return true;
	return false;
}

/* amcostestimate */
static void
gin_signature_cost(PlannerInfo *root, IndexPath *path, double loop_count,
				   Cost *startup, Cost *total, Selectivity *selectivity,
				   double *correlation, double *pages)
{
	double		loops = is_on_signatures(path) ?
	index_loops(root, get_quals_from_indexclauses(path->indexclauses),
				loop_count) :
	loop_count;
	ListCell   *lc;

	gincostestimate(root, path, loops, startup, total, selectivity,
					correlation, pages);
	foreach(lc, path->indexclauses)
	{
		const IndexClause *clause = lfirst_node(IndexClause, lc);
		Node	   *query = clause_query(path, clause);
		Cost		cost;

		if (query == NULL)
			continue;
		cost = keys_cost(root, path->indexinfo, clause->indexcol, query,
						 loops);
		*startup += cost;
		*total += cost;
	}
}

/*
 * compat_relation_hook: set our estimate, unless another extension has set
 * one.
 */
static void
relation_info(COMPAT_RELATION_PARAMETERS)
{
	ListCell   *lc;

	if (previous_hook)
		previous_hook(COMPAT_RELATION_ARGUMENTS);
	foreach(lc, rel->indexlist)
	{
		IndexOptInfo *index = lfirst_node(IndexOptInfo, lc);

		if (index->relam == GIN_AM_OID &&
			(void *) index->amcostestimate == (void *) gincostestimate)
			index->amcostestimate = gin_signature_cost;
	}
}

void
gin_cost_init(void)
{
	previous_hook = compat_relation_hook;
	compat_relation_hook = relation_info;
}
