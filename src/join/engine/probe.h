/*
 * probe.h
 *		Sets probe the index of a chunk and are verified.
 */
#ifndef NEARDUP_PROBE_H
#define NEARDUP_PROBE_H

#include "join/engine/join_state.h"

/* Number of candidates ahead of which one is prefetched, and values of it. */
#define FETCH_AHEAD		4
#define FETCHED_VALUES	6

/* Make an index of the sets of the chunk in join->search, or attach the shared one. */
extern void probe_begin_chunk(SetJoin *join);
extern void probe_end_chunk(SetJoin *join);

/*
 * Whether this process makes the next probe.  All processes call it for the same probes
 * in the same order.
 */
extern bool probe_is_claimed(SetJoin *join);

/* Leave the candidates for a prepared set in the index; returns their number. */
extern uint32 probe_index(SetJoin *join, const JoinSet *set);

/* Add the next set of the chunk to the index, unless all have been added at once. */
extern void probe_add_next(SetJoin *join, const JoinSet *set);

/* Verify the candidates of the last probe, and note matches. */
extern void probe_verify(SetJoin *join, const JoinSet *probing);

/* Note a match of two sets; or of a set, which has rows on both sides, with itself. */
extern void probe_add_match(SetJoin *join, const JoinSet *indexed, const JoinSet *probing);
extern void probe_add_itself(SetJoin *join, const JoinSet *set);

/* Prefetch for the probe of set `number` of the chunk and those after it. */
extern void probe_fetch_ahead(SetJoin *join, uint32 number);

/* join->advance where all sets are in memory. */
extern void probe_advance(SetJoin *join);

/* Candidate i of the last probe; others after it are prefetched. */
static inline const JoinSet *
probe_candidate(const SetJoin *join, uint32 i)
{
	const JoinSet *sets = join->search.sets;
	const uint32 *candidates = join->search.index.candidates;
	uint32		n = join->search.index.ncandidates;

	if (n - i > 2 * FETCH_AHEAD)
		__builtin_prefetch(&sets[candidates[i + 2 * FETCH_AHEAD]]);
	if (n - i > FETCH_AHEAD)
	{
		const JoinSet *next = &sets[candidates[i + FETCH_AHEAD]];

		__builtin_prefetch(next->values - 1);
		__builtin_prefetch(next->values + FETCHED_VALUES);
	}
	return &sets[candidates[i]];
}

#endif							/* NEARDUP_PROBE_H */
