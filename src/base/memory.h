/*
 * memory.h
 *		Arrays that grow, and hints about cache lines.
 */
#ifndef NEARDUP_MEMORY_H
#define NEARDUP_MEMORY_H

#include "utils/memutils.h"

/*
 * Return the array, palloc'd or NULL, with room for `wanted` elements of `width`
 * bytes, and set *room to the number of elements that fit.  If it has to grow, its size
 * doubles at least, in its own memory context; NULL is allocated in the current
 * one.  Raises PROGRAM_LIMIT_EXCEEDED if memory has no room for that many.
 */
extern void *growing_reserve(void *array, size_t *room, size_t wanted,
							 size_t width);

#define FETCHED_LINE	64
#define FETCHED_MAX		2048

/*
 * Prefetch up to `bytes` bytes, at most 2 kB, before a place in memory.  Pages of a
 * table are filled from their ends, so the next row of a scan is right before the
 * current one, but processors expect that memory is read upwards.  Nothing is read
 * here, so any place is safe.
 */
static inline void
fetch_before(const void *place, Size bytes)
{
	for (Size i = FETCHED_LINE; i <= Min(bytes, FETCHED_MAX) + FETCHED_LINE; i += FETCHED_LINE)
		__builtin_prefetch((const char *) place - i);
}

#ifdef NEARDUP_TESTING

/* the maximum since a test set it to 0 */
extern size_t memory_peak;

/* Measure a memory context and those below it, where they are largest. */
#define LOOK_AT_MEMORY(context) \
	(memory_peak = Max(memory_peak, MemoryContextMemAllocated(context, true)))
#else
#define LOOK_AT_MEMORY(context) ((void) 0)
#endif

#endif							/* NEARDUP_MEMORY_H */
