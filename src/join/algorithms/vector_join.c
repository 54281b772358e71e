/*
 * vector_join.c
 *		Joins of vectors: by weighted prefixes, or by All-Pairs for the cosine.
 */
#include "postgres.h"

#include <float.h>

#include "miscadmin.h"
#include "port/pg_bitutils.h"

#include "join/algorithms/vector_join.h"

/*
 * Common to the joins of weighted vectors: tokens in order, the index, and the
 * sums of a probe
 */

/* True if the measure is the resemblance of weights, not the cosine. */
static inline bool
by_resemblance(const JoinSearch *search)
{
	return search->measure != MEASURE_COSINE;
}

/* The factor that scales a vector to length 1. */
static inline double
scale_of(JoinSearch *search, const uint64 *values)
{
	return by_resemblance(search) ? 1 : 1 / sqrt(joined_norm(values));
}

VectorJoin *
vectorjoin_state(JoinSearch *search)
{
	if (search->state == NULL)
		search->state = MemoryContextAllocZero(search->context,
											   sizeof(VectorJoin));
	return search->state;
}

/* Algorithm.count */
void
vectorjoin_count(JoinSearch *search, const uint64 *values, uint32 size)
{
	Vector		v = joined_vector(values, size);

	counters_add(&search->counters, v.features, v.n);
}

#define ST_SORT sort_tokens
#define ST_ELEMENT_TYPE WeightedToken
#define ST_COMPARE(a, b) (((a)->key > (b)->key) - ((a)->key < (b)->key))
#define ST_SCOPE static
#define ST_CHECK_FOR_INTERRUPTS
#define ST_DEFINE
#include "lib/sort_template.h"

/* Allocate room for the largest vector. */
static void
make_room(JoinSearch *search, VectorJoin *all)
{
	uint32		n = joined_nfeatures(search->max_features);

	if (all->tokens != NULL)
		return;
	all->tokens = MemoryContextAllocHuge(search->context,
										 sizeof(WeightedToken) * Max(n, 1));
	all->keys = MemoryContextAllocHuge(search->context,
									   sizeof(uint64) *
									   PREPARED_KEYS((size_t) n));
	all->tails = MemoryContextAllocHuge(search->context,
										sizeof(double) * ((size_t) n + 1));
	all->least = MemoryContextAllocHuge(search->context,
										sizeof(uint32) * Max(n, 1));
}

/*
 * The summand of a weight in the norm of a part of a vector, and the length of
 * a norm: the root of a sum of squares, or a sum of weights.
 */
static inline double
norm_with(const JoinSearch *search, double weight)
{
	return by_resemblance(search) ? weight : weight * weight;
}

/* The length of a part of a vector by its norm; see norm_with(). */
static inline double
length_of(const JoinSearch *search, double norm)
{
	if (!by_resemblance(search))
		return sqrt(norm);
	/* the sum is stored as a float */
	return norm <= FLT_MAX ? norm : INFINITY;
}

/* Algorithm.announce */
bool
vectorjoin_announce(JoinSearch *search, FeatureFilter *filter,
					const uint64 *values, uint32 size)
{
	Vector		v = joined_vector(values, size);

	feature_filter_add(filter, v.features, v.n);
	return true;
}

/*
 * Algorithm.may_have_match: the part of a vector that the other side may share
 * must be long enough.  It bounds the sum of the smaller weights for the
 * resemblance; times the other's length, 1, the cosine.
 */
bool
vectorjoin_may_have_match(JoinSearch *search, const FeatureFilter *filter,
						  const uint64 *values, uint32 size, bool indexed)
{
	Vector		v = joined_vector(values, size);
	double		need = norm_with(search, search->threshold * VECTOR_ROUNDING) *
	joined_norm(values) * VECTOR_ROUNDING;
	double		norm = 0;

	for (uint32 i = 0; i < v.n && norm < need; i++)
	{
		CHECK_EVERY(i);
		if (feature_filter_has(filter, v.features[i]))
			norm += norm_with(search, v.weights[i]);
	}
	return norm >= need;
}

uint32
vectorjoin_order(JoinSearch *search, const JoinSet *set)
{
	VectorJoin *all = vectorjoin_state(search);
	Vector		v = joined_vector(set->values, set->size);
	uint32		n;

	make_room(search, all);
	n = weighted_tokens_make(&search->counters, v.features, v.weights, v.n,
							 scale_of(search, set->values), all->tokens);
	sort_tokens(all->tokens, n);
	return n;
}

void
vectorjoin_prepare(JoinSearch *search, JoinSet *set, uint32 n, uint32 indexed,
				   uint32 fresh)
{
	VectorJoin *all = search->state;
	uint32	   *counts = (uint32 *) (all->keys + n);
	float	   *weights = (float *) (counts + 2);
	double		norm = 0;

	for (uint32 i = 0; i < n; i++)
	{
		CHECK_EVERY(i);
		all->keys[i] = all->tokens[i].key;
		weights[i] = all->tokens[i].weight;
		if (i < indexed)
			continue;
		norm += norm_with(search, weights[i]);
	}
	counts[0] = indexed;
	counts[1] = fresh;
	weights[n] = length_of(search, norm);
	set->keys = all->keys;
	set->nkeys = PREPARED_KEYS(n);
}

uint32
vectorjoin_most_indexed(JoinSearch *search, const JoinSet *set)
{
	return joined_nfeatures(set->size);
}

uint32
vectorjoin_most_keys(JoinSearch *search, const JoinSet *set)
{
	return PREPARED_KEYS(joined_nfeatures(set->size));
}

uint32
vectorjoin_indexed_keys(JoinSearch *search, const JoinSet *set)
{
	return prepared_vector(set).indexed;
}

/* A weight as the upper half of a float, rounded up; and back. */
static inline uint16
weight_rounded(float weight)
{
	uint32		bits;

	Assert(weight >= 0);
	memcpy(&bits, &weight, sizeof(bits));
	return (bits >> 16) + ((bits & 0xffff) != 0);
}

/* The weight that was rounded up to 16 bits. */
static inline float
weight_of(uint16 rounded)
{
	uint32		bits = (uint32) rounded << 16;
	float		weight;

	memcpy(&weight, &bits, sizeof(weight));
	return weight;
}

/* The greatest WeightPayload.rest, a whole vector. */
#define WHOLE_REST	PG_UINT16_MAX

/* A share of a vector as WeightPayload.rest, rounded up. */
static inline uint16
share_rounded(double share)
{
	Assert(share >= 0);
	return share < 1 ? ceil(share * WHOLE_REST) : WHOLE_REST;
}

/* The bits of a key that IndexedVector.first lacks. */
#define FIRST_KEY_SHIFT	48

/* The length of a whole vector. */
static inline double
whole_length(const JoinSearch *search, const JoinSet *set)
{
	return by_resemblance(search) ? joined_norm(set->values) : 1;
}

/*
 * Add the n first keys of a vector to the index, with its weights and the
 * rests of the vector.
 */
static pg_attribute_always_inline void
add_weights(JoinSearch *search, IndexMode mode, const JoinSet *set, uint32 n)
{
	PreparedVector prepared = prepared_vector(set);
	InvertedIndex *index = &search->index;
	double		whole = whole_length(search, set);
	double		norm = 0;

	Assert(n <= prepared.n);
	for (uint32 i = n > 0 ? prepared.n : 0; i-- > 0;)
	{
		Posting    *posting;

		CHECK_EVERY(i);
		norm += norm_with(search, prepared.weights[i]);
		if (i >= n)
			continue;
		posting = inverted_index_put(index, mode, set->keys[i]);
		posting->key = set->keys[i];
		posting->set = index->nadded;
		posting->payload.vector.weight = weight_rounded(prepared.weights[i]);
		posting->payload.vector.rest =
			share_rounded(length_of(search, norm) / whole);
	}
	index->entries[index->nadded].vector = (IndexedVector)
	{
		Min(whole, FLT_MAX),
			share_rounded(whole <= FLT_MAX ? prepared.length / whole : 1),
			prepared.indexed < prepared.n ?
			set->keys[prepared.indexed] >> FIRST_KEY_SHIFT : 0
	};
	index->nadded++;
}

/* Algorithm.add */
void
vectorjoin_add(JoinSearch *search, const JoinSet *set, uint32 n)
{
	if (search->index.mode == INDEX_GROWING)
		add_weights(search, INDEX_GROWING, set, n);
	else
		add_weights(search, INDEX_ANNOUNCED, set, n);
}

/*
 * The least share of a vector, from its first feature in common with a probing
 * vector on, that may reach the threshold, if the probing vector has the share
 * `rest` from there on.  The cosine is at most the product of both shares.
 * For the resemblance, let c = t / (1 + t), and the vectors have the sums x
 * and y: the shared part is at most the smaller of rest * x and share * y, and
 * must be c * (x + y); that is possible for some y only if (rest - c) * (share
 * - c) is at least c squared.
 */
static double
least_share(const JoinSearch *search, double rest)
{
	double		t = search->threshold;
	double		c = t / (1 + t);

	if (!by_resemblance(search))
		return t / rest;
	return rest <= c ? INFINITY : c + c * c / (rest - c);
}

/*
 * Compute VectorJoin.least: no vector for features that are not `fresh`.
 * Follows vectorjoin_tails().
 */
static void
compute_least(JoinSearch *search, const JoinSet *set,
			  const PreparedVector *prepared)
{
	VectorJoin *all = search->state;
	double		whole = whole_length(search, set);

	for (uint32 i = 0; i < prepared->n; i++)
	{
		double		least = i >= prepared->fresh ? INFINITY :
		least_share(search, all->tails[i] / whole) * VECTOR_ROUNDING *
		VECTOR_ROUNDING * WHOLE_REST;

		CHECK_EVERY(i);
		all->least[i] = Min(least, WHOLE_REST + 1);
	}
}

/*
 * Postings that take as long to read as verifying a candidate.
 */
#define POSTINGS_A_CANDIDATE	64

/*
 * Add up the shared parts of indexed vectors, without those that are too
 * small; a feature adds new candidates only with a rest of at least
 * VectorJoin.least, if there is `least`.  Once no feature adds any, candidates
 * are verified without the lists that would take longer.  `smaller`: a shared
 * part is the smaller weight, otherwise the product of the weights.
 */
static pg_attribute_always_inline void
add_shared(JoinSearch *search, IndexMode mode, const JoinSet *set,
		   uint32 sides, bool least, bool smaller)
{
	VectorJoin *all = search->state;
	PreparedVector prepared = prepared_vector(set);
	InvertedIndex *index = &search->index;

	for (all->read = 0; all->read < prepared.n; all->read++)
	{
		uint32		i = all->read;
		uint32		least_rest = least ? all->least[i] : 0;
		const Posting *end;
		const Posting *posting = inverted_index_postings(index, mode,
														 set->keys[i], false,
														 &end,
														 &search->stats.removed_size);

		CHECK_FOR_INTERRUPTS();
		if (least_rest > WHOLE_REST &&
			end - posting > (int64) index->ncandidates * POSTINGS_A_CANDIDATE)
			break;
		search->stats.visited += end - posting;
		for (; posting < end; posting++)
		{
			double	   *sum;
			float		weight;

			CHECK_EVERY(end - posting);
			if (mode == INDEX_GROWING &&
				(posting = search_pass_own(search, posting, end)) == end)
				break;
			sum = shared_sum(index, posting->set);
			if (posting->key != set->keys[i] ||
				(*sum == 0 && posting->payload.vector.rest < least_rest) ||
				(INDEXED_SIDES(index, posting->set) & sides) == 0)
				continue;
			if (*sum == 0)
				index->candidates[index->ncandidates++] = posting->set;
			weight = weight_of(posting->payload.vector.weight);
			if (smaller)
				*sum += Min(prepared.weights[i], weight);
			else
				*sum += (double) prepared.weights[i] * weight;
		}
	}
}

void
vectorjoin_add_products(JoinSearch *search, const JoinSet *set, uint32 sides)
{
	add_shared(search, INDEX_ANNOUNCED, set, sides, false, false);
}

void
vectorjoin_tails(JoinSearch *search, const PreparedVector *prepared)
{
	VectorJoin *all = search->state;
	double		norm = 0;

	all->tails[prepared->n] = 0;
	for (uint32 i = prepared->n; i-- > 0;)
	{
		norm += norm_with(search, prepared->weights[i]);
		all->tails[i] = length_of(search, norm);
	}
}

/* The first of n rising keys that is not less than `key`, or n. */
static uint32
first_from(const uint64 *keys, uint32 n, uint64 key)
{
	uint32		low = 0;

	while (low < n)
	{
		uint32		middle = low + (n - low) / 2;

		if (keys[middle] < key)
			low = middle + 1;
		else
			n = middle;
	}
	return low;
}

/*
 * True if a vector may reach the threshold with an indexed one that shares
 * `sum` in the lists that were read.  What is not indexed has at most the
 * lengths of these parts of both vectors; lists that were not read, the rest
 * of the probing vector.
 */
static inline bool
may_reach(const JoinSearch *search, const JoinSet *set, uint32 n,
		  uint32 candidate, double sum)
{
	const VectorJoin *all = search->state;
	const IndexedVector *other = &search->index.entries[candidate].vector;
	double		length = (double) other->rest / WHOLE_REST * other->whole;
	double		tail = all->tails[first_from(set->keys, n, (uint64) other->first
											 << FIRST_KEY_SHIFT)];
	double		need = search->threshold;
	double		unindexed = tail * length;

	/* the length of a part is at most the length of the whole, or unknown */
	if (other->rest == WHOLE_REST)
		return true;
	if (by_resemblance(search))
	{
		need *= (joined_norm(set->values) + other->whole) / (1 + need);
		unindexed = Min(tail, length);
	}
	return sum + Max(all->tails[all->read], unindexed) >=
		need * VECTOR_ROUNDING;
}

/* Drop the candidates that cannot reach the threshold, and clear all sums. */
static void
drop_candidates(JoinSearch *search, const JoinSet *set, uint32 n)
{
	InvertedIndex *index = &search->index;
	uint32		left = 0;

	for (uint32 i = 0; i < index->ncandidates; i++)
	{
		uint32		candidate = index->candidates[i];
		double	   *sum = shared_sum(index, candidate);

		CHECK_EVERY(i);
		if (may_reach(search, set, n, candidate, *sum))
			index->candidates[left++] = candidate;
		*sum = 0;
	}
	search->stats.removed_position += index->ncandidates - left;
	index->ncandidates = left;
}

/*
 * Weighted prefixes: vectors whose resemblance reaches a threshold
 *
 * The resemblance is the sum of the smaller weights, divided by the sum of the
 * greater ones.  It is at least t only if the shared part is at least t of the
 * sum of either vector: so each is indexed, and searches for new candidates,
 * by its rarest features, until the others add up to less than that.  The
 * shared part of a candidate is at most its indexed shared part and the
 * smaller rest of the two; it must be t / (1 + t) of the sums of both vectors.
 * These are the prefixes and positions of PPJoin with weights.
 *
 * All bounds have a tolerance for rounding errors, so no pair is lost;
 * candidates are verified with all features, in double, by the expressions of
 * similarity().
 */

/* Algorithm.prepare: the prefix without which too little weight is left. */
static void
prepare_prefix(JoinSearch *search, JoinSet *set, bool indexed, bool probing)
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

/* Algorithm.probe */
static pg_attribute_always_inline void
probe_prefix(JoinSearch *search, const JoinSet *set, uint32 sides,
			 IndexMode mode)
{
	PreparedVector prepared = prepared_vector(set);

	vectorjoin_tails(search, &prepared);
	compute_least(search, set, &prepared);
	add_shared(search, mode, set, sides, true, true);
	drop_candidates(search, set, prepared.n);
}

DEFINE_PROBE(probe_prefix, announced, INDEX_ANNOUNCED);
DEFINE_PROBE(probe_prefix, growing, INDEX_GROWING);

/* Algorithm.verify: by all features, as similarity() does. */
static bool
verify_resemblance(JoinSearch *search, const JoinSet *indexed,
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
	.max_indexed = vectorjoin_most_indexed,
	.max_keys = vectorjoin_most_keys,
	.count = vectorjoin_count,
	.prepare = prepare_prefix,
	.indexed_keys = vectorjoin_indexed_keys,
	.add = vectorjoin_add,
	.probe = {
		[INDEX_ANNOUNCED] = probe_prefix_announced,
		[INDEX_GROWING] = probe_prefix_growing,
	},
	.announce = vectorjoin_announce,
	.may_have_match = vectorjoin_may_have_match,
	.verify = verify_resemblance,
};

/*
 * All-Pairs-2: vectors whose cosine reaches a threshold
 *
 * For the cosine, vectors are scaled to length 1, so that the cosine is the
 * sum of the products of weights.  A probing vector adds up this sum for the
 * indexed vectors.
 *
 * Features that could not reach the threshold by themselves, with any other
 * vector, are left out of the index, as in All-Pairs-1 (classic/classic.c).
 *
 * All-Pairs-2 uses the greatest weight of the vectors that are still to probe,
 * so that fewer features need be indexed.  It skips vectors that have too few
 * features for such weights.  And it adds no new candidate once the rest of
 * the probing vector cannot be enough (remscore).
 *
 * These bounds are weak if one word of a document outweighs all others.  So
 * each has a second bound, and the lesser one counts: the sum over any
 * features is at most the product of the lengths of these parts of both
 * vectors (Cauchy and Schwarz), where a whole vector has length 1.  It decides
 * alone which vectors of a list become candidates, and which candidates are
 * left, see may_reach().
 *
 * In the paper vectors are in the order of falling greatest weight, so that
 * the present one's bounds later ones.  Here they are in the order of their
 * numbers of features, as all sets; the greatest weight of all vectors with at
 * least as many features serves as well.  A vector x finds at most the
 * greatest weight of x times the sum of weights of y, and that sum is at most
 * the root of the number of y's features: hence the least number of features,
 * which rises from probe to probe.
 *
 * All bounds have a tolerance for rounding errors, so no pair is lost;
 * candidates are verified with all features, in double, by the expressions of
 * cosine().
 *
 * R. J. Bayardo, Y. Ma, R. Srikant, "Scaling up all pairs similarity search",
 * WWW 2007; D. C. Anastasiu, G. Karypis, "L2AP: fast cosine similarity search
 * with prefix L-2 norm bounds", ICDE 2014.
 */

/* Rises with the number of features. */
static inline uint32
class_of(uint32 n)
{
	int			shift = Max(pg_leftmost_one_pos32(n) - CLASS_BITS, 0);

	return ((uint32) shift << CLASS_BITS) + (n >> shift);
}

void
cosine_count(JoinSearch *search, const uint64 *values, uint32 size)
{
	Vector		v = joined_vector(values, size);
	double		factor = 1 / sqrt(joined_norm(values));
	float	   *most = &vectorjoin_state(search)->most[class_of(v.n)];

	counters_add_weights(&search->counters, v.features, v.weights, v.n,
						 factor);
	for (uint32 i = 0; i < v.n; i++)
	{
		CHECK_EVERY(i);
		*most = Max(*most, (float) (v.weights[i] * factor));
	}
}

/* The greatest weight of vectors with n features or more. */
static float
greatest_to_come(JoinSearch *search, uint32 n)
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
cosine_needed_tokens(JoinSearch *search, const WeightedToken *tokens, uint32 n,
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

/* Algorithm.prepare: the features that may reach the threshold. */
static void
cosine_prepare(JoinSearch *search, JoinSet *set, bool indexed, bool probing)
{
	uint32		n = vectorjoin_order(search, set);
	VectorJoin *all = search->state;
	float		most = search->index.mode == INDEX_GROWING ? FLT_MAX :
	greatest_to_come(search, joined_nfeatures(set->size));

	vectorjoin_prepare(search, set, n,
					   cosine_needed_tokens(search, all->tokens, n, most,
											true),
					   cosine_needed_tokens(search, all->tokens, n, FLT_MAX,
											true));
}

/* The least number of values of a match of this vector, or of a later one. */
static uint32
least_match(JoinSearch *search, const JoinSet *set)
{
	double		root = search->threshold * VECTOR_ROUNDING /
	greatest_to_come(search, joined_nfeatures(set->size));
	double		n = floor(root * root * VECTOR_ROUNDING);

	return n < 1 ? 0 :
		VECTOR_VALUES((uint32) Min(n, joined_nfeatures(set->size)));
}

/* Algorithm.probe */
static pg_attribute_always_inline void
cosine_probe(JoinSearch *search, const JoinSet *set, uint32 sides,
			 IndexMode mode)
{
	PreparedVector prepared = prepared_vector(set);

	vectorjoin_tails(search, &prepared);
	compute_least(search, set, &prepared);
	inverted_index_begin_at(&search->index, mode, least_match(search, set));
	add_shared(search, mode, set, sides, true, false);
	drop_candidates(search, set, prepared.n);
}

DEFINE_PROBE(cosine_probe, announced, INDEX_ANNOUNCED);
DEFINE_PROBE(cosine_probe, growing, INDEX_GROWING);

bool
cosine_verify(JoinSearch *search, const JoinSet *indexed,
			  const JoinSet *probing)
{
	Vector		v = joined_vector(indexed->values, indexed->size);
	Vector		w = joined_vector(probing->values, probing->size);

	search->stats.verified++;
	return vectors_cosine(vectors_dot(&v, &w), joined_norm(indexed->values),
						  joined_norm(probing->values)) >= search->threshold;
}

const Algorithm cosine_join = {
	.name = "all-pairs-2",
	.ordered = true,
	.weighted = true,
	.symmetric = true,
	.max_indexed = vectorjoin_most_indexed,
	.max_keys = vectorjoin_most_keys,
	.count = cosine_count,
	.prepare = cosine_prepare,
	.indexed_keys = vectorjoin_indexed_keys,
	.add = vectorjoin_add,
	.probe = {
		[INDEX_ANNOUNCED] = cosine_probe_announced,
		[INDEX_GROWING] = cosine_probe_growing,
	},
	.announce = vectorjoin_announce,
	.may_have_match = vectorjoin_may_have_match,
	.verify = cosine_verify,
};
