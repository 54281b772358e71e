/*
 * vector_join.h
 *		Joins of vectors: by weighted prefixes, or by All-Pairs for the cosine.
 */
#ifndef NEARDUP_VECTOR_JOIN_H
#define NEARDUP_VECTOR_JOIN_H

#include "join/engine/search.h"
#include "signature/vectors.h"

/*
 * Common to the joins of weighted vectors.
 *
 * Vectors are joined by their cosine or by their weighted resemblance.  The
 * values of one with n features are VECTOR_VALUES(n) numbers: as a double, the
 * sum of the squares of its weights for the cosine, of the weights themselves
 * for the resemblance; the features, rising; and the weights as floats, two in
 * a number.
 */

#define VECTOR_VALUES(n)	(1 + (n) + ((n) + 1) / 2)

/*
 * The tolerance: weights are rounded to float twice, by 2^-24 each time, and
 * sums of up to 10^8 products by less than 10^-8.
 */
#define VECTOR_ROUNDING		(1 - 1e-6)

/* Numbers of features fall into classes, of one number up to 255. */
#define CLASS_BITS		7
#define NCLASSES		((32 - CLASS_BITS + 1) << CLASS_BITS)

/* JoinSearch.state */
typedef struct VectorJoin
{
	/*
	 * For the cosine, by class: the greatest weight of vectors of that class
	 * and, once all have been counted, of all classes above.
	 */
	float		most[NCLASSES];
	bool		counted;

	WeightedToken *tokens;		/* of the vector prepared last */
	uint64	   *keys;			/* its keys, see PreparedVector */
	double	   *tails;			/* of the one that probes */
	uint32	   *least;			/* of the one that probes, by feature: least
								 * rest of vectors that it makes candidates */
	uint32		read;			/* number of features, from the first, whose
								 * postings the last probe has read */
} VectorJoin;

/*
 * A prepared vector in JoinSet.keys, in nkeys numbers: n keys in rising order,
 * one number for `indexed` and `fresh`, then n weights in the order of the
 * keys and `length`, two in a number.
 */
typedef struct PreparedVector
{
	uint32		n;				/* features that others have, too */
	uint32		indexed;		/* number of features, from the first, in the
								 * index */
	uint32		fresh;			/* number of features that add candidates */
	float		length;			/* of the part that is not indexed; for the
								 * resemblance, its sum */
	const float *weights;
} PreparedVector;

#define PREPARED_KEYS(n)	((n) + 1 + ((n) + 2) / 2)

/* Number of features of a vector by its number of values. */
static inline uint32
joined_nfeatures(uint32 size)
{
	return (uint32) (((uint64) size - 1) * 2 / 3);
}

/* The features and weights of a vector of `size` values. */
static inline Vector
joined_vector(const uint64 *values, uint32 size)
{
	Vector		v = {.features = values + 1,.n = joined_nfeatures(size)};

	v.weights = (const float4 *) (values + 1 + v.n);
	return v;
}

/* The sum of the squares, or of the weights, of a vector. */
static inline double
joined_norm(const uint64 *values)
{
	double		norm;

	memcpy(&norm, values, sizeof(double));
	return norm;
}

/* What the keys of a prepared set hold. */
static inline PreparedVector
prepared_vector(const JoinSet *set)
{
	PreparedVector prepared;
	const uint32 *counts;

	prepared.n = (uint32) (((uint64) set->nkeys - 1) * 2 / 3);
	counts = (const uint32 *) (set->keys + prepared.n);
	prepared.indexed = counts[0];
	prepared.fresh = counts[1];
	prepared.weights = (const float *) (counts + 2);
	prepared.length = prepared.weights[prepared.n];
	return prepared;
}

/* Sums are in the place of the accumulators, zero while not in use. */
static inline double *
shared_sum(InvertedIndex *index, uint32 set)
{
	StaticAssertStmt(sizeof(double) == sizeof(Accumulator),
					 "a sum does not fit into an accumulator");
	return (double *) &index->accumulators[set];
}

/* The state, created at the first call. */
extern VectorJoin *vectorjoin_state(JoinSearch *search);

/*
 * Make the tokens of a vector in order, in the state; returns their number.
 * And make its keys of the first n: `indexed` of them will be in the index,
 * `fresh` add new candidates.
 */
extern uint32 vectorjoin_order(JoinSearch *search, const JoinSet *set);
extern void vectorjoin_prepare(JoinSearch *search, JoinSet *set, uint32 n,
							   uint32 indexed, uint32 fresh);

/* Callbacks of Algorithm */
extern void vectorjoin_count(JoinSearch *search, const uint64 *values,
							 uint32 size);
extern uint32 vectorjoin_most_indexed(JoinSearch *search, const JoinSet *set);
extern uint32 vectorjoin_most_keys(JoinSearch *search, const JoinSet *set);
extern uint32 vectorjoin_indexed_keys(JoinSearch *search, const JoinSet *set);
extern void vectorjoin_add(JoinSearch *search, const JoinSet *set, uint32 n);
extern bool vectorjoin_announce(JoinSearch *search, FeatureFilter *filter,
								const uint64 *values, uint32 size);
extern bool vectorjoin_may_have_match(JoinSearch *search,
									  const FeatureFilter *filter,
									  const uint64 *values, uint32 size,
									  bool indexed);

/*
 * Make candidates of the vectors of an announced index that share one of the
 * first `fresh` features, without those that are too small (see
 * inverted_index_begin_at()), and add up the products of the weights of shared
 * features.
 */
extern void vectorjoin_add_products(JoinSearch *search, const JoinSet *set,
									uint32 sides);

/* Compute the lengths of a probing vector from each of its tokens on. */
extern void vectorjoin_tails(JoinSearch *search,
							 const PreparedVector *prepared);

/* Vectors whose weighted resemblance reaches a threshold */

extern const Algorithm resemblance_join;

/* Vectors whose cosine reaches a threshold */

extern const Algorithm cosine_join;

/*
 * The number of n tokens without those last ones that cannot reach the
 * threshold by themselves, with a vector that has no weight above `most`; or,
 * if `by_length`, by their length.
 */
extern uint32 cosine_needed_tokens(JoinSearch *search,
								   const WeightedToken *tokens,
								   uint32 n, float most, bool by_length);

/* Algorithm.count, verify: by all features, as cosine() does */
extern void cosine_count(JoinSearch *search, const uint64 *values,
						 uint32 size);
extern bool cosine_verify(JoinSearch *search, const JoinSet *indexed,
						  const JoinSet *probing);

#endif							/* NEARDUP_VECTOR_JOIN_H */
