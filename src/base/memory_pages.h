/*
 * memory_pages.h
 *		Wishes to the system about pages of memory.
 *
 * A system that does not grant them changes nothing but the time that something takes.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/base/memory_pages.h
 */
#ifndef NEARDUP_MEMORY_PAGES_H
#define NEARDUP_MEMORY_PAGES_H

/*
 * Asks for large pages for an array in which nothing has been written yet, unless it is
 * small: these are had sooner, and to find out where a small page is takes longer than
 * reading what is there.  Where the server's setting huge_pages is off it does not ask.
 */
extern void large_array_ask(void *array, Size bytes);

/*
 * Memory of that size, of the current memory context, with which it is given back, not
 * with pfree(); with nothing in it.  All of it is in large pages if that is granted.
 */
extern void *large_array_alloc(Size bytes);

/*
 * Asks for the pages of shared memory that will be written to, soon and as a whole: that
 * takes less time than when each is asked for as it is written to.  Can be interrupted.
 */
extern void shared_pages_ask(void *place, Size bytes);

#endif							/* NEARDUP_MEMORY_PAGES_H */
