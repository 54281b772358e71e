/*
 * common_runs.h
 *		Maximal runs of shingles that two sequences have in common.
 */
#ifndef NEARDUP_COMMON_RUNS_H
#define NEARDUP_COMMON_RUNS_H

#include "passages/sequence_index.h"

/*
 * A shingle that occurs more often than this, in either sequence, is not looked up in
 * pairs of all its places.
 */
#define OFTEN	8

/* `length` shingles, from place a of one sequence and b of the other. */
typedef struct CommonRun
{
	uint32		a;
	uint32		b;
	uint32		length;
} CommonRun;

/*
 * Two sequences of shingles, under numbers that equal shingles have in common.
 * A shingle of a that b has not is NOWHERE.
 */
typedef struct SequencePair
{
	const uint32 *a;
	const uint32 *b;
	uint32		na;
	uint32		nb;
	const uint32 *a_words;		/* na + k - 1 of them; NULL if shingles are
								 * all */
	const uint32 *b_words;
	uint32		k;				/* a shingle's words */
	SequenceIndex index;		/* of b */
	MemoryContext context;		/* where all of this is */
	uint32	   *reached;		/* per diagonal: end of the last run there, in
								 * a; NULL until needed */
} SequencePair;

/* The diagonal of two places: runs that go on from each other share it. */
static inline uint32 *
reached_on_diagonal(const SequencePair *pair, uint32 a, uint32 b)
{
	return &pair->reached[b + (pair->na - 1 - a)];
}

/* Prepare to follow runs, and forget those that were followed. */
extern void pair_forget_runs(SequencePair *pair);

/*
 * Return the run around places of a and b that have `length` shingles in common,
 * extended to both sides.
 */
extern CommonRun pair_extend(const SequencePair *pair, uint32 a, uint32 b,
							 uint32 length);

/*
 * Find runs of at least `window` shingles all of which occur often.  Returns them
 * palloc'd, *n of them, in the order of their places in a.  A window of that many
 * shingles that does not occur often itself is found in all pairs of its
 * places; of one that does, each place, in either sequence, is in a run.
 */
extern CommonRun *repeated_runs(SequencePair *pair, uint32 window, size_t *n);

#define SHORT_RUNS_MAX	4		/* on one side of a run */

/*
 * Find runs of words too short to have a shingle, close after a run or before it: each close
 * to the one that is nearer to the run, and at most `gap` words from it.  Returns their
 * number; the nearest comes first.  All lengths are in words.
 */
extern int	short_runs_after(const SequencePair *pair, const CommonRun *run,
							 uint32 gap, CommonRun *found);
extern int	short_runs_before(const SequencePair *pair, const CommonRun *run,
							  uint32 gap, CommonRun *found);

#endif							/* NEARDUP_COMMON_RUNS_H */
