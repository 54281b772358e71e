/*
 * repeats.h
 *		Repeated elements, numbered: a multiset as a set.
 *
 * The first occurrence of an element is the element itself, further ones are
 * elements of their own (Broder's labelled shingles).  The overlap of two sets
 * made so is the sum over all elements of the lesser number of occurrences.
 */
#ifndef NEARDUP_REPEATS_H
#define NEARDUP_REPEATS_H

#include "base/hash.h"

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
 * Sorts n elements and numbers those that are repeated, in place; their order
 * is none afterwards, and accidents apart they are distinct.
 */
extern void number_repeats(uint64 *elements, size_t n);

#endif							/* NEARDUP_REPEATS_H */
