/*
 * row_ids.c
 *		The ids of rows, of any type, in the order of the rows.
 */
#include "postgres.h"

#include "executor/executor.h"
#include "utils/lsyscache.h"

#include "base/compat.h"
#include "groups/row_ids.h"

void
row_ids_begin(RowIds *ids, Oid type, size_t memory)
{
	ids->type = type;
	get_typlenbyval(type, &ids->len, &ids->byval);
	ids->n = 0;
	ids->store = tuplestore_begin_heap(false, false, Max(memory / 1024, 64));
	ids->desc = CreateTemplateTupleDesc(1);
	TupleDescInitEntry(ids->desc, 1, "id", type, -1, 0);
	TupleDescFinalize(ids->desc);
	ids->slot = MakeSingleTupleTableSlot(ids->desc, &TTSOpsMinimalTuple);
	tuplestore_set_eflags(ids->store, EXEC_FLAG_REWIND);
}

void
row_ids_end(RowIds *ids)
{
	ExecDropSingleTupleTableSlot(ids->slot);
	tuplestore_end(ids->store);
}

void
row_ids_put(RowIds *ids, Datum id, bool isnull)
{
	if (isnull)
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("id of a row must not be null"),
				 errhint("Leave such rows out of the query, or give them an id.")));
	tuplestore_putvalues(ids->store, ids->desc, &id, &isnull);
	ids->n++;
}

void
row_ids_rewind(RowIds *ids)
{
	tuplestore_rescan(ids->store);
}

Datum
row_ids_next(RowIds *ids)
{
	bool		isnull;

	if (!tuplestore_gettupleslot(ids->store, true, false, ids->slot))
		elog(ERROR, "there are no more ids");
	return slot_getattr(ids->slot, 1, &isnull);
}
