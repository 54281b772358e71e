/*
 * memory_peak.h
 *		The most memory that something takes, for tests.
 */
#ifndef NEARDUP_MEMORY_PEAK_H
#define NEARDUP_MEMORY_PEAK_H

#ifdef NEARDUP_TESTING

#include "utils/memutils.h"

/* The most that was seen since somebody set it to 0. */
extern size_t memory_peak;

/* Looks at a memory context and those below it, where they have most. */
#define LOOK_AT_MEMORY(context) \
	(memory_peak = Max(memory_peak, MemoryContextMemAllocated(context, true)))

#else

#define LOOK_AT_MEMORY(context) ((void) 0)

#endif

#endif							/* NEARDUP_MEMORY_PEAK_H */
