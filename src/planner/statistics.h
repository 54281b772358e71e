/*
 * statistics.h
 *		What ANALYZE knows of near-duplicates, for the planner.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/planner/statistics.h
 */
#ifndef NEARDUP_STATISTICS_H
#define NEARDUP_STATISTICS_H

#include "nodes/pathnodes.h"

#include "planner/partners.h"

/*
 * Kind of the statistics slot, from the range for private use: stanumbers are
 * those of what follows, for each of share_thresholds, which are resemblances.
 */
#define STATISTIC_KIND_NEAR		18274

#define NSHARES		7

typedef struct NearNumbers
{
	float4		near;			/* share of pairs that are near */
	float4		similar;		/* that are as similar: the same but where a
								 * method's rule says what is near */
	Partners	partners;		/* near ones that a row has */
} NearNumbers;

#define NEAR_NUMBERS	(NSHARES * sizeof(NearNumbers) / sizeof(float4))

extern const double share_thresholds[NSHARES];

/*
 * The share of pairs of rows for which a near-duplicate clause holds; in a
 * semi- or anti-join the share of outer rows that have a partner.  sjinfo is
 * NULL if the clause is no join clause.
 */
extern Selectivity near_selectivity(PlannerInfo *root, Node *clause,
									JoinType jointype,
									SpecialJoinInfo *sjinfo);

#endif							/* NEARDUP_STATISTICS_H */
