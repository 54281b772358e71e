/*
 * shared_pool.h
 *		Shared memory that one process takes from an area, and all can see.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/join/engine/shared_pool.h
 */
#ifndef NEARDUP_SHARED_POOL_H
#define NEARDUP_SHARED_POOL_H

#include "storage/dsm.h"
#include "utils/dsa.h"

/*
 * An area for each process that takes part: the system clears memory while it
 * hands it out, and meanwhile nobody else gets any from the same area.
 */
typedef struct SharedAreas
{
	char	  **segments;		/* by SEGMENT_OF(), as far as they are known */
	int			n;				/* they lie in shared memory one after another */
	dsa_area   *areas[FLEXIBLE_ARRAY_MEMBER];
} SharedAreas;

/* The one that a process takes from. */
static inline int
shared_own_area(const SharedAreas *areas, int part)
{
	return part % areas->n;
}

/*
 * A pointer tells in these bits which area it is of.  An area itself has a
 * thousand segments, of 2^40 bytes at most.  Short pointers have no room for that:
 * then all processes have one area.
 */
#if SIZEOF_DSA_POINTER == 8
#define AREA_SHIFT		52
#define MAX_AREAS		4096
#define POINTER_AREA(pointer)	((pointer) >> AREA_SHIFT)
#define AREA_POINTER(area, pointer) \
	((pointer) | ((dsa_pointer) (area) << AREA_SHIFT))
#define POINTER_IN_AREA(pointer) \
	((pointer) & ((UINT64CONST(1) << AREA_SHIFT) - 1))

/* Of the bits below, these tell which segment of the area it is in. */
#define SEGMENT_SHIFT	40
#define SEGMENTS_OF_AREA	(1 << (AREA_SHIFT - SEGMENT_SHIFT))
#define SEGMENT_OF(pointer)	((pointer) >> SEGMENT_SHIFT)
#define POINTER_IN_SEGMENT(pointer) \
	((pointer) & ((UINT64CONST(1) << SEGMENT_SHIFT) - 1))
#else
#define MAX_AREAS		1
#define POINTER_AREA(pointer)	0
#define AREA_POINTER(area, pointer) (pointer)
#define POINTER_IN_AREA(pointer) (pointer)
#endif

/* Bytes for the heads of the areas of so many processes. */
extern size_t shared_areas_bytes(int nprocesses);

/*
 * Makes areas in place, which is in the segment, or attaches to those that are
 * there.  In the current memory context.  An area goes with the last process that
 * leaves the segment or has given it up.
 */
extern SharedAreas *shared_areas_create(void *place, int nprocesses,
										dsm_segment *segment);
extern SharedAreas *shared_areas_attach(void *place, int nprocesses,
										dsm_segment *segment);

/* This process does not look at them any more, but they stay as they are. */
extern void shared_areas_detach(SharedAreas *areas);

/*
 * After that, gives up one of the areas, before the segment goes: whoever is the last to
 * do so frees it.
 */
extern void shared_area_give_up(void *place, int area, dsm_segment *segment);

/* The address of what is in one of the areas; NULL for an invalid pointer. */
static inline void *
shared_at(const SharedAreas *areas, dsa_pointer pointer)
{
	return dsa_get_address(areas->areas[POINTER_AREA(pointer)],
						   POINTER_IN_AREA(pointer));
}

/* Where the segment of a pointer is. */
extern char *shared_segment(SharedAreas *areas, dsa_pointer pointer);

/*
 * The same, of a valid pointer, in less time: where no other process frees anything
 * any more.
 */
static inline void *
shared_at_once(SharedAreas *areas, dsa_pointer pointer)
{
#ifdef SEGMENT_OF
	char	   *segment = areas->segments[SEGMENT_OF(pointer)];

	if (unlikely(segment == NULL))
		segment = shared_segment(areas, pointer);
	return segment + POINTER_IN_SEGMENT(pointer);
#else
	return shared_at(areas, pointer);
#endif
}

/* What one process takes. */
typedef struct SharedPool
{
	SharedAreas *areas;
	int			own;			/* area that it takes from */
	dsa_pointer *pieces;		/* that were taken, the newest; in shared memory */
	size_t		bytes;			/* in all of them */
} SharedPool;

/* `bytes` bytes, not initialised, that are in no pool. */
extern dsa_pointer shared_alloc(SharedAreas *areas, int area, size_t bytes);
extern void shared_free(SharedAreas *areas, dsa_pointer pointer);

extern void *pool_alloc(SharedPool *pool, size_t bytes, dsa_pointer *pointer);
extern void pool_free(SharedAreas *areas, dsa_pointer *pieces);

#endif							/* NEARDUP_SHARED_POOL_H */
