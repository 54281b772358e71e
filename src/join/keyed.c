/*
 * keyed.c
 *		Sets of a kind that only their maker understands: near ones have keys
 *		in common.
 *
 * A set is indexed under the keys that its maker gives it, and looked up by
 * those that its maker gives to a query; what comes up often enough is
 * handed to the maker to be compared.  Where the maker can tell nothing from
 * keys, all sets are candidates.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/join/keyed.c
 */
#include "postgres.h"

#include "miscadmin.h"

#include "join/internal.h"

/* The keys that a set is found by, each once. */
static void
keyed_prepare(SetJoin *join, JoinSet *set, bool indexed, bool probing)
{
	KeyList    *list = &join->list;
	uint32		n = 0;

	list->n = 0;
	if (indexed)
		join->keyed_sets->row_keys(set->values, join->params.threshold, list);
	tokens_select(list->keys, list->n, list->n, true);
	for (uint32 i = 0; i < list->n; i++)
		if (n == 0 || list->keys[n - 1] != list->keys[i])
			list->keys[n++] = list->keys[i];
	set->keys = list->keys;
	set->nkeys = n;
}

/*
 * The keys of the first set serve as an estimate for all: sketches of one
 * making have about as many.
 */
static uint32
keyed_most(SetJoin *join, const JoinSet *set)
{
	KeyList    *list = &join->list;

	if (list->n == 0)
		join->keyed_sets->row_keys(set->values, join->params.threshold, list);
	return list->n;
}

static uint32
keyed_indexed_keys(SetJoin *join, const JoinSet *set)
{
	return set->nkeys;
}

/* Counts the sets that have a key. */
static void
count_key(SetJoin *join, uint64 key, uint32 sides)
{
	InvertedIndex *index = &join->index;
	const Bucket *bucket = setindex_bucket(index, key);
	const Posting *posting = &index->postings[bucket->start];
	const Posting *end = posting + bucket->n;

	join->stats.visited += bucket->n;
	for (; posting < end; posting++)
	{
		CHECK_EVERY(end - posting);
		if (posting->key != key ||
			(INDEXED_SIDES(index, posting->set) & sides) == 0)
			continue;
		if (index->accumulators[posting->set].shared++ == 0)
			index->candidates[index->ncandidates++] = posting->set;
	}
}

static void
keyed_probe(SetJoin *join, const JoinSet *set, uint32 sides)
{
	InvertedIndex *index = &join->index;
	KeyList    *list = &join->list;
	uint32		need;
	uint32		left = 0;

	list->n = 0;
	if (!join->keyed_sets->query_keys(set->values, join->params.threshold,
									  list, &need))
	{
		for (uint32 i = 0; i < index->nadded; i++)
		{
			CHECK_EVERY(i);
			if ((INDEXED_SIDES(index, i) & sides) != 0)
				index->candidates[index->ncandidates++] = i;
		}
		return;
	}
	for (size_t i = 0; i < list->n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		count_key(join, list->keys[i], sides);
	}
	for (uint32 i = 0; i < index->ncandidates; i++)
	{
		uint32		candidate = index->candidates[i];

		CHECK_EVERY(i);
		if (index->accumulators[candidate].shared >= need)
			index->candidates[left++] = candidate;
		index->accumulators[candidate].shared = 0;
	}
	index->ncandidates = left;
}

static bool
keyed_verify(SetJoin *join, const JoinSet *indexed, const JoinSet *probing)
{
	join->stats.verified++;
	return join->keyed_sets->near(indexed->values, probing->values,
								  join->params.threshold);
}

const Algorithm keyed = {
	.name = "candidate keys",
	.most_indexed = keyed_most,
	.most_keys = keyed_most,
	.prepare = keyed_prepare,
	.indexed_keys = keyed_indexed_keys,
	.probe = keyed_probe,
	.verify = keyed_verify,
};
