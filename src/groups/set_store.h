/*
 * set_store.h
 *		The sets that are grouped, by number: in memory, or in files.
 */
#ifndef NEARDUP_SET_STORE_H
#define NEARDUP_SET_STORE_H

#include "join/engine/rows.h"
#include "join/engine/set_table.h"

/*
 * Sets are added, then prepared, then read.  In memory a prepared set is
 * bitmap, values and keys.  On disk the values of all sets are a file, and
 * bitmaps and keys another one: what is searched is read without the values.
 * If sets are found by their values, too, the second file has all of it, and
 * the first one is removed.
 *
 * A set's position is its number in memory, or its offset in the file of keys.
 */
typedef struct SetStore
{
	uint32		n;				/* number of sets */
	bool		by_keys;		/* true if prepared sets on disk have no
								 * values */
	bool		on_disk;

	/* in memory */
	Arena		arena;			/* values, bitmaps and keys */
	JoinSet    *sets;
	size_t		max_sets;		/* allocated */

	/* on disk */
	SpillFile	values;
	SpillReader value_reader;
	SpillFile	keys;			/* exists once sets are prepared */
	SpillReader key_reader;
	SpillFile	prepared;		/* replaces `keys` when all are prepared */
	uint32		nprepared;		/* number of sets in it */
	char	   *place;			/* the set read last: bitmap, values, keys */
	size_t		max_place;
	JoinSet		read;

	uint64		position;		/* position of the next set */
} SetStore;

/* Create a temporary file of this process. */
extern void set_store_create_file(SpillFile *file, const char *name);

/*
 * Begin an empty store in the current memory context, in blocks of memory of
 * that size.
 */
extern void set_store_begin(SetStore *store, size_t block);

/* Begin an empty store on disk. */
extern void set_store_begin_on_disk(SetStore *store, bool by_keys);

/* Free the sets. */
extern void set_store_end(SetStore *store);

/* Bytes in memory of the sets, without indexes. */
extern size_t set_store_bytes(const SetStore *store);

/* Add a set of n values; return the place of its values in their file. */
extern uint64 set_store_add(SetStore *store, const uint64 *values, uint32 n);

/*
 * Preparation: read the sets that were added, in their order, each valid until
 * the next call; and store the bitmap and the keys of the set read last.  On
 * disk, prepared sets can be prepared again.
 */
extern void set_store_begin_preparing(SetStore *store);
extern void set_store_rewind(SetStore *store);
extern JoinSet *set_store_next_added(SetStore *store);
extern void set_store_prepared(SetStore *store, JoinSet *set);
extern void set_store_end_preparing(SetStore *store);

/* Go to the set at a position; and the position after the set read last. */
extern void set_store_seek(SetStore *store, uint64 position);
extern uint64 set_store_tell(const SetStore *store);

/*
 * Find the number of the next set, false if there is none; and then read the
 * set, valid until the next call, or skip it.  JoinSet.key.high is its
 * position.
 */
extern bool set_store_next(SetStore *store, uint32 *number);
extern JoinSet *set_store_read(SetStore *store);
extern void set_store_skip(SetStore *store);

/*
 * Read the values of a set at a place of their file, which has that number,
 * into the arena, after room for a bitmap.
 */
extern void set_store_read_values(SetStore *store, uint64 place,
								  uint32 number, JoinSet *set, Arena *arena);

#endif							/* NEARDUP_SET_STORE_H */
