/*
 * cost.c
 *		Costs of scans, and conditions that the index of an exclusion
 *		constraint answers.
 *
 * A condition looks up keys of the query, mostly on a page each, and reads
 * short lists: the keys of a set that the threshold requires, or all keys of a
 * vector.  An ordered scan reads all lists, whose length is assumed to be a
 * share of the rows.  If the places of a sketch have few values, all lists are
 * long, and the column's statistics give the length.
 */
#include "postgres.h"

#include <math.h>

#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "nodes/pathnodes.h"
#include "optimizer/clauses.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"
#include "utils/spccache.h"

#include "base/compat.h"
#include "keys/index_condition.h"
#include "index/access.h"
#include "signature/sql/signature_query.h"
#include "statistics/column_statistics.h"

/*
 * Number of keys of an unknown query, and of keys more than a threshold
 * requires
 */
#define DEFAULT_KEYS		4
#define MORE_KEYS			2

/* Share of the rows that have a key of the query */
#define NEAR_SHARE			0.25

/*
 * Costs of a row that has a key, of a row of a full scan, and of a key, in
 * units of cpu_operator_cost
 */
#define NEAR_COST			0.1
#define ALL_COST			10
#define KEY_COST			150

/*
 * Costs of a posting, and of a row of the table, for sketches with long lists
 */
#define POSTING_COST		2.0
#define ROW_COST			1.0

/*
 * Matches are read as if the table were nearly in their order: near-duplicates
 * often come together.  The 22 matches of a package's description are on 9
 * pages; the matches of 1,000 descriptions are on a third of the pages that
 * scattered rows would be on.
 */
#define NEAR_CORRELATION	0.8

/* More than any plan costs */
#define NEVER				1e100

/* Read the statistics of the indexed column.  False if there are none. */
static bool
column_statistics(PlannerInfo *root, const IndexOptInfo *index,
				  NearStatistics *statistics)
{
	const TargetEntry *column = linitial_node(TargetEntry, index->indextlist);

	/* An index on values that contain a signature has none. */
	return !OidIsValid(get_opfamily_proc(index->opfamily[0],
										 index->opcintype[0],
										 index->opcintype[0],
										 SIGNATURE_PROC)) &&
		near_statistics_of(root, (Node *) column->expr, index->rel->relid,
						   statistics);
}

/*
 * Return the number of keys looked up for a condition.  `statistics` may be
 * NULL.
 */
static double
condition_keys(PlannerInfo *root, IndexPath *path,
			   const NearStatistics *statistics)
{
	const IndexClause *clause = linitial_node(IndexClause, path->indexclauses);
	const RestrictInfo *condition = linitial_node(RestrictInfo,
												  clause->indexquals);
	IndexCondition known;
	double		n;
	double		overlap;

	index_condition_of(root, get_rightop(condition->clause), &known);
	n = known.values;
	if (statistics != NULL && statistics->all_keys > 0)
		return statistics->all_keys;
	if (n == 0 && statistics != NULL)
		n = statistics->values;
	if (n == 0)
		return DEFAULT_KEYS;
	overlap = measure_least_overlap(measure_commute(known.measure),
									(uint64) Max(n, 1),
									known.threshold);
	return Min(Max(n - overlap, 0) + MORE_KEYS, n);
}

/* Return the number of keys looked up.  `statistics` may be NULL. */
static double
query_keys(PlannerInfo *root, IndexPath *path,
		   const NearStatistics *statistics)
{
	if (path->indexorderbys == NIL)
		return path->indexclauses != NIL ?
			condition_keys(root, path, statistics) : DEFAULT_KEYS;
	if (statistics == NULL)
		return DEFAULT_KEYS;
	return statistics->all_keys > 0 ? statistics->all_keys :
		statistics->values;
}

/*
 * True if rows come in the order of all distances.  A scan orders by the first
 * one, and the executor sorts by the others.  It compares nothing after a
 * distance to null (cmp_orderbyvals() in nodeIndexscan.c), so all but the last
 * must be to constants.
 */
static bool
comes_in_order(const IndexPath *path)
{
	for (int i = 0; i + 1 < list_length(path->indexorderbys); i++)
	{
		const Const *operand =
		(const Const *) get_rightop(list_nth(path->indexorderbys, i));

		if (!IsA(operand, Const) || operand->constisnull)
			return false;
	}
	return true;
}

void
am_cost(struct PlannerInfo *root, struct IndexPath *path,
		double loop_count, Cost *startup, Cost *total,
		Selectivity *selectivity, double *correlation, double *pages)
{
	IndexOptInfo *index = path->indexinfo;
	List	   *quals = get_quals_from_indexclauses(path->indexclauses);
	List	   *with_predicate = add_predicate_to_index_quals(index, quals);
	NearStatistics known;
	const NearStatistics *statistics = column_statistics(root, index, &known) ?
	&known : NULL;
	double		keys = query_keys(root, path, statistics);
	double		fetched = Min(keys, index->pages);
	double		postings = statistics != NULL ? statistics->postings : 0;
	double		page_cost;
	double		seq_page;

	*selectivity = clauselist_selectivity(root, with_predicate,
										  index->rel->relid, JOIN_INNER, NULL);
	get_tablespace_page_costs(index->reltablespace, &page_cost, &seq_page);
	loop_count = index_loops(root,
							 list_concat_copy(quals, path->indexorderbys),
							 loop_count);
	fetched = index_uncached_pages(root, index, fetched, loop_count);
	/* if most pages are read, many are adjacent */
	page_cost -= (page_cost - seq_page) * sqrt(fetched / Max(index->pages, 1));
	*startup = fetched * page_cost + keys * KEY_COST * cpu_operator_cost;
	if (postings > 0 &&
		(path->indexorderbys != NIL || path->indexclauses != NIL))
		*startup += index->tuples * (ROW_COST + postings * POSTING_COST) *
			cpu_operator_cost;
	else if (path->indexorderbys != NIL)
		*startup += index->tuples * NEAR_SHARE * NEAR_COST * cpu_operator_cost;
	else if (path->indexclauses == NIL)
		*startup += index->tuples * ALL_COST * cpu_operator_cost;
	/* an index-only scan also visits the table */
	if (path->path.pathtype == T_IndexOnlyScan)
		*startup += index->rel->pages * seq_page_cost +
			index->tuples * cpu_tuple_cost;
	*total = *startup + *selectivity * index->tuples * (cpu_index_tuple_cost +
														cpu_operator_cost *
														(list_length(quals) +
														 list_length(path->indexorderbys)));
	*correlation = NEAR_CORRELATION;
	*pages = fetched;
	if (!comes_in_order(path))
	{
		*startup = *total = NEVER;
		compat_disable_path(&path->path);
	}

	/*
	 * The planner checks only the conditions and columns of a table (seen in
	 * 15.20, also with other access methods).  A worker does not get a column
	 * of an outer row.
	 */
	if (!is_parallel_safe(root, (Node *) path->indexorderbys))
		path->path.parallel_safe = false;
}

/* The index of an exclusion constraint */

/*
 * Find the first argument of a call of signature_query(), if the call is the
 * only expression.
 */
Node *
exclusion_signature(List *expressions)
{
	FuncExpr   *call;
	FmgrInfo	function;

	if (list_length(expressions) != 1)
		return NULL;
	call = linitial(expressions);
	if (!IsA(call, FuncExpr) || call->args == NIL)
		return NULL;
	fmgr_info(call->funcid, &function);
	return function.fn_addr == signature_query_new ? linitial(call->args) :
		NULL;
}

/*
 * Describe such an index to the planner as one on the signature.  The index
 * holds all keys of the signature, so it answers the same conditions, at any
 * threshold, and gives the same order; rows are rechecked in any case.  The
 * operators of both types are in one family.
 */
static IndexOptInfo *
index_on_signature(const IndexOptInfo *index, Node *signature)
{
	IndexOptInfo *view = makeNode(IndexOptInfo);
	const Var  *column = (const Var *) signature;

	Assert(index->ncolumns == 1 && index->nkeycolumns == 1);
	*view = *index;
	view->indexkeys = palloc0(sizeof(int));
	view->opcintype = palloc(sizeof(Oid));
	view->opcintype[0] = exprType(signature);
	view->indexprs = NIL;
	if (IsA(signature, Var))
		view->indexkeys[0] = column->varattno;
	else
		view->indexprs = list_make1(signature);
	view->indextlist =
		list_make1(makeTargetEntry((Expr *) signature, 1, NULL, false));
	return view;
}

static compat_relation_hook_type previous_hook = NULL;

/* compat_relation_hook: describe indexes of exclusion constraints twice. */
static void
relation_info(COMPAT_RELATION_PARAMETERS)
{
	List	   *views = NIL;
	ListCell   *lc;

	if (previous_hook)
		previous_hook(COMPAT_RELATION_ARGUMENTS);
	foreach(lc, rel->indexlist)
	{
		const IndexOptInfo *index = lfirst_node(IndexOptInfo, lc);
		Node	   *signature;

		if ((void *) index->amcostestimate != (void *) am_cost ||
			index->ncolumns != 1)
			continue;
		signature = exclusion_signature(index->indexprs);
		if (signature != NULL)
			views = lappend(views, index_on_signature(index, signature));
	}
	rel->indexlist = list_concat(rel->indexlist, views);
}

void
exclusion_index_init(void)
{
	previous_hook = compat_relation_hook;
	compat_relation_hook = relation_info;
}
