/*
 * dense_join.h
 *		Joins of dense vectors by their principal components.
 */
#ifndef NEARDUP_DENSE_JOIN_H
#define NEARDUP_DENSE_JOIN_H

#include "join/engine/search.h"

/* Coordinates that are computed at once, by any processor */
#define LANES			8

/*
 * The values of a dense vector: the square of its length, as a double, then
 * its coordinates as floats, two in a number; and zeros, so that there are
 * LANES coordinates or a multiple of it.  Zeros alter no sum.
 */
#define DENSE_VALUES(dimensions) \
	(1 + ((dimensions) + LANES - 1) / LANES * (LANES / 2))

/* Number of coordinates in so many values, the zeros included */
static inline uint32
dense_ncoordinates(uint32 size)
{
	Assert(size > 1);
	return (size - 1) * 2;
}

/* The coordinates of a vector, which follow the square. */
static inline const float4 *
dense_coordinates(const uint64 *values)
{
	return (const float4 *) (values + 1);
}

/* The square of the length of a vector. */
static inline double
dense_square(const uint64 *values)
{
	double		square;

	memcpy(&square, values, sizeof(double));
	return square;
}

extern const Algorithm dense_join;

#endif							/* NEARDUP_DENSE_JOIN_H */
