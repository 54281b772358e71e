/*
 * build.h
 *		What one process has of the index that it builds.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/index/build.h
 */
#ifndef NEARDUP_BUILD_H
#define NEARDUP_BUILD_H

#include "index/batch.h"

struct SharedBuild;

typedef struct Build
{
	PageStore	index;
	PageStore	file;			/* if rows do not fit into memory */
	IndexMeta *meta;			/* as it will be */
	struct SharedBuild *shared; /* with other processes, or NULL */
	uint64		memory;			/* bytes that rows may take */
	Batch	   *batch;
	SegmentInfo *segments;		/* in files */
	size_t		segments_size;
	PageStore **stores;			/* and in which */
	size_t		stores_size;
	uint32		nsegments;
	MemoryContext row;			/* reset for each row */
	double		nrows;
} Build;

/* Makes it ready for rows. */
extern void build_begin(Build *build, uint64 memory);

/* Takes a row of the table: what table_index_build_scan() calls. */
extern void build_add_row(Relation index, ItemPointer tid, Datum *values,
						  bool *isnull, bool alive, void *build);

/* Writes the rows at hand to the temporary file. */
extern void build_spill(Build *build);

/* Notes a segment in a file. */
extern void build_add_segment(Build *build, const SegmentInfo *segment,
							  PageStore *store);

#endif							/* NEARDUP_BUILD_H */
