/*
 * id_table.c
 *		Numbers for ids of any type.
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

#include "base/compat.h"
#include "base/interrupts.h"
#include "base/sort_uint64.h"
#include "groups/id_table.h"

#define FIRST_SLOTS_LOG	10

typedef struct IdSlot
{
	uint32		holds;			/* a number + 1, or zero */
	uint32		hash;
} IdSlot;

static uint64
slots_number(const IdTable *table)
{
	return UINT64CONST(1) << (32 - table->shift);
}

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
	table->shift = 32 - FIRST_SLOTS_LOG;
	paged_init(&table->slots, sizeof(IdSlot), memory / 3);
	paged_resize(&table->slots, slots_number(table));
	paged_init(&table->entries, sizeof(uint64), memory / 4);
	id_places_begin(&table->places, type, memory / 4);
}

void
id_table_collate(IdTable *table, TupleDesc desc, int column)
{
	Oid			collation = TupleDescAttr(desc, column)->attcollation;

	if (OidIsValid(collation) && OidIsValid(table->collation))
		table->collation = collation;
}

void
id_table_end(IdTable *table)
{
	paged_free(&table->slots);
	paged_free(&table->entries);
	id_places_end(&table->places);
}

static IdSlot
slot_at(IdTable *table, uint64 slot)
{
	return *(const IdSlot *) paged_at(&table->slots, slot);
}

/* The first slot for a hash, and the one behind another. */
static uint64
first_slot(const IdTable *table, uint32 hash)
{
	return (uint64) hash >> table->shift;
}

static uint64
next_slot(const IdTable *table, uint64 slot)
{
	return (slot + 1) & (slots_number(table) - 1);
}

/* Puts a number into the first free slot for its hash. */
static void
fill_slot(IdTable *table, IdSlot held)
{
	uint64		slot = first_slot(table, held.hash);

	while (slot_at(table, slot).holds != 0)
		slot = next_slot(table, slot);
	*(IdSlot *) paged_change(&table->slots, slot) = held;
}

/*
 * Doubles the slots.  They are in the order of hashes before and after: so both are
 * gone through from the first to the last.
 */
static void
grow(IdTable *table)
{
	MemoryContext old = MemoryContextSwitchTo(table->slots.context);
	uint64		nslots = slots_number(table);
	PagedArray	before = table->slots;

	table->shift--;
	paged_init(&table->slots, sizeof(IdSlot), before.memory);
	paged_resize(&table->slots, slots_number(table));
	for (uint64 i = 0; i < nslots; i++)
	{
		IdSlot		held = *(const IdSlot *) paged_at(&before, i);

		CHECK_EVERY(i);
		if (held.holds != 0)
			fill_slot(table, held);
	}
	paged_free(&before);
	MemoryContextSwitchTo(old);
}

/* Adds an id that is not there. */
static uint32
add_id(IdTable *table, Datum id, uint32 hash)
{
	uint64		place = id_places_put(&table->places, id);
	IdSlot		held = {.hash = hash};

	if (table->n == PG_UINT32_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("too many different ids"),
				 errdetail("There can be at most %u.", PG_UINT32_MAX)));
	if (table->n >= slots_number(table) / 2 && table->shift > 0)
		grow(table);
	paged_resize(&table->entries, (uint64) table->n + 1);
	*(uint64 *) paged_change(&table->entries, table->n) = place;
	held.holds = table->n + 1;
	fill_slot(table, held);
	return table->n++;
}

/* That of a number is what it is modulo something, for some types. */
static uint32
hash_of(IdTable *table, Datum id)
{
	return murmurhash32(DatumGetUInt32(FunctionCall1Coll(&table->hash,
														 table->collation, id)));
}

/* True if an id is the one of that number. */
static bool
has_number(IdTable *table, Datum id, uint32 number)
{
	return id_table_same(table, id, id_table_id(table, number));
}

uint32
id_table_number(IdTable *table, Datum id)
{
	uint32		hash = hash_of(table, id);
	uint64		slot = first_slot(table, hash);
	IdSlot		held;

	while ((held = slot_at(table, slot)).holds != 0)
	{
		if (held.hash == hash && has_number(table, id, held.holds - 1))
			return held.holds - 1;
		slot = next_slot(table, slot);
	}
	return add_id(table, id, hash);
}

/* Many at once */

/*
 * The first number whose id has that hash, or of this id, which is added if there is
 * none; in *added, whether it was.
 */
static uint32
number_by_hash(IdTable *table, Datum id, uint32 hash, bool *added)
{
	uint64		slot = first_slot(table, hash);
	IdSlot		held;

	*added = false;
	while ((held = slot_at(table, slot)).holds != 0)
	{
		if (held.hash == hash)
			return held.holds - 1;
		slot = next_slot(table, slot);
	}
	*added = true;
	return add_id(table, id, hash);
}

/*
 * See id_table.h.  The slots are looked at in the order of the hashes, and the ids that
 * they lead to in that of their numbers, so that pages are read one after another.  Of
 * ids with one hash all but the first are looked up on their own, and there are few.
 */
void
id_table_numbers(IdTable *table, const Datum *ids, uint32 n, uint32 *numbers)
{
	uint64	   *order = palloc(sizeof(uint64) * Max(n, 1));
	uint32		nfound = 0;

	for (uint32 i = 0; i < n; i++)
		order[i] = (uint64) hash_of(table, ids[i]) << 32 | i;
	sort_hashes(order, n);
	for (uint32 i = 0; i < n; i++)
	{
		uint32		which = (uint32) order[i];
		bool		added;

		CHECK_FOR_INTERRUPTS();
		numbers[which] = number_by_hash(table, ids[which], order[i] >> 32, &added);
		if (!added)
			order[nfound++] = (uint64) numbers[which] << 32 | which;
	}
	sort_hashes(order, nfound);
	for (uint32 i = 0; i < nfound; i++)
	{
		uint32		which = (uint32) order[i];

		CHECK_FOR_INTERRUPTS();
		if (!has_number(table, ids[which], order[i] >> 32))
			numbers[which] = id_table_number(table, ids[which]);
	}
	pfree(order);
}

Datum
id_table_id(IdTable *table, uint32 number)
{
	return id_places_get(&table->places,
						 *(const uint64 *) paged_at(&table->entries, number));
}

bool
id_table_has_image(IdTable *table, uint32 number, Datum id)
{
	return datumIsEqual(id, id_table_id(table, number), table->places.byval,
						table->places.len);
}

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
	TupleDescFinalize(desc);
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

/* Ranks that are put to their places at once: one part in so many of the memory, and most. */
#define RANKS_PART		8
#define MAX_RANKS		65536

/* Puts n ranks, each behind its number << 32, to their places, in the order of these. */
static void
put_ranks(PagedArray *ranks, uint64 *known, uint32 n)
{
	sort_hashes(known, n);
	for (uint32 i = 0; i < n; i++)
	{
		CHECK_EVERY(i);
		*(uint32 *) paged_change(ranks, known[i] >> 32) = (uint32) known[i];
	}
}

void
id_table_sort(IdTable *table, RowIds *ids, PagedArray *ranks, size_t memory)
{
	TupleDesc	desc = id_and_number(table);
	TupleTableSlot *in = MakeSingleTupleTableSlot(desc, &TTSOpsVirtual);
	TupleTableSlot *out = MakeSingleTupleTableSlot(desc, &TTSOpsMinimalTuple);
	Tuplesortstate *sort = begin_sort(table, in, memory);
	uint32		at_once = Min(Max(memory / RANKS_PART / sizeof(uint64), 1024), MAX_RANKS);
	uint64	   *known = palloc(sizeof(uint64) * at_once);
	uint32		nknown = 0;

	paged_resize(ranks, table->n);
	while (tuplesort_gettupleslot(sort, true, false, out, NULL))
	{
		bool		isnull;
		uint32		number = DatumGetInt64(slot_getattr(out, 2, &isnull));

		CHECK_FOR_INTERRUPTS();
		known[nknown++] = (uint64) number << 32 | ids->n;
		row_ids_put(ids, slot_getattr(out, 1, &isnull), false);
		if (nknown == at_once)
		{
			put_ranks(ranks, known, nknown);
			nknown = 0;
		}
	}
	put_ranks(ranks, known, nknown);
	pfree(known);
	tuplesort_end(sort);
	ExecDropSingleTupleTableSlot(in);
	ExecDropSingleTupleTableSlot(out);
}
