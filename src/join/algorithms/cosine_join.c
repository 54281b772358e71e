/*
 * cosine_join.c
 *		All-Pairs-2: vectors whose cosine reaches a threshold.
 *
 * By their cosine, vectors are taken as of length 1, so that the cosine is the
 * sum of the products of weights.  A probing vector adds up what it shares with
 * each of those that are indexed.
 *
 * Features that could not reach the threshold by themselves, with whatever
 * other vector, are left out of the index, as in All-Pairs-1
 * (classic/cosine_allpairs.c).
 *
 * All-Pairs-2 knows more of the vectors that are still to come and will probe:
 * none has a weight above a certain one, so that fewer features need be
 * indexed.  It passes over vectors that have too few features for such
 * weights.  It takes up no new candidate once what is left of the probing
 * vector cannot be enough (remscore).  And it drops a candidate whose sum is
 * too small, even if as many features as are not indexed have the greatest
 * weights that those of either vector have.
 *
 * Where one word of a document can outweigh all others those bounds are weak.
 * So each of them has a companion, and the lesser one counts: two vectors have
 * no more in common than the product of their lengths (Cauchy and Schwarz),
 * of which the whole one's is 1.  This holds of the features that are not
 * indexed; of those that are left of the probing vector; and of a candidate's
 * that are not indexed and the probing vector's from the first of them on.
 *
 * In the paper vectors come by falling greatest weight, so that the present
 * one's bounds those to come.  Here they come by rising number of features,
 * as all sets do in this engine; the greatest weight of all that have as many
 * features or more, which has been noted, serves as well.  With equal weights
 * the two orders are the same.  A vector x probing finds no more in y than the
 * greatest weight of x times the sum of weights of y, and that sum is at most
 * the root of the number of y's features: hence the least number of features,
 * which rises from probe to probe.
 *
 * All bounds give way by more than floating-point sums may be wrong, so no pair
 * is lost; candidates are verified with all features, in double, by the very
 * expressions that cosine() has.
 *
 * R. J. Bayardo, Y. Ma, R. Srikant, "Scaling up all pairs similarity search",
 * WWW 2007; D. C. Anastasiu, G. Karypis, "L2AP: fast cosine similarity search
 * with prefix L-2 norm bounds", ICDE 2014.
 */
#include "postgres.h"

#include <float.h>

#include "miscadmin.h"
#include "port/pg_bitutils.h"

#include "join/algorithms/cosine_join.h"

/* Rises with the number of features. */
static inline uint32
class_of(uint32 n)
{
	int			shift = Max(pg_leftmost_one_pos32(n) - CLASS_BITS, 0);

	return ((uint32) shift << CLASS_BITS) + (n >> shift);
}

void
cosine_count(Search *search, const uint64 *values, uint32 size)
{
	Vector		v = joined_vector(values, size);
	double		factor = 1 / sqrt(joined_norm(values));
	float	   *most = &vectorjoin_state(search)->most[class_of(v.n)];

	counters_add_weights(&search->counters, v.features, v.weights, v.n, factor);
	for (uint32 i = 0; i < v.n; i++)
	{
		CHECK_EVERY(i);
		*most = Max(*most, (float) (v.weights[i] * factor));
	}
}

/* The greatest weight of vectors with so many features or more. */
static float
greatest_to_come(Search *search, uint32 n)
{
	VectorJoin *all = vectorjoin_state(search);

	if (!all->counted)
	{
		for (int i = NCLASSES - 2; i >= 0; i--)
			all->most[i] = Max(all->most[i], all->most[i + 1]);
		all->counted = true;
	}
	return all->most[class_of(n)];
}

uint32
cosine_needed_tokens(Search *search, const WeightedToken *tokens, uint32 n,
					 float most, bool by_length)
{
	double		need = search->threshold * VECTOR_ROUNDING;
	double		sum = 0;
	double		square = 0;

	for (; n > 0; n--)
	{
		const WeightedToken *token = &tokens[n - 1];

		CHECK_EVERY(n);
		sum += (double) token->weight * Min(token->most, most);
		square += (double) token->weight * token->weight;
		if (sum >= need && (!by_length || sqrt(square) >= need))
			break;
	}
	return n;
}

static void
cosine_prepare(Search *search, JoinSet *set, bool indexed, bool probing)
{
	uint32		n = vectorjoin_order(search, set);
	VectorJoin *all = search->state;
	float		most = search->index.growing ? FLT_MAX :
		greatest_to_come(search, joined_nfeatures(set->size));

	vectorjoin_prepare(search, set, n,
					   cosine_needed_tokens(search, all->tokens, n, most, true),
					   cosine_needed_tokens(search, all->tokens, n, FLT_MAX,
											true));
}

/* The fewest values that a partner of this vector, or of a later one, has. */
static uint32
least_partner(Search *search, const JoinSet *set)
{
	double		root = search->threshold * VECTOR_ROUNDING /
		greatest_to_come(search, joined_nfeatures(set->size));
	double		n = floor(root * root * VECTOR_ROUNDING);

	return n < 1 ? 0 : VECTOR_VALUES((uint32) Min(n, joined_nfeatures(set->size)));
}

static float
greatest_weight(const PreparedVector *prepared)
{
	float		most = 0;

	for (uint32 i = 0; i < prepared->n; i++)
	{
		CHECK_EVERY(i);
		most = Max(most, prepared->weights[i]);
	}
	return most;
}

/*
 * At the most, what the probing vector shares with the part of another one
 * that is not indexed.
 */
static double
most_unindexed(const VectorJoin *all, const JoinSet *set,
			   const PreparedVector *prepared, double most,
			   const JoinSet *indexed)
{
	PreparedVector other = prepared_vector(indexed);
	uint32		n = Min(other.n - other.indexed, prepared->n);

	return Min(n * most * other.rest, other.length *
			   vectorjoin_tail_behind(all, set, prepared->n, indexed, &other));
}

static void
cosine_probe(Search *search, const JoinSet *set, uint32 sides)
{
	InvertedIndex *index = &search->index;
	PreparedVector prepared = prepared_vector(set);
	double		most = greatest_weight(&prepared);
	uint32		left = 0;

	vectorjoin_tails(search, &prepared);
	setindex_begin_at(index, least_partner(search, set));
	vectorjoin_add_products(search, set, sides, prepared.fresh);
	for (uint32 i = 0; i < index->ncandidates; i++)
	{
		uint32		candidate = index->candidates[i];
		double	   *sum = shared_sum(index, candidate);

		CHECK_EVERY(i);
		if (*sum + most_unindexed(search->state, set, &prepared, most,
								  &search->sets[candidate]) >=
			search->threshold * VECTOR_ROUNDING)
			index->candidates[left++] = candidate;
		else
			search->stats.removed_position++;
		*sum = 0;
	}
	index->ncandidates = left;
}

bool
cosine_verify(Search *search, const JoinSet *indexed, const JoinSet *probing)
{
	Vector		v = joined_vector(indexed->values, indexed->size);
	Vector		w = joined_vector(probing->values, probing->size);

	search->stats.verified++;
	return vectors_cosine(vectors_dot(&v, &w), joined_norm(indexed->values),
						  joined_norm(probing->values)) >=
		search->threshold;
}

const Algorithm cosine_join = {
	.name = "all-pairs-2",
	.ordered = true,
	.weighted = true,
	.symmetric = true,
	.most_indexed = vectorjoin_most_indexed,
	.most_keys = vectorjoin_most_keys,
	.count = cosine_count,
	.prepare = cosine_prepare,
	.indexed_keys = vectorjoin_indexed_keys,
	.add = vectorjoin_add,
	.probe = cosine_probe,
	.announce = vectorjoin_announce,
	.may_have_partner = vectorjoin_may_have_partner,
	.verify = cosine_verify,
};
