/*
 * partners.h
 *		How many near-duplicates rows have, by what a sample's rows have.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/statistics/partners.h
 */
#ifndef NEARDUP_PARTNERS_H
#define NEARDUP_PARTNERS_H

/* Rows of the sample by how many partners they have there: these, or more. */
#define MOST_PARTNERS	127

/*
 * Shares of rows that have no partner, and so many: the first of those numbers is
 * `unit`, a share of all rows, and each is twice the one before.  And what was wrong
 * with the rows of the sample that have none by these, as a factor.
 */
#define NWEIGHTS		13

typedef struct Partners
{
	float4		unit;
	float4		factor;
	float4		weights[NWEIGHTS];
} Partners;

/* Fits shares to a sample of n rows; rows[k] is how many of them have k partners. */
extern void partners_fit(const double *rows, double n, Partners *partners);

/* The share of rows that have no partner among so many others. */
extern double partners_none(const Partners *partners, double rows);

#endif							/* NEARDUP_PARTNERS_H */
