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

#define NSHARES		7

/* The resemblances that ANALYZE gathers shares for. */
extern const double share_thresholds[NSHARES];

/* Statistics at one threshold. */
typedef struct NearNumbers
{
	float4		near;			/* share of near-duplicate pairs of rows */
	float4		similar;		/* share of pairs of that similarity: differs
								 * where a method has a rule of its own */
	float4		first;			/* share of rows that are near a typical row:
								 * a scan that ends at the first one reads 1 /
								 * (1 + their number) of the rows */
	float4		matched;		/* share of rows that are near another one */
	float4		row_keys;		/* candidate keys of a row */
	float4		query_keys;		/* see method.h; 0: every row is visited */
} NearNumbers;

typedef struct NearStatistics
{
	float4		values;			/* mean number of values of a signature */
	float4		all_keys;		/* keys whose lists an index of access method
								 * neardup always reads; 0: the threshold
								 * decides */
	float4		postings;		/* postings of all_keys for each row of the
								 * table, if all lists are long; else 0 */
	float4		key_share;		/* share of rows that have a candidate key by
								 * chance; 0: signatures have no such keys */
	NearNumbers at[NSHARES];
} NearStatistics;

#define NEAR_NUMBERS	(sizeof(NearStatistics) / sizeof(float4))

/* False if nothing is known of the column. */
extern bool near_statistics(const VariableStatData *variable,
							NearStatistics *statistics);

/* The statistics of an expression on a relation (0: any). */
extern bool near_statistics_of(PlannerInfo *root, Node *expr, int relid,
							   NearStatistics *statistics);

/* The numbers of the greatest threshold that is not above t. */
extern const NearNumbers *near_numbers(const NearStatistics *statistics,
									   double t);

#endif							/* NEARDUP_COLUMN_STATISTICS_H */
