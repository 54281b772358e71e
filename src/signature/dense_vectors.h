/*
 * dense_vectors.h
 *		Measures of dense vectors.
 *
 * A dense vector has a float4 for each of its dimensions, and length 1 but for
 * the rounding of its coordinates.  A vector of zeros has no coordinates.
 */
#ifndef NEARDUP_DENSE_VECTORS_H
#define NEARDUP_DENSE_VECTORS_H

/* The greatest number of dimensions */
#define DENSE_MAX_DIMENSIONS	65535

/*
 * The square of the length of a dense vector differs from 1 by at most that.
 * Rounding each coordinate to float4 alters it by less than 2^-22.
 */
#define DENSE_SQUARE_ERROR		1e-6

/*
 * Return the sum of the products of n coordinates, in double: the same on
 * every machine, as products of two float4 are exact, and sums are in one
 * order.
 */
extern double dense_dot(const float4 *a, const float4 *b, uint32 n);

/*
 * Return the cosine of two vectors of n dimensions, -1 to 1, from their
 * squares, which are dense_dot() of each vector with itself.  The cosine of a
 * vector and itself is 1, as the root of a square is exact.
 */
extern double dense_cosine(const float4 *a, const float4 *b, uint32 n,
						   double square_a, double square_b);

#endif							/* NEARDUP_DENSE_VECTORS_H */
