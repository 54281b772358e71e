/*
 * cosine_allpairs.c
 *		All-Pairs-0 and All-Pairs-1: vectors whose cosine reaches a threshold.
 *
 * By their cosine, vectors are taken as of length 1, so that the cosine is the
 * sum of the products of weights.  A probing vector adds up what it shares with
 * each of those that are indexed.
 *
 * All-Pairs-0 indexes all features; a vector whose sum reaches the threshold
 * is a candidate.
 *
 * All-Pairs-1 leaves the most frequent features of a vector out of the index
 * as long as these cannot reach the threshold by themselves, with whatever
 * other vector: the sum of their weights, each times the greatest weight that
 * the feature has anywhere, stays below.  Whoever shares an indexed feature is
 * a candidate.
 *
 * All bounds give way by more than floating-point sums may be wrong, so no pair
 * is lost; candidates are verified with all features, in double, by the very
 * expressions that cosine() has.
 *
 * R. J. Bayardo, Y. Ma, R. Srikant, "Scaling up all pairs similarity search",
 * WWW 2007.
 */
#include "postgres.h"

#include <float.h>

#include "miscadmin.h"

#include "join/algorithms/cosine_join.h"
#include "join/classic/classic.h"

/* Algorithm.prepare */
static void
prepare_0(Search *search, JoinSet *set, bool indexed, bool probing)
{
	uint32		n = vectorjoin_order(search, set);

	vectorjoin_prepare(search, set, n, n, n);
}

static void
prepare_1(Search *search, JoinSet *set, bool indexed, bool probing)
{
	uint32		n = vectorjoin_order(search, set);
	VectorJoin *all = search->state;

	vectorjoin_prepare(search, set, n,
					   cosine_needed_tokens(search, all->tokens, n, FLT_MAX,
											false), n);
}

/* Algorithm.probe */
static void
probe_0(Search *search, const JoinSet *set, uint32 sides)
{
	InvertedIndex *index = &search->index;
	uint32		left = 0;

	vectorjoin_add_products(search, set, sides, PG_UINT32_MAX);
	for (uint32 i = 0; i < index->ncandidates; i++)
	{
		uint32		candidate = index->candidates[i];
		double	   *sum = shared_sum(index, candidate);

		CHECK_EVERY(i);
		if (*sum >= search->threshold * VECTOR_ROUNDING)
			index->candidates[left++] = candidate;
		*sum = 0;
	}
	index->ncandidates = left;
}

static void
probe_1(Search *search, const JoinSet *set, uint32 sides)
{
	InvertedIndex *index = &search->index;

	vectorjoin_add_products(search, set, sides, PG_UINT32_MAX);
	for (uint32 i = 0; i < index->ncandidates; i++)
	{
		CHECK_EVERY(i);
		*shared_sum(index, index->candidates[i]) = 0;
	}
}

const Algorithm cosine_all_pairs_0 = {
	.name = "all-pairs-0",
	.ordered = true,
	.weighted = true,
	.symmetric = true,
	.most_indexed = vectorjoin_most_indexed,
	.most_keys = vectorjoin_most_keys,
	.count = cosine_count,
	.prepare = prepare_0,
	.indexed_keys = vectorjoin_indexed_keys,
	.add = vectorjoin_add,
	.probe = probe_0,
	.announce = vectorjoin_announce,
	.may_have_partner = vectorjoin_may_have_partner,
	.verify = cosine_verify,
};

const Algorithm cosine_all_pairs_1 = {
	.name = "all-pairs-1",
	.ordered = true,
	.weighted = true,
	.symmetric = true,
	.most_indexed = vectorjoin_most_indexed,
	.most_keys = vectorjoin_most_keys,
	.count = cosine_count,
	.prepare = prepare_1,
	.indexed_keys = vectorjoin_indexed_keys,
	.add = vectorjoin_add,
	.probe = probe_1,
	.announce = vectorjoin_announce,
	.may_have_partner = vectorjoin_may_have_partner,
	.verify = cosine_verify,
};
