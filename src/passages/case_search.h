/*
 * case_search.h
 *		Cases of copying: places of two texts that have many words in common.
 */
#ifndef NEARDUP_CASE_SEARCH_H
#define NEARDUP_CASE_SEARCH_H

#include "passages/common_passages.h"

#define CASE_REACH_MAX	6
#define PAIR_OFTEN_MAX	4

/* Rules that define a case; distances are in words */
typedef struct CaseRules
{
	uint32		reach;			/* number of common words behind it with which
								 * a common word is paired */
	uint32		near;			/* greatest distance between the words of a
								 * pair, and between matches of a passage */
	uint32		least;			/* least number of matched words in a passage */
	uint32		pair_often;		/* a pair that occurs more often in a text
								 * makes no match */
	uint32		rarity;			/* a word that is more than 1 / rarity of a
								 * text's words makes no pairs */
	uint32		gap;			/* greatest distance between matches of a
								 * case, in one of the texts */
	uint32		far;			/* greatest distance in the other text */
	int			min_length;		/* least number of characters of a case, in
								 * each text; the caller checks it */
	double		min_share;		/* least share of matched words in a case, in
								 * the text where it has fewer words */
} CaseRules;

/* A text as numbers of its words */
typedef struct NumberedWords
{
	uint32	   *ids;			/* number of each word, equal for equal words
								 * of both texts; UINT32_MAX = not in the
								 * second text */
	uint32		n;
} NumberedWords;

/*
 * Number the words of two texts, given by na and nb palloc'd hashes.
 * Overwrites the memory of the hashes with the ids, which the caller frees.
 * Answers a cancel.
 */
extern void case_words_number(NumberedWords *a, NumberedWords *b,
							  uint64 *a_hashes, uint32 na,
							  uint64 *b_hashes, uint32 nb);

/*
 * Find the cases of two texts, both of fewer than INDEXED_MAX / rules->reach
 * words.  Returns *n cases, palloc'd, in the order of their places.
 * Exchanging the texts exchanges the places, and changes nothing else.
 * Answers a cancel.  Takes some 33 bytes of memory for each word with
 * rules->reach 3, 63 with 6, and 24 for each match, all freed but the result.
 */
extern Passage *find_cases(const NumberedWords *a, const NumberedWords *b,
						   const CaseRules *rules, size_t *n);

#endif							/* NEARDUP_CASE_SEARCH_H */
