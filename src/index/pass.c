/*
 * pass.c
 *		One pass through an index of access method neardup.
 */
#include "postgres.h"

#include "executor/instrument.h"
#include "utils/float.h"

#include "base/settings.h"
#include "index/pending.h"
#include "index/row.h"
#include "index/segments.h"
#include "index/index_search.h"

/* Gives a row to whoever searches. */
static void
give_row(IndexSearch *search, ItemPointer tid, double distance)
{
	tid_require(search->store.index, META_BLOCK, tid);
	search->limit = search->take(search->taker, tid, distance);
}

void
search_take(IndexSearch *search, ItemPointer tid, uint32 size, uint64 order,
			uint64 overlap)
{
	RowTraits	row = {size, VECTOR_PEAK(order), &order};
	const IndexQuery *query = search->query;
	double		distance = 0;

	if (size < search->least_size || size > search->most_size ||
		(query->has_own && ItemPointerEquals(tid, unconstify(ItemPointerData *, &query->own))))
		return;
	if (query->filter &&
		bounds_value(query, query->measure, &row, overlap) < query->threshold)
		return;
	if (query->nearest)
		distance = 1 - bounds_value(query, query->order, &row, overlap);
	if (distance <= search->limit)
		give_row(search, tid, distance);
}

bool
search_take_other(IndexSearch *search, ItemPointer tid, uint16 spec)
{
	const IndexQuery *query = search->query;

	if (spec == SPEC_DEAD)
		return true;
	if (spec == SPEC_NULL || (query->spec != NULL && spec != search->spec))
	{
		/* no near-duplicate, and no distance: last in order */
		if (query->nulls && search->limit == get_float8_infinity())
			give_row(search, tid, get_float8_infinity());
		return true;
	}
	if (query->spec != NULL && !query->all)
		return false;
	give_row(search, tid, query->nearest ? -1 : 0);
	return true;
}

static void
begin(IndexSearch *search)
{
	const IndexQuery *query = search->query;

	search->limit = get_float8_infinity();
	search->most_size = PG_UINT64_MAX;
	search->every_row = query->spec == NULL || query->all;
	if (query->spec != NULL)
		search->spec = spec_number(query->spec);
	if (search->every_row)
		return;
	search->slack = query->shares != NULL ? 0 : query->size - query->nkeys;
	search->bitmap = keys_bitmap(query->keys, query->nkeys);
	search->least = 1;
	if (!query->filter || query->size == 0 || query->shares != NULL)
		return;
	if (query->sketch)
	{
		search->least = bounds_sketch_overlap(query);
		search->every_row = search->least == 0;
		return;
	}
	search->least = measure_least_overlap(measure_commute(query->measure),
										  query->size, query->threshold);
	measure_sizes(measure_commute(query->measure), query->size,
				  query->threshold, &search->least_size, &search->most_size);
	search->equal = search->least == query->size &&
		search->least_size == query->size && search->most_size == query->size;
	if (search->equal)
		search->order = keys_order(query->keys, query->nkeys);
}

/* Pages that this session has taken from the server's buffers. */
static uint64
pages_read(void)
{
	return pgBufferUsage.shared_blks_hit + pgBufferUsage.shared_blks_read +
		pgBufferUsage.local_blks_hit + pgBufferUsage.local_blks_read;
}

/*
 * Raises INDEX_CORRUPTED if nothing was merged or used again since the metapage
 * was read: then something was not where it said.
 */
static void
require_change(Relation index, const IndexMeta *before)
{
	IndexMeta *now = palloc(sizeof(IndexMeta));

	meta_copy(index, now);
	if (now->next_owner == before->next_owner &&
		now->nsegments == before->nsegments &&
		now->pending_kept == before->pending_kept)
		index_corrupt(index, META_BLOCK,
						 "A page that it names belongs to something else.");
	pfree(now);
}

bool
index_search(Relation index, const IndexQuery *query, TakeRow take,
				void *taker)
{
	IndexMeta *meta = palloc(sizeof(IndexMeta));
	IndexSearch search = {{.index = index}, query, take, taker,
	search_counters(RelationGetRelid(index))};
	uint64		before = pages_read();
	bool		complete;

	search.counters->passes++;
	meta_copy(index, meta);
	segments_sort(meta);
	pause_at(PAUSE_SEARCH);
	begin(&search);
	search.kept_index = kept_index(index, meta);
	search.keys = palloc_extended(Max(query->nkeys, 1) * sizeof(uint32),
								  MCXT_ALLOC_HUGE);
	complete = search_pending(&search, meta);
	for (uint32 i = 0; i < meta->nsegments && complete; i++)
		complete = search_segment(&search, &meta->segments[i]);
	search.counters->pages += pages_read() - before;
	if (!complete)
		require_change(index, meta);
	pfree(search.keys);
	pfree(meta);
	return complete;
}
