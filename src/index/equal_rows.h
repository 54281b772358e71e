/*
 * equal_rows.h
 *		Where rows are that are likely to have the same sets as others: of many
 *		sets at once.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/index/equal_rows.h
 */
#ifndef NEARDUP_EQUAL_ROWS_H
#define NEARDUP_EQUAL_ROWS_H

#include "storage/itemptr.h"
#include "utils/rel.h"
#include "utils/snapshot.h"

#include "signature/signature.h"

/* A set whose rows are looked for, and what was found. */
typedef struct EqualSet
{
	uint64		order;			/* see keys_order() */
	uint32		size;
	uint32		nrows;			/* rows that have both in common with it */
	uint32		number;			/* the caller's */
	ItemPointerData first;		/* the first of these rows in the table */
} EqualSet;

/* Makes one of a set, with no rows as yet; false if no index can hold that. */
extern bool equal_set(EqualSet *set, const Signature *sig);

/*
 * Looks for the rows of all sets in one pass through an index of access method
 * neardup, and leaves these in another order.  What is found is only likely: the
 * row may be gone or be another one by now, it may have been updated, so that the
 * place is that of its first version, and in rare cases it has another set.  While
 * the index changes, rows may be missing.
 */
extern void equal_rows_find(Relation index, Snapshot snapshot, EqualSet *sets,
							size_t n);

#endif							/* NEARDUP_EQUAL_ROWS_H */
