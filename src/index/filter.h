/*
 * filter.h
 *		Which keys a segment does not have: most of them are told by reading
 *		one word, without a look at the lists.
 *
 * Each key sets four bits of a word; words are in the order of the keys that
 * fall on them, so that few pages are read for keys that rise.
 */
#ifndef NEARDUP_FILTER_H
#define NEARDUP_FILTER_H

#include "base/hash.h"
#include "index/kept.h"
#include "index/pages.h"

#define FILTER_KEYS_PER_WORD	8
#define FILTER_WORDS_PER_PAGE	(PAGE_ROOM / sizeof(uint64))

/* The word of a key. */
static inline uint32
filter_word(uint32 key, uint32 nwords)
{
	return (uint64) key * nwords >> 32;
}

/* Its bits there. */
static inline uint64
filter_bits(uint32 key)
{
	uint64		hash = mix64(key);

	return UINT64CONST(1) << (hash & 63) |
		UINT64CONST(1) << (hash >> 6 & 63) |
		UINT64CONST(1) << (hash >> 12 & 63) |
		UINT64CONST(1) << (hash >> 18 & 63);
}

/*
 * Further bits of a key whose list is long, which so are read last.  They are
 * rarely wanted of other keys, as few are so.
 */
static inline uint64
filter_long_bits(uint32 key)
{
	uint64		hash = mix64(key);

	return UINT64CONST(1) << (hash >> 24 & 63) |
		UINT64CONST(1) << (hash >> 30 & 63) |
		UINT64CONST(1) << (hash >> 36 & 63);
}

/* Further bits of a key that occurs in several rows. */
static inline uint64
filter_several_bits(uint32 key)
{
	uint64		hash = mix64(key);

	return UINT64CONST(1) << (hash >> 42 & 63) |
		UINT64CONST(1) << (hash >> 48 & 63);
}

/*
 * Where the filter is not kept: after so many keys it is left alone unless one in so many was
 * dropped: to look a key up costs some times as much as to ask the filter.
 */
#define FILTER_LEAST_TRIED		16
#define FILTER_LEAST_SHARE		4

/*
 * Drops keys that the segment has not from rising ones, until no more than
 * `enough` are left, or as long as it is worth it.  If more are left, those
 * that have long lists come last, as far as the filter is kept.  False if the
 * segment is gone.
 */
extern bool filter_keys(PageStore *store, const SegmentInfo *segment,
						uint32 *keys, uint32 *nkeys, uint32 enough,
						KeptSegment *kept);

/*
 * Puts keys that no more than one row of the segment has behind the others, as far
 * as the filter tells and is kept; returns how many others there are.
 */
extern uint32 filter_single_last(uint32 *keys, uint32 nkeys, const KeptSegment *kept);

#endif							/* NEARDUP_FILTER_H */
