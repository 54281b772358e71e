/*
 * common_passages.h
 *		The passages that two sequences of words have in common.
 */
#ifndef NEARDUP_COMMON_PASSAGES_H
#define NEARDUP_COMMON_PASSAGES_H

#include "passages/chains.h"

/*
 * Whether runs shorter than a shingle can count beside longer ones: a passage may
 * go on behind what differs, and two words are fewer than a shingle has.
 */
static inline bool
short_runs_count(const PassageRules *rules)
{
	return rules->gap > 0 && rules->k > 2;
}

/*
 * The common passages of two sequences, given as their shingles of rules->k
 * words each, na and nb < INDEXED_MAX of them, 0 if there are fewer words; their memory,
 * palloc'd, is used and freed.  The words' own hashes, rules->k - 1 more, are
 * given if short_runs_count(); otherwise NULL.  Palloc'd, in the order of their starts, *n of
 * them.  What works on the way is freed.
 *
 * Every common run of at least rules->least words is within a passage, in both
 * texts, unless all windows of so many words in it stand more than OFTEN times
 * in one of the texts: then each of its words is, in either text, but maybe not
 * in the same passage.  With rules->gap = 0 each passage is a run that cannot be
 * made longer.  Answers a cancel; takes time and memory in proportion to the
 * numbers of words and to what is found: beside the hashes 12 bytes for each
 * word of b, where all stands often 8 for each of a and 34 for each of b.
 */
extern Passage *common_passages(uint64 *a, const uint32 *a_words, uint32 na,
								uint64 *b, const uint32 *b_words, uint32 nb,
								const PassageRules *rules, size_t *n);

#endif							/* NEARDUP_COMMON_PASSAGES_H */
