/*
 * join_shared.c
 *		A similarity join that several processes work at.
 *
 * Each reads a part of the sides, makes the signatures and writes them with the
 * rows to files that all can read.  Once everything is there, each takes in
 * all rows, in the same order, so that all have the same sets with the same
 * numbers; and each probes with those sets that it takes, a few at a time, from
 * a counter that they share.  So reading, making signatures, probing,
 * verification and whatever follows the join are divided; taking in the rows and
 * building the index are not.  Each has the memory that a join may have.
 *
 * Nobody waits for others once rows come out of the join: those who read wait
 * for each other before they do anything else, and whoever comes later finds
 * the files complete.
 *
 * That an outer row has found a partner is noted where all see it, so that a
 * semi-join gives it once.  Those that have found none are given by whoever is
 * the last to have made its probes; a process that comes later finds nothing
 * left to do.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/join/node/join_shared.c
 */
#include "postgres.h"

#include "executor/executor.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "port/atomics.h"
#include "storage/barrier.h"
#include "storage/dsm.h"
#include "storage/sharedfileset.h"
#include "storage/spin.h"
#include "utils/dsa.h"
#include "utils/memutils.h"

#include "base/compat.h"
#include "join/node/join_node.h"

#define READ_BUFFER		(256 * 1024)

/* What one process has contributed. */
typedef struct SharedPart
{
	uint64		bytes[2];		/* of its files, by JoinSide; 0: there is none */
	bool		counted;		/* the rest is set */
	SetJoinStats stats;
	char		algorithm[32];	/* stats.algorithm, which may lie elsewhere in
								 * another process */
	uint64		nfiltered;
	uint64		nremoved;
} SharedPart;

typedef struct SharedJoin
{
	dsm_handle	segment;		/* that this lies in */
	SharedFileSet files;
	Barrier		read;			/* phase 0: the sides are being read */
	pg_atomic_uint64 claimed[SIGNATURE_KINDS];	/* by number of the engine */
	pg_atomic_uint64 matched;	/* dsa_pointer to a bit for each outer row */
	slock_t		mutex;			/* of the next two */
	int			nprobing;		/* processes that make probes */
	bool		all_probed;		/* the last one has made its last probe */
	char		secret[JOIN_SECRET];
	int			nparts;
	SharedPart	parts[FLEXIBLE_ARRAY_MEMBER];
} SharedJoin;

/* A row in a file: this, a JoinRow, a signature, both padded to MAXALIGN. */
typedef struct SharedRow
{
	uint64		len;			/* of the JoinRow */
	uint64		signature;		/* bytes; 0: there is none */
} SharedRow;

static size_t
shared_bytes(int nworkers)
{
	return add_size(offsetof(SharedJoin, parts),
					mul_size(nworkers + 1, sizeof(SharedPart)));
}

/* The number of this process among those who take part: 0 for the leader. */
static int
part_number(void)
{
	return ParallelWorkerNumber + 1;
}

/* CustomExecMethods.EstimateDSMCustomScan */
Size
join_shared_estimate(CustomScanState *node, ParallelContext *pcxt)
{
	return shared_bytes(pcxt->nworkers);
}

static void
shared_init(SharedJoin *shared)
{
	BarrierInit(&shared->read, 0);
	for (int i = 0; i < SIGNATURE_KINDS; i++)
		pg_atomic_write_u64(&shared->claimed[i], 0);
	pg_atomic_write_u64(&shared->matched, InvalidDsaPointer);
	shared->nprobing = 0;
	shared->all_probed = false;
	memset(shared->parts, 0, shared->nparts * sizeof(SharedPart));
	join_secret_draw(shared->secret);
}

/* CustomExecMethods.InitializeDSMCustomScan */
void
join_shared_create(CustomScanState *node, ParallelContext *pcxt,
				   void *coordinate)
{
	SharedJoin *shared = coordinate;

	/* if there is no shared memory there will be no other process */
	if (pcxt->seg == NULL)
		return;
	shared->segment = dsm_segment_handle(pcxt->seg);
	shared->nparts = pcxt->nworkers + 1;
	SharedFileSetInit(&shared->files, pcxt->seg);
	for (int i = 0; i < SIGNATURE_KINDS; i++)
		pg_atomic_init_u64(&shared->claimed[i], 0);
	pg_atomic_init_u64(&shared->matched, InvalidDsaPointer);
	SpinLockInit(&shared->mutex);
	shared_init(shared);
	((SimilarityJoinState *) node)->shared = shared;
}

/* CustomExecMethods.ReInitializeDSMCustomScan */
void
join_shared_reset(CustomScanState *node, ParallelContext *pcxt,
				  void *coordinate)
{
	SharedJoin *shared = ((SimilarityJoinState *) node)->shared;
	dsa_pointer matched;

	if (shared == NULL)
		return;
	matched = pg_atomic_read_u64(&shared->matched);
	if (DsaPointerIsValid(matched))
		dsa_free(node->ss.ps.state->es_query_dsa, matched);
	SharedFileSetDeleteAll(&shared->files);
	shared_init(shared);
}

/* CustomExecMethods.InitializeWorkerCustomScan */
void
join_shared_attach(CustomScanState *node, shm_toc *toc, void *coordinate)
{
	SharedJoin *shared = coordinate;

	SharedFileSetAttach(&shared->files, dsm_find_mapping(shared->segment));
	((SimilarityJoinState *) node)->shared = shared;
}

/* Has an engine that is about to be added share its work, if it is to. */
void
join_shared_divide(SimilarityJoinState *state, SetJoinParams *params)
{
	if (state->shared == NULL)
		return;
	params->claimed = &state->shared->claimed[state->nengines];
	params->secret = state->shared->secret;
}

/* The name of a file of rows. */
static void
file_name(char *name, JoinSide side, int part)
{
	snprintf(name, MAXPGPATH, "similarity_join_%d_%d", (int) side, part);
}

/* Writes a row. */
void
join_shared_write(SpillFile *file, const JoinRow *row, size_t len,
				  const Signature *sig)
{
	static const char padding[MAXIMUM_ALIGNOF] = {0};
	SharedRow	head = {len, sig == NULL ? 0 : VARSIZE(sig)};

	spillfile_write(file, &head, sizeof(head));
	spillfile_write(file, row, len);
	spillfile_write(file, padding, MAXALIGN(len) - len);
	spillfile_write(file, sig, head.signature);
	spillfile_write(file, padding, MAXALIGN(head.signature) - head.signature);
}

/* Reads this process's part of a side into its file. */
static void
write_side(SimilarityJoinState *state, JoinSide side, bool any_threshold)
{
	SharedJoin *shared = state->shared;
	char		name[MAXPGPATH];
	SpillFile	file;

	file_name(name, side, part_number());
	spillfile_create_in(&file, &shared->files.fs, name);
	join_read_side(state, side, any_threshold, &file);
	spillfile_export(&file);
	shared->parts[part_number()].bytes[side] = file.size;
	spillfile_close(&file);
}

/* Makes room for n bytes. */
static char *
row_room(char *room, size_t *max, size_t n)
{
	if (n <= *max)
		return room;
	pfree(room);
	*max = n;
	return MemoryContextAllocHuge(CurrentMemoryContext, n);
}

/* Takes in the rows of one file. */
static void
take_in_file(SimilarityJoinState *state, JoinSide side, int part)
{
	ExprContext *econtext = state->css.ss.ps.ps_ExprContext;
	size_t		max = 1024;
	char	   *room = palloc(max);
	char		name[MAXPGPATH];
	SpillFile	file;
	SpillReader reader;

	file_name(name, side, part);
	spillfile_open(&file, &state->shared->files.fs, name,
				   state->shared->parts[part].bytes[side]);
	spillreader_create(&reader, &file, READ_BUFFER);
	while (!spillreader_at_end(&reader))
	{
		SharedRow	head;
		MemoryContext old;
		size_t		bytes;

		CHECK_FOR_INTERRUPTS();
		spillreader_read(&reader, &head, sizeof(head));
		bytes = MAXALIGN(head.len) + MAXALIGN(head.signature);
		room = row_room(room, &max, bytes);
		spillreader_read(&reader, room, bytes);
		ResetExprContext(econtext);
		old = MemoryContextSwitchTo(econtext->ecxt_per_tuple_memory);
		join_add_row(state, side, (JoinRow *) room, head.len,
					 head.signature == 0 ? NULL :
					 (const Signature *) (room + MAXALIGN(head.len)));
		MemoryContextSwitchTo(old);
	}
	pfree(reader.buffer);
	pfree(room);
	spillfile_close(&file);
}

/* Reads what this process gets to read, and takes in what all have read. */
void
join_shared_read(SimilarityJoinState *state, bool any_threshold)
{
	SharedJoin *shared = state->shared;
	JoinSide	last = state->self_join ? SIDE_OUTER : SIDE_INNER;
	MemoryContext old = MemoryContextSwitchTo(state->context);

	if (BarrierAttach(&shared->read) == 0)
	{
		for (int side = last; side >= SIDE_OUTER; side--)
			write_side(state, side, any_threshold);
		BarrierArriveAndWait(&shared->read, PG_WAIT_EXTENSION);
	}
	BarrierDetach(&shared->read);
	for (int side = last; side >= SIDE_OUTER; side--)
		for (int part = 0; part < shared->nparts; part++)
			if (shared->parts[part].bytes[side] > 0)
				take_in_file(state, side, part);
	if (state->self_join)
		makings_mirror(state->makings);
	MemoryContextSwitchTo(old);
}

/* A bit for each of so many rows: those of whoever comes first. */
static void
share_matched(SimilarityJoinState *state, uint64 rows)
{
	SharedJoin *shared = state->shared;
	dsa_area   *area = state->css.ss.ps.state->es_query_dsa;
	uint64		none = InvalidDsaPointer;
	dsa_pointer matched = pg_atomic_read_u64(&shared->matched);

	if (!DsaPointerIsValid(matched))
	{
		matched = dsa_allocate_extended(area, (rows / 32 + 1) * sizeof(uint32),
										DSA_ALLOC_HUGE | DSA_ALLOC_ZERO);
		if (!pg_atomic_compare_exchange_u64(&shared->matched, &none, matched))
		{
			dsa_free(area, matched);
			matched = none;
		}
	}
	state->shared_matched = dsa_get_address(area, matched);
}

/* See join_node.h */
bool
join_shared_begin_probes(SimilarityJoinState *state, uint64 rows)
{
	SharedJoin *shared = state->shared;
	bool		late;

	if (shared == NULL || state->type == JOIN_INNER)
		return true;
	share_matched(state, rows);
	SpinLockAcquire(&shared->mutex);
	late = shared->all_probed;
	if (!late)
		shared->nprobing++;
	SpinLockRelease(&shared->mutex);
	return !late;
}

/* See join_node.h */
bool
join_shared_end_probes(SimilarityJoinState *state)
{
	SharedJoin *shared = state->shared;
	bool		last;

	if (shared == NULL)
		return true;
	SpinLockAcquire(&shared->mutex);
	last = --shared->nprobing == 0;
	shared->all_probed |= last;
	SpinLockRelease(&shared->mutex);
	return last;
}

/* Adds what a process has counted to what is known of all. */
static void
add_part(SimilarityJoinState *state, const SharedPart *part)
{
	SetJoinStats *sum = &state->stats;
	SetJoinStats before = *sum;

	if (!part->counted)
		return;
	setjoin_stats_add(sum, &part->stats);
	/* these are the same in all processes */
	sum->sets = Max(before.sets, part->stats.sets);
	sum->distinct = Max(before.distinct, part->stats.distinct);
	sum->postings = Max(before.postings, part->stats.postings);
	sum->batches = Max(before.batches, part->stats.batches);
	state->nfiltered += part->nfiltered;
	state->nremoved += part->nremoved;
	if (part->algorithm[0] != '\0')
		sum->algorithm = MemoryContextStrdup(state->css.ss.ps.state->es_query_cxt,
											 part->algorithm);
}

/*
 * CustomExecMethods.ShutdownCustomScan: tells what has been counted, and in the
 * leader finds out what all have, as the shared memory is about to go.
 */
void
join_shared_finish(CustomScanState *node)
{
	SimilarityJoinState *state = (SimilarityJoinState *) node;
	SharedJoin *shared = state->shared;
	SharedPart *part;

	if (shared == NULL)
		return;
	part = &shared->parts[part_number()];
	part->stats = *similarity_join_stats(state);
	if (part->stats.algorithm != NULL)
		strlcpy(part->algorithm, part->stats.algorithm,
				sizeof(part->algorithm));
	part->nfiltered = state->nfiltered;
	part->nremoved = state->nremoved;
	part->counted = true;
	if (IsParallelWorker())
		return;
	memset(&state->stats, 0, sizeof(SetJoinStats));
	state->nfiltered = state->nremoved = 0;
	for (int i = 0; i < shared->nparts; i++)
		add_part(state, &shared->parts[i]);
	state->stats_gathered = true;
	state->shared = NULL;
}
