/*
 * sentences.h
 *		A document cut into lines or sentences.
 */
#ifndef NEARDUP_SENTENCES_H
#define NEARDUP_SENTENCES_H

#include "text/source.h"

typedef struct Sentences Sentences;

/*
 * Makes what cuts documents into sentences, or into lines, in the current
 * memory context, which frees ICU's part, too.
 */
extern Sentences *sentences_create(bool lines);

/* Begins a document, which the source gives. */
extern void sentences_begin(Sentences *sentences, TextSource *source);

/* Goes on to the next line or sentence; false if there is none. */
extern bool sentences_next(Sentences *sentences);

/*
 * The next block of the line or sentence, as a MoreText function (words.h);
 * arg is the Sentences.  False at its end.
 */
extern bool sentence_text(void *arg, const char **text, size_t *len);

#endif							/* NEARDUP_SENTENCES_H */
