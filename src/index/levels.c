/*
 * levels.c
 *		A directory that is written in steps.
 *
 * A few entries of each level are left for later; where there would be more, all
 * go to a page or several, which need not be full.
 */
#include "postgres.h"

#include "index/levels.h"

int			directory_level_entries = LEVEL_ENTRIES;

#define ENTRIES_PER_PAGE	(PAGE_ROOM / sizeof(DirectoryEntry))

static DirectoryEntry
put_page(ChainWriter *chain, const DirectoryEntry *entries, uint32 n)
{
	DirectoryEntry entry = {.key = entries[0].key};
	PGAlignedBlock page;

	page_init(page.data, PAGE_DIRECTORY, chain->owner);
	memcpy(PageGetContents(page.data), entries, n * sizeof(DirectoryEntry));
	((PageHeader) page.data)->pd_lower += n * sizeof(DirectoryEntry);
	entry.block = chain_put(chain, page.data);
	return entry;
}

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
				 errmsg("a segment of index \"%s\" has too many pages",
						RelationGetRelationName(chain->store->index)),
				 errhint("Use REINDEX.")));
	if (before + n <= most)
	{
		memcpy(levels->pages[level] + before, pages, n * sizeof(DirectoryEntry));
		levels->n[level] += n;
		return;
	}
	all = palloc_extended((Size) (before + n) * sizeof(DirectoryEntry), MCXT_ALLOC_HUGE);
	memcpy(all, levels->pages[level], before * sizeof(DirectoryEntry));
	memcpy(all + before, pages, n * sizeof(DirectoryEntry));
	n += before;
	upper = palloc((n / ENTRIES_PER_PAGE + 1) * sizeof(DirectoryEntry));
	for (uint32 i = 0; i < n; i += ENTRIES_PER_PAGE)
		upper[nupper++] = put_page(chain, all + i, Min(n - i, ENTRIES_PER_PAGE));
	levels->n[level] = 0;
	add_at(chain, levels, level + 1, upper, nupper, most);
	pfree(upper);
	pfree(all);
}

void
levels_add(ChainWriter *chain, DirectoryLevels *levels,
		   const DirectoryEntry *pages, uint32 n)
{
	if (n > 0)
		add_at(chain, levels, 0, pages, n, directory_level_entries);
}

/* True if there is nothing above a level. */
static bool
is_highest(const DirectoryLevels *levels, int level)
{
	while (++level < MAX_DIRECTORY_HEIGHT)
		if (levels->n[level] > 0)
			return false;
	return true;
}

Directory
levels_end(ChainWriter *chain, DirectoryLevels *levels)
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
		/* the root may be above all levels that have entries left for later */
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
