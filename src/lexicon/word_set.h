/*
 * word_set.h
 *		The building of a set of descriptive words.
 */
#ifndef NEARDUP_WORD_SET_H
#define NEARDUP_WORD_SET_H

#include "lexicon/bag.h"

/* A word's share of one document. */
typedef struct Occurrence
{
	uint64		hash;			/* of the word */
	float		share;			/* tf / length of the document */
	uint32		document;		/* its number */
} Occurrence;

/* A word with the share from which on a document has it. */
typedef struct DescriptiveWord
{
	uint64		hash;
	float		threshold;
	double		unstable;		/* documents near the threshold, in relation
								 * to those above it */
	size_t		first;			/* its occurrences, by falling share */
	size_t		n;
	size_t		above;			/* how many are above the threshold */
} DescriptiveWord;

/* What a round has left. */
typedef struct WordSetRound
{
	size_t		words;
	double		covered;		/* share of documents that have some word */
	double		unstable;		/* mean of the words' */
} WordSetRound;

#define WORD_SET_ROUNDS		8

typedef struct WordSet
{
	DescriptiveWord *words;		/* by rising hash */
	size_t		n;
	WordSetRound rounds[WORD_SET_ROUNDS + 1];	/* the first is before any */
	int			nrounds;
} WordSet;

/*
 * Builds a set of at most `wanted` words from the n occurrences of words in
 * `documents` documents of `length` words on average.  It sorts the
 * occurrences.  In the current memory context; answers a cancel.
 */
extern WordSet *word_set_build(Occurrence *occurrences, size_t n,
							   size_t documents, double length,
							   size_t wanted);

#endif							/* NEARDUP_WORD_SET_H */
