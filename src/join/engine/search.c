/*
 * search.c
 *		The interface of algorithms.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "join/engine/search.h"

/* Prefixes and overlaps by size, and a set in order, for algorithms */

/* Store an answer in place of that for another size. */
static uint32
keep_answer(SizeCache *cache, uint32 other, uint32 size, uint32 answer)
{
	cache->key[SIZE_SLOT(other, size)] = SIZE_KEY(other, size);
	cache->answer[SIZE_SLOT(other, size)] = answer;
	return answer;
}

uint32
search_find_need(JoinSearch *search, uint32 indexed, uint32 probing)
{
	return keep_answer(&search->need, probing, indexed,
					   measure_min_overlap(search->measure, indexed, probing,
										   search->threshold));
}

uint64
search_find_least_overlap(JoinSearch *search, bool indexed, uint32 size)
{
	Measure		measure = indexed ? search->measure :
	measure_commute(search->measure);
	uint64		least = measure_least_overlap(measure, size,
											  search->threshold);

	/* size + 1 of the greatest size does not fit into the cache */
	return least > PG_UINT32_MAX ? least :
		keep_answer(&search->least, indexed, size, least);
}

/* Length of a prefix that has one of any `need` elements of the set. */
static uint32
prefix_of(uint32 size, uint64 need)
{
	return need > size ? 0 : size - need + 1;
}

uint32
search_find_indexed_prefix(JoinSearch *search, uint32 size)
{
	double		t = search->threshold;
	uint64		need;

	if (search->symmetric)
		need = measure_min_overlap(search->measure, size, size, t);
	else
		need = measure_least_overlap(search->measure, size, t);
	return keep_answer(&search->indexed_prefix, 0, size,
					   prefix_of(size, need));
}

uint32
search_find_probing_prefix(JoinSearch *search, uint32 size)
{
	uint64		need = measure_least_overlap(measure_commute(search->measure),
											 size, search->threshold);

	return keep_answer(&search->probing_prefix, 0, size,
					   prefix_of(size, need));
}

const MatchSizes *
search_match_sizes(JoinSearch *search, uint32 size)
{
	MatchSizes *sizes = &search->matches;

	if (sizes->size != size)
	{
		sizes->size = size;
		measure_sizes(measure_commute(search->measure), size,
					  search->threshold,
					  &sizes->least, &sizes->most);
	}
	return sizes;
}

/*
 * Drop values that occur in this set only, make its bitmap, and the keys of a
 * prefix of that length, which are valid until the next call.
 */
void
search_order(JoinSearch *search, JoinSet *set, uint32 prefix)
{
	uint32		dropped;

	set->nvalues = tokens_make(&search->counters, set->values, set->size,
							   search->room);
	dropped = set->size - set->nvalues;
	set->keys = search->room;
	set->nkeys = prefix <= dropped ? 0 : Min(prefix - dropped, set->nvalues);
	tokens_select(set->keys, set->nvalues, set->nkeys);
	if (set->nvalues > 0)
		bitmap_make(set);
}

void
search_add(JoinSearch *search, const Algorithm *algorithm, const JoinSet *set,
		   uint32 n)
{
	Posting		small;
	uint64		second;

	if (algorithm->add != NULL)
		algorithm->add(search, set, n);
	else if (n > 0 && algorithm->bitmaps != NULL &&
			 algorithm->bitmaps(search, set, &small, &second))
		inverted_index_add_bitmap(&search->index, set->keys, n, &small,
								  second);
	else
		inverted_index_add(&search->index, set->keys, n,
						   set->size - set->nvalues);
}
