/*
 * arena.c
 *		Memory of a similarity join, of one process or shared by several.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "join/engine/arena.h"

/*
 * Shared memory that one process takes from its area, and all can see
 *
 * An area is a list of segments of dynamic shared memory, and memory is taken
 * from the newest of them.  README.md has why it is no dsa_area.
 */

/* Unit of segments of a large area. */
#define WHOLE			((size_t) 1024 * 1024)

/*
 * Size of the first segment, and size of an area up to which each segment
 * doubles it.
 */
#define FIRST_SEGMENT	((size_t) 256 * 1024)
#define DOUBLES_UP_TO	(2 * WHOLE)

/*
 * Then segments are a share of all before: small ones leave little unused, but
 * the number of segments of a server is limited.
 */
#define MIN_SHARE		8
#define SHARES_OF_ALL	16

/* Pieces begin at a cache line, so that no two processes write to one. */
#define PIECE_ALIGN		PG_CACHE_LINE_SIZE

/* Offset of the first piece of a segment: the pointer 0 is invalid. */
#define SEGMENT_START	PIECE_ALIGN

size_t
shared_areas_bytes(int nprocesses)
{
	return mul_size(nprocesses, sizeof(SharedArea));
}

/* Free the segments of an area, each as soon as no process has mapped it. */
static void
free_segments(SharedArea *shared)
{
	while (shared->n > 0)
		dsm_unpin_segment(shared->segments[--shared->n]);
}

/* A process releases an area: the last one frees its segments. */
static void
release_area(dsm_segment *parent, Datum area)
{
	SharedArea *shared = (SharedArea *) DatumGetPointer(area);

	if (pg_atomic_sub_fetch_u32(&shared->users, 1) == 0)
		free_segments(shared);
}

void
shared_areas_init(void *place, int nprocesses)
{
	SharedArea *shared = place;

	memset(shared, 0, shared_areas_bytes(nprocesses));
	for (int i = 0; i < nprocesses; i++)
		pg_atomic_init_u32(&shared[i].users, 0);
}

SharedAreas *
shared_areas_attach(void *place, int nprocesses, int own, dsm_segment *parent)
{
	SharedAreas *areas = palloc0(offsetof(SharedAreas, segments) +
								 sizeof(SharedSegment) * AREA_SEGMENTS *
								 nprocesses);

	areas->shared = place;
	areas->n = nprocesses;
	areas->own = own;
	areas->owner = CurrentResourceOwner;
	for (int i = 0; i < nprocesses; i++)
	{
		/* in this order: the first one may run out of memory */
		on_dsm_detach(parent, release_area,
					  PointerGetDatum(&areas->shared[i]));
		pg_atomic_fetch_add_u32(&areas->shared[i].users, 1);
	}
	return areas;
}

/* Unmap the segments of an area. */
static void
unmap_area(SharedAreas *areas, int area)
{
	SharedSegment *segments = &areas->segments[area * AREA_SEGMENTS];

	for (int i = 0; i < AREA_SEGMENTS; i++)
	{
		if (segments[i].address != NULL)
			dsm_detach(segments[i].mapping);
		segments[i].address = NULL;
	}
}

void
shared_areas_detach(SharedAreas *areas)
{
	for (int i = 0; i < areas->n; i++)
		unmap_area(areas, i);
	pfree(areas);
}

/* Release an area before the parent segment is detached. */
static void
release_now(SharedArea *shared, dsm_segment *parent)
{
	cancel_on_dsm_detach(parent, release_area, PointerGetDatum(shared));
	release_area(parent, PointerGetDatum(shared));
}

/*
 * Unmapping and freeing memory takes time: processes do it at the same time,
 * each for its own area.
 */
void
shared_areas_close(SharedAreas *areas, dsm_segment *parent)
{
	for (int i = 0; i < areas->n; i++)
	{
		unmap_area(areas, i);
		if (i != areas->own)
			release_now(&areas->shared[i], parent);
	}
	if (pg_atomic_read_u32(&areas->shared[areas->own].users) == 1)
		release_now(&areas->shared[areas->own], parent);
	pfree(areas);
}

void
shared_areas_free(void *place, int nprocesses, dsm_segment *parent)
{
	SharedArea *shared = place;

	for (int i = 0; i < nprocesses; i++)
		if (pg_atomic_read_u32(&shared[i].users) > 0)
			release_now(&shared[i], parent);
}

void
shared_areas_empty(SharedAreas *areas)
{
	for (int i = 0; i < areas->n; i++)
		unmap_area(areas, i);
	free_segments(&areas->shared[areas->own]);
	areas->next = InvalidSharedPointer;
	areas->left = areas->taken = areas->bytes = 0;
}

/* Add a segment of that size to the area of this process. */
static SharedPointer
add_segment(SharedAreas *areas, size_t size)
{
	SharedArea *shared = &areas->shared[areas->own];
	uint32		number = areas->own * AREA_SEGMENTS + shared->n;
	SharedSegment *segment = &areas->segments[number];
	ResourceOwner owner = CurrentResourceOwner;

	Assert(areas->own >= 0 && areas->own < areas->n);
	if (shared->n == AREA_SEGMENTS || size >> SEGMENT_SHIFT > 0)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("too much shared memory for a similarity join"),
				 errdetail("A process can have %d segments of less than %zu gigabytes.",
						   AREA_SEGMENTS,
						   ((size_t) 1 << SEGMENT_SHIFT) >> 30)));
	CurrentResourceOwner = areas->owner;
	segment->mapping = dsm_create(size, 0);
	CurrentResourceOwner = owner;
	dsm_pin_segment(segment->mapping);
	segment->address = dsm_segment_address(segment->mapping);
	shared->segments[shared->n] = dsm_segment_handle(segment->mapping);
	shared->n++;
	areas->taken += size;
	return (SharedPointer) number << SEGMENT_SHIFT | SEGMENT_START;
}

char *
shared_segment(SharedAreas *areas, SharedPointer pointer)
{
	uint32		number = POINTER_SEGMENT(pointer);
	SharedArea *shared = &areas->shared[number / AREA_SEGMENTS];
	SharedSegment *segment = &areas->segments[number];
	ResourceOwner owner = CurrentResourceOwner;

	Assert(SharedPointerIsValid(pointer) && segment->address == NULL);
	CurrentResourceOwner = areas->owner;
	segment->mapping = dsm_attach(shared->segments[number % AREA_SEGMENTS]);
	CurrentResourceOwner = owner;
	if (segment->mapping == NULL)
		elog(ERROR, "could not attach to a segment of a similarity join");
	segment->address = dsm_segment_address(segment->mapping);
	return segment->address;
}

void *
shared_alloc(SharedAreas *areas, size_t bytes, SharedPointer *pointer)
{
	bytes = TYPEALIGN(PIECE_ALIGN, Max(bytes, 1));
	if (bytes <= areas->left)
	{
		*pointer = areas->next;
		areas->next += bytes;
		areas->left -= bytes;
	}
	else
	{
		int			share = Max(Min(SHARES_OF_ALL / areas->n, MIN_SHARE), 2);
		size_t		step = Max(areas->taken / share / WHOLE * WHOLE,
							   Min(areas->taken, DOUBLES_UP_TO));
		size_t		size = add_size(Max(Max(step, FIRST_SEGMENT), bytes),
									SEGMENT_START);
		size_t		behind = size - SEGMENT_START - bytes;

		*pointer = add_segment(areas, size);
		if (behind > areas->left)
		{
			areas->next = *pointer + bytes;
			areas->left = behind;
		}
	}
	areas->bytes += bytes;
	return shared_at(areas, *pointer);
}

/*
 * Memory that is allocated in small pieces and freed all at once
 *
 * A join holds millions of rows and sets of some dozens of bytes each; the
 * header and the rounding of palloc() would cost as much again.  Pieces are
 * cut from blocks that grow with the arena; a piece of more than a quarter of
 * a block gets one for itself.
 */

/* Bytes that are cleared between two checks for interrupts. */
#define CLEAR_AT_ONCE	((size_t) 4 * 1024 * 1024)

#define MAX_BLOCK_SIZE	((size_t) 1024 * 1024)

/* By which factor blocks grow at most. */
#define MAX_GROWTH		16

typedef struct ArenaBlock
{
	struct ArenaBlock *next;
	SharedPointer pointer;		/* pointer to this block, where it is shared */
	size_t		size;			/* bytes of data */
	size_t		used;			/* bytes of data in use */
	char		data[FLEXIBLE_ARRAY_MEMBER];
} ArenaBlock;

/*
 * Initialize an empty arena in the current memory context.  Its first block
 * has block_size bytes, head included; the next ones grow up to MAX_GROWTH
 * times that, at most a megabyte.
 */
void
arena_init(Arena *arena, size_t block_size)
{
	arena->context = CurrentMemoryContext;
	arena->areas = NULL;
	arena->blocks = arena->spare = NULL;
	arena->bytes = 0;
	arena->first_block = arena->block_size = block_size;
}

/*
 * Return a spare block of that size, freeing those before it; NULL: there is
 * none.
 */
static ArenaBlock *
pop_spare(Arena *arena, size_t size)
{
	ArenaBlock *block;

	while ((block = arena->spare) != NULL)
	{
		CHECK_FOR_INTERRUPTS();
		arena->spare = block->next;
		if (block->size == size)
			return block;
		pfree(block);
	}
	return NULL;
}

/* Allocate a block of `size` bytes of data. */
static ArenaBlock *
arena_block(Arena *arena, size_t size)
{
	size_t		bytes = offsetof(ArenaBlock, data) + size;
	SharedPointer pointer = InvalidSharedPointer;
	ArenaBlock *block = pop_spare(arena, size);

	if (arena->areas != NULL)
		block = shared_alloc(arena->areas, bytes, &pointer);
	else if (block == NULL)
		block = MemoryContextAllocHuge(arena->context, bytes);
	block->pointer = pointer;
	block->size = size;
	block->used = 0;
	arena->bytes += bytes;
	return block;
}

/*
 * Allocate bytes, aligned to MAXALIGN and not initialised, which the arena
 * owns.
 */
void *
arena_alloc(Arena *arena, size_t bytes)
{
	ArenaBlock *block = arena->blocks;
	void	   *piece;

	bytes = MAXALIGN(bytes);
	if (block != NULL && block->size - block->used >= bytes)
	{
		piece = block->data + block->used;
		block->used += bytes;
		return piece;
	}
	if (block != NULL && bytes > arena->block_size / 4)
	{
		/* after the newest block, which has room left */
		ArenaBlock *own = arena_block(arena, bytes);

		own->used = bytes;
		own->next = block->next;
		block->next = own;
		return own->data;
	}
	block = arena_block(arena,
						Max(bytes,
							arena->block_size - offsetof(ArenaBlock, data)));
	arena->block_size = Min(arena->block_size * 2,
							Min(arena->first_block * MAX_GROWTH,
								MAX_BLOCK_SIZE));
	block->next = arena->blocks;
	block->used = bytes;
	arena->blocks = block;
	return block->data;
}

/*
 * As arena_alloc(), with the shared pointer, which is undefined for a private
 * arena.
 */
void *
arena_alloc_shared(Arena *arena, size_t bytes, SharedPointer *pointer)
{
	char	   *piece = arena_alloc(arena, bytes);
	ArenaBlock *block = arena->blocks;

	/* the newest block, or the block of a large piece after it */
	if (piece < block->data || piece >= block->data + block->size)
		block = block->next;
	*pointer = block->pointer + (piece - (char *) block);
	return piece;
}

/*
 * Empty an arena that is not shared; its blocks are spare until new ones are
 * as large.
 */
void
arena_reuse(Arena *arena)
{
	ArenaBlock *block;

	Assert(arena->areas == NULL);
	while ((block = arena->blocks) != NULL)
	{
		CHECK_FOR_INTERRUPTS();
		arena->blocks = block->next;
		block->next = arena->spare;
		arena->spare = block;
	}
	arena->bytes = 0;
	/* blocks grow again as before, so spare ones fit */
	arena->block_size = arena->first_block;
}

/* Free everything; the arena can be used again.  It is not shared. */
void
arena_reset(Arena *arena)
{
	arena_reuse(arena);
	(void) pop_spare(arena, SIZE_MAX);
}

/* Clear memory, with checks for interrupts. */
void
clear_memory(void *place, size_t bytes)
{
	for (size_t done = 0; done < bytes; done += CLEAR_AT_ONCE)
	{
		CHECK_FOR_INTERRUPTS();
		memset((char *) place + done, 0, Min(bytes - done, CLEAR_AT_ONCE));
	}
}

/* Allocate zeros in the current memory context, to be freed with pfree(). */
void *
alloc_zeros(size_t bytes)
{
	void	   *place = MemoryContextAllocHuge(CurrentMemoryContext,
											   Max(bytes, 1));

	clear_memory(place, bytes);
	return place;
}
