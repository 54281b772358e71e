/*
 * directory.h
 *		Directories of a segment, from the number of a row or a word, or a key,
 *		to its page; and filters, of the keys that a segment has.
 */
#ifndef NEARDUP_DIRECTORY_H
#define NEARDUP_DIRECTORY_H

#include "base/hash.h"
#include "index/segment_cache.h"

/* Reading: a path from the root, with copies of its pages */
typedef struct DirectoryPath
{
	PageStore  *store;
	uint64		owner;
	Directory	tree;
	char	   *pages[MAX_DIRECTORY_HEIGHT];	/* palloc'd, or NULL */
	BlockNumber blocks[MAX_DIRECTORY_HEIGHT];	/* that they are copies of */
	CachedPages *cached;		/* or NULL */
} DirectoryPath;

/* `cached` may be NULL, or have no pages. */
extern void directory_open(DirectoryPath *path, PageStore *store,
						   uint64 owner, Directory tree, CachedPages *cached);

/*
 * Find the last page that begins with no greater number; invalid if there is
 * none.  Rising numbers cost least.  False if the segment is gone.
 */
extern bool directory_find(DirectoryPath *path, uint32 key,
						   BlockNumber *block);

/*
 * Pin the page of a number, with a share lock; *buffer is invalid if there is
 * none.  False if the segment is gone, and then nothing is locked.
 */
extern bool directory_lock(DirectoryPath *path, uint32 number, Buffer *buffer);

/* Prefetch the parts of a number's page that a look-up reads. */
extern void directory_prefetch(const DirectoryPath *path, uint32 number);

extern void directory_close(DirectoryPath *path);

/* Writing */

/* Most entries that a level keeps in memory; fewer in tests */
extern int	directory_level_entries;

/*
 * Add pages in their order.  Entries for which `levels` has no room go to the
 * chain, on pages that need not be full.
 */
extern void directory_add(ChainWriter *chain, DirectoryLevels *levels,
						  const DirectoryEntry *pages, uint32 n);

/* Write the entries that are left. */
extern Directory directory_end(ChainWriter *chain, DirectoryLevels *levels);

/*
 * Filters: each key sets four bits of a word.  Words are in the order of their
 * keys.
 */

#define FILTER_KEYS_PER_WORD	8
#define FILTER_WORDS_PER_PAGE	(PAGE_ROOM / sizeof(uint64))

/* The word of a key. */
static inline uint32
filter_word(uint32 key, uint32 nwords)
{
	return (uint64) key * nwords >> 32;
}

/* The bits of a key. */
static inline uint64
filter_bits(uint32 key)
{
	uint64		hash = mix64(key);

	return UINT64CONST(1) << (hash & 63) | UINT64CONST(1) << (hash >> 6 & 63) |
		UINT64CONST(1) << (hash >> 12 & 63) |
		UINT64CONST(1) << (hash >> 18 & 63);
}

/* Further bits of a key whose list is long. */
static inline uint64
filter_long_bits(uint32 key)
{
	uint64		hash = mix64(key);

	return UINT64CONST(1) << (hash >> 24 & 63) |
		UINT64CONST(1) << (hash >> 30 & 63) |
		UINT64CONST(1) << (hash >> 36 & 63);
}

/*
 * Drop keys that the segment does not have from rising ones, until `enough`
 * are left.  If the filter is cached, keys with long lists come last then.
 * False if the segment is gone.
 */
extern bool filter_keys(PageStore *store, const SegmentInfo *segment,
						CachedSegment *cached, uint32 *keys, uint32 *nkeys,
						uint32 enough);

#endif							/* NEARDUP_DIRECTORY_H */
