/*
 * search.c
 *		Prefixes and overlaps by size, and a set in order, for algorithms.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/join/engine/search.c
 */
#include "postgres.h"

#include "join/engine/search.h"

/* The answer's place in the cache, after `other` has been compared. */
static inline uint32 *
cache_place(SizeCache *cache, uint32 other, uint32 size, bool *found)
{
	uint32		slot = size % SIZE_CACHE;

	if (unlikely(cache->other != other))
	{
		memset(cache->size, 0, sizeof(cache->size));
		cache->other = other;
	}
	*found = cache->size[slot] == size;
	cache->size[slot] = size;
	return &cache->answer[slot];
}

/* See search.h */
uint32
search_need_cached(Search *search, uint32 indexed, uint32 probing)
{
	bool		found;
	uint32	   *need = cache_place(&search->need, probing, indexed, &found);

	if (!found)
		*need = measure_min_overlap(search->measure, indexed, probing,
									search->threshold);
	return *need;
}

/* See search.h */
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
 * How many of its rarest elements a set of that size has in the index.  With
 * a symmetric measure the sets that will look for it are as large or larger,
 * and the larger, the greater is the overlap that they need.
 */
uint32
search_indexed_prefix(Search *search, uint32 size)
{
	double		t = search->threshold;
	bool		found;
	uint32	   *prefix = cache_place(&search->indexed_prefix, 0, size, &found);
	uint64		need;

	if (found)
		return *prefix;
	if (search->symmetric)
		need = measure_min_overlap(search->measure, size, size, t);
	else
		need = measure_least_overlap(search->measure, size, t);
	*prefix = need > size ? 0 : size - need + 1;
	return *prefix;
}

/* How many of its rarest elements a set of that size looks for. */
uint32
search_probing_prefix(Search *search, uint32 size)
{
	bool		found;
	uint32	   *prefix = cache_place(&search->probing_prefix, 0, size, &found);

	if (!found)
	{
		uint64		need;

		need = measure_least_overlap(measure_commute(search->measure), size,
									 search->threshold);
		*prefix = need > size ? 0 : size - need + 1;
	}
	return *prefix;
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
