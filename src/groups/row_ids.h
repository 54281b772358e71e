/*
 * row_ids.h
 *		The ids of rows, of any type, in the order of the rows.
 */
#ifndef NEARDUP_ROW_IDS_H
#define NEARDUP_ROW_IDS_H

#include "executor/tuptable.h"
#include "utils/tuplestore.h"

typedef struct RowIds
{
	Oid			type;
	int16		len;			/* typlen of it */
	bool		byval;			/* typbyval of it */
	uint32		n;
	Tuplestorestate *store;
	TupleDesc	desc;			/* of what is stored */
	TupleTableSlot *slot;		/* what was read last */
} RowIds;

/* No ids as yet; what does not fit into so many bytes goes to disk. */
extern void row_ids_begin(RowIds *ids, Oid type, size_t memory);
extern void row_ids_end(RowIds *ids);

/* Appends one; raises NULL_VALUE_NOT_ALLOWED if it is null. */
extern void row_ids_put(RowIds *ids, Datum id, bool isnull);

/* Reads from the first one on; an id is valid until the next one is read. */
extern void row_ids_rewind(RowIds *ids);
extern Datum row_ids_next(RowIds *ids);

#endif							/* NEARDUP_ROW_IDS_H */
