/*
 * equal_rows.c
 *		Where rows are that are likely to have the same sets as others: of many
 *		sets at once.
 *
 * A segment's rows stand by their order, which equal sets have in common, and hardly
 * any others.  So sets are sorted by it, and one way through the rows finds them
 * all: where there are more sets than pages each page is read once, and else most
 * are stepped over.
 *
 * Pages are copied, and nothing is locked while they are looked at.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/index/equal_rows.c
 */
#include "postgres.h"

#include "miscadmin.h"
#include "pgstat.h"
#include "storage/predicate.h"

#include "index/counters.h"
#include "index/directory.h"
#include "index/equal_rows.h"
#include "index/pending.h"
#include "index/segments.h"

/* So often it is tried anew where segments vanish meanwhile. */
#define MAX_TRIES		3

/* The rows of a segment, read from the first to the last */
typedef struct Reader
{
	PageStore	store;
	DirectoryPath path;
	uint32		npages;
	uint32		page;			/* number of the one at hand */
	uint32		n;				/* rows on it; 0: there is none at hand */
	uint32		next;			/* those before it are of no interest */
	PGAlignedBlock copy;		/* of it */
} Reader;

#define ST_SORT sort_sets
#define ST_ELEMENT_TYPE EqualSet
#define ST_COMPARE(a, b) (((a)->order > (b)->order) - ((a)->order < (b)->order))
#define ST_SCOPE static
#define ST_CHECK_FOR_INTERRUPTS
#define ST_DEFINE
#include "lib/sort_template.h"

/* See equal_rows.h */
bool
equal_set(EqualSet *set, const Signature *sig)
{
	IndexedRow row;

	if (!index_can_hold(&sig->spec))
		return false;
	indexed_row_set(&row, sig);
	set->order = row.order;
	set->size = row.size;
	set->nrows = 0;
	pfree(unconstify(uint32 *, row.keys));
	return true;
}

/* Takes note of a row for sets that have this order, from the first of them on. */
static void
take_row(EqualSet *sets, size_t n, uint64 order, uint32 size, ItemPointerData tid)
{
	for (size_t i = 0; i < n && sets[i].order == order; i++)
	{
		if (sets[i].size != size)
			continue;
		if (sets[i].nrows++ == 0 || ItemPointerCompare(&tid, &sets[i].first) < 0)
			sets[i].first = tid;
	}
}

/* Pages */

static const ForwardEntry *
rows_of(Reader *reader)
{
	return (const ForwardEntry *) PageGetContents((Page) reader->copy.data);
}

/* Reads a page; false if the segment is gone. */
static bool
read_page(Reader *reader, uint32 page)
{
	const PageHeaderData *header = (PageHeader) reader->copy.data;
	BlockNumber block;

	CHECK_FOR_INTERRUPTS();
	if (!directory_find(&reader->path, page * FORWARD_PER_PAGE, &block) ||
		!BlockNumberIsValid(block) ||
		!page_copy(&reader->store, block, reader->path.owner, reader->copy.data))
		return false;
	reader->page = page;
	reader->n = (header->pd_lower - MAXALIGN(SizeOfPageHeaderData)) /
		sizeof(ForwardEntry);
	reader->next = 0;
	if (PAGE_TAIL((Page) header)->kind != PAGE_FORWARD || reader->n == 0 ||
		reader->n > FORWARD_PER_PAGE)
		index_corrupt(reader->store.index, block, "Rows are missing.");
	return true;
}

/* True if no row on the page at hand has that order or a greater one. */
static inline bool
ends_before(Reader *reader, uint64 order)
{
	return forward_order(&rows_of(reader)[reader->n - 1]) < order;
}

/*
 * Goes on to the first page that has a row of that order or a greater one, to the last
 * page if there is none; false if the segment is gone.
 */
static bool
find_page(Reader *reader, uint64 order)
{
	uint32		before = reader->page;	/* it ends before the order */
	uint32		last = reader->npages - 1;

	if (!ends_before(reader, order))
		return true;
	for (uint32 step = 1; reader->page < last; step *= 2)
	{
		if (!read_page(reader, Min(before + step, last)))
			return false;
		if (!ends_before(reader, order))
			break;
		before = reader->page;
	}
	last = reader->page;
	while (last - before > 1)
	{
		if (!read_page(reader, before + (last - before) / 2))
			return false;
		if (ends_before(reader, order))
			before = reader->page;
		else
			last = reader->page;
	}
	return reader->page == last || read_page(reader, last);
}

/* Goes on to the first row on the page that has that order or a greater one. */
static void
find_row(Reader *reader, uint64 order)
{
	const ForwardEntry *rows = rows_of(reader);
	uint32		lo = reader->next;
	uint32		hi = reader->n;

	while (lo < hi)
	{
		uint32		mid = (lo + hi) / 2;

		if (forward_order(&rows[mid]) < order)
			lo = mid + 1;
		else
			hi = mid;
	}
	reader->next = lo;
}

/* Takes the rows that have the first set's order; false if the segment is gone. */
static bool
take_order(Reader *reader, EqualSet *sets, size_t n)
{
	for (;;)
	{
		const ForwardEntry *row;

		if (reader->next == reader->n)
		{
			if (reader->page + 1 == reader->npages)
				return true;
			if (!read_page(reader, reader->page + 1))
				return false;
		}
		row = &rows_of(reader)[reader->next];
		if (forward_order(row) != sets->order)
			return true;
		if (row->spec != SPEC_DEAD && row->spec != SPEC_NULL)
			take_row(sets, n, sets->order, row->size, row->tid);
		reader->next++;
	}
}

/* Looks sets up in a segment; false if that is gone. */
static bool
search_rows(Reader *reader, EqualSet *sets, size_t n)
{
	if (!read_page(reader, 0))
		return false;
	for (size_t i = 0; i < n;)
	{
		uint64		order = sets[i].order;

		if (!find_page(reader, order))
			return false;
		find_row(reader, order);
		if (!take_order(reader, sets + i, n - i))
			return false;
		while (i < n && sets[i].order == order)
			i++;
	}
	return true;
}

static bool
search_segment(Relation index, const SegmentInfo *segment, EqualSet *sets, size_t n)
{
	Reader	   *reader;
	bool		there;

	if (segment->nrows == 0)
		return true;
	reader = palloc(sizeof(Reader));
	memset(reader, 0, offsetof(Reader, copy));
	reader->store.index = index;
	reader->npages = (segment->nrows - 1) / FORWARD_PER_PAGE + 1;
	directory_open(&reader->path, &reader->store, segment->owner,
				   segment->forward, NULL);
	there = search_rows(reader, sets, n);
	directory_close(&reader->path);
	pfree(reader);
	return there;
}

/* The first of the sets that has the order or a greater one. */
static size_t
find_set(const EqualSet *sets, size_t n, uint64 order)
{
	size_t		lo = 0;

	while (lo < n)
	{
		size_t		mid = lo + (n - lo) / 2;

		if (sets[mid].order < order)
			lo = mid + 1;
		else
			n = mid;
	}
	return lo;
}

/* Looks up what the pending rows have; false if they are a segment now. */
static bool
search_pending(Relation index, const IndexMeta *meta, EqualSet *sets, size_t n)
{
	PageStore	store = {.index = index};
	PGAlignedBlock copy;
	Page		page = (Page) copy.data;

	for (uint64 place = meta->pending_first; place < meta->pending_end; place++)
	{
		CHECK_FOR_INTERRUPTS();
		if (!page_copy(&store, meta->pending[place % MAX_PENDING_PAGES],
					   PENDING_OWNER(place), copy.data))
			return false;
		for (int i = 0; i < pending_count(page); i++)
		{
			const PendingHead *head = pending_head(page, i);
			const PendingRow *row = pending_row(index, page, head);
			size_t		first = find_set(sets, n, row->order);

			if (head->spec != SPEC_DEAD && head->spec != SPEC_NULL)
				take_row(sets + first, n - first, row->order, head->size, row->tid);
		}
	}
	return true;
}

/* See equal_rows.h */
void
equal_rows_find(Relation index, Snapshot snapshot, EqualSet *sets, size_t n)
{
	IndexMeta *meta = palloc(sizeof(IndexMeta));
	bool		complete = false;

	PredicateLockRelation(index, snapshot);
	pgstat_count_index_scan(index);
	search_counters(RelationGetRelid(index))->scans++;
	sort_sets(sets, n);
	for (int tries = 0; tries < MAX_TRIES && !complete; tries++)
	{
		for (size_t i = 0; i < n; i++)
			sets[i].nrows = 0;
		meta_copy(index, meta);
		segments_sort(meta);
		complete = search_pending(index, meta, sets, n);
		for (uint32 i = 0; i < meta->nsegments && complete; i++)
			complete = search_segment(index, &meta->segments[i], sets, n);
	}
	pfree(meta);
}
