/*
 * consonants.h
 *		The consonants of a document, one after the other.
 */
#ifndef NEARDUP_CONSONANTS_H
#define NEARDUP_CONSONANTS_H

#include "text/reader.h"

/*
 * Reads the consonants of all words of a document, which has been begun with
 * a reader of words.  Returns their code points in palloc'd memory, as 64-bit
 * numbers.
 */
extern uint64 *consonants_read(Reader *reader, size_t *n);

#endif							/* NEARDUP_CONSONANTS_H */
