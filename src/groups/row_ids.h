/*
 * row_ids.h
 *		The ids of rows: values of any type, by the number of the row, and sorts by id.
 */
#ifndef NEARDUP_ROW_IDS_H
#define NEARDUP_ROW_IDS_H

#include "executor/tuptable.h"
#include "fmgr.h"
#include "utils/tuplesort.h"

#include "groups/disk_array.h"

/* Hint of an error where a type has no order. */
#define ID_AS_TEXT_HINT \
	"Take the ids as text: id::text in the query, and NULL::text as the first argument."

typedef struct RowIds
{
	Oid			type;
	int16		len;			/* typlen */
	bool		byval;			/* typbyval */
	uint32		n;
	DiskArray	places;			/* uint64: the id itself, or its offset in
								 * bytes */
	DiskArray	bytes;			/* of ids that are not passed by value */
} RowIds;

/* Begin without ids, in the current memory context. */
extern void row_ids_begin(RowIds *ids, Oid type, size_t memory);
extern void row_ids_end(RowIds *ids);

/* Append an id; raises NULL_VALUE_NOT_ALLOWED if it is null. */
extern void row_ids_put(RowIds *ids, Datum id, bool isnull);

/* Return the id of a row; it may be palloc'd. */
extern Datum row_ids_get(RowIds *ids, uint32 row);

/* How ids are compared */
typedef struct IdOrder
{
	Oid			type;
	Oid			less;			/* operator */
	Oid			collation;
	FmgrInfo	compare;
} IdOrder;

/* Prepare; raises UNDEFINED_FUNCTION if values of the type have no order. */
extern void id_order_begin(IdOrder *order, Oid type);

/* Compare ids by the collation of that column, from 0; without it, by that of their type. */
extern void id_order_collate(IdOrder *order, TupleDesc desc, int column);
extern bool ids_equal(IdOrder *order, Datum a, Datum b);

/* A sort of rows by their first column: an id, or a number of type int8 */
typedef struct RowSort
{
	Tuplesortstate *state;
	TupleTableSlot *in;
	TupleTableSlot *out;
} RowSort;

/*
 * Begin a sort in the current memory context, of rows with columns of these types.
 * The order is that of the first one; NULL: by int8.
 */
extern void row_sort_begin(RowSort *sort, const IdOrder *order, int ncolumns,
						   const Oid *types, size_t memory);
extern void row_sort_put(RowSort *sort, const Datum *values, const bool *nulls);

/*
 * After tuplesort_performsort() of the state, return rows one by one, each valid until the
 * next call; NULL: no more.
 */
extern TupleTableSlot *row_sort_next(RowSort *sort);
extern void row_sort_end(RowSort *sort);

#endif							/* NEARDUP_ROW_IDS_H */
