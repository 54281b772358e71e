/*
 * resemblance_join.c
 *		Weighted prefixes: vectors whose resemblance reaches a threshold.
 *
 * The resemblance is the sum of the smaller weights by that of the greater
 * ones.  It is at least t only if what two vectors share is at least t of the
 * sum of either: so each is indexed, and looks for new candidates, by its
 * rarest features, as many as leave less than that to the others.  Of a
 * candidate, too, the part is known that is indexed; what the others may add is
 * at most the sum of either's tail; and both together must be t / (1 + t) of
 * the sums of both vectors.  These are the prefixes and positions of PPJoin
 * with weights.
 *
 * All bounds give way by more than floating-point sums may be wrong, so no pair
 * is lost; candidates are verified with all features, in double, by the very
 * expressions that similarity() has.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "join/algorithms/resemblance_join.h"

static void
prepare_prefix(Search *search, JoinSet *set, bool indexed, bool probing)
{
	uint32		n = vectorjoin_order(search, set);
	VectorJoin *all = search->state;
	double		need = search->threshold * joined_norm(set->values) *
		VECTOR_ROUNDING;
	uint32		prefix = n;
	double		sum = 0;

	for (; prefix > 0; prefix--)
	{
		CHECK_EVERY(prefix);
		sum += all->tokens[prefix - 1].weight;
		if (sum >= need)
			break;
	}
	vectorjoin_prepare(search, set, n, prefix, prefix);
}

/* True if what vectors share of the indexed part of one may be enough. */
static bool
may_resemble(Search *search, const JoinSet *set, uint32 n,
			 const JoinSet *indexed, double shared)
{
	PreparedVector other = prepared_vector(indexed);
	double		t = search->threshold;
	double		sums = joined_norm(set->values) + joined_norm(indexed->values);
	double		tail = vectorjoin_tail_behind(search->state, set, n, indexed,
											  &other);

	return shared + Min(tail, other.length) >=
		t / (1 + t) * sums * VECTOR_ROUNDING;
}

static void
probe_prefix(Search *search, const JoinSet *set, uint32 sides)
{
	InvertedIndex *index = &search->index;
	PreparedVector prepared = prepared_vector(set);
	uint32		left = 0;

	vectorjoin_tails(search, &prepared);
	vectorjoin_add_minima(search, set, sides, prepared.fresh);
	for (uint32 i = 0; i < index->ncandidates; i++)
	{
		uint32		candidate = index->candidates[i];
		double	   *sum = shared_sum(index, candidate);

		CHECK_EVERY(i);
		if (may_resemble(search, set, prepared.n, &search->sets[candidate],
						 *sum))
			index->candidates[left++] = candidate;
		else
			search->stats.removed_position++;
		*sum = 0;
	}
	index->ncandidates = left;
}

/* By all features, as similarity() does. */
static bool
verify_resemblance(Search *search, const JoinSet *indexed,
				   const JoinSet *probing)
{
	Vector		v = joined_vector(indexed->values, indexed->size);
	Vector		w = joined_vector(probing->values, probing->size);

	search->stats.verified++;
	return vectors_jaccard(&v, &w) >= search->threshold;
}

const Algorithm resemblance_join = {
	.name = "weighted prefixes",
	.ordered = true,
	.symmetric = true,
	.most_indexed = vectorjoin_most_indexed,
	.most_keys = vectorjoin_most_keys,
	.count = vectorjoin_count,
	.prepare = prepare_prefix,
	.indexed_keys = vectorjoin_indexed_keys,
	.add = vectorjoin_add,
	.probe = probe_prefix,
	.announce = vectorjoin_announce,
	.may_have_partner = vectorjoin_may_have_partner,
	.verify = verify_resemblance,
};
