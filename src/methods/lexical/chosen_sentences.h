/*
 * chosen_sentences.h
 *		The few sentences of a document that stand for it.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/methods/lexical/chosen_sentences.h
 */
#ifndef NEARDUP_CHOSEN_SENTENCES_H
#define NEARDUP_CHOSEN_SENTENCES_H

#include "lib/stringinfo.h"

#include "document/doc_context.h"

#define MAX_SENTENCES	100		/* the most that may be chosen */

/* A sentence of more words is cut. */
#define MAX_SENTENCE_WORDS	65536

typedef struct Sentence
{
	uint64		hash;			/* of its words, in the order that is said */
	int64		rank;			/* the greater, the better; the caller's */
	StringInfoData text;		/* its words, a space between two; empty where
								 * they are not wanted or not to be had */
	uint64	   *words;			/* their hashes */
	size_t		nwords;
} Sentence;

/* The best sentences that have been met, and the one being read. */
typedef struct ChosenSentences
{
	bool		with_text;		/* of the same rank, the text decides */
	int			wanted;
	int			n;				/* chosen so far, best first */
	Sentence	chosen[MAX_SENTENCES];
	Sentence	current;
	bool		in_sentence;	/* the current one goes on, cut for its length */
} ChosenSentences;

/*
 * Begins a choice of `wanted` sentences in the current memory context.  Raises
 * INVALID_PARAMETER_VALUE unless 1 <= wanted <= MAX_SENTENCES.
 */
extern ChosenSentences *sentences_choose(const DocContext *doccxt, int wanted);

/*
 * Reads the next sentence that has words into `current`, all but its rank;
 * false at the end of the document.
 */
extern bool sentences_read(ChosenSentences *sentences, const DocContext *doccxt);

/* Takes the current sentence among the chosen ones if it belongs there. */
extern void sentences_consider(ChosenSentences *sentences);

#endif							/* NEARDUP_CHOSEN_SENTENCES_H */
