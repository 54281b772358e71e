/*
 * index_search.h
 *		A search in an index of access method neardup, for the files that do it.
 */
#ifndef NEARDUP_INDEX_SEARCH_H
#define NEARDUP_INDEX_SEARCH_H

#include "index/bounds.h"
#include "index/counters.h"
#include "index/directory.h"
#include "index/kept.h"
#include "index/pass.h"

typedef struct IndexSearch
{
	PageStore	store;
	const IndexQuery *query;
	TakeRow		take;
	void	   *taker;
	SearchCounters *counters; /* of the index */
	double		limit;			/* greatest distance of interest */
	uint16		spec;			/* number of the query's */
	bool		every_row;		/* rows without a key of the query, too */
	uint64		least;			/* overlap of a row that is wanted */
	uint64		slack;			/* overlap that cannot be seen */
	uint64		least_size;		/* of a set that is wanted */
	uint64		most_size;
	bool		equal;			/* no other set than an equal one is wanted, */
	uint64		order;			/* which has this order */
	KeysBitmap	bitmap;			/* of the query's keys */
	KeptIndex  *kept_index;
	uint32	   *keys;			/* room for those that a segment may have */

	/* The segment at hand */
	const SegmentInfo *segment;
	KeptSegment *kept;
	uint64		unseen;			/* slack, and the keys that were not read */
	DirectoryPath path;
	Buffer		buffer;			/* a page of its rows, or invalid */
	uint32		page_first;		/* number of the first of them */
	uint32		page_end;		/* and behind the last */
} IndexSearch;

/* A row of the query's spec that has so much in common with it at most. */
extern void search_take(IndexSearch *search, ItemPointer tid, uint32 size,
						uint64 order, uint64 overlap);

/* A row of which the index does not tell; false if it does. */
extern bool search_take_other(IndexSearch *search, ItemPointer tid, uint16 spec);

/* The rows of a segment, and those that are pending; false if they are gone. */
extern bool search_segment(IndexSearch *search, const SegmentInfo *segment);
extern bool search_pending(IndexSearch *search, const IndexMeta *meta);

/* False if no set with that overlap at most can be wanted. */
static inline bool
search_wants(const IndexSearch *search, uint64 overlap)
{
	const IndexQuery *query = search->query;

	if (query->filter &&
		(overlap < search->least ||
		 (query->shares != NULL &&
		  bounds_best(query, query->measure, overlap) < query->threshold)))
		return false;
	return !query->nearest ||
		1 - bounds_best(query, query->order, overlap) <= search->limit;
}

#endif							/* NEARDUP_INDEX_SEARCH_H */
