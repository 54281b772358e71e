/*
 * memory_pages.h
 *		Wishes to the system about pages of memory.
 */
#ifndef NEARDUP_MEMORY_PAGES_H
#define NEARDUP_MEMORY_PAGES_H

/*
 * Asks for the pages of shared memory that will be written to, all at once: that takes
 * less time than to wait until each is written to.  Can be interrupted.
 */
extern void shared_pages_ask(void *place, Size bytes);

/*
 * Says that they are used in no order.  Linux then does not note, when they are unmapped, that
 * they have been used, for which it takes as much time as for the rest.
 */
extern void shared_pages_scattered(void *place, Size bytes);

#endif							/* NEARDUP_MEMORY_PAGES_H */
