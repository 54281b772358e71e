/*
 * kept_rows.h
 *		Pending rows that a session keeps from search to search.
 */
#ifndef NEARDUP_KEPT_ROWS_H
#define NEARDUP_KEPT_ROWS_H

#include "index/kept.h"

/*
 * The rows of the pending pages that are full, from the first one on, as far
 * as there is room for them: up to page rows->end - 1.  The caller has read
 * the metapage.  NULL if that is out of date.
 */
extern const KeptRows *kept_rows(KeptIndex *kept, Relation index,
								 const IndexMeta *meta);

/* The place of a row's page. */
static inline uint64
kept_place(const KeptRows *rows, const KeptRow *row)
{
	return rows->first +
		(row->slot + MAX_PENDING_PAGES - rows->first % MAX_PENDING_PAGES) %
		MAX_PENDING_PAGES;
}

#endif							/* NEARDUP_KEPT_ROWS_H */
