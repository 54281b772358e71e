/*
 * directory.h
 *		Directories of a segment: from the number of a row or a word, or from
 *		a key, to its page.
 */
#ifndef NEARDUP_DIRECTORY_H
#define NEARDUP_DIRECTORY_H

#include "index/pages.h"

/* The pages of one kind, in their order */
typedef struct CachedPages
{
	uint32		n;				/* 0 = not cached */
	DirectoryEntry *entries;
	Buffer	   *buffers;		/* recent buffer of each page, or invalid */
} CachedPages;

/*
 * Return the last page whose first number is not greater, or -1 if there is
 * none.
 */
extern int64 cached_find(const CachedPages *pages, uint32 number);

/*
 * Pin a block, in *buffer if it is still there, and take a share lock on it.
 * *buffer is set to its buffer.
 */
extern Buffer cached_lock(Relation index, BlockNumber block, Buffer *buffer);

/* Reading: a path from the root, with copies of its pages */
typedef struct DirectoryPath
{
	PageStore  *store;
	uint64		owner;
	Directory	tree;
	char	   *pages[MAX_DIRECTORY_HEIGHT];	/* palloc'd, or NULL */
	BlockNumber blocks[MAX_DIRECTORY_HEIGHT];	/* blocks of the copies */
	CachedPages *cached;		/* cached pages, or NULL */
} DirectoryPath;

/* Begin to read a directory.  `cached` may be NULL, or have no pages. */
extern void directory_open(DirectoryPath *path, PageStore *store,
						   uint64 owner, Directory tree, CachedPages *cached);

/*
 * Find the last page whose first number is not greater, or invalid if there is
 * none.  Rising numbers cost least.  False if the segment is gone.
 */
extern bool directory_find(DirectoryPath *path, uint32 key,
						   BlockNumber *block);

/*
 * Pin the page of a number, and take a share lock on it.  *buffer is invalid
 * if there is no such page.  False if the segment is gone: then nothing is
 * locked.
 */
extern bool directory_lock(DirectoryPath *path, uint32 number, Buffer *buffer);

/* Prefetch the parts of a number's page that a look-up reads. */
extern void directory_prefetch(const DirectoryPath *path, uint32 number);

/* Free the copies of pages. */
extern void directory_close(DirectoryPath *path);

/* Writing */

/* Most entries that a level keeps in memory; tests set fewer */
extern int	directory_level_entries;

/*
 * Add pages in their order.  Entries for which `levels` has no room are
 * written to the chain, on pages that need not be full.
 */
extern void directory_add(ChainWriter *chain, DirectoryLevels *levels,
						  const DirectoryEntry *pages, uint32 n);

/* Write the entries that are left.  Returns the root. */
extern Directory directory_end(ChainWriter *chain, DirectoryLevels *levels);

#endif							/* NEARDUP_DIRECTORY_H */
