/*
 * terms.h
 *		Folded words to terms: filtered and stemmed.
 */
#ifndef NEARDUP_TERMS_H
#define NEARDUP_TERMS_H

#include "text/analysis.h"
#include "text/letters.h"

typedef struct Terms Terms;

/* The letter rules of an analysis. */
extern LetterRules rules_of_spec(const SignatureSpec *spec);

/*
 * Make what an analysis needs, in the current memory context, which frees
 * libstemmer's part, too.  Raises FEATURE_NOT_SUPPORTED where libstemmer does
 * not know the language.
 */
extern Terms *terms_create(const SignatureSpec *spec);

/* Whether all words are kept as they are. */
extern bool terms_are_words(const Terms *terms);

/* The hash of a word's term; false if the word is left out. */
extern bool term_hash(Terms *terms, const char *word, size_t len,
					  uint64 *hash);

/* The same with the term itself, valid until the next call. */
extern bool term_text(Terms *terms, const char **word, size_t *len,
					  uint64 *hash);

#endif							/* NEARDUP_TERMS_H */
