/*
 * allpairs.c
 *		All-Pairs: one counter for each indexed set, and ever fewer postings.
 *
 * All-Pairs-0 indexes all elements of a set and adds up what each of the
 * others shares with the one that probes.
 *
 * All-Pairs-1 indexes only the rare elements of a set: the frequent ones,
 * first in the order of the paper, are left out as long as they alone could
 * not reach the threshold.  Whoever shares an indexed element is a candidate;
 * what is shared of the rest is counted when it is verified.
 *
 * All-Pairs-2 passes over sets that are too small, takes up no new candidate
 * once what is left of the probing set cannot be enough (remscore), and drops
 * a candidate whose counter and unindexed elements do not add up to what is
 * needed.
 *
 * R. J. Bayardo, Y. Ma, R. Srikant, "Scaling up all pairs similarity search",
 * WWW 2007; elements of a set have equal weights.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "join/algorithms/prefix_filter.h"
#include "join/classic/classic.h"

/* Sets that share an indexed element with this one, counting how many. */
static void
count_shared(Search *search, const JoinSet *set, uint32 sides, uint32 nfresh)
{
	InvertedIndex *index = &search->index;

	for (uint32 i = 0; i < set->nkeys; i++)
	{
		Bucket	   *bucket = setindex_bucket(index, set->keys[i]);
		const Posting *end;
		const Posting *posting = setindex_list(index, bucket, &end,
											   &search->stats.removed_size);

		CHECK_FOR_INTERRUPTS();
		for (; posting < end; posting++)
		{
			Accumulator *accumulator = &index->accumulators[posting->set];

			CHECK_EVERY(end - posting);
			search->stats.visited++;
			if (posting->key != set->keys[i] ||
				(INDEXED_SIDES(index, posting->set) & sides) == 0 ||
				(accumulator->shared == 0 && i >= nfresh))
				continue;
			if (accumulator->shared++ == 0)
				index->candidates[index->ncandidates++] = posting->set;
		}
	}
}

/* Forgets the counters. */
static void
clear_counters(InvertedIndex *index)
{
	for (uint32 i = 0; i < index->ncandidates; i++)
	{
		CHECK_EVERY(i);
		index->accumulators[index->candidates[i]].shared = 0;
	}
}

static void
all_pairs_1_probe(Search *search, const JoinSet *set, uint32 sides)
{
	count_shared(search, set, sides, set->nkeys);
	clear_counters(&search->index);
}

static void
all_pairs_2_probe(Search *search, const JoinSet *set, uint32 sides)
{
	InvertedIndex *index = &search->index;
	uint32		prefix = search_probing_prefix(search, set->size);
	uint32		dropped = set->size - set->nvalues;
	uint32		left = 0;

	setindex_begin_at(index, search_partner_sizes(search, set->size)->least);
	count_shared(search, set, sides, prefix <= dropped ? 0 : prefix - dropped);
	for (uint32 i = 0; i < index->ncandidates; i++)
	{
		uint32		candidate = index->candidates[i];
		uint32		size = INDEXED_SIZE(index, candidate);
		uint32		unindexed = size - search_indexed_prefix(search, size);
		uint32		need = search_need(search, size, set->size);
		uint32		shared = index->accumulators[candidate].shared;

		CHECK_EVERY(i);
		index->accumulators[candidate].shared = 0;
		if (shared + Min(unindexed, set->size) >= need)
			index->candidates[left++] = candidate;
		else
			search->stats.removed_position++;
	}
	index->ncandidates = left;
}

const Algorithm all_pairs_0 = {
	.name = "all-pairs-0",
	.ordered = true,
	.sized = true,
	.most_indexed = all_keys_most,
	.most_keys = all_keys_most,
	.prepare = all_keys_prepare,
	.indexed_keys = all_keys_indexed,
	.probe = all_keys_scan,
	.announce = sets_announce,
	.may_have_partner = sets_may_have_partner,
	.verify = sets_verify,
	.reflexive = sets_reflexive,
};

const Algorithm all_pairs_1 = {
	.name = "all-pairs-1",
	.ordered = true,
	.sized = true,
	.most_indexed = prefix_most_indexed,
	.most_keys = all_keys_most,
	.prepare = all_keys_prepare,
	.indexed_keys = prefix_indexed_keys,
	.probe = all_pairs_1_probe,
	.announce = sets_announce,
	.may_have_partner = sets_may_have_partner,
	.verify = sets_verify,
	.reflexive = sets_reflexive,
};

const Algorithm all_pairs_2 = {
	.name = "all-pairs-2",
	.ordered = true,
	.sized = true,
	.most_indexed = prefix_most_indexed,
	.most_keys = all_keys_most,
	.prepare = all_keys_prepare,
	.indexed_keys = prefix_indexed_keys,
	.probe = all_pairs_2_probe,
	.announce = sets_announce,
	.may_have_partner = sets_may_have_partner,
	.verify = sets_verify,
	.reflexive = sets_reflexive,
};
