/*
 * seen.h
 *		Sets that have gone to disk, to tell whether one comes again.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/join/engine/seen.h
 */
#ifndef NEARDUP_SEEN_H
#define NEARDUP_SEEN_H

#include "join/engine/joined_set.h"
#include "join/engine/spillfile.h"

typedef struct SeenSets
{
	uint64	   *slots;			/* open addressing: of hash and place */
	uint64		nslots;			/* power of two */
	uint64		nsets;
	SpillFile	file;			/* whole blocks */
	uint64		bytes;			/* in the file and the tail */
	char	   *tail;			/* the block that is not full */
	char	   *blocks;			/* that were read lately, by number modulo
								 * nblocks; NULL: none as yet */
	uint64	   *numbers;		/* of the blocks, from 1; 0: none */
	uint64		nblocks;
} SeenSets;

extern void seen_create(SeenSets *seen, size_t table_bytes,
						size_t cache_bytes);
extern void seen_free(SeenSets *seen);
extern bool seen_find(SeenSets *seen, SetKey key, const uint64 *values,
					  uint32 *serial);
extern void seen_add(SeenSets *seen, SetKey key, const uint64 *values,
					 uint32 serial);

#endif							/* NEARDUP_SEEN_H */
