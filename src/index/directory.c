/*
 * directory.c
 *		Directories of a segment: reading and writing them.
 */
#include "postgres.h"

#include "pgstat.h"
#include "storage/bufmgr.h"

#include "base/compat.h"
#include "index/directory.h"

#define ENTRIES_PER_PAGE	(PAGE_ROOM / sizeof(DirectoryEntry))

/*
 * One lock in COUNTED_LOCK goes through the buffer table, so that it counts as
 * a use of the buffer.
 */
#define COUNTED_LOCK		16

/* Cached pages */

int64
cached_find(const CachedPages *pages, uint32 number)
{
	const DirectoryEntry *entries = pages->entries;
	uint32		lo = 0;
	uint32		n = pages->n;

	if (n == 0 || number < entries[0].key)
		return -1;
	/* the answer is in lo ... lo + n - 1 */
	while (n > 1)
	{
		uint32		half = n / 2;

		lo += entries[lo + half].key <= number ? half : 0;
		n -= half;
	}
	return lo;
}

Buffer
cached_lock(Relation index, BlockNumber block, Buffer *buffer)
{
	static uint32 locks = 0;

	Assert(buffer != NULL);
	if (BlockNumberIsValid(block) && *buffer > 0 &&
		++locks % COUNTED_LOCK != 0 &&
		ReadRecentBuffer(compat_file(index), MAIN_FORKNUM, block, *buffer))
	{
		pgstat_count_buffer_read(index);
		pgstat_count_buffer_hit(index);
		LockBuffer(*buffer, BUFFER_LOCK_SHARE);
	}
	else
		*buffer = page_lock(index, block);
	return *buffer;
}

/* Reading */

/* Return the entries on a page. */
static inline const DirectoryEntry *
entries_of(const char *page)
{
	return (const DirectoryEntry *) PageGetContents(unconstify(char *, page));
}

/* Return the last entry whose key is not greater, or -1 if there is none. */
static int
last_entry(const char *page, uint32 key)
{
	const DirectoryEntry *entries = entries_of(page);
	int			lo = 0;
	int			hi = page_contents_size(page) / sizeof(DirectoryEntry);

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
			   Directory tree, CachedPages *cached)
{
	memset(path->pages, 0, sizeof(path->pages));
	path->cached = cached != NULL && cached->n > 0 ? cached : NULL;
	path->store = store;
	path->owner = owner;
	path->tree = tree;
	if (tree.height > MAX_DIRECTORY_HEIGHT)
		index_corrupt(store->index, tree.root, "A directory is too high.");
}

/* Return a copy of a page of that level, or NULL if the segment is gone. */
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
		int			entry;

		if (page == NULL)
			return false;
		entry = last_entry(page, key);
		*block = entry < 0 ? InvalidBlockNumber :
			entries_of(page)[entry].block;
		if (entry < 0)
			break;
	}
	return true;
}

bool
directory_lock(DirectoryPath *path, uint32 number, Buffer *buffer)
{
	Relation	index = path->store->index;

	Assert(index != NULL);
	*buffer = InvalidBuffer;
	if (path->cached != NULL)
	{
		int64		place = cached_find(path->cached, number);

		if (place < 0)
			return true;
		*buffer = cached_lock(index, path->cached->entries[place].block,
							  &path->cached->buffers[place]);
	}
	else
	{
		BlockNumber block;

		if (!directory_find(path, number, &block))
			return false;
		if (block == InvalidBlockNumber)
			return true;
		*buffer = page_lock(index, block);
	}
	if (page_is_of(BufferGetPage(*buffer), path->owner))
		return true;
	UnlockReleaseBuffer(*buffer);
	*buffer = InvalidBuffer;
	return false;
}

void
directory_prefetch(const DirectoryPath *path, uint32 number)
{
	const CachedPages *cached = path->cached;
	int64		place = cached == NULL ? -1 : cached_find(cached, number);
	uint32		first;
	uint32		last;
	Page		page;

	if (place < 0 || cached->buffers[place] <= 0)
		return;
	page = BufferGetPage(cached->buffers[place]);
	first = cached->entries[place].key;
	last = place + 1 < cached->n ? cached->entries[place + 1].key :
		PG_UINT32_MAX;
	__builtin_prefetch(page);
	__builtin_prefetch((char *) page + BLCKSZ - sizeof(PageTail));
	/* the approximate place of the number */
	__builtin_prefetch((char *) PageGetContents(page) +
					   (uint64) PAGE_ROOM * (number - first) /
					   ((uint64) Max(number, last) - first + 1));
}

void
directory_close(DirectoryPath *path)
{
	for (int level = 0; level < MAX_DIRECTORY_HEIGHT; level++)
		if (path->pages[level] != NULL)
			pfree(path->pages[level]);
}

/*
 * Writing: a level keeps a few entries in memory.  When there are more, all of
 * them go to pages.
 */

int			directory_level_entries = LEVEL_ENTRIES;

/* Write a page of entries, and return the entry for the level above. */
static DirectoryEntry
put_page(ChainWriter *chain, const DirectoryEntry *entries, uint32 n)
{
	DirectoryEntry entry = {.key = entries[0].key};
	PGAlignedBlock page;

	Assert(n > 0 && n <= ENTRIES_PER_PAGE);
	page_init(page.data, PAGE_DIRECTORY, chain->owner);
	memcpy(PageGetContents(page.data), entries, n * sizeof(DirectoryEntry));
	((PageHeader) page.data)->pd_lower += n * sizeof(DirectoryEntry);
	entry.block = chain_put(chain, page.data);
	return entry;
}

/*
 * Add entries to a level.  If it has no room, write all to pages, whose
 * entries go to the level above.
 */
static void
add_at(ChainWriter *chain, DirectoryLevels *levels, int level,
	   const DirectoryEntry *pages, uint32 n, uint32 most)
{
	uint32		before = level < MAX_DIRECTORY_HEIGHT ? levels->n[level] : 0;
	DirectoryEntry *all;
	DirectoryEntry *upper;
	uint32		nupper = 0;

	if (level == MAX_DIRECTORY_HEIGHT)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("a segment of an index has too many pages"),
				 errhint("Use REINDEX.")));
	if (before + n <= most)
	{
		Assert(before == 0 ||
			   levels->pages[level][before - 1].key <= pages[0].key);
		memcpy(levels->pages[level] + before, pages,
			   n * sizeof(DirectoryEntry));
		levels->n[level] += n;
		return;
	}
	all = palloc_extended((Size) (before + n) * sizeof(DirectoryEntry),
						  MCXT_ALLOC_HUGE);
	memcpy(all, levels->pages[level], before * sizeof(DirectoryEntry));
	memcpy(all + before, pages, n * sizeof(DirectoryEntry));
	n += before;
	upper = palloc((n / ENTRIES_PER_PAGE + 1) * sizeof(DirectoryEntry));
	for (uint32 i = 0; i < n; i += ENTRIES_PER_PAGE)
		upper[nupper++] = put_page(chain, all + i,
								   Min(n - i, ENTRIES_PER_PAGE));
	levels->n[level] = 0;
	add_at(chain, levels, level + 1, upper, nupper, most);
	pfree(upper);
	pfree(all);
}

void
directory_add(ChainWriter *chain, DirectoryLevels *levels,
			  const DirectoryEntry *pages, uint32 n)
{
	if (n > 0)
		add_at(chain, levels, 0, pages, n, directory_level_entries);
}

/* True if all levels above a level are empty. */
static bool
is_highest(const DirectoryLevels *levels, int level)
{
	while (++level < MAX_DIRECTORY_HEIGHT)
		if (levels->n[level] > 0)
			return false;
	return true;
}

Directory
directory_end(ChainWriter *chain, DirectoryLevels *levels)
{
	Directory	directory = {InvalidBlockNumber, 0};

	for (int level = 0; level < MAX_DIRECTORY_HEIGHT; level++)
	{
		uint32		n = levels->n[level];
		DirectoryEntry entry;

		if (n == 0)
			continue;
		if (n == 1 && is_highest(levels, level))
		{
			directory.root = levels->pages[level][0].block;
			directory.height = level;
			break;
		}
		entry = put_page(chain, levels->pages[level], n);
		levels->n[level] = 0;
		/* the root may be above all levels that keep entries */
		if (level == MAX_DIRECTORY_HEIGHT - 1)
		{
			directory.root = entry.block;
			directory.height = MAX_DIRECTORY_HEIGHT;
			break;
		}
		add_at(chain, levels, level + 1, &entry, 1, directory_level_entries);
	}
	return directory;
}
