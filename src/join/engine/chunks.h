/*
 * chunks.h
 *		The sets of a join on disk, read in chunks that fit into memory.
 */
#ifndef NEARDUP_CHUNKS_H
#define NEARDUP_CHUNKS_H

#include "join/engine/join_state.h"

typedef struct Chunks
{
	size_t		max_bytes;		/* that a chunk may take */
	Arena		arena;			/* of its values, keys and rows */
	uint32		max_sets;		/* allocated in join->search.sets */
	SpillReader keys;			/* if chunks are of keys */
	SpillReader *reader;		/* of keys or else of sets */
	uint64		this_chunk;		/* offset in that file */
	uint64		next_chunk;
	uint64		first_probe;	/* offset of the first set large enough to probe, if the
								 * measure is not symmetric */
	JoinSet		probe;			/* whose keys were read last */
	struct Deferred *deferred;	/* see deferred.h */
} Chunks;

/* The set file is complete; `fixed` bytes of the join's memory are used otherwise. */
extern void chunks_create(SetJoin *join, size_t fixed);

/* Write the keys of a prepared set.  All are written: chunks are of keys from now on. */
extern void keys_write(SpillFile *file, const JoinSet *set);
extern void chunks_of_keys(SetJoin *join);

/*
 * Load the next chunk into join->search.sets; false if there is none.  A chunk has at
 * least one set, however large.
 */
extern bool chunks_next(SetJoin *join);

/* Free the sets of the last chunk. */
extern void chunks_free_sets(SetJoin *join);

/*
 * The keys of the sets that probe the chunk, one after another: from its first set on or,
 * if the measure is not symmetric, of all that are large enough.  NULL at the end.
 */
extern void chunks_begin_keys(SetJoin *join);
extern JoinSet *chunks_next_keys(SetJoin *join);

/* setfile_next() will read the sets that probe the chunk and are not in it. */
extern void chunks_begin_stream(SetJoin *join);

#endif							/* NEARDUP_CHUNKS_H */
