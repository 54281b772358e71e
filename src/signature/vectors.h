/*
 * vectors.h
 *		Measures of weighted vectors.
 *
 * A vector is a set of n features, rising, with a weight for each, positive and
 * finite; other features weigh nothing.
 *
 * Sums are of float4 in double: squares and products of two of them are exact, and
 * neither overflow nor vanish.  Only the sums round; they are taken in the order of the
 * features, so that they are the same on every machine and whichever vector comes
 * first.
 */
#ifndef NEARDUP_VECTORS_H
#define NEARDUP_VECTORS_H

#include <math.h>

typedef struct Vector
{
	const uint64 *features;
	const float4 *weights;
	uint64		n;
} Vector;

/* Sum of the weights, and of their squares. */
extern double vector_sum(const Vector *v);
extern double vector_square(const Vector *v);

/* Sum of the products of the weights of common features. */
extern double vectors_dot(const Vector *a, const Vector *b);

/*
 * Weighted Jaccard: the sum of the smaller weights by that of the greater
 * ones; 0 if one is empty.
 */
extern double vectors_jaccard(const Vector *a, const Vector *b);

/*
 * Cosine of vectors of those squares, which are positive.  Rounding must not
 * make it greater than 1.  Of a vector and itself it is 1, as the root of a
 * square is exact; of vectors whose weights are all 1 it is that of the sets.
 */
static inline double
vectors_cosine(double dot, double square_a, double square_b)
{
	return Min(dot / sqrt(square_a * square_b), 1.0);
}

#endif							/* NEARDUP_VECTORS_H */
