/*
 * asked_sets.h
 *		Different sets, each with a scope, that a query is asked with.
 */
#ifndef NEARDUP_ASKED_SETS_H
#define NEARDUP_ASKED_SETS_H

#include "utils/tuplestore.h"

#include "groups/paged.h"
#include "signature/signature.h"

typedef struct AskedSets
{
	uint32		n;
	PagedArray	slots;			/* uint32: open addressing; number + 1 */
	uint64		nslots;			/* power of two */
	PagedArray	entries;		/* AskedEntry, by number */
	PagedArray	bytes;			/* of signatures and values of scopes */
	char	   *room;			/* one that was read, if they are in a file */
	size_t		max_room;
	TupleDesc	scope;			/* of the values; NULL: there are none */
	TupleTableSlot *slot;		/* for them */
} AskedSets;

/* One of them; valid until the next call. */
typedef struct AskedSet
{
	const Signature *signature;
	uint64		scope;			/* a number of it */
	MinimalTuple values;		/* of it; NULL: there is none */
} AskedSet;

/*
 * Begins with none, in the current memory context.  The descriptor is that of the
 * values of a scope, NULL if there are none.
 */
extern void asked_sets_begin(AskedSets *sets, size_t memory);
extern void asked_sets_scope(AskedSets *sets, TupleDesc scope);
extern void asked_sets_end(AskedSets *sets);

/* The number of a set in its scope, from 0 as they come, which may be a new one. */
extern uint32 asked_sets_number(AskedSets *sets, const Signature *sig,
								uint64 scope, const Datum *values,
								const bool *nulls);

extern AskedSet asked_sets_get(AskedSets *sets, uint32 number);

/*
 * Puts a set into a store of rows: its number, its signature, the values of its scope,
 * and if the row has one column more, that value.
 */
extern void asked_sets_put(AskedSets *sets, uint32 number, Datum more,
						   Tuplestorestate *store, TupleDesc desc);

#endif							/* NEARDUP_ASKED_SETS_H */
