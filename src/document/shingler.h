/*
 * shingler.h
 *		Units to shingles: the set of a document, or its sequence.
 */
#ifndef NEARDUP_SHINGLER_H
#define NEARDUP_SHINGLER_H

#include "base/hash.h"
#include "text/reader.h"

/*
 * The hashes of the n - k + 1 shingles of k of n units, 1 <= k <= n, into
 * shingles.  There is room for k numbers in room.
 */
extern void order_shingles(Order order, const uint64 *units, size_t n,
						   size_t k, uint64 *room, uint64 *shingles);

/*
 * The first occurrence of an element is the element itself, further ones are
 * elements of their own (Broder's labelled shingles).  The overlap of two sets
 * made so is the sum over all elements of the lesser number of occurrences.
 */

/*
 * Occurrence number i of an element, from 0 on: the element, then what
 * SplitMix64 gives, seeded with it.  Stored; it never changes.
 */
static inline uint64
repeated_element(uint64 element, uint64 i)
{
	return i == 0 ? element :
		mix64(element + i * UINT64CONST(0x9e3779b97f4a7c15));
}

/*
 * Sort n elements and number those that are repeated, in place; their order
 * is none afterwards, and accidents apart they are distinct.
 */
extern void number_repeats(uint64 *elements, size_t n);

typedef struct Shingler Shingler;

/*
 * Return a shingler in the current memory context, which keeps its buffers.
 * The reader belongs to it.
 */
extern Shingler *shingler_create(const Analysis *analysis);

/*
 * Return the set of shingles of a document of len bytes of UTF-8: *n distinct values
 * in rising order.  The array is the shingler's and valid until its next
 * document.  A document of fewer than k units is one shingle of all of them; one
 * without units gives the empty set.  Raises PROGRAM_LIMIT_EXCEEDED where the
 * set does not fit into a datum.
 */
extern const uint64 *shingler_set(Shingler *shingler, const char *doc,
								  size_t len, size_t *n);

typedef struct Sequence
{
	const uint64 *units;		/* hashes of all units */
	size_t		nunits;
	uint64	   *shingles;		/* shingle i begins with unit i; the caller
								 * may change them */
	size_t		nshingles;
} Sequence;

/*
 * Return all units and shingles of a document in their order, valid until the
 * shingler's next document.  They take 16 bytes a unit.
 */
extern Sequence shingler_sequence(Shingler *shingler, const char *doc,
								  size_t len);

#endif							/* NEARDUP_SHINGLER_H */
