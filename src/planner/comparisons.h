/*
 * comparisons.h
 *		Comparisons of a measure that are near-duplicate conditions.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/planner/comparisons.h
 */
#ifndef NEARDUP_COMPARISONS_H
#define NEARDUP_COMPARISONS_H

#include "planner/conditions.h"

/*
 * Takes a clause apart, if it compares similarity(), containment(), dice(),
 * cosine() or <->, or what is computed of them, with a constant, and is true from
 * some value of the measure on, greater than 0: that is the threshold then.
 */
extern bool near_comparison(Node *clause, NearCondition *condition);

/* Makes the planner look such clauses up in indexes. */
extern void near_look_ups_init(void);

#endif							/* NEARDUP_COMPARISONS_H */
