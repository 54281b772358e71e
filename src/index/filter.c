/*
 * filter.c
 *		Which keys a segment does not have.
 */
#include "postgres.h"

#include "storage/bufmgr.h"

#include "index/directory.h"
#include "index/filter.h"

/* So many words are fetched into the processor's cache before they are asked. */
#define FILTER_AHEAD		16

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
	filter->end = filter->first +
		(((PageHeader) page)->pd_lower - MAXALIGN(SizeOfPageHeaderData)) /
		sizeof(uint64);
	if (PAGE_TAIL(page)->kind != PAGE_FILTER || word >= filter->end)
		index_corrupt(filter->path.store->index,
						 BufferGetBlockNumber(filter->buffer),
						 "It is no page of a filter.");
	return true;
}

/* Tells which words are asked next. */
static void
expect_words(DirectoryPath *path, uint32 nwords, const uint32 *keys, uint32 n)
{
	uint32		words[DIRECTORY_AHEAD];

	n = Min(n, DIRECTORY_AHEAD);
	for (uint32 i = 0; i < n; i++)
		words[i] = filter_word(keys[i], nwords);
	directory_expect(path, words, n);
}

/* Asks the pages of the filter. */
static bool
ask_pages(PageStore *store, const SegmentInfo *segment,
		  uint32 *keys, uint32 *nkeys, uint32 enough, KeptSegment *kept)
{
	FilterPage	page = {.buffer = InvalidBuffer};
	uint32		n = *nkeys;
	uint32		left = 0;
	uint32		i = 0;
	bool		there = true;

	directory_open(&page.path, store, segment->owner, segment->filter,
				   kept != NULL ? &kept->filter : NULL);
	for (; i < n && left + (n - i) > enough; i++)
	{
		uint32		word = filter_word(keys[i], segment->filter_words);
		uint64		bits = filter_bits(keys[i]);

		if (i >= FILTER_LEAST_TRIED && (i - left) * FILTER_LEAST_SHARE < i)
			break;
		if (i % DIRECTORY_AHEAD == 0)
			expect_words(&page.path, segment->filter_words, keys + i, n - i);
		if (word >= page.end && !load_page(&page, word))
		{
			there = false;
			break;
		}
		if ((page.words[word - page.first] & bits) == bits)
			keys[left++] = keys[i];
	}
	release_page(&page);
	directory_close(&page.path);
	memmove(keys + left, keys + i, (n - i) * sizeof(uint32));
	*nkeys = left + (n - i);
	return there;
}

/* Asks what is kept of it, for as many of the keys as it takes; how many are left. */
static uint32
ask_kept(const KeptFilter *filter, uint32 *keys, uint32 n, uint32 enough)
{
	uint32		nwords = filter->nwords;
	uint32		left = 0;
	uint32		i;

	for (i = 0; i < Min(n, FILTER_AHEAD); i++)
		__builtin_prefetch(kept_filter_at(filter, filter_word(keys[i], nwords)));
	for (i = 0; i < n && left + (n - i) > enough; i++)
	{
		uint32		key = keys[i];
		uint64		bits = filter_bits(key);

		if (i + FILTER_AHEAD < n)
			__builtin_prefetch(kept_filter_at(filter,
											  filter_word(keys[i + FILTER_AHEAD],
														  nwords)));
		keys[left] = key;
		left += (kept_filter_word(filter, filter_word(key, nwords)) & bits) == bits;
	}
	memmove(keys + left, keys + i, (n - i) * sizeof(uint32));
	return left + (n - i);
}

/* True if all bits of its words are kept. */
static inline bool
is_kept_whole(const KeptSegment *kept)
{
	return kept->words.words != NULL && kept->words.level == KEPT_FILTER_WHOLE;
}

/*
 * Moves keys behind the others: those of which all `bits` are set, or not if they
 * stay.  Both remain in their order.  Returns how many stay.
 */
static uint32
put_last(const KeptFilter *filter, uint32 *keys, uint32 n,
		 uint64 (*bits) (uint32 key), bool stay)
{
	uint32	   *last = palloc_extended(Max(n, 1) * sizeof(uint32),
									   MCXT_ALLOC_HUGE);
	uint32		nlast = 0;
	uint32		nfirst = 0;

	for (uint32 i = 0; i < n; i++)
	{
		uint32		key = keys[i];
		uint64		wanted = bits(key);
		uint32		word = filter_word(key, filter->nwords);
		bool		set = (kept_filter_word(filter, word) & wanted) == wanted;

		last[nlast] = key;
		keys[nfirst] = key;
		nlast += set != stay;
		nfirst += set == stay;
	}
	memcpy(keys + nfirst, last, nlast * sizeof(uint32));
	pfree(last);
	return nfirst;
}

uint32
filter_single_last(uint32 *keys, uint32 nkeys, const KeptSegment *kept)
{
	if (!is_kept_whole(kept))
		return nkeys;
	return put_last(&kept->words, keys, nkeys, filter_several_bits, true);
}

bool
filter_keys(PageStore *store, const SegmentInfo *segment,
			uint32 *keys, uint32 *nkeys, uint32 enough, KeptSegment *kept)
{
	if (segment->filter_words == 0)
		return true;
	if (kept != NULL && kept->words.words != NULL)
		*nkeys = ask_kept(&kept->words, keys, *nkeys, enough);
	if (*nkeys <= enough)
		return true;
	if (kept == NULL || !is_kept_whole(kept))
		return ask_pages(store, segment, keys, nkeys, enough, kept);
	(void) put_last(&kept->words, keys, *nkeys, filter_long_bits, false);
	return true;
}
