/*
 * equal_places.c
 *		Values for a query, with places where it may find equal signatures.
 *
 * A look-up of an equal signature by a scan of an index costs more than to fetch the
 * row.  An index of access method neardup can be asked for the places of many
 * signatures at once.  The query gets them as a hint: it reads what stands there, as it
 * reads all rows, and who takes its rows compares them.  Where they
 * are sorted, rows that stand together are fetched together, and so mostly are those
 * that they are joined with.
 *
 * Of several rows only the first is looked at.
 *
 * Where the query wants nothing of the values, but that they are near, it gets places
 * only, as an array: so its plan is not begun anew for each of them.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/groups/equal_places.c
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/table.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "catalog/pg_type_d.h"
#include "nodes/nodeFuncs.h"
#include "utils/array.h"
#include "utils/snapmgr.h"

#include "groups/equal_places.h"
#include "index/access.h"
#include "index/equal_rows.h"

/* What it may cost to find what belongs to one row: a few look-ups in indexes. */
#define MAX_COST		100.0

/* Rows that the planner takes an array to have that it does not know. */
#define ROWS_OF_ARRAY	10

/*
 * Rows are handed on in so many parts, of so many rows at least, as the first ones'
 * memory is better than fresh one.
 */
#define PARTS			64
#define MIN_ROWS		512

/* The index */

/* True if the index has the signatures of a column, of some rows at least. */
static bool
has_signatures(Relation index, AttrNumber column)
{
	return index_is_neardup(index) && index->rd_index->indisvalid &&
		index->rd_index->indkey.values[0] == column &&
		!OidIsValid(index_getprocid(index, 1, SIGNATURE_PROC));
}

/* Such an index, one of all rows rather than another one; NULL if there is none. */
static Relation
index_of_signatures(Relation table, AttrNumber column)
{
	Relation	found = NULL;
	ListCell   *lc;

	foreach(lc, RelationGetIndexList(table))
	{
		Relation	index = index_open(lfirst_oid(lc), AccessShareLock);

		if (has_signatures(index, column) &&
			(found == NULL || RelationGetIndexPredicate(index) == NIL))
		{
			if (found != NULL)
				index_close(found, AccessShareLock);
			found = index;
		}
		else
			index_close(index, AccessShareLock);
	}
	return found;
}

/* See equal_places.h */
bool
equal_places_begin(EqualPlaces *places, const SourceTable *source,
				   AskedSets *sets, TupleDesc desc, PagedArray *rows,
				   size_t memory)
{
	memset(places, 0, sizeof(EqualPlaces));
	if (!OidIsValid(source->table))
		return false;
	places->table = table_open(source->table, AccessShareLock);
	places->index = index_of_signatures(places->table, source->column);
	if (places->index == NULL)
	{
		table_close(places->table, NoLock);
		return false;
	}
	places->sets = sets;
	places->rows = rows;
	places->room = Min(Max(memory / 2 / sizeof(EqualSet), 1), sets->n);
	places->found = palloc_extended(Max(places->room, 1) * sizeof(EqualSet),
									MCXT_ALLOC_HUGE);
	places->desc = lateral_query_desc_placed(desc);
	places->store = tuplestore_begin_heap(true, false, memory / 2 / 1024);
	return true;
}

/* See equal_places.h */
void
equal_places_end(EqualPlaces *places)
{
	tuplestore_end(places->store);
	pfree(places->found);
	index_close(places->index, NoLock);
	table_close(places->table, NoLock);
}

/* Places */

/* Reads the next sets, as many as there is room for, if indexes can hold them. */
static void
read_sets(EqualPlaces *places)
{
	for (places->n = 0; places->n < places->room &&
		 places->next < places->sets->n; places->next++)
	{
		EqualSet   *set = &places->found[places->n];

		CHECK_FOR_INTERRUPTS();
		if (equal_set(set, asked_sets_get(places->sets, places->next).signature))
		{
			set->number = places->next;
			places->n++;
		}
	}
}

#define ST_SORT sort_by_place
#define ST_ELEMENT_TYPE EqualSet
#define ST_COMPARE(a, b) ItemPointerCompare(&(a)->first, &(b)->first)
#define ST_SCOPE static
#define ST_CHECK_FOR_INTERRUPTS
#define ST_DEFINE
#include "lib/sort_template.h"

/* Leaves the sets for which there are places, and notes how many. */
static void
leave_placed(EqualPlaces *places)
{
	size_t		left = 0;

	for (size_t i = 0; i < places->n; i++)
	{
		EqualSet	set = places->found[i];

		CHECK_FOR_INTERRUPTS();
		*(uint32 *) paged_change(places->rows, set.number) = set.nrows;
		if (set.nrows > 0)
			places->found[left++] = set;
	}
	places->n = left;
}

/* Looks for the places of the next sets, until there is one. */
static void
find_places(EqualPlaces *places)
{
	places->done = places->n = 0;
	while (places->n == 0 && places->next < places->sets->n)
	{
		read_sets(places);
		equal_rows_find(places->index, GetActiveSnapshot(), places->found,
						places->n);
		leave_placed(places);
	}
	sort_by_place(places->found, places->n);
}

/* See equal_places.h */
void
equal_places_as_param(EqualPlaces *places)
{
	int			n = places->desc->natts - 1;

	places->params = makeParamList(n);
	memset(places->params->params, 0, n * sizeof(ParamExternData));
	places->params->params[n - 1].ptype = TIDARRAYOID;
}

/* See equal_places.h */
void
equal_places_as_rows(EqualPlaces *places)
{
	places->params = NULL;
	places->done = 0;
}

/* Sets the places up to `end` as the parameter. */
static void
set_param(EqualPlaces *places, size_t end)
{
	ParamExternData *param = &places->params->params[places->params->numParams - 1];
	Datum	   *tids = palloc((end - places->done) * sizeof(Datum));
	int			n = 0;

	for (; places->done < end; places->done++)
		tids[n++] = PointerGetDatum(&places->found[places->done].first);
	if (DatumGetPointer(param->value) != NULL)
		pfree(DatumGetPointer(param->value));
	param->value = PointerGetDatum(construct_array(tids, n, TIDOID, sizeof(ItemPointerData),
												   false, TYPALIGN_SHORT));
	pfree(tids);
}

/* See equal_places.h */
bool
equal_places_next(EqualPlaces *places)
{
	size_t		end;

	if (places->done == places->n)
		find_places(places);
	end = Min(places->n, places->done + Max(places->room / PARTS, MIN_ROWS));
	if (places->params != NULL)
	{
		set_param(places, end);
		return places->n > 0;
	}
	tuplestore_clear(places->store);
	for (; places->done < end; places->done++)
	{
		EqualSet   *set = &places->found[places->done];

		CHECK_FOR_INTERRUPTS();
		asked_sets_put(places->sets, set->number, PointerGetDatum(&set->first),
					   places->store, places->desc);
	}
	return places->n > 0;
}

/* The plan */

/* Looks for a node that fetches rows by place, and how many it is taken to fetch. */
static bool
fetches_by_place(PlanState *state, void *rows)
{
	if (!IsA(state, TidScanState))
		return planstate_tree_walker(state, fetches_by_place, rows);
	if (IsA(linitial(((TidScan *) state->plan)->tidquals), ScalarArrayOpExpr))
		*(double *) rows = ROWS_OF_ARRAY;
	return true;
}

/* See equal_places.h */
bool
equal_places_planned(RowTaker *taker, PlanState *plan)
{
	double		rows = 1;

	return fetches_by_place(plan, &rows) && plan->plan->total_cost <= MAX_COST * rows;
}
