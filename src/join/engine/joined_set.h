/*
 * joined_set.h
 *		A distinct set of a similarity join, with its rows and its bitmap.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/join/engine/joined_set.h
 */
#ifndef NEARDUP_JOINED_SET_H
#define NEARDUP_JOINED_SET_H

#include "base/interrupts.h"
#include "join/engine/join_types.h"

/*
 * Order of a set: its size, then bits of its hash.  On disk the last 32 bits
 * give way to the number of the set, so that sets with one hash are told
 * apart; and once identical sets have been collapsed, `low` is a number.
 */
typedef struct SetKey
{
	int64		high;			/* size << 36 | 36 bits of hash */
	int64		low;			/* 64 bits more */
} SetKey;

#define SETKEY_HASH_BITS	36
#define SETKEY_SIZE(key)	((uint32) ((key).high >> SETKEY_HASH_BITS))

typedef struct JoinSet
{
	SetKey		key;
	uint64	   *values;			/* rising; behind the set's bitmap */
	uint64	   *keys;			/* tokens of its prefix, in rising order; of a
								 * shared set that is not prepared yet, a link
								 * to its place */
	uint32		size;			/* elements of the set */
	uint32		nvalues;		/* of values: less than size once elements
								 * that occur in no other set are dropped */
	uint32		nkeys;			/* of keys: of the prefix less what is dropped */
	uint32		first;			/* number of its first row; self-joins only */
	struct Row *rows[2];		/* by JoinSide; of a shared set that is not
								 * gathered yet, links: in a self-join the
								 * second is that to the last row */
} JoinSet;

/* The sides on which a set has rows, as bits. */
#define SET_SIDES(set) \
	(((set)->rows[SIDE_OUTER] != NULL) | ((set)->rows[SIDE_INNER] != NULL) << 1)

/* Fetches the first 24 keys of a set into the cache, by lines of eight. */
static inline void
set_fetch_keys(const JoinSet *set)
{
	for (int i = 0; i < 24; i += 8)
		__builtin_prefetch(&set->keys[i]);
}

/* bitmap.c: where bitmap and values lie, and what they tell */
extern size_t set_bytes(uint32 size);
extern uint64 *set_values(void *place, uint32 size);
extern size_t bitmap_bytes(uint32 size);
extern void bitmap_make(JoinSet *set);
extern uint64 bitmap_image(const JoinSet *set);
extern uint64 values_image(const JoinSet *set);
extern bool bitmaps_allow(const JoinSet *a, const JoinSet *b, uint32 need);

#endif							/* NEARDUP_JOINED_SET_H */
