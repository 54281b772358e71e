/*
 * common_passages.h
 *		Finds the passages that two sequences of words have in common.
 */
#ifndef NEARDUP_COMMON_PASSAGES_H
#define NEARDUP_COMMON_PASSAGES_H

/* Rules that define a passage; all in words */
typedef struct PassageRules
{
	uint32		k;				/* words of a shingle; at most `least` */
	uint32		least;			/* least number of common words, in runs of at
								 * least k */
	uint32		gap;			/* greatest number of words between two runs,
								 * in each text */
} PassageRules;

/*
 * A passage in both texts, by numbers of words; the ends are the words after
 * it
 */
typedef struct Passage
{
	uint32		a_start;
	uint32		a_end;
	uint32		b_start;
	uint32		b_end;
	uint32		matched;		/* number of words in common */
} Passage;

/*
 * Return the Jaccard similarity: the share of both texts' words in the passage
 * that they have in common.
 */
static inline double
passage_similarity(const Passage *passage)
{
	return (double) passage->matched /
		((double) (passage->a_end - passage->a_start) +
		 (double) (passage->b_end - passage->b_start) - passage->matched);
}

/*
 * Return the share of common words, in the text where the passage has fewer
 * words.
 */
static inline double
passage_coverage(const Passage *passage)
{
	return (double) passage->matched / Min(passage->a_end - passage->a_start,
										   passage->b_end - passage->b_start);
}

/*
 * The n < INDEXED_MAX shingles of k words of a text; none if it has fewer than
 * k words
 */
typedef struct WordSequence
{
	uint64	   *shingles;
	uint32		n;
	uint32	   *words;			/* hashes of the n + k - 1 words, if
								 * short_runs_count(); NULL = not needed */
} WordSequence;

/*
 * True if runs shorter than a shingle can belong to a passage: gaps are
 * allowed, and a shingle has more than two words.
 */
static inline bool
short_runs_count(const PassageRules *rules)
{
	return rules->gap > 0 && rules->k > 2;
}

/*
 * Find the common passages of two sequences.  Overwrites and frees their
 * shingles, which are palloc'd.  Returns *n palloc'd passages, in the order of
 * their starts.
 *
 * Every common run of at least rules->least words is within one passage,
 * unless all its windows of rules->least words occur more than OFTEN times in
 * one of the texts: then each of its words is in at least one passage.  With
 * rules->gap = 0 each passage is a maximal run.  Answers a cancel.  Takes time
 * and memory in proportion to the numbers of words and to the result.  Beside
 * the hashes these are 12 bytes for each word of b; if all shingles occur
 * often, 8 bytes for each word of a and 34 for each word of b.
 */
extern Passage *common_passages(WordSequence *a, WordSequence *b,
								const PassageRules *rules, size_t *n);

/*
 * Sort n passages by their place in the first text.  If several begin
 * together, the longest comes first.
 */
extern void passages_sort(Passage *passages, size_t n);

/*
 * Sort n passages, drop each that is within another in both texts, and return
 * the number left.  Answers a cancel.  Takes 4 bytes for each passage, and
 * time in proportion to the number of pairs of passages that overlap in the
 * first text.
 */
extern size_t passages_drop_inner(Passage *passages, size_t n);

#endif							/* NEARDUP_COMMON_PASSAGES_H */
