/*
 * shared_pool.c
 *		Shared memory that one process takes from an area, and all can see.
 *
 * Pieces are linked, so that somebody else can free them when their process is
 * gone.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/join/engine/shared_pool.c
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/lwlock.h"

#include "join/engine/shared_pool.h"

/* An area of a process beside those of others. */
static inline size_t
head_bytes(void)
{
	return MAXALIGN(dsa_minimum_size());
}

static inline int
areas_of(int nprocesses)
{
	return Min(nprocesses, MAX_AREAS);
}

/* See shared_pool.h */
size_t
shared_areas_bytes(int nprocesses)
{
	return mul_size(areas_of(nprocesses), head_bytes());
}

static SharedAreas *
make_areas(void *place, int nprocesses, dsm_segment *segment, bool create)
{
	int			n = areas_of(nprocesses);
	SharedAreas *areas = palloc(offsetof(SharedAreas, areas) + sizeof(dsa_area *) * n);

	areas->n = n;
#ifdef SEGMENT_OF
	areas->segments = palloc0(sizeof(char *) * SEGMENTS_OF_AREA * n);
#endif
	for (int i = 0; i < n; i++)
	{
		char	   *head = (char *) place + head_bytes() * i;

		areas->areas[i] = create ?
			dsa_create_in_place(head, head_bytes(), LWTRANCHE_PARALLEL_QUERY_DSA,
								segment) :
			dsa_attach_in_place(head, segment);
	}
	return areas;
}

/* See shared_pool.h */
SharedAreas *
shared_areas_create(void *place, int nprocesses, dsm_segment *segment)
{
	return make_areas(place, nprocesses, segment, true);
}

/* See shared_pool.h */
SharedAreas *
shared_areas_attach(void *place, int nprocesses, dsm_segment *segment)
{
	return make_areas(place, nprocesses, segment, false);
}

/* See shared_pool.h */
void
shared_areas_detach(SharedAreas *areas)
{
	for (int i = 0; i < areas->n; i++)
		dsa_detach(areas->areas[i]);
#ifdef SEGMENT_OF
	pfree(areas->segments);
#endif
	pfree(areas);
}

/* See shared_pool.h */
void
shared_area_give_up(void *place, int area, dsm_segment *segment)
{
	char	   *head = (char *) place + head_bytes() * area;

	cancel_on_dsm_detach(segment, dsa_on_dsm_detach_release_in_place,
						 PointerGetDatum(head));
	dsa_release_in_place(head);
}

#ifdef SEGMENT_OF
/* See shared_pool.h */
char *
shared_segment(SharedAreas *areas, dsa_pointer pointer)
{
	char	   *segment = (char *) shared_at(areas, pointer) -
		POINTER_IN_SEGMENT(pointer);

	areas->segments[SEGMENT_OF(pointer)] = segment;
	return segment;
}
#endif

/* See shared_pool.h */
dsa_pointer
shared_alloc(SharedAreas *areas, int area, size_t bytes)
{
	return AREA_POINTER(area, dsa_allocate_extended(areas->areas[area], bytes,
													DSA_ALLOC_HUGE));
}

/* See shared_pool.h */
void
shared_free(SharedAreas *areas, dsa_pointer pointer)
{
	dsa_free(areas->areas[POINTER_AREA(pointer)], POINTER_IN_AREA(pointer));
#ifdef SEGMENT_OF
	areas->segments[SEGMENT_OF(pointer)] = NULL;
#endif
}

typedef struct PoolPiece
{
	dsa_pointer next;
	uint64		data[FLEXIBLE_ARRAY_MEMBER];
} PoolPiece;

/* `bytes` bytes, not initialised, with what they are known by elsewhere. */
void *
pool_alloc(SharedPool *pool, size_t bytes, dsa_pointer *pointer)
{
	dsa_pointer taken;
	PoolPiece  *piece;

	bytes += offsetof(PoolPiece, data);
	taken = shared_alloc(pool->areas, pool->own, bytes);
	piece = shared_at(pool->areas, taken);
	piece->next = *pool->pieces;
	*pool->pieces = taken;
	pool->bytes += bytes;
	*pointer = taken + offsetof(PoolPiece, data);
	return piece->data;
}

/* Frees all pieces of a pool. */
void
pool_free(SharedAreas *areas, dsa_pointer *pieces)
{
	while (DsaPointerIsValid(*pieces))
	{
		dsa_pointer piece = *pieces;

		CHECK_FOR_INTERRUPTS();
		*pieces = ((PoolPiece *) shared_at(areas, piece))->next;
		shared_free(areas, piece);
	}
}
