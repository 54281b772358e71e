/*
 * directory.c
 *		From the number of a row, or a key, to the page that has it.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/inverted/directory.c
 */
#include "postgres.h"

#include "inverted/directory.h"

static inline const DirectoryEntry *
entries_of(const char *page)
{
	return (const DirectoryEntry *) PageGetContents(unconstify(char *, page));
}

/* The last entry whose key is not greater; -1 if there is none. */
static int
last_place(const char *page, uint32 key)
{
	const DirectoryEntry *entries = entries_of(page);
	int			lo = 0;
	int			hi = (((PageHeader) page)->pd_lower -
					  MAXALIGN(SizeOfPageHeaderData)) / sizeof(DirectoryEntry);

	while (lo < hi)
	{
		int			mid = (lo + hi) / 2;

		if (entries[mid].key <= key)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo - 1;
}

void
directory_open(DirectoryPath *path, PageStore *store, uint64 owner,
			   Directory tree)
{
	memset(path, 0, sizeof(DirectoryPath));
	path->store = store;
	path->owner = owner;
	path->tree = tree;
	if (tree.height > MAX_DIRECTORY_HEIGHT)
		inverted_corrupt(store->index, tree.root, "A directory is too high.");
}

/* The copy of a page at some level; NULL if the segment is gone. */
static const char *
page_at(DirectoryPath *path, uint32 level, BlockNumber block)
{
	char	   *page = path->pages[level];

	if (page != NULL && path->blocks[level] == block)
		return page;
	if (page == NULL)
		page = path->pages[level] = palloc(BLCKSZ);
	path->blocks[level] = InvalidBlockNumber;
	if (!page_copy(path->store, block, path->owner, page))
		return NULL;
	if (PAGE_TAIL(page)->kind != PAGE_DIRECTORY)
		inverted_corrupt(path->store->index, block,
						 "It is no page of a directory.");
	path->blocks[level] = block;
	return page;
}

bool
directory_find(DirectoryPath *path, uint32 key, BlockNumber *block)
{
	*block = path->tree.root;
	for (uint32 level = 0; level < path->tree.height; level++)
	{
		const char *page = page_at(path, level, *block);
		int			place;

		if (page == NULL)
			return false;
		place = last_place(page, key);
		*block = place < 0 ? InvalidBlockNumber : entries_of(page)[place].block;
		if (place < 0)
			break;
	}
	return true;
}

void
directory_close(DirectoryPath *path)
{
	for (int level = 0; level < MAX_DIRECTORY_HEIGHT; level++)
		if (path->pages[level] != NULL)
			pfree(path->pages[level]);
}
