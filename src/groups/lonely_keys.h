/*
 * lonely_keys.h
 *		Keys of sets on disk that lead nowhere.
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

/*
 * Say whether the set of that number stays, and the number of its owner, below
 * UINT32_MAX - 1: the set itself, or the component of the set.
 */
typedef SetStays (*SetStaysCallback) (void *context, uint32 number,
									  uint32 *owner);

/*
 * Write the prepared sets of a store on disk again, those that stay, without
 * keys that belong to sets of one owner.  nkeys is the number of keys of all
 * sets, or more; the function returns the number of keys that are left, some
 * of which may still have one owner.  It takes `memory` bytes beside buffers of
 * files.
 */
extern uint64 lonely_keys_drop(SetStore *store, uint64 nkeys, size_t memory,
							   SetStaysCallback stays, void *context);

#endif							/* NEARDUP_LONELY_KEYS_H */
