/*
 * gin_cost.c
 *		What a look-up by GIN costs, where its keys are not known yet.
 *
 * GIN's own estimate asks an operator class for the keys of a query, if that is a
 * constant.  Of any other query, as in a join, it takes one key, while it has some tens of
 * them, or, for simhashes at low thresholds, a thousand.  How many these are
 * is told by what ANALYZE has kept of the column.
 */
#include "postgres.h"

#include "access/gin.h"
#include "catalog/pg_am_d.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/plancat.h"
#include "utils/index_selfuncs.h"
#include "utils/lsyscache.h"
#include "utils/spccache.h"

#include "gin/asked.h"
#include "gin/gin.h"
#include "statistics/column_statistics.h"

/* In cpu_operator_cost: a key, and a row that has one and is read in vain. */
#define KEY_COST		200
#define ROW_COST		400

static compat_relation_hook_type previous_hook = NULL;

/* True if the column is of our operator class, which has been used by now. */
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

/* The keys of a look-up, and the rows that have one of them by chance. */
static void
expect_keys(const GinSignatureOptions *options, const NearStatistics *statistics,
			const Asked *asked, double tuples, double *keys, double *rows)
{
	const NearNumbers *numbers = near_numbers(statistics, asked->threshold);

	*rows = 0;
	if (statistics->key_share == 0)
		*keys = gin_signature_expected_keys(options, statistics->values,
											asked->measure, asked->threshold);
	else
	{
		*keys = numbers->query_keys;
		*rows = Min(*keys * statistics->key_share, 1) * tuples;
	}
	if (*keys == 0)
		*rows = tuples;
}

/* Keys mostly are on a page of their own each, which later look-ups find in memory. */
static Cost
pages_cost(PlannerInfo *root, const IndexOptInfo *index, double keys, double loops)
{
	double		page_cost;

	get_tablespace_page_costs(index->reltablespace, &page_cost, NULL);
	return asked_pages(root, index, Min(keys, index->pages), loops) * page_cost;
}

/* What the keys of a condition cost, all but the first one. */
static Cost
keys_cost(PlannerInfo *root, const IndexOptInfo *index, int column, Node *query,
		  double loops)
{
	const TargetEntry *indexed = list_nth_node(TargetEntry, index->indextlist, column);
	GinSignatureOptions options = gin_signature_options(index->opclassoptions != NULL ?
														index->opclassoptions[column] : NULL);
	NearStatistics statistics;
	Asked		asked;
	double		keys;
	double		rows;

	if (IsA(query, Const) ||
		!near_statistics_of(root, (Node *) indexed->expr, index->rel->relid, &statistics))
		return 0;
	asked_by(root, query, &asked);
	expect_keys(&options, &statistics, &asked, index->tuples, &keys, &rows);
	keys = Max(keys - 1, 0);
	return pages_cost(root, index, keys, loops) +
		(keys * KEY_COST + rows * ROW_COST) * cpu_operator_cost;
}

/* What a clause of a look-up asks of a signature column, or NULL if it is of another. */
static Node *
asked_query(const IndexPath *path, const IndexClause *clause)
{
	const RestrictInfo *asked = linitial_node(RestrictInfo, clause->indexquals);

	if (!is_opclause(asked->clause) ||
		!is_signature_column(path->indexinfo, clause->indexcol))
		return NULL;
	return get_rightop(asked->clause);
}

/* True if the index is asked for signatures; all else is as the server has it. */
static bool
asks_signatures(const IndexPath *path)
{
	ListCell   *lc;

	foreach(lc, path->indexclauses)
		if (asked_query(path, lfirst_node(IndexClause, lc)) != NULL)
			return true;
	return false;
}

/* amcostestimate */
static void
gin_signature_cost(PlannerInfo *root, IndexPath *path, double loop_count,
				   Cost *startup, Cost *total, Selectivity *selectivity,
				   double *correlation, double *pages)
{
	double		loops = asks_signatures(path) ?
		asked_loops(root, get_quals_from_indexclauses(path->indexclauses), loop_count) :
		loop_count;
	ListCell   *lc;

	gincostestimate(root, path, loops, startup, total, selectivity,
					correlation, pages);
	foreach(lc, path->indexclauses)
	{
		const IndexClause *clause = lfirst_node(IndexClause, lc);
		Node	   *query = asked_query(path, clause);
		Cost		cost;

		if (query == NULL)
			continue;
		cost = keys_cost(root, path->indexinfo, clause->indexcol, query, loops);
		*startup += cost;
		*total += cost;
	}
}

/* compat_relation_hook.  Where somebody else has put an estimate of theirs, it stays. */
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
