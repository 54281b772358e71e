/*
 * common_runs.h
 *		Finds maximal runs of shingles that two sequences have in common.
 */
#ifndef NEARDUP_COMMON_RUNS_H
#define NEARDUP_COMMON_RUNS_H

#include "passages/sequence_index.h"

/*
 * A shingle is frequent if it occurs more often than this in one of the
 * sequences; it is not extended from each pair of its places.
 */
#define OFTEN	8

/*
 * `length` equal shingles in a row, at place a of one sequence and place b of
 * the other
 */
typedef struct CommonRun
{
	uint32		a;
	uint32		b;
	uint32		length;
} CommonRun;

/*
 * Two sequences of shingles, by numbers: equal shingles have equal numbers,
 * and a shingle of a that is not in b is NOWHERE
 */
typedef struct SequencePair
{
	const uint32 *a;
	const uint32 *b;
	uint32		na;
	uint32		nb;
	const uint32 *a_words;		/* na + k - 1 words of a; NULL = no short runs */
	const uint32 *b_words;		/* nb + k - 1 words of b; NULL = no short runs */
	uint32		k;				/* number of words in a shingle */
	SequenceIndex index;		/* index of b */
	MemoryContext context;		/* memory context of the arrays */
	uint32	   *reached;		/* end, in a, of the last run on each
								 * diagonal; pair_forget_runs() allocates it */
} SequencePair;

/*
 * Return the entry of the diagonal of two places.  Pairs of places at the same
 * distance share a diagonal.
 */
static inline uint32 *
reached_on_diagonal(const SequencePair *pair, uint32 a, uint32 b)
{
	return &pair->reached[b + (pair->na - 1 - a)];
}

/* Forget the runs on all diagonals. */
extern void pair_forget_runs(SequencePair *pair);

/*
 * Return the run that contains the `length` equal shingles at places a and b,
 * extended to both sides.
 */
extern CommonRun pair_extend(const SequencePair *pair, uint32 a, uint32 b,
							 uint32 length);

/*
 * Find runs of at least `window` shingles that are all frequent.  Returns *n
 * palloc'd runs, in the order of their places in a.  A window of `window`
 * shingles that is not frequent itself is in runs at all pairs of its places.
 * A window that is frequent is, at each of its places in either sequence, in
 * at least one run.
 */
extern CommonRun *repeated_runs(SequencePair *pair, uint32 window, size_t *n);

#define SHORT_RUNS_MAX	4		/* limit on one side of a run */

/*
 * Find runs of words that are too short to have a shingle, after a run.  Each
 * is at most `gap` words away from its predecessor, and the nearest comes
 * first.  Returns their number, at most SHORT_RUNS_MAX.  All lengths are in
 * words.
 */
extern int	short_runs_after(const SequencePair *pair, const CommonRun *run,
							 uint32 gap, CommonRun *found);

/* As short_runs_after(), before a run. */
extern int	short_runs_before(const SequencePair *pair, const CommonRun *run,
							  uint32 gap, CommonRun *found);

#endif							/* NEARDUP_COMMON_RUNS_H */
