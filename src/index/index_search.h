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

/* What a scan looks for */
typedef struct IndexQuery
{
	const SignatureSpec *spec;	/* NULL = no row can be compared */
	bool		sketch;			/* see spec_indexes_sketch() */
	uint64		value;			/* the sketch, if it is one value */
	bool		all;			/* every row of the spec is a candidate */
	uint64		size;			/* number of features */
	uint32	   *keys;			/* rising */
	uint32	   *shares;			/* weights of a vector, see vector_keys() */
	uint32		nkeys;
	double		sum;			/* sum of a vector's weights */
	double		length;			/* length of the vector */
	bool		filter;			/* true if only rows that reach the threshold
								 * are wanted */
	Measure		measure;		/* measure(row, query) */
	double		threshold;
	bool		nearest;		/* distances by `order` are wanted */
	Measure		order;
	bool		nulls;			/* rows without a distance, too */
} IndexQuery;

/*
 * Called for each candidate, with a lower bound of its distance: 0 if no
 * distance is wanted, -1 if nothing is known, infinity for a row without a
 * distance.  Returns the greatest distance that is still of interest.
 */
typedef double (*SearchCallback) (void *state, ItemPointer tid,
								  double distance);

/*
 * Search the index once.  False if a segment was merged away meanwhile: then
 * rows may be missing, and the search must be repeated.
 */
extern bool index_search(Relation index, const IndexQuery *query,
						 SearchCallback callback, void *state);

/* Counters of an index in this session */
typedef struct SearchCounters
{
	Oid			index;			/* hash key */
	uint64		scans;
	uint64		passes;			/* calls of index_search() */
	uint64		pages;			/* buffer accesses */
	uint64		keys;			/* looked up, counted for each segment */
	uint64		postings;		/* number of postings in the lists that were
								 * read */
	uint64		candidates;		/* rows considered in the index */
	uint64		rows;			/* returned to the executor */
} SearchCounters;

/* Return the counters of an index, which live as long as the session. */
extern SearchCounters *search_counters(Oid index);

/* Add `now` minus `before`, except for scans and rows. */
extern void search_counters_add(SearchCounters *to, const SearchCounters *now,
								const SearchCounters *before);

/* A search in progress */
typedef struct IndexSearch
{
	PageStore	store;
	const IndexQuery *query;
	SearchCallback callback;
	void	   *state;
	SearchCounters *counters;
	double		limit;			/* greatest distance of interest */
	uint16		spec;			/* spec_number() of the query */
	bool		every_row;		/* visit rows without a key, too */
	uint64		least;			/* least overlap of a match */
	uint64		collisions;		/* features of the query that share a key */
	uint64		least_size;		/* least and most features of a match */
	uint64		most_size;
	KeysBitmap	bitmap;			/* bitmap of the query's keys */
	SegmentCache *cache;
	uint32	   *keys;			/* room for keys that pass a filter */

	/* The segment being searched */
	const SegmentInfo *segment;
	CachedSegment *cached;
	uint64		uncounted;		/* collisions plus keys not read */
	DirectoryPath path;
	Buffer		buffer;			/* page of rows, or invalid */
	uint32		page_first;		/* number of its first row */
	uint32		page_end;		/* number after its last row */
} IndexSearch;

/* overlap.c */

/* A long list, which is read last, if at all */
typedef struct DeferredList
{
	uint64		bytes;
	BlockNumber block;
	uint32		share;			/* share of its key */
	uint16		offset;			/* offset of its head on the page */
} DeferredList;

/* The keys of a query that are looked up in a segment */
typedef struct Overlaps
{
	PageStore	store;
	const SegmentInfo *segment;
	DirectoryPath path;
	const uint32 *keys;
	const uint32 *shares;		/* what each key counts; NULL = 1 */
	uint32		nkeys;
	uint32		next;			/* first key not looked up */
	uint64		npostings;		/* number of postings in the lists that were
								 * read */
	DeferredList *deferred;		/* long lists not read */
	uint32		ndeferred;
	Runs		runs;			/* all lists read, while they are few */
	uint32	   *change;			/* NULL, or count(row) - count(row - 1),
								 * modulo 2^32, for each row and one after the
								 * last */
} Overlaps;

/*
 * Prepare to count, for each row of a segment, how many of rising keys it has,
 * or the sum of their shares.  The keys must outlive *overlaps.
 */
extern void overlaps_open(Overlaps *overlaps, Relation index,
						  const SegmentInfo *segment, CachedSegment *cached,
						  const uint32 *keys, const uint32 *shares,
						  uint32 nkeys);

/* Free what overlaps_open() and the look-ups allocated. */
extern void overlaps_close(Overlaps *overlaps);

/* Return the number of keys whose lists have not been read. */
static inline uint32
overlaps_unread(const Overlaps *overlaps)
{
	return overlaps->nkeys - overlaps->next + overlaps->ndeferred;
}

/*
 * Look up keys, and read their short lists, until at most `unread` lists are
 * not read, or all keys have been looked up.  False if the segment is gone.
 */
extern bool overlaps_look_up(Overlaps *overlaps, uint32 unread);

/*
 * Read deferred lists, the shortest first, until at most `unread` are left;
 * then go on, up to `most` bytes of further lists.  All keys have been looked
 * up.  False if the segment is gone.
 */
extern bool overlaps_read_deferred(Overlaps *overlaps, uint32 unread,
								   uint64 most);

/*
 * Rows first ... end - 1, each of which has `count` of the keys read, or
 * shares that add up to `count`
 */
typedef struct RowRange
{
	uint32		first;
	uint32		end;
	uint32		count;
} RowRange;

/*
 * Return the rows of the segment as *n ranges, palloc'd.  Rows without any of
 * the keys are left out unless `all`.
 */
extern RowRange *overlaps_count(Overlaps *overlaps, bool all, size_t *n);

/* search_segment.c: what bounds the similarity of a row besides its overlap */
typedef struct RowBounds
{
	uint32		size;
	double		peak;			/* heaviest component of a vector, see row.h */
	const uint64 *value;		/* sketch of one value, if it is known */
} RowBounds;

/*
 * Return an upper bound of a measure of a row that has at most that overlap
 * with the query.
 */
extern double bounds_value(const IndexQuery *query, Measure measure,
						   const RowBounds *row, uint64 overlap);

/*
 * Return the same bound for a row of the best size, which is a subset of the
 * query.
 */
extern double bounds_best(const IndexQuery *query, Measure measure,
						  uint64 overlap);

/*
 * Return the least overlap of a sketch that matches, or the number of its
 * places plus 1 if none does.
 */
extern uint64 bounds_sketch_overlap(const IndexQuery *query);

/*
 * Report a row of the query's spec that has at most that overlap, unless its
 * bounds exclude it.
 */
extern void candidate_row(IndexSearch *search, ItemPointer tid, uint32 size,
						  uint64 order, uint64 overlap);

/*
 * True if the overlap does not bound a row, since it is dead, null or of
 * another spec, or every row is a candidate.  Reports the row if it is wanted.
 */
extern bool candidate_without_bound(IndexSearch *search, ItemPointer tid,
									uint16 spec);

/* Search a segment.  False if it is gone. */
extern bool search_segment(IndexSearch *search, const SegmentInfo *segment);

/* True if a row with at most that overlap may match and be near enough. */
static inline bool
search_wants(const IndexSearch *search, uint64 overlap)
{
	const IndexQuery *query = search->query;

	if (query->filter && overlap < search->least)
		return false;
	if (query->filter && query->shares != NULL &&
		bounds_best(query, query->measure, overlap) < query->threshold)
		return false;
	return !query->nearest ||
		1 - bounds_best(query, query->order, overlap) <= search->limit;
}

#endif							/* NEARDUP_INDEX_SEARCH_H */
