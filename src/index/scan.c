/*
 * scan.c
 *		Scans of access method neardup.
 *
 * A search (index_search.c) keeps the rows that come first, by distance and
 * then by place in the table.  If the executor wants more, another search
 * keeps the next rows, and more of them.  So memory is bounded, nothing is
 * locked between two searches, and merges may run.  A row that the snapshot
 * sees has the same distance in all searches.  Without an order a search keeps
 * the rows that fit into memory.
 *
 * Distances are lower bounds, and are rechecked.  Conditions are rechecked,
 * too, unless the plan itself has them.  A row that cannot be compared comes
 * first, with an exact distance: if it satisfies the other conditions, the
 * executor raises an error when it computes the order.
 */
#include "postgres.h"

#include "access/relscan.h"
#include "access/tableam.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/execnodes.h"
#include "nodes/tidbitmap.h"
#include "pgstat.h"
#include "utils/float.h"
#include "utils/memutils.h"
#include "utils/snapshot.h"

#include "base/compat.h"
#include "index/access.h"
#include "index/column_spec.h"
#include "index/row.h"
#include "index/index_search.h"
#include "methods/method.h"
#include "signature/sql/signature_query.h"

/*
 * Number of rows that the first ordered search keeps, and the factor for each
 * further one
 */
#define FIRST_ROWS			128
#define MORE_ROWS			8

/* A row that a search has found */
typedef struct NearRow
{
	double		distance;
	ItemPointerData tid;
} NearRow;

/* State of a scan */
typedef struct NeardupScan
{
	IndexQuery	query;
	bool		begun;			/* the query is set */
	bool		nothing;		/* no row can match */
	bool		asked;			/* the column's spec was asked, also by a scan
								 * that this one repeats */
	double		distance;		/* distance of the current row, to which the
								 * executor has a pointer */
	bool		unordered;		/* the order is by the distance to null */
	bool		last;			/* no rows follow `rows` */
	bool		after;			/* true if only rows after `before` are wanted */
	NearRow		before;
	NearRow    *rows;			/* up to 2 * most */
	uint32		room;
	uint32		n;
	uint32		next;
	uint32		most;			/* rows to keep */
	bool		full;			/* `most` rows are kept, so only rows */
	NearRow		worst;			/* rows before this one are wanted */
	SearchCounters *counters;	/* counters of the index */
	SearchCounters own;			/* counters of this scan */
	MemoryContext context;		/* memory of the query */
	MemoryContext found;		/* memory of a search and its rows */
} NeardupScan;

IndexScanDesc
am_begin_scan(Relation index, int nkeys, int norderbys)
{
	IndexScanDesc scan = RelationGetIndexScan(index, nkeys, norderbys);
	NeardupScan *state = palloc0(sizeof(NeardupScan));

	state->context = AllocSetContextCreate(CurrentMemoryContext,
										   "neardup scan",
										   ALLOCSET_DEFAULT_SIZES);
	state->found = AllocSetContextCreate(CurrentMemoryContext,
										 "neardup search",
										 ALLOCSET_DEFAULT_SIZES);
	state->counters = search_counters(RelationGetRelid(index));
	scan->opaque = state;
	if (norderbys > 0)
	{
		scan->xs_orderbyvals = palloc0(norderbys * sizeof(Datum));
		scan->xs_orderbynulls = palloc(norderbys * sizeof(bool));
		memset(scan->xs_orderbynulls, true, norderbys * sizeof(bool));
	}
	return scan;
}

void
am_rescan(IndexScanDesc scan, ScanKey keys, int nkeys, ScanKey orderbys,
		  int norderbys)
{
	NeardupScan *state = scan->opaque;

	if (keys != NULL && scan->numberOfKeys > 0)
		memmove(scan->keyData, keys, scan->numberOfKeys * sizeof(ScanKeyData));
	if (orderbys != NULL && scan->numberOfOrderBys > 0)
		memmove(scan->orderByData, orderbys,
				scan->numberOfOrderBys * sizeof(ScanKeyData));
	scan->xs_itup = NULL;
	MemoryContextReset(state->context);
	MemoryContextReset(state->found);
	memset(&state->query, 0, sizeof(IndexQuery));
	state->begun = state->nothing = state->last = state->after = false;
	state->n = state->next = 0;
	state->most = FIRST_ROWS;
}

void
am_end_scan(IndexScanDesc scan)
{
	NeardupScan *state = scan->opaque;

	MemoryContextDelete(state->context);
	MemoryContextDelete(state->found);
	pfree(state);
}

/* The query */

/* True if a measure is a resemblance, of sets or of vectors. */
static inline bool
is_resemblance(Measure measure)
{
	return measure == MEASURE_JACCARD || measure == MEASURE_SIMILARITY;
}

/*
 * Set the keys of a vector.  Every row is a candidate if it has too many
 * components, or no such measure, so that the condition raises an error.
 */
static void
set_vector(IndexQuery *query, const Signature *sig, Measure measure)
{
	if ((!is_resemblance(measure) && measure != MEASURE_COSINE) ||
		!vector_keys(sig, &query->keys, &query->nkeys, &query->shares,
					 &query->sum, &query->length))
		query->all = true;
}

/* Set the keys of a signature, or make all rows of its spec candidates. */
static void
set_signature(IndexQuery *query, const Signature *sig, Measure measure)
{
	query->spec = &sig->spec;
	if (!index_can_hold(&sig->spec))
		return;					/* no row has such a spec */
	query->size = SIGNATURE_NVALUES(sig);
	query->sketch = spec_indexes_sketch(&sig->spec);
	if (spec_indexes_vector(&sig->spec))
		set_vector(query, sig, measure);
	else if (query->sketch && !is_resemblance(measure))
		query->all = true;
	else
		query->keys = signature_keys(sig, &query->nkeys, &query->size);
	if (query->sketch && SIGNATURE_NVALUES(sig) > 0)
		query->value = sig->values[0];
}

/* True if the index bounds the measure of such a query. */
static bool
is_bounded(const IndexQuery *query, Measure measure)
{
	return (query->shares == NULL && !query->sketch) ||
		(measure == MEASURE_COSINE && !query->sketch) ||
		is_resemblance(measure);
}

/* True if two signatures are equal. */
static bool
same_signature(const Signature *a, const Signature *b)
{
	return VARSIZE(a) == VARSIZE(b) &&
		memcmp(VARDATA(a), VARDATA(b), VARSIZE(a) - VARHDRSZ) == 0;
}

/*
 * Return the first condition, or another one for its signature that has a
 * greater threshold.
 */
static SignatureQuery *
strictest_condition(IndexScanDesc scan)
{
	SignatureQuery *strictest =
	DatumGetSignatureQuery(scan->keyData[0].sk_argument);

	for (int i = 1; i < scan->numberOfKeys &&
		 measure_has_threshold(strictest->measure, strictest->threshold); i++)
	{
		SignatureQuery *other =
		DatumGetSignatureQuery(scan->keyData[i].sk_argument);

		if (other->threshold > strictest->threshold && other->threshold <= 1 &&
			same_signature(&other->signature, &strictest->signature))
			strictest = other;
	}
	return strictest;
}

/* Return the least similarity of a row that satisfies a condition. */
static double
condition_similarity(const SignatureQuery *condition)
{
	const MethodInfo *method = method_info(condition->signature.spec.method);

	return condition->measure == MEASURE_JACCARD &&
		method->least_similarity != NULL ?
		method->least_similarity(&condition->signature) : condition->threshold;
}

/*
 * Set the query from the order and a condition.  If their signatures differ,
 * the search is by the order, and recheck does the rest.
 */
static void
set_query(IndexScanDesc scan, NeardupScan *state)
{
	IndexQuery *query = &state->query;
	const Signature *ordered = NULL;

	query->nearest = query->nulls = scan->numberOfOrderBys > 0;
	for (int i = 0; i < scan->numberOfKeys; i++)
		if (scan->keyData[i].sk_flags & SK_ISNULL)
			state->nothing = true;
	if (scan->numberOfKeys == 0)
		query->nulls = true;
	state->unordered = scan->numberOfOrderBys > 0 &&
		(scan->orderByData[0].sk_flags & SK_ISNULL) != 0;
	if (scan->numberOfOrderBys > 0 && !state->unordered)
	{
		ordered = DatumGetSignature(scan->orderByData[0].sk_argument);
		query->order = scan->orderByData[0].sk_strategy == COSINE_STRATEGY ?
			MEASURE_COSINE : MEASURE_JACCARD;
		set_signature(query, ordered, query->order);
	}
	if (scan->numberOfKeys > 0 && !state->nothing)
	{
		SignatureQuery *condition = strictest_condition(scan);

		query->nulls = false;
		if (scan->numberOfOrderBys > 0 &&
			(ordered == NULL ||
			 !same_signature(ordered, &condition->signature) ||
			 !is_bounded(query, condition->measure)))
			return;
		/* the condition itself refuses an invalid threshold */
		query->filter = measure_has_threshold(condition->measure,
											  condition->threshold);
		query->measure = condition->measure;
		query->threshold = condition_similarity(condition);
		if (ordered == NULL)
			set_signature(query, &condition->signature, condition->measure);
	}
}

/* Return the most rows that a search keeps.  Memory holds twice as many. */
static uint32
most_rows(void)
{
	Size		most = Max((Size) work_mem * 1024 / (2 * sizeof(NearRow)),
						   FIRST_ROWS);

	return Min(most, MaxAllocSize / (2 * sizeof(NearRow)));
}

/* Prepare the query, at the first call for a row. */
static void
begin_scan(IndexScanDesc scan, NeardupScan *state)
{
	MemoryContext old = MemoryContextSwitchTo(state->context);

	set_query(scan, state);
	if (scan->numberOfOrderBys == 0)
		state->most = most_rows();
	/* bounds of vectors are weaker, so more rows have to be compared */
	else if (state->query.shares != NULL)
		state->most *= MORE_ROWS;
	MemoryContextSwitchTo(old);
	state->begun = true;
	pgstat_count_index_scan(scan->indexRelation);
	compat_count_search(scan);
	state->counters->scans++;
}

/* Searches */

/* Return a number that rises as ItemPointerCompare() says. */
static inline uint64
tid_number(const ItemPointerData *tid)
{
	return (uint64) ItemPointerGetBlockNumberNoCheck(tid) << 16 |
		ItemPointerGetOffsetNumberNoCheck(tid);
}

/* Compare two rows by distance, then by place in the table. */
static inline int
compare_rows(const NearRow *a, const NearRow *b)
{
	uint64		x = tid_number(&a->tid);
	uint64		y = tid_number(&b->tid);

	if (a->distance != b->distance)
		return a->distance < b->distance ? -1 : 1;
	return (x > y) - (x < y);
}

#define ST_SORT sort_near
#define ST_ELEMENT_TYPE NearRow
#define ST_COMPARE(a, b) compare_rows(a, b)
#define ST_SCOPE static
#define ST_CHECK_FOR_INTERRUPTS
#define ST_DEFINE
#include "lib/sort_template.h"

/* Drop all rows but the first `most`. */
static void
keep_first(NeardupScan *state)
{
	Assert(state->n >= state->most);
	sort_near(state->rows, state->n);
	state->n = state->most;
	state->full = true;
	state->worst = state->rows[state->most - 1];
}

/* SearchCallback: keep a row that is among the first. */
static double
collect_row(void *state, ItemPointer tid, double distance)
{
	NeardupScan *scan = state;
	NearRow		row = {distance, *tid};

	if ((!scan->after || compare_rows(&row, &scan->before) > 0) &&
		(!scan->full || compare_rows(&row, &scan->worst) < 0))
	{
		if (scan->n == scan->room)
		{
			scan->room = Min(2 * scan->room, 2 * scan->most);
			Assert(scan->n < scan->room);
			scan->rows = repalloc(scan->rows, scan->room * sizeof(NearRow));
		}
		scan->rows[scan->n++] = row;
		if (scan->n == (scan->full ? 2 * scan->most : scan->most))
			keep_first(scan);
	}
	return scan->full ? scan->worst.distance : get_float8_infinity();
}

/* Search the index, again if segments vanish meanwhile. */
static void
run_search(IndexScanDesc scan, NeardupScan *state, SearchCallback callback,
		   void *callback_state)
{
	SearchCounters before = *state->counters;

	do
	{
		CHECK_FOR_INTERRUPTS();
		state->n = 0;
		state->full = false;
	} while (!index_search(scan->indexRelation, &state->query, callback,
						   callback_state));
	search_counters_add(&state->own, state->counters, &before);
}

/* Find the next rows: the first ones, or those after the last ones found. */
static void
find_rows(IndexScanDesc scan, NeardupScan *state)
{
	MemoryContext old;

	if (state->n > 0)
	{
		state->before = state->rows[state->n - 1];
		state->after = true;
		state->most = Min((Size) state->most * MORE_ROWS, most_rows());
	}
	MemoryContextReset(state->found);
	old = MemoryContextSwitchTo(state->found);
	state->room = FIRST_ROWS;
	state->rows = palloc(state->room * sizeof(NearRow));
	run_search(scan, state, collect_row, state);
	MemoryContextSwitchTo(old);
	state->next = 0;
	state->last = !state->full;
	if (state->n > state->most)
		keep_first(state);
	sort_near(state->rows, state->n);
}

/* Give the executor the distance of the current row, or null. */
static void
set_distance(IndexScanDesc scan, NeardupScan *state, double distance)
{
	static const double unknown = 0;
	bool		isnull = state->unordered || distance == get_float8_infinity();

	state->distance = distance;
	for (int i = 0; i < scan->numberOfOrderBys; i++)
	{
		/*
		 * further distances are not bounded; on 32 bits the executor copies
		 * them
		 */
		scan->xs_orderbyvals[i] = i == 0 ?
			Float8GetDatumFast(state->distance) :
			Float8GetDatumFast(unknown);
		scan->xs_orderbynulls[i] = i == 0 && isnull;
	}

	/*
	 * The distance of a row of another spec is null.  A recheck would warn of
	 * its spec before the conditions, such as row-level security, are
	 * checked.
	 */
	scan->xs_recheckorderby = scan->numberOfOrderBys > (isnull ? 1 : 0);
}

/* Give an index-only scan, which needs no column here, a null. */
static void
set_null_tuple(IndexScanDesc scan)
{
	NeardupScan *state = scan->opaque;
	Datum		value = (Datum) 0;
	bool		null = true;
	MemoryContext old;

	if (!scan->xs_want_itup || scan->xs_itup != NULL)
		return;
	old = MemoryContextSwitchTo(state->context);
	scan->xs_itupdesc = RelationGetDescr(scan->indexRelation);
	scan->xs_itup = index_form_tuple(scan->xs_itupdesc, &value, &null);
	MemoryContextSwitchTo(old);
}

/*
 * True if the row is still in the table.  An index-only scan assumes that a
 * row of an all-visible page is there.  VACUUM may have set that mark and
 * removed the row since the search, which holds no pins.
 */
static bool
is_there(IndexScanDesc scan, ItemPointerData tid)
{
	bool		all_dead;

	return !scan->xs_want_itup ||
		table_index_fetch_tuple_check(scan->heapRelation, &tid,
									  scan->xs_snapshot, &all_dead);
}

/* Return the next row, or NULL if there is none. */
static NearRow *
next_row(IndexScanDesc scan, NeardupScan *state)
{
	for (;;)
	{
		while (state->next < state->n)
		{
			NearRow    *row = &state->rows[state->next++];

			Assert(state->next == 1 || compare_rows(row - 1, row) < 0);
			CHECK_FOR_INTERRUPTS();
			if (is_there(scan, row->tid))
				return row;
		}
		if (state->last)
			return NULL;
		find_rows(scan, state);
	}
}

/*
 * Warn of a query that could not find a row.  A guard, whose snapshot is
 * another, makes the signature that it looks for as the column's.
 */
static void
found_nothing(IndexScanDesc scan, NeardupScan *state)
{
	Assert(!state->nothing);
	if (state->asked || scan->numberOfOrderBys > 0 ||
		state->query.spec == NULL ||
		scan->xs_snapshot->snapshot_type != SNAPSHOT_MVCC)
		return;
	state->asked = true;
	column_spec_warn(scan->indexRelation, state->query.spec);
}

/* True if there are conditions that the plan itself does not check. */
static bool
are_rechecked(IndexScanDesc scan)
{
	for (int i = 0; i < scan->numberOfKeys; i++)
		if (scan->keyData[i].sk_collation != INDEX_CONDITION_COLLATION)
			return true;
	return false;
}

bool
am_get_tuple(IndexScanDesc scan, ScanDirection dir)
{
	NeardupScan *state = scan->opaque;
	NearRow    *row;

	if (dir != ForwardScanDirection)
		elog(ERROR, "access method neardup scans forward only");
	if (!state->begun)
		begin_scan(scan, state);
	if (state->nothing)
		return false;
	row = next_row(scan, state);
	if (row == NULL)
	{
		if (!state->after && state->n == 0)
			found_nothing(scan, state);
		return false;
	}
	state->counters->rows++;
	scan->xs_heaptid = row->tid;
	scan->xs_recheck = are_rechecked(scan);
	set_null_tuple(scan);
	set_distance(scan, state, row->distance);
	return true;
}

/* Bitmaps */

/* The bitmap of a scan, and how many rows were added to it */
typedef struct BitmapState
{
	TIDBitmap  *bitmap;
	int64		n;
} BitmapState;

/* SearchCallback: add a row to the bitmap. */
static double
add_to_bitmap(void *state, ItemPointer tid, double distance)
{
	BitmapState *bits = state;

	tbm_add_tuples(bits->bitmap, tid, 1, true);
	bits->n++;
	return get_float8_infinity();
}

int64
am_get_bitmap(IndexScanDesc scan, TIDBitmap *bitmap)
{
	NeardupScan *state = scan->opaque;
	BitmapState bits = {bitmap};
	MemoryContext old;

	begin_scan(scan, state);
	if (state->nothing)
		return 0;
	old = MemoryContextSwitchTo(state->found);
	run_search(scan, state, add_to_bitmap, &bits);
	MemoryContextSwitchTo(old);
	state->counters->rows += bits.n;
	if (bits.n == 0)
		found_nothing(scan, state);
	return bits.n;
}

/* EXPLAIN (ANALYZE) shows counters, from PostgreSQL 18 on. */

#ifdef COMPAT_EXPLAIN_NODE

static explain_per_node_hook_type previous_hook = NULL;

/* Return the scan of a node, or NULL if it scans no index. */
static IndexScanDesc
scan_of(PlanState *node)
{
	switch (nodeTag(node))
	{
		case T_IndexScanState:
			return ((IndexScanState *) node)->iss_ScanDesc;
		case T_IndexOnlyScanState:
			return ((IndexOnlyScanState *) node)->ioss_ScanDesc;
		case T_BitmapIndexScanState:
			return ((BitmapIndexScanState *) node)->biss_ScanDesc;
		default:
			return NULL;
	}
}

/*
 * explain_per_node_hook: show the counters of a scan.  A worker's counters are
 * not shown.
 */
static void
explain_node(PlanState *node, List *ancestors, const char *relationship,
			 const char *plan_name, ExplainState *es)
{
	IndexScanDesc scan = es->analyze ? scan_of(node) : NULL;

	if (previous_hook)
		previous_hook(node, ancestors, relationship, plan_name, es);
	if (scan != NULL && index_is_neardup(scan->indexRelation) &&
		((NeardupScan *) scan->opaque)->own.passes > 0)
	{
		const SearchCounters *counters = &((NeardupScan *) scan->opaque)->own;

		ExplainPropertyUInteger("Passes", NULL, counters->passes, es);
		ExplainPropertyUInteger("Pages", NULL, counters->pages, es);
		ExplainPropertyUInteger("Keys", NULL, counters->keys, es);
		ExplainPropertyUInteger("Postings", NULL, counters->postings, es);
		ExplainPropertyUInteger("Candidates", NULL, counters->candidates, es);
	}
}

void
explain_scan_init(void)
{
	previous_hook = explain_per_node_hook;
	explain_per_node_hook = explain_node;
}

#else

void
explain_scan_init(void)
{
}

#endif
