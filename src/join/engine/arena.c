/*
 * arena.c
 *		Memory that is handed out in small pieces and freed all at once.
 *
 * A join holds millions of rows and sets of some dozens of bytes each; the
 * header and the rounding of palloc() would cost as much again.  Pieces are
 * cut from blocks that grow with the arena, up to a megabyte; a piece of
 * more than a quarter of a block gets one for itself.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "join/engine/arena.h"

/* Bytes that are cleared between two looks at interrupts. */
#define CLEAR_AT_ONCE	((size_t) 4 * 1024 * 1024)

#define MAX_BLOCK_SIZE	((size_t) 1024 * 1024)

typedef struct ArenaBlock
{
	struct ArenaBlock *next;
	SharedPointer pointer;		/* to this, where it is shared */
	size_t		size;			/* of data */
	size_t		used;			/* of data */
	char		data[FLEXIBLE_ARRAY_MEMBER];
} ArenaBlock;

/*
 * An empty arena in the current memory context, whose first block has
 * block_size bytes, with its head: blocks fill what they are cut from.
 */
void
arena_init(Arena *arena, size_t block_size)
{
	arena->context = CurrentMemoryContext;
	arena->pool = NULL;
	arena->blocks = NULL;
	arena->spare = NULL;
	arena->bytes = 0;
	arena->first_block = arena->block_size = block_size;
}

/* Frees spare blocks in place of which there will be another of that many bytes. */
static void
give_up_spare(Arena *arena, size_t bytes)
{
	size_t		freed = 0;

	while (arena->spare != NULL && freed < bytes)
	{
		ArenaBlock *block = arena->spare;

		arena->spare = block->next;
		freed += offsetof(ArenaBlock, data) + block->size;
		pfree(block);
	}
}

/* A block of `size` bytes of data. */
static ArenaBlock *
arena_block(Arena *arena, size_t size)
{
	size_t		bytes = offsetof(ArenaBlock, data) + size;
	SharedPointer pointer = InvalidSharedPointer;
	ArenaBlock *block;

	if (arena->pool != NULL)
		block = pool_alloc(arena->pool, bytes, &pointer);
	else
	{
		give_up_spare(arena, bytes);
		block = MemoryContextAllocHuge(arena->context, bytes);
	}
	block->pointer = pointer;
	block->size = size;
	block->used = 0;
	arena->bytes += bytes;
	return block;
}

/* A spare block with room for so many bytes, or else a new one. */
static ArenaBlock *
next_block(Arena *arena, size_t bytes)
{
	ArenaBlock *block = arena->spare;

	if (block == NULL || block->size < bytes)
	{
		block = arena_block(arena, Max(bytes, arena->block_size - offsetof(ArenaBlock, data)));
		arena->block_size = Min(arena->block_size * 2, MAX_BLOCK_SIZE);
		return block;
	}
	arena->spare = block->next;
	arena->bytes += offsetof(ArenaBlock, data) + block->size;
	return block;
}

/*
 * `bytes` bytes, aligned to MAXALIGN and not initialised.  They belong to the
 * arena.
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
		/* behind the newest block, which has room left */
		ArenaBlock *own = arena_block(arena, bytes);

		own->used = bytes;
		own->next = block->next;
		block->next = own;
		return own->data;
	}
	block = next_block(arena, bytes);
	block->next = arena->blocks;
	block->used = bytes;
	arena->blocks = block;
	return block->data;
}

/* The same, with the shared pointer to the bytes; of a private arena it means nothing. */
void *
arena_alloc_shared(Arena *arena, size_t bytes, SharedPointer *pointer)
{
	char	   *piece = arena_alloc(arena, bytes);
	ArenaBlock *block = arena->blocks;

	/* the newest block, or else that of a large piece behind it */
	if (piece < block->data || piece >= block->data + block->size)
		block = block->next;
	*pointer = block->pointer + (piece - (char *) block);
	return piece;
}

static void
free_blocks(ArenaBlock **blocks)
{
	while (*blocks != NULL)
	{
		ArenaBlock *block = *blocks;

		CHECK_FOR_INTERRUPTS();
		*blocks = block->next;
		pfree(block);
	}
}

/* Frees everything; the arena can be used again.  It is not shared. */
void
arena_reset(Arena *arena)
{
	Assert(arena->pool == NULL);
	free_blocks(&arena->blocks);
	free_blocks(&arena->spare);
	arena->bytes = 0;
	arena->block_size = arena->first_block;
}

/*
 * Forgets everything, but keeps the blocks for what comes: what is filled again and
 * again need not ask the system for its memory each time.  The arena is not shared.
 */
void
arena_rewind(Arena *arena)
{
	Assert(arena->pool == NULL);
	while (arena->blocks != NULL)
	{
		ArenaBlock *block = arena->blocks;

		arena->blocks = block->next;
		block->next = arena->spare;
		arena->spare = block;
	}
	arena->bytes = 0;
}

/* Clears memory; of gigabytes that takes longer than an interrupt may wait. */
void
clear_memory(void *place, size_t bytes)
{
	for (size_t done = 0; done < bytes; done += CLEAR_AT_ONCE)
	{
		CHECK_FOR_INTERRUPTS();
		memset((char *) place + done, 0, Min(bytes - done, CLEAR_AT_ONCE));
	}
}

/* `bytes` zeros in the current context, to be freed with pfree(). */
void *
alloc_zeros(size_t bytes)
{
	void	   *place = MemoryContextAllocHuge(CurrentMemoryContext,
											   Max(bytes, 1));

	clear_memory(place, bytes);
	return place;
}
