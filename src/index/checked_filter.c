/*
 * checked_filter.c
 *		The filter of a segment that is checked.
 *
 * Words are in the order of the keys that fall on them, so as keys come in
 * their order, each word is put together anew and compared.
 */
#include "postgres.h"

#include "base/interrupts.h"
#include "index/checked_filter.h"
#include "index/filter.h"

void
checked_filter_begin(CheckedFilter *filter, PageStore *store,
					 const SegmentInfo *segment)
{
	filter->store = store;
	filter->segment = segment;
	filter->word = 0;
	filter->bits = 0;
	filter->block = InvalidBlockNumber;
	filter->page = palloc(BLCKSZ);
	directory_open(&filter->path, store, segment->owner, segment->filter, NULL);
}

static void
broken(const CheckedFilter *filter, const char *rule)
{
	index_corrupt(filter->store->index, filter->block, rule);
}

/* Reads the page that the word at hand begins; it is to be found by all of its words. */
static void
read_page(CheckedFilter *filter)
{
	const SegmentInfo *segment = filter->segment;
	uint32		n = Min(FILTER_WORDS_PER_PAGE, segment->filter_words - filter->word);
	BlockNumber last;

	if (!directory_find(&filter->path, filter->word, &filter->block) ||
		!directory_find(&filter->path, filter->word + n - 1, &last) ||
		filter->block == InvalidBlockNumber || last != filter->block)
		index_corrupt(filter->store->index, META_BLOCK,
						 "A page of a filter is missing.");
	page_require(filter->store, filter->block, segment->owner, filter->page);
	if (PAGE_TAIL(filter->page)->kind != PAGE_FILTER ||
		((PageHeader) filter->page)->pd_lower !=
		MAXALIGN(SizeOfPageHeaderData) + n * sizeof(uint64))
		broken(filter, "It is no page of a filter.");
}

/*
 * Compares the words before one.  Where the filter does not tell of single rows
 * it is of an older version, and may have other bits besides.
 */
static void
compare_words(CheckedFilter *filter, uint32 end)
{
	bool		exact = (filter->segment->flags & SEGMENT_TELLS_SINGLE) != 0;

	for (; filter->word < end; filter->word++)
	{
		uint32		place = filter->word % FILTER_WORDS_PER_PAGE;
		uint64		bits;

		CHECK_EVERY(filter->word);
		if (place == 0)
			read_page(filter);
		bits = ((const uint64 *) PageGetContents(filter->page))[place];
		if ((filter->bits & ~bits) != 0)
			broken(filter, "The filter leaves a key out.");
		if (exact && bits != filter->bits)
			broken(filter, "The filter has a bit of no key.");
		filter->bits = 0;
	}
}

void
checked_filter_key(CheckedFilter *filter, uint32 key, bool several, bool is_long)
{
	const SegmentInfo *segment = filter->segment;

	if (segment->filter_words == 0)
		return;
	compare_words(filter, filter_word(key, segment->filter_words));
	filter->bits |= filter_bits(key);
	if ((segment->flags & SEGMENT_TELLS_SINGLE) == 0)
		return;
	filter->bits |= (several ? filter_several_bits(key) : 0) |
		(is_long ? filter_long_bits(key) : 0);
}

void
checked_filter_end(CheckedFilter *filter)
{
	compare_words(filter, filter->segment->filter_words);
	directory_close(&filter->path);
	pfree(filter->page);
}
