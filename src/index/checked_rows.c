/*
 * checked_rows.c
 *		Rows of an index that is checked, sorted by their places in the table.
 */
#include "postgres.h"

#include "access/tupdesc.h"
#include "catalog/pg_operator_d.h"
#include "catalog/pg_type_d.h"
#include "executor/executor.h"
#include "miscadmin.h"

#include "base/compat.h"
#include "index/checked_rows.h"

/* Columns of what is sorted, each an int8 */
enum
{
	COLUMN_PLACE,				/* the page's number, and the row's on it */
	COLUMN_KEYS,				/* the size, and how many keys it has */
	COLUMN_SUM,
	COLUMN_COUNT
};

void
checked_rows_begin(CheckedRows *rows, size_t memory)
{
	TupleDesc	desc = CreateTemplateTupleDesc(COLUMN_COUNT);
	AttrNumber	column = COLUMN_PLACE + 1;
	Oid			less = Int8LessOperator;
	Oid			collation = InvalidOid;
	bool		nulls_first = false;

	for (AttrNumber i = 1; i <= COLUMN_COUNT; i++)
		TupleDescInitEntry(desc, i, NULL, INT8OID, -1, 0);
	TupleDescFinalize(desc);
	rows->in = MakeSingleTupleTableSlot(desc, &TTSOpsVirtual);
	rows->out = MakeSingleTupleTableSlot(desc, &TTSOpsMinimalTuple);
	rows->sort = tuplesort_begin_heap(desc, 1, &column, &less, &collation,
									  &nulls_first, Max(memory / 1024, 64),
									  NULL, TUPLESORT_NONE);
}

void
checked_rows_put(CheckedRows *rows, const CheckedRow *row)
{
	TupleTableSlot *slot = rows->in;
	int64		values[] = {
		[COLUMN_PLACE] = (int64) ItemPointerGetBlockNumberNoCheck(&row->tid) << 16 |
		ItemPointerGetOffsetNumberNoCheck(&row->tid),
		[COLUMN_KEYS] = (int64) ((uint64) row->size << 32 | row->nkeys),
		[COLUMN_SUM] = (int64) row->sum
	};

	ExecClearTuple(slot);
	/* on 32 bits these are pointers to what is copied below */
	for (int i = 0; i < COLUMN_COUNT; i++)
	{
		slot->tts_values[i] = Int64GetDatumFast(values[i]);
		slot->tts_isnull[i] = false;
	}
	ExecStoreVirtualTuple(slot);
	tuplesort_puttupleslot(rows->sort, slot);
}

void
checked_rows_sort(CheckedRows *rows)
{
	tuplesort_performsort(rows->sort);
}

bool
checked_rows_next(CheckedRows *rows, CheckedRow *row)
{
	uint64		place;
	uint64		keys;

	CHECK_FOR_INTERRUPTS();
	if (!tuplesort_gettupleslot(rows->sort, true, false, rows->out, NULL))
		return false;
	slot_getallattrs(rows->out);
	place = DatumGetInt64(rows->out->tts_values[COLUMN_PLACE]);
	keys = DatumGetInt64(rows->out->tts_values[COLUMN_KEYS]);
	ItemPointerSet(&row->tid, place >> 16, place & 0xffff);
	row->size = keys >> 32;
	row->nkeys = (uint32) keys;
	row->sum = DatumGetInt64(rows->out->tts_values[COLUMN_SUM]);
	return true;
}

void
checked_rows_end(CheckedRows *rows)
{
	tuplesort_end(rows->sort);
	ExecDropSingleTupleTableSlot(rows->in);
	ExecDropSingleTupleTableSlot(rows->out);
}
