/*
 * case_search.h
 *		Cases of copying: places of two texts that have many words in common.
 */
#ifndef NEARDUP_CASE_SEARCH_H
#define NEARDUP_CASE_SEARCH_H

#include "passages/common_passages.h"

#define CASE_REACH_MAX	3

/* What a case is; distances are in words. */
typedef struct CaseRules
{
	uint32		reach;			/* common words after a word that it is paired
								 * with */
	uint32		near;			/* greatest distance of these, and of matches
								 * of one passage */
	uint32		least;			/* matched words that make a passage */
	uint32		gap;			/* between matches of one case */
	uint32		far;			/* the same in the other text */
	int			min_length;		/* characters of a case, in either text */
	double		min_share;		/* of a case's words, in the text where it has
								 * fewer, that match */
} CaseRules;

/*
 * Find the cases of two sequences of words, given by their hashes: na and nb <
 * INDEXED_MAX / CASE_REACH_MAX of them.  The hashes' memory, palloc'd, is used and
 * freed.  Returns cases in the order of their places, palloc'd, *n of them.  It does
 * not matter which sequence comes first.  Answers a cancel.  Takes some 60 bytes of
 * memory for each word and 24 for each match, all freed but the result.
 */
extern Passage *find_cases(uint64 *a, uint32 na, uint64 *b, uint32 nb,
						   const CaseRules *rules, size_t *n);

#endif							/* NEARDUP_CASE_SEARCH_H */
