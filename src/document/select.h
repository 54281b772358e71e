/*
 * select.h
 *		Selection of features: a few of a document's shingles.
 *
 * Each function writes the shingles that it chooses, in the order of the
 * document and with repetitions, and returns how many there are; `chosen` has
 * room for all of them.
 */
#ifndef NEARDUP_SELECT_H
#define NEARDUP_SELECT_H

#include "document/shingler.h"

/*
 * Winnowing (Schleimer, Wilkerson & Aiken, SIGMOD 2003): of every `window`
 * consecutive hashes, window >= 1, the smallest, the rightmost among equals;
 * one that is chosen in several windows is written once.  Fewer hashes than a
 * window are one.
 */
extern size_t select_winnow(const uint64 *hashes, size_t n, size_t window,
							uint64 *chosen);

/* The first hash and every m-th one from it on; m >= 1. */
extern size_t select_every(const uint64 *hashes, size_t n, size_t m,
						   uint64 *chosen);

typedef struct Anchors Anchors;

/*
 * Anchors, each a sequence of units.  anchors_add() is given the units of one
 * more, at least one, and copies them; anchors_finish() comes after the last
 * one and returns a hash of them all, the same for the same anchors in any
 * order.
 */
extern Anchors *anchors_create(void);
extern void anchors_add(Anchors *anchors, const uint64 *units, size_t n);
extern uint64 anchors_finish(Anchors *anchors);

/*
 * The shingles that begin with an anchor, or that follow one: the longest one, where
 * several begin in the same place.
 */
extern size_t select_by_anchor(const Sequence *sequence,
							   const Anchors *anchors, bool following,
							   uint64 *chosen);

/*
 * The `count` hashes, of n, whose begins (hashes, too) are the rarest among
 * the n begins; among begins as rare, those of the smallest hashes.  The
 * order of `hashes` and what is chosen is not that of the document.
 */
extern size_t select_rarest(const uint64 *hashes, const uint64 *begins,
							size_t n, size_t count, uint64 *chosen);

/*
 * Read the consonants of all words of a document, which has been begun with
 * a reader of words.  Returns their code points in palloc'd memory, as 64-bit
 * numbers.
 */
extern uint64 *consonants_read(Reader *reader, size_t *n);

#endif							/* NEARDUP_SELECT_H */
