/*
 * inner_passages.h
 *		Passages that lie within others.
 */
#ifndef NEARDUP_INNER_PASSAGES_H
#define NEARDUP_INNER_PASSAGES_H

#include "passages/chains.h"

/*
 * Sorts n passages by their places in the first text, those that begin together the
 * longest first, and drops those that lie within others in both texts; returns how many are
 * left.  Answers a cancel.  Takes time in proportion to them and, where more than 64 overlap,
 * to n times the square of the logarithm of n, and 25 bytes each.
 */
extern size_t passages_drop_inner(Passage *passages, size_t n);

#endif							/* NEARDUP_INNER_PASSAGES_H */
