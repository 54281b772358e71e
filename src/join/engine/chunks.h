/*
 * chunks.h
 *		The sets of a join on disk, read in chunks that fit into memory.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/join/engine/chunks.h
 */
#ifndef NEARDUP_CHUNKS_H
#define NEARDUP_CHUNKS_H

#include "join/engine/probe_file.h"
#include "join/engine/setjoin.h"

typedef struct Chunks
{
	size_t		most_bytes;		/* that a chunk may take */
	Arena		arena;			/* of what its sets have, and their rows */
	uint32		max_sets;		/* room in join->search.sets */
	SpillFile	keys;			/* of all sets, if candidates are compared later */
	SpillFile  *key_files;		/* by process, if that is put together */
	int			nkey_files;
	SpillReader keys_reader;
	SpillReader *reader;		/* of what chunks are made of: keys or records */
	uint64		this_chunk;		/* where in that file it begins */
	uint64		next_chunk;		/* and the next one */
	JoinSet		probe;			/* the set that probes, if it has keys only */
	ProbeFile	probes;			/* sets that probe each chunk, if those are others */
} Chunks;

/*
 * The set file is complete.  `fixed` bytes of the join's memory are for other
 * things.  In join->search.context.
 */
extern void chunks_create(SetJoin *join, size_t fixed);

/*
 * Where candidates are compared later: makes and writes the keys of a set of the set file, and
 * returns false if it has none; all have been written, and chunks are of them from now on.
 */
extern bool chunks_write_keys(SetJoin *join, JoinSet *set);
extern void chunks_end_keys(SetJoin *join);

/*
 * Loads the next chunk into join->search.sets; false if there is none.  A chunk has
 * one set at least, however large.
 */
extern bool chunks_next(SetJoin *join);

/* Frees the sets of the chunk: no more will come. */
extern void chunks_free_sets(SetJoin *join);

/* chunks_next_probe() will read the sets of the chunk, then those behind it. */
extern void chunks_probe_from_this(SetJoin *join);

/*
 * chunks_next_probe() will read the sets behind the chunk; or those that may contain
 * one of it, where the measure is not symmetric.
 */
extern void chunks_probe_from_next(SetJoin *join);
extern void chunks_probe_all(SetJoin *join);

/*
 * The next set to probe the chunk, or NULL; valid until the next call.  Of
 * sets that are compared later it has the keys.
 */
extern JoinSet *chunks_next_probe(SetJoin *join);

/* True if that set is prepared; then its values come when they are asked for. */
extern bool chunks_probe_is_prepared(const SetJoin *join);
extern void chunks_read_probe_values(SetJoin *join, JoinSet *set);

/* Closes the files of keys and of sets that probe. */
extern void chunks_close(Chunks *chunks);

#endif							/* NEARDUP_CHUNKS_H */
