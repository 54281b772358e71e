/*
 * weigher.h
 *		Weights of words, for all methods that weigh them.
 */
#ifndef NEARDUP_WEIGHER_H
#define NEARDUP_WEIGHER_H

#include "lexicon/weights.h"
#include "document/doc_context.h"

/* The weighting of a call site */
typedef struct Weighed
{
	char	   *name;			/* text from which the weighting was parsed */
	size_t		name_len;
	Weighting	weighting;
	Bag		   *bag;			/* words of the document with their counts */
} Weighed;

/*
 * Return the document context's weighting for an argument such as 'tf-ridf';
 * raises the errors of weighting_parse().
 */
extern Weighed *weighed_get(DocContext *doccxt, const text *name);

/*
 * Compute the weight of a word of the bag; view is NULL if there is no
 * lexicon.  Return false if the lexicon does not have the word.
 */
extern bool weighed_word(const Weighed *weighed, LexiconView *view,
						 const BagWord *word, double *weight);

/*
 * Return a parameter of a signature's spec that differs between lexicons and
 * weightings.
 */
extern uint32 weighed_param(const Weighed *weighed, const LexiconView *view);

#endif							/* NEARDUP_WEIGHER_H */
