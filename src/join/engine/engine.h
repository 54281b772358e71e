/*
 * engine.h
 *		The similarity join: all pairs of rows whose sets reach a threshold.
 *
 * Rows of two sides, outer and inner, are added with their sets.  Identical
 * sets of both sides are collapsed and joined once.  The engine returns pairs
 * of groups; a group is the rows of one side with one set.  To the engine a
 * row is a string of bytes, and the algorithm decides which sets match, see
 * search.h.
 *
 * Nothing in this folder depends on the planner, the executor or SQL types.
 */
#ifndef NEARDUP_ENGINE_H
#define NEARDUP_ENGINE_H

#include "join/engine/engine_params.h"

struct Row;
struct RowReader;

/* The rows of one side that carry one set; opaque, NULL if there is none. */
typedef const struct Row *RowGroup;

/* Reads the rows of a group one after another. */
typedef struct RowCursor
{
	RowGroup	next;			/* next row in memory */
	struct SharedAreas *areas;	/* areas that the rows are in; NULL: none */
	struct RowReader *reader;	/* reader of rows in a file, or NULL */
	uint64		left;			/* rows left in the file's range */
} RowCursor;

/*
 * An engine and all that it holds live in a memory context of their own below
 * the current one; engine_end() or the end of the current context frees it.
 */
extern JoinEngine *engine_begin(const EngineParams *params);
extern void engine_end(JoinEngine *join);

/*
 * Before the first row with a set: replace the algorithm, measure and
 * threshold of params.
 */
extern void engine_set_condition(JoinEngine *join,
								 const struct Algorithm *algorithm,
								 Measure measure,
								 double threshold);

/*
 * Add a row of `side` with its set of n values, as the algorithm defines them:
 * features are distinct and rise.  Row and values are copied.  Rows of a side
 * are numbered from zero.
 */
extern void engine_add(JoinEngine *join, JoinSide side, const uint64 *values,
					   uint32 n,
					   const void *row, uint32 len);

/* Number of rows added on a side, including those that were not kept. */
extern uint32 engine_rows_added(const JoinEngine *join, JoinSide side);

/*
 * All rows of one side have been added: from now on, rows of the other side
 * that certainly have no match may be dropped.  The second ends that.
 */
extern void engine_filter_by_added(JoinEngine *join);
extern void engine_filter_end(JoinEngine *join);

/*
 * As engine_filter_by_added(), if the sets of one side, of nfeatures values
 * together, are known before any row is added: announce each of them.
 */
extern void engine_filter_begin(JoinEngine *join, uint64 nfeatures);
extern void engine_filter_add(JoinEngine *join, const uint64 *values,
							  uint32 n);

/* Rows added on the outer side. */
extern uint32 engine_outer_rows(const JoinEngine *join);

/*
 * End adding and begin the search.  Engines with the same rows in the same
 * order divide the probes by the counter `claimed`, so that each pair is
 * emitted once.  NULL: this engine makes all probes.
 */
extern void engine_build(JoinEngine *join, pg_atomic_uint64 *claimed);

/*
 * Return the next pair of groups whose sets reach the threshold; false at the
 * end.  Groups are valid until the next call.  In a self-join a set is paired
 * with itself as one group.
 */
extern bool engine_next(JoinEngine *join, RowGroup *outer, RowGroup *inner);

/* The sets of the last pair, which are valid as long as its groups. */
struct JoinSet;
extern void engine_pair_sets(const JoinEngine *join,
							 const struct JoinSet **outer,
							 const struct JoinSet **inner);

/*
 * True if the last two calls of engine_next() returned one inner group, with
 * its rows in place.
 */
extern bool engine_inner_stays(const JoinEngine *join);

/*
 * Read a group's rows.  row_next returns NULL at the end; what it returns is
 * valid until the next row_next on the same side, or, in memory, until
 * engine_next.
 */
extern void rows_begin(JoinEngine *join, JoinSide side, RowGroup group,
					   RowCursor *cursor);
extern const void *rows_next(RowCursor *cursor, uint32 *rowno);

/*
 * Read the rows after the current row of another cursor on the group; false if
 * they are in a file.
 */
extern bool rows_begin_behind(const RowCursor *row, RowCursor *cursor);

/*
 * Begin to read all kept rows of a side, before the first engine_next() or
 * after the last one.
 */
extern void engine_rows(JoinEngine *join, JoinSide side);
extern const void *engine_rows_next(JoinEngine *join, JoinSide side,
									uint32 *rowno);

/*
 * Several processes, whose parameters have `shared`.  Each adds a part of the
 * rows, and publishes them unless it has gone to disk.  Then all prepare the
 * sets together; they must be attached to the barrier, and are detached.
 */
extern bool engine_sharable(const struct Algorithm *algorithm);
extern void engine_publish(JoinEngine *join);
extern void engine_share(JoinEngine *join);

/* True if memory is full; and if the numbers of shared rows are used up. */
extern bool engine_is_full(const JoinEngine *join);
extern bool engine_numbers_used_up(const JoinEngine *join);

/* Go to disk, unless this process has; the algorithm must be the final one. */
extern void engine_spill_shared(JoinEngine *join);

/*
 * True if it has gone to disk; frees its shared memory once no other process
 * reads it.
 */
extern bool engine_is_spilled(JoinEngine *join);

/*
 * Emit the rows of this process and their sets instead, rows of both sides
 * once.
 */
extern void engine_return_rows(JoinEngine *join, RowCallback callback,
							   void *arg);

extern const EngineStats *engine_stats(JoinEngine *join);
extern void engine_stats_add(EngineStats *sum, const EngineStats *stats);

#endif							/* NEARDUP_ENGINE_H */
