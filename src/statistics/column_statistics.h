/*
 * column_statistics.h
 *		Statistics of a column of signatures, from ANALYZE for the planner.
 */
#ifndef NEARDUP_COLUMN_STATISTICS_H
#define NEARDUP_COLUMN_STATISTICS_H

#include "nodes/pathnodes.h"
#include "utils/selfuncs.h"

/*
 * Kind of the statistics slot, from the range for private use: stanumbers are
 * those of NearStatistics.
 */
#define STATISTIC_KIND_NEAR		18274

#define NSHARES		7

/* Resemblances. */
extern const double share_thresholds[NSHARES];

/* At one of these thresholds. */
typedef struct NearNumbers
{
	float4		near;			/* share of pairs of rows that are near */
	float4		similar;		/* that are as similar: differs only where a
								 * method has a rule of its own */
	float4		first;			/* share of rows that are near a typical row:
								 * a scan that ends at the first one reads 1 /
								 * (1 + their number) of the rows */
	float4		matched;		/* share of rows that are near another one */
	float4		row_keys;		/* candidate keys of a row */
	float4		query_keys;		/* see method.h; 0: every row is visited */
} NearNumbers;

typedef struct NearStatistics
{
	float4		values;			/* of a signature, on the average */
	float4		all_keys;		/* keys whose lists an index of access method
								 * neardup always reads; 0: the threshold
								 * decides */
	float4		postings;		/* of these keys for each row, if all lists
								 * are long; else 0 */
	float4		key_share;		/* of rows that have a candidate key by
								 * chance; 0: signatures have none */
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
