/*
 * dense_vectors.c
 *		Measures of dense vectors.
 */
#include "postgres.h"

#include <math.h>

#include "base/avx2.h"
#include "signature/dense_vectors.h"

/* Numbers that are computed at once, by any processor */
typedef float Floats __attribute__((vector_size(16)));
typedef double Doubles __attribute__((vector_size(32)));

/* Number of partial sums: coordinate i is added to sum i % SUMS. */
#define SUMS		16
#define LANES		4

/* Add the products of LANES coordinates to a sum. */
static pg_attribute_always_inline void
add_products(Doubles * sum, const float4 *a, const float4 *b)
{
	Floats		x;
	Floats		y;

	memcpy(&x, a, sizeof(Floats));
	memcpy(&y, b, sizeof(Floats));
	*sum += __builtin_convertvector(x, Doubles) *
		__builtin_convertvector(y, Doubles);
}

/* Add up the partial sums, always in the same order. */
static pg_attribute_always_inline double
add_sums(double *sums)
{
	for (int n = SUMS / 2; n > 0; n /= 2)
		for (int i = 0; i < n; i++)
			sums[i] += sums[i + n];
	return sums[0];
}

/* See dense_dot(). */
static pg_attribute_always_inline double
dot(const float4 *a, const float4 *b, uint32 n)
{
	Doubles		parts[SUMS / LANES] = {{0}};
	double		sums[SUMS];
	uint32		i = 0;

	StaticAssertStmt(sizeof(parts) == sizeof(sums), "sums are not all parts");
	for (; i + SUMS <= n; i += SUMS)
	{
		/* keep the sums in registers: GCC leaves such a loop rolled */
#pragma GCC unroll 4
		for (int part = 0; part < SUMS / LANES; part++)
			add_products(&parts[part], a + i + part * LANES,
						 b + i + part * LANES);
	}
#pragma GCC unroll 4
	for (int part = 0; part < SUMS / LANES; part++)
		memcpy(&sums[part * LANES], &parts[part], sizeof(Doubles));
	for (; i < n; i++)
		sums[i % SUMS] += (double) a[i] * b[i];
	return add_sums(sums);
}

#ifdef AVX2_TO_BE_CHOSEN
/* Compute dot() with AVX2 instructions. */
TARGET_AVX2 static double
dot_avx2(const float4 *a, const float4 *b, uint32 n)
{
	return dot(a, b, n);
}
#endif

double
dense_dot(const float4 *a, const float4 *b, uint32 n)
{
#ifdef AVX2_TO_BE_CHOSEN
	if (has_avx2())
		return dot_avx2(a, b, n);
#endif
	return dot(a, b, n);
}

double
dense_cosine(const float4 *a, const float4 *b, uint32 n, double square_a,
			 double square_b)
{
	double		cosine = dense_dot(a, b, n) / sqrt(square_a * square_b);

	Assert(square_a > 0 && square_b > 0);
	return Max(Min(cosine, 1.0), -1.0);
}
