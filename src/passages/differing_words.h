/*
 * differing_words.h
 *		Finds the words of a passage that its two texts have in common.
 */
#ifndef NEARDUP_DIFFERING_WORDS_H
#define NEARDUP_DIFFERING_WORDS_H

#include "passages/common_passages.h"

/* What passages say of a word; a greater value prevails */
typedef enum WordMark
{
	WORD_OUTSIDE,				/* the word is in no passage */
	WORD_DIFFERS,				/* it is in passages, and in common in none */
	WORD_MATCHES				/* it is in common in a passage */
} WordMark;

/*
 * Mark the words of a passage.  `a` and `b` are the hashes of the texts' words,
 * a_marks and b_marks the marks of all words (WordMark).  The texts are read
 * side by side.  Where they differ, both go on at the nearest two words that
 * agree; a word between that is on both sides has only moved.
 */
extern void mark_passage_words(const uint32 *a, const uint32 *b,
							   const Passage *passage,
							   const PassageRules *rules, uint8 *a_marks,
							   uint8 *b_marks);

#endif							/* NEARDUP_DIFFERING_WORDS_H */
