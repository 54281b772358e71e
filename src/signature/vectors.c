/*
 * vectors.c
 *		Measures of weighted vectors.
 */
#include "postgres.h"

#include "signature/vectors.h"
#include "base/interrupts.h"

/* Add the weights from the i-th on to a sum. */
static double
add_rest(const Vector *v, uint64 i, double sum)
{
	for (; i < v->n; i++)
	{
		CHECK_EVERY(i);
		sum += v->weights[i];
	}
	return sum;
}

double
vector_sum(const Vector *v)
{
	return add_rest(v, 0, 0);
}

double
vector_square(const Vector *v)
{
	double		sum = 0;

	for (uint64 i = 0; i < v->n; i++)
	{
		CHECK_EVERY(i);
		sum += (double) v->weights[i] * v->weights[i];
	}
	return sum;
}

double
vectors_dot(const Vector *a, const Vector *b)
{
	const Vector v = *a;		/* stays in registers */
	const Vector w = *b;
	uint64		i = 0;
	uint64		j = 0;
	uint64		steps = 0;
	double		sum = 0;

	while (i < v.n && j < w.n)
	{
		uint64		x = v.features[i];
		uint64		y = w.features[j];

		CHECK_EVERY(steps++);
		if (x == y)
			sum += (double) v.weights[i] * w.weights[j];
		i += (x <= y);
		j += (y <= x);
	}
	return sum;
}

double
vectors_jaccard(const Vector *a, const Vector *b)
{
	uint64		i = 0;
	uint64		j = 0;
	uint64		steps = 0;
	double		least = 0;
	double		most = 0;

	if (a->n == 0 || b->n == 0)
		return 0;
	while (i < a->n && j < b->n)
	{
		uint64		x = a->features[i];
		uint64		y = b->features[j];
		float4		v = x <= y ? a->weights[i] : 0;
		float4		w = y <= x ? b->weights[j] : 0;

		CHECK_EVERY(steps++);
		least += Min(v, w);
		most += Max(v, w);
		i += (x <= y);
		j += (y <= x);
	}
	most = add_rest(a, i, most);
	most = add_rest(b, j, most);
	Assert(least <= most);
	return least / most;
}
