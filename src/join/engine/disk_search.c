/*
 * disk_search.c
 *		The search of a join whose sets are on disk.
 *
 * There are two ways.  By keys, where the algorithm needs only keys and bitmaps to find
 * candidates: each set is matched with itself; then the keys of all sets probe chunks of
 * keys, and candidates are compared whenever there are many of them, and at the end.  By
 * whole sets otherwise: the sets of a chunk probe each other, and the sets after it
 * are read and probe it.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "join/engine/chunks.h"
#include "join/engine/deferred.h"
#include "join/engine/disk_search.h"
#include "join/engine/probe.h"
#include "join/engine/spill.h"

/* Whether sets of that size, and larger ones, have no match in the chunk. */
static bool
is_too_large(SetJoin *join, uint32 size)
{
	uint64		least;
	uint64		most;

	if (!join->algorithm->sized)
		return false;
	measure_sizes(join->search.measure, join->search.sets[join->search.nsets - 1].size,
				  join->search.threshold, &least, &most);
	return size > most;
}

/* By keys */

/* Match the next set with itself; false if there is none. */
static bool
next_self(SetJoin *join)
{
	JoinSet    *set = setfile_next(&join->spill->file);

	if (set == NULL)
		return false;
	if (probe_is_claimed(join) && SET_SIDES(set) == 3)
	{
		setfile_load_rows(&join->spill->file);
		probe_add_itself(join, set);
	}
	return true;
}

/* Defer those candidates of the last probe that the bitmaps allow. */
static void
defer_candidates(SetJoin *join, const JoinSet *probing)
{
	for (uint32 i = 0; i < join->search.index.ncandidates; i++)
	{
		const JoinSet *set = probe_candidate(join, i);

		CHECK_FOR_INTERRUPTS();
		if (set->key.low != probing->key.low &&
			join->algorithm->may_match(&join->search, set, probing))
			deferred_add(join, set, probing);
	}
}

/* The keys of the next set probe the chunk; false if no further ones find anything. */
static bool
probe_keys(SetJoin *join)
{
	JoinSet    *probing = chunks_next_keys(join);
	uint32		number = join->next++;
	bool		in_chunk = join->search.symmetric && number < join->search.nsets;

	if (probing == NULL || is_too_large(join, probing->size))
		return false;
	join->search.index.limit = in_chunk ? number : join->search.nsets;
	if (in_chunk)
		probe_fetch_ahead(join, number);
	if (probe_is_claimed(join) &&
		(join->search.symmetric || probing->rows[join->probing] != NULL) &&
		probe_index(join, probing) > 0)
		defer_candidates(join, probing);
	if (in_chunk)
		probe_add_next(join, &join->search.sets[number]);
	return true;
}

/* Compare the next set that has deferred candidates with them; false if there is none. */
static bool
compare_next(SetJoin *join)
{
	JoinSet    *probing = deferred_next_probe(join);
	const JoinSet *set;

	if (probing == NULL)
		return false;
	while ((set = deferred_next_candidate(join)) != NULL)
	{
		CHECK_FOR_INTERRUPTS();
		if (join->algorithm->compare(&join->search, set, probing))
		{
			setfile_load_rows(&join->spill->file);
			probe_add_match(join, set, probing);
		}
	}
	return true;
}

/* Compare deferred candidates, and then go on with a phase. */
static void
compare_before(SetJoin *join, SearchPhase resumed, bool last)
{
	join->resumed = resumed;
	join->phase = deferred_begin(join, last) ? SEARCH_COMPARE : resumed;
}

static void
next_chunk_of_keys(SetJoin *join)
{
	probe_end_chunk(join);
	if (chunks_next(join))
	{
		probe_begin_chunk(join);
		chunks_begin_keys(join);
	}
	else
	{
		chunks_free_sets(join);
		compare_before(join, SEARCH_END, true);
	}
}

/* join->advance */
static void
advance_by_keys(SetJoin *join)
{
	switch (join->phase)
	{
		case SEARCH_SELVES:
			if (!next_self(join))
				next_chunk_of_keys(join);
			break;
		case SEARCH_CHUNK:
			if (!probe_keys(join))
				next_chunk_of_keys(join);
			else if (deferred_is_full(join))
				compare_before(join, SEARCH_CHUNK, false);
			break;
		case SEARCH_COMPARE:
			if (!compare_next(join))
				join->phase = join->resumed;
			break;
		default:
			Assert(false);
	}
}

/* By whole sets */

/* The next set of the chunk is matched with itself and, if symmetric, those before it. */
static void
probe_member(SetJoin *join, uint32 number)
{
	JoinSet    *set = &join->search.sets[number];
	bool		claimed = probe_is_claimed(join);

	if (claimed)
		probe_add_itself(join, set);
	if (!join->search.symmetric)
		return;
	join->search.index.limit = number;
	probe_fetch_ahead(join, number);
	if (claimed)
	{
		(void) probe_index(join, set);
		probe_verify(join, set);
	}
	probe_add_next(join, set);
}

/* The next set that is read probes the chunk; false if no further ones find anything. */
static bool
probe_stream(SetJoin *join)
{
	SetFile    *file = &join->spill->file;
	JoinSet    *set = setfile_next(file);

	if (set == NULL || is_too_large(join, set->size))
		return false;
	if (!probe_is_claimed(join) ||
		(!join->search.symmetric && set->rows[join->probing] == NULL))
		return true;
	setfile_read_values(file);
	join->algorithm->prepare(&join->search, set, false, true);
	if (probe_index(join, set) > 0)
	{
		setfile_load_rows(file);
		probe_verify(join, set);
	}
	return true;
}

static void
next_chunk_of_sets(SetJoin *join)
{
	probe_end_chunk(join);
	if (chunks_next(join))
		probe_begin_chunk(join);
	else
		join->phase = SEARCH_END;
}

/* join->advance */
static void
advance_by_sets(SetJoin *join)
{
	switch (join->phase)
	{
		case SEARCH_CHUNK:
			if (join->next < join->search.nsets)
			{
				probe_member(join, join->next++);
				break;
			}
			join->phase = SEARCH_STREAM;
			join->search.index.limit = join->search.nsets;
			chunks_begin_stream(join);
			break;
		case SEARCH_STREAM:
			if (!probe_stream(join))
				next_chunk_of_sets(join);
			break;
		default:
			Assert(false);
	}
}

void
disk_search_begin(SetJoin *join)
{
	setfile_seek(&join->spill->file, 0);
	if (join->spill->by_keys)
	{
		join->search.only_keys = true;
		join->phase = SEARCH_SELVES;
		join->advance = advance_by_keys;
	}
	else
	{
		join->advance = advance_by_sets;
		next_chunk_of_sets(join);
	}
}
