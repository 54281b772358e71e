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

#include "planner/conditions.h"

/*
 * The share of pairs of rows for which a near-duplicate clause holds; in a
 * semi- or anti-join the share of outer rows that have a partner.  sjinfo is
 * NULL if the clause is no join clause.
 */
extern Selectivity near_selectivity(PlannerInfo *root, Node *clause,
									JoinType jointype,
									SpecialJoinInfo *sjinfo);

/*
 * Of the pairs for which the condition holds, the share whose signatures are equal;
 * 0 unless something is known of both sides.
 */
extern double near_equal_share(PlannerInfo *root, const NearCondition *condition);

/*
 * If another clause puts the rows of a table that is paired with itself by the
 * condition in order: the share of pairs that it leaves, and in a semi- or
 * anti-join (else NULL) the share of rows with a partner that have one there.
 */
extern bool near_order_selectivity(PlannerInfo *root, const NearCondition *condition,
								   Node *order, const SpecialJoinInfo *semi,
								   Selectivity *of_pairs, Selectivity *of_rows);

#endif							/* NEARDUP_STATISTICS_H */
