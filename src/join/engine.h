/*
 * engine.h
 *		The similarity join: all pairs of rows whose sets reach a threshold.
 *
 * Rows of two sides, outer and inner, are added with the set that each one
 * carries.  Identical sets are collapsed, over both sides, and joined once;
 * the engine then returns pairs of groups, a group being the rows of one
 * side that carry one set.  What a row holds is nobody's business here: it
 * is a string of bytes.
 *
 * Nothing in this folder but plan.c, selfjoin.c, exec.c, makings.c,
 * comparison.c and explain.c knows of the planner, the executor or SQL types.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/join/engine.h
 */
#ifndef NEARDUP_JOIN_ENGINE_H
#define NEARDUP_JOIN_ENGINE_H

#include "algebra.h"
#include "methods/keys.h"

typedef enum JoinSide
{
	SIDE_OUTER = 0,
	SIDE_INNER = 1,
} JoinSide;

/* How candidates are found; all find the same pairs. */
typedef enum JoinAlgorithm
{
	ALGORITHM_AUTO,				/* PPJoin, which has always been the fastest */
	ALGORITHM_PPJOIN,
	ALGORITHM_PPJOIN_PLUS,
	ALGORITHM_PROBE_COUNT,
	ALGORITHM_PAIR_COUNT,
	ALGORITHM_PROBE_STOPWORDS,
	ALGORITHM_PROBE_OPTMERGE,
	ALGORITHM_ALL_PAIRS_0,
	ALGORITHM_ALL_PAIRS_1,
	ALGORITHM_ALL_PAIRS_2,
	ALGORITHM_WORD_GROUPS,
} JoinAlgorithm;

typedef struct SetJoinParams
{
	JoinAlgorithm algorithm;
	Measure		measure;		/* of an outer set and an inner set */
	double		threshold;		/* 0 < threshold <= 1 */
	bool		self_join;		/* both sides have the same rows, which are
								 * added on the outer side only */
	bool		keep_empty[2];	/* by JoinSide: rows without features are kept,
								 * for setjoin_rows() */
	size_t		memory;			/* bytes to stay within */
} SetJoinParams;

/*
 * Sets of a kind that only their maker understands, such as sketches: near
 * ones are found by keys, see methods/keys.h, which these functions append
 * to the list as signature_row_keys() and signature_query_keys() do.  The
 * condition is symmetric.
 */
typedef struct KeyedSets
{
	void		(*row_keys) (const uint64 *values, double threshold,
							 KeyList *keys);
	bool		(*query_keys) (const uint64 *values, double threshold,
							   KeyList *keys, uint32 *need);
	bool		(*near) (const uint64 *a, const uint64 *b, double threshold);
} KeyedSets;

/*
 * Vectors are joined by their cosine or, the measure being that of Jaccard, by
 * their weighted resemblance.  The values of one with n features are
 * VECTOR_VALUES(n) numbers: as a double, the sum of the squares of its weights
 * for the cosine, of the weights themselves for the resemblance; the features,
 * rising; and the weights as floats, two in a number.
 */
#define VECTOR_VALUES(n)	(1 + (n) + ((n) + 1) / 2)

/* What EXPLAIN ANALYZE tells. */
typedef struct SetJoinStats
{
	const char *algorithm;		/* by which candidates are found */
	uint64		sets;			/* rows with a set that is not empty */
	uint64		distinct;		/* distinct sets among them */
	uint64		postings;		/* places in prefix indexes */
	uint64		visited;		/* postings looked at */
	uint64		candidates;		/* pairs of sets that shared a token of their
								 * prefixes and passed all filters before
								 * verification */
	uint64		removed_size;	/* postings passed over by size */
	uint64		removed_position;	/* pairs, by the positional filter */
	uint64		removed_suffix; /* pairs, by the suffix filter */
	uint64		removed_bitmap; /* pairs, by the bitmaps */
	uint64		verified;		/* pairs compared element by element */
	uint64		matches;		/* pairs of distinct sets that reach the
								 * threshold, identical ones not counted */
	uint64		memory;			/* most bytes held at once */
	uint64		disk;			/* bytes written to temporary files */
	uint64		batches;		/* parts in which the index was built */
} SetJoinStats;

typedef struct SetJoin SetJoin;
typedef struct Row Row;

/* The rows of one side that carry one set; opaque, NULL if there is none. */
typedef const Row *RowGroup;

/* Reads the rows of a group one after another. */
typedef struct RowCursor
{
	const Row  *next;			/* in memory */
	struct RowReader *reader;	/* or in a file */
	uint64		left;			/* rows left in the file's range */
} RowCursor;

/*
 * An engine and all that it holds live in a memory context of their own
 * below the current one; setjoin_end() or the end of the current context
 * frees it.
 */
extern SetJoin *setjoin_begin(const SetJoinParams *params);
extern void setjoin_end(SetJoin *join);

/* Before the first row: the sets that will come are keyed ones. */
extern void setjoin_keyed(SetJoin *join, const KeyedSets *keyed);

/* Likewise: vectors. */
extern void setjoin_vectors(SetJoin *join);

/*
 * Adds a row of `side` with its set of n values, distinct and rising; row and
 * values are copied.  Rows of a side are numbered from zero as they come.
 */
extern void setjoin_add(SetJoin *join, JoinSide side,
						const uint64 *values, uint32 n,
						const void *row, uint32 len);

/* Rows added on the outer side. */
extern uint32 setjoin_outer_rows(const SetJoin *join);

/* All rows have been added. */
extern void setjoin_build(SetJoin *join);

/*
 * The next two groups, of an outer and an inner set that reach the
 * threshold; false if there are no more.  The groups are valid until the next
 * call.
 */
extern bool setjoin_next(SetJoin *join, RowGroup *outer, RowGroup *inner);

/*
 * Reads a group's rows.  row_next returns NULL at the end; what it returns is
 * valid until the next row_next on the same side, or, in memory, until
 * setjoin_next.
 */
extern void rows_begin(SetJoin *join, JoinSide side, RowGroup group,
					   RowCursor *cursor);
extern const void *rows_next(RowCursor *cursor, uint32 *rowno);

/*
 * Begins to read all rows of a side, empty sets' rows included as far as they
 * were kept, before the first setjoin_next() or after the last one;
 * setjoin_rows_next reads on.
 */
extern void setjoin_rows(SetJoin *join, JoinSide side);
extern const void *setjoin_rows_next(SetJoin *join, JoinSide side,
									 uint32 *rowno);

extern const SetJoinStats *setjoin_stats(SetJoin *join);
extern void setjoin_stats_add(SetJoinStats *sum, const SetJoinStats *stats);

/* The algorithm's name, as in the setting; what AUTO stands for. */
extern const char *setjoin_algorithm_name(JoinAlgorithm algorithm);

#endif							/* NEARDUP_JOIN_ENGINE_H */
