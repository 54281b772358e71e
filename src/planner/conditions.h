/*
 * conditions.h
 *		Near-duplicate conditions in the planner.
 */
#ifndef NEARDUP_CONDITIONS_H
#define NEARDUP_CONDITIONS_H

#include "signature/sets.h"
#include "fmgr.h"
#include "nodes/pathnodes.h"
#include "nodes/primnodes.h"

/*
 * The parts of a near-duplicate condition.  Expressions belong to the clause:
 * they are no copies.
 */
typedef struct NearCondition
{
	Expr	   *left;			/* signature */
	Expr	   *right;			/* signature */
	Expr	   *threshold;		/* float8, or NULL: neardup.threshold */
	Measure		measure;		/* measure of the left in the right signature */
	Expr	   *recall;			/* float8, recall of near_duplicate_approx(),
								 * or NULL */
} NearCondition;

/*
 * The C function of a call or operator, and its arguments; NULL if it has no
 * planner support.
 */
extern PGFunction near_function(Node *clause, List **args);

/*
 * Parse near_duplicate, contained_in, %, <%, %>, and %% with a signature_query
 * call on its right, if the measure is known; or a comparison of a measure
 * with a constant.
 */
extern bool near_condition(Node *clause, NearCondition *condition);

/*
 * Parse near_duplicate_approx() into the condition that it implies, and its
 * recall.
 */
extern bool approx_condition(Node *clause, NearCondition *condition);

/*
 * Parse a call of a measure: its measure and signatures; false for other
 * nodes.
 */
extern bool near_measure_call(Node *node, NearCondition *condition);

/*
 * True if a node is a call of the measure that the condition compares, of the
 * condition's signatures in either order.
 */
extern bool near_is_value(Node *node, const NearCondition *condition);

/*
 * The index condition for a condition whose left (indexarg 0) or right
 * signature is the column; NULL if there is none, or the index would visit
 * every row.
 */
extern Expr *near_index_clause(PlannerInfo *root, IndexOptInfo *index,
							   int indexcol, Oid opfamily, int indexarg,
							   const NearCondition *condition);

/* selectivity.c */

/*
 * The share of pairs of rows for which a near-duplicate clause holds; in a
 * semi- or anti-join the share of outer rows that have a match.  sjinfo is NULL
 * if the clause is no join clause.
 */
extern Selectivity near_share(PlannerInfo *root, Node *clause,
							  JoinType jointype,
							  SpecialJoinInfo *sjinfo);

/*
 * The same for core, which multiplies it with the shares of other
 * conditions.  Rows that are near are mostly equal in the columns that a join
 * compares, too: of the pairs for which such equalities hold, as many as
 * possible are taken to be near.
 */
extern Selectivity near_selectivity(PlannerInfo *root, Node *clause,
									JoinType jointype,
									SpecialJoinInfo *sjinfo);

/*
 * The factor from core's estimate of a clause to ours: not 1 for a comparison
 * of a measure, coalesce() and others that core estimates without asking us,
 * at a third of all pairs.  relid is the table that is looked up, 0 for a join.
 */
extern double near_correction(PlannerInfo *root, RestrictInfo *rinfo,
							  int relid,
							  JoinType jointype, SpecialJoinInfo *sjinfo);

/* The threshold; where it is not known yet, the setting. */
extern double near_threshold(PlannerInfo *root,
							 const NearCondition *condition);

/*
 * The share of the condition's pairs whose signatures are equal; 0 unless
 * statistics of both sides are known.
 */
extern double near_equal_share(PlannerInfo *root,
							   const NearCondition *condition);

/* The cost of one evaluation of the condition. */
extern Cost near_comparison_cost(PlannerInfo *root,
								 const NearCondition *condition);

/*
 * support.c: install the hook that adds index paths for comparisons of a
 * measure.
 */
extern void near_look_ups_init(void);

#endif							/* NEARDUP_CONDITIONS_H */
