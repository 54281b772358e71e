/*
 * allkeys.c
 *		For algorithms that use all elements of a set, not a prefix.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/join/allkeys.c
 */
#include "postgres.h"

#include "miscadmin.h"

#include "join/internal.h"

uint32
all_keys_most(SetJoin *join, const JoinSet *set)
{
	return set->size;
}

void
all_keys_prepare(SetJoin *join, JoinSet *set, bool indexed, bool probing)
{
	setjoin_order(join, set, set->size);
}

uint32
all_keys_indexed(SetJoin *join, const JoinSet *set)
{
	return set->nkeys;
}

/*
 * Counts what each indexed set shares with this one, and leaves those that
 * share enough.
 */
void
all_keys_scan(SetJoin *join, const JoinSet *set, uint32 sides)
{
	InvertedIndex *index = &join->index;
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
			join->stats.visited++;
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
			setjoin_need(join, INDEXED_SIZE(index, candidate), set->size))
			index->candidates[left++] = candidate;
		index->accumulators[candidate].shared = 0;
	}
	index->ncandidates = left;
}
