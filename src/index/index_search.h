/*
 * index_search.h
 *		Searches in an index of access method neardup.
 */
#ifndef NEARDUP_INDEX_SEARCH_H
#define NEARDUP_INDEX_SEARCH_H

#include "signature/sets.h"
#include "index/directory.h"
#include "index/postings.h"
#include "index/segment_cache.h"

/* A query */
typedef struct IndexQuery
{
	const SignatureSpec *spec;	/* NULL: rows cannot be compared with anything */
	bool		sketch;			/* see spec_indexes_sketch() */
	uint64		value;			/* of a sketch that is one */
	bool		all;			/* all rows of the spec are candidates */
	uint64		size;			/* features */
	uint32	   *keys;			/* rising */
	uint32	   *shares;			/* of a vector: see vector_keys() */
	uint32		nkeys;
	double		sum;			/* of a vector's weights */
	double		length;			/* of the vector */
	bool		filter;			/* only rows that reach the threshold */
	Measure		measure;		/* of the row in the query */
	double		threshold;
	bool		nearest;		/* distances are wanted, by `order` */
	Measure		order;
	bool		nulls;			/* rows without a distance, too */
} IndexQuery;

/*
 * Called for each candidate, with a distance that is not above the true one: 0
 * if none is wanted, -1 if nothing is known, infinite for a row without a
 * distance.  Returns the greatest distance that is still of interest.
 */
typedef double (*SearchCallback) (void *state, ItemPointer tid,
								  double distance);

/*
 * Search the index once.  False if a segment was merged away meanwhile: rows
 * may be missing, and the search has to be repeated.
 */
extern bool index_search(Relation index, const IndexQuery *query,
						 SearchCallback callback, void *state);

/* Counters of an index in this session */
typedef struct SearchCounters
{
	Oid			index;			/* the key */
	uint64		scans;
	uint64		passes;			/* calls of index_search() */
	uint64		pages;			/* read, or read again */
	uint64		keys;			/* looked up, counted for each segment */
	uint64		postings;		/* in the lists that were read */
	uint64		candidates;		/* rows considered in the index */
	uint64		rows;			/* returned to the executor */
} SearchCounters;

/* The counters of an index, in memory of the session. */
extern SearchCounters *search_counters(Oid index);

/* Add the difference of `now` and `before`, except for scans and rows. */
extern void search_counters_add(SearchCounters *to, const SearchCounters *now,
								const SearchCounters *before);

typedef struct IndexSearch
{
	PageStore	store;
	const IndexQuery *query;
	SearchCallback callback;
	void	   *state;
	SearchCounters *counters;
	double		limit;			/* greatest distance of interest */
	uint16		spec;			/* spec_number() of the query */
	bool		every_row;		/* rows without a key of the query, too */
	uint64		least;			/* overlap of a row that is wanted */
	uint64		slack;			/* overlap that keys do not show */
	uint64		least_size;		/* of a set that is wanted */
	uint64		most_size;
	KeysBitmap	bitmap;			/* of the query's keys */
	SegmentCache *cache;
	uint32	   *keys;			/* room for the keys that a segment may have */

	/* The segment being searched */
	const SegmentInfo *segment;
	CachedSegment *cached;
	uint64		unseen;			/* slack plus keys whose lists were not read */
	DirectoryPath path;
	Buffer		buffer;			/* a page of its rows, or invalid */
	uint32		page_first;		/* number of the first of them */
	uint32		page_end;		/* number after the last */
} IndexSearch;

/* overlap.c */

/* A list that is read later, or not at all. */
typedef struct LongList
{
	uint64		bytes;
	BlockNumber block;
	uint32		share;			/* of its key */
	uint16		offset;			/* of its head on the page */
} LongList;

/* The keys of a query that are looked up in a segment */
typedef struct Overlaps
{
	PageStore	store;
	const SegmentInfo *segment;
	DirectoryPath path;
	const uint32 *keys;
	const uint32 *shares;		/* what each counts; NULL: one */
	uint32		nkeys;
	uint32		next;			/* keys before it have been looked up */
	uint64		npostings;		/* in the lists that were read */
	LongList   *late;			/* lists that have not been read */
	uint32		nlate;
	Runs		runs;			/* from all lists that were read, or: */
	uint32	   *change;			/* by how much a row has more than the one
								 * before, modulo 2^32, and one after all */
} Overlaps;

extern void overlaps_open(Overlaps *overlaps, Relation index,
						  const SegmentInfo *segment, CachedSegment *cached,
						  const uint32 *keys, const uint32 *shares,
						  uint32 nkeys);
extern void overlaps_close(Overlaps *overlaps);

/* Keys whose lists have not been read. */
static inline uint32
overlaps_unread(const Overlaps *overlaps)
{
	return overlaps->nkeys - overlaps->next + overlaps->nlate;
}

/*
 * Look up keys, and read their short lists, until at most `unread` keys are
 * left, or all have been looked up.  False if the segment is gone.
 */
extern bool overlaps_look_up(Overlaps *overlaps, uint32 unread);

/*
 * Read long lists, the shortest first, until at most `unread` are left, and up
 * to `most` bytes of these.  All keys have been looked up.  False if the
 * segment is gone.
 */
extern bool overlaps_read_late(Overlaps *overlaps, uint32 unread, uint64 most);

/* Rows first ... end - 1, with the number of keys, or shares, that each has */
typedef struct Stretch
{
	uint32		first;
	uint32		end;
	uint32		count;
} Stretch;

/*
 * The rows of the segment in stretches, palloc'd, *n of them; those that have
 * none of the keys are left out unless `all`.
 */
extern Stretch *overlaps_count(Overlaps *overlaps, bool all, size_t *n);

/* search_segment.c: the traits of a row on its page */
typedef struct RowTraits
{
	uint32		size;
	double		peak;			/* of a vector, see row.h */
	const uint64 *value;		/* of a sketch that is one, if it is known */
} RowTraits;

/*
 * Upper bound of a measure of a row with at most that overlap with the query.
 */
extern double bounds_value(const IndexQuery *query, Measure measure,
						   const RowTraits *row, uint64 overlap);

/* The same for a row of the best size, a subset of the query. */
extern double bounds_best(const IndexQuery *query, Measure measure,
						  uint64 overlap);

/*
 * The least overlap of a sketch that is wanted, or one more than it has
 * places.
 */
extern uint64 bounds_sketch_overlap(const IndexQuery *query);

/*
 * Call the callback for a row of the query's spec with at most that overlap.
 */
extern void candidate_row(IndexSearch *search, ItemPointer tid, uint32 size,
						  uint64 order, uint64 overlap);

/*
 * Call the callback for a row that the overlap does not bound; false for other
 * rows.
 */
extern bool candidate_without_bound(IndexSearch *search, ItemPointer tid,
									uint16 spec);

/* Search a segment; false if it is gone. */
extern bool search_segment(IndexSearch *search, const SegmentInfo *segment);

/* False if no row with at most that overlap can be wanted. */
static inline bool
search_wants(const IndexSearch *search, uint64 overlap)
{
	const IndexQuery *query = search->query;

	if (query->filter && (overlap < search->least || (query->shares != NULL &&
													  bounds_best(query,
																  query->measure, overlap) < query->threshold)))
		return false;
	return !query->nearest ||
		1 - bounds_best(query, query->order, overlap) <= search->limit;
}

#endif							/* NEARDUP_INDEX_SEARCH_H */
