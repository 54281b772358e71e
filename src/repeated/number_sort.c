/*
 * number_sort.c
 *		Sorts rows of numbers, within a limit of memory.
 */
#include "postgres.h"

#include "catalog/pg_operator_d.h"
#include "catalog/pg_type_d.h"

#include "base/compat.h"
#include "repeated/number_sort.h"

void
number_sort_begin(NumberSort *sort, int n, size_t memory)
{
	AttrNumber	column = 1;
	Oid			less = Int8LessOperator;
	Oid			collation = InvalidOid;
	bool		nulls_first = false;
	TupleDesc	desc = CreateTemplateTupleDesc(n);

	Assert(n >= 1);
	for (int i = 1; i <= n; i++)
		TupleDescInitEntry(desc, i, NULL, INT8OID, -1, 0);
	TupleDescFinalize(desc);
	sort->in = MakeSingleTupleTableSlot(desc, &TTSOpsVirtual);
	sort->out = MakeSingleTupleTableSlot(desc, &TTSOpsMinimalTuple);
	sort->state = tuplesort_begin_heap(desc, 1, &column, &less, &collation,
									   &nulls_first, Max(memory / 1024, 64),
									   NULL, TUPLESORT_NONE);
}

void
number_sort_put(NumberSort *sort, const int64 *numbers)
{
	int			n = sort->in->tts_tupleDescriptor->natts;

	ExecClearTuple(sort->in);
	/* on 32 bits numbers are passed by reference; the sort copies them */
	for (int i = 0; i < n; i++)
		sort->in->tts_values[i] = Int64GetDatumFast(numbers[i]);
	memset(sort->in->tts_isnull, 0, n * sizeof(bool));
	ExecStoreVirtualTuple(sort->in);
	tuplesort_puttupleslot(sort->state, sort->in);
}

void
number_sort_perform(NumberSort *sort)
{
	tuplesort_performsort(sort->state);
}

bool
number_sort_get(NumberSort *sort, int64 *numbers)
{
	if (!tuplesort_gettupleslot(sort->state, true, false, sort->out, NULL))
		return false;
	slot_getallattrs(sort->out);
	for (int i = 0; i < sort->out->tts_nvalid; i++)
		numbers[i] = DatumGetInt64(sort->out->tts_values[i]);
	return true;
}

void
number_sort_end(NumberSort *sort)
{
	ExecDropSingleTupleTableSlot(sort->in);
	ExecDropSingleTupleTableSlot(sort->out);
	tuplesort_end(sort->state);
}
