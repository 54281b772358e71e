/*
 * disk_array.h
 *		Arrays that go to a temporary file when they exceed their memory.
 */
#ifndef NEARDUP_DISK_ARRAY_H
#define NEARDUP_DISK_ARRAY_H

#include "storage/buffile.h"

typedef struct DiskArray
{
	MemoryContext context;
	size_t		width;			/* bytes of an element, which divide BLCKSZ */
	size_t		memory;			/* bytes of memory at most */
	uint64		n;				/* elements */
	char	   *elements;		/* NULL: they are in the file */
	size_t		room;			/* elements that there is room for */

	BufFile    *file;
	uint64		npages;			/* pages that the file has */
	uint32		nframes;		/* pages in memory: each has the frame of its
								 * number */
	struct PageFrame *frames;
} DiskArray;

/*
 * Begin an empty array in the current memory context.  disk_array_free() or the
 * context's end frees it.
 */
extern void disk_array_begin(DiskArray *array, size_t width, size_t memory);
extern void disk_array_free(DiskArray *array);

/* Append n elements, or read n elements from number i on. */
extern void disk_array_append(DiskArray *array, const void *elements, size_t n);
extern void disk_array_read(DiskArray *array, uint64 i, void *elements, size_t n);

/* Return a byte of an array in the file, in its frame. */
extern char *disk_array_frame(DiskArray *array, uint64 offset, bool change);

/* Copy element i, of that width, to *element. */
static inline void
disk_array_get(DiskArray *array, uint64 i, void *element, size_t width)
{
	Assert(width == array->width && i < array->n);
	memcpy(element, likely(array->elements != NULL) ? array->elements + i * width :
		   disk_array_frame(array, i * width, false), width);
}

/* Replace element i, of that width. */
static inline void
disk_array_set(DiskArray *array, uint64 i, const void *element, size_t width)
{
	Assert(width == array->width && i < array->n);
	memcpy(likely(array->elements != NULL) ? array->elements + i * width :
		   disk_array_frame(array, i * width, true), element, width);
}

/*
 * Links: uint32 numbers of elements of the same array.  They make trees, whose roots link
 * to themselves.  The root of a tree that links_unite() makes is its first element.
 */
extern void links_begin(DiskArray *links, size_t memory);
extern void links_add(DiskArray *links);

/*
 * Return the root of an element's tree.  Shortens links on the way (R. E. Tarjan,
 * J. van Leeuwen, "Worst-case analysis of set union algorithms", JACM 1984: path
 * halving, linking by index).
 */
extern uint32 links_root(DiskArray *links, uint32 i);

/* Unite two trees. */
extern void links_unite(DiskArray *links, uint32 a, uint32 b);

static inline uint32
links_get(DiskArray *links, uint32 i)
{
	uint32		link;

	disk_array_get(links, i, &link, sizeof(link));
	return link;
}

static inline void
links_set(DiskArray *links, uint32 i, uint32 link)
{
	disk_array_set(links, i, &link, sizeof(link));
}

/* The ids of rows: values of any type, by the number of the row */
typedef struct RowIds
{
	Oid			type;
	int16		len;			/* typlen */
	bool		byval;			/* typbyval */
	uint32		n;
	DiskArray	places;			/* uint64: the id itself, or its offset in
								 * bytes */
	DiskArray	bytes;			/* of ids that are not passed by value */
} RowIds;

/* Begin without ids, in the current memory context. */
extern void row_ids_begin(RowIds *ids, Oid type, size_t memory);
extern void row_ids_end(RowIds *ids);

/* Append an id; raises NULL_VALUE_NOT_ALLOWED if it is null. */
extern void row_ids_put(RowIds *ids, Datum id, bool isnull);

/* Return the id of a row; it may be palloc'd. */
extern Datum row_ids_get(RowIds *ids, uint32 row);

/* Raise UNDEFINED_FUNCTION if values of the type have no order. */
extern void require_order(Oid type);

#endif							/* NEARDUP_DISK_ARRAY_H */
