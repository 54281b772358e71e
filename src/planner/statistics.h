/*
 * statistics.h
 *		Estimates of near-duplicates, for the planner.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/planner/statistics.h
 */
#ifndef NEARDUP_STATISTICS_H
#define NEARDUP_STATISTICS_H

#include "nodes/pathnodes.h"

/*
 * The share of pairs of rows for which a near-duplicate clause holds; in a
 * semi- or anti-join the share of outer rows that have a partner.  sjinfo is
 * NULL if the clause is no join clause.
 */
extern Selectivity near_selectivity(PlannerInfo *root, Node *clause,
									JoinType jointype,
									SpecialJoinInfo *sjinfo);

#endif							/* NEARDUP_STATISTICS_H */
