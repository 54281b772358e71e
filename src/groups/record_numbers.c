/*
 * record_numbers.c
 *		Numbers records, which are rows of values: each distinct record is
 *		stored once.
 *
 * Different values may have equal hashes, as the jsonb values "a" and ["a"]
 * do. So the hash table holds numbers of records, and the records are
 * compared.  Records and table move to disk when they exceed their memory.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_type_d.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/fmgroids.h"
#include "utils/typcache.h"

#include "groups/record_numbers.h"

#define FIRST_SLOTS	64			/* a power of two */

/* Slot of the hash table */
typedef struct RecordSlot
{
	uint64		hash;
	uint32		number;			/* 1 + number of the record; 0 = free */
} RecordSlot;

/* Begin a hash table of n free slots. */
static void
begin_slots(RecordNumbers *numbers, uint64 n)
{
	const RecordSlot none = {0};
	MemoryContext old = MemoryContextSwitchTo(numbers->context);

	disk_array_begin(&numbers->slots, sizeof(RecordSlot), numbers->memory / 2);
	while (numbers->slots.n < n)
		disk_array_append(&numbers->slots, &none, 1);
	MemoryContextSwitchTo(old);
}

void
record_numbers_begin(RecordNumbers *numbers, TupleDesc columns, size_t memory)
{
	numbers->context = CurrentMemoryContext;
	numbers->memory = memory;
	numbers->columns = BlessTupleDesc(columns);
	fmgr_info(F_HASH_RECORD_EXTENDED, &numbers->hash);
	fmgr_info(F_RECORD_EQ, &numbers->equal);
	/* a secret seed: nobody can choose values with equal hashes */
	if (!pg_strong_random(&numbers->seed, sizeof(numbers->seed)))
		ereport(ERROR,
				(errcode(ERRCODE_INTERNAL_ERROR),
				 errmsg("could not generate random values")));
	row_ids_begin(&numbers->records, RECORDOID, memory / 2);
	begin_slots(numbers, FIRST_SLOTS);
}

void
record_numbers_end(RecordNumbers *numbers)
{
	row_ids_end(&numbers->records);
	disk_array_free(&numbers->slots);
}

/*
 * Return the slot of a record, or the free slot for it; valid until the next
 * call.
 */
static RecordSlot *
find_slot(RecordNumbers *numbers, uint64 hash, Datum record)
{
	for (uint64 i = hash;; i++)
	{
		RecordSlot *slot = disk_array_at(&numbers->slots,
										 i & (numbers->slots.n - 1), true);

		CHECK_FOR_INTERRUPTS();
		Assert(numbers->records.n < numbers->slots.n);
		if (slot->number == 0 ||
			(slot->hash == hash &&
			 DatumGetBool(FunctionCall2(&numbers->equal, record,
										row_ids_get(&numbers->records,
													slot->number - 1)))))
			return slot;
	}
}

/* Double the size of the hash table. */
static void
double_slots(RecordNumbers *numbers)
{
	DiskArray	slots = numbers->slots;

	begin_slots(numbers, slots.n * 2);
	for (uint64 i = 0; i < slots.n; i++)
	{
		RecordSlot	slot = *(RecordSlot *) disk_array_at(&slots, i, false);
		uint64		place = slot.hash;

		CHECK_FOR_INTERRUPTS();
		if (slot.number == 0)
			continue;
		while (((RecordSlot *) disk_array_at(&numbers->slots,
											 place & (numbers->slots.n - 1),
											 false))->number != 0)
			place++;
		*(RecordSlot *) disk_array_at(&numbers->slots,
									  place & (numbers->slots.n - 1),
									  true) = slot;
	}
	disk_array_free(&slots);
}

bool
type_is_hashable(Oid type)
{
	return OidIsValid(lookup_type_cache(type,
										TYPECACHE_HASH_EXTENDED_PROC)->hash_extended_proc);
}

uint32
record_number(RecordNumbers *numbers, const Datum *values, const bool *nulls,
			  bool add)
{
	Datum		record = HeapTupleGetDatum(heap_form_tuple(numbers->columns,
														   unconstify(Datum *,
																	  values),
														   unconstify(bool *,
																	  nulls)));
	uint64		hash = DatumGetUInt64(FunctionCall2(&numbers->hash, record,
													UInt64GetDatum(numbers->seed)));
	RecordSlot *slot = find_slot(numbers, hash, record);

	if (slot->number != 0)
		return slot->number - 1;
	if (!add)
		return NO_RECORD;
	slot->hash = hash;
	slot->number = numbers->records.n + 1;
	row_ids_put(&numbers->records, record, false);
	if (numbers->records.n > numbers->slots.n / 2)
		double_slots(numbers);
	return numbers->records.n - 1;
}
