/*
 * first_places.h
 *		Finds where each hash of a long sequence occurs first, within a limit of
 *		memory.
 */
#ifndef NEARDUP_FIRST_PLACES_H
#define NEARDUP_FIRST_PLACES_H

#include "storage/buffile.h"

#include "base/linear_probing.h"

/* Number of files among which hashes are divided that do not fit into memory */
#define FIRST_PLACES_FILES	16

/* A hash, and its place in the sequence; places are numbered from 1 */
typedef struct HashPlace
{
	uint64		hash;
	int64		place;			/* 0 = free, in the table */
} HashPlace;

/* Take a place of a hash that occurred before, first at `first`. */
typedef void (*RepeatCallback) (void *context, int64 place, int64 first);

/*
 * A table of the hashes that came first.  When it is full, it stays as it is,
 * and hashes that are not in it go to files.
 */
typedef struct FirstPlaces
{
	MemoryContext memory_context;	/* owns the table and the files */
	HashPlace  *table;
	Probing		probing;
	size_t		n;				/* number of hashes in the table */
	size_t		max_places;		/* the table has at most so many places */
	BufFile    *files[FIRST_PLACES_FILES];	/* NULL = not needed yet */
	int			shift;			/* a hash's file is in 4 bits from here on */
	RepeatCallback repeat;
	void	   *context;
} FirstPlaces;

/*
 * Begin an empty sequence, in the current memory context.  `repeat` will be
 * called with `context` for each place of a hash but its first one, in any
 * order.  The table has at most `memory` bytes; besides, each file that is
 * open needs a block.
 */
extern void first_places_begin(FirstPlaces *firsts, size_t memory,
							   RepeatCallback repeat, void *context);

/* Put n hashes, whose places are `place`, `place` + 1, ... */
extern void first_places_put(FirstPlaces *firsts, const uint64 *hashes,
							 size_t n, int64 place);

/* Take the hashes from the files, and free all. */
extern void first_places_end(FirstPlaces *firsts);

#endif							/* NEARDUP_FIRST_PLACES_H */
