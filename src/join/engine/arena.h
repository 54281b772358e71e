/*
 * arena.h
 *		Memory that is handed out in small pieces and freed all at once.
 */
#ifndef NEARDUP_ARENA_H
#define NEARDUP_ARENA_H

#include "utils/palloc.h"

#include "join/engine/shared_pool.h"

typedef struct Arena
{
	MemoryContext context;		/* of the blocks */
	SharedPool *pool;			/* or shared memory; NULL: none */
	struct ArenaBlock *blocks;	/* newest first */
	struct ArenaBlock *spare;	/* to be used again */
	size_t		bytes;			/* in all blocks, but spare ones */
	size_t		first_block;	/* size of the first block */
	size_t		block_size;		/* of the next block */
} Arena;

extern void arena_init(Arena *arena, size_t block_size);
extern void *arena_alloc(Arena *arena, size_t bytes);
extern void *arena_alloc_shared(Arena *arena, size_t bytes,
								SharedPointer *pointer);
extern void arena_reset(Arena *arena);
extern void arena_rewind(Arena *arena);
extern void clear_memory(void *place, size_t bytes);
extern void *alloc_zeros(size_t bytes);

#endif							/* NEARDUP_ARENA_H */
