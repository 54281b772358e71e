/*
 * vectors.h
 *		Measures of weighted vectors.
 *
 * A vector is a set of n features, rising, with a weight for each, positive
 * and finite; other features have weight 0.
 *
 * Sums of float4 numbers are computed in double: products of two float4 are
 * exact, and neither overflow nor underflow.  Only the sums round; they are in
 * the order of the features, so that they are the same on every machine and
 * for both orders of the arguments.
 */
#ifndef NEARDUP_VECTORS_H
#define NEARDUP_VECTORS_H

#include <math.h>

/* A vector in the memory of its signature */
typedef struct Vector
{
	const uint64 *features;
	const float4 *weights;
	uint64		n;
} Vector;

/* Return the sum of the weights, or of their squares. */
extern double vector_sum(const Vector *v);
extern double vector_square(const Vector *v);

/* Return the sum of the products of the weights of common features. */
extern double vectors_dot(const Vector *a, const Vector *b);

/*
 * Return the weighted Jaccard: the sum of the smaller weights divided by the
 * sum of the greater weights; 0 if one vector is empty.
 */
extern double vectors_jaccard(const Vector *a, const Vector *b);

/*
 * Return the cosine of two vectors from their dot product and their sums of
 * squares, which are positive.  Rounding must not make it greater than 1.  The
 * cosine of a vector and itself is 1, as the root of a square is exact.  If
 * all weights are 1, the result is the cosine of the sets.
 */
static inline double
vectors_cosine(double dot, double square_a, double square_b)
{
	return Min(dot / sqrt(square_a * square_b), 1.0);
}

#endif							/* NEARDUP_VECTORS_H */
