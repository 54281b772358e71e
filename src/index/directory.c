/*
 * directory.c
 *		From the number of a row, or a key, to the page that has it.
 */
#include "postgres.h"

#include "index/directory.h"

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
			   Directory tree, KeptPages *kept)
{
	memset(path->pages, 0, sizeof(path->pages));
	path->nplaces = path->next_place = 0;
	path->kept = kept != NULL && kept->n > 0 ? kept : NULL;
	path->store = store;
	path->owner = owner;
	path->tree = tree;
	if (tree.height > MAX_DIRECTORY_HEIGHT)
		index_corrupt(store->index, tree.root, "A directory is too high.");
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
		index_corrupt(path->store->index, block,
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

/* The place of a number's page, which may be known as it was expected. */
static int64
next_place(DirectoryPath *path, uint32 number)
{
	while (path->next_place < path->nplaces)
	{
		uint32		i = path->next_place++;

		if (path->numbers[i] == number)
			return path->places[i];
	}
	return kept_find(path->kept, number);
}

bool
directory_lock(DirectoryPath *path, uint32 number, Buffer *buffer)
{
	*buffer = InvalidBuffer;
	if (path->kept != NULL)
	{
		int64		place = next_place(path, number);

		if (place < 0)
			return true;
		*buffer = kept_lock(path->kept, path->store->index, place);
	}
	else
	{
		BlockNumber block;

		if (!directory_find(path, number, &block))
			return false;
		if (block == InvalidBlockNumber)
			return true;
		*buffer = page_lock(path->store->index, block);
	}
	if (page_is_of(BufferGetPage(*buffer), path->owner))
		return true;
	UnlockReleaseBuffer(*buffer);
	*buffer = InvalidBuffer;
	return false;
}

/* About where the entry of a number is on its page, if they are spread evenly. */
static uint32
likely_offset(const KeptPages *pages, int64 place, uint32 number)
{
	uint32		first = pages->entries[place].key;
	uint32		end = place + 1 < pages->n ? pages->entries[place + 1].key :
		PG_UINT32_MAX;

	if (end <= first)
		return 0;
	return MAXALIGN(SizeOfPageHeaderData) +
		(uint64) PAGE_ROOM * Min(number - first, end - first - 1) / (end - first);
}

void
directory_expect(DirectoryPath *path, const uint32 *numbers, uint32 n)
{
	if (path->kept == NULL)
		return;
	path->nplaces = Min(n, DIRECTORY_AHEAD);
	path->next_place = 0;
	for (uint32 i = 0; i < path->nplaces; i++)
	{
		int64		place = kept_find(path->kept, numbers[i]);

		path->numbers[i] = numbers[i];
		path->places[i] = place;
		if (place >= 0)
			kept_prefetch(path->kept, place,
						  likely_offset(path->kept, place, numbers[i]));
	}
}

void
directory_close(DirectoryPath *path)
{
	for (int level = 0; level < MAX_DIRECTORY_HEIGHT; level++)
		if (path->pages[level] != NULL)
			pfree(path->pages[level]);
}
