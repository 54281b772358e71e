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
#define MAX_PARTNERS	127

/*
 * Shares of rows that have no partner, and from so many to less than twice as
 * many: the first of those numbers is `least`, and each is twice the one before.
 */
#define NWEIGHTS		13

typedef struct Partners
{
	float4		others;			/* rows of the table, but one */
	float4		least;
	float4		weights[NWEIGHTS];
} Partners;

/*
 * Fits shares to a sample of n rows of a table of `total`; rows[k] is how many of the
 * sample have k partners there.
 */
extern void partners_fit(const double *rows, double n, double total,
						 Partners *partners);

/* Lets that share of rows have no partner, whatever was fitted. */
extern void partners_set_none(Partners *partners, double share);

/* The share of rows that have no partner among so many others. */
extern double partners_none(const Partners *partners, double rows);

/*
 * The share of rows that have none before them, where all are in some order: as
 * a.id > b.id asks.
 */
extern double partners_none_before(const Partners *partners, double rows);

#endif							/* NEARDUP_PARTNERS_H */
