/*
 * large_rows.c
 *		Rows of a join on disk that are too large for the runs of sets, sorted by
 *		their sets.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/join/engine/large_rows.c
 */
#include "postgres.h"

#include "catalog/pg_operator_d.h"
#include "catalog/pg_type_d.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "base/compat.h"
#include "join/engine/large_rows.h"
#include "join/engine/row_groups.h"

static Tuplesortstate *
begin_sort(TupleDesc desc, size_t bytes)
{
	AttrNumber	columns[] = {1, 2};
	Oid			operators[] = {Int8LessOperator, Int8LessOperator};
	Oid			collations[] = {InvalidOid, InvalidOid};
	bool		nulls_first[] = {false, false};

	return tuplesort_begin_heap(desc, 2, columns, operators, collations,
								nulls_first, Max(bytes / 1024, 64), NULL,
								TUPLESORT_NONE);
}

/* See large_rows.h */
void
large_rows_create(LargeRows *rows, size_t bytes)
{
	TupleDesc	desc = CreateTemplateTupleDesc(3);

	TupleDescInitEntry(desc, 1, "high", INT8OID, -1, 0);
	TupleDescInitEntry(desc, 2, "low", INT8OID, -1, 0);
	TupleDescInitEntry(desc, 3, "data", BYTEAOID, -1, 0);
	TupleDescFinalize(desc);
	memset(rows, 0, sizeof(LargeRows));
	rows->sort = begin_sort(desc, bytes);
	rows->put = MakeSingleTupleTableSlot(desc, &TTSOpsVirtual);
	rows->got = MakeSingleTupleTableSlot(desc, &TTSOpsMinimalTuple);
}

/* Makes room for n bytes of data in the record that goes in. */
static char *
record_room(LargeRows *rows, size_t n)
{
	if (n > rows->max_record)
	{
		if (rows->record)
			pfree(rows->record);
		rows->max_record = Min(Max(n, rows->max_record * 2),
							   MaxAllocSize - VARHDRSZ);
		rows->record = palloc(VARHDRSZ + rows->max_record);
	}
	SET_VARSIZE(rows->record, VARHDRSZ + n);
	return VARDATA(rows->record);
}

/* See large_rows.h */
void
large_rows_add(LargeRows *rows, SetKey key, const void *row, uint32 rowno,
			   uint32 len)
{
	TupleTableSlot *slot = rows->put;

	file_row_make(record_room(rows, file_row_bytes(len)), row, rowno, len);
	ExecClearTuple(slot);
	/* on 32 bits these are pointers to what is copied below */
	slot->tts_values[0] = Int64GetDatumFast(key.high);
	slot->tts_values[1] = Int64GetDatumFast(key.low);
	slot->tts_values[2] = PointerGetDatum(rows->record);
	memset(slot->tts_isnull, 0, 3 * sizeof(bool));
	ExecStoreVirtualTuple(slot);
	tuplesort_puttupleslot(rows->sort, slot);
}

/* See large_rows.h */
void
large_rows_next(LargeRows *rows)
{
	bool		isnull;
	bytea	   *data;

	CHECK_FOR_INTERRUPTS();
	rows->valid = tuplesort_gettupleslot(rows->sort, true, false, rows->got,
										 NULL);
	if (!rows->valid)
		return;
	rows->key.high = DatumGetInt64(slot_getattr(rows->got, 1, &isnull));
	rows->key.low = DatumGetInt64(slot_getattr(rows->got, 2, &isnull));
	data = (bytea *) DatumGetPointer(slot_getattr(rows->got, 3, &isnull));
	rows->data = VARDATA_ANY(data);
	rows->len = VARSIZE_ANY_EXHDR(data);
}

/* See large_rows.h */
void
large_rows_begin(LargeRows *rows)
{
	if (rows->record)
		pfree(rows->record);
	rows->record = NULL;
	tuplesort_performsort(rows->sort);
	large_rows_next(rows);
}

/* See large_rows.h */
uint64
large_rows_free(LargeRows *rows)
{
	TuplesortInstrumentation stats;

	if (rows->sort == NULL)
		return 0;
	tuplesort_get_stats(rows->sort, &stats);
	ExecDropSingleTupleTableSlot(rows->put);
	ExecDropSingleTupleTableSlot(rows->got);
	tuplesort_end(rows->sort);
	rows->sort = NULL;
	return stats.spaceType == SORT_SPACE_TYPE_DISK ? stats.spaceUsed * 1024 : 0;
}
