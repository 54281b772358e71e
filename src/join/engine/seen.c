/*
 * seen.c
 *		Sets that have gone to disk, to tell whether one comes again.
 *
 * Sets are appended to a file of their own; a table in memory has, for each
 * of them, its place in the file and a few bits of its hash.  A set that comes
 * with a known hash is compared with the one in the file, byte by byte, so
 * that only identical sets are ever taken as such.  Blocks that were read
 * are kept in a small cache: copies of documents come in much the same order
 * as the originals, or soon after them.
 *
 * Where no table has been made nothing is known to have been there.
 *
 * The table does not grow.  Once it is full no more sets are added, and those
 * that are not found are merely not known to have been there.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/join/engine/seen.c
 */
#include "postgres.h"

#include "miscadmin.h"

#include "join/engine/arena.h"
#include "join/engine/seen.h"

/* A slot of the table: bits of the hash, then the place in units + 1. */
#define PLACE_BITS	40
#define PLACE_MASK	((UINT64CONST(1) << PLACE_BITS) - 1)
#define PLACE_UNIT	sizeof(uint64)

/* What a set has in the file before its values: one unit, in one block. */
typedef struct SeenHead
{
	uint32		size;			/* of the set */
	uint32		serial;
} SeenHead;

StaticAssertDecl(sizeof(SeenHead) == PLACE_UNIT && BLCKSZ % PLACE_UNIT == 0,
				 "a head must not cross a block boundary");

#define FEWEST_SLOTS	64
#define FEWEST_BLOCKS	4

/*
 * No sets as yet, in the current memory context; table and cache will take up
 * to that many bytes each.
 */
void
seen_create(SeenSets *seen, size_t table_bytes, size_t cache_bytes)
{
	seen->nslots = FEWEST_SLOTS;
	while (seen->nslots * 2 * sizeof(uint64) <= table_bytes)
		seen->nslots *= 2;
	seen->slots = alloc_zeros(seen->nslots * sizeof(uint64));
	seen->nsets = 0;
	seen->nblocks = Max(cache_bytes / BLCKSZ, FEWEST_BLOCKS);
	seen->blocks = NULL;
	seen->tail = palloc(BLCKSZ);
	seen->bytes = 0;
	spillfile_create(&seen->file);
}

/* Closes the file and frees the rest. */
void
seen_free(SeenSets *seen)
{
	if (seen->slots == NULL)
		return;
	spillfile_close(&seen->file);
	pfree(seen->slots);
	pfree(seen->tail);
	if (seen->blocks != NULL)
	{
		pfree(seen->blocks);
		pfree(seen->numbers);
	}
	memset(seen, 0, sizeof(SeenSets));
}

/* Appends to the file; its last block is in memory until it is full. */
static void
seen_append(SeenSets *seen, const void *data, size_t len)
{
	const char *from = data;

	while (len > 0)
	{
		size_t		at = seen->bytes % BLCKSZ;
		size_t		n = Min(len, BLCKSZ - at);

		memcpy(seen->tail + at, from, n);
		if (at + n == BLCKSZ)
			spillfile_append(&seen->file, seen->tail);
		seen->bytes += n;
		from += n;
		len -= n;
	}
}

/* A block of the file; valid until the next call. */
static const char *
seen_block(SeenSets *seen, uint64 number)
{
	uint64		slot = number % seen->nblocks;
	char	   *block;

	if (number == seen->bytes / BLCKSZ)
		return seen->tail;
	if (seen->blocks == NULL)
	{
		seen->blocks = MemoryContextAllocHuge(CurrentMemoryContext,
											  seen->nblocks * BLCKSZ);
		seen->numbers = palloc0(seen->nblocks * sizeof(uint64));
	}
	block = seen->blocks + slot * BLCKSZ;
	if (seen->numbers[slot] != number + 1)
	{
		seen->numbers[slot] = 0;
		spillfile_read(&seen->file, number * BLCKSZ, block, BLCKSZ);
		seen->numbers[slot] = number + 1;
	}
	return block;
}

/* True if these bytes are at that place of the file. */
static bool
seen_equal(SeenSets *seen, uint64 offset, const void *data, size_t len)
{
	const char *expected = data;

	while (len > 0)
	{
		size_t		at = offset % BLCKSZ;
		size_t		n = Min(len, BLCKSZ - at);

		if (memcmp(seen_block(seen, offset / BLCKSZ) + at, expected, n) != 0)
			return false;
		expected += n;
		offset += n;
		len -= n;
	}
	return true;
}

static uint64
slot_bits(SetKey key)
{
	return (uint64) key.high << PLACE_BITS;
}

/*
 * Looks for the set of that key and those values.  If it is there, returns
 * true and the number that it was added with.
 */
bool
seen_find(SeenSets *seen, SetKey key, const uint64 *values, uint32 *serial)
{
	size_t		len = sizeof(uint64) * SETKEY_SIZE(key);
	uint64		slot = (uint64) key.low & (seen->nslots - 1);

	if (seen->slots == NULL)
		return false;
	for (; seen->slots[slot] != 0; slot = (slot + 1) & (seen->nslots - 1))
	{
		uint64		entry = seen->slots[slot];
		uint64		offset = ((entry & PLACE_MASK) - 1) * PLACE_UNIT;
		SeenHead	head;

		CHECK_FOR_INTERRUPTS();
		if ((entry & ~PLACE_MASK) != slot_bits(key))
			continue;
		memcpy(&head, seen_block(seen, offset / BLCKSZ) + offset % BLCKSZ,
			   sizeof(head));
		if (head.size == SETKEY_SIZE(key) &&
			seen_equal(seen, offset + sizeof(head), values, len))
		{
			*serial = head.serial;
			return true;
		}
	}
	return false;
}

/*
 * Adds a set that was not found, with a number that the caller gives it,
 * unless the table is full.
 */
void
seen_add(SeenSets *seen, SetKey key, const uint64 *values, uint32 serial)
{
	uint64		place = seen->bytes / PLACE_UNIT + 1;
	uint64		slot = (uint64) key.low & (seen->nslots - 1);
	SeenHead	head = {SETKEY_SIZE(key), serial};

	if (seen->slots == NULL || seen->nsets >= seen->nslots / 8 * 7 ||
		place > PLACE_MASK)
		return;
	while (seen->slots[slot] != 0)
		slot = (slot + 1) & (seen->nslots - 1);
	seen->slots[slot] = slot_bits(key) | place;
	seen->nsets++;
	seen_append(seen, &head, sizeof(head));
	seen_append(seen, values, sizeof(uint64) * head.size);
}
