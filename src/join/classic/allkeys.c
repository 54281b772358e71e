/*
 * allkeys.c
 *		For algorithms that use all elements of a set, not a prefix.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "join/classic/classic.h"

uint32
all_keys_most(Search *search, const JoinSet *set)
{
	return set->size;
}

void
all_keys_prepare(Search *search, JoinSet *set, bool indexed, bool probing)
{
	search_order(search, set, set->size);
}

uint32
all_keys_indexed(Search *search, const JoinSet *set)
{
	return set->nkeys;
}

/*
 * Counts what each indexed set shares with this one, and leaves those that
 * share enough.
 */
void
all_keys_scan(Search *search, const JoinSet *set, uint32 sides)
{
	InvertedIndex *index = &search->index;
	uint32		left = 0;

	for (uint32 i = 0; i < set->nkeys; i++)
	{
		const Bucket *bucket = setindex_bucket(index, set->keys[i]);
		const Posting *posting = &index->postings[bucket->start];
		const Posting *end = posting + bucket->n;

		CHECK_FOR_INTERRUPTS();
		for (; posting < end && posting->set < index->limit; posting++)
		{
			CHECK_EVERY(end - posting);
			search->stats.visited++;
			if (posting->key != set->keys[i] ||
				(INDEXED_SIDES(index, posting->set) & sides) == 0)
				continue;
			if (index->accumulators[posting->set].shared++ == 0)
				index->candidates[index->ncandidates++] = posting->set;
		}
	}
	for (uint32 i = 0; i < index->ncandidates; i++)
	{
		uint32		candidate = index->candidates[i];

		CHECK_EVERY(i);
		if (index->accumulators[candidate].shared >=
			search_need(search, INDEXED_SIZE(index, candidate), set->size))
			index->candidates[left++] = candidate;
		index->accumulators[candidate].shared = 0;
	}
	index->ncandidates = left;
}
