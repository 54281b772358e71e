/*
 * scopes.c
 *		Numbers of scopes: values of the columns within which rows are compared.
 *
 * Hashes of a type may be equal where its values are not, as those of the jsonb values "a" and
 * ["a"] are.  So each scope is stored once, as a record, and a hash table has the numbers of the
 * records.  Both move to disk when they exceed their memory.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_type_d.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/fmgroids.h"

#include "groups/scopes.h"

#define FIRST_SLOTS	64			/* a power of two */

typedef struct ScopeSlot
{
	uint64		hash;
	uint32		number;			/* + 1; 0: the slot is free */
} ScopeSlot;

/* Begin a hash table of n free slots. */
static void
begin_slots(Scopes *scopes, uint64 n)
{
	const ScopeSlot none = {0};
	MemoryContext old = MemoryContextSwitchTo(scopes->context);

	disk_array_begin(&scopes->slots, sizeof(ScopeSlot), scopes->memory / 2);
	while (scopes->slots.n < n)
		disk_array_append(&scopes->slots, &none, 1);
	MemoryContextSwitchTo(old);
}

void
scopes_begin(Scopes *scopes, TupleDesc columns, size_t memory)
{
	scopes->context = CurrentMemoryContext;
	scopes->memory = memory;
	scopes->columns = columns;
	fmgr_info(F_HASH_RECORD_EXTENDED, &scopes->hash);
	fmgr_info(F_RECORD_EQ, &scopes->equal);
	/* nobody can foresee hashes, and choose values for which they are equal */
	if (!pg_strong_random(&scopes->seed, sizeof(scopes->seed)))
		ereport(ERROR,
				(errcode(ERRCODE_INTERNAL_ERROR),
				 errmsg("could not generate random values")));
	row_ids_begin(&scopes->records, RECORDOID, memory / 2);
	begin_slots(scopes, FIRST_SLOTS);
}

void
scopes_end(Scopes *scopes)
{
	if (scopes->columns == NULL)
		return;
	row_ids_end(&scopes->records);
	disk_array_free(&scopes->slots);
}

/* Return the slot of a record, or a free one for it; valid until the next call. */
static ScopeSlot *
find_slot(Scopes *scopes, uint64 hash, Datum record)
{
	for (uint64 i = hash;; i++)
	{
		ScopeSlot  *slot = disk_array_at(&scopes->slots, i & (scopes->slots.n - 1), true);

		CHECK_FOR_INTERRUPTS();
		if (slot->number == 0 ||
			(slot->hash == hash &&
			 DatumGetBool(FunctionCall2(&scopes->equal, record,
										row_ids_get(&scopes->records, slot->number - 1)))))
			return slot;
	}
}

/* Double the hash table. */
static void
double_slots(Scopes *scopes)
{
	DiskArray	slots = scopes->slots;

	begin_slots(scopes, slots.n * 2);
	for (uint64 i = 0; i < slots.n; i++)
	{
		ScopeSlot	slot = *(ScopeSlot *) disk_array_at(&slots, i, false);
		uint64		place = slot.hash;

		CHECK_FOR_INTERRUPTS();
		if (slot.number == 0)
			continue;
		while (((ScopeSlot *) disk_array_at(&scopes->slots, place & (scopes->slots.n - 1),
											false))->number != 0)
			place++;
		*(ScopeSlot *) disk_array_at(&scopes->slots, place & (scopes->slots.n - 1), true) = slot;
	}
	disk_array_free(&slots);
}

uint32
scope_number(Scopes *scopes, const Datum *values, const bool *nulls)
{
	Datum		record;
	uint64		hash;
	ScopeSlot  *slot;

	if (scopes->columns == NULL)
		return 0;
	record = HeapTupleGetDatum(heap_form_tuple(scopes->columns, unconstify(Datum *, values),
											   unconstify(bool *, nulls)));
	hash = DatumGetUInt64(FunctionCall2(&scopes->hash, record, UInt64GetDatum(scopes->seed)));
	slot = find_slot(scopes, hash, record);
	if (slot->number != 0)
		return slot->number - 1;
	slot->hash = hash;
	slot->number = scopes->records.n + 1;
	row_ids_put(&scopes->records, record, false);
	if (scopes->records.n > scopes->slots.n / 2)
		double_slots(scopes);
	return scopes->records.n - 1;
}
