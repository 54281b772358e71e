/*
 * memory.h
 *		Arrays, some of which grow, and hints about cache lines.
 */
#ifndef NEARDUP_MEMORY_H
#define NEARDUP_MEMORY_H

#include "utils/memutils.h"

/*
 * Return the array, palloc'd or NULL, with room for `wanted` elements of
 * `width` bytes, and set *room to the number of elements that fit.  An array
 * that grows at least doubles, in its own memory context; a new array is
 * allocated in the current one.  Raises PROGRAM_LIMIT_EXCEEDED if the array
 * would be larger than an allocation can be.
 */
extern void *growing_reserve(void *array, size_t *room, size_t wanted,
							 size_t width);

/* Allocate an array of n elements of `width` bytes, but at least one. */
static inline void *
palloc_huge(size_t n, size_t width)
{
	return palloc_extended(Max(n, 1) * width, MCXT_ALLOC_HUGE);
}

#define CACHE_LINE	64			/* bytes */

/*
 * Prefetch up to `bytes` bytes, at most 2 kB, before a place in memory.  Pages
 * of a table are filled from their ends, so a scan reads memory downwards,
 * while processors prefetch upwards.  Any address is safe to prefetch.
 */
static inline void
fetch_before(const void *place, Size bytes)
{
	for (Size i = CACHE_LINE; i <= Min(bytes, 2048) + CACHE_LINE;
		 i += CACHE_LINE)
		__builtin_prefetch((const char *) place - i);
}

#ifdef NEARDUP_TESTING

/* most bytes that LOOK_AT_MEMORY() has seen since a test set it to 0 */
extern size_t memory_peak;

/*
 * Record the size of a memory context and its children where they are largest.
 */
#define LOOK_AT_MEMORY(context) \
	(memory_peak = Max(memory_peak, MemoryContextMemAllocated(context, true)))
#else
#define LOOK_AT_MEMORY(context) ((void) 0)
#endif

#endif							/* NEARDUP_MEMORY_H */
