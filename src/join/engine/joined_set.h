/*
 * joined_set.h
 *		A distinct set of a similarity join, with its rows and its bitmap.
 */
#ifndef NEARDUP_JOINED_SET_H
#define NEARDUP_JOINED_SET_H

#include "base/interrupts.h"
#include "join/engine/engine.h"

/*
 * Order of a set: its size, then bits of its hash.  On disk the last 32 bits are a
 * number, which distinguishes sets with one hash; and once identical sets have been
 * collapsed, `low` is the number of the set.
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
	uint64	   *values;			/* rising; the set's bitmap is before them */
	uint64	   *keys;			/* tokens of its prefix, rising; of a set that is
								 * not prepared, its shared place */
	uint32		size;			/* elements of the set */
	uint32		nvalues;		/* less than size once elements that occur in no
								 * other set are dropped */
	uint32		nkeys;			/* of the prefix, without those */
	uint32		first;			/* number of its first row; self-joins only */
	struct Row *rows[2];		/* by JoinSide; of a shared set, links until sets
								 * are gathered, in a self-join to the first and
								 * the last row */
} JoinSet;

/* The sides on which a set has rows, as bits. */
#define SET_SIDES(set) \
	(((set)->rows[SIDE_OUTER] != NULL) | ((set)->rows[SIDE_INNER] != NULL) << 1)

/* Prefetch the first 24 keys of a set, by cache lines. */
static inline void
set_fetch_keys(const JoinSet *set)
{
	for (int i = 0; i < 24; i += 8)
		__builtin_prefetch(&set->keys[i]);
}

/* A bitmap and values are allocated together: bytes of both, and where values begin. */
extern size_t set_bytes(uint32 size);
extern uint64 *set_values(void *place, uint32 size);
extern size_t bitmap_bytes(uint32 size);

/* Make the bitmap of the values that are left. */
extern void bitmap_make(JoinSet *set);

/*
 * The bitmap folded to 64 bits, which can be compared with that of any other set; and
 * another such word, by another hash of the values that are left.
 */
extern uint64 bitmap_image(const JoinSet *set);
extern uint64 values_image(const JoinSet *set);

/* False if the bitmaps prove that the sets share fewer than `need` elements. */
extern bool bitmaps_allow(const JoinSet *a, const JoinSet *b, uint32 need);

#endif							/* NEARDUP_JOINED_SET_H */
