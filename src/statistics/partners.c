/*
 * partners.c
 *		How many near-duplicates rows have, by what a sample's rows have.
 *
 * In a sample of a tenth most rows have none of the partners that they have in the
 * table, and a few have very many, which is where most pairs are.  So neither
 * the rows without one nor the mean tells how many have none in the table.  But of
 * rows with so many partners it is known how many of these a sample has; so the
 * sample's numbers are a mixture, and the likeliest one of some fixed numbers is
 * found by expectation and maximization (Laird, "Nonparametric maximum likelihood
 * estimation of a mixing distribution", JASA 1978).  It is stopped early: the likeliest
 * of all has the noise of the sample in it.
 *
 * A number of partners is a whole one.  So a row that has a partner at all has one in
 * the whole table, and if the sample is the table, all is known.
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
#define MIN_MEAN		0.002

#define ITERATIONS		1000

/* Numbers of partners that stand for those of a weight. */
#define MAX_COUNTS		8

/* From so many partners on those in the sample are taken to be independent. */
#define MANY_PARTNERS	32

/* The numbers of partners that rows of a weight have; returns how many. */
static int
counts_of(double least, int weight, double *counts)
{
	double		first = weight == 0 ? 0 : ldexp(least, weight - 1);
	int			n = weight == 0 ? 1 : (int) Min(first, MAX_COUNTS);
	double		step = first / n;

	for (int i = 0; i < n; i++)
		counts[i] = first + i * step + Max(step - 1, 0) / 2;
	return n;
}

/* How probable it is that k of so many partners are in a sample of that share. */
static double
probability(double count, double share, int k)
{
	double		mean = count * share;

	if (count >= MANY_PARTNERS)
		return exp(k * log(mean) - mean - lgamma(k + 1));
	if (k > count)
		return 0;
	return exp(lgamma(count + 1) - lgamma(k + 1) - lgamma(count - k + 1)) *
		pow(share, k) * pow(1 - share, count - k);
}

/* The same of the rows of a weight. */
static double
mean_probability(double least, int weight, double share, int k)
{
	double		counts[MAX_COUNTS];
	int			n = counts_of(least, weight, counts);
	double		sum = 0;

	for (int i = 0; i < n; i++)
		sum += probability(counts[i], share, k);
	return sum / n;
}

/* One step: the rows with k partners are divided as is probable by the weights. */
static void
improve(const double *rows, double n,
		double probabilities[MAX_PARTNERS + 1][NWEIGHTS], double *weights)
{
	double		improved[NWEIGHTS] = {0};

	for (int k = 0; k <= MAX_PARTNERS; k++)
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

void
partners_fit(const double *rows, double n, double total, Partners *partners)
{
	double		probabilities[MAX_PARTNERS + 1][NWEIGHTS];
	double		weights[NWEIGHTS];
	double		others = Max(Max(total, n) - 1, 1);
	double		share = Max(n - 1, 1) / others;

	partners->others = others;
	partners->least = Max(ceil(MIN_MEAN / share), 1);
	for (int k = 0; k <= MAX_PARTNERS; k++)
		for (int i = 0; i < NWEIGHTS && rows[k] > 0; i++)
			probabilities[k][i] = mean_probability(partners->least, i, share, k);
	for (int i = 0; i < NWEIGHTS; i++)
		weights[i] = 1.0 / NWEIGHTS;
	for (int step = 0; step < ITERATIONS; step++)
	{
		CHECK_FOR_INTERRUPTS();
		improve(rows, n, probabilities, weights);
	}
	for (int i = 0; i < NWEIGHTS; i++)
		partners->weights[i] = weights[i];
}

void
partners_set_none(Partners *partners, double share)
{
	double		some = 1 - partners->weights[0];

	partners->weights[0] = share;
	if (some <= 0)
		partners->weights[1] = 1 - share;
	else
		for (int i = 1; i < NWEIGHTS; i++)
			partners->weights[i] *= (1 - share) / some;
}

/* That none of so many partners is among a share of the rows. */
static double
none(double count, double share)
{
	return pow(1 - share, count);
}

/* That none is among them and before a row; that may be any by the order. */
static double
none_before(double count, double share)
{
	return (1 - pow(1 - share, count + 1)) / (share * (count + 1));
}

/* The mean of that over the table's rows. */
static double
mean_of_rows(const Partners *partners, double rows,
			 double (*of_count) (double count, double share))
{
	double		share = Min(rows / partners->others, 1);
	double		sum = 0;

	if (share < 1e-9)
		return 1;
	for (int i = 0; i < NWEIGHTS; i++)
	{
		double		counts[MAX_COUNTS];
		int			n = partners->weights[i] > 0 ?
			counts_of(partners->least, i, counts) : 0;

		for (int j = 0; j < n; j++)
			sum += partners->weights[i] / n * of_count(counts[j], share);
	}
	return Min(sum, 1);
}

double
partners_none(const Partners *partners, double rows)
{
	return mean_of_rows(partners, rows, none);
}

double
partners_none_before(const Partners *partners, double rows)
{
	return mean_of_rows(partners, rows, none_before);
}
