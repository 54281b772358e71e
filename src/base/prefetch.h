/*
 * prefetch.h
 *		Fetches rows of a table into the cache before they are read.
 */
#ifndef NEARDUP_PREFETCH_H
#define NEARDUP_PREFETCH_H

#define FETCHED_LINE	64
#define FETCHED_MOST	2048

/*
 * Fetches what stands before a place in memory: so many bytes of it, or 2 kB.  Pages of a
 * table are filled from their ends, so the row that a scan gives next stands right before
 * the current one; but processors expect that memory is read upwards.  Nothing is read here,
 * so it does no harm where the place is somewhere else.
 */
static inline void
fetch_before(const void *place, Size bytes)
{
	for (Size i = FETCHED_LINE; i <= Min(bytes, FETCHED_MOST) + FETCHED_LINE; i += FETCHED_LINE)
		__builtin_prefetch((const char *) place - i);
}

#endif							/* NEARDUP_PREFETCH_H */
