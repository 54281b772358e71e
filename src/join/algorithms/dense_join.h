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
 * The values of a dense vector: the square of its length, as a double, and the
 * number of its scope, then its coordinates as floats, two in a number; and
 * zeros, so that there are LANES coordinates or a multiple of it.  Zeros alter
 * no sum.
 */
#define DENSE_HEAD		2
#define DENSE_VALUES(dimensions) \
	(DENSE_HEAD + ((dimensions) + LANES - 1) / LANES * (LANES / 2))

/* Number of coordinates in so many values, the zeros included */
static inline uint32
dense_ncoordinates(uint32 size)
{
	Assert(size > DENSE_HEAD);
	return (size - DENSE_HEAD) * 2;
}

/* The coordinates of a vector, which follow its scope. */
static inline const float4 *
dense_coordinates(const uint64 *values)
{
	return (const float4 *) (values + DENSE_HEAD);
}

/* The square of the length of a vector. */
static inline double
dense_square(const uint64 *values)
{
	double		square;

	memcpy(&square, values, sizeof(double));
	return square;
}

/* The scope of a vector: vectors of different scopes do not match. */
static inline uint64
dense_scope(const uint64 *values)
{
	return values[1];
}

extern const Algorithm dense_join;

#endif							/* NEARDUP_DENSE_JOIN_H */
