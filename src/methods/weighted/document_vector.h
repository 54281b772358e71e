/*
 * document_vector.h
 *		A document as a vector: each of its words, or shingles, and what it
 *		weighs.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/methods/weighted/document_vector.h
 */
#ifndef NEARDUP_DOCUMENT_VECTOR_H
#define NEARDUP_DOCUMENT_VECTOR_H

#include "signature/signature.h"
#include "document/weigher.h"

/*
 * The vector, by this method, of what has been counted in the bag of `weighed`,
 * of documents analysed like source; in the current memory context.  view is
 * NULL where no lexicon is needed.
 */
extern Signature *document_vector(const SignatureSpec *source, Method method,
								  const Weighed *weighed, LexiconView *view);

#endif							/* NEARDUP_DOCUMENT_VECTOR_H */
