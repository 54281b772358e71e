/*
 * id_table.c
 *		Numbers for ids of any type.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/clusters/id_table.c
 */
#include "postgres.h"

#include "catalog/pg_type_d.h"
#include "common/hashfn.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/memutils.h"
#include "utils/tuplesort.h"
#include "utils/typcache.h"

#include "clusters/id_table.h"

#define FIRST_SLOTS		1024

typedef struct IdEntry
{
	uint32		hash;
	uint32		unused;
	uint64		place;
} IdEntry;

/* See id_table.h */
void
id_table_begin(IdTable *table, Oid type, size_t memory)
{
	TypeCacheEntry *entry = lookup_type_cache(type,
											  TYPECACHE_HASH_PROC_FINFO |
											  TYPECACHE_EQ_OPR_FINFO |
											  TYPECACHE_LT_OPR);

	if (!OidIsValid(entry->hash_proc_finfo.fn_oid) ||
		!OidIsValid(entry->eq_opr_finfo.fn_oid) ||
		!OidIsValid(entry->lt_opr))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_FUNCTION),
				 errmsg("values of type %s cannot be ids", format_type_be(type)),
				 errdetail("Ids are of a type that can be hashed and sorted."),
				 errhint(ID_AS_TEXT_HINT)));
	memset(table, 0, sizeof(IdTable));
	table->type = type;
	table->collation = entry->typcollation;
	fmgr_info_copy(&table->hash, &entry->hash_proc_finfo,
				   CurrentMemoryContext);
	fmgr_info_copy(&table->equal, &entry->eq_opr_finfo, CurrentMemoryContext);
	table->less = entry->lt_opr;
	paged_init(&table->slots, sizeof(uint32), memory / 4);
	paged_resize(&table->slots, FIRST_SLOTS);
	table->nslots = FIRST_SLOTS;
	paged_init(&table->entries, sizeof(IdEntry), memory / 2);
	id_places_begin(&table->places, type, memory / 4);
}

/* See id_table.h */
void
id_table_end(IdTable *table)
{
	paged_free(&table->slots);
	paged_free(&table->entries);
	id_places_end(&table->places);
}

static IdEntry
entry_of(IdTable *table, uint32 number)
{
	return *(const IdEntry *) paged_at(&table->entries, number);
}

/* What a slot holds: a number + 1, or zero. */
static uint32
slot_holds(IdTable *table, uint64 slot)
{
	return *(const uint32 *) paged_at(&table->slots, slot);
}

/* Puts a number into the first free slot for its hash. */
static void
fill_slot(IdTable *table, uint32 number, uint32 hash)
{
	uint64		slot = hash & (table->nslots - 1);

	while (slot_holds(table, slot) != 0)
		slot = (slot + 1) & (table->nslots - 1);
	*(uint32 *) paged_change(&table->slots, slot) = number + 1;
}

/* Doubles the slots. */
static void
grow(IdTable *table)
{
	MemoryContext old = MemoryContextSwitchTo(table->slots.context);

	paged_free(&table->slots);
	table->nslots *= 2;
	paged_init(&table->slots, sizeof(uint32), table->slots.memory);
	paged_resize(&table->slots, table->nslots);
	MemoryContextSwitchTo(old);
	for (uint32 i = 0; i < table->n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		fill_slot(table, i, entry_of(table, i).hash);
	}
}

/* Adds an id that is not there. */
static uint32
add_id(IdTable *table, Datum id, uint32 hash)
{
	IdEntry		entry = {.hash = hash,.place = id_places_put(&table->places, id)};

	if (table->n == PG_UINT32_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("too many different ids"),
				 errdetail("There can be at most %u.", PG_UINT32_MAX)));
	if (table->n >= table->nslots / 2)
		grow(table);
	paged_resize(&table->entries, (uint64) table->n + 1);
	*(IdEntry *) paged_change(&table->entries, table->n) = entry;
	fill_slot(table, table->n, hash);
	return table->n++;
}

/* See id_table.h */
uint32
id_table_number(IdTable *table, Datum id)
{
	/* that of a number is what it is modulo something, for some types */
	uint32		hash = murmurhash32(DatumGetUInt32(FunctionCall1Coll(&table->hash,
																 table->collation,
																 id)));
	uint64		slot = hash & (table->nslots - 1);
	uint32		held;

	while ((held = slot_holds(table, slot)) != 0)
	{
		IdEntry		entry = entry_of(table, held - 1);

		if (entry.hash == hash &&
			id_table_same(table, id, id_places_get(&table->places, entry.place)))
			return held - 1;
		slot = (slot + 1) & (table->nslots - 1);
	}
	return add_id(table, id, hash);
}

/* See id_table.h */
Datum
id_table_id(IdTable *table, uint32 number)
{
	return id_places_get(&table->places, entry_of(table, number).place);
}

/* See id_table.h */
bool
id_table_has_image(IdTable *table, uint32 number, Datum id)
{
	return datumIsEqual(id, id_table_id(table, number), table->places.byval,
						table->places.len);
}

/* See id_table.h */
bool
id_table_same(IdTable *table, Datum a, Datum b)
{
	return DatumGetBool(FunctionCall2Coll(&table->equal, table->collation, a,
										  b));
}

/* Sorting */

static TupleDesc
id_and_number(const IdTable *table)
{
	TupleDesc	desc = CreateTemplateTupleDesc(2);

	TupleDescInitEntry(desc, 1, "id", table->type, -1, 0);
	TupleDescInitEntry(desc, 2, "number", INT8OID, -1, 0);
	return desc;
}

/* Puts all ids, with their numbers, into a sort. */
static Tuplesortstate *
begin_sort(IdTable *table, TupleTableSlot *slot, size_t memory)
{
	AttrNumber	column = 1;
	bool		nulls_first = false;
	Tuplesortstate *sort;

	sort = tuplesort_begin_heap(slot->tts_tupleDescriptor, 1, &column,
								&table->less, &table->collation, &nulls_first,
								Max(memory / 1024, 64), NULL, TUPLESORT_NONE);
	for (uint32 i = 0; i < table->n; i++)
	{
		int64		number = i;

		CHECK_FOR_INTERRUPTS();
		ExecClearTuple(slot);
		slot->tts_values[0] = id_table_id(table, i);
		/* on 32 bits it is a pointer to what is copied below */
		slot->tts_values[1] = Int64GetDatumFast(number);
		slot->tts_isnull[0] = slot->tts_isnull[1] = false;
		ExecStoreVirtualTuple(slot);
		tuplesort_puttupleslot(sort, slot);
	}
	tuplesort_performsort(sort);
	return sort;
}

/* See id_table.h */
void
id_table_sort(IdTable *table, RowIds *ids, PagedArray *ranks, size_t memory)
{
	TupleDesc	desc = id_and_number(table);
	TupleTableSlot *in = MakeSingleTupleTableSlot(desc, &TTSOpsVirtual);
	TupleTableSlot *out = MakeSingleTupleTableSlot(desc, &TTSOpsMinimalTuple);
	Tuplesortstate *sort = begin_sort(table, in, memory);

	paged_resize(ranks, table->n);
	while (tuplesort_gettupleslot(sort, true, false, out, NULL))
	{
		bool		isnull;
		uint32		number = DatumGetInt64(slot_getattr(out, 2, &isnull));

		CHECK_FOR_INTERRUPTS();
		*(uint32 *) paged_change(ranks, number) = ids->n;
		row_ids_put(ids, slot_getattr(out, 1, &isnull), false);
	}
	tuplesort_end(sort);
	ExecDropSingleTupleTableSlot(in);
	ExecDropSingleTupleTableSlot(out);
}
