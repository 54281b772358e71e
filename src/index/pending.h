/*
 * pending.h
 *		New rows, and what becomes of them.
 */
#ifndef NEARDUP_PENDING_H
#define NEARDUP_PENDING_H

#include "index/pages.h"
#include "index/row.h"

/*
 * Add a row.  Now and then makes the pending rows a segment and merges small
 * segments, a bounded amount of work.
 */
extern void pending_insert(Relation index, const IndexedRow *row);

/* Makes a segment of the pending rows; the caller holds the merge lock. */
extern void pending_flush(Relation index);

/* The same, if there are as many as insertions leave. */
extern void pending_relieve(Relation index);

/* How many rows are on a pending page. */
static inline int
pending_count(Page page)
{
	return (((PageHeader) page)->pd_special - ((PageHeader) page)->pd_upper) /
		sizeof(PendingHead);
}

/* The head of row i, from 0. */
static inline const PendingHead *
pending_head(Page page, int i)
{
	return (const PendingHead *) PAGE_TAIL(page) - 1 - i;
}

/* The rest of it; raises INDEX_CORRUPTED if that is not on the page. */
static inline const PendingRow *
pending_row(Relation index, Page page, const PendingHead *head)
{
	const PendingRow *row = (const PendingRow *) ((char *) page + head->offset);
	int			most = (int) ((PageHeader) page)->pd_lower - head->offset -
		(int) offsetof(PendingRow, keys);

	if (head->offset != MAXALIGN(head->offset) || most < 0 ||
		row->nkeys > most / sizeof(uint32))
		index_corrupt(index, META_BLOCK, "A pending row cannot be read.");
	return row;
}

#endif							/* NEARDUP_PENDING_H */
