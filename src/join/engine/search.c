/*
 * search.c
 *		Prefixes and overlaps by size, and a set in order, for algorithms.
 */
#include "postgres.h"

#include "join/engine/search.h"

/* Keeps an answer, which is for another size in its place by now. */
static uint32
keep_answer(SizeCache *cache, uint32 other, uint32 size, uint32 answer)
{
	if (cache->other != other)
	{
		memset(cache->size, 0, sizeof(cache->size));
		cache->other = other;
	}
	cache->size[size % SIZE_CACHE] = size;
	cache->answer[size % SIZE_CACHE] = answer;
	return answer;
}

uint32
search_find_need(Search *search, uint32 indexed, uint32 probing)
{
	return keep_answer(&search->need, probing, indexed,
					   measure_min_overlap(search->measure, indexed, probing,
										   search->threshold));
}

uint64
search_find_least_overlap(Search *search, bool indexed, uint32 size)
{
	Measure		measure = indexed ? search->measure :
		measure_commute(search->measure);
	uint64		least = measure_least_overlap(measure, size, search->threshold);

	/* one more than the greatest size is none that the cache can keep */
	return least > PG_UINT32_MAX ? least :
		keep_answer(&search->least, indexed, size, least);
}

/* So many rarest elements of a set hold one of any `need` that it shares. */
static uint32
prefix_of(uint32 size, uint64 need)
{
	return need > size ? 0 : size - need + 1;
}

uint32
search_find_indexed_prefix(Search *search, uint32 size)
{
	double		t = search->threshold;
	uint64		need;

	if (search->symmetric)
		need = measure_min_overlap(search->measure, size, size, t);
	else
		need = measure_least_overlap(search->measure, size, t);
	return keep_answer(&search->indexed_prefix, 0, size, prefix_of(size, need));
}

uint32
search_find_probing_prefix(Search *search, uint32 size)
{
	uint64		need = measure_least_overlap(measure_commute(search->measure),
											 size, search->threshold);

	return keep_answer(&search->probing_prefix, 0, size, prefix_of(size, need));
}

const PartnerSizes *
search_partner_sizes(Search *search, uint32 size)
{
	PartnerSizes *sizes = &search->partners;

	if (sizes->size != size)
	{
		sizes->size = size;
		measure_sizes(measure_commute(search->measure), size, search->threshold,
					  &sizes->least, &sizes->most);
	}
	return sizes;
}

/*
 * Drops what occurs in this set only, makes its bitmap, and the keys of a
 * prefix of that length, which are good until the next call.
 */
void
search_order(Search *search, JoinSet *set, uint32 prefix)
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
