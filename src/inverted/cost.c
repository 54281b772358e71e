/*
 * cost.c
 *		What a scan of access method neardup costs.
 *
 * A condition looks up each key of the query, mostly on a page of its own, and
 * reads the short lists.  The nearest rows take all lists; how long they are is
 * not known, and taken to be a share of the rows.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/inverted/cost.c
 */
#include "postgres.h"

#include "access/detoast.h"
#include "nodes/nodeFuncs.h"
#include "nodes/pathnodes.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "utils/selfuncs.h"
#include "utils/spccache.h"

#include "inverted/access.h"
#include "types/signature_query.h"

/* Keys of a query that is not known: as few as GIN takes it to have. */
#define DEFAULT_KEYS		4

/* Rows that have one of the query's keys, and what each takes. */
#define NEAR_SHARE			0.25
#define NEAR_COST			0.1		/* cpu_operator_cost */

/* Each row of a scan of all, which sorts them; cpu_operator_cost */
#define ALL_COST			10

/* How many keys the query has. */
static double
query_keys(IndexPath *path)
{
	Node	   *query = NULL;

	if (path->indexorderbys != NIL)
		query = get_rightop(linitial(path->indexorderbys));
	else if (path->indexclauses != NIL)
		query = get_rightop((Expr *) linitial_node(RestrictInfo,
												   linitial_node(IndexClause,
																 path->indexclauses)->indexquals)->clause);
	if (query == NULL || !IsA(query, Const) || ((Const *) query)->constisnull)
		return DEFAULT_KEYS;
	return toast_raw_datum_size(((Const *) query)->constvalue) / sizeof(uint64);
}

void
inverted_cost(struct PlannerInfo *root, struct IndexPath *path,
			  double loop_count, Cost *startup, Cost *total,
			  Selectivity *selectivity, double *correlation, double *pages)
{
	IndexOptInfo *index = path->indexinfo;
	List	   *quals = get_quals_from_indexclauses(path->indexclauses);
	List	   *with_predicate = add_predicate_to_index_quals(index, quals);
	double		keys = query_keys(path);
	double		fetched = Min(keys, index->pages);
	double		page_cost;

	*selectivity = clauselist_selectivity(root, with_predicate,
										  index->rel->relid, JOIN_INNER, NULL);
	get_tablespace_page_costs(index->reltablespace, &page_cost, NULL);
	if (loop_count > 1)
		fetched = Min(index_pages_fetched(fetched * loop_count, index->pages,
										  index->pages, root) / loop_count,
					  fetched);
	*startup = fetched * page_cost + keys * 20 * cpu_operator_cost;
	if (path->indexorderbys != NIL)
		*startup += index->tuples * NEAR_SHARE * NEAR_COST * cpu_operator_cost;
	else if (path->indexclauses == NIL)
		*startup += index->tuples * ALL_COST * cpu_operator_cost;
	/* it looks at the table all the same */
	if (path->path.pathtype == T_IndexOnlyScan)
		*startup += index->rel->pages * seq_page_cost +
			index->tuples * cpu_tuple_cost;
	*total = *startup + *selectivity * index->tuples *
		(cpu_index_tuple_cost +
		 cpu_operator_cost * (list_length(quals) + list_length(path->indexorderbys)));
	*correlation = 0;
	*pages = fetched;
}
