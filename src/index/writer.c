/*
 * writer.c
 *		Writing a segment.
 *
 * A page is put together in local memory and written when it is full.  As it
 * has to name the next one, that one's block is allocated just before.
 *
 * Where a segment is written in steps, what is to be known of it between them is
 * in a WriterState.  Its filter is of a size that is chosen beforehand, so that its
 * words can be written as keys come, in their order.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "base/memory.h"
#include "index/codec.h"
#include "index/filter.h"
#include "index/levels.h"
#include "index/writer.h"

/* The most that an entry takes beside its runs, with a restart. */
#define ENTRY_OVERHEAD		(3 * MAX_NUMBER_BYTES + sizeof(Restart))

/* Runs shorter than that are not broken up between pages. */
#define UNBROKEN_BYTES		1024

/* Room on a page below which the chunk of a list is not worth it. */
#define MIN_CHUNK			256

/* Divisible by many numbers: see fold_filter(). */
#define FILTER_FOLDS		840

/* Pages of one kind, for their directory. */
typedef struct PageList
{
	DirectoryEntry *pages;
	uint32		n;
	size_t		size;
} PageList;

struct SegmentWriter
{
	PageStore  *store;
	SegmentInfo info;
	PageKind	kind;			/* of the page at hand; 0: there is none */
	BlockNumber block;			/* its block */
	uint8	   *at;				/* where its next entry goes */
	uint32		nrestarts;		/* on it */
	uint32		entry;			/* entries on it since the first restart */
	uint32		last_key;
	PageList	forward;
	PageList	postings;
	PageList	filter;
	uint64	   *words;			/* the filter's */
	uint8	   *bytes;			/* runs, encoded */
	size_t		bytes_size;
	PGAlignedBlock page;

	/* In steps */
	WriterState *state;			/* or NULL */
	ChainWriter pages;
	ChainWriter directories;
	ChainWriter filter_pages;
	uint32		first_word;		/* of the page of the filter at hand */
	PGAlignedBlock words_page;
};

/* A segment in a temporary file is read as a whole, and needs no filter. */
static void
make_filter(SegmentWriter *writer, uint64 most_keys)
{
	uint64		n = most_keys / FILTER_KEYS_PER_WORD + 1;

	if (n > FILTER_FOLDS)
		n = (n / FILTER_FOLDS + 1) * FILTER_FOLDS;
	writer->info.filter.root = InvalidBlockNumber;
	if (writer->store->index == NULL || most_keys == 0)
		return;
	writer->info.filter_words = Min(n, PG_UINT32_MAX / 2);
	writer->words = palloc_extended((Size) writer->info.filter_words *
									sizeof(uint64),
									MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
}

SegmentWriter *
segment_begin(PageStore *store, uint64 owner, uint64 most_keys)
{
	SegmentWriter *writer = palloc0(sizeof(SegmentWriter));

	writer->store = store;
	writer->info.owner = writer->info.oldest = owner;
	writer->info.first = InvalidBlockNumber;
	writer->info.forward.root = InvalidBlockNumber;
	writer->info.postings.root = InvalidBlockNumber;
	writer->bytes_size = BLCKSZ;
	writer->bytes = palloc(writer->bytes_size);
	make_filter(writer, most_keys);
	return writer;
}

/* Pages */

static Restart *
restarts_end(SegmentWriter *writer)
{
	return (Restart *) PAGE_TAIL(writer->page.data) - writer->nrestarts;
}

static size_t
room(SegmentWriter *writer)
{
	return (uint8 *) restarts_end(writer) - writer->at;
}

/* Writes the page at hand; `next` is what it is to name. */
static void
finish_page(SegmentWriter *writer, BlockNumber next)
{
	PageHeader	header = (PageHeader) writer->page.data;

	header->pd_lower = writer->at - (uint8 *) writer->page.data;
	header->pd_upper = (char *) restarts_end(writer) - writer->page.data;
	PAGE_TAIL(writer->page.data)->next = next;
	page_write(writer->store, writer->block, writer->page.data);
}

/* Begins a page, after the one at hand if there is one. */
static void
begin_page(SegmentWriter *writer, PageKind kind)
{
	BlockNumber block;

	CHECK_FOR_INTERRUPTS();
	if (writer->state != NULL)
	{
		if (writer->kind != 0)
			finish_page(writer, writer->state->pages.next);
		block = chain_take(&writer->pages);
	}
	else
	{
		block = page_allocate(writer->store, writer->info.owner);
		if (writer->kind == 0)
			writer->info.first = block;
		else
			finish_page(writer, block);
	}
	page_init(writer->page.data, kind, writer->info.owner);
	writer->block = block;
	writer->kind = kind;
	writer->at = (uint8 *) PageGetContents(writer->page.data);
	writer->nrestarts = 0;
	writer->entry = 0;
	writer->info.npages++;
}

static void
list_page(PageList *list, uint32 key, BlockNumber block)
{
	list->pages = growing_reserve(list->pages, &list->size, list->n + 1,
								  sizeof(DirectoryEntry));
	list->pages[list->n].key = key;
	list->pages[list->n++].block = block;
}

/* Rows */

void
segment_add_row(SegmentWriter *writer, const ForwardEntry *row)
{
	if (writer->kind == 0 || room(writer) < sizeof(ForwardEntry))
	{
		begin_page(writer, PAGE_FORWARD);
		list_page(&writer->forward, writer->info.nrows, writer->block);
	}
	memcpy(writer->at, row, sizeof(ForwardEntry));
	writer->at += sizeof(ForwardEntry);
	writer->info.nrows++;
}

/* Lists */

/*
 * Encodes runs i ... as long as they take no more than `most` bytes; returns
 * the first that is left.
 */
static size_t
encode_runs(SegmentWriter *writer, const Runs *runs, size_t i, size_t most,
			size_t *nbytes)
{
	uint8	   *at = writer->bytes;
	uint32		end = 0;

	for (; i < runs->n; i++)
	{
		uint32		length = runs->end[i] - runs->first[i];
		uint64		gap = (uint64) (runs->first[i] - end) << 1 | (length > 1);

		if (at - writer->bytes + 2 * MAX_NUMBER_BYTES > most)
			break;
		at = number_put(at, gap);
		if (length > 1)
			at = number_put(at, length);
		end = runs->end[i];
	}
	*nbytes = at - writer->bytes;
	return i;
}

/* How many bytes all runs take at the most: no gap takes more than 5 bytes. */
static void
reserve_bytes(SegmentWriter *writer, size_t nruns)
{
	size_t		most = (nruns + 2) * 10 + 2 * MAX_NUMBER_BYTES;

	if (most <= writer->bytes_size)
		return;
	pfree(writer->bytes);
	writer->bytes_size = Max(most, 2 * writer->bytes_size);
	writer->bytes = palloc_extended(writer->bytes_size, MCXT_ALLOC_HUGE);
}

/* The key of an entry, and its restart where there is to be one. */
static void
put_key(SegmentWriter *writer, uint32 key)
{
	if (writer->entry == 0)
		list_page(&writer->postings, key, writer->block);
	if (writer->entry++ % RESTART_EVERY == 0)
	{
		Restart    *restart;

		writer->nrestarts++;
		restart = restarts_end(writer);
		restart->key = key;
		restart->offset = writer->at - (uint8 *) writer->page.data;
		restart->unused = 0;
	}
	else
		writer->at = number_put(writer->at, key - writer->last_key);
	writer->last_key = key;
}

static void
put_bytes(SegmentWriter *writer, size_t nbytes)
{
	memcpy(writer->at, writer->bytes, nbytes);
	writer->at += nbytes;
}

/* A list that fits on the page. */
static void
put_list(SegmentWriter *writer, uint32 key, const Runs *runs, size_t nbytes)
{
	uint32		length = runs->end[0] - runs->first[0];

	put_key(writer, key);
	if (runs->n > 1)
	{
		writer->at = number_put(writer->at, (uint64) nbytes << 2 | LIST_BYTES);
		put_bytes(writer, nbytes);
	}
	else if (length == 1)
		writer->at = number_put(writer->at,
								(uint64) runs->first[0] << 2 | LIST_ROW);
	else
	{
		writer->at = number_put(writer->at,
								(uint64) runs->first[0] << 2 | LIST_RUN);
		writer->at = number_put(writer->at, length);
	}
}

/* A list that is broken up between pages. */
static void
put_chunks(SegmentWriter *writer, uint32 key, const Runs *runs, size_t total)
{
	size_t		i = 0;

	if (room(writer) < ENTRY_OVERHEAD + MIN_CHUNK)
		begin_page(writer, PAGE_POSTINGS);
	put_key(writer, key);
	for (;;)
	{
		size_t		nbytes;

		i = encode_runs(writer, runs, i, room(writer) - ENTRY_OVERHEAD, &nbytes);
		total -= Min(nbytes, total);
		writer->at = number_put(writer->at, (uint64) nbytes << 2 |
								(i < runs->n ? LIST_CHUNK : LIST_BYTES));
		if (i < runs->n)
			writer->at = number_put(writer->at, Min(total, PG_UINT32_MAX));
		put_bytes(writer, nbytes);
		if (i == runs->n)
			break;
		begin_page(writer, PAGE_CONTINUED);
	}
}

/* The filter in steps: pages of its words, the one at hand in memory. */

static void
begin_words(SegmentWriter *writer, uint32 first)
{
	char	   *page = writer->words_page.data;

	writer->first_word = first;
	page_init(page, PAGE_FILTER, writer->info.owner);
	if (first < writer->info.filter_words)
		((PageHeader) page)->pd_lower += sizeof(uint64) *
			Min(FILTER_WORDS_PER_PAGE, writer->info.filter_words - first);
}

static void
put_words(SegmentWriter *writer)
{
	BlockNumber block = chain_put(&writer->filter_pages,
								  writer->words_page.data);

	list_page(&writer->filter, writer->first_word, block);
	begin_words(writer, writer->first_word + FILTER_WORDS_PER_PAGE);
}

static inline uint64 *
word_of(SegmentWriter *writer, uint32 key)
{
	uint32		word = filter_word(key, writer->info.filter_words);

	if (writer->words != NULL)
		return &writer->words[word];
	while (word - writer->first_word >= FILTER_WORDS_PER_PAGE)
		put_words(writer);
	return (uint64 *) PageGetContents(writer->words_page.data) +
		(word - writer->first_word);
}

/* Has the filter and the counters tell of a list. */
static inline void
note_list(SegmentWriter *writer, uint32 key, uint64 bits, uint64 rows)
{
	if (writer->info.filter_words > 0)
		*word_of(writer, key) |= filter_bits(key) | bits;
	writer->info.nkeys++;
	writer->info.npostings += rows;
}

/* Lists can be added to the page at hand, until it is full. */
static inline void
require_lists_page(SegmentWriter *writer)
{
	if (writer->kind != PAGE_POSTINGS && writer->kind != PAGE_CONTINUED)
		begin_page(writer, PAGE_POSTINGS);
}

void
segment_add_single(SegmentWriter *writer, uint32 key, uint32 row)
{
	require_lists_page(writer);
	if (ENTRY_OVERHEAD > room(writer))
		begin_page(writer, PAGE_POSTINGS);
	put_key(writer, key);
	writer->at = number_put(writer->at, (uint64) row << 2 | LIST_ROW);
	note_list(writer, key, 0, 1);
}

void
segment_add_list(SegmentWriter *writer, uint32 key, const Runs *runs)
{
	uint64		rows = 0;
	size_t		nbytes;

	Assert(runs->n > 0);
	for (size_t i = 0; i < runs->n; i++)
		rows += runs->end[i] - runs->first[i];
	require_lists_page(writer);
	if (runs->n == 1)
		nbytes = 0;				/* it is not encoded as runs */
	else
	{
		reserve_bytes(writer, runs->n);
		(void) encode_runs(writer, runs, 0, writer->bytes_size, &nbytes);
	}
	if (nbytes + ENTRY_OVERHEAD > room(writer) && nbytes <= UNBROKEN_BYTES)
		begin_page(writer, PAGE_POSTINGS);
	if (nbytes + ENTRY_OVERHEAD <= room(writer))
		put_list(writer, key, runs, nbytes);
	else
		put_chunks(writer, key, runs, nbytes);
	note_list(writer, key, (rows > 1 ? filter_several_bits(key) : 0) |
			  (nbytes > SHORT_BYTES ? filter_long_bits(key) : 0), rows);
}

/*
 * Makes the filter as small as the keys allow that have come.  Merged segments
 * mostly have many in common, so that they were taken to be more.  The word of a
 * key is by its share of the range of keys: with a whole number of words for one,
 * that is theirs put together.
 */
static void
fold_filter(SegmentWriter *writer)
{
	uint32		wanted = writer->info.nkeys / FILTER_KEYS_PER_WORD + 1;
	uint32		times = Max(writer->info.filter_words / wanted, 1);

	while (writer->info.filter_words % times != 0)
		times--;
	writer->info.filter_words /= times;
	for (uint32 i = 0; times > 1 && i < writer->info.filter_words; i++)
	{
		uint64		word = 0;

		for (uint32 k = 0; k < times; k++)
			word |= writer->words[(size_t) i * times + k];
		writer->words[i] = word;
	}
}

/* The filter, which is left out where there is nothing in it. */
static void
write_filter(SegmentWriter *writer)
{
	if (writer->info.nkeys == 0)
		writer->info.filter_words = 0;
	else if (writer->words != NULL)
		fold_filter(writer);
	for (uint32 word = 0; word < writer->info.filter_words;)
	{
		uint32		n = Min(FILTER_WORDS_PER_PAGE,
							writer->info.filter_words - word);

		begin_page(writer, PAGE_FILTER);
		list_page(&writer->filter, word, writer->block);
		memcpy(writer->at, writer->words + word, n * sizeof(uint64));
		writer->at += n * sizeof(uint64);
		word += n;
	}
}

/* Directories */

/* One level over the pages in the list, which becomes that level's. */
static void
write_level(SegmentWriter *writer, PageList *list)
{
	PageList	level = {0};

	for (uint32 i = 0; i < list->n; i++)
	{
		if (i == 0 || room(writer) < sizeof(DirectoryEntry))
		{
			begin_page(writer, PAGE_DIRECTORY);
			list_page(&level, list->pages[i].key, writer->block);
		}
		memcpy(writer->at, &list->pages[i], sizeof(DirectoryEntry));
		writer->at += sizeof(DirectoryEntry);
	}
	pfree(list->pages);
	*list = level;
}

static Directory
write_directory(SegmentWriter *writer, PageList *list)
{
	Directory	directory = {InvalidBlockNumber, 0};

	if (list->n == 0)
		return directory;
	while (list->n > 1)
	{
		write_level(writer, list);
		directory.height++;
	}
	directory.root = list->pages[0].block;
	pfree(list->pages);
	return directory;
}

SegmentInfo
segment_end(SegmentWriter *writer)
{
	SegmentInfo info;

	write_filter(writer);
	writer->info.forward = write_directory(writer, &writer->forward);
	writer->info.postings = write_directory(writer, &writer->postings);
	writer->info.filter = write_directory(writer, &writer->filter);
	if (writer->kind != 0)
		finish_page(writer, InvalidBlockNumber);
	info = writer->info;
	pfree(writer->bytes);
	if (writer->words != NULL)
		pfree(writer->words);
	pfree(writer);
	return info;
}

/* Steps */

void
segment_create(PageStore *store, uint64 owner, WriterState *state)
{
	memset(state, 0, sizeof(WriterState));
	chain_create(store, owner, &state->pages);
	chain_create(store, owner, &state->directories);
	chain_create(store, owner, &state->words);
	state->info.owner = state->info.oldest = owner;
	state->info.first = state->pages.first;
	state->info.forward.root = state->info.postings.root =
		state->info.filter.root = InvalidBlockNumber;
}

/* The page of the filter that the last step has left half full. */
static void
resume_words(SegmentWriter *writer)
{
	PGAlignedBlock page;
	BlockNumber block = writer->state->words.next;

	begin_words(writer, writer->state->words.npages * FILTER_WORDS_PER_PAGE);
	page_require(writer->store, block, writer->info.owner, page.data);
	if (PAGE_TAIL(page.data)->kind == PAGE_FILTER)
		memcpy(PageGetContents(writer->words_page.data), PageGetContents(page.data),
			   FILTER_WORDS_PER_PAGE * sizeof(uint64));
}

SegmentWriter *
segment_resume(PageStore *store, WriterState *state)
{
	SegmentWriter *writer = palloc0(sizeof(SegmentWriter));

	writer->store = store;
	writer->state = state;
	writer->info = state->info;
	writer->bytes_size = BLCKSZ;
	writer->bytes = palloc(writer->bytes_size);
	chain_resume(&writer->pages, store, state->info.owner, &state->pages);
	chain_resume(&writer->directories, store, state->info.owner,
				 &state->directories);
	chain_resume(&writer->filter_pages, store, state->info.owner, &state->words);
	resume_words(writer);
	return writer;
}

static void
free_list(PageList *list)
{
	if (list->pages != NULL)
		pfree(list->pages);
}

static void
save_directories(SegmentWriter *writer)
{
	WriterState *state = writer->state;

	levels_add(&writer->directories, &state->forward, writer->forward.pages,
			   writer->forward.n);
	levels_add(&writer->directories, &state->postings, writer->postings.pages,
			   writer->postings.n);
	levels_add(&writer->directories, &state->filter, writer->filter.pages,
			   writer->filter.n);
	free_list(&writer->forward);
	free_list(&writer->postings);
	free_list(&writer->filter);
}

static uint32
pages_so_far(const WriterState *state)
{
	return state->pages.npages + state->directories.npages + state->words.npages;
}

void
segment_pause(SegmentWriter *writer)
{
	WriterState *state = writer->state;
	bool		words = writer->first_word < writer->info.filter_words;

	if (writer->kind != 0)
		finish_page(writer, state->pages.next);
	save_directories(writer);
	chain_pause(&writer->pages, NULL);
	chain_pause(&writer->directories, NULL);
	chain_pause(&writer->filter_pages, words ? writer->words_page.data : NULL);
	state->info = writer->info;
	state->info.npages = pages_so_far(state);
	pfree(writer->bytes);
	pfree(writer);
}

void
segment_expect_keys(WriterState *state, uint64 keys)
{
	state->info.filter_words = Min(keys / FILTER_KEYS_PER_WORD + 1,
								   PG_UINT32_MAX / 2);
}

SegmentInfo
segment_finish(PageStore *store, WriterState *state)
{
	SegmentWriter *writer = segment_resume(store, state);
	SegmentInfo info;

	while (writer->first_word < writer->info.filter_words)
		put_words(writer);
	save_directories(writer);
	info = writer->info;
	info.forward = levels_end(&writer->directories, &state->forward);
	info.postings = levels_end(&writer->directories, &state->postings);
	info.filter = levels_end(&writer->directories, &state->filter);
	info.npages = pages_so_far(state) + 3;
	chain_link(&writer->pages, state->directories.first);
	chain_link(&writer->directories, state->words.first);
	chain_link(&writer->filter_pages, InvalidBlockNumber);
	pfree(writer->bytes);
	pfree(writer);
	return info;
}

uint32
segment_rows(const SegmentWriter *writer)
{
	return writer->info.nrows;
}
