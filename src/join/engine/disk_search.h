/*
 * disk_search.h
 *		The search on disk: by chunks, by deferred candidates.
 */
#ifndef NEARDUP_DISK_SEARCH_H
#define NEARDUP_DISK_SEARCH_H

#include "join/engine/join_state.h"

/* Candidates whose sets are on disk, to be compared later */

/*
 * Shares of the memory, in percent: of a chunk of keys; of pairs of candidates; of a
 * block of sets that are compared, while there is a chunk and after the last one.
 */
#define DEFERRED_CHUNK_SHARE	62
#define DEFERRED_PAIRS_SHARE	16
#define DEFERRED_BLOCK_SHARE	12
#define DEFERRED_LAST_SHARE		72

/* An empty list in the current memory context. */
extern struct Deferred *deferred_create(size_t memory);

/* Add a pair.  All candidates of a set that probes are added, however many. */
extern void deferred_add(SetJoin *join, const JoinSet *indexed, const JoinSet *probing);

/* Whether there are enough pairs to be compared. */
extern bool deferred_is_full(SetJoin *join);

/* Begin to compare; false if there are no pairs.  After the last chunk there is more room. */
extern bool deferred_begin(SetJoin *join, bool last);

/* The next set that probed, without rows, and then its candidates; NULL at the end. */
extern JoinSet *deferred_next_probe(SetJoin *join);
extern JoinSet *deferred_next_candidate(SetJoin *join);

/* The sets of a join on disk, read in chunks that fit into memory */

typedef struct Chunks
{
	size_t		max_bytes;		/* that a chunk may take */
	Arena		arena;			/* of its values, keys and rows */
	uint32		max_sets;		/* allocated in join->search.sets */
	SpillReader keys;			/* if chunks are of keys */
	SpillReader *reader;		/* of keys or else of sets */
	uint64		this_chunk;		/* offset in that file */
	uint64		next_chunk;
	uint64		first_probe;	/* offset of the first set large enough to
								 * probe, if the measure is not symmetric */
	JoinSet		probe;			/* whose keys were read last */
	struct Deferred *deferred;
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

/* The search of a join whose sets are on disk */

/* Begin the search, once spill_read_keys() has been called. */
extern void disk_search_begin(SetJoin *join);

#endif							/* NEARDUP_DISK_SEARCH_H */
