/*
 * case_search.h
 *		Cases of copying: places of two texts that have many words in common.
 */
#ifndef NEARDUP_CASE_SEARCH_H
#define NEARDUP_CASE_SEARCH_H

#include "passages/common_passages.h"

#define CASE_REACH_MAX	3

/* What makes a case; distances are in words. */
typedef struct CaseRules
{
	uint32		reach;			/* a common word is paired with so many after
								 * it */
	uint32		near;			/* greatest distance of the words of a pair,
								 * and of matches of one passage */
	uint32		least;			/* least matched words of a passage */
	uint32		gap;			/* greatest distance of matches of one case in
								 * one text, */
	uint32		far;			/* and in the other */
	int			min_length;		/* least characters of a case, in either text */
	double		min_share;		/* least share of matched words, in the text
								 * where the case has fewer words */
} CaseRules;

/*
 * Find the cases of two sequences of words, given by na and nb hashes, both fewer than
 * INDEXED_MAX / CASE_REACH_MAX.  Overwrites and frees the hashes, which are palloc'd.  Returns
 * *n cases, palloc'd, in the order of their places.  If the sequences are exchanged, so are
 * the places, and nothing else.  Answers a cancel.  Takes some 60 bytes of memory for each
 * word and 24 for each match, all freed but the result.
 */
extern Passage *find_cases(uint64 *a, uint32 na, uint64 *b, uint32 nb,
						   const CaseRules *rules, size_t *n);

#endif							/* NEARDUP_CASE_SEARCH_H */
