/*
 * engine.h
 *		The similarity join: all pairs of rows whose sets reach a threshold.
 *
 * Rows of two sides, outer and inner, are added with the set that each one
 * carries.  Identical sets are collapsed, over both sides, and joined once;
 * the engine then returns pairs of groups, a group being the rows of one
 * side that carry one set.  The engine does not know what a row holds: it
 * is a string of bytes, and what is near is the algorithm's, see search.h.
 *
 * Nothing in this folder knows of the planner, the executor or SQL types.
 */
#ifndef NEARDUP_ENGINE_H
#define NEARDUP_ENGINE_H

#include "port/atomics.h"

#include "signature/sets.h"

/* Bytes of the secret with which sets are hashed. */
#define JOIN_SECRET		192

typedef enum JoinSide
{
	SIDE_OUTER = 0,
	SIDE_INNER = 1,
} JoinSide;

#define OTHER_SIDE(side) ((side) == SIDE_OUTER ? SIDE_INNER : SIDE_OUTER)

/* Counters for EXPLAIN ANALYZE. */
typedef struct SetJoinStats
{
	const char *algorithm;		/* by which candidates are found */
	uint64		sets;			/* rows with a set that is not empty */
	uint64		distinct;		/* distinct sets among them */
	uint64		postings;		/* in prefix indexes */
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
	uint64		verified;		/* pairs compared element by element */
	uint64		matches;		/* pairs of distinct sets that reach the
								 * threshold, identical ones not counted */
	uint64		alone;			/* rows that were not paired with themselves */
	uint64		memory;			/* most bytes held at once */
	uint64		disk;			/* bytes written to temporary files */
	uint64		batches;		/* chunks that were indexed */
} SetJoinStats;

typedef struct SetJoinParams
{
	const struct Algorithm *algorithm;	/* how candidates are found, search.h */
	Measure		measure;		/* of an outer set and an inner set */
	double		threshold;		/* one of the measure */
	bool		self_join;		/* both sides have the same rows, which are
								 * added on the outer side only */
	bool		apart;			/* then: a row is not paired with itself */
	bool		either_order;	/* and with a symmetric measure: two different
								 * groups are emitted once, not as (x, y) and
								 * (y, x) */
	bool		keep_empty[2];	/* by JoinSide: rows without features are
								 * kept, for setjoin_rows() */
	bool		keep_unmatched; /* so are outer rows without a match */
	size_t		memory;			/* bytes to stay within */

	const char *secret;			/* JOIN_SECRET random bytes, where several
								 * engines have the same rows; NULL: any */

	/*
	 * Where each of several engines gets a part of the rows, and they prepare
	 * the sets together, see shared_sets.h.  NULL: they do not.
	 */
	struct SharedSets *shared;
	struct SharedAreas *areas;	/* where rows and sets will be */
	struct SharedValues *known; /* what values are there already */
	struct FileSet *files;		/* where they will be if memory does not do */
	int			part;			/* number of this one, from 0 */
} SetJoinParams;

typedef struct SetJoin SetJoin;
struct Row;
struct SharedAreas;
struct FileSet;

/* The rows of one side that carry one set; opaque, NULL if there is none. */
typedef const struct Row *RowGroup;

/* Reads the rows of a group one after another. */
typedef struct RowCursor
{
	RowGroup	next;			/* in memory */
	struct SharedAreas *areas;	/* that the rows are in; NULL: none */
	struct RowReader *reader;	/* or in a file */
	uint64		left;			/* rows left in the file's range */
} RowCursor;

/*
 * An engine and all that it holds live in a memory context of their own below the current one;
 * setjoin_end() or the end of the current context frees it.
 */
extern SetJoin *setjoin_begin(const SetJoinParams *params);
extern void setjoin_end(SetJoin *join);

/* Before the first row with a set: replace the algorithm, measure and threshold of params. */
extern void setjoin_use(SetJoin *join, const struct Algorithm *algorithm, Measure measure,
						double threshold);

/*
 * Add a row of `side` with its set of n values, as the algorithm wants them:
 * the features of a set are distinct and rise.  Row and values are copied.
 * Rows of a side are numbered from zero as they come.
 */
extern void setjoin_add(SetJoin *join, JoinSide side, const uint64 *values, uint32 n,
						const void *row, uint32 len);

/* Rows of a side that this engine has been given, those that it has not kept among them. */
extern uint32 setjoin_rows_added(const SetJoin *join, JoinSide side);

/*
 * All rows of one side have been added: those of the other side need not be kept if
 * they can have no match, and are not where that is found out at little cost.  The
 * second ends that: from then on rows are kept as they come.
 */
extern void setjoin_filter(SetJoin *join);
extern void setjoin_end_filter(SetJoin *join);

/*
 * The same where the sets of one side, of nfeatures values in all, are known before any
 * row is added: each of them is announced.
 */
extern void setjoin_begin_filter(SetJoin *join, uint64 nfeatures);
extern void setjoin_announce(SetJoin *join, const uint64 *values, uint32 n);

/* Rows added on the outer side. */
extern uint32 setjoin_outer_rows(const SetJoin *join);

/*
 * All rows have been added.  If several engines have the same rows in the same order, they
 * divide the probes by a counter of those that one of them has taken, and each pair is
 * emitted by one of them.  NULL: this one makes all.
 */
extern void setjoin_build(SetJoin *join, pg_atomic_uint64 *claimed);

/*
 * The next two groups, of an outer and an inner set that reach the
 * threshold; false if there are no more.  The groups are valid until the next
 * call.  In a self-join a set with itself is one group on both sides.
 */
extern bool setjoin_next(SetJoin *join, RowGroup *outer, RowGroup *inner);

/*
 * True if the inner group that setjoin_next() returned last was that of the call before,
 * too, with the same rows at the same places.
 */
extern bool setjoin_inner_stays(const SetJoin *join);

/*
 * Read a group's rows.  row_next returns NULL at the end; what it returns is valid until the
 * next row_next on the same side, or, in memory, until setjoin_next.
 */
extern void rows_begin(SetJoin *join, JoinSide side, RowGroup group, RowCursor *cursor);
extern const void *rows_next(RowCursor *cursor, uint32 *rowno);

/*
 * Read those of the same group that come after the current row of another cursor;
 * false if it cannot, as they are in a file.
 */
extern bool rows_begin_behind(const RowCursor *row, RowCursor *cursor);

/*
 * Begin to read all rows of a side, empty sets' rows included as far as they were kept, before
 * the first setjoin_next() or after the last one; setjoin_rows_next reads on.
 */
extern void setjoin_rows(SetJoin *join, JoinSide side);
extern const void *setjoin_rows_next(SetJoin *join, JoinSide side, uint32 *rowno);

/*
 * Several processes, whose parameters have `shared`.  Each adds a part of the rows, and
 * publishes them unless it has gone to disk; when all have, they prepare the sets
 * together, attached to the barrier, which they leave.
 */
extern bool setjoin_sharable(const struct Algorithm *algorithm);
extern void setjoin_publish(SetJoin *join);
extern void setjoin_share(SetJoin *join);

/* Whether memory is used up, and whether shared rows have no more numbers. */
extern bool setjoin_is_full(const SetJoin *join);
extern bool setjoin_numbers_used_up(const SetJoin *join);

/* Go to disk, unless this process has; the algorithm must be the final one. */
extern void setjoin_spill_shared(SetJoin *join);

/* Whether it has; frees its shared memory as soon as no other process reads it. */
extern bool setjoin_is_spilled(SetJoin *join);

/* Emit the rows of this process and their sets instead; those of both sides once. */
typedef void (*RowCallback) (void *arg, JoinSide side, const uint64 *values,
							 uint32 n, const void *row, uint32 len);
extern void setjoin_return_rows(SetJoin *join, RowCallback callback, void *arg);

/* Draw a secret; raise an error if there is no source of random bits. */
extern void join_secret_draw(char *secret);

extern const SetJoinStats *setjoin_stats(SetJoin *join);
extern void setjoin_stats_add(SetJoinStats *sum, const SetJoinStats *stats);

#endif							/* NEARDUP_ENGINE_H */
