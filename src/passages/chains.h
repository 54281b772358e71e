/*
 * chains.h
 *		Common runs of words put together to passages.
 */
#ifndef NEARDUP_CHAINS_H
#define NEARDUP_CHAINS_H

/* What a passage is; all in words. */
typedef struct PassageRules
{
	uint32		k;				/* a shingle's, at most `least` */
	uint32		least;			/* words in common that make a passage, in runs of
								 * at least k */
	uint32		gap;			/* words without a counterpart, in either
								 * text, that a passage may go on behind */
} PassageRules;

/* Places of words; ends are behind the last one. */
typedef struct Passage
{
	uint32		a_start;
	uint32		a_end;
	uint32		b_start;
	uint32		b_end;
	uint32		matched;		/* words in common */
} Passage;

typedef struct Chains Chains;

/*
 * Makes an empty set of chains, in the current memory context, over a second
 * text of nb words: 4 bytes for each of them, and what is found.
 */
extern Chains *chains_create(const PassageRules *rules, uint32 nb);

/*
 * Adds a run of words that both texts have in common.  Runs come in about
 * the order of their starts in the first text.  The words of one that counts make
 * a passage; those of others only go with it.
 */
extern void chains_add(Chains *chains, uint32 a_start, uint32 b_start,
					   uint32 words, bool counts);

/* The passages, palloc'd, when all runs have been added, and their number. */
extern Passage *chains_finish(Chains *chains, size_t *n);

#endif							/* NEARDUP_CHAINS_H */
