/*
 * asked_sets.c
 *		Different sets, each with a scope, that a query is asked with.
 *
 * They lie one behind the other, each with the values of its scope, and are found
 * by a hash of what they are.
 */
#include "postgres.h"

#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "base/compat.h"
#include "base/hash.h"
#include "groups/asked_sets.h"

#define FIRST_SLOTS		1024

typedef struct AskedEntry
{
	uint64		hash;
	uint64		place;			/* of an AskedHead */
} AskedEntry;

/* What stands before a signature, behind which are the values; all MAXALIGNed. */
typedef struct AskedHead
{
	uint64		scope;
	uint32		signature_bytes;
	uint32		values_bytes;
} AskedHead;

void
asked_sets_begin(AskedSets *sets, size_t memory)
{
	memset(sets, 0, sizeof(AskedSets));
	paged_init(&sets->slots, sizeof(uint32), memory / 8);
	paged_resize(&sets->slots, FIRST_SLOTS);
	sets->nslots = FIRST_SLOTS;
	paged_init(&sets->entries, sizeof(AskedEntry), memory / 8);
	paged_init(&sets->bytes, 1, memory / 4 * 3);
}

void
asked_sets_scope(AskedSets *sets, TupleDesc scope)
{
	sets->scope = scope;
	sets->slot = MakeSingleTupleTableSlot(scope, &TTSOpsMinimalTuple);
}

void
asked_sets_end(AskedSets *sets)
{
	paged_free(&sets->slots);
	paged_free(&sets->entries);
	paged_free(&sets->bytes);
	if (sets->room != NULL)
		pfree(sets->room);
	if (sets->slot != NULL)
		ExecDropSingleTupleTableSlot(sets->slot);
}

/* Reading */

static AskedEntry
entry_of(AskedSets *sets, uint32 number)
{
	return *(const AskedEntry *) paged_at(&sets->entries, number);
}

static Size
bytes_of(const AskedHead *head)
{
	return sizeof(AskedHead) + MAXALIGN(head->signature_bytes) +
		MAXALIGN(head->values_bytes);
}

/* What stands at a place; valid until the next call. */
static const AskedHead *
read_at(AskedSets *sets, uint64 place)
{
	AskedHead	head;
	Size		len;

	if (sets->bytes.resident != NULL)
		return (AskedHead *) (sets->bytes.resident + place);
	paged_read(&sets->bytes, place, &head, sizeof(head));
	len = bytes_of(&head);
	if (len > sets->max_room)
	{
		if (sets->room != NULL)
			pfree(sets->room);
		sets->room = MemoryContextAllocHuge(sets->bytes.context, len);
		sets->max_room = len;
	}
	paged_read(&sets->bytes, place, sets->room, len);
	return (AskedHead *) sets->room;
}

AskedSet
asked_sets_get(AskedSets *sets, uint32 number)
{
	const AskedHead *head = read_at(sets, entry_of(sets, number).place);
	const char *signature = (const char *) (head + 1);
	AskedSet	set = {(const Signature *) signature, head->scope};

	if (head->values_bytes > 0)
		set.values = (MinimalTuple) unconstify(char *, signature +
											   MAXALIGN(head->signature_bytes));
	return set;
}

void
asked_sets_put(AskedSets *sets, uint32 number, Datum more,
			   Tuplestorestate *store, TupleDesc desc)
{
	AskedSet	set = asked_sets_get(sets, number);
	int64		first = number;
	Datum	   *values = palloc(desc->natts * sizeof(Datum));
	bool	   *nulls = palloc0(desc->natts * sizeof(bool));

	/* on 32 bits it is a pointer to what is copied below */
	values[0] = Int64GetDatumFast(first);
	values[1] = PointerGetDatum(set.signature);
	values[desc->natts - 1] = desc->natts > 2 ? more : values[1];
	if (set.values != NULL)
	{
		int			n = sets->scope->natts;

		ExecStoreMinimalTuple(set.values, sets->slot, false);
		slot_getallattrs(sets->slot);
		memcpy(values + 2, sets->slot->tts_values, n * sizeof(Datum));
		memcpy(nulls + 2, sets->slot->tts_isnull, n * sizeof(bool));
	}
	tuplestore_putvalues(store, desc, values, nulls);
	pfree(values);
	pfree(nulls);
}

/* Adding */

/* What a slot holds: a number + 1, or zero. */
static uint32
slot_holds(AskedSets *sets, uint64 slot)
{
	return *(const uint32 *) paged_at(&sets->slots, slot);
}

/* Puts a number into the first free slot for its hash. */
static void
fill_slot(AskedSets *sets, uint32 number, uint64 hash)
{
	uint64		slot = hash & (sets->nslots - 1);

	while (slot_holds(sets, slot) != 0)
		slot = (slot + 1) & (sets->nslots - 1);
	*(uint32 *) paged_change(&sets->slots, slot) = number + 1;
}

/* Doubles the slots. */
static void
grow(AskedSets *sets)
{
	MemoryContext old = MemoryContextSwitchTo(sets->slots.context);

	paged_free(&sets->slots);
	sets->nslots *= 2;
	paged_init(&sets->slots, sizeof(uint32), sets->slots.memory);
	paged_resize(&sets->slots, sets->nslots);
	MemoryContextSwitchTo(old);
	for (uint32 i = 0; i < sets->n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		fill_slot(sets, i, entry_of(sets, i).hash);
	}
}

/* Appends a set and the values of its scope; returns its place. */
static uint64
append(AskedSets *sets, const Signature *sig, uint64 scope, MinimalTuple values)
{
	static const char padding[MAXIMUM_ALIGNOF] = {0};
	AskedHead	head = {scope, VARSIZE(sig), values != NULL ? values->t_len : 0};
	uint64		place = paged_append(&sets->bytes, &head, sizeof(head));

	paged_append(&sets->bytes, sig, head.signature_bytes);
	paged_append(&sets->bytes, padding,
				 MAXALIGN(head.signature_bytes) - head.signature_bytes);
	if (values != NULL)
	{
		paged_append(&sets->bytes, values, head.values_bytes);
		paged_append(&sets->bytes, padding,
					 MAXALIGN(head.values_bytes) - head.values_bytes);
	}
	return place;
}

/* Adds a set that is not there. */
static uint32
add_set(AskedSets *sets, const Signature *sig, uint64 scope, uint64 hash,
		const Datum *values, const bool *nulls)
{
	AskedEntry	entry = {.hash = hash};

	if (sets->n == PG_UINT32_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("too many different sets"),
				 errdetail("There can be at most %u.", PG_UINT32_MAX)));
	entry.place = append(sets, sig, scope, sets->scope == NULL ? NULL :
						 form_minimal_tuple(sets->scope,
											unconstify(Datum *, values),
											unconstify(bool *, nulls)));
	if (sets->n >= sets->nslots / 2)
		grow(sets);
	paged_resize(&sets->entries, (uint64) sets->n + 1);
	*(AskedEntry *) paged_change(&sets->entries, sets->n) = entry;
	fill_slot(sets, sets->n, hash);
	return sets->n++;
}

static uint64
hash_of(const Signature *sig, uint64 scope)
{
	return mix64(XXH3_64bits(VARDATA(sig), VARSIZE(sig) - VARHDRSZ) ^ scope);
}

/* The number of a set that has that hash, or -1. */
static int64
find(AskedSets *sets, const Signature *sig, uint64 scope, uint64 hash)
{
	Size		len = VARSIZE(sig);
	uint64		slot = hash & (sets->nslots - 1);
	uint32		held;

	while ((held = slot_holds(sets, slot)) != 0)
	{
		AskedEntry	entry = entry_of(sets, held - 1);

		if (entry.hash == hash)
		{
			const AskedHead *head = read_at(sets, entry.place);

			if (head->scope == scope && head->signature_bytes == len &&
				memcmp(VARDATA(head + 1), VARDATA(sig), len - VARHDRSZ) == 0)
				return held - 1;
		}
		slot = (slot + 1) & (sets->nslots - 1);
	}
	return -1;
}

uint32
asked_sets_number(AskedSets *sets, const Signature *sig, uint64 scope,
				  const Datum *values, const bool *nulls)
{
	uint64		hash = hash_of(sig, scope);
	int64		number = find(sets, sig, scope, hash);

	return number >= 0 ? number : add_set(sets, sig, scope, hash, values, nulls);
}
