/*
 * terms.h
 *		Folded words to terms: filtered and stemmed.
 */
#ifndef NEARDUP_TERMS_H
#define NEARDUP_TERMS_H

#include "text/analysis.h"
#include "text/letters.h"

typedef struct Terms Terms;

/* Return the letter rules of an analysis. */
extern LetterRules rules_of_spec(const SignatureSpec *spec);

/*
 * Make the filters and stemmer of an analysis in the current memory context,
 * which on reset frees what libstemmer has allocated.  Raises
 * FEATURE_NOT_SUPPORTED if libstemmer does not have the language.
 */
extern Terms *terms_create(const SignatureSpec *spec);

/* True if every word is its own term. */
extern bool terms_are_words(const Terms *terms);

/* Compute the hash of a word's term; return false if the word is left out. */
extern bool term_hash(Terms *terms, const char *word, size_t len,
					  uint64 *hash);

/*
 * Replace a word by its term, valid until the next call, and compute its hash;
 * return false if the word is left out.
 */
extern bool term_text(Terms *terms, const char **word, size_t *len,
					  uint64 *hash);

#endif							/* NEARDUP_TERMS_H */
