/*
 * conditions.h
 *		What near-duplicate conditions look like to the planner.
 */
#ifndef NEARDUP_CONDITIONS_H
#define NEARDUP_CONDITIONS_H

#include "signature/sets.h"
#include "fmgr.h"
#include "nodes/pathnodes.h"
#include "nodes/primnodes.h"

/* A near-duplicate condition taken apart.  The expressions are the clause's own, not copies. */
typedef struct NearCondition
{
	Expr	   *left;			/* signature */
	Expr	   *right;			/* signature */
	Expr	   *threshold;		/* float8, or NULL: neardup.threshold */
	Measure		measure;		/* of left in right */
	Expr	   *recall;			/* float8, of near_duplicate_approx(), or NULL */
} NearCondition;

/*
 * The address of the C function that a call or operator runs, and its
 * arguments; NULL if that has no planner support.
 */
extern PGFunction near_function(Node *clause, List **args);

/*
 * Takes a clause apart, if it is near_duplicate, contained_in, %, <%, %>, or %% with a
 * signature_query call on its right, and its measure is known; or a comparison of a measure
 * with a constant.  Recognised by the address of the C function.
 */
extern bool near_condition(Node *clause, NearCondition *condition);

/*
 * Takes a clause apart, if it is near_duplicate_approx(): into the condition
 * that it implies, and its recall.
 */
extern bool approx_condition(Node *clause, NearCondition *condition);

/* The measure that a call computes, and its signatures; false for other nodes. */
extern bool near_measure_call(Node *node, NearCondition *condition);

/* True if a column of the index has an operator class of signatures. */
extern bool index_finds_near(const IndexOptInfo *index);

/*
 * The operator by which an index column is asked about a condition whose left
 * (indexarg 0) or right signature it has; NULL if it cannot be, or need not be
 * as the index would go through every row.
 */
extern Expr *near_index_clause(PlannerInfo *root, IndexOptInfo *index,
							   int indexcol, Oid opfamily, int indexarg,
							   const NearCondition *condition);

/* selectivity.c */

/*
 * The share of pairs of rows for which a near-duplicate clause holds; in a semi- or anti-join
 * the share of outer rows that have a match.  sjinfo is NULL if the clause is no join clause.
 */
extern Selectivity near_selectivity(PlannerInfo *root, Node *clause, JoinType jointype,
									SpecialJoinInfo *sjinfo);

/* The threshold; where it is not known yet, the setting. */
extern double near_threshold(PlannerInfo *root, const NearCondition *condition);

/*
 * Of the pairs for which the condition holds, the share whose signatures are equal; 0
 * unless statistics of both sides are known.
 */
extern double near_equal_share(PlannerInfo *root, const NearCondition *condition);

/* The cost of one evaluation of the condition. */
extern Cost near_comparison_cost(PlannerInfo *root, const NearCondition *condition);

/* support.c: adds paths of index look-ups by comparisons of a measure */
extern void near_look_ups_init(void);

#endif							/* NEARDUP_CONDITIONS_H */
