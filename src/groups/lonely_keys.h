/*
 * lonely_keys.h
 *		Keys of sets on disk that only one set has.
 */
#ifndef NEARDUP_LONELY_KEYS_H
#define NEARDUP_LONELY_KEYS_H

#include "groups/set_store.h"

/* Whether a set stays in the file */
typedef enum SetStays
{
	SET_LEAVES,
	SET_STAYS_WITH_KEYS,		/* set stays while it has keys */
	SET_STAYS,
} SetStays;

/* Say whether the set of that number stays. */
typedef SetStays (*SetStaysCallback) (void *context, uint32 number);

/*
 * Write the prepared sets of a store on disk again, those that stay, without
 * keys of one such set only.  Filters of `memory` bytes take some keys for ones
 * that another set has: call it again, with another salt, as long as it returns
 * true.  *nkeys is the number of keys of all sets, or more; then of those that
 * are left.
 */
extern bool lonely_keys_drop(SetStore *store, uint64 salt, size_t memory,
							 uint64 *nkeys, SetStaysCallback stays,
							 void *context);

#endif							/* NEARDUP_LONELY_KEYS_H */
