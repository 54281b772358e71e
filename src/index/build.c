/*
 * build.c
 *		Building an index of access method neardup, and inserting into it.
 *
 * Rows are collected in maintenance_work_mem and written as a segment.  If
 * they do not fit, several segments go to a temporary file and are merged into
 * the index.  One process does everything: when workers sorted parts, the
 * leader merged all lists, which took as long.
 */
#include "postgres.h"

#include "access/tableam.h"
#include "access/xloginsert.h"
#include "catalog/index.h"
#include "commands/progress.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "utils/backend_progress.h"
#include "utils/memutils.h"

#include "base/memory.h"
#include "index/access.h"
#include "index/segment_writer.h"
#include "index/segments.h"

/* Phases that pg_stat_progress_create_index shows */
#define PHASE_READING	PROGRESS_CREATEIDX_SUBPHASE_INITIALIZE
#define PHASE_WRITING	(PHASE_READING + 1)

/* State of a build */
typedef struct Build
{
	PageStore	index;
	PageStore	file;			/* used if rows do not fit into memory */
	IndexMeta  *meta;			/* metapage of the finished index */
	uint64		memory;			/* bytes that rows may take */
	Batch	   *batch;
	SegmentInfo *segments;		/* segments in the file */
	size_t		segments_size;
	uint32		nsegments;
	MemoryContext row;			/* reset for each row */
	double		nrows;
} Build;

/* Write the rows in memory to the temporary file. */
static void
build_spill(Build *build)
{
	if (build->file.file == NULL)
		build->file.file = BufFileCreateTemp(false);
	build->segments = growing_reserve(build->segments, &build->segments_size,
									  (size_t) build->nsegments + 1,
									  sizeof(SegmentInfo));
	build->segments[build->nsegments] = batch_write(build->batch, &build->file,
													build->nsegments + 1);
	build->nsegments++;
	batch_free(build->batch);
	build->batch = batch_create();
}

/* Callback of the table scan: add a row. */
static void
build_add_row(Relation index, ItemPointer tid, Datum *values, bool *isnull,
			  bool alive, void *state)
{
	Build	   *build = state;
	IndexedRow	row;
	MemoryContext old = MemoryContextSwitchTo(build->row);
	Signature  *sig;

	/* prefetch the next row, if the columns before this one are small */
	if (!isnull[0])
		fetch_before(DatumGetPointer(values[0]),
					 VARSIZE_ANY(DatumGetPointer(values[0])));
	sig = isnull[0] ? NULL : indexed_signature(index, values[0]);
	indexed_row_set(&row, sig);
	row.tid = *tid;
	batch_add(build->batch, &row);
	MemoryContextSwitchTo(old);
	MemoryContextReset(build->row);
	build->nrows++;
	if (batch_memory(build->batch) > build->memory || batch_full(build->batch))
		build_spill(build);
}

/*
 * Write the segments of the index.  There is one, unless merging all rows does
 * not fit into memory.
 */
static void
build_finish(Build *build)
{
	IndexMeta  *meta = build->meta;
	uint32		i = 0;

	if (build->nsegments == 0)
	{
		if (build->batch->nrows > 0)
			meta->segments[meta->nsegments++] =
				batch_write(build->batch, &build->index,
							meta->next_segment_id++);
		return;
	}
	if (build->batch->nrows > 0)
		build_spill(build);
	while (i < build->nsegments)
	{
		uint64		rows = build->segments[i].nrows;
		uint32		n = 1;
		uint64		most = Max((uint64) maintenance_work_mem * 1024,
							   MERGE_MEMORY(UINT64CONST(1) << 20));
		SegmentInfo *segment = &meta->segments[meta->nsegments];

		Assert(meta->nsegments < MAX_SEGMENTS);
		while (i + n < build->nsegments &&
			   (meta->nsegments + 1 == MAX_SEGMENTS ||
				MERGE_MEMORY(rows +
							 build->segments[i + n].nrows) <= most))
			rows += build->segments[i + n++].nrows;
		*segment = segments_merge(&build->file, &build->segments[i], n,
								  &build->index, meta->next_segment_id++);
		segment->oldest = segment->segment_id;
		meta->nsegments++;
		i += n;
	}
	BufFileClose(build->file.file);
}

IndexBuildResult *
am_build(Relation heap, Relation index, struct IndexInfo *info)
{
	Build		build = {{.index = index,.building = true}};
	IndexBuildResult *result = palloc0(sizeof(IndexBuildResult));
	PGAlignedBlock page;

	if (RelationGetNumberOfBlocks(index) != 0)
		elog(ERROR, "index \"%s\" already contains data",
			 RelationGetRelationName(index));
	ReleaseBuffer(ReadBuffer(index, P_NEW));	/* the metapage */
	meta_init(page.data);
	build.meta = META_OF(page.data);
	build.memory = (uint64) maintenance_work_mem * 1024;
	build.batch = batch_create();
	build.row = AllocSetContextCreate(CurrentMemoryContext, "neardup row",
									  ALLOCSET_DEFAULT_SIZES);
	result->heap_tuples =
		table_index_build_scan(heap, index, info, true, true, build_add_row,
							   &build, NULL);
	pgstat_progress_update_param(PROGRESS_CREATEIDX_SUBPHASE, PHASE_WRITING);
	build_finish(&build);
	page_write(&build.index, META_BLOCK, page.data);
	if (RelationNeedsWAL(index))
		log_newpage_range(index, MAIN_FORKNUM, 0,
						  RelationGetNumberOfBlocks(index), true);
	batch_free(build.batch);
	MemoryContextDelete(build.row);
	result->index_tuples = build.nrows;
	return result;
}

char *
am_build_phase(int64 phase)
{
	switch (phase)
	{
		case PHASE_READING:
			return "reading table";
		case PHASE_WRITING:
			return "writing segments";
		default:
			return NULL;
	}
}

void
am_build_empty(Relation index)
{
	Buffer		buffer = ReadBufferExtended(index, INIT_FORKNUM, P_NEW,
											RBM_NORMAL, NULL);

	LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
	START_CRIT_SECTION();
	meta_init(BufferGetPage(buffer));
	MarkBufferDirty(buffer);
	log_newpage_buffer(buffer, true);
	END_CRIT_SECTION();
	UnlockReleaseBuffer(buffer);
}

bool
am_insert(Relation index, Datum *values, bool *isnull, ItemPointer tid,
		  Relation heap, IndexUniqueCheck unique, bool unchanged,
		  struct IndexInfo *info)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext,
												  "neardup insert",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	IndexedRow	row;

	indexed_row_set(&row, isnull[0] ? NULL :
					indexed_signature(index, values[0]));
	row.tid = *tid;
	pending_insert(index, &row);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
	return false;
}
