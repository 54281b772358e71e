/*
 * vectorjoin.c
 *		What the joins of weighted vectors share: tokens in order, the index,
 *		and what a probing vector shares with those in it.
 */
#include "postgres.h"

#include <float.h>

#include "miscadmin.h"

#include "join/algorithms/vectorjoin.h"

static inline bool
by_resemblance(const Search *search)
{
	return search->measure != MEASURE_COSINE;
}

/* What the weights of a vector are multiplied with: its length becomes 1. */
static inline double
scale_of(Search *search, const uint64 *values)
{
	return by_resemblance(search) ? 1 : 1 / sqrt(joined_norm(values));
}

VectorJoin *
vectorjoin_state(Search *search)
{
	if (search->state == NULL)
		search->state = MemoryContextAllocZero(search->context,
											   sizeof(VectorJoin));
	return search->state;
}

/* Algorithm.count */
void
vectorjoin_count(Search *search, const uint64 *values, uint32 size)
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

/* Room for the largest vector. */
static void
make_room(Search *search, VectorJoin *all)
{
	uint32		n = joined_nfeatures(search->most_features);

	if (all->tokens != NULL)
		return;
	all->tokens = MemoryContextAllocHuge(search->context,
										 sizeof(WeightedToken) * Max(n, 1));
	all->keys = MemoryContextAllocHuge(search->context,
									   sizeof(uint64) * PREPARED_KEYS((size_t) n));
	all->tails = MemoryContextAllocHuge(search->context,
										sizeof(double) * ((size_t) n + 1));
}

/*
 * What a weight adds to the norm of a part of a vector, and the length that
 * belongs to it: the root of squares, or the sum of weights.
 */
static inline double
norm_with(const Search *search, double weight)
{
	return by_resemblance(search) ? weight : weight * weight;
}

static inline double
length_of(const Search *search, double norm)
{
	if (!by_resemblance(search))
		return sqrt(norm);
	/* it is stored as a float */
	return norm <= FLT_MAX ? norm : INFINITY;
}

/* Algorithm.announce */
bool
vectorjoin_announce(Search *search, FeatureFilter *filter, const uint64 *values,
					uint32 size)
{
	Vector		v = joined_vector(values, size);

	feature_filter_add(filter, v.features, v.n);
	return true;
}

/*
 * Algorithm.may_have_partner: the part of a vector that a near one shares is at least
 * as long as the threshold asks of the whole.  By resemblance, the smaller
 * weights of what both have add up to no more than that part does; by cosine, the
 * product is no greater than that of its length and the other's.
 */
bool
vectorjoin_may_have_partner(Search *search, const FeatureFilter *filter,
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
vectorjoin_order(Search *search, const JoinSet *set)
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
vectorjoin_prepare(Search *search, JoinSet *set, uint32 n, uint32 indexed,
				   uint32 fresh)
{
	VectorJoin *all = search->state;
	uint32	   *counts = (uint32 *) (all->keys + n);
	float	   *weights = (float *) (counts + 2);
	float		rest = 0;
	double		norm = 0;

	for (uint32 i = 0; i < n; i++)
	{
		CHECK_EVERY(i);
		all->keys[i] = all->tokens[i].key;
		weights[i] = all->tokens[i].weight;
		if (i < indexed)
			continue;
		rest = Max(rest, weights[i]);
		norm += norm_with(search, weights[i]);
	}
	counts[0] = indexed;
	counts[1] = fresh;
	weights[n] = rest;
	weights[n + 1] = length_of(search, norm);
	set->keys = all->keys;
	set->nkeys = PREPARED_KEYS(n);
}

uint32
vectorjoin_most_indexed(Search *search, const JoinSet *set)
{
	return joined_nfeatures(set->size);
}

uint32
vectorjoin_most_keys(Search *search, const JoinSet *set)
{
	return PREPARED_KEYS(joined_nfeatures(set->size));
}

uint32
vectorjoin_indexed_keys(Search *search, const JoinSet *set)
{
	return prepared_vector(set).indexed;
}

/* Algorithm.add: postings have the weight in place of the position. */
void
vectorjoin_add(Search *search, const JoinSet *set, uint32 n)
{
	PreparedVector prepared = prepared_vector(set);
	InvertedIndex *index = &search->index;

	StaticAssertStmt(sizeof(float) == sizeof(uint32),
					 "a weight does not fit into a posting");
	for (uint32 i = 0; i < n; i++)
	{
		Posting    *posting = setindex_put(index, set->keys[i]);

		CHECK_EVERY(i);
		posting->key = set->keys[i];
		posting->set = index->nadded;
		memcpy(&posting->position, &prepared.weights[i], sizeof(float));
	}
	index->nadded++;
}

/*
 * Adds up what indexed vectors share with this one, those that are too small
 * left out; only the first `fresh` of its features find new ones.
 */
static pg_attribute_always_inline void
add_shared(Search *search, const JoinSet *set, uint32 sides, uint32 fresh,
		   bool smaller)
{
	PreparedVector prepared = prepared_vector(set);
	InvertedIndex *index = &search->index;

	for (uint32 i = 0; i < prepared.n; i++)
	{
		Bucket	   *bucket = setindex_bucket(index, set->keys[i]);
		const Posting *end;
		const Posting *posting = setindex_list(index, bucket, &end,
											   &search->stats.removed_size);

		CHECK_FOR_INTERRUPTS();
		search->stats.visited += end - posting;
		for (; (posting = search_pass_own(search, posting, end)) < end; posting++)
		{
			double	   *sum = shared_sum(index, posting->set);
			float		weight;

			CHECK_EVERY(end - posting);
			if (posting->key != set->keys[i] ||
				(INDEXED_SIDES(index, posting->set) & sides) == 0 ||
				(*sum == 0 && i >= fresh))
				continue;
			if (*sum == 0)
				index->candidates[index->ncandidates++] = posting->set;
			memcpy(&weight, &posting->position, sizeof(float));
			if (smaller)
				*sum += Min(prepared.weights[i], weight);
			else
				*sum += (double) prepared.weights[i] * weight;
		}
	}
}

void
vectorjoin_add_products(Search *search, const JoinSet *set, uint32 sides,
						uint32 fresh)
{
	add_shared(search, set, sides, fresh, false);
}

void
vectorjoin_add_minima(Search *search, const JoinSet *set, uint32 sides,
					  uint32 fresh)
{
	add_shared(search, set, sides, fresh, true);
}

void
vectorjoin_tails(Search *search, const PreparedVector *prepared)
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

double
vectorjoin_tail_behind(const VectorJoin *all, const JoinSet *set, uint32 n,
					   const JoinSet *indexed, const PreparedVector *other)
{
	if (other->indexed == other->n)
		return 0;
	return all->tails[first_from(set->keys, n, indexed->keys[other->indexed])];
}
