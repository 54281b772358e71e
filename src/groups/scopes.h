/*
 * scopes.h
 *		Numbers of scopes: values of the columns within which rows are compared.
 */
#ifndef NEARDUP_SCOPES_H
#define NEARDUP_SCOPES_H

#include "access/tupdesc.h"
#include "fmgr.h"

#include "groups/disk_array.h"

typedef struct Scopes
{
	MemoryContext context;
	size_t		memory;			/* bytes */
	TupleDesc	columns;		/* NULL: there is one scope, number 0 */
	FmgrInfo	hash;			/* hash_record_extended() */
	FmgrInfo	equal;			/* record_eq() */
	uint64		seed;			/* of hashes */
	RowIds		records;		/* by number */
	DiskArray	slots;			/* hash table of ScopeSlot */
} Scopes;

/*
 * Begin without scopes, in the current memory context.  `columns`, a blessed descriptor, must have
 * types that can be hashed.
 */
extern void scopes_begin(Scopes *scopes, TupleDesc columns, size_t memory);
extern void scopes_end(Scopes *scopes);

/*
 * Return the number of the scope with these values.  Values are equal by the operators of their
 * types' default classes, with the columns' collations; nulls are equal.
 */
extern uint32 scope_number(Scopes *scopes, const Datum *values, const bool *nulls);

#endif							/* NEARDUP_SCOPES_H */
