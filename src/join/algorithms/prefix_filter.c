/*
 * prefix_filter.c
 *		Prefixes, and filters by size and position, as PPJoin has them.
 *
 * Elements are ordered by rising frequency, sets by rising size.  Two sets
 * that share at least `need` elements share one in their prefixes, the first
 * |x| - need + 1 elements; so an inverted index over prefixes finds all
 * candidates.  On the way through the posting lists
 *
 *	- the size filter passes over partners that are too small or too large;
 *	- the positional filter prunes a candidate once the tokens shared so far
 *	  and what is left of the two sets behind this token,
 *	  ubound = 1 + min(|x| - i, |y| - j), do not add up to `need`;
 *
 * and at their end a candidate is dropped if what its prefix shares and what
 * is left behind the prefixes do not add up.
 *
 * What is left is verified on the sets themselves, a merge that stops as soon
 * as `need` is out of reach.  C. Xiao, W. Wang, X. Lin, J. X. Yu, "Efficient
 * similarity joins for near duplicate detection", WWW 2008.
 *
 * Tokens are compared by their keys in full: the positional filter would not
 * be sound on a match of two tokens with different places in the order.  (Two
 * features with one key have one place, side by side; then each pair of them
 * counts as a shared token, so that the count runs ahead of the positions and
 * both bounds stay upper bounds, also where prefixes end between the two.)
 *
 * Elements that occur in one set only are dropped beforehand, but keep their
 * places: they would be the first of the prefix.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "join/algorithms/prefix_filter.h"

uint32
prefix_most_indexed(Search *search, const JoinSet *set)
{
	return search_indexed_prefix(search, set->size);
}

uint32
prefix_most_keys(Search *search, const JoinSet *set)
{
	return Max(search_indexed_prefix(search, set->size),
			   search_probing_prefix(search, set->size));
}

/* Keys of the longer of the prefixes; and the set's bitmap. */
void
prefix_prepare(Search *search, JoinSet *set, bool indexed, bool probing)
{
	uint32		prefix = 0;

	if (indexed)
		prefix = search_indexed_prefix(search, set->size);
	if (probing)
		prefix = Max(prefix, search_probing_prefix(search, set->size));
	search_order(search, set, prefix);
}

uint32
prefix_indexed_keys(Search *search, const JoinSet *set)
{
	uint32		prefix = search_indexed_prefix(search, set->size);
	uint32		dropped = set->size - set->nvalues;

	return prefix <= dropped ? 0 : Min(prefix - dropped, set->nkeys);
}

/*
 * Counts one shared token, with `rest` elements behind it in the probing set.
 */
static inline void
accumulate(Search *search, const PrefixProbe *probe, const Posting *posting,
		   uint32 i, uint32 rest)
{
	InvertedIndex *index = &search->index;
	Accumulator *accumulator = &index->accumulators[posting->set];
	uint32		size = INDEXED_SIZE(index, posting->set);
	uint32		ubound = 1 + Min(rest, size - posting->position - 1);

	if (accumulator->shared == PRUNED)
		return;
	if (accumulator->need == 0)
	{
		uint32		need;

		if ((INDEXED_SIDES(index, posting->set) & probe->sides) == 0)
			return;
		need = search_need(search, size, probe->set->size);
		/* behind later tokens there is no more: it never becomes a candidate */
		if (ubound < need)
		{
			search->stats.removed_position++;
			return;
		}
		index->candidates[index->ncandidates++] = posting->set;
		accumulator->need = need;
	}
	if (accumulator->shared + ubound < accumulator->need)
	{
		accumulator->shared = PRUNED;
		search->stats.removed_position++;
	}
	else if (probe->filter != NULL && accumulator->shared == 0 &&
			 !probe->filter(search, probe->set, posting, i, accumulator->need))
	{
		accumulator->shared = PRUNED;
		search->stats.removed_suffix++;
	}
	else
		accumulator->shared++;
}

void
prefix_count(Search *search, const PrefixProbe *probe, uint32 i,
			 const Posting *posting, const Posting *end)
{
	uint64		key = probe->set->keys[i];
	uint32		rest = probe->set->nvalues - i - 1;

	for (; posting < end; posting++)
	{
		CHECK_EVERY(end - posting);
		if (posting->key != key)
			continue;
		if (search->components != NULL &&
			search->components[posting->set] == search->component)
		{
			posting = search_pass_own(search, posting, end) - 1;
			continue;
		}
		if (posting->set >= search->index.limit)
			break;
		if (INDEXED_SIZE(&search->index, posting->set) > probe->partners->most)
		{
			if (search->index.growing)
				continue;
			search->stats.removed_size += end - posting;
			break;
		}
		accumulate(search, probe, posting, i, rest);
	}
}

/*
 * False if what a candidate shares with the probe's prefix is not enough,
 * whatever follows.  Of the two prefixes, that which ends with the smaller
 * token has been counted in full: further shared elements are behind it.
 */
static bool
rest_is_enough(const InvertedIndex *index, const PrefixProbe *probe,
			   uint32 candidate)
{
	const Accumulator *accumulator = &index->accumulators[candidate];
	const Tail *tail = &index->notes[candidate].tail;
	/* it has a token of the candidate, so it has one at all */
	uint32		last = probe->set->keys[probe->nkeys - 1] >> 32;
	uint32		rest = probe->set->nvalues - probe->nkeys;

	if (last > tail->last)
		rest = tail->n;
	else if (last == tail->last)
		rest = Max(rest, tail->n);
	return accumulator->shared + rest >= accumulator->need;
}

void
prefix_gather(Search *search, const PrefixProbe *probe)
{
	InvertedIndex *index = &search->index;
	uint32		left = 0;

	for (uint32 i = 0; i < index->ncandidates; i++)
	{
		uint32		candidate = index->candidates[i];
		Accumulator *accumulator = &index->accumulators[candidate];

		CHECK_EVERY(i);
		if (accumulator->shared != PRUNED)
		{
			if (accumulator->need == 0 ||
				rest_is_enough(index, probe, candidate))
				index->candidates[left++] = candidate;
			else
				search->stats.removed_position++;
		}
		memset(accumulator, 0, sizeof(Accumulator));
	}
	index->ncandidates = left;
}

void
prefix_probe_begin(Search *search, const JoinSet *set, uint32 sides,
				   PrefixProbe *probe)
{
	uint32		prefix = search_probing_prefix(search, set->size);
	uint32		dropped = set->size - set->nvalues;

	probe->set = set;
	probe->sides = sides;
	probe->filter = NULL;
	probe->nkeys = prefix <= dropped ? 0 : Min(prefix - dropped, set->nkeys);
	probe->partners = search_partner_sizes(search, set->size);
	setindex_begin_at(&search->index, probe->partners->least);
	for (uint32 i = 0; i < probe->nkeys; i++)
		__builtin_prefetch(setindex_bucket(&search->index, set->keys[i]));
}

bool
sets_reflexive(Search *search, const JoinSet *set)
{
	return search_need(search, set->size, set->size) <= set->size;
}

/* The bitmaps of two sets that must share so many elements. */
static inline bool
bitmaps_filter(Search *search, const JoinSet *indexed, const JoinSet *probing,
			   uint32 need)
{
	if (bitmaps_allow(indexed, probing, need))
		return true;
	search->stats.removed_bitmap++;
	return false;
}

bool
sets_announce(Search *search, FeatureFilter *filter, const uint64 *values,
			  uint32 n)
{
	feature_filter_add(filter, values, n);
	return true;
}

bool
sets_may_have_partner(Search *search, const FeatureFilter *filter,
					  const uint64 *values, uint32 n, bool indexed)
{
	return feature_filter_has_some(filter, values, n,
								   search_least_overlap(search, indexed, n));
}

static inline bool
elements_reach(Search *search, const JoinSet *indexed, const JoinSet *probing,
			   uint32 need)
{
	search->stats.verified++;
	return set_overlap_reaches(indexed->values, indexed->nvalues,
							   probing->values, probing->nvalues, need);
}

bool
sets_may_match(Search *search, const JoinSet *indexed, const JoinSet *probing)
{
	return bitmaps_filter(search, indexed, probing,
						  search_need(search, indexed->size, probing->size));
}

bool
sets_compare(Search *search, const JoinSet *indexed, const JoinSet *probing)
{
	return elements_reach(search, indexed, probing,
						  search_need(search, indexed->size, probing->size));
}

bool
sets_verify(Search *search, const JoinSet *indexed, const JoinSet *probing)
{
	uint32		need = search_need(search, indexed->size, probing->size);

	return bitmaps_filter(search, indexed, probing, need) &&
		elements_reach(search, indexed, probing, need);
}
