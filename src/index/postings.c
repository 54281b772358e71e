/*
 * postings.c
 *		Reading the lists of a segment.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "base/memory.h"
#include "index/directory.h"
#include "index/postings.h"

void
runs_reserve(Runs *runs)
{
	size_t		size = runs->size;

	runs->first = growing_reserve(runs->first, &size, runs->n + 1,
								  sizeof(uint32));
	runs->end = growing_reserve(runs->end, &runs->size, runs->n + 1,
								sizeof(uint32));
}

void
runs_free(Runs *runs)
{
	if (runs->first == NULL)
		return;
	pfree(runs->first);
	pfree(runs->end);
}

/* Merge two rising lists. */
static void
merge_two(const uint32 *a, const uint32 *end_a, const uint32 *b,
		  const uint32 *end_b,
		  uint32 *to)
{
	while (a < end_a && b < end_b)
	{
		uint32		x = *a;
		uint32		y = *b;

		*to++ = x <= y ? x : y;
		a += x <= y;
		b += x > y;
	}
	memcpy(to, a, (end_a - a) * sizeof(uint32));
	memcpy(to + (end_a - a), b, (end_b - b) * sizeof(uint32));
}

void
sort_rising(uint32 *list, uint32 n, uint32 *space)
{
	uint32	   *begins = space + n;
	uint32	   *from = list;
	uint32		parts = 0;

	for (uint32 i = 0; i < n; i++)
	{
		begins[parts] = i;
		parts += i == 0 || list[i] < list[i - 1];
	}
	for (; parts > 1; parts = (parts + 1) / 2)
	{
		uint32	   *to = from == list ? space : list;

		CHECK_FOR_INTERRUPTS();
		begins[parts] = begins[parts + 1] = n;
		for (uint32 i = 0; i < parts; i += 2)
		{
			merge_two(from + begins[i], from + begins[i + 1],
					  from + begins[i + 1],
					  from + begins[i + 2], to + begins[i]);
			begins[i / 2] = begins[i];
		}
		from = to;
	}
	if (from != list)
		memcpy(list, from, n * sizeof(uint32));
}

const uint8 *
posting_head(const uint8 *at, const uint8 *end, ListHead *head)
{
	uint64		number;
	uint64		more = 0;

	at = number_get(at, end, &number);
	if (at == NULL || number >> 2 > PG_UINT32_MAX)
		return NULL;
	*head = (ListHead)
	{
		.form = number & 3,.value = number >> 2,.length = 1
	};
	if (head->form == LIST_ROW)
		return at;
	if (head->form == LIST_RUN || head->form == LIST_CHUNK)
	{
		at = number_get(at, end, &more);
		if (at == NULL || more > PG_UINT32_MAX)
			return NULL;
	}
	if (head->form == LIST_RUN)
	{
		head->length = more;
		return at;
	}
	head->rest = more;
	head->bytes = at;
	head->nbytes = head->value;
	return head->nbytes <= end - at ? at + head->nbytes : NULL;
}

bool
posting_runs(const ListHead *head, uint32 nrows, Runs *runs)
{
	const uint8 *at = head->bytes;
	const uint8 *end = at + head->nbytes;
	uint64		row = 0;

	if (head->form == LIST_ROW || head->form == LIST_RUN)
	{
		row = (uint64) head->value + head->length;
		if (row > nrows || head->length == 0)
			return false;
		runs_add(runs, head->value, row);
		return true;
	}
	while (at < end)
	{
		uint64		gap;
		uint64		length = 1;
		uint64		first;

		at = number_get(at, end, &gap);
		if (at != NULL && (gap & 1) != 0)
			at = number_get(at, end, &length);
		if (at == NULL || gap >> 1 > nrows || length > nrows)
			return false;
		first = row + (gap >> 1);
		row = first + length;
		if (row > nrows || length == 0)
			return false;
		runs_add(runs, first, row);
	}
	return true;
}

/* Open a page of lists.  An invalid block is the end. */
static void
open_page(ListStream *stream, BlockNumber block)
{
	uint16		kind;

	stream->block = block;
	stream->entry = 0;
	if (block == InvalidBlockNumber)
		return;
	page_require(stream->store, block, stream->segment->segment_id,
				 stream->page);
	kind = PAGE_TAIL(stream->page)->kind;
	if (kind != PAGE_POSTINGS && kind != PAGE_CONTINUED)
		index_corrupt(stream->store->index, block, "It is no page of lists.");
	stream->at = (const uint8 *) PageGetContents(stream->page);
	stream->end = (const uint8 *) stream->page +
		((PageHeader) stream->page)->pd_lower;
}

/*
 * Open the next page of lists, which may follow pages of a filter and of
 * directories.
 */
static void
open_next_page(ListStream *stream)
{
	BlockNumber block = InvalidBlockNumber;
	PageTail   *tail = PAGE_TAIL(stream->page);

	if (stream->block != stream->segment->last_lists)
		for (block = tail->next; BlockNumberIsValid(block); block = tail->next)
		{
			page_require(stream->store, block, stream->segment->segment_id,
						 stream->page);
			if (tail->kind == PAGE_POSTINGS || tail->kind == PAGE_CONTINUED)
				break;
		}
	open_page(stream, block);
}

/*
 * Open the page where a list of that key would be, or the first list of a
 * greater key.  If it begins with the rest of a list, skip the rest.
 */
static void
open_page_of(ListStream *stream, uint32 key)
{
	const SegmentInfo *segment = stream->segment;
	DirectoryPath path;
	BlockNumber block;

	directory_open(&path, stream->store, segment->segment_id,
				   segment->postings,
				   NULL);
	if (!directory_find(&path, key, &block))
		index_corrupt(stream->store->index, META_BLOCK,
					  "A page of a directory is missing.");
	directory_close(&path);
	open_page(stream, block == InvalidBlockNumber ? segment->first_lists :
			  block);
	if (stream->block != InvalidBlockNumber &&
		PAGE_TAIL(stream->page)->kind == PAGE_CONTINUED)
	{
		ListHead	rest;

		stream->at = posting_head(stream->at, stream->end, &rest);
		if (stream->at == NULL)
			index_corrupt(stream->store->index, stream->block,
						  "A list cannot be read.");
	}
}

/*
 * Append the runs of the current entry.  True if its next page has more of
 * them.
 */
static bool
read_entry(ListStream *stream)
{
	ListHead	head;
	const uint8 *next = posting_head(stream->at, stream->end, &head);

	Assert(next == NULL || (next > stream->at && next <= stream->end));
	if (next == NULL ||
		!posting_runs(&head, stream->segment->nrows, &stream->runs))
		index_corrupt(stream->store->index, stream->block,
					  "A list cannot be read.");
	stream->at = next;
	stream->is_long |= head.nbytes > SHORT_BYTES || head.form == LIST_CHUNK;
	return head.form == LIST_CHUNK;
}

/*
 * Go on to the next list if it is on this page, is one row (as most are) and
 * has no restart.  False if it is another list, or cannot be read.
 */
static inline bool
next_single(ListStream *stream)
{
	const uint8 *at = stream->at;
	uint64		delta;
	uint64		head;

	if (stream->block == InvalidBlockNumber || at >= stream->end ||
		stream->entry % RESTART_EVERY == 0)
		return false;
	at = number_get_ahead(at, &delta);
	at = at != NULL ? number_get_ahead(at, &head) : NULL;
	if (at == NULL || at > stream->end || (head & 3) != LIST_ROW ||
		head >> 2 >= stream->segment->nrows || stream->runs.size == 0)
		return false;
	stream->at = at;
	stream->key += delta;
	stream->entry++;
	stream->key_block = stream->block;
	stream->runs.first[0] = head >> 2;
	stream->runs.end[0] = (head >> 2) + 1;
	stream->runs.n = 1;
	return true;
}

/* Read the key of the current entry. */
static void
read_key(ListStream *stream)
{
	uint64		delta;

	if (stream->entry % RESTART_EVERY == 0)
	{
		const Restart *restarts = (const Restart *) PAGE_TAIL(stream->page);

		stream->key = restarts[-1 - (int) (stream->entry / RESTART_EVERY)].key;
	}
	else
	{
		stream->at = number_get(stream->at, stream->end, &delta);
		if (stream->at == NULL)
			index_corrupt(stream->store->index, stream->block,
						  "A key cannot be read.");
		stream->key += delta;
	}
	stream->entry++;
}

void
lists_next(ListStream *stream)
{
	stream->is_long = false;
	if (next_single(stream))
		return;
	stream->runs.n = 0;
	while (stream->block != InvalidBlockNumber && stream->at >= stream->end)
		open_next_page(stream);
	stream->done = stream->block == InvalidBlockNumber;
	Assert(!stream->done || stream->runs.n == 0);
	if (stream->done)
		return;
	read_key(stream);
	stream->key_block = stream->block;
	while (read_entry(stream))
	{
		open_next_page(stream);
		if (stream->block == InvalidBlockNumber ||
			PAGE_TAIL(stream->page)->kind != PAGE_CONTINUED)
			index_corrupt(stream->store->index, stream->block,
						  "The rest of a list is missing.");
	}
}

void
lists_open(ListStream *stream, PageStore *store, const SegmentInfo *segment,
		   uint32 key)
{
	memset(stream, 0, sizeof(ListStream));
	stream->store = store;
	stream->segment = segment;
	stream->page = palloc(BLCKSZ);
	if (key == 0)
		open_page(stream, segment->first_lists);
	else
		open_page_of(stream, key);
	lists_next(stream);
	while (!stream->done && stream->key < key)
		lists_next(stream);
}

void
lists_close(ListStream *stream)
{
	pfree(stream->page);
	runs_free(&stream->runs);
}
