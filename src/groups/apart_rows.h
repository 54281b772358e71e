/*
 * apart_rows.h
 *		Rows that must not belong to each other: "not the same", remembered by
 *		a user's query.
 */
#ifndef NEARDUP_APART_ROWS_H
#define NEARDUP_APART_ROWS_H

#include "groups/record_numbers.h"
#include "groups/row_query.h"

/*
 * Pairs of ids that are apart.  The name of an id is its number + 1; an id in
 * no pair has the name 0.
 */
typedef struct ApartRows
{
	TypedColumn columns[2];
	RecordNumbers ids;
	DiskArray	lists;			/* uint32 by id number: 1 + index of the id's
								 * first OtherId; 0 = none */
	DiskArray	others;			/* OtherId: elements of linked lists */
} ApartRows;

/*
 * Read pairs of ids, whose type and collation are given, by running a query in
 * the current memory context.  Pairs with a null are ignored.
 */
extern void apart_rows_begin(ApartRows *apart, const char *query, Oid type,
							 Oid collation,
							 size_t memory);

/* Free the pairs. */
extern void apart_rows_end(ApartRows *apart);

/* Return the name of an id; 0 if it is in no pair. */
extern uint32 apart_rows_name(ApartRows *apart, Datum id);

/* NamesApart: true if two ids, given by their names, are a pair. */
extern bool apart_rows_pair(void *apart, uint32 name, uint32 other);

#endif							/* NEARDUP_APART_ROWS_H */
