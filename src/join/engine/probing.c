/*
 * probing.c
 *		Sets look for their partners, which are handed out as pairs of groups.
 *
 * One after another, in order of size, the sets of a chunk probe the index of
 * the sets before them (of either side, if the measure is symmetric) or of
 * the other side's sets (if it is not); then those on disk do that are not in
 * the chunk.  What a probe finds is handed out before the next one is made, so
 * that no more than the partners of one set are ever held.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/join/engine/probing.c
 */
#include "postgres.h"

#include "miscadmin.h"

#include "base/growing.h"
#include "join/engine/deferred.h"
#include "join/engine/shared_sets.h"
#include "join/engine/spill.h"

/* True if the set has rows that are looked for in the index. */
static bool
is_indexed(SetJoin *join, const JoinSet *set)
{
	return join->search.symmetric || set->rows[join->indexed] != NULL;
}

/* Makes the keys of a set of the chunk. */
void
setjoin_prepare(SetJoin *join, JoinSet *set)
{
	bool		probes = join->search.symmetric ||
		(join->spill == NULL && set->rows[join->probing] != NULL);

	join->algorithm->prepare(&join->search, set, is_indexed(join, set), probes);
}

/* How many of its keys a set of the chunk has in the index. */
uint32
setjoin_indexed_keys(SetJoin *join, const JoinSet *set)
{
	return is_indexed(join, set) ?
		join->algorithm->indexed_keys(&join->search, set) : 0;
}

/* How many different keys so many postings have, about, or fewer. */
uint64
setjoin_different_keys(SetJoin *join, uint64 npostings)
{
	return join->algorithm->ordered ? join->search.counters.used : npostings;
}

/* Adds the next set of the chunk to the index. */
static void
index_next(SetJoin *join, const JoinSet *set)
{
	uint32		n = setjoin_indexed_keys(join, set);
	Posting		image;
	uint64		second;

	if (join->algorithm->add != NULL)
		join->algorithm->add(&join->search, set, n);
	else if (n > 0 && join->algorithm->image != NULL &&
			 join->algorithm->image(&join->search, set, &image, &second))
		setindex_add_image(&join->search.index, set->keys, n, &image, second);
	else
		setindex_add(&join->search.index, set->keys, n,
					 set->size - set->nvalues);
}

/*
 * How many sets ahead something is fetched, and what is fetched first; and of their values so
 * many at least.
 */
#define FETCH_AHEAD		4
#define FETCH_FIRST		(3 * FETCH_AHEAD)
#define FETCHED_VALUES	6

/*
 * Fetches what will be needed for the probes of the next sets and, unless the
 * index is shared, to add them to it: keys, bitmaps and rows, then buckets, then
 * postings.
 */
static void
fetch_ahead(SetJoin *join, uint32 number)
{
	const InvertedIndex *index = &join->search.index;
	const JoinSet *set = &join->search.sets[number];

	if (join->search.nsets - number <= FETCH_FIRST)
		return;
	set_fetch_keys(&set[FETCH_FIRST]);
	__builtin_prefetch(set[FETCH_FIRST].values - 1);
	rows_ahead_add(&join->ahead, join->pool.areas,
				   set[FETCH_FIRST].rows[SIDE_OUTER]);
	set += FETCH_AHEAD;
	if (index->shared)
		setindex_fetch_partners(index, set->keys, set->nkeys,
								setjoin_indexed_keys(join, set), number);
	else
		setindex_fetch_places(index, set->keys, set->nkeys,
							  setjoin_indexed_keys(join, set));
	set += FETCH_AHEAD;
	setindex_fetch_buckets(index, set->keys, set->nkeys);
}

/* True if all sets are in the index before the first one probes. */
static bool
indexed_at_once(SetJoin *join)
{
	return !join->search.symmetric || join->algorithm->at_once ||
		join->search.index.shared;
}

static void
end_chunk(SetJoin *join)
{
	if (join->algorithm->end_chunk != NULL)
		join->algorithm->end_chunk(&join->search);
	setindex_free(&join->search.index);
}

/* Makes the index of the chunk; sets that probe for each other add it later. */
static void
make_index(SetJoin *join)
{
	InvertedIndex *index = &join->search.index;
	uint64		npostings = 0;

	for (uint32 i = 0; i < join->search.nsets; i++)
	{
		CHECK_EVERY(i);
		npostings += setjoin_indexed_keys(join, &join->search.sets[i]);
	}
	setindex_create(index, join->search.sets, join->search.nsets, npostings,
					setjoin_different_keys(join, npostings));
	for (uint32 i = 0; i < join->search.nsets; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (i + FETCH_AHEAD < join->search.nsets)
			set_fetch_keys(&join->search.sets[i + FETCH_AHEAD]);
		setindex_count(index, join->search.sets[i].keys,
					setjoin_indexed_keys(join, &join->search.sets[i]));
	}
	setindex_allot(index);
	if (indexed_at_once(join))
		for (uint32 i = 0; i < join->search.nsets; i++)
		{
			CHECK_FOR_INTERRUPTS();
			index_next(join, &join->search.sets[i]);
		}
}

/* Begins to look for partners among the sets that there are. */
void
setjoin_begin_chunk(SetJoin *join)
{
	end_chunk(join);
	join->search.only_keys = join->deferred != NULL;
	if (!shared_attach_index(join))
		make_index(join);
	if (join->deferred != NULL)
		chunks_probe_from_this(join);
	join->next = 0;
	memset(&join->ahead, 0, sizeof(RowsAhead));
	join->search.index.limit = join->search.nsets;
	join->stage = STAGE_CHUNK;
	join->search.stats.postings += join->search.index.npostings;
	join->search.stats.batches++;
}

/*
 * Adds a pair of groups to hand out, if there are rows in both, and fetches the first
 * of either.
 */
static void
add_pair(SetJoin *join, const JoinSet *outer, const JoinSet *inner)
{
	if (outer->rows[SIDE_OUTER] == NULL || inner->rows[SIDE_INNER] == NULL)
		return;
	__builtin_prefetch(outer->rows[SIDE_OUTER]);
	__builtin_prefetch(inner->rows[SIDE_INNER]);
	if (unlikely(join->npairs == join->maxpairs))
		join->pairs = growing_reserve(join->pairs, &join->maxpairs,
									  join->npairs + 1, sizeof(GroupPair));
	join->pairs[join->npairs].outer = outer;
	join->pairs[join->npairs++].inner = inner;
}

/* Hands out what a candidate and the probing set have to give. */
static void
add_match(SetJoin *join, const JoinSet *indexed, JoinSet *probing)
{
	join->search.stats.matches++;
	if (join->stage == STAGE_STREAM || join->stage == STAGE_COMPARE)
		setfile_load_rows(&join->spill->file, probing);
	if (join->search.symmetric || join->indexed == SIDE_OUTER)
		add_pair(join, indexed, probing);
	if ((join->search.symmetric && !join->params.either_order) ||
		join->indexed == SIDE_INNER)
		add_pair(join, probing, indexed);
}

/* Compares a candidate with the set that probed, or leaves that for later. */
static void
verify_candidate(SetJoin *join, const JoinSet *set, JoinSet *probing)
{
	const Algorithm *algorithm = join->algorithm;

	if (join->deferred == NULL)
	{
		if (algorithm->verify(&join->search, set, probing))
			add_match(join, set, probing);
	}
	else if (algorithm->may_match(&join->search, set, probing))
		deferred_add(join, set, probing);
}

/* Fetches the first values of a set, and its bitmap. */
static inline void
fetch_values(const JoinSet *set)
{
	__builtin_prefetch(set->values - 1);
	__builtin_prefetch(set->values + FETCHED_VALUES);
}

/* Fetches the first of n candidates, and then the values of the first of these. */
static void
fetch_first_candidates(const JoinSet *sets, const uint32 *candidates, uint32 n)
{
	for (uint32 i = 0; i < Min(n, 2 * FETCH_AHEAD); i++)
		__builtin_prefetch(&sets[candidates[i]]);
	for (uint32 i = 0; i < Min(n, FETCH_AHEAD); i++)
		fetch_values(&sets[candidates[i]]);
}

/* Fetches some of the next of n candidates: one, and the first values of another. */
static inline void
fetch_candidates(const JoinSet *sets, const uint32 *candidates, uint32 n)
{
	if (n > 2 * FETCH_AHEAD)
		__builtin_prefetch(&sets[candidates[2 * FETCH_AHEAD]]);
	if (n > FETCH_AHEAD)
		fetch_values(&sets[candidates[FETCH_AHEAD]]);
}

/* Compares the candidates of the last probe with the set that probed. */
static void
verify_candidates(SetJoin *join, JoinSet *probing)
{
	const uint32 *candidates = join->search.index.candidates;
	uint32		n = join->search.index.ncandidates;

	fetch_first_candidates(join->search.sets, candidates, n);
	for (uint32 i = 0; i < n; i++)
	{
		const JoinSet *set = &join->search.sets[candidates[i]];

		CHECK_FOR_INTERRUPTS();
		fetch_candidates(join->search.sets, candidates + i, n - i);

		/* without order of arrival, a set meets itself: see probe_set() */
		if (set->key.low == probing->key.low)
			continue;
		verify_candidate(join, set, probing);
	}
}

/* By how many of its keys a set that probes is known to be in a shared index. */
static uint32
own_keys(SetJoin *join, const JoinSet *set)
{
	return join->search.index.shared && join->search.symmetric ?
		setjoin_indexed_keys(join, set) : 0;
}

/* Looks for the partners of a set in the index. */
static void
probe_index(SetJoin *join, JoinSet *set)
{
	uint32		sides = 3;

	if (join->search.symmetric)
		sides = ((SET_SIDES(set) & 1) << 1) | (SET_SIDES(set) >> 1);
	join->search.index.own = own_keys(join, set);
	join->search.index.ncandidates = 0;
	join->algorithm->probe(&join->search, set, sides);
	join->search.stats.candidates += join->search.index.ncandidates;
	if (join->stage == STAGE_STREAM && join->search.index.ncandidates > 0)
		chunks_read_probe_values(join, set);
	verify_candidates(join, set);
}

/* True if a set is near to itself, as it is unless it is a strange sketch. */
static bool
is_reflexive(SetJoin *join, const JoinSet *set)
{
	return join->algorithm->reflexive == NULL ||
		join->algorithm->reflexive(&join->search, set);
}

/*
 * True if the set has one row, which would be paired with itself.  Of rows in a
 * file that is not asked.
 */
static bool
is_alone(const JoinSet *set)
{
	const Row  *row = set->rows[SIDE_OUTER];

	return row->next == NULL && row->len != ROWS_IN_FILE;
}

/* A set is near to itself; so are its rows of both sides. */
static void
add_itself(SetJoin *join, const JoinSet *set)
{
	if (SET_SIDES(set) != 3 || !is_reflexive(join, set))
		return;
	if (join->params.apart && is_alone(set))
		join->search.stats.alone++;
	else
		add_pair(join, set, set);
}

/*
 * Probes that an engine takes at once, where several divide the work: for the first of
 * them nothing has been fetched, but nobody shall be left with most of it.  So all sets
 * are so many shares at the least.
 */
#define MAX_CLAIMED	512
#define CLAIMS			512

/*
 * True if the next probe is to be made by this engine.  All engines come by the
 * same probes in the same order, so a number tells which one it is; what is
 * taken lies ahead of whoever takes it.
 */
static bool
claims_probe(SetJoin *join)
{
	uint64		number = join->nprobes++;

	if (join->params.claimed == NULL)
		return true;
	if (number >= join->claim_end)
	{
		uint64		n = Max(Min(join->search.stats.distinct / CLAIMS, MAX_CLAIMED), 1);

		join->claim = pg_atomic_fetch_add_u64(join->params.claimed, n);
		join->claim_end = join->claim + n;
	}
	return number >= join->claim;
}

/*
 * A set of the chunk looks for its partners, itself among them, and is then
 * found by the next ones.  Where chunks are of keys, those with which it looks are
 * not all in memory.
 */
static void
probe_set(SetJoin *join, uint32 number)
{
	JoinSet    *set = &join->search.sets[number];
	JoinSet    *probing = set;
	bool		probes = claims_probe(join);

	if (probes && join->deferred == NULL)
		add_itself(join, set);
	if (join->search.symmetric)
	{
		join->search.index.limit = number;
		/* of others' probes, at the last ones before those that it has taken */
		if (probes || !join->search.index.shared ||
			join->nprobes + FETCH_FIRST > join->claim)
			fetch_ahead(join, number);
		if (join->deferred != NULL)
			probing = chunks_next_probe(join);
		if (probes)
			probe_index(join, probing);
		if (!indexed_at_once(join))
			index_next(join, set);
	}
	else if (probes && join->spill == NULL && set->rows[join->probing] != NULL)
		probe_index(join, set);
}

/* All sets of the chunk have probed: what is on disk comes next. */
static void
begin_stream(SetJoin *join)
{
	join->stage = STAGE_STREAM;
	join->search.index.limit = join->search.nsets;
	if (join->search.symmetric)
		chunks_probe_from_next(join);
	else
		chunks_probe_all(join);
}

/* True if a set of that size, and larger ones, find nothing in the chunk. */
static bool
too_large(SetJoin *join, uint32 size)
{
	uint64		least;
	uint64		most;

	if (!join->algorithm->sized)
		return false;
	measure_sizes(join->search.measure, join->search.sets[join->search.nsets - 1].size,
				  join->params.threshold, &least, &most);
	return size > most;
}

/* A set from disk probes; false if no more can find anything in the chunk. */
static bool
probe_stream(SetJoin *join)
{
	JoinSet    *set = chunks_next_probe(join);

	if (set == NULL || too_large(join, set->size))
		return false;
	if (!claims_probe(join))
		return true;
	if (!chunks_probe_is_prepared(join))
		join->algorithm->prepare(&join->search, set, false, true);
	probe_index(join, set);
	return true;
}

/* Hands out a set that has been read from disk with itself. */
static void
add_read_set(SetJoin *join, JoinSet *set)
{
	if (!claims_probe(join) || SET_SIDES(set) != 3)
		return;
	setfile_load_rows(&join->spill->file, set);
	add_itself(join, set);
}

/*
 * Makes and writes the keys of the next set on disk, and hands it out with
 * itself; false if there is none.
 */
static bool
write_keys(SetJoin *join)
{
	JoinSet    *set = setfile_next(&join->spill->file);

	if (set == NULL)
		return false;
	add_read_set(join, set);
	if (!chunks_write_keys(join, set))
		join->probed++;
	return true;
}

/* Hands out the next set on disk with itself, which takes no values; false if there is none. */
static bool
next_self(SetJoin *join)
{
	SetFile    *file = &join->spill->file;
	SetRecord	record;

	if (spillreader_at_end(&file->reader))
		return false;
	setfile_read(file, &file->set, &record);
	setfile_note_rows(file, &file->set, record.rows);
	add_read_set(join, &file->set);
	return true;
}

/* Compares a set with its deferred candidates; false if there are no more. */
static bool
compare_deferred(SetJoin *join)
{
	JoinSet    *probing = deferred_next_probe(join);
	JoinSet    *set;

	if (probing == NULL)
		return false;
	while ((set = deferred_next_candidate(join)) != NULL)
	{
		CHECK_FOR_INTERRUPTS();
		if (join->algorithm->compare(&join->search, set, probing))
			add_match(join, set, probing);
	}
	return true;
}

/* Goes on to the next chunk or, after the last one, to what was deferred. */
static void
next_chunk(SetJoin *join)
{
	join->stage = STAGE_END;
	end_chunk(join);
	if (chunks_next(join))
		setjoin_begin_chunk(join);
	else if (join->deferred != NULL)
	{
		chunks_free_sets(join);
		if (deferred_begin(join, true))
		{
			join->stage = STAGE_COMPARE;
			join->resumed = STAGE_END;
		}
	}
}

/* Compares what has been deferred before the search goes on. */
static void
compare_now(SetJoin *join)
{
	deferred_begin(join, false);
	join->resumed = join->stage;
	join->stage = STAGE_COMPARE;
}

/* Makes the next probe, or goes on to the next stage. */
static void
advance(SetJoin *join)
{
	CHECK_FOR_INTERRUPTS();
	join->npairs = join->next_pair = 0;
	switch (join->stage)
	{
		case STAGE_KEYS:
			if (write_keys(join))
				return;
			chunks_end_keys(join);
			next_chunk(join);
			return;
		case STAGE_SELVES:
			if (!next_self(join))
				next_chunk(join);
			return;
		case STAGE_CHUNK:
			if (join->next < join->search.nsets)
			{
				progress_done(&join->progress, ++join->probed);
				probe_set(join, join->next++);
			}
			else if (join->spill == NULL)
				join->stage = STAGE_END;
			else
				begin_stream(join);
			break;
		case STAGE_STREAM:
			if (!probe_stream(join))
				next_chunk(join);
			break;
		case STAGE_COMPARE:
			if (!compare_deferred(join))
				join->stage = join->resumed;
			return;
		case STAGE_ADD:
		case STAGE_END:
			return;
	}
	if (join->deferred != NULL && join->stage != STAGE_COMPARE &&
		deferred_full(join))
		compare_now(join);
}

/* See engine.h */
bool
setjoin_next(SetJoin *join, RowGroup *outer, RowGroup *inner)
{
	MemoryContext old;

	if (join->next_pair == join->npairs)
	{
		old = MemoryContextSwitchTo(join->search.context);
		while (join->next_pair == join->npairs && join->stage != STAGE_END)
			advance(join);
		MemoryContextSwitchTo(old);
		if (join->next_pair == join->npairs)
			return false;
	}
	*outer = join->pairs[join->next_pair].outer->rows[SIDE_OUTER];
	*inner = join->pairs[join->next_pair++].inner->rows[SIDE_INNER];
	return true;
}

/* See engine.h.  What one probe finds stays where it is until all is handed out. */
bool
setjoin_inner_stays(const SetJoin *join)
{
	return join->next_pair > 1 &&
		join->pairs[join->next_pair - 1].inner == join->pairs[join->next_pair - 2].inner;
}

static PairedSet
paired_set(const JoinSet *set)
{
	PairedSet	paired = {
		.first = set->first,.values = set->values,.nvalues = set->nvalues,
		.size = set->size
	};

	return paired;
}

/* See engine.h */
void
setjoin_pair(SetJoin *join, PairedSet *outer, PairedSet *inner)
{
	const GroupPair *pair = &join->pairs[join->next_pair - 1];

	Assert(join->params.self_join && join->next_pair > 0);
	*outer = paired_set(pair->outer);
	*inner = paired_set(pair->inner);
}
