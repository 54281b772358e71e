/*
 * counters.h
 *		What scans of access method neardup have done in this session.
 */
#ifndef NEARDUP_COUNTERS_H
#define NEARDUP_COUNTERS_H

/* Of one index */
typedef struct SearchCounters
{
	Oid			index;			/* the key */
	uint64		scans;
	uint64		passes;			/* through the index, see scan.c */
	uint64		pages;			/* read, or read again */
	uint64		keys;			/* of queries, looked up in a segment each */
	uint64		postings;		/* in the lists that were read */
	uint64		candidates;		/* rows that were looked at in the index */
	uint64		rows;			/* given to the executor */
} SearchCounters;

/* What `now` has more than `before` is added to those of a scan. */
extern void search_counters_add(SearchCounters *to, const SearchCounters *now,
								  const SearchCounters *before);

/* Those of an index, for as long as the session lasts. */
extern SearchCounters *search_counters(Oid index);

#endif							/* NEARDUP_COUNTERS_H */
