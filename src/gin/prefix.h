/*
 * prefix.h
 *		The order of features in which an index takes the prefix of a set.
 */
#ifndef NEARDUP_PREFIX_H
#define NEARDUP_PREFIX_H

#include "signature/signature.h"

/* A list of frequent features has upper bits of their hashes. */
#define FREQUENT_BITS		16
#define FREQUENT_PREFIXES	(1 << FREQUENT_BITS)
#define MAX_FREQUENT		384		/* in a list: see prefix.c */

/*
 * A list, as the option of the operator class has it: a bit for each prefix,
 * the lowest of a byte first; NULL for an empty one.
 */
typedef const uint8 *FrequentFeatures;

#define FREQUENT_BYTES		(FREQUENT_PREFIXES / 8)

static inline uint32
frequent_prefix(uint64 hash)
{
	return hash >> (64 - FREQUENT_BITS);
}

/*
 * The hashes of the features of a set, in rising order, as many as it has
 * values.  Points into the signature where they are its own values, else to
 * palloc'd memory.
 */
extern const uint64 *feature_hashes(const Signature *sig);

/*
 * The hashes of the first n features of a set, 0 <= n <= its size, in no
 * certain order; points like feature_hashes().
 */
extern const uint64 *feature_order_first(const Signature *sig, uint64 n,
										 FrequentFeatures frequent);

/*
 * The text of a list: n rising prefixes, palloc'd.  feature_order_check_list()
 * raises INVALID_PARAMETER_VALUE for a text that is none (NULL is the empty
 * list); feature_order_fill_list() writes the list to *to, unless that is NULL,
 * and returns how many bytes it takes, 0 if it is empty.
 */
extern char *feature_order_list(const uint16 *prefixes, int n);
extern void feature_order_check_list(const char *list);
extern Size feature_order_fill_list(const char *list, void *to);

#endif							/* NEARDUP_PREFIX_H */
