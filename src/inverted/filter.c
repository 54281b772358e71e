/*
 * filter.c
 *		Which keys a segment does not have.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/inverted/filter.c
 */
#include "postgres.h"

#include "storage/bufmgr.h"

#include "inverted/directory.h"
#include "inverted/filter.h"

/* The page at hand */
typedef struct FilterPage
{
	DirectoryPath path;
	Buffer		buffer;			/* locked, or invalid */
	const uint64 *words;
	uint32		first;			/* number of the first word there */
	uint32		end;			/* and behind the last */
} FilterPage;

static void
release_page(FilterPage *page)
{
	if (BufferIsValid(page->buffer))
		UnlockReleaseBuffer(page->buffer);
	page->buffer = InvalidBuffer;
	page->end = 0;
}

/* Locks the page of a word; false if the segment is gone. */
static bool
load_page(FilterPage *filter, uint32 word)
{
	BlockNumber block;
	Page		page;

	release_page(filter);
	if (!directory_find(&filter->path, word, &block))
		return false;
	filter->buffer = page_lock(filter->path.store->index, block);
	page = BufferGetPage(filter->buffer);
	if (!page_is_of(page, filter->path.owner))
		return false;
	filter->words = (const uint64 *) PageGetContents(page);
	filter->first = word - word % FILTER_WORDS_PER_PAGE;
	filter->end = filter->first +
		(((PageHeader) page)->pd_lower - MAXALIGN(SizeOfPageHeaderData)) /
		sizeof(uint64);
	if (PAGE_TAIL(page)->kind != PAGE_FILTER || word >= filter->end)
		inverted_corrupt(filter->path.store->index, block,
						 "It is no page of a filter.");
	return true;
}

bool
filter_keys(PageStore *store, const SegmentInfo *segment,
			uint32 *keys, uint32 *nkeys, uint32 enough)
{
	FilterPage	page = {.buffer = InvalidBuffer};
	uint32		n = *nkeys;
	uint32		kept = 0;
	uint32		i = 0;
	bool		there = true;

	if (segment->filter_words == 0)
		return true;
	directory_open(&page.path, store, segment->owner, segment->filter);
	for (; i < n && kept + (n - i) > enough; i++)
	{
		uint32		word = filter_word(keys[i], segment->filter_words);
		uint64		bits = filter_bits(keys[i]);

		if (i >= FILTER_LEAST_TRIED && (i - kept) * FILTER_LEAST_SHARE < i)
			break;
		if (word >= page.end && !load_page(&page, word))
		{
			there = false;
			break;
		}
		if ((page.words[word - page.first] & bits) == bits)
			keys[kept++] = keys[i];
	}
	release_page(&page);
	directory_close(&page.path);
	memmove(keys + kept, keys + i, (n - i) * sizeof(uint32));
	*nkeys = kept + (n - i);
	return there;
}
