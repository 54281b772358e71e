/*
 * vectors.c
 *		Weighted vectors: All-Pairs, for those whose cosine reaches a
 *		threshold, and weighted prefixes, for those whose resemblance does.
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
 * By their resemblance, the sum of the smaller weights by that of the greater
 * ones, sums of weights take the place of lengths.  It is at least t only if
 * what two vectors share is at least t of the sum of either: so each is
 * indexed, and looks for new candidates, by its rarest features, as many as
 * leave less than that to the others.  Of a candidate, too, the part is known
 * that is indexed; what the others may add is at most the sum of either's tail;
 * and both together must be t / (1 + t) of the sums of both vectors.  These are
 * the prefixes and positions of PPJoin with weights.
 *
 * All bounds give way by more than floating-point sums may be wrong, so no pair
 * is lost; candidates are verified with all features, in double, by the very
 * expressions that cosine() and similarity() have.
 *
 * R. J. Bayardo, Y. Ma, R. Srikant, "Scaling up all pairs similarity search",
 * WWW 2007; D. C. Anastasiu, G. Karypis, "L2AP: fast cosine similarity search
 * with prefix L-2 norm bounds", ICDE 2014.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/join/vectors.c
 */
#include "postgres.h"

#include <float.h>

#include "miscadmin.h"
#include "port/pg_bitutils.h"

#include "join/internal.h"
#include "vectors.h"

/*
 * Weights are rounded to float twice over, by 2^-24 each time, and sums of up
 * to 10^8 products by less than 10^-8 of them.
 */
#define ROUNDING		(1 - 1e-6)

/* Numbers of features fall into classes, of one number up to 255. */
#define CLASS_BITS		7
#define NCLASSES		((32 - CLASS_BITS + 1) << CLASS_BITS)

struct VectorJoin
{
	/* By class: the greatest weight of vectors of that class and, once all
	 * have been counted, of all classes above. */
	float		most[NCLASSES];
	bool		counted;

	WeightedToken *tokens;		/* of the vector prepared last */
	uint64	   *keys;			/* its keys, see PreparedVector */
	double	   *tails;			/* of the one that probes */
};

/*
 * What is made of a vector in JoinSet.keys, in nkeys numbers: n keys in rising
 * order, one number for `indexed` and `fresh`, then n weights, in the order of
 * the keys, `rest` and `length`, two in a number.
 */
typedef struct PreparedVector
{
	uint32		n;				/* features that others have, too */
	uint32		indexed;		/* so many, from the first, are in the index */
	uint32		fresh;			/* so many look for new candidates */
	float		rest;			/* greatest weight of those not indexed */
	float		length;			/* of the part that is not indexed, or its sum
								 * where it is resemblance that counts */
	const float *weights;
} PreparedVector;

#define PREPARED_KEYS(n)	((n) + 1 + ((n) + 3) / 2)

/* Vectors */

/* Features of a vector that has so many values. */
static inline uint32
nfeatures(uint32 size)
{
	return (uint32) (((uint64) size - 1) * 2 / 3);
}

static inline Vector
vector_of(const uint64 *values, uint32 size)
{
	Vector		v = {.features = values + 1, .n = nfeatures(size)};

	v.weights = (const float4 *) (values + 1 + v.n);
	return v;
}

/* The square of a vector, or the sum of its weights, as engine.h has it. */
static inline double
norm_of(const uint64 *values)
{
	double		norm;

	memcpy(&norm, values, sizeof(double));
	return norm;
}

static inline bool
by_resemblance(const SetJoin *join)
{
	return join->params.measure == MEASURE_JACCARD;
}

/* What the weights of a vector are multiplied with: its length becomes 1. */
static inline double
scale_of(SetJoin *join, const uint64 *values)
{
	return by_resemblance(join) ? 1 : 1 / sqrt(norm_of(values));
}

/* Rises with the number of features. */
static inline uint32
class_of(uint32 n)
{
	int			shift = Max(pg_leftmost_one_pos32(n) - CLASS_BITS, 0);

	return ((uint32) shift << CLASS_BITS) + (n >> shift);
}

static VectorJoin *
vector_join(SetJoin *join)
{
	if (join->vector_join == NULL)
		join->vector_join = MemoryContextAllocZero(join->context,
												   sizeof(VectorJoin));
	return join->vector_join;
}

/* Algorithm.count */
static void
count_features(SetJoin *join, const uint64 *values, uint32 size)
{
	Vector		v = vector_of(values, size);

	counters_add(&join->counters, v.features, v.n);
}

static void
count_weights(SetJoin *join, const uint64 *values, uint32 size)
{
	Vector		v = vector_of(values, size);
	double		factor = scale_of(join, values);
	float	   *most = &vector_join(join)->most[class_of(v.n)];

	counters_add_weights(&join->counters, v.features, v.weights, v.n, factor);
	for (uint32 i = 0; i < v.n; i++)
	{
		CHECK_EVERY(i);
		*most = Max(*most, (float) (v.weights[i] * factor));
	}
}

/* The greatest weight of vectors with so many features or more. */
static float
greatest_to_come(SetJoin *join, uint32 n)
{
	VectorJoin *all = vector_join(join);

	if (!all->counted)
	{
		for (int i = NCLASSES - 2; i >= 0; i--)
			all->most[i] = Max(all->most[i], all->most[i + 1]);
		all->counted = true;
	}
	return all->most[class_of(n)];
}

/* Preparing */

static PreparedVector
prepared_vector(const JoinSet *set)
{
	PreparedVector prepared;
	const uint32 *counts;

	prepared.n = (uint32) (((uint64) set->nkeys - 2) * 2 / 3);
	counts = (const uint32 *) (set->keys + prepared.n);
	prepared.indexed = counts[0];
	prepared.fresh = counts[1];
	prepared.weights = (const float *) (counts + 2);
	prepared.rest = prepared.weights[prepared.n];
	prepared.length = prepared.weights[prepared.n + 1];
	return prepared;
}

#define ST_SORT sort_tokens
#define ST_ELEMENT_TYPE WeightedToken
#define ST_COMPARE(a, b) (((a)->key > (b)->key) - ((a)->key < (b)->key))
#define ST_SCOPE static
#define ST_CHECK_FOR_INTERRUPTS
#define ST_DEFINE
#include "lib/sort_template.h"

/*
 * The tokens of a vector without as many, from the last, as cannot reach the
 * threshold by themselves with a vector that has no weight above `most`, or,
 * if `by_length` is true, are too short to.
 */
static uint32
needed_tokens(SetJoin *join, const WeightedToken *tokens, uint32 n, float most,
			  bool by_length)
{
	double		need = join->params.threshold * ROUNDING;
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

/* Room for the largest vector. */
static void
make_room(SetJoin *join, VectorJoin *all)
{
	uint32		n = nfeatures(join->most_features);

	if (all->tokens != NULL)
		return;
	all->tokens = MemoryContextAllocHuge(join->context,
										 sizeof(WeightedToken) * Max(n, 1));
	all->keys = MemoryContextAllocHuge(join->context,
									   sizeof(uint64) * PREPARED_KEYS((size_t) n));
	all->tails = MemoryContextAllocHuge(join->context,
										sizeof(double) * ((size_t) n + 1));
}

/*
 * What a weight adds to the norm of a part of a vector, and the length that
 * belongs to it: the root of squares, or the sum of weights.
 */
static inline double
norm_with(const SetJoin *join, double weight)
{
	return by_resemblance(join) ? weight : weight * weight;
}

static inline double
length_of(const SetJoin *join, double norm)
{
	if (!by_resemblance(join))
		return sqrt(norm);
	/* it is stored as a float */
	return norm <= FLT_MAX ? norm : INFINITY;
}

/* Makes the keys of a vector: `indexed` of them will be in the index. */
static void
prepare_tokens(SetJoin *join, JoinSet *set, VectorJoin *all, uint32 n,
			   uint32 indexed, uint32 fresh)
{
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
		norm += norm_with(join, weights[i]);
	}
	counts[0] = indexed;
	counts[1] = fresh;
	weights[n] = rest;
	weights[n + 1] = length_of(join, norm);
	set->keys = all->keys;
	set->nkeys = PREPARED_KEYS(n);
}

/* The tokens of a vector, in order; returns how many. */
static uint32
order_tokens(SetJoin *join, const JoinSet *set)
{
	VectorJoin *all = vector_join(join);
	Vector		v = vector_of(set->values, set->size);
	uint32		n;

	make_room(join, all);
	n = weighted_tokens_make(&join->counters, v.features, v.weights, v.n,
							 scale_of(join, set->values), all->tokens);
	sort_tokens(all->tokens, n);
	return n;
}

/* Algorithm.prepare */
static void
prepare_0(SetJoin *join, JoinSet *set, bool indexed, bool probing)
{
	uint32		n = order_tokens(join, set);

	prepare_tokens(join, set, join->vector_join, n, n, n);
}

static void
prepare_1(SetJoin *join, JoinSet *set, bool indexed, bool probing)
{
	uint32		n = order_tokens(join, set);
	VectorJoin *all = join->vector_join;

	prepare_tokens(join, set, all, n, needed_tokens(join, all->tokens, n, FLT_MAX,
											   false), n);
}

static void
prepare_2(SetJoin *join, JoinSet *set, bool indexed, bool probing)
{
	uint32		n = order_tokens(join, set);
	VectorJoin *all = join->vector_join;
	float		most = greatest_to_come(join, nfeatures(set->size));

	prepare_tokens(join, set, all, n, needed_tokens(join, all->tokens, n, most,
											   true),
				   needed_tokens(join, all->tokens, n, FLT_MAX, true));
}

static void
prepare_prefix(SetJoin *join, JoinSet *set, bool indexed, bool probing)
{
	uint32		n = order_tokens(join, set);
	VectorJoin *all = join->vector_join;
	double		need = join->params.threshold * norm_of(set->values) * ROUNDING;
	uint32		prefix = n;
	double		sum = 0;

	for (; prefix > 0; prefix--)
	{
		CHECK_EVERY(prefix);
		sum += all->tokens[prefix - 1].weight;
		if (sum >= need)
			break;
	}
	prepare_tokens(join, set, all, n, prefix, prefix);
}

/* Algorithm.most_indexed, most_keys, indexed_keys */

static uint32
most_indexed(SetJoin *join, const JoinSet *set)
{
	return nfeatures(set->size);
}

static uint32
most_keys(SetJoin *join, const JoinSet *set)
{
	return PREPARED_KEYS(nfeatures(set->size));
}

static uint32
indexed_keys(SetJoin *join, const JoinSet *set)
{
	return prepared_vector(set).indexed;
}

/* The index */

/* Algorithm.add: postings have the weight in place of the position. */
static void
add_to_index(SetJoin *join, const JoinSet *set)
{
	PreparedVector prepared = prepared_vector(set);
	InvertedIndex *index = &join->index;

	StaticAssertStmt(sizeof(float) == sizeof(uint32),
					 "a weight does not fit into a posting");
	for (uint32 i = 0; i < prepared.indexed; i++)
	{
		Bucket	   *bucket = setindex_bucket(index, set->keys[i]);
		Posting    *posting = &index->postings[bucket->start + bucket->n++];

		CHECK_EVERY(i);
		posting->key = set->keys[i];
		posting->set = index->nadded;
		memcpy(&posting->position, &prepared.weights[i], sizeof(float));
	}
	index->nadded++;
}

/* Sums stand in the place of the accumulators, as zero while not in use. */
static inline double *
sum_of(InvertedIndex *index, uint32 set)
{
	StaticAssertStmt(sizeof(double) == sizeof(Accumulator),
					 "a sum does not fit into an accumulator");
	return (double *) &index->accumulators[set];
}

/*
 * Adds up what indexed vectors share with this one, those that have fewer
 * values than least_size left out; only the first `fresh` of its features
 * find new ones.
 */
static inline void
add_shared(SetJoin *join, const JoinSet *set, uint32 sides, uint32 least_size,
		   uint32 fresh, bool smaller)
{
	PreparedVector prepared = prepared_vector(set);
	InvertedIndex *index = &join->index;

	for (uint32 i = 0; i < prepared.n; i++)
	{
		Bucket	   *bucket = setindex_bucket(index, set->keys[i]);
		const Posting *posting = &index->postings[bucket->start + bucket->first];
		const Posting *end = &index->postings[bucket->start + bucket->n];

		CHECK_FOR_INTERRUPTS();
		for (; posting < end &&
			 INDEXED_SIZE(index, posting->set) < least_size; posting++)
		{
			CHECK_EVERY(end - posting);
			bucket->first++;
			join->stats.removed_size++;
		}
		join->stats.visited += end - posting;
		for (; posting < end; posting++)
		{
			double	   *sum = sum_of(index, posting->set);
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

/* Algorithm.probe */
static void
probe_0(SetJoin *join, const JoinSet *set, uint32 sides)
{
	InvertedIndex *index = &join->index;
	uint32		left = 0;

	add_shared(join, set, sides, 0, PG_UINT32_MAX, false);
	for (uint32 i = 0; i < index->ncandidates; i++)
	{
		uint32		candidate = index->candidates[i];
		double	   *sum = sum_of(index, candidate);

		CHECK_EVERY(i);
		if (*sum >= join->params.threshold * ROUNDING)
			index->candidates[left++] = candidate;
		*sum = 0;
	}
	index->ncandidates = left;
}

static void
probe_1(SetJoin *join, const JoinSet *set, uint32 sides)
{
	InvertedIndex *index = &join->index;

	add_shared(join, set, sides, 0, PG_UINT32_MAX, false);
	for (uint32 i = 0; i < index->ncandidates; i++)
		*sum_of(index, index->candidates[i]) = 0;
}

/* The fewest values that a partner of this vector, or of a later one, has. */
static uint32
least_partner(SetJoin *join, const JoinSet *set)
{
	double		root = join->params.threshold * ROUNDING /
		greatest_to_come(join, nfeatures(set->size));
	double		n = floor(root * root * ROUNDING);

	return n < 1 ? 0 : VECTOR_VALUES((uint32) Min(n, nfeatures(set->size)));
}

static float
greatest_weight(const PreparedVector *prepared)
{
	float		most = 0;

	for (uint32 i = 0; i < prepared->n; i++)
		most = Max(most, prepared->weights[i]);
	return most;
}

/* The length of what a vector has from each of its tokens on. */
static void
measure_tails(SetJoin *join, const PreparedVector *prepared)
{
	VectorJoin *all = join->vector_join;
	double		norm = 0;

	all->tails[prepared->n] = 0;
	for (uint32 i = prepared->n; i-- > 0;)
	{
		norm += norm_with(join, prepared->weights[i]);
		all->tails[i] = length_of(join, norm);
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
 * The length of what the probing vector has from the first token on that is
 * not indexed of another one.
 */
static double
tail_behind(const VectorJoin *all, const JoinSet *set, uint32 n,
			const JoinSet *indexed, const PreparedVector *other)
{
	if (other->indexed == other->n)
		return 0;
	return all->tails[first_from(set->keys, n, indexed->keys[other->indexed])];
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
			   tail_behind(all, set, prepared->n, indexed, &other));
}

static void
probe_2(SetJoin *join, const JoinSet *set, uint32 sides)
{
	InvertedIndex *index = &join->index;
	PreparedVector prepared = prepared_vector(set);
	double		most = greatest_weight(&prepared);
	uint32		left = 0;

	measure_tails(join, &prepared);
	add_shared(join, set, sides, least_partner(join, set), prepared.fresh,
			   false);
	for (uint32 i = 0; i < index->ncandidates; i++)
	{
		uint32		candidate = index->candidates[i];
		double	   *sum = sum_of(index, candidate);

		CHECK_EVERY(i);
		if (*sum + most_unindexed(join->vector_join, set, &prepared, most,
								  &join->sets[candidate]) >=
			join->params.threshold * ROUNDING)
			index->candidates[left++] = candidate;
		else
			join->stats.removed_position++;
		*sum = 0;
	}
	index->ncandidates = left;
}

/* True if what vectors share of the indexed part of one may be enough. */
static bool
may_resemble(SetJoin *join, const JoinSet *set, uint32 n,
			 const JoinSet *indexed, double shared)
{
	PreparedVector other = prepared_vector(indexed);
	double		t = join->params.threshold;
	double		sums = norm_of(set->values) + norm_of(indexed->values);
	double		tail = tail_behind(join->vector_join, set, n, indexed, &other);

	return shared + Min(tail, other.length) >= t / (1 + t) * sums * ROUNDING;
}

static void
probe_prefix(SetJoin *join, const JoinSet *set, uint32 sides)
{
	InvertedIndex *index = &join->index;
	PreparedVector prepared = prepared_vector(set);
	uint32		left = 0;

	measure_tails(join, &prepared);
	add_shared(join, set, sides, 0, prepared.fresh, true);
	for (uint32 i = 0; i < index->ncandidates; i++)
	{
		uint32		candidate = index->candidates[i];
		double	   *sum = sum_of(index, candidate);

		if (may_resemble(join, set, prepared.n, &join->sets[candidate], *sum))
			index->candidates[left++] = candidate;
		else
			join->stats.removed_position++;
		*sum = 0;
	}
	index->ncandidates = left;
}

/* Algorithm.verify: by all features, as cosine() does */
static bool
verify(SetJoin *join, const JoinSet *indexed, const JoinSet *probing)
{
	Vector		v = vector_of(indexed->values, indexed->size);
	Vector		w = vector_of(probing->values, probing->size);

	join->stats.verified++;
	return vectors_cosine(vectors_dot(&v, &w), norm_of(indexed->values),
						  norm_of(probing->values)) >=
		join->params.threshold;
}

/* And as similarity() does. */
static bool
verify_resemblance(SetJoin *join, const JoinSet *indexed,
				   const JoinSet *probing)
{
	Vector		v = vector_of(indexed->values, indexed->size);
	Vector		w = vector_of(probing->values, probing->size);

	join->stats.verified++;
	return vectors_jaccard(&v, &w) >= join->params.threshold;
}

static const Algorithm vector_all_pairs_0 = {
	.name = "all-pairs-0",
	.ordered = true,
	.most_indexed = most_indexed,
	.most_keys = most_keys,
	.count = count_weights,
	.prepare = prepare_0,
	.indexed_keys = indexed_keys,
	.add = add_to_index,
	.probe = probe_0,
	.verify = verify,
};

static const Algorithm vector_all_pairs_1 = {
	.name = "all-pairs-1",
	.ordered = true,
	.most_indexed = most_indexed,
	.most_keys = most_keys,
	.count = count_weights,
	.prepare = prepare_1,
	.indexed_keys = indexed_keys,
	.add = add_to_index,
	.probe = probe_1,
	.verify = verify,
};

static const Algorithm vector_all_pairs_2 = {
	.name = "all-pairs-2",
	.ordered = true,
	.most_indexed = most_indexed,
	.most_keys = most_keys,
	.count = count_weights,
	.prepare = prepare_2,
	.indexed_keys = indexed_keys,
	.add = add_to_index,
	.probe = probe_2,
	.verify = verify,
};

static const Algorithm weighted_prefixes = {
	.name = "weighted prefixes",
	.ordered = true,
	.most_indexed = most_indexed,
	.most_keys = most_keys,
	.count = count_features,
	.prepare = prepare_prefix,
	.indexed_keys = indexed_keys,
	.add = add_to_index,
	.probe = probe_prefix,
	.verify = verify_resemblance,
};

/*
 * The one that a setting stands for: for the cosine All-Pairs-2 if it is none
 * of the three, for the resemblance there is but one.
 */
const Algorithm *
vector_algorithm(JoinAlgorithm algorithm, Measure measure)
{
	if (measure == MEASURE_JACCARD)
		return &weighted_prefixes;
	switch (algorithm)
	{
		case ALGORITHM_ALL_PAIRS_0:
			return &vector_all_pairs_0;
		case ALGORITHM_ALL_PAIRS_1:
			return &vector_all_pairs_1;
		default:
			return &vector_all_pairs_2;
	}
}
