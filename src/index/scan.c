/*
 * scan.c
 *		Scans of access method neardup.
 *
 * A pass (pass.c) reads all that it needs at once, and keeps the rows that
 * come first, by distance and then by their place in the table.  If more are
 * asked for, another pass keeps the next ones, more of them: so memory is
 * bounded, nothing is locked in between, and it does not matter what is merged
 * meanwhile.  A row that the scan's snapshot can see has the same distance in
 * each pass.  Without an order a pass takes as long whatever it keeps, and keeps
 * what there is memory for.
 *
 * What an index tells of distances is that no row is nearer: they are
 * rechecked.  Conditions are, too; those that the planner has made remain in
 * the plan themselves.  What cannot be compared raises an error when its turn
 * comes: so a row that was made in another way is said to be first, and its
 * distance to be known, and if other conditions let it through, it raises when
 * the distance by which the query is ordered is computed.
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

#include "base/compat.h"
#include "base/hash.h"
#include "index/access.h"
#include "index/counters.h"
#include "index/pass.h"
#include "index/row.h"
#include "methods/method.h"
#include "signature/sql/signature_query.h"

/* How many rows the first pass of an order keeps, and what later ones keep more. */
#define FIRST_ROWS			128
#define MORE_ROWS			8

typedef struct NearRow
{
	double		distance;
	ItemPointerData tid;
} NearRow;

typedef struct NeardupScan
{
	IndexQuery query;
	bool		begun;			/* the query is set */
	bool		nothing;		/* no row can match */
	double		told;			/* the last distance */
	bool		unordered;		/* the order is by the distance to null */
	bool		last;			/* there are no rows after these */
	bool		after;			/* only rows after this one are wanted: */
	NearRow		before;
	NearRow    *rows;			/* up to twice as many as are kept */
	uint32		room;
	uint32		n;
	uint32		next;
	uint32		most;			/* rows to keep */
	bool		full;			/* there are as many, and none is wanted that */
	NearRow		worst;			/* does not come before this one */
	SearchCounters *counters; /* of the index */
	SearchCounters own;		/* of this scan */
	MemoryContext context;		/* of the query */
	MemoryContext pass;			/* of a pass and its rows */
} NeardupScan;

IndexScanDesc
am_begin_scan(Relation index, int nkeys, int norderbys)
{
	IndexScanDesc scan = RelationGetIndexScan(index, nkeys, norderbys);
	NeardupScan *state = palloc0(sizeof(NeardupScan));

	state->context = AllocSetContextCreate(CurrentMemoryContext,
										   "neardup scan",
										   ALLOCSET_DEFAULT_SIZES);
	state->pass = AllocSetContextCreate(CurrentMemoryContext,
										"neardup pass",
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
am_rescan(IndexScanDesc scan, ScanKey keys, int nkeys,
				ScanKey orderbys, int norderbys)
{
	NeardupScan *state = scan->opaque;

	if (keys != NULL && scan->numberOfKeys > 0)
		memmove(scan->keyData, keys, scan->numberOfKeys * sizeof(ScanKeyData));
	if (orderbys != NULL && scan->numberOfOrderBys > 0)
		memmove(scan->orderByData, orderbys,
				scan->numberOfOrderBys * sizeof(ScanKeyData));
	scan->xs_itup = NULL;
	MemoryContextReset(state->context);
	MemoryContextReset(state->pass);
	memset(&state->query, 0, sizeof(IndexQuery));
	state->begun = state->nothing = state->last = state->after = false;
	state->n = state->next = 0;
	state->most = FIRST_ROWS;
}

void
am_leave_out(IndexScanDesc scan, ItemPointer tid)
{
	NeardupScan *state = scan->opaque;

	state->query.has_own = true;
	state->query.own = *tid;
}

void
am_end_scan(IndexScanDesc scan)
{
	NeardupScan *state = scan->opaque;

	MemoryContextDelete(state->context);
	MemoryContextDelete(state->pass);
	pfree(state);
}

/* The query */

static inline bool
tells_resemblance(Measure measure)
{
	return measure == MEASURE_JACCARD || measure == MEASURE_SIMILARITY;
}

/*
 * A vector.  All rows are taken where it has too many components, and where it
 * does not tell the measure, so that the condition raises.
 */
static void
set_vector(IndexQuery *query, const Signature *sig, Measure measure)
{
	if ((!tells_resemblance(measure) && measure != MEASURE_COSINE) ||
		!vector_keys(sig, &query->keys, &query->nkeys, &query->shares,
							  &query->sum, &query->length))
		query->all = true;
}

static void
set_signature(IndexQuery *query, const Signature *sig, Measure measure)
{
	query->spec = &sig->spec;
	if (!index_can_hold(&sig->spec))
		return;					/* nor will a row be of that spec */
	query->size = SIGNATURE_NVALUES(sig);
	query->sketch = spec_indexes_sketch(&sig->spec);
	if (spec_indexes_vector(&sig->spec))
		set_vector(query, sig, measure);
	else if (query->sketch && !tells_resemblance(measure))
		query->all = true;
	else
		query->keys = signature_keys(sig, &query->nkeys, &query->size);
	if (query->sketch && SIGNATURE_NVALUES(sig) > 0)
		query->value = sig->values[0];
}

/* True if an index tells the measure of such a query. */
static bool
is_told(const IndexQuery *query, Measure measure)
{
	return (query->shares == NULL && !query->sketch) ||
		(measure == MEASURE_COSINE && !query->sketch) || tells_resemblance(measure);
}

static bool
same_signature(const Signature *a, const Signature *b)
{
	return VARSIZE(a) == VARSIZE(b) &&
		memcmp(VARDATA(a), VARDATA(b), VARSIZE(a) - VARHDRSZ) == 0;
}

/*
 * The first condition, or another one for the same signature of which a greater
 * threshold is told.
 */
static SignatureQuery *
strictest_condition(IndexScanDesc scan)
{
	SignatureQuery *strictest = DatumGetSignatureQuery(scan->keyData[0].sk_argument);

	if (!measure_has_threshold(strictest->measure, strictest->threshold))
		return strictest;
	for (int i = 1; i < scan->numberOfKeys; i++)
	{
		SignatureQuery *asked = DatumGetSignatureQuery(scan->keyData[i].sk_argument);

		if (measure_has_threshold(asked->measure, asked->threshold) &&
			asked->measure != MEASURE_SHARED &&
			strictest->measure != MEASURE_SHARED &&
			asked->threshold > strictest->threshold &&
			same_signature(&asked->signature, &strictest->signature))
			strictest = asked;
	}
	return strictest;
}

/* How similar rows are that meet a condition, at the least. */
static double
asked_similarity(const SignatureQuery *asked)
{
	const MethodInfo *method = method_info(asked->signature.spec.method);

	return asked->measure == MEASURE_JACCARD && method->least_similarity != NULL ?
		method->least_similarity(&asked->signature) : asked->threshold;
}

/*
 * Takes the order, and a condition.  Where both have signatures, and
 * those differ, the order is what a pass is made by.  Recheck does the rest.
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
		query->order =
			scan->orderByData[0].sk_strategy == COSINE_STRATEGY ?
			MEASURE_COSINE : MEASURE_JACCARD;
		set_signature(query, ordered, query->order);
	}
	if (scan->numberOfKeys > 0 && !state->nothing)
	{
		SignatureQuery *asked = strictest_condition(scan);

		query->nulls = false;
		if (scan->numberOfOrderBys > 0 &&
			(ordered == NULL || !same_signature(ordered, &asked->signature) ||
			 !is_told(query, asked->measure)))
			return;
		/* the condition raises what is wrong with one that is none */
		query->filter = measure_has_threshold(asked->measure, asked->threshold);
		query->measure = asked->measure;
		query->threshold = asked_similarity(asked);
		if (ordered == NULL)
			set_signature(query, &asked->signature, asked->measure);
	}
}

/* How many rows a pass may keep at the most, in memory for twice as many. */
static uint32
most_rows(void)
{
	Size		most = Max((Size) work_mem * 1024 / (2 * sizeof(NearRow)), FIRST_ROWS);

	return Min(most, MaxAllocSize / (2 * sizeof(NearRow)));
}

static void
begin(IndexScanDesc scan, NeardupScan *state)
{
	MemoryContext old = MemoryContextSwitchTo(state->context);

	set_query(scan, state);
	if (scan->numberOfOrderBys == 0)
		state->most = most_rows();
	/* of vectors less is known, more rows have to be compared */
	else if (state->query.shares != NULL)
		state->most *= MORE_ROWS;
	MemoryContextSwitchTo(old);
	state->begun = true;
	pgstat_count_index_scan(scan->indexRelation);
	compat_count_search(scan);
	state->counters->scans++;
}

/* Passes */

/* A number that rises as ItemPointerCompare() says. */
static inline uint64
tid_number(const ItemPointerData *tid)
{
	return (uint64) ItemPointerGetBlockNumberNoCheck(tid) << 16 |
		ItemPointerGetOffsetNumberNoCheck(tid);
}

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

/*
 * Puts the row that is number `place` of all by the order there, none greater before it
 * and none less behind it (C. A. R. Hoare, "Find", CACM 1961).
 */
static void
select_row(NearRow *rows, uint32 n, int64 place)
{
	int64		lo = 0;
	int64		hi = (int64) n - 1;

	while (lo < hi)
	{
		NearRow		pivot = rows[lo + mix64(lo ^ hi) % (hi - lo + 1)];
		int64		i = lo;
		int64		j = hi;

		CHECK_FOR_INTERRUPTS();
		while (i <= j)
		{
			NearRow		row;

			while (compare_rows(&rows[i], &pivot) < 0)
				i++;
			while (compare_rows(&rows[j], &pivot) > 0)
				j--;
			if (i > j)
				break;
			row = rows[i];
			rows[i++] = rows[j];
			rows[j--] = row;
		}
		if (place <= j)
			hi = j;
		else if (place >= i)
			lo = i;
		else
			break;
	}
}

/* Leaves as many rows as are kept, those that come first. */
static void
leave_first(NeardupScan *state)
{
	select_row(state->rows, state->n, state->most - 1);
	state->n = state->most;
	state->full = true;
	state->worst = state->rows[state->most - 1];
}

static void
double_room(NeardupScan *state)
{
	state->room = Min(2 * state->room, 2 * state->most);
	state->rows = repalloc(state->rows, state->room * sizeof(NearRow));
}

static double
take_row(void *taker, ItemPointer tid, double distance)
{
	NeardupScan *state = taker;
	NearRow		row = {distance, *tid};

	if ((!state->after || compare_rows(&row, &state->before) > 0) &&
		(!state->full || compare_rows(&row, &state->worst) < 0))
	{
		if (state->n == state->room)
			double_room(state);
		state->rows[state->n++] = row;
		if (state->n == (state->full ? 2 * state->most : state->most))
			leave_first(state);
	}
	return state->full ? state->worst.distance : get_float8_infinity();
}

/* A pass, anew if segments vanish meanwhile: `begin` forgets what was taken. */
static void
search(IndexScanDesc scan, NeardupScan *state, TakeRow take, void *taker,
	   void (*begin) (void *taker))
{
	SearchCounters before = *state->counters;

	do
	{
		CHECK_FOR_INTERRUPTS();
		begin(taker);
	} while (!index_search(scan->indexRelation, &state->query, take, taker));
	search_counters_add(&state->own, state->counters, &before);
}

static void
begin_rows(void *taker)
{
	((NeardupScan *) taker)->n = 0;
	((NeardupScan *) taker)->full = false;
}

/* Finds the next rows. */
static void
run_pass(IndexScanDesc scan, NeardupScan *state)
{
	MemoryContext old;

	if (state->n > 0)
	{
		state->before = state->rows[state->n - 1];
		state->after = true;
		state->most = Min((Size) state->most * MORE_ROWS, most_rows());
	}
	MemoryContextReset(state->pass);
	old = MemoryContextSwitchTo(state->pass);
	state->room = FIRST_ROWS;
	state->rows = palloc(state->room * sizeof(NearRow));
	search(scan, state, take_row, state, begin_rows);
	MemoryContextSwitchTo(old);
	state->next = 0;
	state->last = !state->full;
	if (state->n > state->most)
		leave_first(state);
	sort_near(state->rows, state->n);
}

static void
tell_distance(IndexScanDesc scan, NeardupScan *state, double distance)
{
	static const double unknown = 0;

	state->told = distance;
	for (int i = 0; i < scan->numberOfOrderBys; i++)
	{
		/* of further ones nothing is known; on 32 bits the executor copies them */
		scan->xs_orderbyvals[i] = i == 0 ? Float8GetDatumFast(state->told) :
			Float8GetDatumFast(unknown);
		scan->xs_orderbynulls[i] = i == 0 &&
			(state->unordered || distance == get_float8_infinity());
	}
	scan->xs_recheckorderby = scan->numberOfOrderBys > 0;
}

/*
 * A scan that needs no column at all is taken to be an index-only one.  Nulls
 * will do.
 */
static void
tell_nothing(IndexScanDesc scan)
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
 * False if the row is gone.  An index-only scan takes a row of a page that is
 * marked all visible to be there.  VACUUM may have set that mark, and removed
 * the row, since the pass: it holds no pins.
 */
static bool
is_there(IndexScanDesc scan, ItemPointerData tid)
{
	bool		all_dead;

	return !scan->xs_want_itup ||
		table_index_fetch_tuple_check(scan->heapRelation, &tid,
									  scan->xs_snapshot, &all_dead);
}

/* The next row, or NULL. */
static NearRow *
next_row(IndexScanDesc scan, NeardupScan *state)
{
	for (;;)
	{
		while (state->next < state->n)
		{
			NearRow    *row = &state->rows[state->next++];

			CHECK_FOR_INTERRUPTS();
			if (is_there(scan, row->tid))
				return row;
		}
		if (state->last)
			return NULL;
		run_pass(scan, state);
	}
}

/* True if there are conditions that are not in the plan themselves. */
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
		begin(scan, state);
	if (state->nothing)
		return false;
	row = next_row(scan, state);
	if (row == NULL)
		return false;
	state->counters->rows++;
	scan->xs_heaptid = row->tid;
	scan->xs_recheck = are_rechecked(scan);
	tell_nothing(scan);
	tell_distance(scan, state, row->distance);
	return true;
}

/* Bitmaps */

typedef struct BitmapTaker
{
	TIDBitmap  *bitmap;
	int64		n;
} BitmapTaker;

static double
take_bit(void *taker, ItemPointer tid, double distance)
{
	BitmapTaker *bits = taker;

	tbm_add_tuples(bits->bitmap, tid, 1, true);
	bits->n++;
	return get_float8_infinity();
}

static void
begin_bits(void *taker)
{
	((BitmapTaker *) taker)->n = 0;
}

int64
am_get_bitmap(IndexScanDesc scan, TIDBitmap *bitmap)
{
	NeardupScan *state = scan->opaque;
	BitmapTaker bits = {bitmap};
	MemoryContext old;

	begin(scan, state);
	if (state->nothing)
		return 0;
	old = MemoryContextSwitchTo(state->pass);
	search(scan, state, take_bit, &bits, begin_bits);
	MemoryContextSwitchTo(old);
	state->counters->rows += bits.n;
	return bits.n;
}

/* EXPLAIN (ANALYZE) shows counters, from PostgreSQL 18 on. */

#ifdef COMPAT_EXPLAIN_NODE

static explain_per_node_hook_type previous_hook = NULL;

static inline const SearchCounters *
scan_counters(IndexScanDesc scan)
{
	return &((NeardupScan *) scan->opaque)->own;
}

/* The scan of a node, if it scans an index. */
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

/* A worker's counters stay in the worker. */
static void
explain_node(PlanState *node, List *ancestors, const char *relationship,
			 const char *plan_name, ExplainState *es)
{
	IndexScanDesc scan = es->analyze ? scan_of(node) : NULL;

	if (previous_hook)
		previous_hook(node, ancestors, relationship, plan_name, es);
	if (scan != NULL && index_is_neardup(scan->indexRelation) &&
		scan_counters(scan)->passes > 0)
	{
		const SearchCounters *counters = scan_counters(scan);

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
