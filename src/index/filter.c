/*
 * filter.c
 *		Looking up keys in the filter of a segment.
 */
#include "postgres.h"

#include "storage/bufmgr.h"

#include "index/directory.h"
#include "index/filter.h"

/* Number of cached words that are prefetched */
#define WORDS_AHEAD			16

/*
 * After MIN_TRIED keys, read further pages only if they have excluded one key
 * in MIN_SHARE.
 */
#define MIN_TRIED			16
#define MIN_SHARE			4

/* The page of a filter that is being read */
typedef struct FilterPage
{
	DirectoryPath path;
	Buffer		buffer;			/* locked, or invalid */
	const uint64 *words;
	uint32		first;			/* number of the first word */
	uint32		end;			/* number after the last */
} FilterPage;

/* Release the page, if there is one. */
static void
release_page(FilterPage *page)
{
	if (BufferIsValid(page->buffer))
		UnlockReleaseBuffer(page->buffer);
	page->buffer = InvalidBuffer;
	page->end = 0;
}

/* Lock the page of a word.  False if the segment is gone. */
static bool
load_page(FilterPage *filter, uint32 word)
{
	Page		page;

	release_page(filter);
	if (!directory_lock(&filter->path, word, &filter->buffer))
		return false;
	if (!BufferIsValid(filter->buffer))
		index_corrupt(filter->path.store->index, META_BLOCK,
					  "A page of a filter is missing.");
	page = BufferGetPage(filter->buffer);
	filter->words = (const uint64 *) PageGetContents(page);
	filter->first = word - word % FILTER_WORDS_PER_PAGE;
	filter->end = filter->first + page_contents_size(page) / sizeof(uint64);
	if (PAGE_TAIL(page)->kind != PAGE_FILTER || word >= filter->end)
		index_corrupt(filter->path.store->index,
					  BufferGetBlockNumber(filter->buffer),
					  "It is no page of a filter.");
	return true;
}

/* Prefetch the word of a key, if it is cached. */
static inline void
prefetch_word(const SegmentInfo *segment, const CachedSegment *cached,
			  uint32 key)
{
	uint32		word = filter_word(key, segment->filter_words);

	if (word < cached->nwords)
		__builtin_prefetch(&cached->words[word]);
}

/*
 * Drop keys that the segment does not have, until `enough` are left, or pages
 * exclude too few.  False if the segment is gone.
 */
static bool
drop_missing(PageStore *store, const SegmentInfo *segment,
			 const CachedSegment *cached, FilterPage *page,
			 uint32 *keys, uint32 *nkeys, uint32 enough)
{
	uint32		n = *nkeys;
	uint32		left = 0;
	uint32		i;
	bool		there = true;

	Assert(cached->nwords <= segment->filter_words);
	for (i = 0; i < Min(n, WORDS_AHEAD); i++)
		prefetch_word(segment, cached, keys[i]);
	for (i = 0; i < n && left + (n - i) > enough; i++)
	{
		uint32		key = keys[i];
		uint32		word = filter_word(key, segment->filter_words);
		uint64		bits = filter_bits(key);
		uint64		present;

		Assert(i == 0 || key > keys[i - 1] || left < i);
		if (i + WORDS_AHEAD < n)
			prefetch_word(segment, cached, keys[i + WORDS_AHEAD]);
		if (word < cached->nwords)
			present = cached->words[word];
		else
		{
			if (i >= MIN_TRIED && (i - left) * MIN_SHARE < i)
				break;
			there = word < page->end || load_page(page, word);
			if (!there)
				break;
			present = page->words[word - page->first];
		}
		keys[left] = key;
		left += (present & bits) == bits;
	}
	memmove(keys + left, keys + i, (n - i) * sizeof(uint32));
	*nkeys = left + (n - i);
	return there;
}

/* Move keys with long lists after the others.  Both groups remain sorted. */
static void
move_long_last(const CachedSegment *cached, uint32 *keys, uint32 n)
{
	uint32	   *last = palloc_extended(Max(n, 1) * sizeof(uint32),
									   MCXT_ALLOC_HUGE);
	uint32		nlast = 0;
	uint32		nfirst = 0;

	for (uint32 i = 0; i < n; i++)
	{
		uint32		key = keys[i];
		uint64		bits = filter_long_bits(key);
		bool		is_long =
		(cached->words[filter_word(key, cached->nwords)] & bits) == bits;

		last[nlast] = key;
		keys[nfirst] = key;
		nlast += is_long;
		nfirst += !is_long;
	}
	memcpy(keys + nfirst, last, nlast * sizeof(uint32));
	pfree(last);
}

bool
filter_keys(PageStore *store, const SegmentInfo *segment,
			CachedSegment *cached,
			uint32 *keys, uint32 *nkeys, uint32 enough)
{
	FilterPage	page = {.buffer = InvalidBuffer};
	bool		there;

	if (segment->filter_words == 0)
		return true;
	directory_open(&page.path, store, segment->segment_id, segment->filter,
				   &cached->filter);
	there = drop_missing(store, segment, cached, &page, keys, nkeys, enough);
	release_page(&page);
	directory_close(&page.path);
	if (there && *nkeys > enough && cached->nwords == segment->filter_words)
		move_long_last(cached, keys, *nkeys);
	return there;
}
