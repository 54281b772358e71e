/*
 * weigher.h
 *		Weights of words, for all methods that weigh them.
 */
#ifndef NEARDUP_WEIGHER_H
#define NEARDUP_WEIGHER_H

#include "lexicon/weights.h"
#include "document/doc_context.h"

/* How words are weighed; kept by a call site. */
typedef struct Weighed
{
	char	   *name;			/* the argument that the rest was made of */
	size_t		name_len;
	Weighting	weighting;
	Bag		   *bag;			/* of the document */
} Weighed;

/* The document context's, for an argument such as 'tf-ridf'; raises weighting_parse()'s. */
extern Weighed *weighed_get(DocContext *doccxt, const text *name);

/*
 * The weight of a word of the bag; view is NULL where there is no lexicon.  False
 * if the lexicon does not have the word.
 */
extern bool weighed_word(const Weighed *weighed, LexiconView *view,
						 const BagWord *word, double *weight);

/*
 * The second parameter of a signature's spec: it differs between
 * lexicons and weightings.
 */
extern uint32 weighed_param(const Weighed *weighed, const LexiconView *view);

#endif							/* NEARDUP_WEIGHER_H */
