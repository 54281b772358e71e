/*
 * engine_params.h
 *		What a similarity join is given, and what it counts.
 *
 * Shared by all files of this folder: it includes none of them.
 */
#ifndef NEARDUP_ENGINE_PARAMS_H
#define NEARDUP_ENGINE_PARAMS_H

#include "port/atomics.h"

#include "signature/sets.h"

struct Algorithm;
struct FileSet;
struct SharedAreas;
struct SharedSets;
struct SharedValues;

typedef struct JoinEngine JoinEngine;

typedef enum JoinSide
{
	SIDE_OUTER = 0,
	SIDE_INNER = 1,
} JoinSide;

#define OTHER_SIDE(side) ((side) == SIDE_OUTER ? SIDE_INNER : SIDE_OUTER)

/*
 * Takes a row of a side and the n values of its set; n = 0: it has none.
 */
typedef void (*RowCallback) (void *arg, JoinSide side, const uint64 *values,
							 uint32 n, const void *row, uint32 len);

/* Counters for EXPLAIN ANALYZE. */
typedef struct EngineStats
{
	const char *algorithm;		/* name of the algorithm that finds candidates */
	uint64		sets;			/* rows with a set that is not empty */
	uint64		distinct;		/* distinct sets among them */
	uint64		postings;		/* postings of prefix indexes */
	uint64		visited;		/* postings read, where they are not shared */
	uint64		candidates;		/* pairs of sets that shared a token of their
								 * prefixes and passed all filters before
								 * verification */
	uint64		removed_size;	/* postings skipped by size */
	uint64		removed_features;	/* rows that share too little with the
									 * other side */
	uint64		removed_position;	/* pairs, by the positional filter, each
									 * time that they share a token */
	uint64		removed_suffix; /* pairs, by the suffix filter */
	uint64		removed_bitmap; /* pairs, by the bitmaps */
	uint64		removed_coordinates;	/* pairs of dense vectors that their
										 * first coordinates leave, by more of
										 * them */
	uint64		verified;		/* pairs compared element by element */
	uint64		matches;		/* pairs of distinct sets that reach the
								 * threshold, identical ones not counted */
	uint64		alone;			/* rows that were not paired with themselves */
	uint64		memory;			/* most bytes held at once */
	uint64		disk;			/* bytes written to temporary files */
	uint64		batches;		/* chunks that were indexed */
} EngineStats;

typedef struct EngineParams
{
	const struct Algorithm *algorithm;	/* how candidates are found, search.h */
	Measure		measure;		/* measure of an outer set and an inner set */
	double		threshold;		/* threshold of that measure */
	bool		self_join;		/* both sides have the same rows, which are
								 * added on the outer side only */
	bool		apart;			/* true if, in a self-join, no row is paired
								 * with itself */
	bool		either_order;	/* true if, in a self-join with a symmetric
								 * measure, two different groups are emitted
								 * once, not as (x, y) and (y, x) */
	bool		keep_empty[2];	/* true if rows without features are kept, for
								 * engine_rows(); by JoinSide */
	bool		keep_unmatched; /* true if outer rows without a match are
								 * kept, too */
	size_t		memory;			/* bytes to stay within */

	const char *secret;			/* JOIN_SECRET random bytes, where several
								 * engines have the same rows; NULL: any */

	/*
	 * Several engines each add a part of the rows and prepare the sets
	 * together, see shared_sets.h.  NULL: this engine is alone.
	 */
	struct SharedSets *shared;
	struct SharedAreas *areas;	/* shared memory for rows and sets */
	struct SharedValues *known; /* values that are there already */
	struct FileSet *files;		/* files for them if memory is full */
	int			part;			/* number of this one, from 0 */
} EngineParams;

#endif							/* NEARDUP_ENGINE_PARAMS_H */
