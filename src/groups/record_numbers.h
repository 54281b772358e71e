/*
 * record_numbers.h
 *		Numbers records, which are rows of values: each distinct record is
 *		stored once.
 */
#ifndef NEARDUP_RECORD_NUMBERS_H
#define NEARDUP_RECORD_NUMBERS_H

#include "access/tupdesc.h"
#include "fmgr.h"

#include "groups/disk_array.h"

#define NO_RECORD	PG_UINT32_MAX

/* Distinct records and a hash table of them */
typedef struct RecordNumbers
{
	MemoryContext context;
	size_t		memory;			/* maximum bytes of memory */
	TupleDesc	columns;		/* columns of a record */
	FmgrInfo	hash;			/* hash_record_extended() */
	FmgrInfo	equal;			/* record_eq() */
	uint64		seed;			/* seed of hashes */
	RowIds		records;		/* records by number, from 0 */
	DiskArray	slots;			/* the hash table: RecordSlot; its length is a
								 * power of two */
} RecordNumbers;

/*
 * Begin without records, in the current memory context.  The types of the
 * columns must be hashable.  What exceeds `memory` bytes goes to disk.
 */
extern void record_numbers_begin(RecordNumbers *numbers, TupleDesc columns,
								 size_t memory);

/* Free the records. */
extern void record_numbers_end(RecordNumbers *numbers);

/* True if values of the type can be hashed. */
extern bool type_is_hashable(Oid type);

/*
 * Return the number of the record with these values.  If there is none, add it
 * if `add`, else return NO_RECORD.  Values are compared by the default
 * operator class of their type, with the column's collation; nulls are equal.
 */
extern uint32 record_number(RecordNumbers *numbers, const Datum *values,
							const bool *nulls,
							bool add);

#endif							/* NEARDUP_RECORD_NUMBERS_H */
