/*
 * common_passages.h
 *		The passages that two sequences of words have in common.
 */
#ifndef NEARDUP_COMMON_PASSAGES_H
#define NEARDUP_COMMON_PASSAGES_H

/* What a passage is; all in words. */
typedef struct PassageRules
{
	uint32		k;				/* a shingle's, at most `least` */
	uint32		least;			/* words in common that make a passage, in
								 * runs of at least k */
	uint32		gap;			/* words without a counterpart, in either
								 * text, that a passage may go on after */
} PassageRules;

/* Places of words; an end is after the last one. */
typedef struct Passage
{
	uint32		a_start;
	uint32		a_end;
	uint32		b_start;
	uint32		b_end;
	uint32		matched;		/* words in common */
} Passage;

/* The words of both that are in a passage, out of all words of both. */
static inline double
passage_similarity(const Passage *passage)
{
	return (double) passage->matched /
		((double) (passage->a_end - passage->a_start) +
		 (double) (passage->b_end - passage->b_start) - passage->matched);
}

/* The words in common out of those of the text in which the passage has fewer. */
static inline double
passage_coverage(const Passage *passage)
{
	return (double) passage->matched / Min(passage->a_end - passage->a_start,
										   passage->b_end - passage->b_start);
}

/* A text's shingles of k words each, n < INDEXED_MAX of them, 0 if it has fewer words. */
typedef struct WordSequence
{
	uint64	   *shingles;
	uint32		n;
	uint32	   *words;			/* hashes of the n + k - 1 words, if
								 * short_runs_count(); otherwise NULL */
} WordSequence;

/*
 * Whether runs shorter than a shingle can count beside longer ones: a passage may
 * go on after what differs, and two words are fewer than a shingle has.
 */
static inline bool
short_runs_count(const PassageRules *rules)
{
	return rules->gap > 0 && rules->k > 2;
}

/*
 * Find the common passages of two sequences, whose shingles, palloc'd, are used and
 * freed.  Returns them palloc'd, in the order of their starts, *n of them.
 *
 * Every common run of at least rules->least words is within a passage, in both
 * texts, unless all its windows of that many words occur more than OFTEN times
 * in one of the texts: then each of its words is, in either text, but maybe not
 * in the same passage.  With rules->gap = 0 each passage is a run that cannot be
 * longer.  Answers a cancel; takes time and memory in proportion to the
 * numbers of words and to the result: beside the hashes 12 bytes for each
 * word of b, where all occurs often 8 for each of a and 34 for each of b.
 */
extern Passage *common_passages(WordSequence *a, WordSequence *b,
								const PassageRules *rules, size_t *n);

/* Sort n passages by their places in the first text, those that begin together the longest first. */
extern void passages_sort(Passage *passages, size_t n);

/*
 * Sort n passages, drop those that lie within others in both texts, and return how many are
 * left.  Answers a cancel.  Takes 17 bytes for each, and time in proportion to n times the
 * logarithm of n, or where many overlap to n times its square.
 */
extern size_t passages_drop_inner(Passage *passages, size_t n);

#endif							/* NEARDUP_COMMON_PASSAGES_H */
