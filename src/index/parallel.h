/*
 * parallel.h
 *		Building an index by several processes.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/index/parallel.h
 */
#ifndef NEARDUP_PARALLEL_H
#define NEARDUP_PARALLEL_H

#include "nodes/execnodes.h"

#include "index/build.h"

typedef struct ParallelBuild ParallelBuild;

/* Starts workers; NULL if there are none. */
extern ParallelBuild *parallel_begin(Build *build, Relation heap,
									 IndexInfo *info);

/*
 * Reads the table together with the workers.  Returns how many rows it has; all
 * segments are then in the build, in files that are there until the end.
 */
extern double parallel_scan(ParallelBuild *parallel, Build *build,
							Relation heap, IndexInfo *info);
extern void parallel_end(ParallelBuild *parallel);

/* The number of a spec, the same for all processes. */
extern uint16 parallel_spec(struct SharedBuild *shared, IndexMeta *meta,
							  const SignatureSpec *spec);

#endif							/* NEARDUP_PARALLEL_H */
