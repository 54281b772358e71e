/*
 * disk_array.h
 *		Arrays that move to a temporary file when they exceed their memory.
 */
#ifndef NEARDUP_DISK_ARRAY_H
#define NEARDUP_DISK_ARRAY_H

#include "storage/buffile.h"

typedef struct DiskArray
{
	size_t		width;			/* bytes of an element */
	size_t		memory;			/* maximum bytes of memory */
	uint64		n;				/* number of elements */
	char	   *elements;		/* NULL: they are in the file */
	size_t		room;			/* elements allocated */

	BufFile    *file;
	uint64		npages;			/* of the file */
	uint32		nframes;		/* page i is read into frame i % nframes */
	struct PageFrame *frames;
} DiskArray;

/*
 * Begin an empty array in the current memory context.  disk_array_free() or
 * the context's end frees it.
 */
extern void disk_array_begin(DiskArray *array, size_t width, size_t memory);
extern void disk_array_free(DiskArray *array);

/* Append n elements. */
extern void disk_array_append(DiskArray *array, const void *elements,
							  size_t n);

/* Return element i of an array in a file. */
extern void *disk_array_frame(DiskArray *array, uint64 i, bool change);

/*
 * Return element i, to be changed or not; valid until the array is used again.
 */
static inline void *
disk_array_at(DiskArray *array, uint64 i, bool change)
{
	Assert(i < array->n);
	return likely(array->elements != NULL) ?
		array->elements + i * array->width :
		disk_array_frame(array, i, change);
}

/*
 * Links: elements that begin with the uint32 number of an element of the same
 * array.  They make trees, whose roots link to themselves.  The root of a tree
 * that links_unite() makes is its first element.
 *
 * links_root() returns the root of an element's tree.  It shortens links on
 * the way (R. E.  Tarjan, J. van Leeuwen, "Worst-case analysis of set union
 * algorithms", JACM 1984: path halving, linking by index).
 */
extern uint32 links_root(DiskArray *links, uint32 i);
extern void links_unite(DiskArray *links, uint32 a, uint32 b);

#define MAX_ROWS	(PG_UINT32_MAX - 2)

/* The ids of rows: values of any type, by the number of the row */
typedef struct RowIds
{
	Oid			type;
	int16		len;			/* typlen */
	bool		byval;			/* typbyval */
	uint32		n;
	DiskArray	places;			/* uint64: the id itself, or where it begins
								 * in bytes */
	DiskArray	bytes;			/* of ids that are not passed by value */
} RowIds;

/* Begin without ids, in the current memory context. */
extern void row_ids_begin(RowIds *ids, Oid type, size_t memory);
extern void row_ids_end(RowIds *ids);

/* Append an id; raises NULL_VALUE_NOT_ALLOWED if it is null. */
extern void row_ids_put(RowIds *ids, Datum id, bool isnull);

/* Return the id of a row; it may be palloc'd. */
extern Datum row_ids_get(RowIds *ids, uint32 row);

#endif							/* NEARDUP_DISK_ARRAY_H */
