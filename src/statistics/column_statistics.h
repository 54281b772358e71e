/*
 * column_statistics.h
 *		Statistics of a column of signatures, from ANALYZE for the planner.
 */
#ifndef NEARDUP_COLUMN_STATISTICS_H
#define NEARDUP_COLUMN_STATISTICS_H

#include "nodes/pathnodes.h"
#include "utils/selfuncs.h"

/*
 * Kind of the statistics slot, from the range for private use; stanumbers hold
 * a NearStatistics.
 */
#define STATISTIC_KIND_NEAR		18274

/* Number of thresholds */
#define NSHARES		7

/* The thresholds for which ANALYZE gathers shares, rising */
extern const double share_thresholds[NSHARES];

/* Statistics at one threshold. */
typedef struct NearNumbers
{
	float4		near;			/* near-duplicates, as a share of all pairs of
								 * rows */
	float4		similar;		/* pairs whose similarity reaches the
								 * threshold, as a share of all pairs; differs
								 * from `near` where a method has a rule of
								 * its own */
	float4		first;			/* share of rows that match a typical row: a
								 * scan that ends at the first match reads 1 /
								 * (1 + number of matches) of the rows */
	float4		matched;		/* share of rows that match some other row */
	float4		row_keys;		/* mean number of candidate keys of a row */
	float4		query_keys;		/* mean number of keys that a query looks up,
								 * see method.h; 0 = every row is visited */
} NearNumbers;

/* Statistics of a column */
typedef struct NearStatistics
{
	float4		values;			/* mean number of values of a signature */
	float4		all_keys;		/* number of keys whose lists an index of
								 * access method neardup always reads; 0 = the
								 * threshold decides */
	float4		postings;		/* postings in the lists of all_keys per row
								 * of the table, if all lists are long; or 0 */
	float4		key_share;		/* share of rows that have a candidate key by
								 * chance; 0 = signatures have no such keys */
	float4		lanes;			/* number of values that an operation
								 * compares: dense vectors; 0 = one */
	NearNumbers at[NSHARES];
} NearStatistics;

/* How many numbers the slot has */
#define NEAR_NUMBERS	(sizeof(NearStatistics) / sizeof(float4))

/* Read the statistics of a column; false if nothing is known of it. */
extern bool near_statistics(const VariableStatData *variable,
							NearStatistics *statistics);

/*
 * Read the statistics of an expression on a relation, 0 for any; false if
 * nothing is known of it.
 */
extern bool near_statistics_of(PlannerInfo *root, Node *expr, int relid,
							   NearStatistics *statistics);

/*
 * Return the numbers at the greatest gathered threshold that is at most t, or
 * at the least one if t is below all.
 */
extern const NearNumbers *near_numbers(const NearStatistics *statistics,
									   double t);

#endif							/* NEARDUP_COLUMN_STATISTICS_H */
