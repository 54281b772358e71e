/*
 * case_search.h
 *		Cases of copying: places of two texts that have many words in common.
 */
#ifndef NEARDUP_CASE_SEARCH_H
#define NEARDUP_CASE_SEARCH_H

#include "passages/common_passages.h"

#define CASE_REACH_MAX	6
#define PAIR_OFTEN_MAX	4

/* What makes a case; distances are in words. */
typedef struct CaseRules
{
	uint32		reach;			/* a common word is paired with this many
								 * common words behind it */
	uint32		near;			/* greatest distance of the words of a pair,
								 * and of matches of one passage */
	uint32		least;			/* least matched words of a passage */
	uint32		pair_often;		/* pairs that occur more often in a text do
								 * not match */
	uint32		rarity;			/* words that are more than 1 in so many of a
								 * text's words make no pairs */
	uint32		gap;			/* greatest distance of matches of one case,
								 * in one of the texts */
	uint32		far;			/* greatest distance in the other text */
	int			min_length;		/* least characters of a case, in either text;
								 * left to the caller */
	double		min_share;		/* least share of matched words, in the text
								 * where the case has fewer words */
} CaseRules;

/* One of two texts whose words are numbered. */
typedef struct NumberedWords
{
	uint32	   *ids;			/* per word: equal for equal words of both
								 * texts; UINT32_MAX if it is not in the
								 * second text */
	uint32		n;
} NumberedWords;

/*
 * Number the words of two texts, given by na and nb hashes.  Replaces the
 * hashes, which are palloc'd, by ids in their own memory, which the caller
 * frees.  Answers a cancel.
 */
extern void case_words_number(NumberedWords *a, NumberedWords *b,
							  uint64 *a_hashes, uint32 na,
							  uint64 *b_hashes, uint32 nb);

/*
 * Find the cases of two texts, both of fewer than INDEXED_MAX / rules->reach
 * words.  Returns *n cases, palloc'd, in the order of their places.  If the
 * texts are exchanged, so are the places, and nothing else.  Answers a cancel.
 * Takes some 33 bytes of memory for each word with rules->reach 3, 63 with 6,
 * and 24 for each match, all freed but the result.
 */
extern Passage *find_cases(const NumberedWords *a, const NumberedWords *b,
						   const CaseRules *rules, size_t *n);

#endif							/* NEARDUP_CASE_SEARCH_H */
