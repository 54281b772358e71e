/*
 * common_runs.h
 *		Maximal runs of shingles that two sequences have in common.
 */
#ifndef NEARDUP_COMMON_RUNS_H
#define NEARDUP_COMMON_RUNS_H

#include "passages/sequence_index.h"

/*
 * A shingle that occurs more often than this, in either sequence, is not
 * extended from all pairs of its places.
 */
#define OFTEN	8

/*
 * Equal stretches of `length` shingles, at place a of one sequence and b of
 * the other.
 */
typedef struct CommonRun
{
	uint32		a;
	uint32		b;
	uint32		length;
} CommonRun;

/*
 * Two sequences of shingles, as numbers: equal shingles have equal numbers, a
 * shingle of a that is not in b is NOWHERE.
 */
typedef struct SequencePair
{
	const uint32 *a;
	const uint32 *b;
	uint32		na;
	uint32		nb;
	const uint32 *a_words;		/* na + k - 1 words, or NULL: no short runs */
	const uint32 *b_words;
	uint32		k;				/* words of a shingle */
	SequenceIndex index;		/* of b */
	MemoryContext context;		/* of the arrays */
	uint32	   *reached;		/* per diagonal: end in a of the last run on
								 * it; allocated by pair_forget_runs() */
} SequencePair;

/*
 * The entry of the diagonal of two places: pairs of places at one distance
 * share it.
 */
static inline uint32 *
reached_on_diagonal(const SequencePair *pair, uint32 a, uint32 b)
{
	return &pair->reached[b + (pair->na - 1 - a)];
}

/* Forget the runs on all diagonals. */
extern void pair_forget_runs(SequencePair *pair);

/* Extend the `length` equal shingles at places a and b to both sides. */
extern CommonRun pair_extend(const SequencePair *pair, uint32 a, uint32 b,
							 uint32 length);

/*
 * Find runs of at least `window` shingles all of which occur often.  Returns
 * *n runs, palloc'd, in the order of their places in a.  A window of `window`
 * shingles that does not occur often itself is in runs at all pairs of its
 * places.  Each place of a window that does, in either sequence, is in one run
 * at least.
 */
extern CommonRun *repeated_runs(SequencePair *pair, uint32 window, size_t *n);

#define SHORT_RUNS_MAX	4		/* on one side of a run */

/*
 * Find runs of words too short to have a shingle, close after a run or before
 * it.  Each is at most `gap` words from the one before it, in the direction
 * away from the run.  Returns their number; the nearest comes first.  All
 * lengths are in words.
 */
extern int	short_runs_after(const SequencePair *pair, const CommonRun *run,
							 uint32 gap, CommonRun *found);
extern int	short_runs_before(const SequencePair *pair, const CommonRun *run,
							  uint32 gap, CommonRun *found);

#endif							/* NEARDUP_COMMON_RUNS_H */
