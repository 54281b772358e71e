/*
 * shared_runs.c
 *		The sets of a similarity join on disk, where several processes take in rows.
 *
 * Each process has taken in some of the rows.  Once one of them has no more memory, each
 * goes to disk with what it has, as a process does that is alone: sorted runs of sets, and
 * sets that it has seen before are not written again.  When all have come to their end, the
 * runs of all are merged in shares of the sets, by the order that these have, each by one
 * process for all; and so are the keys made.  Files of several processes are read as one.
 *
 * The features of the sets of a share are counted by the process that merges it, and each
 * adds up what all have counted: so all have the same counters.
 *
 * Shared memory is given back when all have gone to disk: until then one may look for the
 * values of a set where another has stored them.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/join/engine/shared_runs.c
 */
#include "postgres.h"

#include "join/engine/spill.h"

/* Files of a process have names by which all find them. */
#define FILE_OF_COUNTS	"similarity_join_counts_%d"
#define FILE_OF_KEYS	"similarity_join_keys_%d"

/* Sets are merged in so many shares for each process: of small ones runs are read to and fro. */
#define SHARES_A_PROCESS	4

/* See shared_sets.h */
void
setjoin_spill_shared(SetJoin *join)
{
	SharedSets *shared = join->params.shared;
	uint32		in_memory = IN_MEMORY;
	MemoryContext old;

	if (join->spill != NULL)
		return;
	pg_atomic_compare_exchange_u32(&shared->given_up, &in_memory, TO_RUNS);
	setjoin_flush(join);
	old = MemoryContextSwitchTo(join->search.context);
	spill_begin(join);
	MemoryContextSwitchTo(old);
	pg_atomic_fetch_add_u32(&shared->nreturned, 1);
}

/* Gives back the shared memory of this process. */
static void
free_memory(SetJoin *join)
{
	MemoryContext old = MemoryContextSwitchTo(join->search.context);

	shared_areas_empty(join->pool.areas, join->pool.own);
	join->pool.areas = NULL;
	setjoin_init_arenas(join);
	spill_has_memory(join);
	MemoryContextSwitchTo(old);
}

/*
 * True if no process has sets in memory.  Those that have returned them are counted first: one
 * that comes meanwhile is a participant, and does not stand for another that has not.
 */
static bool
all_returned(SharedSets *shared)
{
	uint32		n = pg_atomic_read_u32(&shared->nreturned);

	pg_read_barrier();
	return n >= BarrierParticipants(&shared->barrier);
}

/* See shared_sets.h */
bool
setjoin_is_spilled(SetJoin *join)
{
	if (join->spill == NULL)
		return false;
	if (join->spill->holds_memory && all_returned(join->params.shared))
		free_memory(join);
	return true;
}

/* See shared_sets.h */
void
setjoin_export_runs(SetJoin *join)
{
	SharedSetsPart *part = &join->params.shared->parts[join->params.part];
	MemoryContext old = MemoryContextSwitchTo(join->search.context);

	shared_part_tell(join);
	pg_atomic_write_u64(&part->nfeatures, join->nfeatures);
	part->directory_bytes = setruns_export(&join->spill->file.runs);
	MemoryContextSwitchTo(old);
}

/* See shared_sets.h.  What has come to all is counted as if it had come to this one. */
void
setjoin_import_runs(SetJoin *join)
{
	SharedSets *shared = join->params.shared;
	MemoryContext old = MemoryContextSwitchTo(join->search.context);

	if (join->spill->holds_memory)
		free_memory(join);
	join->nfeatures = 0;
	join->search.stats.sets = 0;
	for (int i = 0; i < shared->nparts; i++)
	{
		SharedSetsPart *part = &shared->parts[i];

		if (part->directory_bytes == 0)
			continue;
		join->nfeatures += pg_atomic_read_u64(&part->nfeatures);
		join->search.stats.sets += part->nonempty;
		join->search.most_features = Max(join->search.most_features, part->most_features);
		setruns_import(&join->spill->file.runs, i, part->directory_bytes);
	}
	MemoryContextSwitchTo(old);
}

/* Shares in which the sets are merged. */
static uint32
merged_shares(const SetJoin *join)
{
	return Min(join->params.shared->nparts * SHARES_A_PROCESS, SET_SHARES);
}

/* Writes the counters of this process for the others. */
static void
write_counts(SetJoin *join)
{
	char		name[MAXPGPATH];
	SpillFile	file;

	snprintf(name, MAXPGPATH, FILE_OF_COUNTS, join->params.part);
	spillfile_create_in(&file, join->params.files, name);
	counters_write(&join->search.counters, &file);
	spillfile_export(&file);
	spillfile_close(&file);
	join->search.stats.disk += file.size;
}

/* Adds the counters of another process. */
static void
add_counts_of(SetJoin *join, int part)
{
	char		name[MAXPGPATH];
	SpillFile	file;

	snprintf(name, MAXPGPATH, FILE_OF_COUNTS, part);
	spillfile_open(&file, join->params.files, name,
				   counters_number(&join->search.counters) * sizeof(uint16));
	counters_add_file(&join->search.counters, &file);
	spillfile_close(&file);
}

/* See shared_sets.h */
void
setjoin_merge_shares(SetJoin *join)
{
	SharedSets *shared = join->params.shared;
	SharedSetsPart *part = &shared->parts[join->params.part];
	MemoryContext old = MemoryContextSwitchTo(join->search.context);
	uint32		share;

	setjoin_make_room(join);
	spill_begin_shares(join, merged_shares(join));
	while ((share = pg_atomic_fetch_add_u32(&shared->sets_taken, 1)) < merged_shares(join))
	{
		spill_merge_share(join, share, &shared->sets[share]);
		part->counted = join->algorithm->ordered;
	}
	if (part->counted)
		write_counts(join);
	join->search.stats.disk += setfile_bytes(&join->spill->file);
	setfile_export(&join->spill->file, &part->merged);
	MemoryContextSwitchTo(old);
}

/* See shared_sets.h */
void
setjoin_take_shares(SetJoin *join)
{
	SharedSets *shared = join->params.shared;
	MemoryContext old = MemoryContextSwitchTo(join->search.context);

	for (uint32 i = 0; i < merged_shares(join); i++)
		setfile_add_share(&join->spill->file, join->params.files, shared->nparts,
						  &shared->sets[i], &shared->parts[shared->sets[i].part].merged);
	for (int i = 0; i < shared->nparts; i++)
		if (i != join->params.part && shared->parts[i].counted)
			add_counts_of(join, i);
	spill_end_shares(join);
	MemoryContextSwitchTo(old);
}

/* Makes and writes the keys of a share of the sets. */
static void
write_share(SetJoin *join, uint32 share)
{
	SetFile    *file = &join->spill->file;
	SpillFile  *keys = &join->spill->chunks.keys;
	KeysPiece  *piece = &join->params.shared->keys[share];
	uint64		end = file->nsets * (share + 1) / SET_SHARES;

	piece->part = join->params.part;
	piece->without = 0;
	piece->offset = keys->size;
	setfile_seek(file, file->nsets * share / SET_SHARES);
	for (uint64 i = file->nsets * share / SET_SHARES; i < end; i++)
	{
		CHECK_FOR_INTERRUPTS();
		piece->without += !chunks_write_keys(join, setfile_next(file));
	}
	piece->bytes = keys->size - piece->offset;
}

/* See shared_sets.h */
bool
setjoin_needs_keys(const SetJoin *join)
{
	return join->deferred != NULL;
}

/* See shared_sets.h */
void
setjoin_write_keys(SetJoin *join)
{
	SharedSets *shared = join->params.shared;
	SpillFile  *keys = &join->spill->chunks.keys;
	MemoryContext old = MemoryContextSwitchTo(join->search.context);
	char		name[MAXPGPATH];
	uint32		share;

	snprintf(name, MAXPGPATH, FILE_OF_KEYS, join->params.part);
	spillfile_create_in(keys, join->params.files, name);
	while ((share = pg_atomic_fetch_add_u32(&shared->keys_taken, 1)) < SET_SHARES)
		write_share(join, share);
	spillfile_export(keys);
	spillfile_close(keys);
	shared->parts[join->params.part].keys_bytes = keys->size;
	join->search.stats.disk += keys->size;
	MemoryContextSwitchTo(old);
}

/* See shared_sets.h */
void
setjoin_take_keys(SetJoin *join)
{
	SharedSets *shared = join->params.shared;
	Chunks	   *chunks = &join->spill->chunks;
	MemoryContext old = MemoryContextSwitchTo(join->search.context);
	char		name[MAXPGPATH];

	memset(&chunks->keys, 0, sizeof(SpillFile));
	chunks->key_files = palloc0(sizeof(SpillFile) * shared->nparts);
	chunks->nkey_files = shared->nparts;
	for (int i = 0; i < SET_SHARES; i++)
	{
		const KeysPiece *piece = &shared->keys[i];
		SpillFile  *file = &chunks->key_files[piece->part];

		join->probed += piece->without;
		if (piece->bytes == 0)
			continue;
		snprintf(name, MAXPGPATH, FILE_OF_KEYS, piece->part);
		if (file->file == NULL)
			spillfile_open(file, join->params.files, name,
						   shared->parts[piece->part].keys_bytes);
		spillfile_add(&chunks->keys, file, piece->offset, piece->bytes);
	}
	chunks_end_keys(join);
	MemoryContextSwitchTo(old);
}
