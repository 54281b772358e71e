/*
 * shared_pool.c
 *		Shared memory that one process takes from its area, and all can see.
 *
 * An area is a list of segments of dynamic shared memory, and memory is taken from the
 * newest of them.  A dsa_area would do, too; but its segments double, so that a fifth
 * of them was never used, and the system takes its time to clear and to free that;
 * and it looks for a segment again and again whether somebody has freed it.
 */
#include "postgres.h"

#include "base/memory_pages.h"
#include "join/engine/shared_pool.h"

/* What most pieces of a large area have. */
#define WHOLE			((size_t) 1024 * 1024)

/* The first segment, and up to where they are as large as all before. */
#define FIRST_SEGMENT	((size_t) 256 * 1024)
#define DOUBLES_UP_TO	(2 * WHOLE)

/*
 * Then they are a share of all before: small ones leave little unused, but the server has
 * only so many for all processes.
 */
#define MIN_SHARE		8
#define SHARES_OF_ALL	16

/* Pieces begin at a line of the cache, so that processes do not write to the same one. */
#define PIECE_ALIGN		PG_CACHE_LINE_SIZE

/* Where the first piece of a segment is: the first place of all is none. */
#define SEGMENT_START	PIECE_ALIGN

size_t
shared_areas_bytes(int nprocesses)
{
	return mul_size(nprocesses, sizeof(SharedArea));
}

/* Frees the first n segments of an area, as soon as nobody has mapped them. */
static void
free_segments(SharedArea *shared, uint32 n)
{
	while (shared->nfreed < n)
		dsm_unpin_segment(shared->segments[shared->nfreed++]);
}

/* A process gives an area up: whoever is the last to do so frees its segments. */
static void
release_area(dsm_segment *parent, Datum area)
{
	SharedArea *shared = (SharedArea *) DatumGetPointer(area);

	if (pg_atomic_sub_fetch_u32(&shared->users, 1) == 0)
		free_segments(shared, shared->n);
}

/* Whoever made the areas frees what has been left to it, and takes no more. */
static void
free_rest(dsm_segment *parent, Datum area)
{
	SharedArea *shared = (SharedArea *) DatumGetPointer(area);

	if (pg_atomic_exchange_u32(&shared->rest, REST_REFUSED) == REST_LEFT)
		free_segments(shared, shared->n);
}

/* Leaves to it what has not been freed; false if it does not take it. */
static bool
leave_rest(SharedArea *shared)
{
	uint32		rest = REST_NONE;

	return pg_atomic_compare_exchange_u32(&shared->rest, &rest, REST_LEFT);
}

/* The areas in place as this process, which is counted, sees them, without any segment yet. */
static SharedAreas *
areas_in(void *place, int nprocesses, dsm_segment *parent)
{
	SharedAreas *areas = palloc0(offsetof(SharedAreas, segments) +
								 sizeof(SharedSegment) * AREA_SEGMENTS * nprocesses);

	areas->shared = place;
	areas->n = nprocesses;
	areas->owner = CurrentResourceOwner;
	for (int i = 0; i < nprocesses; i++)
	{
		/* in this order: for the first one memory may run out */
		on_dsm_detach(parent, release_area, PointerGetDatum(&areas->shared[i]));
		pg_atomic_fetch_add_u32(&areas->shared[i].users, 1);
	}
	return areas;
}

SharedAreas *
shared_areas_create(void *place, int nprocesses, dsm_segment *parent)
{
	SharedArea *shared = place;

	for (int i = 0; i < nprocesses; i++)
	{
		pg_atomic_init_u32(&shared[i].users, 0);
		pg_atomic_init_u32(&shared[i].rest, REST_NONE);
		shared[i].n = shared[i].nfreed = 0;
		on_dsm_detach(parent, free_rest, PointerGetDatum(&shared[i]));
	}
	return areas_in(place, nprocesses, parent);
}

SharedAreas *
shared_areas_attach(void *place, int nprocesses, dsm_segment *parent)
{
	return areas_in(place, nprocesses, parent);
}

/* Unmaps what this process has looked at in an area. */
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

/* Gives up an area before the parent segment goes. */
static void
give_up_area(SharedArea *shared, dsm_segment *parent)
{
	cancel_on_dsm_detach(parent, release_area, PointerGetDatum(shared));
	release_area(parent, PointerGetDatum(shared));
}

/* Segments that are left to the process that made the areas, of each. */
#define MAX_LEFT		2

/* How many of these, the last ones of an area that is mapped, have so many bytes or less. */
static uint32
segments_within(const SharedAreas *areas, int area, size_t bytes)
{
	const SharedSegment *segments = &areas->segments[area * AREA_SEGMENTS];
	uint32		n = areas->shared[area].n;
	uint32		first = n;

	while (first > 0 && n - first < MAX_LEFT)
	{
		size_t		size = dsm_segment_map_length(segments[first - 1].mapping);

		if (size > bytes)
			break;
		bytes -= size;
		first--;
	}
	return n - first;
}

/* Gives up the area of this process, at which nobody looks, but for its last segments. */
static void
give_up_own(SharedArea *shared, uint32 leave, dsm_segment *parent)
{
	free_segments(shared, shared->n - leave);
	if (leave > 0 && leave_rest(shared))
		cancel_on_dsm_detach(parent, release_area, PointerGetDatum(shared));
	else
		give_up_area(shared, parent);
}

/*
 * See shared_pool.h.  To unmap and to free memory takes time: those who come to their
 * end together do it at the same time, each for its own area.
 */
void
shared_areas_close(SharedAreas *areas, int own, dsm_segment *parent, size_t leave)
{
	uint32		nleft = segments_within(areas, own, leave);

	for (int i = 0; i < areas->n; i++)
	{
		if (i == own)
			continue;
		unmap_area(areas, i);
		give_up_area(&areas->shared[i], parent);
	}
	unmap_area(areas, own);
	if (pg_atomic_read_u32(&areas->shared[own].users) == 1)
		give_up_own(&areas->shared[own], nleft, parent);
	pfree(areas);
}

void
shared_areas_free(void *place, int nprocesses, dsm_segment *parent)
{
	SharedArea *shared = place;

	for (int i = 0; i < nprocesses; i++)
	{
		cancel_on_dsm_detach(parent, free_rest, PointerGetDatum(&shared[i]));
		free_rest(parent, PointerGetDatum(&shared[i]));
		if (pg_atomic_read_u32(&shared[i].users) > 0)
			give_up_area(&shared[i], parent);
	}
}

void
shared_areas_empty(SharedAreas *areas, int own)
{
	SharedArea *shared = &areas->shared[own];

	for (int i = 0; i < areas->n; i++)
		unmap_area(areas, i);
	free_segments(shared, shared->n);
	shared->n = shared->nfreed = 0;
	areas->next = areas->asked = InvalidSharedPointer;
	areas->left = areas->taken = 0;
}

/* How large a segment with room for so many bytes is. */
static size_t
segment_size(const SharedAreas *areas, size_t bytes)
{
	int			share = Max(Min(SHARES_OF_ALL / areas->n, MIN_SHARE), 2);
	size_t		step = areas->taken / share / WHOLE * WHOLE;

	step = Max(step, Min(areas->taken, DOUBLES_UP_TO));
	return add_size(Max(Max(step, FIRST_SEGMENT), bytes), SEGMENT_START);
}

/* Adds a segment of that size to the area of this process. */
static SharedPointer
add_segment(SharedAreas *areas, int area, size_t size)
{
	SharedArea *shared = &areas->shared[area];
	uint32		number = area * AREA_SEGMENTS + shared->n;
	SharedSegment *segment = &areas->segments[number];
	ResourceOwner owner = CurrentResourceOwner;

	if (shared->n == AREA_SEGMENTS || size >> SEGMENT_SHIFT > 0)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("too much shared memory for a similarity join"),
				 errdetail("A process can have %d segments of less than %zu gigabytes.",
						   AREA_SEGMENTS, ((size_t) 1 << SEGMENT_SHIFT) >> 30)));
	CurrentResourceOwner = areas->owner;
	segment->mapping = dsm_create(size, 0);
	CurrentResourceOwner = owner;
	dsm_pin_segment(segment->mapping);
	segment->address = dsm_segment_address(segment->mapping);
	shared->segments[shared->n] = dsm_segment_handle(segment->mapping);
	shared->n++;
	areas->taken += size;
	shared_pages_scattered(segment->address, size);
	return (SharedPointer) number << SEGMENT_SHIFT | SEGMENT_START;
}

char *
shared_segment(SharedAreas *areas, SharedPointer pointer)
{
	uint32		number = POINTER_SEGMENT(pointer);
	SharedArea *shared = &areas->shared[number / AREA_SEGMENTS];
	SharedSegment *segment = &areas->segments[number];
	ResourceOwner owner = CurrentResourceOwner;

	CurrentResourceOwner = areas->owner;
	segment->mapping = dsm_attach(shared->segments[number % AREA_SEGMENTS]);
	CurrentResourceOwner = owner;
	if (segment->mapping == NULL)
		elog(ERROR, "could not attach to a segment of a similarity join");
	segment->address = dsm_segment_address(segment->mapping);
	shared_pages_scattered(segment->address, dsm_segment_map_length(segment->mapping));
	return segment->address;
}

/*
 * Asks for the pages of the piece that has been taken last and, where small ones are, of
 * some more.
 */
static void
ask_for_pages(SharedAreas *areas, SharedPointer piece, size_t bytes)
{
	SharedPointer end = piece + bytes;

	if (end == areas->next)
	{
		if (end <= areas->asked)
			return;
		piece = Max(piece, areas->asked);
		end += Min(areas->left, WHOLE);
		areas->asked = end;
	}
	shared_pages_ask(shared_at(areas, piece), end - piece);
}

/* `bytes` bytes of the area of this process. */
static void *
alloc_bytes(SharedPool *pool, size_t bytes, bool ask, SharedPointer *pointer)
{
	SharedAreas *areas = pool->areas;

	bytes = TYPEALIGN(PIECE_ALIGN, Max(bytes, 1));
	if (bytes <= areas->left)
	{
		*pointer = areas->next;
		areas->next += bytes;
		areas->left -= bytes;
	}
	else
	{
		size_t		size = segment_size(areas, bytes);
		size_t		behind = size - SEGMENT_START - bytes;

		*pointer = add_segment(areas, pool->own, size);
		if (behind > areas->left)
		{
			areas->next = *pointer + bytes;
			areas->left = behind;
			areas->asked = *pointer;
		}
	}
	if (ask)
		ask_for_pages(areas, *pointer, bytes);
	pool->bytes += bytes;
	return shared_at(areas, *pointer);
}

void *
pool_alloc(SharedPool *pool, size_t bytes, SharedPointer *pointer)
{
	return alloc_bytes(pool, bytes, true, pointer);
}

void *
pool_alloc_for_all(SharedPool *pool, size_t bytes, SharedPointer *pointer)
{
	return alloc_bytes(pool, bytes, false, pointer);
}
