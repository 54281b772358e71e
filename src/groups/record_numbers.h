/*
 * record_numbers.h
 *		Numbers of records: values of some columns, each different one stored
 *		once.
 */
#ifndef NEARDUP_RECORD_NUMBERS_H
#define NEARDUP_RECORD_NUMBERS_H

#include "access/tupdesc.h"
#include "fmgr.h"

#include "groups/disk_array.h"

#define NO_RECORD	PG_UINT32_MAX

typedef struct RecordNumbers
{
	MemoryContext context;
	size_t		memory;			/* bytes */
	TupleDesc	columns;
	FmgrInfo	hash;			/* hash_record_extended() */
	FmgrInfo	equal;			/* record_eq() */
	uint64		seed;			/* of hashes */
	RowIds		records;		/* by number, from 0 */
	DiskArray	slots;			/* hash table of RecordSlot */
} RecordNumbers;

/*
 * Begin without records, in the current memory context.  The types of the
 * columns must be hashable.
 */
extern void record_numbers_begin(RecordNumbers *numbers, TupleDesc columns,
								 size_t memory);
extern void record_numbers_end(RecordNumbers *numbers);

/* True if values of the type can be hashed. */
extern bool type_is_hashable(Oid type);

/*
 * Return the number of the record with these values; if there is none, add it,
 * or return NO_RECORD.  Values are equal by the operators of their types'
 * default classes, with the columns' collations; nulls are equal.
 */
extern uint32 record_number(RecordNumbers *numbers, const Datum *values,
							const bool *nulls,
							bool add);

#endif							/* NEARDUP_RECORD_NUMBERS_H */
