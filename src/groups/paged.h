/*
 * paged.h
 *		An array that lies in memory as long as it fits there, and on disk
 *		with the pages that are in use in memory when it does not.
 */
#ifndef NEARDUP_PAGED_H
#define NEARDUP_PAGED_H

#include "storage/buffile.h"

typedef struct PagedArray
{
	MemoryContext context;		/* of all of it */
	size_t		width;			/* bytes of an element, which divide BLCKSZ */
	size_t		memory;			/* bytes to stay within, two pages at least */
	uint64		size;			/* bytes of all elements */

	char	   *resident;		/* all of it; NULL: it is in the file */
	size_t		room;			/* bytes at resident */

	BufFile    *file;
	uint64		written;		/* pages that the file has */
	uint32		nframes;
	char	   *frames;			/* a page each */
	uint64	   *held;			/* page in a frame, from 1; 0: none */
	bool	   *changed;		/* since it was read */
} PagedArray;

/*
 * An empty array in the current memory context.  What it holds is freed by
 * paged_free() or with the context.
 */
extern void paged_init(PagedArray *array, size_t width, size_t memory);
extern void paged_free(PagedArray *array);

/* Gives it n elements; new ones are zero. */
extern void paged_resize(PagedArray *array, uint64 n);

/* Appends bytes, for an array of width 1; returns where they begin. */
extern uint64 paged_append(PagedArray *array, const void *bytes, size_t n);

/* Reads n bytes from there, which may lie on several pages. */
extern void paged_read(PagedArray *array, uint64 offset, void *bytes,
					   size_t n);

/* See paged_at() and paged_change(). */
extern void *paged_frame(PagedArray *array, uint64 offset, bool change);

/* Element i, to be read; valid until the next call on the array. */
static inline const void *
paged_at(PagedArray *array, uint64 i)
{
	if (likely(array->resident != NULL))
		return array->resident + i * array->width;
	return paged_frame(array, i * array->width, false);
}

/* Likewise, to be changed. */
static inline void *
paged_change(PagedArray *array, uint64 i)
{
	if (likely(array->resident != NULL))
		return array->resident + i * array->width;
	return paged_frame(array, i * array->width, true);
}

#endif							/* NEARDUP_PAGED_H */
