/*
 * directory.h
 *		From the number of a row, or a key, to the page that has it.
 */
#ifndef NEARDUP_DIRECTORY_H
#define NEARDUP_DIRECTORY_H

#include "index/kept.h"

/* So many pages are fetched into the processor's cache before they are read. */
#define DIRECTORY_AHEAD			16

/* A way down, with copies of the pages that it went through. */
typedef struct DirectoryPath
{
	PageStore  *store;
	uint64		owner;
	Directory	tree;
	char	   *pages[MAX_DIRECTORY_HEIGHT];	/* palloc'd, or NULL */
	BlockNumber blocks[MAX_DIRECTORY_HEIGHT];	/* what they are copies of */
	KeptPages  *kept;			/* or what is kept of it; NULL: nothing */
	uint32		numbers[DIRECTORY_AHEAD];	/* that are expected */
	int64		places[DIRECTORY_AHEAD];	/* and their pages' places */
	uint32		nplaces;
	uint32		next_place;
} DirectoryPath;

extern void directory_open(DirectoryPath *path, PageStore *store,
						   uint64 owner, Directory tree, KeptPages *kept);

/*
 * The last page that begins with no greater number; invalid if there is none.
 * Costs least if numbers rise.  False if the segment is gone.
 */
extern bool directory_find(DirectoryPath *path, uint32 key,
						   BlockNumber *block);

/*
 * Pins that page and takes a share lock on it; *buffer is invalid if there is
 * none.  False if the segment is gone, and then nothing is locked.
 */
extern bool directory_lock(DirectoryPath *path, uint32 number, Buffer *buffer);

/*
 * Tells with which numbers directory_lock() is called next, in that order, if
 * not all of them; the first DIRECTORY_AHEAD are noted.
 */
extern void directory_expect(DirectoryPath *path, const uint32 *numbers,
							 uint32 n);

/* True if none of those is left. */
static inline bool
directory_expects_none(const DirectoryPath *path)
{
	return path->next_place == path->nplaces;
}

extern void directory_close(DirectoryPath *path);

#endif							/* NEARDUP_DIRECTORY_H */
