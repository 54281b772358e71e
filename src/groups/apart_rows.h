/*
 * apart_rows.h
 *		Rows that must not belong to each other: "not the same", remembered by
 *		a user's query.
 */
#ifndef NEARDUP_APART_ROWS_H
#define NEARDUP_APART_ROWS_H

#include "groups/record_numbers.h"
#include "groups/row_query.h"

/* Ids of pairs.  The name of an id is its number + 1; 0: it is in no pair */
typedef struct ApartRows
{
	TypedColumn columns[2];
	RecordNumbers ids;
	DiskArray	lists;			/* uint32 by number: first of its others, + 1 */
	DiskArray	others;			/* OtherId */
} ApartRows;

/*
 * Run a query of pairs of ids of that type and collation, in the current
 * memory context.  Pairs of which an id is null say nothing.
 */
extern void apart_rows_begin(ApartRows *apart, const char *query, Oid type,
							 Oid collation,
							 size_t memory);
extern void apart_rows_end(ApartRows *apart);

/* Return the name of an id. */
extern uint32 apart_rows_name(ApartRows *apart, Datum id);

/* NamesApart: true if the ids of these names are a pair. */
extern bool apart_rows_pair(void *apart, uint32 name, uint32 other);

#endif							/* NEARDUP_APART_ROWS_H */
