/*
 * counts.h
 *		Counting the words of a corpus in bounded memory.
 */
#ifndef NEARDUP_COUNTS_H
#define NEARDUP_COUNTS_H

#include "lexicon/lexicon.h"
#include "text/reader.h"

typedef struct Counts Counts;

/*
 * Makes empty counts in the current memory context that never hold more than
 * max_words words, 1 <= max_words <= LEXICON_MAX_WORDS.
 */
extern Counts *counts_create(size_t max_words);

/* Adds a document of len bytes of UTF-8, whose words the reader gives. */
extern void counts_add_document(Counts *counts, Reader *reader,
								const char *doc, size_t len);

/* Adds a document of n shingles, as often as each occurs. */
extern void counts_add_shingles(Counts *counts, const uint64 *shingles,
								size_t n);

/* Adds what was counted elsewhere. */
extern void counts_add_lexicon(Counts *counts, const Lexicon *lexicon);

/* How many words it holds. */
extern size_t counts_nwords(const Counts *counts);

/*
 * What has been counted as a lexicon of the given analysis, in the current
 * memory context.
 */
extern Lexicon *counts_lexicon(const Counts *counts, const SignatureSpec *spec,
							   bool markup);

#endif							/* NEARDUP_COUNTS_H */
