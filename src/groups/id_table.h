/*
 * id_table.h
 *		Numbers for ids of any type.
 */
#ifndef NEARDUP_ID_TABLE_H
#define NEARDUP_ID_TABLE_H

#include "fmgr.h"

#include "groups/id_places.h"
#include "groups/row_ids.h"

/* What to do where a type has no order, or cannot be hashed. */
#define ID_AS_TEXT_HINT \
	"Take the ids as text: id::text in the query, and NULL::text as the first argument."

typedef struct IdTable
{
	Oid			type;
	Oid			collation;
	FmgrInfo	hash;
	FmgrInfo	equal;
	Oid			less;			/* operator */
	uint32		n;				/* ids */
	PagedArray	slots;			/* open addressing, in the order of hashes */
	int			shift;			/* 32 - log2(number of slots) */
	PagedArray	entries;		/* places of ids, by number */
	IdPlaces	places;
} IdTable;

/*
 * An empty table, which lives in the current memory context.  Raises
 * UNDEFINED_FUNCTION if ids of that type cannot be hashed or sorted.  What
 * exceeds so many bytes goes to disk.
 */
extern void id_table_begin(IdTable *table, Oid type, size_t memory);
extern void id_table_end(IdTable *table);

/*
 * Before there are any: ids are compared as those of a column (from 0) are.  Without it, as is
 * usual for their type.
 */
extern void id_table_collate(IdTable *table, TupleDesc desc, int column);

/* The number of an id, from zero; numbers are given in order of arrival. */
extern uint32 id_table_number(IdTable *table, Datum id);

/*
 * The same for many at once, whose numbers are put to numbers[]: new ones among them have
 * theirs in any order.  Where the table is on disk this takes much less time.
 */
extern void id_table_numbers(IdTable *table, const Datum *ids, uint32 n,
							 uint32 *numbers);

/* True if the table is on disk. */
static inline bool
id_table_on_disk(const IdTable *table)
{
	return table->slots.resident == NULL || table->entries.resident == NULL ||
		table->places.bytes.resident == NULL;
}

/* The id of that number; valid until the next call. */
extern Datum id_table_id(IdTable *table, uint32 number);

/* True if an id is that of the number, byte for byte. */
extern bool id_table_has_image(IdTable *table, uint32 number, Datum id);

/* Whether these are one id. */
extern bool id_table_same(IdTable *table, Datum a, Datum b);

/*
 * Sorts the ids: puts them into *ids, which has been begun, and the rank of
 * each by its number into *ranks, an array of uint32 that is empty.
 */
extern void id_table_sort(IdTable *table, RowIds *ids, PagedArray *ranks,
						  size_t memory);

#endif							/* NEARDUP_ID_TABLE_H */
