/*
 * growing.h
 *		Arrays that grow.
 */
#ifndef NEARDUP_GROWING_H
#define NEARDUP_GROWING_H

/*
 * The array, palloc'd or NULL, with room for `wanted` elements of `width`
 * bytes; *room says how many there is room for.  It at least doubles where it
 * does not do, in its own memory context, an array that was NULL in the
 * current one.  Raises PROGRAM_LIMIT_EXCEEDED where memory has no room for so
 * many.
 */
extern void *growing_reserve(void *array, size_t *room, size_t wanted,
							 size_t width);

#endif							/* NEARDUP_GROWING_H */
