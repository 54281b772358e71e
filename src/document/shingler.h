/*
 * shingler.h
 *		Units to shingles: the set of a document, or its sequence.
 */
#ifndef NEARDUP_SHINGLER_H
#define NEARDUP_SHINGLER_H

#include "base/hash.h"
#include "text/reader.h"

/*
 * Compute the hashes of all n - k + 1 shingles, each of k units, in a sequence
 * of n units; 1 <= k <= n.  `room` has room for k numbers.
 */
extern void order_shingles(Order order, const uint64 *units, size_t n,
						   size_t k, uint64 *room, uint64 *shingles);

/*
 * Multisets: the first occurrence of an element is the element itself, further
 * ones are other elements (Broder's labelled shingles).  The overlap of two
 * such sets is the sum over all elements of the smaller number of occurrences.
 */

/*
 * Return occurrence i of an element, from 0 on: the element, then the numbers
 * of SplitMix64 with the element as seed.  Stored; it never changes.
 */
static inline uint64
repeated_element(uint64 element, uint64 i)
{
	return i == 0 ? element :
		mix64(element + i * UINT64CONST(0x9e3779b97f4a7c15));
}

/*
 * Replace repeated elements among n by their occurrences, in place.  The
 * result has no order, and is distinct but for collisions of hashes.
 */
extern void number_repeats(uint64 *elements, size_t n);

typedef struct Shingler Shingler;

/*
 * Make a shingler, with its reader, in the current memory context, which also
 * owns its buffers.
 */
extern Shingler *shingler_create(const Analysis *analysis);

/*
 * Return the set of shingles of a document of len bytes of UTF-8: *n distinct
 * values in rising order.  The array belongs to the shingler and is valid
 * until its next document.  A document of fewer than k units has one shingle
 * of all units; a document without units has the empty set.  Raises
 * PROGRAM_LIMIT_EXCEEDED if the set does not fit into a datum.
 */
extern const uint64 *shingler_set(Shingler *shingler, const char *doc,
								  size_t len, size_t *n);

/* The units and shingles of a document, in its order */
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
