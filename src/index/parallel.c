/*
 * parallel.c
 *		Building an index by several processes.
 *
 * Each of them, the leader too, reads some pages of the table, sorts what it
 * finds, and writes segments to a file of its own, as one alone does where memory
 * is short.  The leader merges them all.  That is a third of the work or more, so
 * that more than a few workers are of little use.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/index/parallel.c
 */
#include "postgres.h"

#include <fcntl.h>

#include "access/genam.h"
#include "access/parallel.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/index.h"
#include "miscadmin.h"
#include "optimizer/optimizer.h"
#include "storage/lwlock.h"
#include "storage/sharedfileset.h"
#include "utils/snapmgr.h"

#include "base/compat.h"
#include "index/parallel.h"
#include "index/pending.h"

#define KEY_BUILD			UINT64CONST(0x6e64000000000001)
#define KEY_SCAN			UINT64CONST(0x6e64000000000002)

typedef struct SharedBuild
{
	Oid			heap;
	Oid			index;
	bool		concurrent;
	uint64		memory;			/* of each process */
	SharedFileSet files;
	LWLock		lock;			/* of what follows */
	IndexMeta meta;			/* its specs only */
	bool		broken_hot_chain;
	double		heap_rows;		/* of the workers */
	double		rows;
	uint32		nsegments[FLEXIBLE_ARRAY_MEMBER];	/* of each worker */
} SharedBuild;

struct ParallelBuild
{
	ParallelContext *context;
	Snapshot	snapshot;
	SharedBuild *shared;
	ParallelTableScanDesc scan;
	PageStore  *stores;			/* of workers */
	int			nstores;
};

PGDLLEXPORT void neardup_build_worker(dsm_segment *seg, shm_toc *toc);

/* The files of a worker: its segments, and what the metapage is to know of them */

static BufFile *
create_file(SharedBuild *shared, const char *what)
{
	char		name[MAXPGPATH];

	snprintf(name, sizeof(name), "%s%d", what, ParallelWorkerNumber);
	return BufFileCreateFileSet(&shared->files.fs, name);
}

static BufFile *
open_file(SharedBuild *shared, const char *what, int worker)
{
	char		name[MAXPGPATH];

	snprintf(name, sizeof(name), "%s%d", what, worker);
	return BufFileOpenFileSet(&shared->files.fs, name, O_RDONLY, false);
}

static void
finish_file(BufFile *file)
{
	BufFileExportFileSet(file);
	BufFileClose(file);
}

/* Workers */

/* Leaves to the leader what a worker has made. */
static void
hand_over(Build *build, double heap_rows, bool broken_hot_chain)
{
	SharedBuild *shared = build->shared;
	BufFile    *infos = create_file(shared, "infos");

	if (build->nsegments > 0)
		BufFileWrite(infos, build->segments,
					 build->nsegments * sizeof(SegmentInfo));
	finish_file(infos);
	finish_file(build->file.file);
	LWLockAcquire(&shared->lock, LW_EXCLUSIVE);
	shared->nsegments[ParallelWorkerNumber] = build->nsegments;
	shared->heap_rows += heap_rows;
	shared->rows += build->nrows;
	shared->broken_hot_chain |= broken_hot_chain;
	LWLockRelease(&shared->lock);
}

void
neardup_build_worker(dsm_segment *seg, shm_toc *toc)
{
	SharedBuild *shared = shm_toc_lookup(toc, KEY_BUILD, false);
	Relation	heap = table_open(shared->heap, shared->concurrent ?
								  ShareUpdateExclusiveLock : ShareLock);
	Relation	index = index_open(shared->index, shared->concurrent ?
								   RowExclusiveLock : AccessExclusiveLock);
	IndexInfo  *info = BuildIndexInfo(index);
	PGAlignedBlock page;
	Build		build = {.shared = shared};
	double		heap_rows;

	info->ii_Concurrent = shared->concurrent;
	SharedFileSetAttach(&shared->files, seg);
	meta_init(page.data);
	build.meta = META_OF(page.data);
	build.file.file = create_file(shared, "pages");
	build_begin(&build, shared->memory);
	heap_rows = table_index_build_scan(heap, index, info, true, false,
									   build_add_row, &build,
									   compat_beginscan_parallel(heap, shm_toc_lookup(toc, KEY_SCAN, false)));
	if (build.batch->nrows > 0)
		build_spill(&build);
	hand_over(&build, heap_rows, info->ii_BrokenHotChain);
	index_close(index, NoLock);
	table_close(heap, NoLock);
}

uint16
parallel_spec(SharedBuild *shared, IndexMeta *meta, const SignatureSpec *spec)
{
	uint16		number;

	LWLockAcquire(&shared->lock, LW_EXCLUSIVE);
	number = spec_number_add(&shared->meta, spec);
	meta->nspecs = shared->meta.nspecs;
	memcpy(meta->specs, shared->meta.specs, sizeof(meta->specs));
	LWLockRelease(&shared->lock);
	return number;
}

/* The leader */

static void
init_shared(ParallelBuild *parallel, Build *build, Relation heap,
			IndexInfo *info, int nworkers)
{
	ParallelContext *context = parallel->context;
	Size		size = offsetof(SharedBuild, nsegments) +
		nworkers * sizeof(uint32);
	SharedBuild *shared = shm_toc_allocate(context->toc, size);

	memset(shared, 0, size);
	shared->heap = RelationGetRelid(heap);
	shared->index = RelationGetRelid(build->index.index);
	shared->concurrent = info->ii_Concurrent;
	shared->memory = (uint64) maintenance_work_mem * 1024 / (nworkers + 1);
	SharedFileSetInit(&shared->files, context->seg);
	LWLockInitialize(&shared->lock, LWTRANCHE_PARALLEL_QUERY_DSA);
	shm_toc_insert(context->toc, KEY_BUILD, shared);
	parallel->shared = shared;
	parallel->scan = shm_toc_allocate(context->toc,
									  table_parallelscan_estimate(heap, parallel->snapshot));
	table_parallelscan_initialize(heap, parallel->scan, parallel->snapshot);
	shm_toc_insert(context->toc, KEY_SCAN, parallel->scan);
}

/* Makes the shared memory; false if there is none. */
static bool
create_shared(ParallelBuild *parallel, Build *build, Relation heap,
			  IndexInfo *info, int nworkers)
{
	ParallelContext *context = parallel->context;

	shm_toc_estimate_chunk(&context->estimator,
						   offsetof(SharedBuild, nsegments) +
						   nworkers * sizeof(uint32));
	shm_toc_estimate_chunk(&context->estimator,
						   table_parallelscan_estimate(heap, parallel->snapshot));
	shm_toc_estimate_keys(&context->estimator, 2);
	InitializeParallelDSM(context);
	if (context->seg == NULL)
		return false;
	init_shared(parallel, build, heap, info, nworkers);
	return true;
}

ParallelBuild *
parallel_begin(Build *build, Relation heap, IndexInfo *info)
{
	ParallelBuild *parallel;
	int			nworkers = 0;

	if (RelationGetNumberOfBlocks(heap) > 0)
		nworkers = plan_create_index_workers(RelationGetRelid(heap),
											 RelationGetRelid(build->index.index));
	if (nworkers == 0)
		return NULL;
	parallel = palloc0(sizeof(ParallelBuild));
	EnterParallelMode();
	parallel->context = CreateParallelContext("neardup", "neardup_build_worker",
											  nworkers);
	parallel->snapshot = info->ii_Concurrent ?
		RegisterSnapshot(GetTransactionSnapshot()) : SnapshotAny;
	if (create_shared(parallel, build, heap, info, nworkers))
		LaunchParallelWorkers(parallel->context);
	if (parallel->context->nworkers_launched == 0)
	{
		parallel_end(parallel);
		return NULL;
	}
	build->shared = parallel->shared;
	build->memory = parallel->shared->memory;
	return parallel;
}

/* Adds the segments of a worker to those of the leader. */
static void
collect(ParallelBuild *parallel, Build *build, int worker)
{
	SharedBuild *shared = parallel->shared;
	PageStore  *store = &parallel->stores[worker];
	BufFile    *infos = open_file(shared, "infos", worker);

	store->file = open_file(shared, "pages", worker);
	parallel->nstores++;
	for (uint32 i = 0; i < shared->nsegments[worker]; i++)
	{
		SegmentInfo info;

		if (BufFileRead(infos, &info, sizeof(info)) != sizeof(info))
			elog(ERROR, "could not read the segments of a parallel worker");
		build_add_segment(build, &info, store);
	}
	BufFileClose(infos);
}

double
parallel_scan(ParallelBuild *parallel, Build *build, Relation heap,
			  IndexInfo *info)
{
	ParallelContext *context = parallel->context;
	SharedBuild *shared = parallel->shared;
	double		heap_rows;

	heap_rows = table_index_build_scan(heap, build->index.index, info, true,
									   true, build_add_row, build,
									   compat_beginscan_parallel(heap, parallel->scan));
	WaitForParallelWorkersToFinish(context);
	parallel->stores = palloc0(context->nworkers_launched * sizeof(PageStore));
	for (int i = 0; i < context->nworkers_launched; i++)
		collect(parallel, build, i);
	build->nrows += shared->rows;
	build->meta->nspecs = shared->meta.nspecs;
	memcpy(build->meta->specs, shared->meta.specs,
		   sizeof(shared->meta.specs));
	if (shared->broken_hot_chain)
		info->ii_BrokenHotChain = true;
	ereport(DEBUG1,
			(errmsg_internal("%.0f of %.0f rows were read by %d parallel workers",
							 shared->rows, build->nrows,
							 context->nworkers_launched)));
	return heap_rows + shared->heap_rows;
}

void
parallel_end(ParallelBuild *parallel)
{
	for (int i = 0; i < parallel->nstores; i++)
		BufFileClose(parallel->stores[i].file);
	DestroyParallelContext(parallel->context);
	if (IsMVCCSnapshot(parallel->snapshot))
		UnregisterSnapshot(parallel->snapshot);
	ExitParallelMode();
	pfree(parallel);
}
