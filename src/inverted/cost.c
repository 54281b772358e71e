/*
 * cost.c
 *		What a scan of access method neardup costs.
 *
 * A condition looks up each key of the query, mostly on a page of its own, and
 * reads the short lists.  The nearest rows take all lists; how long they are is
 * not known, and taken to be a share of the rows.
 *
 * Of a sketch whose places have few values, all lists are read for a condition, too, and
 * they are long: how long is told by its method.  As queries are seldom known, which
 * method that is, is told by what ANALYZE has kept of the column's values.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/inverted/cost.c
 */
#include "postgres.h"

#include "access/detoast.h"
#include "catalog/pg_statistic.h"
#include "nodes/nodeFuncs.h"
#include "nodes/pathnodes.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"
#include "utils/spccache.h"

#include "inverted/access.h"
#include "methods/method.h"
#include "types/signature_query.h"

/* Keys of a query that is not known: as few as GIN takes it to have. */
#define DEFAULT_KEYS		4

/* Rows that have one of the query's keys, and what each takes. */
#define NEAR_SHARE			0.25
#define NEAR_COST			0.1		/* cpu_operator_cost */

/* Each row of a scan of all, which sorts them; cpu_operator_cost */
#define ALL_COST			10

/*
 * Where lists are long: each of their rows, and each row of the table, in cpu_operator_cost.
 * It takes ten times as long or more; but the cost of a join of sketches, beside which it
 * is put, leaves as much out.
 */
#define POSTING_COST		0.06
#define ROW_COST			0.02

/* True if the index is of signatures, not of what has one in it. */
static bool
is_of_signatures(const IndexOptInfo *index)
{
	return !OidIsValid(get_opfamily_proc(index->opfamily[0], index->opcintype[0],
										 index->opcintype[0], SIGNATURE_PROC));
}

/* A value of the indexed column, as far as any is known; palloc'd, or NULL. */
static Signature *
some_signature(PlannerInfo *root, const IndexOptInfo *index)
{
	const TargetEntry *column = linitial_node(TargetEntry, index->indextlist);
	const int	kinds[] = {STATISTIC_KIND_HISTOGRAM, STATISTIC_KIND_MCV};
	VariableStatData vardata;
	Signature  *sig = NULL;

	examine_variable(root, (Node *) column->expr, index->rel->relid, &vardata);
	for (size_t i = 0; i < lengthof(kinds) && sig == NULL &&
		 HeapTupleIsValid(vardata.statsTuple); i++)
	{
		AttStatsSlot slot;

		if (!get_attstatsslot(&slot, vardata.statsTuple, kinds[i], InvalidOid,
							  ATTSTATSSLOT_VALUES))
			continue;
		if (slot.nvalues > 0)
			sig = (Signature *) PG_DETOAST_DATUM_COPY(slot.values[0]);
		free_attstatsslot(&slot);
	}
	ReleaseVariableStats(vardata);
	return sig;
}

/*
 * How many of a sketch's values a row has on the average, where places have few values;
 * else 0.
 */
static double
postings_per_row(PlannerInfo *root, const IndexOptInfo *index)
{
	const Signature *sig;
	const MethodInfo *method;
	KeyList		keys = {0};

	sig = is_of_signatures(index) ? some_signature(root, index) : NULL;
	method = sig != NULL ? method_info(sig->making.method) : NULL;
	if (method == NULL || method->place_values == 0)
		return 0;
	method->place_keys(sig, &keys);
	return (double) keys.n / method->place_values;
}

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
	double		postings = postings_per_row(root, index);
	double		page_cost;

	*selectivity = clauselist_selectivity(root, with_predicate,
										  index->rel->relid, JOIN_INNER, NULL);
	get_tablespace_page_costs(index->reltablespace, &page_cost, NULL);
	if (loop_count > 1)
		fetched = Min(index_pages_fetched(fetched * loop_count, index->pages,
										  index->pages, root) / loop_count,
					  fetched);
	*startup = fetched * page_cost + keys * 20 * cpu_operator_cost;
	if (postings > 0 && (path->indexorderbys != NIL || path->indexclauses != NIL))
		*startup += index->tuples * (ROW_COST + postings * POSTING_COST) *
			cpu_operator_cost;
	else if (path->indexorderbys != NIL)
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
