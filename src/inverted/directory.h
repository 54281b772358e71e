/*
 * directory.h
 *		From the number of a row, or a key, to the page that has it.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/inverted/directory.h
 */
#ifndef NEARDUP_DIRECTORY_H
#define NEARDUP_DIRECTORY_H

#include "inverted/pages.h"

#define MAX_DIRECTORY_HEIGHT	4

/* A way down, with copies of the pages that it went through. */
typedef struct DirectoryPath
{
	PageStore  *store;
	uint64		owner;
	Directory	tree;
	char	   *pages[MAX_DIRECTORY_HEIGHT];	/* palloc'd, or NULL */
	BlockNumber blocks[MAX_DIRECTORY_HEIGHT];	/* what they are copies of */
} DirectoryPath;

extern void directory_open(DirectoryPath *path, PageStore *store,
						   uint64 owner, Directory tree);

/*
 * The last page that begins with no greater number; invalid if there is none.
 * Costs least if numbers rise.  False if the segment is gone.
 */
extern bool directory_find(DirectoryPath *path, uint32 key,
						   BlockNumber *block);
extern void directory_close(DirectoryPath *path);

#endif							/* NEARDUP_DIRECTORY_H */
