/*
 * select.h
 *		Selection of features: a few of a document's shingles.
 *
 * Each function writes the chosen shingles to `chosen`, which has room for
 * all, in the order of the document and with repetitions, and returns their
 * number.
 */
#ifndef NEARDUP_SELECT_H
#define NEARDUP_SELECT_H

#include "document/shingler.h"

/*
 * Winnowing (Schleimer, Wilkerson & Aiken, SIGMOD 2003): choose the smallest
 * of every `window` consecutive hashes, window >= 1, and the rightmost among
 * equals; a hash that is chosen in several windows is written once.  Fewer
 * hashes than a window are one window.
 */
extern size_t select_winnow(const uint64 *hashes, size_t n, size_t window,
							uint64 *chosen);

/* Choose the first hash and every m-th one after it; m >= 1. */
extern size_t select_every(const uint64 *hashes, size_t n, size_t m,
						   uint64 *chosen);

typedef struct Anchors Anchors;

/* Return an empty list of anchors, each a sequence of units. */
extern Anchors *anchors_create(void);

/* Add an anchor of n >= 1 units, which are copied. */
extern void anchors_add(Anchors *anchors, const uint64 *units, size_t n);

/*
 * Sort the anchors after the last one was added.  Return a hash of all
 * anchors, which does not depend on their order.
 */
extern uint64 anchors_finish(Anchors *anchors);

/*
 * Choose the shingles that begin with an anchor or, with `following`, follow
 * one.  If several anchors begin at the same place, the longest counts.
 */
extern size_t select_by_anchor(const Sequence *sequence,
							   const Anchors *anchors, bool following,
							   uint64 *chosen);

/*
 * Choose the `count` hashes, of n, whose begins (hashes, too) are the rarest
 * among the n begins; if begins are equally rare, the smallest hashes come
 * first.  Chosen hashes are in no order of the document.
 */
extern size_t select_rarest(const uint64 *hashes, const uint64 *begins,
							size_t n, size_t count, uint64 *chosen);

/*
 * Read the consonants of all words of the document that a reader of words has
 * begun; return their code points, palloc'd, as 64-bit numbers.
 */
extern uint64 *consonants_read(Reader *reader, size_t *n);

#endif							/* NEARDUP_SELECT_H */
