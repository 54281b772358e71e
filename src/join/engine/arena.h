/*
 * arena.h
 *		Memory of a similarity join, of one process or shared by several.
 */
#ifndef NEARDUP_ARENA_H
#define NEARDUP_ARENA_H

#include "port/atomics.h"
#include "storage/dsm.h"
#include "utils/palloc.h"
#include "utils/resowner.h"

/* Shared memory that one process takes from its area, and all can see */

/*
 * A pointer into the areas of all processes: the number of the segment, then
 * the offset in it. 0 is invalid.
 */
typedef uint64 SharedPointer;

#define InvalidSharedPointer	((SharedPointer) 0)
#define SharedPointerIsValid(pointer) ((pointer) != InvalidSharedPointer)

#define SEGMENT_SHIFT	40
#define POINTER_SEGMENT(pointer)	((pointer) >> SEGMENT_SHIFT)
#define POINTER_OFFSET(pointer) \
	((pointer) & ((UINT64CONST(1) << SEGMENT_SHIFT) - 1))

/* The number of its area. */
#define POINTER_AREA(pointer)	((int) (POINTER_SEGMENT(pointer) / AREA_SEGMENTS))

/*
 * Nothing is shared where addresses have 32 bits: a process could map little.
 */
#define CAN_SHARE_ROWS	(sizeof(void *) >= sizeof(SharedPointer))

/*
 * Maximum number of segments of an area; they grow, so no machine has as much
 * memory.
 */
#define AREA_SEGMENTS	128

/*
 * The shared memory of one process.  Each has its own, so that no process
 * waits while the system clears memory for another one.
 */
typedef struct SharedArea
{
	pg_atomic_uint32 users;		/* processes that have not released it */
	uint32		n;				/* segments; only its own process adds any */
	dsm_handle	segments[AREA_SEGMENTS];
} SharedArea;

/* A segment as this process sees it. */
typedef struct SharedSegment
{
	char	   *address;		/* NULL: it is not mapped */
	dsm_segment *mapping;
} SharedSegment;

/* The areas of all processes as this process sees them. */
typedef struct SharedAreas
{
	SharedArea *shared;
	int			n;
	int			own;			/* area of this process */
	ResourceOwner owner;		/* owner of the mappings */
	SharedPointer next;			/* what is left of this process's newest
								 * segment */
	size_t		left;
	size_t		taken;			/* bytes of all its segments */
	size_t		bytes;			/* allocated in them */
	SharedSegment segments[FLEXIBLE_ARRAY_MEMBER];	/* AREA_SEGMENTS of each */
} SharedAreas;

/* Bytes for the areas of nprocesses processes. */
extern size_t shared_areas_bytes(int nprocesses);

/*
 * Initialize areas in place, which is in the parent segment; attach to them,
 * in the current memory context and resource owner.  The segments of an area
 * are freed by the last process that detaches from the parent segment or has
 * released the area.
 */
extern void shared_areas_init(void *place, int nprocesses);
extern SharedAreas *shared_areas_attach(void *place, int nprocesses, int own,
										dsm_segment *parent);

/* Unmap all areas, which stay as they are. */
extern void shared_areas_detach(SharedAreas *areas);

/*
 * No further process will attach: release all areas, and free the own one if
 * no other process reads it.
 */
extern void shared_areas_close(SharedAreas *areas, dsm_segment *parent);

/* Free what is left of all areas, which no other process has mapped. */
extern void shared_areas_free(void *place, int nprocesses,
							  dsm_segment *parent);

/* Unmap all areas and free what this process has taken from its own. */
extern void shared_areas_empty(SharedAreas *areas);

/* Map the segment of a pointer. */
extern char *shared_segment(SharedAreas *areas, SharedPointer pointer);

/* The address of a pointer; NULL if it is invalid. */
static inline void *
shared_at(SharedAreas *areas, SharedPointer pointer)
{
	char	   *segment = areas->segments[POINTER_SEGMENT(pointer)].address;

	if (!SharedPointerIsValid(pointer))
		return NULL;
	if (unlikely(segment == NULL))
		segment = shared_segment(areas, pointer);
	return segment + POINTER_OFFSET(pointer);
}

/*
 * The address of a pointer whose segment this process has mapped; NULL if it
 * has not.
 */
static inline void *
shared_at_if_mapped(const SharedAreas *areas, SharedPointer pointer)
{
	char	   *segment = areas->segments[POINTER_SEGMENT(pointer)].address;

	return segment == NULL ? NULL : segment + POINTER_OFFSET(pointer);
}

/* Allocate bytes in the area of this process, not initialised. */
extern void *shared_alloc(SharedAreas *areas, size_t bytes,
						  SharedPointer *pointer);

/* Memory that is allocated in small pieces and freed all at once */

typedef struct Arena
{
	MemoryContext context;		/* context of the blocks */
	SharedAreas *areas;			/* shared memory of the blocks; NULL: private */
	struct ArenaBlock *blocks;	/* newest first */
	struct ArenaBlock *spare;	/* empty, not in `bytes` */
	size_t		bytes;			/* bytes of all blocks */
	size_t		first_block;	/* size of the first block */
	size_t		block_size;		/* size of the next block */
} Arena;

extern void arena_init(Arena *arena, size_t block_size);
extern void *arena_alloc(Arena *arena, size_t bytes);
extern void *arena_alloc_shared(Arena *arena, size_t bytes,
								SharedPointer *pointer);
extern void arena_reuse(Arena *arena);
extern void arena_reset(Arena *arena);
extern void clear_memory(void *place, size_t bytes);
extern void *alloc_zeros(size_t bytes);

#endif							/* NEARDUP_ARENA_H */
