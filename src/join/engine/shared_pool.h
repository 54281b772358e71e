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

#include "utils/dsa.h"

typedef struct SharedPool
{
	dsa_area   *area;
	dsa_pointer *pieces;		/* that were taken, the newest; in shared memory */
	size_t		bytes;			/* in all of them */
} SharedPool;

extern void *pool_alloc(SharedPool *pool, size_t bytes, dsa_pointer *pointer);
extern void pool_free(dsa_area *area, dsa_pointer *pieces);

#endif							/* NEARDUP_SHARED_POOL_H */
