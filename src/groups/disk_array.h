/*
 * disk_array.h
 *		Arrays that move to a temporary file when they exceed their memory.
 */
#ifndef NEARDUP_DISK_ARRAY_H
#define NEARDUP_DISK_ARRAY_H

#include "storage/buffile.h"

/* Memory for one page of the file */
typedef struct PageFrame
{
	uint64		page;			/* 1 + number of the page; 0 = none */
	bool		changed;		/* true if changed since it was read */
	char	   *block;
} PageFrame;

/* An array of elements that have one width */
typedef struct DiskArray
{
	size_t		width;			/* bytes of an element */
	size_t		memory;			/* maximum bytes of memory */
	uint64		n;				/* number of elements */
	char	   *elements;		/* elements in memory; NULL = in the file */
	size_t		room;			/* number of elements allocated */

	BufFile    *file;
	int			shift;			/* log2(number of elements in a page) */
	uint64		npages;			/* number of pages in the file */
	uint32		npairs;			/* a power of two; page i is read into one of
								 * two frames, pair i % npairs, the first of
								 * which was used last */
	PageFrame  *frames;
	char	   *blocks;
} DiskArray;

/*
 * Begin an empty array in the current memory context.  `width` is the bytes of
 * an element, at most a block; `memory` is the number of bytes beyond which
 * the array moves to a file.
 */
extern void disk_array_begin(DiskArray *array, size_t width, size_t memory);

/* Free the array. */
extern void disk_array_free(DiskArray *array);

/* Append n elements. */
extern void disk_array_append(DiskArray *array, const void *elements,
							  size_t n);

/* Have a page in the first of its frames; for disk_array_at(). */
extern void disk_array_turn(DiskArray *array, uint64 page);

/*
 * Return element i, which the caller may alter if `change`; valid until the
 * array is used again.
 */
static inline void *
disk_array_at(DiskArray *array, uint64 i, bool change)
{
	uint64		page = i >> array->shift;
	PageFrame  *frame;

	Assert(i < array->n);
	if (likely(array->elements != NULL))
		return array->elements + i * array->width;
	frame = &array->frames[(page & (array->npairs - 1)) * 2];
	if (frame->page != page + 1)
		disk_array_turn(array, page);
	frame->changed |= change;
	return frame->block + (i - (page << array->shift)) * array->width;
}

/*
 * Links: elements that begin with a uint32, the index of another element of
 * the array.  They form trees, whose roots link to themselves; links_unite()
 * makes the first element of a tree its root.
 *
 *
 * links_root() returns the root of an element's tree.  It shortens links on
 * the way (R. E. Tarjan, J. van Leeuwen, "Worst-case analysis of set union
 * algorithms", JACM 1984: path halving, linking by index).
 */
extern uint32 links_root(DiskArray *links, uint32 i);

/* Unite the trees of two elements. */
extern void links_unite(DiskArray *links, uint32 a, uint32 b);

/* Limit of the number of rows: leaves room for special numbers and for + 1 */
#define MAX_ROWS	(PG_UINT32_MAX - 2)

/* Ids of rows: values of any type, by row number */
typedef struct RowIds
{
	Oid			type;
	int16		len;			/* the type's typlen */
	bool		byval;			/* the type's typbyval */
	uint32		n;				/* number of ids */
	DiskArray	places;			/* uint64 by row: the id itself if passed by
								 * value, else its first byte in `bytes` */
	DiskArray	bytes;			/* ids that are passed by reference */
} RowIds;

/*
 * Begin an empty list of ids of a type, in the current memory context.  It
 * moves to a file beyond `memory` bytes.
 */
extern void row_ids_begin(RowIds *ids, Oid type, size_t memory);

/* Free the ids. */
extern void row_ids_end(RowIds *ids);

/* Append an id; raises NULL_VALUE_NOT_ALLOWED if it is null. */
extern void row_ids_put(RowIds *ids, Datum id, bool isnull);

/* Return the id of a row; it may be palloc'd. */
extern Datum row_ids_get(RowIds *ids, uint32 row);

#endif							/* NEARDUP_DISK_ARRAY_H */
