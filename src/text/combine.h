/*
 * combine.h
 *		The hash of several units, such as the words of a sentence.
 */
#ifndef NEARDUP_COMBINE_H
#define NEARDUP_COMBINE_H

#include "signature/signature.h"

/*
 * The hash of n >= 1 units under a word order.  It sorts the hashes in place
 * where the order is ORDER_SORTED.  With ORDER_XOR and ORDER_SUM it is the
 * plain xor or sum.
 */
extern uint64 order_combine(Order order, uint64 *hashes, size_t n);

#endif							/* NEARDUP_COMBINE_H */
