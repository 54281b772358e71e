/*
 * partners.c
 *		How many near-duplicates rows have, by what a sample's rows have.
 *
 * In a sample of a tenth most rows have none of the partners that they have in the
 * table, and a few have very many, which is where most pairs are.  So neither
 * the rows without one nor the mean tells how many have none in the table.  But the
 * sample's numbers follow a mixture of Poisson distributions, those of rows that
 * have as many partners; and the likeliest mixture of some fixed ones is found
 * by expectation and maximization (Laird, "Nonparametric maximum likelihood estimation
 * of a mixing distribution", JASA 1978).  Where rows have as many partners each, and
 * the sample has all of them, no such mixture is right; there the rows without one
 * are known.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/statistics/partners.c
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"

#include "statistics/partners.h"

/* The least number of partners in the sample that is told from none. */
#define LEAST_MEAN		0.02

#define ITERATIONS		1000

/* Partners in the sample, on the average, of the rows of a weight. */
static double
mean_of(int weight)
{
	return weight == 0 ? 0 : ldexp(LEAST_MEAN, weight - 1);
}

/* How probable it is that such a row has k of them there. */
static double
probability(int weight, int k)
{
	double		mean = mean_of(weight);

	if (weight == 0)
		return k == 0;
	return exp(k * log(mean) - mean - lgamma(k + 1));
}

/* One step: the rows with k partners are divided as is probable by the weights. */
static void
improve(const double *rows, double n,
		double probabilities[MOST_PARTNERS + 1][NWEIGHTS], double *weights)
{
	double		improved[NWEIGHTS] = {0};

	for (int k = 0; k <= MOST_PARTNERS; k++)
	{
		double		sum = 0;

		if (rows[k] == 0)
			continue;
		for (int i = 0; i < NWEIGHTS; i++)
			sum += weights[i] * probabilities[k][i];
		for (int i = 0; i < NWEIGHTS && sum > 0; i++)
			improved[i] += rows[k] / n * weights[i] * probabilities[k][i] / sum;
	}
	memcpy(weights, improved, sizeof(improved));
}

/* The share of rows that have none among so many others, by the mixture. */
static double
mixture_none(const Partners *partners, double rows)
{
	double		none = 0;

	for (int i = 0; i < NWEIGHTS; i++)
		none += partners->weights[i] *
			exp(-mean_of(i) / LEAST_MEAN * partners->unit * rows);
	return none;
}

void
partners_fit(const double *rows, double n, Partners *partners)
{
	double		probabilities[MOST_PARTNERS + 1][NWEIGHTS];
	double		weights[NWEIGHTS];

	for (int k = 0; k <= MOST_PARTNERS; k++)
		for (int i = 0; i < NWEIGHTS; i++)
			probabilities[k][i] = probability(i, k);
	for (int i = 0; i < NWEIGHTS; i++)
		weights[i] = 1.0 / NWEIGHTS;
	for (int step = 0; step < ITERATIONS; step++)
	{
		CHECK_FOR_INTERRUPTS();
		improve(rows, n, probabilities, weights);
	}
	partners->unit = LEAST_MEAN / Max(n - 1, 1);
	for (int i = 0; i < NWEIGHTS; i++)
		partners->weights[i] = weights[i];
	partners->factor = Max(rows[0], 0.5) / n / Max(mixture_none(partners, n - 1), 1e-6);
}

double
partners_none(const Partners *partners, double rows)
{
	double		part = Min(rows * partners->unit / LEAST_MEAN, 1);

	/* of few rows hardly any has two partners: what they have matters less */
	return Min(mixture_none(partners, rows) * pow(partners->factor, part * part), 1);
}
