/*
 * row_ids.c
 *		The ids of rows: values of any type, by the number of the row, and sorts by id.
 */
#include "postgres.h"

#include "catalog/pg_operator_d.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

#include "base/compat.h"
#include "groups/row_ids.h"

void
row_ids_begin(RowIds *ids, Oid type, size_t memory)
{
	ids->type = type;
	get_typlenbyval(type, &ids->len, &ids->byval);
	ids->n = 0;
	disk_array_begin(&ids->places, sizeof(uint64), ids->byval ? memory : memory / 4);
	disk_array_begin(&ids->bytes, 1, memory / 4 * 3);
}

void
row_ids_end(RowIds *ids)
{
	disk_array_free(&ids->places);
	disk_array_free(&ids->bytes);
}

/* Store the bytes of an id, behind their number; return their place. */
static uint64
put_bytes(RowIds *ids, Datum id)
{
	static const char padding[MAXIMUM_ALIGNOF] = {0};
	uint64		place = ids->bytes.n;
	uint64		len;

	if (ids->len == -1)
		id = PointerGetDatum(PG_DETOAST_DATUM_PACKED(id));
	len = datumGetSize(id, ids->byval, ids->len);
	Assert(place == MAXALIGN(place));
	disk_array_append(&ids->bytes, &len, sizeof(len));
	disk_array_append(&ids->bytes, DatumGetPointer(id), len);
	disk_array_append(&ids->bytes, padding, MAXALIGN(len) - len);
	return place;
}

void
row_ids_put(RowIds *ids, Datum id, bool isnull)
{
	uint64		place;

	if (isnull)
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("id of a row must not be null"),
				 errhint("Leave such rows out of the query, or give them an id.")));
	if (ids->n == PG_UINT32_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("too many rows to be grouped"),
				 errdetail("There can be at most %u.", PG_UINT32_MAX)));
	place = ids->byval ? (uint64) id : put_bytes(ids, id);
	disk_array_append(&ids->places, &place, 1);
	ids->n++;
}

Datum
row_ids_get(RowIds *ids, uint32 row)
{
	uint64		place;
	uint64		len;
	char	   *id;

	disk_array_get(&ids->places, row, &place, sizeof(place));
	if (ids->byval)
		return (Datum) place;
	if (ids->bytes.elements != NULL)
		return PointerGetDatum(ids->bytes.elements + place + sizeof(len));
	disk_array_read(&ids->bytes, place, &len, sizeof(len));
	id = palloc_extended(len, MCXT_ALLOC_HUGE);
	disk_array_read(&ids->bytes, place + sizeof(len), id, len);
	return PointerGetDatum(id);
}

/* Order */

void
id_order_begin(IdOrder *order, Oid type)
{
	TypeCacheEntry *entry = lookup_type_cache(type, TYPECACHE_LT_OPR |
											  TYPECACHE_CMP_PROC_FINFO);

	if (!OidIsValid(entry->lt_opr) || !OidIsValid(entry->cmp_proc_finfo.fn_oid))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_FUNCTION),
				 errmsg("values of type %s cannot be ids", format_type_be(type)),
				 errdetail("Rows are sorted by their ids."),
				 errhint(ID_AS_TEXT_HINT)));
	order->type = type;
	order->less = entry->lt_opr;
	order->collation = entry->typcollation;
	fmgr_info_copy(&order->compare, &entry->cmp_proc_finfo, CurrentMemoryContext);
}

void
id_order_collate(IdOrder *order, TupleDesc desc, int column)
{
	Oid			collation = TupleDescAttr(desc, column)->attcollation;

	if (OidIsValid(collation) && OidIsValid(order->collation))
		order->collation = collation;
}

bool
ids_equal(IdOrder *order, Datum a, Datum b)
{
	return DatumGetInt32(FunctionCall2Coll(&order->compare, order->collation, a, b)) == 0;
}

/* Sorts */

void
row_sort_begin(RowSort *sort, const IdOrder *order, int ncolumns, const Oid *types,
			   size_t memory)
{
	TupleDesc	desc = CreateTemplateTupleDesc(ncolumns);
	AttrNumber	column = 1;
	Oid			less = order != NULL ? order->less : Int8LessOperator;
	Oid			collation = order != NULL ? order->collation : InvalidOid;
	bool		nulls_first = false;

	for (int i = 0; i < ncolumns; i++)
		TupleDescInitEntry(desc, i + 1, NULL, types[i], -1, 0);
	TupleDescFinalize(desc);
	sort->in = MakeSingleTupleTableSlot(desc, &TTSOpsVirtual);
	sort->out = MakeSingleTupleTableSlot(desc, &TTSOpsMinimalTuple);
	sort->state = tuplesort_begin_heap(desc, 1, &column, &less, &collation, &nulls_first,
									   Max(memory / 1024, 64), NULL,
									   TUPLESORT_RANDOMACCESS);
}

void
row_sort_put(RowSort *sort, const Datum *values, const bool *nulls)
{
	int			n = sort->in->tts_tupleDescriptor->natts;

	ExecClearTuple(sort->in);
	memcpy(sort->in->tts_values, values, n * sizeof(Datum));
	memcpy(sort->in->tts_isnull, nulls, n * sizeof(bool));
	ExecStoreVirtualTuple(sort->in);
	tuplesort_puttupleslot(sort->state, sort->in);
}

TupleTableSlot *
row_sort_next(RowSort *sort)
{
	CHECK_FOR_INTERRUPTS();
	if (!tuplesort_gettupleslot(sort->state, true, false, sort->out, NULL))
		return NULL;
	slot_getallattrs(sort->out);
	return sort->out;
}

void
row_sort_end(RowSort *sort)
{
	ExecDropSingleTupleTableSlot(sort->in);
	ExecDropSingleTupleTableSlot(sort->out);
	tuplesort_end(sort->state);
}
