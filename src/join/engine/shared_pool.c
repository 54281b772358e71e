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

#include "join/engine/shared_pool.h"

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
	taken = dsa_allocate_extended(pool->area, bytes, DSA_ALLOC_HUGE);
	piece = dsa_get_address(pool->area, taken);
	piece->next = *pool->pieces;
	*pool->pieces = taken;
	pool->bytes += bytes;
	*pointer = taken + offsetof(PoolPiece, data);
	return piece->data;
}

/* Frees all pieces of a pool. */
void
pool_free(dsa_area *area, dsa_pointer *pieces)
{
	while (DsaPointerIsValid(*pieces))
	{
		dsa_pointer piece = *pieces;

		CHECK_FOR_INTERRUPTS();
		*pieces = ((PoolPiece *) dsa_get_address(area, piece))->next;
		dsa_free(area, piece);
	}
}
